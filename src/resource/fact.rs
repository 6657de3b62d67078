//! Facts: what was asked of a node, and what it answered.

use std::collections::BTreeMap;

pub use super::wire::{parse, script};

/// A question to a node: `path /etc/motd <sha256>`, `package nginx`, … The functions that answer live in
/// `collector/facts.sh`, one for each kind, and are given all the questions of their kind at once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Request {
    pub kind: &'static str,
    pub args: Vec<String>,
}

impl Request {
    pub fn new<'a>(kind: &'static str, args: impl IntoIterator<Item = &'a str>) -> Request {
        Request { kind, args: args.into_iter().map(str::to_owned).collect() }
    }
}

/// What the node said. Unknown is never replaced by a default, and nothing is decided on it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    Known(Fields),
    /// The node's own words.
    Unknown(String),
}

/// Named fields of bytes: `mode`, `owner`, `sha256`, …
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fields(pub BTreeMap<String, Vec<u8>>);

impl Fields {
    /// The field as text; bytes that are no UTF-8 are replaced.
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(Vec::as_slice)
    }

    pub fn set(&mut self, name: &str, value: impl Into<Vec<u8>>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Builds fields from pairs, for tests and for [`super::Resource::settle`].
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Fields {
        Fields(pairs.into_iter().map(|(k, v)| (k.to_owned(), v.as_bytes().to_vec())).collect())
    }
}

/// All the answers of one node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    pub answers: BTreeMap<Request, Answer>,
    /// From the probe: `debian`, `redhat`, …; decides which tools a resource uses.
    pub family: String,
    /// The user that suil logs in as.
    pub ssh_user: String,
}

impl Facts {
    pub fn insert(&mut self, request: Request, answer: Answer) {
        self.answers.insert(request, answer);
    }

    pub fn get(&self, request: &Request) -> Option<&Answer> {
        self.answers.get(request)
    }

    /// The fields of an answer.
    ///
    /// # Errors
    /// The node's words where the answer is unknown, or that it was never asked for.
    pub fn known(&self, request: &Request) -> Result<&Fields, String> {
        match self.answers.get(request) {
            Some(Answer::Known(fields)) => Ok(fields),
            Some(Answer::Unknown(words)) => Err(words.clone()),
            None => Err(format!("`{} {}` was never asked for", request.kind, request.args.join(" "))),
        }
    }

    /// Changes every answer of `kind` whose first argument is `subject`, for [`super::Resource::settle`].
    pub fn update(&mut self, kind: &'static str, subject: &str, mut change: impl FnMut(&[String], &mut Answer)) {
        let from = Request { kind, args: vec![subject.to_owned()] };
        for (request, answer) in self.answers.range_mut(from..) {
            if request.kind != kind || request.args.first().map(String::as_str) != Some(subject) {
                break;
            }
            change(&request.args, answer);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Request, &Answer)> {
        self.answers.iter()
    }
}
