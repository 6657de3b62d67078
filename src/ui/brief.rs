//! The brief: the nodes of a run and their modules, before anything is connected.

use super::text::count;
use super::{Paint, Table, columns};
use crate::catalogue::Catalogue;
use std::collections::BTreeSet;

/// One line a group of nodes with the same role and modules: fifty equal nodes are one line.
pub fn render(catalogue: &Catalogue, only: &BTreeSet<String>, paint: Paint) -> String {
    let mut groups: Vec<(String, String, Vec<String>)> = Vec::new();
    for entry in &catalogue.entries {
        let modules = entry.modules.iter().filter(|m| only.is_empty() || only.contains(&***m));
        let mut modules = modules.map(|m| m.to_string()).collect::<Vec<_>>().join(", ");
        if entry.provisional {
            modules.push_str(" (order provisional: never probed)");
        }
        let role = entry.role.to_string();
        match groups.iter_mut().find(|(r, m, _)| *r == role && *m == modules) {
            Some((_, _, nodes)) => nodes.push(entry.name.to_string()),
            None => groups.push((role, modules, vec![entry.name.to_string()])),
        }
    }
    let mut table = Table::new(["NODES", "ROLE", "MODULES"]);
    for (role, modules, nodes) in groups {
        let named = match nodes.as_slice() {
            [first, _, _, .., last] => format!("{first} … {last} ({})", nodes.len()),
            few => few.join(", "),
        };
        table.row([named, role, modules]);
    }
    format!("{}\n{}\n", paint.heading(&count(catalogue.entries.len(), "node")), table.render(columns(), paint))
}
