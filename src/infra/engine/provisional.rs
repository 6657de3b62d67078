//! Plans of stacks that read outputs which are not there yet. The values stay unknown, as Terraform itself shows what
//! is only known after an apply; nothing is made up, and such a plan is never applied.

use super::init::Needs;
use super::mirror::Mirror;
use super::session::{Failure, Planned, Session};
use super::summary::OWN;
use super::unit::Purpose;
use super::{Site, Unit};
use crate::infra::graph::{Graph, Kind, Need, Stack};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::LazyLock;

/// The outputs of stacks that are not applied yet, as far as this run knows: by the key of the stack; `*` for all.
pub type Pending = BTreeMap<String, BTreeSet<String>>;

/// Every output.
pub const ALL: &str = "*";

/// What of a unit's inputs is unknown: the remote states to be left open, and the values, in words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Open {
    pub states: BTreeSet<String>,
    pub values: BTreeSet<String>,
}

impl Open {
    /// What `unit` reads of what is pending.
    pub fn of(site: &Site, graph: &Graph, unit: &Unit, needs: &Needs, pending: &Pending) -> Open {
        let mut open = Open::default();
        for (key, outputs) in pending {
            let Some(stack) = graph.stacks.iter().find(|stack| stack.key == *key) else { continue };
            for state in states_of(site, graph, unit, needs, stack) {
                open.add(&state, key, needs, |output| {
                    output == ALL || outputs.contains(ALL) || outputs.contains(output)
                });
            }
        }
        open
    }

    /// What `unit` reads of the remote states that Terraform's words complain about.
    pub fn told(site: &Site, graph: &Graph, unit: &Unit, needs: &Needs, words: &str) -> Open {
        let mut open = Open::default();
        let named = |name: &str| words.contains(&format!("terraform_remote_state.{name}"));
        for (_, state) in needs.states.iter().filter(|(_, state)| named(&state.name)) {
            let stacks = graph.stacks.iter().filter(|stack| {
                stack.key != unit.key() && states_of(site, graph, unit, needs, stack).contains(&state.name)
            });
            let of = stacks.map(|stack| stack.key.clone()).next();
            let of = of.unwrap_or_else(|| format!("data.terraform_remote_state.{}", state.name));
            open.add(&state.name, &of, needs, |_| true);
        }
        open
    }

    fn add(&mut self, state: &str, of: &str, needs: &Needs, takes: impl Fn(&str) -> bool) {
        for (_, output) in needs.reads.iter().filter(|(name, output)| name == state && takes(output)) {
            self.states.insert(state.to_owned());
            self.values.insert(format!("{of}: {output}"));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }
}

static ABSENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new("the state of layer `([^`]+)` has no (?:(?:output|resource) `([^`]+)`|outputs|resources)").ok()
});

/// The outputs of layers that a layer could not be rendered without, as the words of its problem tell.
pub fn absent(graph: &Graph, failure: &Failure) -> BTreeSet<String> {
    let notes = failure.problem.notes.iter().map(|note| note.text.as_str());
    let words: Vec<&str> = notes.chain([failure.problem.what.as_str(), failure.text.as_str()]).collect();
    let words = words.join("\n");
    let found = ABSENT.as_ref().into_iter().flat_map(|absent| absent.captures_iter(&words));
    let value = found.filter_map(|found| {
        let (label, output) = (found.get(1)?.as_str(), found.get(2).map_or(ALL, |output| output.as_str()));
        let stack = graph.stacks.iter().find(|stack| stack.layer.as_deref() == Some(label))?;
        Some(format!("{}: {output}", stack.key))
    });
    value.collect()
}

/// The names of the remote states of `unit` that are the state of `of`.
fn states_of(site: &Site, graph: &Graph, unit: &Unit, needs: &Needs, of: &Stack) -> BTreeSet<String> {
    let near = |kind: Need| kind.orders();
    let mut edges = graph.edges.iter().filter(|edge| {
        near(edge.kind) && edge.from.kind == Kind::Stack && edge.from.key == unit.key() && edge.to.key == of.key
    });
    let Some(edge) = edges.next() else { return BTreeSet::new() };
    let placed = needs.states.iter().filter(|(path, state)| {
        edge.at
            .as_ref()
            .is_some_and(|at| site.root.join(&at.file) == *path && (state.lines.0..=state.lines.1).contains(&at.line))
    });
    let mut names: BTreeSet<String> = placed.map(|(_, state)| state.name.clone()).collect();
    // The edge tells of one block; others may name the same state.
    let words = objects(of);
    names.extend(
        needs
            .states
            .iter()
            .filter(|(_, state)| words.iter().any(|word| mentions(&state.text, word)))
            .map(|(_, s)| s.name.clone()),
    );
    if names.is_empty() && edge.kind == Need::ReadsState {
        names.extend(needs.states.iter().map(|(_, state)| state.name.clone()));
    }
    names
}

