//! Reads a plan from a file. Whatever stands in it, the answer is a plan or a problem.

use super::node::Value;
use super::{Chosen, Code, Made, Node, Part, Saved, Step, VERSION, seal};
use crate::base::{Plain, Problem, Problems, Result, problem::Kind};
use std::collections::BTreeMap;

impl Saved {
    /// Reads the text of a plan file; `path` is how a person calls it.
    ///
    /// # Errors
    /// It is no plan, a plan of another version, or one that somebody changed after it was written.
    pub fn read(path: &str, text: &str) -> Result<(Saved, String)> {
        let refused = |what: String| Problem::new(what).kind(Kind::Refused).help(AGAIN);
        let document =
            Plain::from_json(text).map_err(|words| refused(format!("`{path}` is no whole plan: {words}")))?;
        let version = match document.get("version") {
            Some(Plain::Int(version)) if document.get("suil").is_some() => *version,
            _ => return Err(refused(format!("`{path}` is no saved plan")).into()),
        };
        if version != VERSION {
            let by = document.get("suil").and_then(Plain::as_str).unwrap_or("another version");
            let what = format!("`{path}` is a plan of version {version}");
            return Err(refused(what).expected(format!("expected version {VERSION}, which suil {OWN} reads")))
                .map_err(|p: Problem| p.note(format!("it was made by suil {by}")).into());
        }
        let here = At { path, trail: String::new(), value: &document };
        let saved = saved(&here).map_err(|problem| Problems::from(problem.kind(Kind::Refused).help(AGAIN)))?;
        let sha256 = seal(&without_digest(&document));
        let sealed = document.get("sha256").and_then(Plain::as_str) == Some(&sha256);
        if !sealed || saved.nodes.iter().flat_map(|node| &node.operations).any(|step| !step.is_whole()) {
            return Err(edited(path, &saved));
        }
        Ok((saved, sha256))
    }
}

/// The version of this suil.
pub const OWN: &str = env!("CARGO_PKG_VERSION");

const AGAIN: &str = "make a new one with `suil plan --out FILE`";

fn without_digest(value: &Plain) -> Plain {
    let mut bare = value.clone();
    if let Plain::Map(map) = &mut bare {
        map.shift_remove("sha256");
    }
    bare
}

/// What was changed after the plan was written, as far as it can be told.
fn edited(path: &str, saved: &Saved) -> Problems {
    let mut problems: Problems = Vec::new();
    for node in &saved.nodes {
        let wrong = |(at, step): (usize, &Step)| {
            let (id, title, name) = (at + 1, &step.title, &node.name);
            (!step.is_whole()).then(|| {
                Problem::new(format!("`{path}`: operation {id} of node `{name}`, `{title}`, was changed by hand"))
            })
        };
        problems.extend(node.operations.iter().enumerate().filter_map(wrong));
    }
    if saved.suil != OWN {
        problems.push(super::moved::version(&saved.suil));
    }
    problems.push(Problem::new(format!("`{path}` is not as suil wrote it: its digest does not fit")).help(AGAIN));
    problems.into_iter().map(|problem| problem.kind(Kind::Refused)).collect()
}

/// A value of the file, and the way to it.
struct At<'a> {
    path: &'a str,
    trail: String,
    value: &'a Plain,
}

impl<'a> At<'a> {
    fn key(&self, key: &str) -> Result<At<'a>, Problem> {
        match self.value.get(key) {
            Some(value) => Ok(self.below(key, value)),
            None => {
                let of = if self.trail.is_empty() { String::new() } else { format!(" in `{}`", self.trail) };
                Err(Problem::new(format!("`{}` is no whole plan: `{key}` is missing{of}", self.path)))
            }
        }
    }

    fn below(&self, key: &str, value: &'a Plain) -> At<'a> {
        let dot = if self.trail.is_empty() { "" } else { "." };
        At { path: self.path, trail: format!("{}{dot}{key}", self.trail), value }
    }

    fn wrong(&self, expected: &str) -> Problem {
        let found = self.value.type_name();
        Problem::new(format!("`{}` is no whole plan: `{}` is {found}", self.path, self.trail))
            .expected(format!("expected {expected}"))
    }

    fn text(&self) -> Result<String, Problem> {
        self.value.as_str().map(str::to_owned).ok_or_else(|| self.wrong("a string"))
    }

    fn list<T>(&self, item: impl Fn(&At<'a>) -> Result<T, Problem>) -> Result<Vec<T>, Problem> {
        let items = self.value.as_list().ok_or_else(|| self.wrong("a list"))?;
        items.iter().enumerate().map(|(at, value)| item(&self.below(&at.to_string(), value))).collect()
    }

    fn map<T>(&self, item: impl Fn(&At<'a>) -> Result<T, Problem>) -> Result<BTreeMap<String, T>, Problem> {
        let entries = self.value.as_map().ok_or_else(|| self.wrong("a mapping"))?;
        entries.iter().map(|(key, value)| Ok((key.clone(), item(&self.below(key, value))?))).collect()
    }
}

fn saved(here: &At<'_>) -> Result<Saved, Problem> {
    let made = here.key("made")?;
    let chosen = here.key("selection")?;
    let force = chosen.key("force")?;
    Ok(Saved {
        suil: here.key("suil")?.text()?,
        made: Made { at: made.key("at")?.text()?, by: made.key("by")?.text()? },
        chosen: Chosen {
            roles: chosen.key("roles")?.list(At::text)?,
            nodes: chosen.key("nodes")?.list(At::text)?,
            modules: chosen.key("modules")?.list(At::text)?,
            force: force.value.as_bool().ok_or_else(|| force.wrong("a boolean"))?,
        },
        modules: here.key("modules")?.map(|module| {
            Ok(Code { signature: module.key("signature")?.text()?, files: module.key("files")?.map(At::text)? })
        })?,
        nodes: here.key("nodes")?.list(node)?,
        left_out: here.key("left_out")?.map(At::text)?,
    })
}

fn node(here: &At<'_>) -> Result<Node, Problem> {
    Ok(Node {
        name: here.key("node")?.text()?,
        role: here.key("role")?.text()?,
        system: here.key("system")?.text()?,
        connection: here.key("connection")?.map(At::text)?,
        modules: here.key("modules")?.list(part)?,
        facts: here.key("facts")?.map(At::text)?,
        operations: here.key("operations")?.list(step)?,
    })
}

fn part(here: &At<'_>) -> Result<Part, Problem> {
    let value = |value: &At<'_>| Ok(Value { digest: value.text()?, path: Vec::new() });
    Ok(Part {
        name: here.key("module")?.text()?,
        config: here.key("config")?.map(value)?,
        collected: here.key("collected")?.map(At::text)?,
        past: here.key("past")?.text()?,
    })
}

fn step(here: &At<'_>) -> Result<Step, Problem> {
    Ok(Step {
        module: here.key("module")?.text()?,
        resource: here.key("resource")?.text()?,
        title: here.key("title")?.text()?,
        sha256: here.key("sha256")?.text()?,
        fields: without_digest(here.value),
    })
}
