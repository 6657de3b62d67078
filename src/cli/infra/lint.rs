//! `suil infra lint`.

use super::{begin, left, options, select};
use crate::base::{Mask, Plain};
use crate::cli::{Context, Outcome};
use crate::infra::lint::{self, Finding};
use crate::ui::{self, Exit, Paint};
use std::sync::Arc;

/// What the command ends with where something was found.
const FOUND: Exit = Exit::Failed;
/// What it ends with where something could not be looked at.
const TROUBLE: Exit = Exit::Other(2);

/// Find what cisco-open/stacks reads otherwise, and what is easily misread
///
/// Lists every value that the original would have read differently, with both values, and the other places of a tree
/// where the two are not the same. Nothing is written, and no private key is needed.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples: suil infra lint, suil infra lint --all, suil infra lint 'stacks/*/layers/prod*' --output json
Ends with 0 where nothing is found, 1 where something is, 2 where something could not be looked at.")]
pub struct Args {
    /// Look at these layers: folders, or patterns of folders [default: the one here]
    #[arg(value_name = "LAYER")]
    layers: Vec<String>,
    /// Look at every layer of the tree
    #[arg(long, conflicts_with = "layers")]
    all: bool,
    /// Let templates read files outside the tree
    #[arg(long)]
    allow_outside: bool,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let mask = Mask::new();
    look(&args, context, &mask).or_else(|problems| {
        Ok(match ui::fail(&problems, &mask) {
            Exit::Failed => TROUBLE,
            exit => exit,
        })
    })
}

fn look(args: &Args, context: &Context, mask: &Mask) -> Outcome {
    let options = options::read(args.allow_outside)?;
    let here = options::here()?;
    let root = select::root_of(&args.layers, args.all, &here, &options)?;
    let run = Arc::new(begin::run(context, &root, options, mask)?.lenient().without_states());
    let mut paths = select::either(&args.layers, args.all, &here, &run, &run)?;
    if args.all {
        paths = left::without(&root, paths, &run.options)?;
    }
    let linted = lint::lint(&run, &paths);
    let text = || ui::lint::render(&linted.findings, paths.len(), mask, Paint::ON);
    let value = || Plain::from_iter([("findings", linted.findings.iter().map(|found| value(found, mask)).collect())]);
    ui::show(context.output, text, value)?;
    ui::warn(&linted.warnings, mask);
    if !linted.problems.is_empty() {
        ui::fail(&linted.problems, mask);
        return Ok(TROUBLE);
    }
    Ok(if linted.findings.is_empty() { Exit::Done } else { FOUND })
}

/// `{rule, what, file, line, column, value, original, help}`; the values are text, as JSON writes them.
fn value(found: &Finding, mask: &Mask) -> Plain {
    let value = |value: &Option<crate::infra::Value>| {
        Plain::from(value.as_ref().map(|value| mask.apply(&value.to_json_line())))
    };
    Plain::from_iter([
        ("rule", Plain::from(found.rule.name())),
        ("what", Plain::from(mask.apply(&found.what))),
        ("file", Plain::from(found.file.display().to_string())),
        ("line", Plain::from(found.place.map(|place| place.line))),
        ("column", Plain::from(found.place.map(|place| place.column))),
        ("value", value(&found.value)),
        ("original", value(&found.original)),
        ("help", Plain::from(found.help.as_deref().map(|help| mask.apply(help)))),
    ])
}
