//! Check is not new code: drift is a difference that should have been empty.

use super::{NodePlan, Operation};
use crate::base::{Plain, Problem};
use crate::module::Difference;

/// An operation that would be needed again right after it was performed.
pub fn drift(node: &str, plan: &NodePlan, rest: &Operation) -> Problem {
    let mut problem = Problem::new(format!("node `{node}` drifted: `{}` is not as applied", rest.resource()));
    for attribute in &rest.diff.attributes {
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        problem = problem.note(format!(
            "expected {} {}, found {} when checked",
            attribute.name,
            word(&attribute.after),
            word(&attribute.before)
        ));
    }
    let guarded = rest.resources.first().is_some_and(|id| id.starts_with("command "));
    if guarded {
        problem = problem.note("its guard says that it still has to run");
    } else if rest.diff.attributes.is_empty() {
        problem = problem.note(format!("`{}` would be needed again", rest.title));
    }
    if let Some(why) = &rest.owed {
        problem = problem.note(why.clone());
    }
    let done = plan.operations.iter().find(|o| matches!(rest.resources.as_slice(), [id] if o.resources.contains(id)));
    if let Some(done) = done {
        problem =
            problem.note(format!("operation {} of {}, `{}`, ended well", done.id, plan.operations.len(), done.title));
    }
    if let Some(place) = rest.place {
        problem = problem.at(place);
    }
    if guarded {
        return problem.help(
            "see that `run` brings about what `creates`, `unless` or `only_if` look at, and name in `needs` what turns them",
        );
    }
    problem.help(format!("something else on `{node}` resets it; find it, then `suil apply --node {node} --dry-run`"))
}

/// A custom fact that is not what `expected()` says.
pub fn fact(node: &str, module: &str, difference: &Difference) -> Problem {
    let found = difference.found.as_ref().map_or("nothing".to_owned(), Plain::to_json_line);
    Problem::new(format!(
        "node `{node}` drifted: `{}` of module `{module}` is not as expected",
        difference.path.join(".")
    ))
    .note(format!("expected {}, found {found} when checked", difference.expected.to_json_line()))
    .help(format!("look at `suil facts --node {node} --module {module}`"))
}
