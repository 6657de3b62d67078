//! `suil infra surgery undo`.

use super::report::{Report, Told, command};
use super::{Change, Tree};
use crate::base::{Plain, Problem, Result, clock};
use crate::cli::{Context, Outcome};
use crate::infra::layer::Layer;
use crate::infra::surgery::record::{self, Record};
use crate::infra::surgery::{Site, differences, undo};
use crate::ui::{self, Exit, Paint, Table};

/// Put back the states that a surgery changed
///
/// Without a name that is the last one, or the one that was cut off. A state that has changed since is left alone.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples: suil infra surgery undo, suil infra surgery undo --list")]
pub struct Args {
    /// Which one, or how its name begins
    #[arg(value_name = "SURGERY", conflicts_with = "list")]
    id: Option<String>,
    /// List what can be undone
    #[arg(long)]
    list: bool,
    #[command(flatten)]
    change: Change,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let tree = Tree::find(&args.change.common, context)?;
    let records = record::all(&tree.root)?;
    if args.list {
        return list(&records, context);
    }
    let mut record = pick(records, args.id.as_deref())?;
    record.take()?;
    let mut sites: Vec<Site> = Vec::new();
    for part in &record.manifest.layers {
        let layer = Layer::at(&tree.root.join(&part.layer), &tree.run.options)?;
        sites.push(tree.open(&layer)?);
    }
    let changes = undo::changes(&record, &sites).map_err(|problems| {
        let help = format!("the backups are in `{}`", record.shown(&tree.root));
        problems
            .into_iter()
            .map(|problem| if problem.help.is_none() { problem.help(&help) } else { problem })
            .collect::<Vec<_>>()
    })?;
    let dry_run = args.change.dry_run;
    let mut report = Report { dry_run, did: "put back", ..Report::default() };
    let states: Vec<_> = changes.iter().filter_map(|c| Some((c.before.state.as_ref()?, &c.after))).collect();
    report.resources = differences(&states);
    for change in &changes {
        report.layers.push(Told::new(change.site, Some(change.before.serial())));
    }
    if dry_run {
        report.commands = changes.iter().map(|change| command(change.site, &["state", "push", "-"])).collect();
    } else {
        if !changes.is_empty() {
            let done = tree.work("undo", Some(&record.id)).push(&changes)?;
            for (told, serial) in report.layers.iter_mut().zip(done.serials) {
                told.serial = Some(serial);
            }
            report.undo = done.id;
        }
        record::undone(&tree.root, record)?;
    }
    if report.layers.is_empty() {
        report.layers = sites.iter().map(|site| Told::new(site, None)).collect();
    }
    report.show(context)?;
    Ok(Exit::Done)
}

/// The record that is meant.
fn pick(records: Vec<Record>, id: Option<&str>) -> Result<Record, Problem> {
    let listed = "`suil infra surgery undo --list` lists them";
    let open = |record: &&Record| record.is_open() && record.manifest.undoes.is_none();
    let last = records.iter().rfind(|record| record.is_cut_off()).or_else(|| records.iter().rfind(open));
    let Some(id) = id.map(str::to_owned).or_else(|| last.map(meant)) else {
        return Err(Problem::new("there is nothing to undo"));
    };
    let exact = records.iter().position(|record| record.id == id);
    let mut found: Vec<Record> = match exact {
        Some(at) => records.into_iter().skip(at).take(1).collect(),
        None => records.into_iter().filter(|record| record.name().starts_with(&id)).collect(),
    };
    match (found.pop(), found.len()) {
        (Some(record), 0) => Ok(record),
        (Some(_), more) => Err(Problem::new(format!("`{id}` may be any of {} surgeries", more + 1)).help(listed)),
        (None, _) => Err(Problem::new(format!("there is no surgery `{id}`")).help(listed)),
    }
}

/// The ID that puts back what a record changed. An undo that was cut off is not undone but done again.
fn meant(record: &Record) -> String {
    record.manifest.undoes.as_ref().filter(|_| record.is_cut_off()).unwrap_or(&record.id).clone()
}

fn list(records: &[Record], context: &Context) -> Outcome {
    let text = || {
        if records.is_empty() {
            return "no surgery is on record\n".to_owned();
        }
        let mut table = Table::new(["id", "when", "what", "outcome", "layers"]);
        for record in records.iter().rev() {
            let when = clock::ago(&record.manifest.started).unwrap_or_else(|| record.manifest.started.clone());
            let layers: Vec<&str> = record.manifest.layers.iter().map(|part| part.layer.as_str()).collect();
            let (what, outcome) = (record.manifest.surgery.clone(), record.outcome().to_owned());
            table.row([record.id.clone(), when, what, outcome, layers.join(", ")]);
        }
        table.render(ui::columns(), Paint::ON)
    };
    let value = || Plain::from_iter([("surgeries", records.iter().rev().map(plain).collect::<Plain>())]);
    ui::show(context.output, text, value)?;
    Ok(Exit::Done)
}

fn plain(record: &Record) -> Plain {
    let manifest = &record.manifest;
    let layer = |part: &record::Part| {
        Plain::from_iter([
            ("layer", Plain::from(&part.layer)),
            ("step", Plain::from(part.step.word())),
            ("before", Plain::from(part.before.as_ref().map(|known| known.serial))),
            ("after", Plain::from(part.after.as_ref().map(|known| known.serial))),
        ])
    };
    Plain::from_iter([
        ("id", Plain::from(&record.id)),
        ("surgery", Plain::from(&manifest.surgery)),
        ("started", Plain::from(&manifest.started)),
        ("by", Plain::from(&manifest.by)),
        ("outcome", Plain::from(record.outcome())),
        ("layers", manifest.layers.iter().map(layer).collect()),
        ("undoes", Plain::from(manifest.undoes.as_deref())),
    ])
}

/// Warns of surgeries that were cut off.
pub fn warn(tree: &Tree) -> Result<(), Problem> {
    let cut = record::all(&tree.root)?.into_iter().filter(Record::is_cut_off);
    let told: Vec<Problem> = cut
        .map(|record| {
            let mut problem = Problem::warning(format!("surgery `{}` was cut off", record.id));
            for part in &record.manifest.layers {
                let state = match part.step {
                    record::Step::Waiting => "as it was",
                    record::Step::Pushing => "as it was, or changed: it was about to be",
                    record::Step::Pushed => "changed",
                    record::Step::TakenBack => "put back",
                };
                problem = problem.note(format!("the state of `{}` is {state}", part.layer));
            }
            problem.help(format!("`suil infra surgery undo {}` puts back what was changed", meant(&record)))
        })
        .collect();
    ui::warn(&told, &tree.mask);
    Ok(())
}
