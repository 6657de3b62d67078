//! `suil infra surgery move`.

use super::report::{Report, Told, command, doubts};
use super::{Bench, Change, addresses, one, rename};
use crate::base::problem::Kind;
use crate::base::{Problem, Problems, Result};
use crate::cli::infra::options;
use crate::cli::{Context, Outcome};
use crate::infra::layer::Layer;
use crate::infra::surgery::{self, Address, Moved, Pulled, Site, State, transfer};
use std::collections::HashSet;

/// Move resources, instances or modules from the state of a layer to that of another one
///
/// The states are changed, not the code: move it, too. The target gets them first, then they leave the source, so that
/// they are never in neither. A plan of both layers tells afterwards whether the code fits.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples: suil infra surgery move aws_instance.a stacks/shop/layers/prod,
suil infra surgery move module.a module.b --to ../prod,
suil infra surgery move aws_instance.a stacks/shop/layers/prod --as 'aws_instance.b[0]'.
Three words are read as cisco-open/stacks does: FROM TO LAYER.")]
pub struct Args {
    /// What to move, then the layer where it goes
    #[arg(value_name = "ADDRESS", required = true)]
    words: Vec<String>,
    /// The layer where it goes
    #[arg(long, value_name = "LAYER")]
    to: Option<String>,
    /// Give it another address there
    #[arg(long = "as", value_name = "ADDRESS")]
    name: Option<String>,
    /// Do not plan afterwards
    #[arg(long)]
    no_plan: bool,
    #[command(flatten)]
    change: Change,
}

/// What the words of the command line mean.
struct Asked {
    picks: Vec<Address>,
    name: Option<Address>,
    /// Two words that are two addresses to move, or an old and a new one.
    pair: bool,
    target: String,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let Args { words, to, name, no_plan, change } = args;
    let asked = Asked::new(words, to, name)?;
    let bench = Bench::new(&change.common, context)?;
    let layer = target(&asked.target, &bench, &change)?;
    if layer.path == bench.layer.path {
        return match (asked.picks.as_slice(), &asked.name) {
            ([from], Some(to)) => rename::rename(&bench, from, to, change.dry_run, context),
            _ => Err(Problem::usage(format!("`{}` is the layer they are in", layer.label()))
                .help("`suil infra surgery rename` gives another address in the same state")
                .into()),
        };
    }
    let sites = [bench.open(&bench.layer)?, bench.open(&layer)?];
    let [source, target] = &sites;
    let (from, to) = (source.pull()?, target.pull()?);
    let state = bench.state(source, &from)?;
    if asked.pair
        && let ([first], Some(second)) = (asked.picks.as_slice(), &asked.name)
        && first != second
        && !state.covered(second).is_empty()
    {
        return Err(two_meanings(first, second, &asked.target).into());
    }
    apart(&from, &to, &sites)?;
    let old = to.state.clone().unwrap_or_else(|| {
        let lineage = uuid::Uuid::now_v7().to_string();
        State::empty(&lineage, state.terraform())
    });
    let moved = transfer(state, &old, &asked.picks, asked.name.as_ref())?;
    let (dry_run, pairs) = (change.dry_run, moved.pairs.clone());
    let resources = pairs.iter().cloned().map(|(from, to)| (Some(from), Some(to))).collect();
    let mut report = Report { dry_run, did: "moved", resources, ..Report::default() };
    let serial = |pulled: &Pulled| pulled.state.as_ref().map(State::serial);
    report.layers = vec![Told::new(source, serial(&from)), Told::new(target, serial(&to))];
    if dry_run {
        report.commands = [target, source].map(|site| command(site, &["state", "push", "-"])).into();
        report.show(context)?;
        return Ok(crate::ui::Exit::Done);
    }
    let Moved { source: left, target: got, .. } = moved;
    let changes = [surgery::Change::new(target, to, got), surgery::Change::new(source, from, left)];
    let done = bench.work("move", None).push(&changes)?;
    for (told, serial) in report.layers.iter_mut().rev().zip(done.serials) {
        told.serial = Some(serial);
    }
    report.undo = done.id;
    let problems = match (no_plan, done.interrupted) {
        (true, _) => Problems::new(),
        (_, true) => Problem::new("interrupted, no plan was made").kind(Kind::Interrupted).into(),
        _ => plans(&sites, &pairs, &mut report),
    };
    report.show(context)?;
    Ok(doubts(&problems, &bench.mask))
}

