//! One stack and Terraform: made ready, planned, applied. Each step is one start of the program.

use super::init::Needs;
use super::restore::LOGS;
use super::unit::Purpose;
use super::{Site, StatePatience, Summary, Unit, content};
use crate::base::{Problem, file, problem::Kind};
use crate::data::tree;
use crate::infra::layer;
use crate::infra::secret;
use crate::infra::terraform::process::{Ended, Job, Watch};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The longest text of a plan that is kept, in bytes, and of an error.
const TEXT: usize = 256 * 1024;
const ERROR: usize = 64 * 1024;
/// Where Terraform writes a state that it can write nowhere else.
const ERRORED: &str = "errored.tfstate";
/// The step that changes the world.
pub const APPLY: &str = "apply";
/// The longest plan as JSON.
const JSON: usize = 512 * 1024 * 1024;

/// Why a step did not end well.
#[derive(Clone, Debug)]
pub struct Failure {
    pub problem: Box<Problem>,
    /// What Terraform said, redacted.
    pub text: String,
    pub interrupted: bool,
    /// Terraform still runs, and nobody waits for it.
    pub left: bool,
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        let (text, interrupted) = (problem.what.clone(), problem.kind == Kind::Interrupted);
        Failure { problem: problem.into(), text, interrupted, left: false }
    }
}

/// A plan that was made.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    pub summary: Summary,
    /// For people, redacted.
    pub text: String,
    /// As `terraform show -json` tells it, redacted.
    pub shown: Value,
    /// True where an apply would change something, as Terraform's exit code says.
    pub differs: bool,
    /// The version of the program that made it.
    pub version: String,
}

/// Terraform in the folder of one stack.
pub struct Session<'a> {
    pub site: &'a Site,
    pub unit: &'a Unit,
    /// A private folder for what the programs of this run say.
    pub logs: &'a Path,
    pub watch: &'a (dyn Watch + Sync),
}

