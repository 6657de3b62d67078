//! `suil apply`, and `suil` alone.

use super::{Context, Outcome, Selection};
use crate::base::{Problem, Problems};
use crate::ui::pick::{Item, pick as choose};
use crate::ui::text::count;
use crate::ui::{self, Exit};

/// Show what differs on the selected nodes, ask, and change it
#[derive(clap::Args, Debug, Default)]
#[command(after_help = "Without --role and --node, take all nodes with --node '*'.")]
pub struct Args {
    #[command(flatten)]
    pub selection: Selection,
    /// Apply without asking
    #[arg(long, conflicts_with = "dry_run")]
    pub confirm: bool,
    /// Show the plan and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Assert every resource, and tell `deploy()` so, even where nothing differs
    #[arg(long)]
    pub force: bool,
    /// Work on this many nodes at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..))]
    pub parallel: u16,
    /// With --dry-run: exit 2 where something differs
    #[arg(long, requires = "dry_run")]
    pub detailed_exitcode: bool,
}

const INSTEAD: &str = "name them: `suil apply --role ROLE`";

/// `suil` alone: pick roles from a list, then run.
pub fn pick(context: &Context) -> Outcome {
    ui::ask::possible("Roles", INSTEAD)?;
    let workspace = context.open()?;
    let roles = workspace.roles()?;
    let item = |row: &crate::catalogue::RoleRow| Item {
        name: row.name.clone(),
        detail: format!("{}: {}", count(row.nodes.len(), "node"), row.nodes.join(", ")),
    };
    let items: Vec<Item> = roles.iter().map(item).collect();
    if items.is_empty() {
        return Err(Problem::new("the workspace has no role").help("`suil init DIR` makes one to look at").into());
    }
    let Some(picked) = choose("Roles", &items, INSTEAD)? else { return Ok(Exit::Done) };
    let picked: Vec<String> = picked.into_iter().filter_map(|i| roles.get(i)).map(|row| row.name.clone()).collect();
    run(
        Args { selection: Selection { roles: picked, ..Selection::default() }, parallel: 32, ..Args::default() },
        context,
    )
}

/// Runs the whole way from the catalogue to the check.
pub fn run(args: Args, context: &Context) -> Outcome {
    if args.selection.is_empty() {
        return Err(Problem::usage("no node is selected")
            .help("name some with `--role ROLE` or `--node NODE`, or take all with `--node '*'`")
            .into());
    }
    let _workspace = context.open()?;
    Err(Problems::from(Problem::new("`suil apply` is not there yet")))
}
