//! `suil infra runs`, and what it has below it.

mod prune;
mod show;

use super::root::{self, Books};
use super::tree::Where;
use crate::base::{Plain, Problem, clock};
use crate::cli::{Context, Outcome};
use crate::infra::store::{Filter, Mode, Run, RunState};
use crate::ui::{self, Exit, Paint};
use std::collections::BTreeMap;

/// List the runs over stacks, and look into them
#[derive(clap::Args, Debug)]
#[command(disable_help_subcommand = true, after_help = "Example: suil infra runs --state failed --limit 5")]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Take the runs that had this stack
    #[arg(long, value_name = "KEY")]
    stack: Option<String>,
    /// Take the runs of this mode: plan, apply, destroy, drift
    #[arg(long, value_name = "MODE", value_parser = mode)]
    mode: Option<Mode>,
    /// Take the runs in this state: pending, planning, planned, applying, applied, failed, superseded
    #[arg(long, value_name = "STATE", value_parser = state)]
    state: Option<RunState>,
    /// List so many, the newest [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    #[command(flatten)]
    place: Where,
}

#[derive(clap::Subcommand, Debug)]
enum Command {
    Show(show::Args),
    Prune(prune::Args),
}

/// What stands for a run on the command line.
pub const NAMES: &str = "A run is named by its id, by a beginning of it that no other has, by `latest`, or by `-1` for \
                         the one before the latest, `-2` for the one before that.";

fn mode(word: &str) -> Result<Mode, String> {
    let all: Vec<&str> = Mode::ALL.iter().map(|one| one.word()).collect();
    Mode::of(word).ok_or_else(|| format!("one of {}", all.join(", ")))
}

fn state(word: &str) -> Result<RunState, String> {
    let all: Vec<&str> = RunState::ALL.iter().map(|one| one.word()).collect();
    RunState::of(word).ok_or_else(|| format!("one of {}", all.join(", ")))
}

/// So many runs are listed where nobody says how many.
const LIMIT: u32 = 50;

pub fn run(args: Args, context: &Context) -> Outcome {
    let narrowed = [
        ("--stack", args.stack.is_some()),
        ("--mode", args.mode.is_some()),
        ("--state", args.state.is_some()),
        ("--limit", args.limit.is_some()),
        ("--repo-root", args.place.repo_root.is_some()),
        ("--repo", args.place.repo.is_some()),
    ];
    if let (Some(_), Some((name, _))) = (&args.command, narrowed.iter().find(|(_, set)| *set)) {
        let problem = Problem::usage(format!("`{name}` before the word behind it is of the list of runs"));
        return Err(problem.help("put it behind that word, or leave it out").into());
    }
    match args.command {
        None => list(&args, context),
        Some(Command::Show(args)) => show::run(args, context),
        Some(Command::Prune(args)) => prune::run(args, context),
    }
}

fn list(args: &Args, context: &Context) -> Outcome {
    let (mut runs, mut counts) = (Vec::new(), BTreeMap::new());
    if let Some(books) = root::known(&args.place, context)? {
        let stack = args.stack.as_deref().map(super::unlock::plain);
        let filter = Filter {
            repo: books.repo,
            mode: args.mode,
            state: args.state,
            stack,
            limit: Some(args.limit.unwrap_or(LIMIT)),
            ..Filter::default()
        };
        runs = books.store.runs(&filter)?;
        let ids: Vec<String> = runs.iter().map(|run| run.id.clone()).collect();
        counts = books.store.counts(&ids)?;
    }
    let rows: Vec<_> = runs.into_iter().map(|run| (counts.remove(&run.id).unwrap_or_default(), run)).collect();
    let value = || {
        let rows = rows.iter().map(|(counts, run)| run.to_plain(counts));
        Plain::from_iter([("runs", rows.collect())])
    };
    ui::show(context.output, || ui::store::runs(&rows, clock::now(), Paint::ON), value)?;
    Ok(Exit::Done)
}

/// The run that a word of the command line names.
///
/// # Errors
/// There is none, or more than one.
pub fn find(books: &Books, word: &str) -> Result<Run, Problem> {
    let all = || Filter { repo: books.repo.clone(), ..Filter::default() };
    let back = match word {
        "latest" => Some(0),
        _ => word.strip_prefix('-').and_then(|back| back.parse::<u16>().ok()),
    };
    if let Some(back) = back {
        let back = u32::from(back);
        let newest = books.store.runs(&Filter { limit: Some(back + 1), ..all() })?;
        let count = newest.len();
        return newest.into_iter().nth(back as usize).ok_or_else(|| match count {
            0 => none(),
            n => Problem::new(format!("there is no run `{word}`: {} recorded", ui::text::count(n, "run")))
                .help("`suil infra runs` lists them"),
        });
    }
    let mut found = books.store.runs(&Filter { prefix: Some(word.to_owned()), limit: Some(3), ..all() })?;
    match (found.pop(), found.as_slice()) {
        (Some(run), []) => Ok(run),
        (Some(last), [first, ..]) => Err(Problem::new(format!("more than one run begins with `{word}`"))
            .note(format!("such as `{}` and `{}`", first.id, last.id))
            .help("write more of the id")),
        (None, _) => {
            Err(Problem::new(format!("there is no run `{word}`")).help("`suil infra runs` lists them; see `--limit`"))
        }
    }
}

/// Nothing was run here yet.
pub fn none() -> Problem {
    Problem::new("there are no runs yet").help("`suil infra plan` begins one")
}
