//! A layer of Terraform: the one thing that is not on the node. Its saved plan is what closes the difference.

use super::{Action, Attribute, Change, Diff, Verb};
use crate::base::Plain;

/// A layer whose saved plan is applied on the control machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layer {
    /// `<stack>/<layer>`.
    pub name: String,
    /// The digest of what the saved plan does. No other plan may be applied in its place.
    pub plan: String,
}

/// What Terraform would do to one resource or output: the word of the facts, how it stands in a title, the two sides
/// of a diff.
const ACTIONS: [(&str, &str, Option<&str>, Option<&str>); 7] = [
    ("add", "to add", None, Some("added")),
    ("change", "to change", Some("changed"), Some("changed")),
    ("replace", "to replace", Some("there"), Some("replaced")),
    ("destroy", "to destroy", Some("there"), None),
    ("import", "to import", None, Some("imported")),
    ("move", "to move", Some("moved"), Some("moved")),
    ("forget", "to forget", Some("known"), None),
];

/// The change that applies the saved plan of the layer `name`, as its facts tell of it; `None` where they tell of none.
///
/// `plan` is `{folder, plan, changes: [{address, action, because}], outputs: [{output, action}]}`.
pub fn change(name: &str, plan: &Plain) -> Option<Change> {
    let text = |of: &Plain, key: &str| of.get(key).and_then(Plain::as_str).map(str::to_owned);
    let digest = text(plan, "plan")?;
    let rows = |key: &str| plan.get(key).and_then(Plain::as_list).unwrap_or_default();
    let mut diff = Diff::default();
    let mut counts = [0_usize; ACTIONS.len()];
    for row in rows("changes") {
        let (address, action) = (text(row, "address")?, text(row, "action")?);
        let at = ACTIONS.iter().position(|(word, ..)| *word == action)?;
        if let Some(count) = counts.get_mut(at) {
            *count += 1;
        }
        diff.attributes.push(attribute(address, at, text(row, "because")));
    }
    for row in rows("outputs") {
        let (output, action) = (text(row, "output")?, text(row, "action")?);
        let at = ACTIONS.iter().position(|(word, ..)| *word == action)?;
        diff.attributes.push(attribute(format!("output {output}"), at, None));
    }
    let counted = ACTIONS.iter().zip(counts).filter(|(_, count)| *count > 0);
    let mut parts: Vec<String> = counted.map(|((_, words, ..), count)| format!("{count} {words}")).collect();
    if parts.is_empty() {
        parts.push("outputs to change".to_owned());
    }
    let only = |words: &[&str]| {
        let all = || ACTIONS.iter().zip(counts).filter(|(_, count)| *count > 0);
        all().next().is_some() && all().all(|((word, ..), _)| words.contains(word))
    };
    let verb = match () {
        () if only(&["add", "import"]) => Verb::Create,
        () if only(&["destroy", "forget"]) => Verb::Remove,
        () => Verb::Change,
    };
    let folder = text(plan, "folder").unwrap_or_default();
    let script = format!("# on the control machine: terraform -chdir={folder} apply, of the saved plan {digest}\n");
    let action = Action { script, layer: Some(Layer { name: name.to_owned(), plan: digest }), ..Action::default() };
    Some(Change { verb, title: format!("apply {name}: {}", parts.join(", ")), diff, action, ..Change::default() })
}

fn attribute(name: String, at: usize, because: Option<String>) -> Attribute {
    let sides = ACTIONS.get(at).map_or((None, None), |(_, _, before, after)| (*before, *after));
    let said = |side: Option<&str>| side.map(str::to_owned);
    let (before, after) = (said(sides.0), said(sides.1));
    let more = |word: String| because.as_ref().map_or(word.clone(), |why| format!("{word}: {why}"));
    match (before, after) {
        // Both sides are one word: it is said once, with what there is to say.
        (Some(a), Some(b)) if a == b => Attribute { name, before: Some(more(a.clone())), after: Some(more(a)) },
        (before, after) => Attribute { name, before, after: after.map(more) },
    }
}

#[cfg(test)]
mod tests {
    use super::change;
    use crate::base::Plain;
    use crate::resource::Verb;

    fn of(yaml: &str) -> Option<(String, Verb, Vec<String>)> {
        let change = change("kiln/harbor", &Plain::from_yaml(yaml).expect("yaml"))?;
        let side = |side: Option<String>| side.unwrap_or_default();
        let rows = change.diff.attributes.into_iter().map(|a| [a.name, side(a.before), side(a.after)].join("|"));
        Some((change.title, change.verb, rows.collect()))
    }

    #[test]
    fn a_plan_is_told_by_its_counts_and_its_addresses() {
        let (title, verb, rows) = of("plan: abc\nchanges: [{address: a.b, action: add}, {address: a.c, action: add}, \
             {address: a.d, action: replace, because: input}, {address: a.e, action: change, because: input}]\n\
             outputs: [{output: o, action: change}]")
        .expect("a change");
        assert_eq!(title, "apply kiln/harbor: 2 to add, 1 to change, 1 to replace");
        assert_eq!(verb, Verb::Change);
        assert_eq!(
            rows,
            [
                "a.b||added",
                "a.c||added",
                "a.d|there|replaced: input",
                "a.e|changed: input|changed: input",
                "output o|changed|changed"
            ]
        );
    }

    #[test]
    fn the_verb_is_that_of_all_actions() {
        let verb = |actions: &str| of(&format!("plan: x\nchanges: [{actions}]")).map(|(title, verb, _)| (title, verb));
        let title = |words: &str| format!("apply kiln/harbor: {words}");
        assert_eq!(verb("{address: a, action: add}"), Some((title("1 to add"), Verb::Create)));
        assert_eq!(verb("{address: a, action: destroy}"), Some((title("1 to destroy"), Verb::Remove)));
        assert_eq!(verb(""), Some((title("outputs to change"), Verb::Change)));
        assert_eq!(of("clean: true"), None);
    }
}