impl Asked {
    fn new(mut words: Vec<String>, to: Option<String>, name: Option<String>) -> Result<Asked> {
        let three = words.len() == 3 && to.is_none() && name.is_none();
        let target = match to {
            Some(to) => to,
            None if words.len() > 1 => words.pop().unwrap_or_default(),
            None => {
                let problem = Problem::usage("the layer where it goes is missing");
                return Err(problem.expected("expected `move ADDRESS… LAYER`, or `--to LAYER`").into());
            }
        };
        let name = if three { words.pop() } else { name };
        if name.is_some() && words.len() > 1 {
            return Err(Problem::usage("only one can get another address").expected("expected one ADDRESS").into());
        }
        let picks = addresses(&words)?;
        let name = addresses(name.as_slice())?.pop();
        Ok(Asked { picks, name, pair: three, target })
    }
}

fn target(word: &str, bench: &Bench, change: &Change) -> Result<Layer> {
    let options = options::read(change.common.allow_outside)?;
    let layer = one(Some(word), &options::here()?, &options)?;
    if layer.root != bench.layer.root {
        let what = format!("`{word}` is a layer of another tree");
        return Err(Problem::usage(what)
            .expected(format!("expected one below `{}`", bench.layer.root.display()))
            .into());
    }
    Ok(layer)
}

fn two_meanings(first: &Address, second: &Address, layer: &str) -> Problem {
    Problem::usage(format!("`{first} {second} {layer}` may mean two things: `{second}` is in the state, too")).help(
        format!(
            "to move both, write `--to {layer}`; to move one under a new address, `{first} {layer} --as '{second}'`"
        ),
    )
}

/// Two layers with one state are no two places.
fn apart(from: &Pulled, to: &Pulled, [source, target]: &[Site; 2]) -> Result<(), Problem> {
    let lineage = |pulled: &Pulled| pulled.state.as_ref().map(|state| state.lineage().to_owned());
    if lineage(from) != lineage(to) || from.digest() != to.digest() {
        return Ok(());
    }
    Err(Problem::new(format!("`{}` and `{}` have the same state", source.label(), target.label()))
        .note("their backends lead to the same place, or one state is a copy of the other")
        .help("give each layer a place of its own in its `backend` block"))
}

/// Plans both layers, and tells where what was moved would be created or destroyed.
fn plans(sites: &[Site; 2], pairs: &[(Address, Address)], report: &mut Report) -> Problems {
    let mut problems = Problems::new();
    for (at, (site, told)) in sites.iter().zip(&mut report.layers).enumerate() {
        let forecast = match site.forecast() {
            Ok(forecast) => forecast,
            Err(problem) => {
                let stop = problem.kind == Kind::Interrupted;
                problems.push(problem.note("the states were changed all the same; what a plan says is not known"));
                if stop {
                    break;
                }
                continue;
            }
        };
        let mine: HashSet<String> =
            pairs.iter().map(|(from, to)| if at == 0 { from } else { to }.to_string()).collect();
        for (action, word) in [("create", "create"), ("delete", "destroy"), ("replace", "replace")] {
            let all = forecast.changes.iter().filter(|(address, does)| does == action && mine.contains(address));
            let names: Vec<&str> = all.map(|(address, _)| address.as_str()).collect();
            if !names.is_empty() {
                problems.push(odd(site, at, word, &names));
            }
        }
        told.plan = Some(forecast);
    }
    let help = report.undo.as_ref().map(|id| format!("`suil infra surgery undo {id}` puts both states back"));
    for problem in &mut problems {
        problem.help = problem.help.take().or_else(|| help.clone());
    }
    problems
}

/// How many addresses a note lists.
const NAMES: usize = 10;

fn odd(site: &Site, at: usize, word: &str, names: &[&str]) -> Problem {
    let problem = Problem::new(format!("the plan of `{}` would {word} what was moved", site.label()));
    let mut problem = names.iter().take(NAMES).fold(problem, |problem, name| problem.note(format!("`{name}`")));
    if names.len() > NAMES {
        problem = problem.note(format!("and {} more", names.len() - NAMES));
    }
    problem.note(match (at, word) {
        (0, _) => "its code still has this: remove it there before the next apply",
        (_, "destroy") => "its code does not have this: put it there before the next apply",
        _ => "its code has this with other settings",
    })
}
