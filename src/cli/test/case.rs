//! One test file of a module.

use crate::base::{Place, Plain, Problem, Problems, nearest::nearest};
use crate::data::{self, Value};
use crate::module::Header;
use std::path::Path;

const KEYS: [&str; 11] =
    ["about", "node", "config", "facts", "collected", "force", "resources", "operations", "after", "check", "fails"];

/// A test: what is given, and what is wanted. What is not said is not looked at.
pub struct Case {
    pub module: String,
    pub test: String,
    pub header: Header,
    pub config: Option<Value>,
    /// What is on the node already.
    pub facts: Vec<Described>,
    pub collected: Option<Plain>,
    pub force: bool,
    pub resources: Option<Vec<Described>>,
    pub operations: Option<Vec<(String, Place)>>,
    pub after: Option<Vec<Described>>,
    pub check: Option<Vec<(String, Place)>>,
    pub fails: Option<(String, Place)>,
    /// The start of the file, for what has no better place.
    pub place: Place,
}

/// `kind name: {attributes}`, or just `kind name`.
pub struct Described {
    pub kind: String,
    pub name: String,
    pub attributes: Plain,
    /// It stands there as `unknown`: the node could not say.
    pub unknown: bool,
    pub place: Place,
}

impl Case {
    /// Reads a test file.
    ///
    /// # Errors
    /// It is no YAML, or says something that no test can say.
    pub fn read(module: &str, test: &str, path: &Path, bytes: &[u8]) -> Result<Case, Problems> {
        let empty = || Problem::new(format!("module `{module}`: test `{test}` is empty"));
        let root = data::load(path, bytes)?.and_then(|tagged| tagged.settle().transpose()).transpose()?;
        let root = root.ok_or_else(empty)?;
        let mut problems = unknown_keys(&root, &KEYS);
        let mut reader = Reader { root: &root, problems: &mut problems };
        let case = Case {
            module: module.to_owned(),
            test: test.to_owned(),
            header: reader.header(),
            config: root.get("config").cloned(),
            facts: reader.described("facts").unwrap_or_default(),
            collected: root.get("collected").map(plain),
            force: root.get("force").map(plain).and_then(|v| v.as_bool()).unwrap_or(false),
            resources: reader.described("resources"),
            operations: reader.texts("operations"),
            after: reader.described("after"),
            check: reader.texts("check"),
            fails: reader.texts("fails").and_then(|all| all.into_iter().next()),
            place: root.place,
        };
        if problems.is_empty() { Ok(case) } else { Err(problems) }
    }

    /// A problem of this test.
    pub fn problem(&self, what: &str) -> Problem {
        Problem::new(format!("module `{}`: test `{}`: {what}", self.module, self.test))
    }
}

struct Reader<'a> {
    root: &'a Value,
    problems: &'a mut Problems,
}

impl Reader<'_> {
    fn header(&mut self) -> Header {
        let node = self.root.get("node");
        if let Some(node) = node {
            self.problems.extend(unknown_keys(node, &["name", "role", "family", "release", "ssh_user"]));
        }
        let field = |name: &str| node.and_then(|node| node.get(name)).map(plain);
        let text = |name: &str, default: &str| match field(name) {
            Some(Plain::Str(text)) => text,
            _ => default.to_owned(),
        };
        Header {
            node: text("name", "test.example.com"),
            role: text("role", "test"),
            family: Some(text("family", "debian")),
            release: field("release").unwrap_or(Plain::Int(12)),
            ssh_user: text("ssh_user", "root"),
        }
    }

    /// A list of texts; one text may stand alone.
    fn texts(&mut self, key: &str) -> Option<Vec<(String, Place)>> {
        let value = self.root.get(key)?;
        let items = value.list().unwrap_or(std::slice::from_ref(value));
        let mut texts = Vec::new();
        for item in items {
            match item.scalar() {
                Some(scalar) => texts.push((scalar.text.to_string(), item.place)),
                None => self.wrong(item, "expected a text"),
            }
        }
        Some(texts)
    }

    fn described(&mut self, key: &str) -> Option<Vec<Described>> {
        let value = self.root.get(key)?;
        let Some(items) = value.list() else {
            self.wrong(value, "expected a list of `kind name` or `kind name: {attributes}`");
            return None;
        };
        let mut all = Vec::new();
        for item in items {
            let (id, place, attributes) =
                match (item.as_str(), item.map().and_then(|m| m.first().filter(|_| m.len() == 1))) {
                    (Some(text), _) => (text.to_owned(), item.place, Plain::map()),
                    (None, Some((key, slot))) => (key.to_string(), slot.key, plain(&slot.value)),
                    (None, None) => {
                        self.wrong(item, "expected `kind name` or `kind name: {attributes}`");
                        continue;
                    }
                };
            let (kind, name) = id.split_once(' ').unwrap_or((&id, ""));
            let unknown = attributes.as_str() == Some("unknown");
            all.push(Described { kind: kind.to_owned(), name: name.trim().to_owned(), attributes, unknown, place });
        }
        Some(all)
    }

    fn wrong(&mut self, value: &Value, expected: &str) {
        let problem = Problem::new(format!("a test says {} where it cannot be", value.type_name()));
        self.problems.push(problem.at(value.place).expected(expected));
    }
}

fn unknown_keys(value: &Value, known: &[&str]) -> Problems {
    let keys = value.map().into_iter().flatten().filter(|(key, _)| !known.contains(&&***key));
    keys.map(|(key, slot)| {
        let problem = Problem::new(format!("unknown key `{key}` in a test")).at(slot.key).expected(format!(
            "expected one of {}",
            known.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(", ")
        ));
        match nearest(key, known.iter().copied()) {
            Some(guess) => problem.help(format!("did you mean `{guess}`?")),
            None => problem,
        }
    })
    .collect()
}

/// The value without places. A test needs no key, so a secret in it is a plain text.
pub fn plain(value: &Value) -> Plain {
    value.to_plain(&mut |cipher, _| Plain::Str(cipher.marker()))
}
