//! `suil modules`.

use super::{Context, Outcome};
use crate::base::{Plain, Problems};
use crate::ui::{self, Exit, Paint, Table};

/// List the modules in run order
///
/// Where each comes from, and what it requires.
#[derive(clap::Args, Debug)]
pub struct Args {}

pub fn run(_args: Args, context: &Context) -> Outcome {
    let workspace = context.open()?;
    let rows = workspace.modules();
    let text = || {
        let mut table = Table::new(["MODULE", "FROM", "REQUIRES"]);
        for row in &rows {
            table.row([row.name.clone(), row.origin.to_string(), row.requires.join(", ")]);
        }
        table.render(ui::columns(), Paint::ON)
    };
    let value = || {
        let rows = rows
            .iter()
            .map(|row| {
                Plain::from_iter([
                    ("name", Plain::from(&row.name)),
                    ("from", Plain::from(row.origin.to_string())),
                    ("requires", row.requires.iter().map(Plain::from).collect()),
                ])
            })
            .collect();
        Plain::from_iter([("modules", rows)])
    };
    ui::show(context.output, text, value).map_err(Problems::from)?;
    Ok(Exit::Done)
}