impl Session<'_> {
    /// The folder of what the programs of a run say.
    pub fn logs(site: &Site, run: &str) -> PathBuf {
        site.work().join("logs").join(run)
    }

    /// Renders a layer. Anything else is what it is.
    ///
    /// # Errors
    /// It cannot be rendered.
    pub fn render(&self) -> Result<(), Failure> {
        let Some(layer) = &self.unit.layer else { return Ok(()) };
        let told = |problems| gathered(self.unit, "cannot be rendered", problems);
        let run = Arc::new((self.site.layers.begin)().map_err(told)?);
        let refused = match &self.unit.past {
            None => layer::render(&run, layer).map_err(told)?.refused,
            Some(past) => {
                let old = Arc::new(run.of_revision(past.revision.clone()).strict());
                let rendered = layer::render_into(&old, layer, &self.unit.folder);
                rendered.map_err(|problems| told(tree::told(problems, past.revision.name())))?
            }
        };
        match refused.is_empty() {
            true => Ok(()),
            false => Err(gathered(self.unit, "is rendered to what Terraform refuses", refused)),
        }
    }

    /// Makes the folder ready for a plan: `init` where it is due, and the workspace.
    ///
    /// # Errors
    /// A variable file is missing, or Terraform failed.
    pub fn ready(&self, purpose: Purpose, again: bool) -> Result<Needs, Failure> {
        let missing = self.unit.missing(self.site);
        if !missing.is_empty() {
            return Err(gathered(self.unit, "cannot be planned", missing));
        }
        for entry in self.unit.backend() {
            if let Some((_, value)) = entry.split_once('=').filter(|(name, value)| secret::is_setting(name, value)) {
                self.site.redactor.add(value.trim());
            }
        }
        let needs = Needs::of(self.unit)?;
        if !again && needs.are_met(self.unit) {
            return Ok(needs);
        }
        let turn = needs.turn(self.site, self.unit)?;
        let mut words = self.unit.init();
        let covers = self.covered(&mut words)?;
        self.well("init", words, purpose, false)?;
        drop((turn, covers));
        if !matches!(self.unit.stack.workspace.as_str(), "" | "default") {
            let words = ["workspace", "select", "-or-create", &self.unit.stack.workspace];
            self.well("workspace", words.map(OsString::from).into(), purpose, false)?;
        }
        needs.remember(self.unit)?;
        Ok(needs)
    }

    /// Takes secret settings of a backend out of the words of a start, which everybody on this machine can see, into private
    /// files that are gone when what is given back is dropped.
    fn covered(&self, words: &mut [OsString]) -> Result<Vec<tempfile::TempPath>, Problem> {
        let mut covers = Vec::new();
        for word in words {
            let entry = word.to_str().and_then(|word| word.strip_prefix("-backend-config=")?.split_once('='));
            let Some((name, value)) = entry.filter(|(name, value)| secret::is_setting(name, value)) else { continue };
            file::private_folder(self.logs)?;
            let failed = |e: std::io::Error| Problem::io("write into", self.logs, &e);
            // In JSON, as an argument, every character of a text is itself.
            let mut cover =
                tempfile::Builder::new().suffix(".tfbackend.json").tempfile_in(self.logs).map_err(failed)?;
            let text = serde_json::json!({ name.trim(): value }).to_string();
            std::io::Write::write_all(&mut cover, text.as_bytes()).map_err(failed)?;
            let cover = cover.into_temp_path();
            *word = format!("-backend-config={}", cover.display()).into();
            covers.push(cover);
        }
        Ok(covers)
    }

    /// Plans into `file`.
    ///
    /// # Errors
    /// Terraform failed, or what it shows is no plan.
    pub fn plan(&self, purpose: Purpose, file: &Path) -> Result<Planned, Failure> {
        let ended = self.start("plan", &self.unit.folder, self.unit.plan(self.site, purpose, file), purpose, false)?;
        let ended = match ended.code {
            1 if says_init(&ended) && !ended.interrupted => {
                self.ready(purpose, true)?;
                self.start("plan", &self.unit.folder, self.unit.plan(self.site, purpose, file), purpose, false)?
            }
            _ => ended,
        };
        self.planned(&self.unit.folder, ended, purpose, file)
    }

    /// What a plan that Terraform made in `folder` would do.
    pub(super) fn planned(
        &self,
        folder: &Path,
        ended: Ended,
        purpose: Purpose,
        file: &Path,
    ) -> Result<Planned, Failure> {
        if !matches!(ended.code, 0 | 2) || ended.left || ended.interrupted {
            return Err(self.failed("plan", &ended));
        }
        let words = ["show", "-json", "-no-color"].map(OsString::from);
        let words = words.into_iter().chain([file.into()]).collect();
        let shown = self.limited("show", folder, words, purpose, false, JSON)?;
        if !shown.is_well() {
            return Err(self.failed("show", &shown));
        }
        let mut value: Value = serde_json::from_slice(&shown.stdout).map_err(|e| {
            Problem::new(format!("stack `{}`: what Terraform shows of the plan is no JSON: {e}", self.unit.key()))
        })?;
        self.site.redactor.plan(&mut value);
        let summary = Summary::read(&value)
            .map_err(|problem| Problem { what: format!("stack `{}`: {}", self.unit.key(), problem.what), ..problem })?;
        let text = self.said(&ended.stdout);
        let version = value.get("terraform_version").and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Planned { version, summary, text: trimmed(&text).to_owned(), shown: value, differs: ended.code == 2 })
    }

    /// True where there is a state, an empty one, too.
    ///
    /// # Errors
    /// Terraform failed.
    pub fn has_state(&self) -> Result<bool, Failure> {
        let words = ["state", "pull"].map(OsString::from).into();
        let pulled = self.well("state", words, Purpose::Destroy, false)?;
        Ok(!pulled.stdout.trim_ascii().is_empty())
    }

    /// Applies the plan in `file`.
    ///
    /// # Errors
    /// Terraform failed, was interrupted, or was left to itself.
    pub fn apply(&self, file: &Path) -> Result<String, Failure> {
        let wait = StatePatience::word(self.site.state_patience.apply);
        let words = [APPLY, "-input=false", "-no-color"].map(OsString::from);
        let words = words.into_iter().chain(wait).chain([file.into()]).collect();
        let ended = self.start(APPLY, &self.unit.folder, words, Purpose::Apply, true)?;
        match ended.is_well() {
            true => Ok(self.said(&ended.stdout)),
            false => Err(self.failed(APPLY, &ended)),
        }
    }

    /// The digest of the files that its plan is made of.
    ///
    /// # Errors
    /// One cannot be read.
    pub fn content(&self) -> Result<String, Problem> {
        content(self.unit.root(self.site), &self.unit.parts, &self.unit.foreign)
    }

    fn well(&self, name: &str, words: Vec<OsString>, purpose: Purpose, precious: bool) -> Result<Ended, Failure> {
        let ended = self.start(name, &self.unit.folder, words, purpose, precious)?;
        if ended.is_well() && !ended.interrupted { Ok(ended) } else { Err(self.failed(name, &ended)) }
    }

    /// Starts Terraform once, in `folder`.
    pub(super) fn start(
        &self,
        name: &str,
        folder: &Path,
        words: Vec<OsString>,
        purpose: Purpose,
        precious: bool,
    ) -> Result<Ended, Failure> {
        self.limited(name, folder, words, purpose, precious, TEXT)
    }

    fn limited(
        &self,
        name: &str,
        folder: &Path,
        words: Vec<OsString>,
        purpose: Purpose,
        precious: bool,
        limit: usize,
    ) -> Result<Ended, Failure> {
        // What is told for programs to read is nothing to watch.
        let watch: &dyn Watch = if matches!(name, "show" | "state") { &() } else { self.watch };
        if let Some(past) = &self.unit.past {
            let link = past.top.join(LOGS);
            match std::os::unix::fs::symlink(self.logs, &link) {
                Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
                    return Err(Problem::io("link", &link, &e).into());
                }
                _ => {}
            }
        }
        let name = log_name(self.unit, name);
        let job = Job {
            arguments: words,
            environment: self.unit.environment(self.site, purpose),
            logs: self.logs,
            name: &name,
            limits: (limit, ERROR),
            precious,
            patience: self.site.patience,
        };
        let started = self.unit.tool.start(folder, &job, &self.site.stop, watch);
        Ok(started.map_err(|problem| match problem.help {
            Some(_) if self.unit.tool == self.site.tofu => {
                problem.help("install OpenTofu, or name it by SUIL_TOFU_BIN")
            }
            Some(_) => problem.help("install Terraform, or name it by SUIL_TERRAFORM_BIN or STACKS_TERRAFORM_PATH"),
            None => problem,
        })?)
    }

    fn said(&self, bytes: &[u8]) -> String {
        self.site.redactor.text(&String::from_utf8_lossy(bytes))
    }

    pub(super) fn failed(&self, step: &str, ended: &Ended) -> Failure {
        let program = self.unit.tool.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = self.said(&ended.stderr);
        let text = if text.trim().is_empty() { self.said(&ended.stdout) } else { text };
        let key = self.unit.key();
        let mut problem = match (ended.left, ended.interrupted) {
            (true, _) => Problem::new(format!("stack `{key}`: `{program} {step}` still runs")),
            (_, true) => Problem::new(format!("stack `{key}`: `{program} {step}` was interrupted")),
            _ => Problem::new(format!("stack `{key}`: `{program} {step}` failed")),
        };
        problem = layer::words::terraform(text.as_bytes()).into_iter().fold(problem, Problem::note);
        if step == APPLY && text.contains("Saved plan is stale") {
            problem = problem.help(format!("plan it again: `suil infra plan --stacks {key}`")).kind(Kind::Refused);
        }
        // The picture of the tree that Terraform speaks of is removed.
        if self.unit.past.is_some() && self.unit.folder.join(ERRORED).is_file() {
            let place = self.unit.place(self.site).join(ERRORED);
            problem = problem.note(format!("`{ERRORED}` is brought to `{}`", self.site.shown(&place)));
        }
        if ended.left {
            problem = problem.help("`suil infra resume` goes on when it has ended");
        }
        if ended.interrupted || ended.left {
            problem = problem.kind(Kind::Interrupted);
        }
        Failure { problem: problem.into(), text, interrupted: ended.interrupted, left: ended.left }
    }
}

