//! What the tests of this room share: a module held in memory, and resources that only remember.

use super::{Config, Files, Header, Module, Revealed};
use crate::base::{Place, Plain, Problem, Problems};
use crate::resource::{Ahead, Change, Content, Facts, Request, Resource};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A module's folder in memory.
#[derive(Default)]
pub struct Memory(BTreeMap<String, Vec<u8>>);

impl Memory {
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Arc<Memory> {
        Arc::new(Memory(files.into_iter().map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).collect()))
    }
}

impl Files for Memory {
    fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Problem> {
        Ok(self.0.get(path).map(|bytes| Arc::from(bytes.as_slice())))
    }

    fn walk(&self, folder: &str) -> Result<Vec<String>, Problem> {
        let prefix = format!("{folder}/");
        Ok(self.0.keys().filter(|path| path.starts_with(&prefix)).cloned().collect())
    }

    fn shown(&self, path: &str) -> PathBuf {
        PathBuf::from(format!("modules/app/{path}"))
    }

    fn real_path(&self, _path: &str) -> Option<PathBuf> {
        None
    }
}

/// Remembers what it was made of.
#[derive(Debug)]
struct Recalled {
    kind: &'static str,
    name: String,
    wanted: Plain,
    place: Option<Place>,
}

impl Resource for Recalled {
    fn kind(&self) -> &'static str {
        self.kind
    }
    fn name(&self) -> &str {
        &self.name
    }
    fn place(&self) -> Option<Place> {
        self.place
    }
    fn requests(&self) -> Vec<Request> {
        Vec::new()
    }
    fn wanted(&self) -> Plain {
        self.wanted.clone()
    }
    fn compare(&self, _: &Facts, _: &Ahead, _: bool) -> Result<Vec<Change>, Problem> {
        Ok(Vec::new())
    }
    fn settle(&self, _: &mut Facts) {}
}

fn build(
    kind: &str,
    name: &str,
    attributes: &Plain,
    content: Option<Content>,
    place: Option<Place>,
) -> Result<Arc<dyn Resource>, Problem> {
    let kind =
        crate::resource::KINDS.iter().find(|known| **known == kind).ok_or_else(|| Problem::new("unknown kind"))?;
    let mut wanted = attributes.clone();
    match content {
        Some(Content::Bytes(bytes)) => wanted.set("content", String::from_utf8_lossy(&bytes).into_owned()),
        Some(Content::File { size, .. }) => wanted.set("size", size),
        None => {}
    }
    Ok(Arc::new(Recalled { kind, name: name.to_owned(), wanted, place }))
}

pub fn module(files: Arc<Memory>) -> Module {
    Module::built("app", files, None, build)
}

pub fn header() -> Header {
    Header {
        node: "n1.example.net".to_owned(),
        role: "solo".to_owned(),
        family: Some("debian".to_owned()),
        release: Plain::Int(12),
        ssh_user: "deploy".to_owned(),
    }
}

/// Takes YAML as the module's slice, in the file `data/n1.yaml`; each `!ENC[…]` reveals to `plain-<its text>`.
pub fn config(module: &Module, yaml: &str) -> Result<Arc<Config>, Problems> {
    let slice = slice(yaml)?;
    let mut reveal = |cipher: &crate::data::Cipher, _: Place, _: &str| {
        Ok(Revealed::Plaintext(format!("plain-{}", cipher.base64).into()))
    };
    module.config(slice.as_ref(), &header(), &mut reveal).map(Arc::new)
}

pub fn slice(yaml: &str) -> Result<Option<crate::data::Value>, Problems> {
    let loaded = crate::data::load(std::path::Path::new("data/n1.yaml"), yaml.as_bytes())?;
    Ok(match loaded {
        Some(tagged) => tagged.settle()?,
        None => None,
    })
}

/// Each problem on lines of its own: what, place, expected, notes, help.
pub fn told(problems: &Problems) -> String {
    let mut out = String::new();
    for problem in problems {
        out += &format!("{}\n", problem.what);
        if let Some(place) = problem.place {
            out += &format!("  at {place}\n");
        }
        if let Some(expected) = &problem.expected {
            out += &format!("  {expected}\n");
        }
        for note in &problem.notes {
            match note.place {
                Some(place) => out += &format!("  note: {} {place}\n", note.text),
                None => out += &format!("  note: {}\n", note.text),
            }
        }
        if let Some(help) = &problem.help {
            out += &format!("  help: {help}\n");
        }
    }
    out
}
