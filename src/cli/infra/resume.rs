//! `suil infra resume`.

use super::apply::{conclude, perform};
use super::ground::{Ground, Speed};
use super::plan::show;
use super::tree::Where;
use crate::base::Problem;
use crate::base::problem::Kind;
use crate::cli::{Context, Outcome, start};
use crate::infra::engine::{Chosen, Set, Work, adopt, restore};
use crate::infra::store::{Filter, Life, Mode, Process, Run, RunStack, RunState, Store};
use crate::ui::stacks;
use std::collections::HashMap;

/// Go on with a run that failed or was ended: exactly with what is not done
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: suil infra resume")]
pub struct Args {
    /// The run, or the beginning of its id [default: the newest that is not done]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    place: Where,
    #[command(flatten)]
    speed: Speed,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let ground = Ground::new(&args.place, context)?;
    let run = find(&*ground.store, &ground.site.repo, args.run.as_deref())?;
    let rows = ground.store.stacks(&run.id)?;
    let chosen = rows.iter().map(|row| Chosen { key: row.stack.clone(), reasons: Vec::new(), via: row.via.clone() });
    let chosen: Vec<Chosen> = chosen.collect();
    let gone = chosen.iter().map(|one| &one.key).filter(|key| !ground.graph.stacks.iter().any(|s| s.key == **key));
    let gone: Vec<String> = gone.cloned().collect();
    let backwards = run.mode == Mode::Destroy;
    let restored = match backwards && !gone.is_empty() {
        true => Some(restore(&ground.site, &ground.graph, &gone, &[])?),
        false => None,
    };
    let (graph, set) = match &restored {
        Some(restored) => (&restored.graph, ground.with_restored(restored, chosen, backwards)?),
        None => (&ground.graph, Set::new(&ground.site, &ground.graph, chosen, backwards)?),
    };
    let run = adopt(&*ground.store, &run, &Process::this(&ground.site.user), &start::who())?;
    let mut by_key: HashMap<String, RunStack> = rows.into_iter().map(|row| (row.stack.clone(), row)).collect();
    let rows = set.chosen.iter().filter_map(|chosen| by_key.remove(&chosen.key)).collect();
    let screen = stacks::Screen::default();
    let (pace, store) = (ground.pace(&args.speed), ground.store.clone());
    let mut work = Work::with(&ground.site, graph, &set, store, pace, &screen, run, rows);
    if work.run.mode == Mode::Plan {
        work.take_up_plan()?;
        screen.begin("planning", set.len());
        let ended = work.plan();
        screen.end();
        ended?;
        show(&work, &work.stands(), false, context, &ground)?;
        return Ok(conclude(&work, &ground, "`suil infra resume` goes on"));
    }
    screen.begin("looking what is left", set.len());
    let taken = work.take_up();
    screen.end();
    let (bases, again) = match taken {
        Ok(taken) => taken,
        Err(problems) => {
            work.give_up();
            return Err(problems);
        }
    };
    perform(&mut work, &bases, &again, false, &screen, &ground, context)
}

/// The run that is meant.
fn find(store: &dyn Store, repo: &str, named: Option<&str>) -> Result<Run, Problem> {
    let filter = Filter { repo: Some(repo.to_owned()), limit: Some(1000), ..Filter::default() };
    let runs = store.runs(&filter)?;
    let Some(named) = named else {
        let open = |run: &&Run| {
            run.mode != Mode::Drift
                && (run.state == RunState::Failed || !run.state.is_final() && run.process.life() != Life::Alive)
                && !(run.mode == Mode::Plan && run.state == RunState::Planned)
        };
        // What was applied since makes an older run a thing of the past.
        let newest = runs.iter().filter(|run| !matches!(run.state, RunState::Superseded)).find(open);
        return newest.cloned().ok_or_else(|| {
            Problem::new("there is no run to resume").help("`suil infra runs` lists all runs").kind(Kind::Refused)
        });
    };
    let found: Vec<&Run> = runs.iter().filter(|run| run.id.starts_with(named)).collect();
    match found.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(Problem::usage(format!("there is no run `{named}`")).help("`suil infra runs` lists all runs")),
        many => Err(Problem::usage(format!("`{named}` is the beginning of {} runs", many.len()))
            .expected("expected an id, or enough of one")),
    }
}
