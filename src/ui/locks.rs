//! The locks of nodes, one line a node.

use super::{Paint, Table};
use crate::base::{Mask, Plain};
use crate::node::{Failure, Held};
use crate::run::Lock;

/// A node, and its lock or why it could not be looked at.
pub type Row = (String, Result<Lock, Failure>);

/// Renders the locks of nodes that were reached.
pub fn render(rows: &[Row], columns: Option<usize>, paint: Paint) -> String {
    let mut table = Table::new(["NODE", "LOCK", "HOLDER"]);
    for (node, lock) in rows {
        let Ok(lock) = lock else { continue };
        table.row([node.clone(), word(lock).to_owned(), held(lock).map(Held::told).unwrap_or_default()]);
    }
    table.render(columns, paint)
}

fn word(lock: &Lock) -> &'static str {
    match lock {
        Lock::Free => "not locked",
        Lock::Held(held) if held.alive => "held",
        Lock::Held(_) => "stale",
        Lock::Removed(_) => "removed",
        Lock::Changed(_) => "changed hands",
    }
}

/// The word for programs.
fn key(lock: &Lock) -> &'static str {
    match lock {
        Lock::Free => "free",
        other => word(other),
    }
}

fn held(lock: &Lock) -> Option<&Held> {
    match lock {
        Lock::Free => None,
        Lock::Held(held) | Lock::Removed(held) | Lock::Changed(held) => Some(held),
    }
}

/// `{version, nodes: [{node, lock, holder, since, alive, problem}]}`.
pub fn plain(rows: &[Row], mask: &Mask) -> Plain {
    let row = |(node, lock): &Row| {
        let holder = lock.as_ref().ok().and_then(held);
        Plain::from_iter([
            ("node", Plain::from(node)),
            ("lock", Plain::from(lock.as_ref().ok().map(|lock| Plain::from(key(lock))))),
            ("holder", Plain::from(holder.map(|held| Plain::from(held.purpose())))),
            ("since", Plain::from(holder.and_then(Held::since).map(Plain::from))),
            ("alive", Plain::from(holder.map(|held| Plain::from(held.alive)))),
            ("problem", Plain::from(lock.as_ref().err().map(|failure| Plain::from(&failure.problem.what)))),
        ])
    };
    mask.plain(&Plain::from_iter([("version", Plain::Int(1)), ("nodes", rows.iter().map(row).collect())]))
}
