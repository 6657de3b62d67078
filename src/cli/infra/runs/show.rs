//! `suil infra runs show`.

use super::{NAMES, find, none};
use crate::base::{Plain, Problem, clock, nearest::nearest};
use crate::cli::infra::tree::Where;
use crate::cli::infra::{root, unlock};
use crate::cli::{Context, Outcome};
use crate::infra::store::{Check, Counts, Outcome as Result, Phase, RunStack};
use crate::ui::{self, Exit, Paint};
use std::collections::BTreeMap;

/// Show a run: its stacks wave by wave, what became of each, and what failed
#[derive(clap::Args, Debug)]
#[command(after_help = NAMES)]
pub struct Args {
    /// Which run
    #[arg(value_name = "RUN", default_value = "latest", allow_negative_numbers = true)]
    run: String,
    /// Show this stack alone, with the text of its plan where it is still kept
    #[arg(long, value_name = "KEY")]
    stack: Option<String>,
    #[command(flatten)]
    place: Where,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let books = root::known(&args.place, context)?.ok_or_else(none)?;
    let run = find(&books, &args.run)?;
    let store = books.store;
    let mut stacks = store.stacks(&run.id)?;
    let counts = counts(&stacks);
    let mut text = None;
    if let Some(key) = args.stack.as_deref().map(unlock::plain) {
        let Some(stack) = stacks.iter().find(|stack| stack.stack == key).cloned() else {
            let problem = Problem::new(format!("run `{}` has no stack `{key}`", run.id));
            let near = nearest(&key, stacks.iter().map(|stack| stack.stack.as_str()));
            return Err(match near {
                Some(near) => problem.help(format!("did you mean `{near}`?")).into(),
                None => problem.help(format!("`suil infra runs show {}` lists its stacks", args.run)).into(),
            });
        };
        for phase in [Phase::Plan, Phase::Destroy] {
            text = text.or(store.plan_text(&run.id, &key, phase)?);
        }
        stacks = vec![stack];
    }
    let mut outcomes: BTreeMap<String, Vec<Result>> = BTreeMap::new();
    for outcome in store.outcomes(&run.id)? {
        outcomes.entry(outcome.stack.clone()).or_default().push(outcome);
    }
    let mut checks: BTreeMap<String, Vec<Check>> = BTreeMap::new();
    for check in store.checks(&run.id)? {
        checks.entry(check.stack.clone()).or_default().push(check);
    }
    let rows: Vec<ui::store::StackRow> = stacks
        .into_iter()
        .map(|stack| ui::store::StackRow {
            outcomes: outcomes.remove(&stack.stack).unwrap_or_default(),
            checks: checks.remove(&stack.stack).unwrap_or_default(),
            stack,
        })
        .collect();
    let value = || {
        let row = |row: &ui::store::StackRow| {
            let mut plain = row.stack.to_plain();
            plain.set("outcomes", row.outcomes.iter().map(Result::to_plain).collect::<Plain>());
            plain.set("checks", row.checks.iter().map(Check::to_plain).collect::<Plain>());
            plain
        };
        let mut plain = Plain::from_iter([("run", run.to_plain(&counts)), ("stacks", rows.iter().map(row).collect())]);
        if args.stack.is_some() {
            plain.set("text", text.as_deref().map(Plain::from));
        }
        plain
    };
    let told = || ui::store::show(&run, &rows, text.as_deref(), clock::now(), Paint::ON);
    ui::show(context.output, told, value)?;
    Ok(Exit::Done)
}

fn counts(stacks: &[RunStack]) -> Counts {
    let mut counts = BTreeMap::new();
    for stack in stacks {
        *counts.entry(stack.state).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}
