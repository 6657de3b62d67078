//! One layer pattern: a path below `data/` with variables.

use crate::base::{Place, Problem, Result, nearest::nearest};
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variable {
    Node,
    Role,
    Family,
    Release,
    Module,
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

impl Pattern {
    pub fn read(value: &Value) -> Result<Pattern, Problem> {
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

    /// True where this variable, and no other, is in the pattern.
    pub fn is_just(&self, variable: Variable) -> bool {
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
