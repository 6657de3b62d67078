//! `suil nodes`.

use super::{Context, Outcome};
use crate::base::{Plain, Problems, clock};
use crate::catalogue::NodeRow;
use crate::run::facts::read_at;
use crate::ui::text::age;
use crate::ui::{self, Exit, Paint, Table};
use chrono::{DateTime, Utc};

/// List the nodes, their roles and systems
#[derive(clap::Args, Debug)]
pub struct Args {}

pub fn run(_args: Args, context: &Context) -> Outcome {
    let workspace = context.open()?;
    let rows = workspace.nodes()?;
    let read = |row: &NodeRow| read_at(workspace.root(), &row.name);
    let text = || {
        let mut table = Table::new(["NODE", "ROLE", "SYSTEM", "FACTS"]);
        for row in &rows {
            let system = match (&row.probe.family, row.probe.release()) {
                (Some(family), Some(release)) => format!("{family} {release}"),
                (Some(family), None) => family.clone(),
                _ => "not probed".to_owned(),
            };
            let facts = read(row).map_or("never".to_owned(), |at| age((clock::now() - at).num_seconds()));
            table.row([row.name.clone(), row.role.clone(), system, facts]);
        }
        table.render(ui::columns(), Paint::ON)
    };
    let value = || Plain::from_iter([("nodes", rows.iter().map(|row| plain(row, read(row))).collect::<Plain>())]);
    ui::show(context.output, text, value).map_err(Problems::from)?;
    Ok(Exit::Done)
}

/// A node as programs read it; `facts` is when they were read.
pub fn plain(row: &NodeRow, facts: Option<DateTime<Utc>>) -> Plain {
    Plain::from_iter([
        ("name", Plain::from(&row.name)),
        ("role", Plain::from(&row.role)),
        ("family", Plain::from(row.probe.family.clone())),
        ("release", Plain::from(row.probe.release.clone())),
        ("provisional", Plain::from(row.provisional)),
        ("facts", Plain::from(facts.map(clock::stamp))),
        ("file", Plain::from(row.place.path().display().to_string())),
    ])
}
