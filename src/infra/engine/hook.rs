//! Hooks: scripts of the tree that run before and after the plan and the apply of a stack.

use super::session::Failure;
use super::unit::Purpose;
use super::{Artifact, Session};
use crate::base::{Problem, problem::Kind};
use crate::infra::terraform::Tool;
use crate::infra::terraform::process::Job;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// When a hook runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    PrePlan,
    PostPlan,
    PreApply,
    PostApply,
}

impl When {
    /// The name of the script without its extension.
    pub fn name(self) -> &'static str {
        match self {
            When::PrePlan => "pre-plan",
            When::PostPlan => "post-plan",
            When::PreApply => "pre-apply",
            When::PostApply => "post-apply",
        }
    }

    fn purpose(self) -> Purpose {
        match self {
            When::PrePlan | When::PostPlan => Purpose::Plan,
            When::PreApply | When::PostApply => Purpose::Apply,
        }
    }
}

/// The folders of hooks below the root; the first that has a hook wins.
const FOLDERS: [&str; 2] = ["infra/hooks", ".stackorder/hooks"];

/// The script of a hook, where the tree has one.
pub fn find(root: &Path, when: When) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| root.join(folder).join(format!("{}.sh", when.name()))).find(|path| path.exists())
}

/// Runs a hook of the session's stack at the root, where the tree has one.
///
/// # Errors
/// It is not executable, or it failed.
pub fn run(session: &Session<'_>, id: &str, when: When, artifact: Option<&Artifact>) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let root = &session.site.root;
    let Some(path) = find(root, when) else { return Ok(()) };
    let shown = session.site.shown(&path);
    let executable = path.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    if !executable {
        let problem = Problem::new(format!("hook `{shown}` is not executable"));
        return Err(problem.help(format!("`chmod +x {shown}`")).into());
    }
    let name = super::session::log_name(session.unit, when.name());
    let job = Job {
        arguments: vec![path.into()],
        environment: variables(session, id, when, artifact),
        logs: session.logs,
        name: &name,
        limits: (64 * 1024, 64 * 1024),
        precious: false,
        patience: session.site.patience,
    };
    let ended = Tool::new("bash").script(root, &job, &session.site.stop, session.watch)?;
    if ended.is_well() && !ended.interrupted {
        return Ok(());
    }
    let said = [ended.stdout, ended.stderr].concat();
    let text = session.site.redactor.text(&String::from_utf8_lossy(&said));
    let mut problem = Problem::new(match ended.interrupted {
        true => format!("stack `{}`: hook `{shown}` was interrupted", session.unit.key()),
        false => format!("stack `{}`: hook `{shown}` failed with code {}", session.unit.key(), ended.code),
    });
    if ended.interrupted {
        problem = problem.kind(Kind::Interrupted);
    }
    let last: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    for line in last.iter().rev().take(20).rev() {
        problem = problem.note(*line);
    }
    Err(Failure { problem: problem.into(), text, interrupted: ended.interrupted, left: false })
}

/// What a hook is told, by suil's names and by those that scripts of others read.
fn variables(
    session: &Session<'_>,
    id: &str,
    when: When,
    artifact: Option<&Artifact>,
) -> Vec<(OsString, Option<OsString>)> {
    let stack = &session.unit.stack;
    let mut told: Vec<(&str, OsString)> = vec![
        ("STACK", stack.key.as_str().into()),
        ("STACK_PATH", stack.path.as_str().into()),
        ("INSTANCE", stack.instance.as_str().into()),
        ("RUN_ID", id.into()),
    ];
    if let Some(artifact) = artifact {
        told.push(("PLAN_FILE", artifact.plan().into()));
        told.push(("PLAN_JSON", artifact.json().into()));
    }
    let mut all = session.unit.environment(session.site, when.purpose());
    for (name, value) in told {
        for prefix in ["SUIL", "STACKORDER"] {
            all.push((format!("{prefix}_{name}").into(), Some(value.clone())));
        }
    }
    all
}
