//! A tree that is being scanned: what all steps of a scan share.

use super::code::Code;
use super::config::{self, Own, Root};
use super::files::{Files, Listing};
use super::links::Link;
use super::memo::Memo;
use super::{At, Code as Word, Warning, code};
use crate::base::{FileId, Place, Problem, Problems, Result};
use crate::infra::layer::Options;
use std::collections::BTreeMap;

/// The tree and its root configuration.
pub struct Tree<'a> {
    pub files: Files<'a>,
    pub listing: &'a Listing,
    pub memo: &'a Memo,
    pub root: Root,
    /// `owner/name` of the repository.
    pub repo: &'a str,
    /// What folders of layers are called.
    pub options: &'a Options,
    pub links: Vec<Link>,
}

impl<'a> Tree<'a> {
    /// Reads the root configuration.
    ///
    /// # Errors
    /// Everything that is wrong in it.
    pub fn open(
        files: Files<'a>,
        listing: &'a Listing,
        memo: &'a Memo,
        repo: &'a str,
        options: &'a Options,
        links: Vec<Link>,
    ) -> Result<Tree<'a>> {
        let mut tree = Tree { files, listing, memo, root: Root::default(), repo, options, links };
        not_a_folder(&tree, config::ROOT)?;
        if listing.file(config::ROOT).is_some() {
            let bytes = tree.config(config::ROOT)?;
            tree.root = Root::read(&files.shown(config::ROOT), &bytes)?;
        }
        Ok(tree)
    }

    /// The content of a file of the configuration.
    ///
    /// # Errors
    /// It cannot be read, or leads out of the tree.
    pub fn config(&self, path: &str) -> Result<Vec<u8>, Problem> {
        let shown = self.files.shown(path);
        if self.listing.file(path).is_some_and(|entry| entry.link) && self.files.inside(path).is_none() {
            let what = format!("`{}` is a link that leads out of the tree", shown.display());
            return Err(Problem::new(what).help("put a file there"));
        }
        self.memo.read(&self.files, self.listing, path).map_err(|e| Problem::io("read", &shown, &e))
    }

    /// What a folder's own file says; nothing where it has none.
    ///
    /// # Errors
    /// Everything that is wrong in it.
    pub fn own(&self, folder: &str) -> Result<Own> {
        let path = below(folder, config::OWN);
        if self.listing.file(&path).is_none() {
            not_a_folder(self, &path)?;
            return Ok(Own::default());
        }
        Own::read(&self.files.shown(&path), &self.config(&path)?)
    }

    /// The code of a folder; `tool` is what its own configuration says.
    pub fn code(&self, folder: &str, tool: Option<&str>) -> Code {
        let tool = tool.or(self.root.tool.as_deref());
        Code::read(&self.files, self.listing, self.memo, folder, tool != Some("terraform"))
    }

    /// True where the folder holds code.
    pub fn holds_code(&self, folder: &str) -> bool {
        self.listing.folder(folder).is_some_and(code::holds_code)
    }

    /// The place in a file of the tree, whose text is read again to be shown.
    pub fn place(&self, at: &At) -> Place {
        let path = at.file.rsplit_once(':').map_or(at.file.as_str(), |(_, path)| path);
        let text = self.files.read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        Place { file: FileId::new(&at.file, text), line: at.line, column: at.column, width: 0 }
    }
}

/// A folder in the place of a file of the configuration would be passed over, and nobody would see why.
fn not_a_folder(tree: &Tree, path: &str) -> Result<(), Problem> {
    if !tree.listing.is_folder(path) {
        return Ok(());
    }
    let problem = Problem::new(format!("`{}` is a folder", tree.files.shown(path).display()));
    Err(problem.expected("expected a file").help("move it away"))
}

/// `name` in `folder`.
pub fn below(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Collects what the steps of a scan find.
#[derive(Debug, Default)]
pub struct Found {
    pub warnings: Vec<Warning>,
    pub problems: Problems,
    /// The same text stands at the same place for every instance.
    told: BTreeMap<(String, Option<At>), ()>,
}

impl Found {
    pub fn warn(&mut self, code: Word, subject: impl Into<String>, message: impl Into<String>, at: Option<At>) {
        self.warnings.push(Warning { code, subject: subject.into(), message: message.into(), at });
    }

    /// Adds a problem at a place of the configuration, once.
    pub fn fail(&mut self, tree: &Tree, what: String, at: Option<&At>, expected: &str) {
        if self.told.insert((what.clone(), at.cloned()), ()).is_some() {
            return;
        }
        let mut problem = Problem::new(what);
        if let Some(at) = at {
            problem = problem.at(tree.place(at));
        }
        self.problems.push(if expected.is_empty() { problem } else { problem.expected(expected) });
    }
}
