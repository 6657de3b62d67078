//! The hierarchy: the ordered layer patterns of `data/common.yaml`.

use super::pattern::{Pattern, Variable};
use crate::base::{Plain, Problem, Problems, Result};
use crate::data::Value;

const EXAMPLE: &str = "expected a list of layer patterns such as `roles/{role}.yaml` and `nodes/{node}.yaml`";

/// The layer patterns, lowest first.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    pub patterns: Vec<Pattern>,
    /// Which pattern says where roles live.
    role: usize,
    /// Which pattern says where nodes live.
    node: usize,
}

impl Hierarchy {
    /// Reads the value of `hierarchy:`.
    ///
    /// # Errors
    /// Every pattern that is wrong, and a missing `{role}` or `{node}` layer.
    pub fn read(value: &Value) -> Result<Hierarchy> {
        let Some(list) = value.list() else {
            let what = format!("`hierarchy` is {}", value.type_name());
            return Err(Problem::new(what).at(value.place).expected(EXAMPLE).into());
        };
        let mut problems = Problems::new();
        let mut patterns: Vec<Pattern> = Vec::new();
        for item in list {
            match Pattern::read(item) {
                Ok(pattern) => match patterns.iter().find(|other| other.text == pattern.text) {
                    Some(first) => problems.push(
                        Problem::new(format!("layer `{}` is in the `hierarchy` twice", pattern.text))
                            .at(pattern.place)
                            .note_at("first named at", first.place)
                            .help("remove one: a layer that is merged twice doubles its lists"),
                    ),
                    None => patterns.push(pattern),
                },
                Err(problem) => problems.push(problem),
            }
        }
        let role = patterns.iter().position(|p| p.is_just(Variable::Role));
        let node = patterns.iter().position(|p| p.is_just(Variable::Node));
        if problems.is_empty() {
            for (found, name, what) in [(role, "role", "roles"), (node, "node", "nodes")] {
                if found.is_none() {
                    let problem = Problem::new(format!("the `hierarchy` has no `{{{name}}}` layer")).at(value.place);
                    let expected = format!("expected a pattern that says where {what} live: `{what}/{{{name}}}.yaml`");
                    problems.push(problem.expected(expected));
                }
            }
        }
        match (role, node) {
            (Some(role), Some(node)) if problems.is_empty() => Ok(Hierarchy { patterns, role, node }),
            _ => Err(problems),
        }
    }

    /// Which pattern that is, counted from 0.
    pub fn role_number(&self) -> usize {
        self.role
    }

    /// Which pattern that is, counted from 0.
    pub fn node_number(&self) -> usize {
        self.node
    }

    /// The pattern of the files that hold the roles.
    pub fn role(&self) -> &Pattern {
        &self.patterns[self.role]
    }

    /// The pattern of the files that hold the nodes.
    pub fn node(&self) -> &Pattern {
        &self.patterns[self.node]
    }
}

/// The text of a release as it stands in a path: `12`, `9.1`.
pub fn release_text(release: &Plain) -> String {
    match release {
        Plain::Str(text) => text.clone(),
        Plain::Float(x) if x.fract() == 0.0 => format!("{x:.1}"),
        Plain::Float(x) => x.to_string(),
        other => other.to_json_line(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::pattern::Known;
    use super::*;
    use crate::data::load;
    use std::path::Path;

    fn read(list: &str) -> Result<Hierarchy> {
        let file = load(Path::new("data/common.yaml"), format!("hierarchy: {list}\n").as_bytes())?;
        let value =
            file.and_then(|file| file.get("hierarchy")).map(|member| member.value.settle()).transpose()?.flatten();
        Hierarchy::read(&value.expect("a value"))
    }

    #[test]
    fn a_pattern_is_skipped_while_a_variable_is_unknown() {
        let hierarchy = read("['os/{family}/{release}.yaml', 'r/{role}.yaml', 'n/{node}.yaml']").expect("hierarchy");
        let known = Known { node: Some("n"), role: Some("r"), family: Some("debian"), ..Known::default() };
        let paths: Vec<Option<String>> = hierarchy.patterns.iter().map(|pattern| pattern.path(known)).collect();
        assert_eq!(paths, [None, Some("r/r.yaml".to_owned()), Some("n/n.yaml".to_owned())]);
        assert_eq!(
            (hierarchy.role().text.as_str(), hierarchy.node().text.as_str()),
            ("r/{role}.yaml", "n/{node}.yaml")
        );
        assert!(hierarchy.patterns.first().is_some_and(Pattern::is_os));
    }

    #[test]
    fn every_wrong_pattern_is_reported() {
        let problems = read("['x/{nod}.yaml', '{role', '/etc/{role}.yaml', '../../{node}.yaml', 5, a, a]")
            .err()
            .unwrap_or_default();
        let found: Vec<String> =
            problems.into_iter().map(|p| format!("{} {}", p.what, p.help.unwrap_or_default())).collect();
        for want in [
            "did you mean `{node}`?",
            "never closes",
            "`/etc/{role}.yaml` leaves",
            "`../../{node}.yaml` leaves",
            "a whole number",
            "twice",
        ] {
            assert!(found.iter().any(|text| text.contains(want)), "{want} is not in {found:#?}");
        }
        assert_eq!(found.len(), 6, "{found:#?}");
        assert!(read("['../x.yaml', '{role}', '{node}']").is_ok());
    }

    #[test]
    fn a_pattern_says_where_its_names_are() {
        let hierarchy = read("['roles/{role}.yaml', 'hosts/h-{node}/main.yaml', '{node}/x.yaml']").expect("hierarchy");
        let split: Vec<_> = hierarchy.patterns.iter().map(Pattern::split).collect();
        let words = |folder: &str, prefix: &str, after: &str| (folder.to_owned(), prefix.to_owned(), after.to_owned());
        assert_eq!(split, [words("roles", "", ".yaml"), words("hosts", "h-", "/main.yaml"), words("", "", "/x.yaml")]);
    }
}
