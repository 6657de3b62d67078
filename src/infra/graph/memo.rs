//! What files hold, read once: by path and mark the digest of the content, and by digest what the code says.

use super::code::Facts;
use super::files::{Files, Listing};
use super::{Code, Warning};
use crate::base::Mark;
use crate::base::digest::sha256;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// A file whose content is known while its mark stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    pub mark: Mark,
    /// The SHA-256 of its content.
    pub digest: Arc<str>,
}

/// What is known before a scan, and what it adds.
#[derive(Debug, Default)]
pub struct Memo {
    known: HashMap<String, Known>,
    before: HashMap<Arc<str>, Arc<Facts>>,
    seen: Mutex<Seen>,
}

/// What a scan looked at.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The files that make the graph, with the digest of each.
    pub files: BTreeMap<String, (Option<Mark>, Arc<str>)>,
    pub facts: HashMap<Arc<str>, Arc<Facts>>,
}

impl Memo {
    /// Begins with what an earlier scan knew.
    pub fn new(known: HashMap<String, Known>, before: HashMap<Arc<str>, Arc<Facts>>) -> Memo {
        Memo { known, before, seen: Mutex::default() }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the scan looked at.
    pub fn into_seen(self) -> Seen {
        self.seen.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn mark(files: &Files, listing: &Listing, path: &str) -> Option<Mark> {
        listing.file(path).and_then(|entry| entry.mark).or_else(|| files.mark(path))
    }

    /// Enters a file that makes the graph, and returns the digest of its content, which is read where nobody knows it.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn enter(&self, files: &Files, listing: &Listing, path: &str) -> std::io::Result<Arc<str>> {
        if let Some((_, digest)) = self.seen().files.get(path) {
            return Ok(digest.clone());
        }
        let mark = Memo::mark(files, listing, path);
        let digest = match self.known.get(path).filter(|known| Some(known.mark) == mark) {
            Some(known) => known.digest.clone(),
            None => Arc::from(sha256(&files.read(path)?)),
        };
        self.seen().files.insert(path.to_owned(), (mark, digest.clone()));
        Ok(digest)
    }

    /// The content of a file that makes the graph.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, files: &Files, listing: &Listing, path: &str) -> std::io::Result<Vec<u8>> {
        // The mark comes first: a file that changes in between is read anew by the next scan.
        let mark = Memo::mark(files, listing, path);
        let bytes = files.read(path)?;
        self.seen().files.insert(path.to_owned(), (mark, Arc::from(sha256(&bytes))));
        Ok(bytes)
    }

    /// What a file of code says.
    ///
    /// # Errors
    /// A warning: it is a link that leads out of the tree, or no text.
    pub fn facts(&self, files: &Files, listing: &Listing, path: &str) -> Result<Arc<Facts>, Warning> {
        let warning = |code, message: String| Warning { code, subject: path.to_owned(), message, at: None };
        if listing.file(path).is_some_and(|entry| entry.link) && files.inside(path).is_none() {
            return Err(warning(
                Code::LinkOutside,
                format!("`{path}` is a link that leads out of the tree; it is not read"),
            ));
        }
        let mark = Memo::mark(files, listing, path);
        // Code in JSON and code in HCL can have one content, and say different things.
        let of = |digest: &str| Arc::from(format!("{digest}{}", if path.ends_with(".json") { ".json" } else { "" }));
        if let Some(known) = self.known.get(path).filter(|known| Some(known.mark) == mark) {
            let id: Arc<str> = of(&known.digest);
            let facts = self.before.get(&id).cloned().or_else(|| self.seen().facts.get(&id).cloned());
            if let Some(facts) = facts {
                let mut seen = self.seen();
                seen.files.insert(path.to_owned(), (mark, known.digest.clone()));
                seen.facts.insert(id, facts.clone());
                return Ok(facts);
            }
        }
        let cannot =
            |e: &std::io::Error| warning(Code::NotText, crate::base::Problem::io("read", path.as_ref(), e).what);
        let bytes = files.read(path).map_err(|e| cannot(&e))?;
        let digest: Arc<str> = Arc::from(sha256(&bytes));
        let id: Arc<str> = of(&digest);
        let known = self.before.get(&id).cloned().or_else(|| self.seen().facts.get(&id).cloned());
        let facts = match known {
            Some(facts) => facts,
            None => {
                let text = String::from_utf8(bytes)
                    .map_err(|_| warning(Code::NotText, format!("`{path}` is not UTF-8; it is not read")))?;
                Arc::new(Facts::read(path, Arc::from(text.strip_prefix('\u{feff}').unwrap_or(&text))))
            }
        };
        let mut seen = self.seen();
        seen.files.insert(path.to_owned(), (mark, digest));
        seen.facts.insert(id, facts.clone());
        Ok(facts)
    }

    /// The SHA-256 over the names and the contents of all files that were entered.
    pub fn tree_hash(&self) -> String {
        use sha2::Digest;
        let mut hash = sha2::Sha256::new();
        for (path, (_, digest)) in &self.seen().files {
            hash.update(path.as_bytes());
            hash.update([0]);
            hash.update(digest.as_bytes());
            hash.update([b'\n']);
        }
        crate::base::digest::hex(&hash.finalize())
    }
}
