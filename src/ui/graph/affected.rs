//! The affected stacks as a table.

use crate::infra::graph::{Affected, Reason};
use crate::ui::text::count;
use crate::ui::{Paint, Table};

/// What is affected, as a person reads it. `all` is how many stacks there are, `against` what the tree was compared with.
pub fn affected(affected: &Affected, all: usize, against: &str, columns: Option<usize>, paint: Paint) -> String {
    let mut out = String::new();
    if affected.affected.is_empty() {
        out.push_str(&format!("no stacks affected{against}\n"));
    } else {
        let locked = affected.affected.iter().any(|one| one.locked_by.is_some());
        let mapped = affected.affected.iter().any(|one| one.environment != "default");
        let mut headings = vec!["WAVE", "STACK", "REASONS"];
        headings.extend(mapped.then_some("ENVIRONMENT"));
        headings.extend(locked.then_some("LOCKED BY"));
        let via = affected.affected.iter().any(|one| !one.via.is_empty());
        headings.extend(via.then_some("VIA"));
        let mut table = Table::new(headings);
        for one in &affected.affected {
            let reasons = one.reasons.iter().copied().map(Reason::name).collect::<Vec<_>>().join(", ");
            let mut row = vec![one.wave.to_string(), one.key.clone(), reasons];
            row.extend(mapped.then(|| one.environment.clone()));
            row.extend(locked.then(|| one.locked_by.as_ref().map(|holder| holder.who.clone()).unwrap_or_default()));
            row.extend(via.then(|| one.via.join(", ")));
            table.row(row);
        }
        out.push_str(&table.render(columns, paint));
        let waves = match affected.waves.len() {
            0 => String::new(),
            waves => format!(" in {}", count(waves, "wave")),
        };
        out.push_str(&format!("\n{} of {all} affected{waves}{against}\n", count(affected.affected.len(), "stack")));
    }
    for one in &affected.removed {
        let state = one.state.as_ref().map(|state| format!("; its state may be left in {state}")).unwrap_or_default();
        out.push_str(&format!("removed: {}{state}\n", one.key));
    }
    for one in &affected.loose {
        out.push_str(&format!(
            "not ordered: {} needs {}, but through stacks that are not affected\n",
            one.from, one.to
        ));
    }
    out
}
