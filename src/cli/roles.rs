//! `suil roles`.

use super::{Context, Outcome};
use crate::base::{Plain, Problems};
use crate::ui::text::count;
use crate::ui::{self, Exit, Paint, Table};

/// List the roles, their nodes and modules
#[derive(clap::Args, Debug)]
pub struct Args {}

pub fn run(_args: Args, context: &Context) -> Outcome {
    let workspace = context.open()?;
    let rows = workspace.roles()?;
    let text = || {
        let mut table = Table::new(["ROLE", "NODES", "MODULES"]);
        for row in &rows {
            table.row([row.name.clone(), count(row.nodes.len(), "node"), row.modules.join(", ")]);
        }
        table.render(ui::columns(), Paint::ON)
    };
    let names = |list: &[String]| list.iter().map(Plain::from).collect::<Plain>();
    let value = || {
        let rows = rows
            .iter()
            .map(|row| {
                Plain::from_iter([
                    ("name", Plain::from(&row.name)),
                    ("nodes", names(&row.nodes)),
                    ("modules", names(&row.modules)),
                    ("after", names(&row.after)),
                ])
            })
            .collect();
        Plain::from_iter([("roles", rows)])
    };
    ui::show(context.output, text, value).map_err(Problems::from)?;
    Ok(Exit::Done)
}