/// The name of the files in which a step of a stack tells what it does.
pub fn log_name(unit: &Unit, step: &str) -> String {
    format!("{}.{step}", unit.slug())
}

/// Terraform asks for an `init`.
fn says_init(ended: &Ended) -> bool {
    let text = String::from_utf8_lossy(&ended.stderr);
    text.contains("terraform init") || text.contains("tofu init")
}

/// The text of a plan without the words about the file that it was saved to.
fn trimmed(text: &str) -> &str {
    let end = text.find("\nSaved the plan to: ").unwrap_or(text.len());
    let text = text.get(..end).unwrap_or(text).trim_end();
    text.trim_end_matches(|c: char| c == '─' || c.is_whitespace())
}

/// Several problems of one stack as one.
fn gathered(unit: &Unit, what: &str, problems: Vec<Problem>) -> Failure {
    let key = unit.key();
    if let [one] = problems.as_slice() {
        return Failure::from(one.clone());
    }
    let mut problem = Problem::new(format!("stack `{key}` {what}"));
    for one in &problems {
        problem = match one.place {
            Some(place) => problem.note_at(one.what.clone(), place),
            None => problem.note(one.what.clone()),
        };
    }
    let text = problems.iter().map(|one| one.what.clone()).collect::<Vec<_>>().join("\n");
    Failure { problem: problem.into(), text, interrupted: false, left: false }
}
