//! The hierarchy: the ordered layer patterns of `data/common.yaml`.

use crate::base::{Place, Plain, Problem, Problems, Result, nearest::nearest};
use crate::data::Value;
use std::path::{Component, Path};

/// The names that a pattern may use.
const VARIABLES: [(&str, Variable); 5] = [
    ("node", Variable::Node),
    ("role", Variable::Role),
    ("family", Variable::Family),
    ("release", Variable::Release),
    ("module", Variable::Module),
];

const EXAMPLE: &str = "expected a list of layer patterns such as `roles/{role}.yaml` and `nodes/{node}.yaml`";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    Node,
    Role,
    Family,
    Release,
    Module,
}

/// The layer patterns, lowest first.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    pub patterns: Vec<Pattern>,
    /// Which pattern says where roles live.
    role: usize,
    /// Which pattern says where nodes live.
    node: usize,
}

/// One layer pattern, a path below `data/`.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub text: String,
    pub place: Place,
    parts: Vec<Part>,
}

#[derive(Clone, PartialEq, Debug)]
enum Part {
    Text(String),
    Name(Variable),
}

/// What is known of a node when its layers are looked up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    pub node: Option<&'a str>,
    pub role: Option<&'a str>,
    pub family: Option<&'a str>,
    pub release: Option<&'a str>,
    pub module: Option<&'a str>,
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

impl Pattern {
    fn read(value: &Value) -> Result<Pattern, Problem> {
        let Some(text) = value.as_str() else {
            let what = format!("a layer of the `hierarchy` is {}", value.type_name());
            return Err(Problem::new(what).at(value.place).expected("expected a path such as `roles/{role}.yaml`"));
        };
        let bad = |what: String| Problem::new(what).at(value.place);
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let Some((name, after)) = after.split_once('}') else {
                return Err(bad(format!("layer `{text}` has a `{{` that never closes")));
            };
            let Some((_, variable)) = VARIABLES.iter().find(|(known, _)| *known == name) else {
                let known = VARIABLES.map(|(known, _)| format!("`{{{known}}}`")).join(", ");
                let problem = bad(format!("layer `{text}` has an unknown variable `{{{name}}}`"));
                let problem = problem.expected(format!("expected one of {known}"));
                return Err(match nearest(name, VARIABLES.map(|(known, _)| known)) {
                    Some(near) => problem.help(format!("did you mean `{{{near}}}`?")),
                    None => problem,
                });
            };
            parts.extend((!before.is_empty()).then(|| Part::Text(before.to_owned())));
            parts.push(Part::Name(*variable));
            rest = after;
        }
        parts.extend((!rest.is_empty()).then(|| Part::Text(rest.to_owned())));
        if leaves_workspace(text) {
            return Err(bad(format!("layer `{text}` leaves the workspace")).expected("expected a path below `data/`"));
        }
        Ok(Pattern { text: text.to_owned(), place: value.place, parts })
    }

    pub fn uses(&self, variable: Variable) -> bool {
        self.parts.contains(&Part::Name(variable))
    }

    /// True where the pattern differs from host to host with the system that runs there.
    pub fn is_os(&self) -> bool {
        self.uses(Variable::Family) || self.uses(Variable::Release)
    }

    fn is_just(&self, variable: Variable) -> bool {
        let others = |part: &Part| matches!(part, Part::Name(other) if *other != variable);
        self.uses(variable) && !self.parts.iter().any(others)
    }

    /// The path below `data/`; `None` where a variable is not known yet.
    pub fn path(&self, known: Known) -> Option<String> {
        let mut path = String::with_capacity(self.text.len() + 32);
        for part in &self.parts {
            path.push_str(match part {
                Part::Text(text) => text,
                Part::Name(Variable::Node) => known.node?,
                Part::Name(Variable::Role) => known.role?,
                Part::Name(Variable::Family) => known.family?,
                Part::Name(Variable::Release) => known.release?,
                Part::Name(Variable::Module) => known.module?,
            });
        }
        Some(path)
    }

    /// The folder to list for this pattern's names, and what stands before and after a name in it. What stands after
    /// may go on into a folder.
    pub fn split(&self) -> (String, String, String) {
        let before = match self.parts.first() {
            Some(Part::Text(text)) => text.as_str(),
            _ => "",
        };
        let after = match self.parts.iter().skip_while(|part| matches!(part, Part::Text(_))).nth(1) {
            Some(Part::Text(text)) => text.as_str(),
            _ => "",
        };
        let (folder, prefix) = before.rsplit_once('/').unwrap_or(("", before));
        (folder.to_owned(), prefix.to_owned(), after.to_owned())
    }
}

/// True for an absolute path, and for one that climbs above the folder that holds `data/`.
fn leaves_workspace(text: &str) -> bool {
    let mut depth = 1;
    for part in Path::new(text).components() {
        depth += match part {
            Component::Normal(_) => 1,
            Component::CurDir => 0,
            Component::ParentDir => -1,
            Component::RootDir | Component::Prefix(_) => return true,
        };
        if depth < 0 {
            return true;
        }
    }
    false
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
