//! `suil plan`, and plans that are saved and applied later.

use super::rolling::Rolling;
use super::start::{self, Start};
use super::{Context, Outcome, Selection, apply};
use crate::base::{Mask, Plain, Problem, Problems, clock, file, problem::Kind, shell};
use crate::catalogue::{self, Workspace};
use crate::plan::saved::{Chosen, Made, OWN, Saved, moved};
use crate::run::saved::{self, Connections};
use crate::run::{Gathered, Prepared};
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

/// A plan from a file, while it is applied.
pub struct Applied {
    path: String,
    saved: Saved,
    /// The digest of the file.
    sha256: String,
}

/// Reads a plan, and sees that it is about the nodes that its selection means today.
///
/// # Errors
/// The file cannot be read or is no plan, and every node that came or went.
pub fn open(path: &Path, context: &Context) -> Result<Applied, Problems> {
    let text = file::read_text(path).map_err(|e| Problem::io("read", path, &e))?;
    let path = path.display().to_string();
    let (saved, sha256) = Saved::read(&path, &text)?;
    let applied = Applied { path, saved, sha256 };
    if applied.is_empty() {
        return Ok(applied);
    }
    let workspace = context.open()?;
    let selected = selected(&workspace, &applied.saved.chosen);
    let exists = |node: &str| workspace.node_names().any(|name| name == node);
    applied.stale(moved::nodes(&applied.saved, &selected, &exists))?;
    Ok(applied)
}

/// The nodes that a plan's selection means today. Each role and each node that it names is looked for alone: one that
/// is not there any more selects nothing, and takes no other with it.
fn selected(workspace: &Workspace, chosen: &Chosen) -> BTreeSet<String> {
    let alone = |names: &[String]| -> Vec<Vec<String>> {
        if names.is_empty() { vec![Vec::new()] } else { names.iter().map(|name| vec![name.clone()]).collect() }
    };
    let nodes = alone(&chosen.nodes);
    let pairs =
        alone(&chosen.roles).into_iter().flat_map(|roles| nodes.iter().map(move |n| (roles.clone(), n.clone())));
    let selections = pairs.map(|(roles, nodes)| catalogue::Selection { roles, nodes });
    selections.filter_map(|selection| catalogue::selected(workspace, &selection).ok()).flatten().collect()
}

impl Applied {
    /// True where there was no node to plan.
    pub fn is_empty(&self) -> bool {
        self.saved.nodes.is_empty() && self.saved.left_out.is_empty()
    }

    /// What is said where there is nothing to do.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn nothing(&self, context: &Context) -> Outcome {
        let nodes = ("nodes", Plain::List(Vec::new()));
        let value = || Plain::from_iter([("version", Plain::Int(1)), nodes, ("plan", self.card())]);
        ui::show(context.output, || "Nothing to apply.\n".to_owned(), value)?;
        Ok(Exit::Done)
    }

    /// The arguments that the plan was made with, in place of those that were not given.
    pub fn args(&self, args: apply::Args) -> apply::Args {
        let nodes = self.saved.nodes.iter().map(|node| node.name.clone()).collect();
        let selection = Selection { nodes, ..Selection::default() };
        apply::Args { selection, force: self.saved.chosen.force, ..args }
    }

    /// The modules that the plan was asked for; none: all of each node.
    pub fn modules(&self) -> &[String] {
        &self.saved.chosen.modules
    }

    /// What the record and the results say of the plan.
    pub fn card(&self) -> Plain {
        Plain::from_iter([
            ("sha256", Plain::from(&self.sha256)),
            ("made", Plain::from(&self.saved.made.at)),
            ("by", Plain::from(&self.saved.made.by)),
        ])
    }

    /// Says which of the nodes that were selected the plan is not about.
    pub fn left_out(&self) -> Problems {
        let left_out = self.saved.left_out.iter();
        left_out
            .map(|(node, why)| {
                Problem::warning(format!("node `{node}` could not be planned and has no part in this plan")).note(why)
            })
            .collect()
    }

    /// Compares what can be known before anything connects.
    ///
    /// # Errors
    /// The plan is stale.
    pub fn check_before(
        &self,
        start: &Start,
        prepared: &[Prepared],
        connections: &Connections,
    ) -> Result<(), Problems> {
        let names = self.saved.modules.keys().map(String::as_str);
        let code = start.setup().code(names)?;
        let expected = saved::expected(prepared, connections);
        let entries = &start.catalogue.entries;
        let places = |node: &str, module: &str, path: &[String]| saved::place(entries, node, module, path);
        self.stale(moved::before(&self.saved, &expected, &code, &places))
    }

    /// Compares what the nodes say and what is planned now.
    ///
    /// # Errors
    /// The plan is stale.
    pub fn check_after(&self, start: &Start, gathered: &Gathered, connections: &Connections) -> Result<(), Problems> {
        let found = gathered.found(connections, &start.options, &start.mask());
        let places = |node: &str, module: &str, path: &[String]| saved::place(gathered.entries(), node, module, path);
        self.stale(moved::after(&self.saved, &found, &places))
    }

    fn stale(&self, checked: Result<(), Problems>) -> Result<(), Problems> {
        let Err(moved) = checked else { return Ok(()) };
        let Made { at, by } = &self.saved.made;
        let end = Problem::new(format!("the plan in `{}` is stale, and nothing was changed", self.path))
            .kind(Kind::Refused)
            .note(format!("it was made at {at} by {by}"))
            .help("look at what moved, then make a new plan with `suil plan --out FILE`");
        Err(moved.into_iter().chain([end]).collect())
    }
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
    file::write(&folder(path).join(path.file_name().unwrap_or_default()), text.as_bytes(), 0o600)
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
        left_out: gathered.missed(),
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
pub fn tell(out: Option<&Path>, written: Result<(), Problem>, exit: Exit, start: &Start, text: bool) -> Outcome {
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
