//! The brief: the nodes of a run and their modules, before anything is connected.

use super::text::{age, count};
use super::{Paint, Table, columns};
use crate::catalogue::Catalogue;
use std::collections::BTreeSet;

/// One line a group of nodes with the same role and modules: fifty equal nodes are one line. `read` says how many seconds
/// ago something was last read from a node.
pub fn render(
    catalogue: &Catalogue,
    only: &BTreeSet<String>,
    read: impl Fn(&str) -> Option<i64>,
    paint: Paint,
) -> String {
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
    let mut table = Table::new(["NODES", "ROLE", "FACTS", "MODULES"]);
    for (role, modules, nodes) in groups {
        let ages: Vec<Option<i64>> = nodes.iter().map(|node| read(node)).collect();
        let named = match nodes.as_slice() {
            [first, _, _, .., last] => format!("{first} … {last} ({})", nodes.len()),
            few => few.join(", "),
        };
        table.row([named, role, facts(&ages), modules]);
    }
    format!("{}\n{}\n", paint.heading(&count(catalogue.entries.len(), "node")), table.render(columns(), paint))
}

/// The age of the oldest facts of a group, and for how many nodes there are none: `3 days`, `never`, `2 never, 5 min`.
fn facts(ages: &[Option<i64>]) -> String {
    let never = ages.iter().filter(|age| age.is_none()).count();
    match (ages.iter().flatten().max(), never) {
        (None, _) => "never".to_owned(),
        (Some(oldest), 0) => age(*oldest),
        (Some(oldest), never) => format!("{never} never, {}", age(*oldest)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_the_age_of_its_oldest_facts() {
        assert_eq!(facts(&[None, None]), "never");
        assert_eq!(facts(&[Some(600), Some(300_000)]), "3 days");
        assert_eq!(facts(&[None, Some(600)]), "1 never, 10 min");
    }
}
