//! `suil run`.

use super::start::Start;
use super::{Context, Outcome, Selection};
use crate::base::{Problem, Problems, file, problem::Kind};
use crate::node::{Raise, Script};
use crate::run::Errand;
use crate::ui::{self, Exit, Output, Paint};
use std::path::PathBuf;
use std::time::Duration;

/// Run one command on many nodes, and show equal answers once
#[derive(clap::Args, Debug)]
#[command(
    after_help = "The command is run as root, in /, with /dev/null as stdin. Several words are a command and its arguments; \
                  one word alone is a line for sh: `suil run --role web -- 'df -h | tail -1'`. Without --role and --node, \
                  take all nodes with --node '*'."
)]
pub struct Args {
    #[command(flatten)]
    pub selection: Selection,
    /// The command, behind `--`
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "script")]
    pub command: Vec<String>,
    /// Run the text of this file instead, by what its first line names, else by sh
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub script: Option<PathBuf>,
    /// Stay the user that logs in, instead of becoming root
    #[arg(long)]
    pub no_sudo: bool,
    /// End the command on a node where it takes longer than this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..))]
    pub timeout: u32,
    /// Work on this many nodes at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub parallel: u16,
    /// Hold the lock of each node meanwhile, as an apply does
    #[arg(long)]
    pub lock: bool,
    /// Say why: it stands in the lock
    #[arg(long, value_name = "TEXT", requires = "lock")]
    pub reason: Option<String>,
}

/// Runs the command on every selected node. Exits 0 where all ended with 0.
pub fn run(args: Args, context: &Context) -> Outcome {
    if args.selection.is_empty() {
        return Err(Problem::usage("no node is selected")
            .help("name some with `--role ROLE` or `--node NODE`, or take all with `--node '*'`")
            .into());
    }
    let script = match &args.script {
        Some(path) => Script::of_file(read(path)?),
        None => Script::of_words(&args.command),
    };
    if script.text.trim().is_empty() {
        return Err(Problem::usage("the command is empty").into());
    }
    let start = Start::reach(context, &args.selection, args.parallel)?;
    let mask = start.mask();
    start.finish(|start| all(&args, context, start, script)).or_else(|problems| Ok(ui::fail(&problems, &mask)))
}

fn read(path: &std::path::Path) -> Result<String, Problem> {
    let bytes = file::read(path).map_err(|error| Problem::io("read", path, &error))?;
    String::from_utf8(bytes).map_err(|_| Problem::new(format!("`{}` is no text", path.display())))
}

fn all(args: &Args, context: &Context, start: &Start, script: Script) -> Outcome {
    let mask = start.mask();
    ui::warn(&start.catalogue.warnings, &mask);
    let mut targets = start.targets()?;
    if args.no_sudo {
        targets.iter_mut().for_each(|target| target.raise = Raise::No);
    }
    let errand = Errand {
        script,
        limit: Duration::from_secs(args.timeout.into()),
        parallel: args.parallel.into(),
        lock: args.lock.then(|| start.options.purpose.clone()),
    };
    let replies = start.adhoc(targets, errand, "running")?;
    let terminal = ui::columns();
    match context.output {
        Output::Text => ui::out(&ui::replies::render(&replies, terminal, Paint::ON))?,
        form => ui::show(form, String::new, || ui::replies::plain(&replies, &mask))?,
    }
    let mut problems: Problems = replies.iter().filter_map(|reply| reply.problem().cloned()).collect();
    if start.stop.asked() {
        if problems.is_empty() {
            problems.push(Problem::new("interrupted, but every command had ended").kind(Kind::Interrupted));
        }
        ui::fail(&problems, &mask);
        return Ok(Exit::Interrupted);
    }
    let failed = replies.iter().any(|reply| reply.word() != "done");
    if !problems.is_empty() {
        return Ok(ui::fail(&problems, &mask));
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}
