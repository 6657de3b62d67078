//! `suil plan`, and plans that are saved and applied later.

mod applied;

pub use applied::{Applied, open};

use super::later::Waiting;
use super::rolling::Rolling;
use super::start::{self, Start};
use super::{Context, Outcome, Selection, apply};
use crate::base::{Mask, Plain, Problem, Problems, clock, file, problem::Kind, shell};
use crate::plan::saved::{Chosen, Made, OWN, Saved};
use crate::run::Gathered;
use crate::run::saved::Connections;
use crate::ui::{self, Exit};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Show what differs on nodes, and change nothing
///
/// The same as `suil apply --dry-run`. With --out, what it shows can be applied later and nothing else.
#[derive(clap::Args, Debug, Default)]
#[command(
    after_help = "`suil apply --plan FILE` applies what --out wrote. Without --role and --node, take all nodes with --node '*'."
)]
pub struct Args {
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    rolling: Rolling,
    /// Write the plan to this file, for `suil apply --plan FILE`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Assert every resource, and tell `deploy()` so, even where nothing differs
    #[arg(long)]
    force: bool,
    /// Work on this many nodes at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    parallel: u16,
    /// Exit 2 where something differs
    #[arg(long)]
    detailed_exitcode: bool,
    /// Write a report of the plan: `junit=FILE` or `markdown=FILE`; may be given several times
    #[arg(long = "report", value_name = "FORM=FILE", value_parser = super::report::parse)]
    reports: Vec<super::report::Report>,
}

/// Runs the dry run.
pub fn run(args: Args, context: &Context) -> Outcome {
    let Args { selection, rolling, out, force, parallel, detailed_exitcode, reports } = args;
    let args = apply::Args {
        selection,
        rolling,
        out,
        force,
        parallel,
        detailed_exitcode,
        reports,
        dry_run: true,
        ..Default::default()
    };
    apply::run(args, context)
}

/// A file that a plan may be written to.
///
/// # Errors
/// Its folder is not there, or something else than a file stands in its place.
pub fn check_out(path: &Path) -> Result<(), Problem> {
    if path.file_name().is_none() {
        return Err(Problem::usage(format!("cannot write the plan to `{}`: that names no file", path.display())));
    }
    let parent = folder(path);
    if !parent.is_dir() {
        let what = format!("cannot write the plan to `{}`: there is no folder `{}`", path.display(), parent.display());
        return Err(Problem::usage(what));
    }
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            let what = format!("cannot write the plan to `{}`: it is there and is no regular file", path.display());
            Err(Problem::usage(what).help("name a file, such as `plan.json`"))
        }
        _ => Ok(()),
    }
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a plan of nothing where no node is affected, so that whoever applies what was planned finds a plan.
pub fn empty(args: &apply::Args, mut problems: Problems) -> Problems {
    let Some(out) = args.out.as_deref().filter(|_| problems.iter().all(|problem| problem.kind == Kind::Warning)) else {
        return problems;
    };
    let made = Made { at: clock::stamp(clock::now()), by: start::purpose() };
    let saved = Saved { suil: OWN.to_owned(), made, ..Saved::default() };
    problems.extend(put(out, &saved.to_plain(&Mask::new())).err());
    problems
}

fn put(path: &Path, plan: &Plain) -> Result<(), Problem> {
    let text = plan.to_json() + "\n";
    let real = match path.is_symlink() {
        // A link stays one: what it leads to is written.
        true => std::fs::canonicalize(path).ok(),
        false => None,
    };
    file::write(real.as_deref().unwrap_or(path), text.as_bytes(), 0o600)
}

/// Writes a plan to `path`: aside, flushed, renamed.
///
/// # Errors
/// No node could be planned, or the file cannot be written.
pub fn write(
    path: &Path,
    args: &apply::Args,
    start: &Start,
    gathered: &Gathered,
    connections: &Connections,
    waiting: &[Waiting],
) -> Result<(), Problem> {
    let mask = start.mask();
    let nodes = gathered.found(connections, &start.options, &mask);
    if nodes.is_empty() {
        return Err(Problem::new(format!("no node could be planned, and `{}` was not written", path.display())));
    }
    let names: BTreeSet<&str> = nodes.iter().flat_map(|node| node.modules.iter().map(|m| m.name.as_str())).collect();
    let saved = Saved {
        suil: OWN.to_owned(),
        made: Made { at: clock::stamp(clock::now()), by: start.options.purpose.clone() },
        chosen: chosen(args, start),
        modules: start.setup().code(names)?,
        nodes,
        left_out: gathered
            .missed()
            .into_iter()
            .chain(waiting.iter().map(|one| (one.node.clone(), one.why())))
            .collect(),
    };
    put(path, &saved.to_plain(&mask))
}

/// What the plan was asked for. Nodes that no role and no name alone select, as those that failed, stand by their names.
fn chosen(args: &apply::Args, start: &Start) -> Chosen {
    let Selection { roles, nodes, modules, .. } = args.selection.clone();
    let (roles, nodes) = match args.selection.failed || args.selection.affected.is_some() {
        true => (Vec::new(), start.catalogue.entries.iter().map(|entry| entry.name.to_string()).collect()),
        false => (roles, nodes),
    };
    Chosen { roles, nodes, modules, force: args.force }
}

/// Says what became of the plan's file, behind all that the dry run says.
pub fn tell(
    out: Option<&Path>,
    written: Result<(), Problem>,
    exit: Exit,
    start: &Start,
    text: bool,
) -> Result<Exit, Problem> {
    if let Err(problem) = written {
        let failed = ui::fail(&[problem], &start.mask());
        return Ok(if matches!(exit, Exit::Done | Exit::Differences) { failed } else { exit });
    }
    if let Some(out) = out.filter(|_| text) {
        let name = out.display().to_string();
        let command = shell::join(["suil", "apply", "--plan", name.as_str()]);
        ui::out(&format!("\nThe plan is in {name}: `{command}` applies it.\n"))?;
    }
    Ok(exit)
}
