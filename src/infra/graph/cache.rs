//! What a scan leaves for the next one, in `.suil/` below the root: the graph, good while no file of the tree differs,
//! and what each file of code says, good while its content is the same.
//!
//! A cache is never trusted with more than its own tree: one that is broken, of another version, or not the user's own
//! is as none.

mod form;

use super::code::Facts;
use super::files::{Entry, Files, Listing};
use super::memo::{Known, Memo, Seen};
use super::{Graph, scan};
use crate::base::{Mark, Moment, file};
use form::{Form, Whole};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::Digest;
use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// Grows with the form of what is kept.
const VERSION: u32 = 3;

const GRAPH: &str = "graph";
const CODE: &str = "graph-code";

/// What a graph is kept with.
#[derive(Serialize, Deserialize)]
struct Head {
    /// The digest of what the listing said.
    listing: String,
    /// Files that the scan read and the listing does not speak of.
    extra: Vec<(String, Option<Mark>)>,
}

/// The graph of an earlier scan.
pub struct Before {
    head: Head,
    graph: Graph,
}

#[derive(Serialize, Deserialize, Default)]
struct Code {
    files: HashMap<String, (Mark, Arc<str>)>,
    facts: HashMap<Arc<str>, Arc<Facts>>,
}

/// The digest of a listing with what else decides what a graph is: `more`.
pub fn id(digest: &str, more: &str) -> String {
    crate::base::digest::sha256(format!("{digest}\n{}\n{more}", env!("CARGO_PKG_VERSION")).as_bytes())
}

/// The digest of a listing, as far as it makes the graph.
pub fn digest(listing: &Listing) -> String {
    let mut hash = sha2::Sha256::new();
    let mut word = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for (path, folder) in &listing.folders {
        word(path.as_bytes());
        word(&(folder.files.len() as u64).to_le_bytes());
        for entry in &folder.files {
            word(entry.name.as_bytes());
            let mark = made_of(entry);
            let known = mark.is_some();
            let mark = mark.unwrap_or_default();
            let mut bytes = [0; 34];
            let numbers = [mark.size, mark.inode, mark.modified as u64, mark.changed as u64];
            for (at, number) in numbers.iter().enumerate() {
                if let Some(slot) = bytes.get_mut(at * 8..at * 8 + 8) {
                    slot.copy_from_slice(&number.to_le_bytes());
                }
            }
            if let Some([is_link, is_known]) = bytes.last_chunk_mut::<2>() {
                (*is_link, *is_known) = (u8::from(entry.link), u8::from(known));
            }
            word(&bytes);
        }
    }
    crate::base::digest::hex(&hash.finalize())
}

/// The mark of a file that makes the graph.
fn made_of(entry: &Entry) -> Option<Mark> {
    entry.mark.filter(|_| scan::makes(&entry.name))
}

/// The graph that an earlier scan left.
pub fn before(root: &Path) -> Option<Before> {
    let (head, whole): (Head, Whole) = kept(&root.join(".suil").join(GRAPH))?;
    Some(Before { head, graph: whole.into() })
}

impl Before {
    /// The graph, where it is still the tree's.
    pub fn graph(self, root: &Path, listing: &str) -> Option<Graph> {
        let files = Files::Disk(root);
        let same = self.head.listing == listing && self.head.extra.iter().all(|(path, mark)| files.mark(path) == *mark);
        same.then_some(self.graph)
    }
}

/// Begins a scan with what is known of the code.
pub fn memo(root: &Path) -> Memo {
    let code: Code = kept(&root.join(".suil").join(CODE)).unwrap_or_default();
    let known = code.files.into_iter().map(|(path, (mark, digest))| (path, Known { mark, digest }));
    Memo::new(known.collect(), code.facts)
}

/// Keeps a graph and what the scan saw; `moment` was before that. What cannot be kept is found again next time.
pub fn keep(root: &Path, listing: &Listing, digest: String, graph: &Graph, seen: Seen, moment: Moment) {
    let settled = |mark: Option<Mark>| mark.is_none_or(|mark| mark.is_settled(moment));
    let Ok(folder) = file::own_folder(root) else { return };
    let files = seen.files.iter().filter(|(_, (mark, _))| settled(*mark));
    let code = Code {
        files: files.filter_map(|(path, (mark, digest))| Some((path.clone(), ((*mark)?, digest.clone())))).collect(),
        facts: seen.facts,
    };
    write(&folder.join(CODE), &code);
    let listed = listing.folders.values().flat_map(|folder| &folder.files).all(|entry| settled(made_of(entry)));
    if !listed || !seen.files.values().all(|(mark, _)| settled(*mark)) {
        return;
    }
    let told = |path: &&String| listing.file(path).is_none_or(|entry| made_of(entry).is_none());
    let extra = seen.files.iter().filter(|(path, _)| told(path));
    let head = Head { listing: digest, extra: extra.map(|(path, (mark, _))| (path.clone(), *mark)).collect() };
    write(&folder.join(GRAPH), &(head, Form::of(graph)));
}

/// What a file of the cache holds; `None` where it is not whole, not of this version or not the user's own.
pub(super) fn kept<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let bytes = own(path)?;
    let (body, end) = bytes.split_last_chunk()?;
    (*end == seal(body)).then(|| postcard::from_bytes(body).ok()).flatten()
}

/// Writes a file of the cache. One that cannot be written is as none.
pub(super) fn write(path: &Path, what: &impl Serialize) {
    let Ok(mut bytes) = postcard::to_allocvec(what) else { return };
    bytes.extend(seal(&bytes));
    let _ = file::write_quick(path, &bytes, 0o600);
}

/// What shows that a file of the cache is whole, and written by the same suil: another one may mean something else by the
/// same bytes.
fn seal(body: &[u8]) -> [u8; 4] {
    let mut sum = crc32fast::Hasher::new();
    sum.update(body);
    sum.update(&VERSION.to_le_bytes());
    sum.update(env!("CARGO_PKG_VERSION").as_bytes());
    sum.finalize().to_le_bytes()
}

/// The content of a file that is the user's own, and that nobody else can write.
fn own(path: &Path) -> Option<Vec<u8>> {
    let meta = fs::symlink_metadata(path).ok()?;
    let mine = meta.is_file() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0;
    mine.then(|| fs::read(path).ok()).flatten()
}