/// The last parts of the names under which a stack keeps its state.
fn objects(stack: &Stack) -> Vec<&str> {
    let settings = stack.backend.iter().flat_map(|backend| &backend.settings);
    let names = settings.filter(|(name, _)| ["key", "path", "prefix", "address"].contains(&name.as_str()));
    names.map(|(_, value)| value.trim_start_matches(['.', '/'])).filter(|value| !value.is_empty()).collect()
}

/// True where a text in quotes ends in `word`, from the start or behind a slash.
fn mentions(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        matches!(before, Some('"' | '/')) && after == Some('"')
    })
}

/// Plans a unit with the remote states of `open` unknown.
///
/// # Errors
/// Terraform failed all the same: it needs the values to plan at all, for `count` or `for_each` say.
pub fn plan(session: &Session<'_>, open: &Open, purpose: Purpose, file: &Path) -> Result<Planned, Failure> {
    let top = session.site.work().join("mirror").join(format!("{}-{}", session.unit.slug(), std::process::id()));
    let mirror = Mirror::new(&session.site.root, &session.unit.folder, &top)?;
    let own = OWN.replacen('.', "\" \"", 1);
    mirror.put("suil_provisional.tf", &format!("resource \"{own}\" {{}}\n"))?;
    let block = |name: &String| {
        format!(
            "data \"terraform_remote_state\" \"{name}\" {{\n  backend = \"local\"\n  config = {{ path = {OWN}.id }}\n}}\n"
        )
    };
    let blocks: String = open.states.iter().map(block).collect();
    // Files that override are read by name; this one comes last.
    mirror.put("zzz_suil_provisional_override.tf", &blocks)?;
    let ended =
        session.start("plan", &mirror.folder, session.unit.plan(session.site, purpose, file), purpose, false)?;
    let mut planned = session.planned(&mirror.folder, ended, purpose, file)?;
    planned.text = without_own(&planned.text, open);
    Ok(planned)
}

/// The text of a plan without what suil put into it.
fn without_own(text: &str, open: &Open) -> String {
    let mut out = String::new();
    let mut skipping = false;
    for line in text.lines() {
        // A second line in parentheses says more of the same address.
        let head = line.strip_prefix("  # ").filter(|rest| !rest.starts_with('('));
        if let Some(address) = head.and_then(|rest| rest.split_whitespace().next()) {
            let state = address.strip_prefix("data.terraform_remote_state.").unwrap_or("");
            let state = state.split('[').next().unwrap_or(state);
            skipping = address.starts_with(OWN) || open.states.contains(state);
        } else if !line.starts_with(' ') && !line.trim().is_empty() {
            skipping = false;
        }
        if skipping {
            continue;
        }
        match line.strip_prefix("Plan: ").and_then(|rest| rest.split_once(" to add")) {
            Some((count, rest)) => {
                let count =
                    count.parse::<usize>().map_or_else(|_| count.to_owned(), |n| n.saturating_sub(1).to_string());
                out.push_str(&format!("Plan: {count} to add{rest}\n"));
            }
            None => {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_suil_adds_to_a_plan_is_not_shown() {
        let text = "\
Terraform will perform the following actions:

  # data.terraform_remote_state.a will be read during apply
  # (config refers to values not yet known)
 <= data \"terraform_remote_state\" \"a\" {
      + outputs = (known after apply)
    }

  # terraform_data.suil_provisional will be created
  + resource \"terraform_data\" \"suil_provisional\" {
      + id = (known after apply)
    }

  # terraform_data.y will be created
  + resource \"terraform_data\" \"y\" {
      + input  = (known after apply)
    }

Plan: 2 to add, 0 to change, 0 to destroy.
";
        let open = Open { states: ["a".to_owned()].into(), values: BTreeSet::new() };
        let want = "\
Terraform will perform the following actions:

  # terraform_data.y will be created
  + resource \"terraform_data\" \"y\" {
      + input  = (known after apply)
    }

Plan: 1 to add, 0 to change, 0 to destroy.";
        assert_eq!(without_own(text, &open), want);
    }

    #[test]
    fn a_state_is_known_by_the_end_of_its_name() {
        assert!(mentions(r#"path = "../../state/a.tfstate""#, "state/a.tfstate"));
        assert!(mentions(r#"key = "prod/vpc""#, "prod/vpc"));
        assert!(!mentions(r#"key = "preprod/vpc""#, "prod/vpc") && !mentions(r#"key = "prod/vpc2""#, "prod/vpc"));
    }
}
