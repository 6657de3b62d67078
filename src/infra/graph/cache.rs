//! What a scan leaves for the next one, in `.suil/` below the root: the graph, good while no file of the tree differs,
//! and what each file of code says, good while its content is the same.
//!
//! A cache is never trusted with more than its own tree: one that is broken, of another version, or not the user's own
//! is as none.

use super::code::Facts;
use super::files::{Files, Listing, Mark};
use super::memo::{Known, Memo, Seen};
use super::{Env, Graph, Link, Policy};
use crate::base::digest::sha256;
use crate::base::{clock, file};
use serde::{Deserialize, Serialize};
use sha2::Digest;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// Grows with the form of what is kept.
const VERSION: u32 = 2;

const GRAPH: &str = "graph.json";
const CODE: &str = "graph-code.json";

/// A file that changed so short a time before a scan may change again without its mark.
const TICK: i64 = 50_000_000;

/// The first line of the graph's file.
#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    /// The digest of what the listing said.
    listing: String,
    /// The digest of the rest of the file.
    body: String,
    /// Files that the scan read and the listing does not speak of.
    extra: Vec<(String, Option<Mark>)>,
}

/// A graph with all that its JSON leaves out.
#[derive(Serialize, Deserialize)]
struct Kept<'a> {
    graph: Cow<'a, Graph>,
    policy: Policy,
    links: Vec<Link>,
    closed: BTreeMap<String, String>,
    unmapped: Vec<bool>,
    globs: Vec<Vec<String>>,
    env: BTreeMap<String, BTreeMap<String, Env>>,
}

#[derive(Serialize, Deserialize, Default)]
struct Code {
    version: u32,
    files: HashMap<String, (Mark, Arc<str>)>,
    facts: HashMap<Arc<str>, Arc<Facts>>,
}

/// The digest of a listing, and of what else decides what a graph is: `more`.
pub fn digest(listing: &Listing, more: &str) -> String {
    let mut hash = sha2::Sha256::new();
    let mut word = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    word(env!("CARGO_PKG_VERSION").as_bytes());
    word(more.as_bytes());
    for (path, folder) in &listing.folders {
        word(path.as_bytes());
        word(&(folder.files.len() as u64).to_le_bytes());
        for entry in &folder.files {
            word(entry.name.as_bytes());
            let mark = entry.mark.unwrap_or_default();
            let mut bytes = [0; 34];
            let numbers = [mark.size, mark.inode, mark.modified as u64, mark.changed as u64];
            for (at, number) in numbers.iter().enumerate() {
                if let Some(slot) = bytes.get_mut(at * 8..at * 8 + 8) {
                    slot.copy_from_slice(&number.to_le_bytes());
                }
            }
            if let Some([link, known]) = bytes.last_chunk_mut::<2>() {
                (*link, *known) = (u8::from(entry.link), u8::from(entry.mark.is_some()));
            }
            word(&bytes);
        }
    }
    crate::base::digest::hex(&hash.finalize())
}

/// The graph that an earlier scan left, where it is still the tree's.
pub fn graph(root: &Path, listing: &str) -> Option<Graph> {
    let bytes = own(&root.join(".suil").join(GRAPH))?;
    let cut = bytes.iter().position(|b| *b == b'\n')?;
    let (head, body) = (bytes.get(..cut)?, bytes.get(cut + 1..)?);
    let head: Head = serde_json::from_slice(head).ok()?;
    let files = Files::Disk(root);
    let same = head.version == VERSION
        && head.listing == listing
        && head.extra.iter().all(|(path, mark)| files.mark(path) == *mark)
        && head.body == sha256(body);
    if !same {
        return None;
    }
    let kept: Kept = serde_json::from_slice(body).ok()?;
    let mut graph = kept.graph.into_owned();
    graph.policy = kept.policy;
    graph.links = kept.links;
    graph.closed = kept.closed;
    let mut env = kept.env;
    for ((stack, unmapped), globs) in graph.stacks.iter_mut().zip(kept.unmapped).zip(kept.globs) {
        stack.unmapped = unmapped;
        stack.watch_globs = globs;
        stack.config.env = env.remove(&stack.key).unwrap_or_default();
    }
    Some(graph)
}

/// Begins a scan with what is known of the code.
pub fn memo(root: &Path) -> Memo {
    let read = || serde_json::from_slice::<Code>(&own(&root.join(".suil").join(CODE))?).ok();
    let code = read().filter(|code| code.version == VERSION).unwrap_or_default();
    let known = code.files.into_iter().map(|(path, (mark, digest))| (path, Known { mark, digest }));
    Memo::new(known.collect(), code.facts)
}

/// Keeps a graph and what the scan saw. What cannot be kept is found again next time.
pub fn keep(root: &Path, listing: &Listing, digest: String, graph: &Graph, seen: Seen) {
    let now = clock::now().timestamp_nanos_opt().unwrap_or(i64::MAX);
    let settled = |mark: &Option<Mark>| mark.is_none_or(|mark| mark.changed.max(mark.modified) < now - TICK);
    let Ok(folder) = file::own_folder(root) else { return };
    let files = seen.files.iter().filter(|(_, (mark, _))| settled(mark));
    let code = Code {
        version: VERSION,
        files: files.filter_map(|(path, (mark, digest))| Some((path.clone(), ((*mark)?, digest.clone())))).collect(),
        facts: seen.facts,
    };
    if let Ok(bytes) = serde_json::to_vec(&code) {
        let _ = file::write_quick(&folder.join(CODE), &bytes, 0o600);
    }
    let listed = listing.folders.values().flat_map(|folder| &folder.files).all(|entry| settled(&entry.mark));
    if !listed || !seen.files.values().all(|(mark, _)| settled(mark)) {
        return;
    }
    let env = graph.stacks.iter().filter(|stack| !stack.config.env.is_empty());
    let kept = Kept {
        policy: graph.policy.clone(),
        links: graph.links.clone(),
        closed: graph.closed.clone(),
        unmapped: graph.stacks.iter().map(|stack| stack.unmapped).collect(),
        globs: graph.stacks.iter().map(|stack| stack.watch_globs.clone()).collect(),
        env: env.map(|stack| (stack.key.clone(), stack.config.env.clone())).collect(),
        graph: Cow::Borrowed(graph),
    };
    let Ok(body) = serde_json::to_vec(&kept) else { return };
    let told = |path: &&String| listing.file(path).is_none_or(|entry| entry.mark.is_none());
    let extra = seen.files.iter().filter(|(path, _)| told(path));
    let head = Head {
        version: VERSION,
        listing: digest,
        body: sha256(&body),
        extra: extra.map(|(path, (mark, _))| (path.clone(), *mark)).collect(),
    };
    if let Ok(mut bytes) = serde_json::to_vec(&head) {
        bytes.push(b'\n');
        bytes.extend(body);
        let _ = file::write_quick(&folder.join(GRAPH), &bytes, 0o600);
    }
}

/// The content of a file that is the user's own, and that nobody else can write.
fn own(path: &Path) -> Option<Vec<u8>> {
    let meta = fs::symlink_metadata(path).ok()?;
    let mine = meta.is_file() && meta.uid() == rustix::process::geteuid().as_raw() && meta.mode() & 0o022 == 0;
    mine.then(|| fs::read(path).ok()).flatten()
}
