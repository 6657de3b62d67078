//! What each kind of thing on a node needs to know, how it differs, and what closes the difference.
//!
//! Enters: attributes from module code, facts from a node. Leaves: requests for facts, changes. Pure: nothing here
//! connects, reads a clock or starts a process.

mod access;
mod attributes;
mod authorized_key;
mod block;
pub mod build;
mod command;
pub mod compare;
mod conflict;
mod cover;
mod cron;
mod directory;
mod edit;
pub mod fact;
mod file;
mod group;
mod hostname;
mod installed;
mod kernel_module;
pub mod layer;
mod line;
mod link;
mod locale;
mod moment;
mod mount;
pub mod owed;
mod package;
pub mod path;
mod repository;
mod service;
mod settle;
mod sudoer;
mod sysctl;
mod timer;
mod timezone;
mod unit;
mod user;
mod wire;

pub use attributes::{Attributes, Common};
pub use build::{KINDS, Kind, build};
pub use compare::{Planned, compare_all, ordered};
pub use conflict::conflicts;
pub use fact::{Answer, Facts, Fields, Request};
pub use layer::Layer;

use crate::base::{Place, Plain, Problem};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// A thing on a node with a wanted state. One kind lives in one file of this room.
pub trait Resource: Send + Sync + std::fmt::Debug {
    /// The kind, as module code calls it: `file`, `package`, …
    fn kind(&self) -> &'static str;

    /// What tells it from others of its kind: a path, a package's name, …
    fn name(&self) -> &str;

    /// Where the module's code declared it.
    fn place(&self) -> Option<Place>;

    /// The facts that [`Resource::compare`] will ask for.
    fn requests(&self) -> Vec<Request>;

    /// The wanted state as plain data: for tests, `--output json`, and to see whether two modules agree.
    /// A content stands as its sha256, never as itself.
    fn wanted(&self) -> Plain;

    /// The texts that the resource puts on a node, each with what it is: a path, say. Left out are those that may not
    /// be shown, that are too large or that are no text.
    fn texts(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Compares the wanted state with the facts: no change, or the changes that close the difference, in order.
    /// Under `force` a change is returned even where nothing differs.
    ///
    /// # Errors
    /// A fact that is needed is unknown: nothing is decided on it.
    fn compare(&self, facts: &Facts, ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem>;

    /// What this resource does when others change: `(id of the other, what to do)`.
    fn triggers(&self) -> Vec<Trigger> {
        Vec::new()
    }

    /// The change that a trigger asks for: a restart, a reload, a command. `None` where the present changes
    /// already imply it (a service that this plan starts anyway).
    fn fire(&self, _what: Fire, _facts: &Facts, _own_changes: &[Change]) -> Option<Change> {
        None
    }

    /// A trigger that an earlier run still owes, found from the facts: the process is older than a file it
    /// depends on, the unit needs a daemon-reload. Returns what is owed and why, in one line.
    fn owed(&self, _facts: &Facts) -> Option<(Fire, String)> {
        None
    }

    /// Ids of resources that must be handled before this one, beside the order of the list.
    fn needs(&self) -> Vec<Id> {
        Vec::new()
    }

    /// The path that the resource owns, and how much of it.
    fn claim(&self) -> Option<(&str, Claim)> {
        None
    }

    /// Writes into `facts` what a run would find after its changes were performed. The runner of module tests
    /// plans against the result and expects nothing to do.
    fn settle(&self, facts: &mut Facts);

    /// Names the transaction that this resource's changes may be joined into: all changes of one batch of a module
    /// become one operation, through the `join` of its [`Kind`].
    fn batch(&self) -> Option<&'static str> {
        None
    }

    fn id(&self) -> Id {
        Id::new(self.kind(), self.name())
    }
}

/// `kind name`: what names a resource on a node, in triggers, in plans and in messages.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub String);

impl Id {
    pub fn new(kind: &str, name: &str) -> Id {
        Id(format!("{kind} {name}"))
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// How much of a path a resource owns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Claim {
    /// All of it: what else changes it would be undone by the next run.
    Whole,
    /// Owner and mode, but not the content.
    Access,
    /// Some lines.
    Part,
}

/// One resource reacts to a change of another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trigger {
    pub on: Id,
    pub fire: Fire,
}

/// In order of weight: where both are asked for, the restart alone is done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fire {
    Reload,
    Restart,
    Run,
}

/// What is sent to a node as the content of a file.
#[derive(Clone, PartialEq, Eq)]
pub enum Content {
    Bytes(Arc<[u8]>),
    /// A file of the control machine, streamed and never held in memory whole.
    File {
        path: PathBuf,
        size: u64,
        sha256: String,
    },
}

impl Content {
    pub fn sha256(&self) -> String {
        match self {
            Content::Bytes(bytes) => crate::base::digest::sha256(bytes),
            Content::File { sha256, .. } => sha256.clone(),
        }
    }

    pub fn size(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::File { size, .. } => *size,
        }
    }
}

impl std::fmt::Debug for Content {
    /// Never the bytes themselves: they may hold a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Content({} bytes)", self.size())
    }
}

/// One step that closes a difference.
#[derive(Clone, Debug, Default)]
pub struct Change {
    pub verb: Verb,
    /// One line that starts with a verb: `write /etc/motd`, `install nginx, curl`, `restart nginx`.
    pub title: String,
    pub diff: Diff,
    pub action: Action,
    /// What can only be judged on the node when the operation runs, such as `validate`.
    pub judged_then: Option<String>,
    /// What later comparisons of the same plan may count on.
    pub brings: Vec<Brought>,
    /// The operation could cut suil's own access to the node.
    pub guards_access: bool,
    /// What takes it back where it did, beside what is kept of files, accounts, services and the network.
    pub undo: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Verb {
    Create,
    #[default]
    Change,
    Remove,
    /// Nothing is described by the step but its running: a command, a restart.
    Run,
}

/// How a thing differs, to be shown.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diff {
    /// Attributes: name, what is there, what is wanted.
    pub attributes: Vec<Attribute>,
    /// Text content before and after. `None`: no content differs, or it is binary or too large to show.
    pub text: Option<TextDiff>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    pub name: String,
    pub before: Option<String>,
    pub after: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextDiff {
    /// Empty where the file is new.
    pub before: String,
    pub after: String,
    /// Others own lines of the file, too.
    pub shared: bool,
}

impl Diff {
    pub fn attribute(mut self, name: &str, before: Option<String>, after: Option<String>) -> Diff {
        self.attributes.push(Attribute { name: name.to_owned(), before, after });
        self
    }
}

/// What runs on the node: a POSIX sh script, with the functions of `collector/` in reach, as root, with `LC_ALL=C`,
/// the sbin folders in PATH, umask 022 and `/dev/null` as stdin. Uploads are there before it starts, verified by
/// sha256; their paths are `$1`, `$2`, …
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Action {
    pub script: String,
    pub uploads: Vec<Upload>,
    /// Applied on the control machine, and nothing runs on the node: then the script only says what is done.
    pub layer: Option<Layer>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upload {
    pub content: Content,
    /// Stage it beside this path, so that a rename is atomic; `None`: in the session's private folder.
    pub beside: Option<String>,
}

impl Action {
    pub fn script(script: impl Into<String>) -> Action {
        Action { script: script.into(), ..Action::default() }
    }
}

/// What an operation brings that later comparisons may count on, so that a dry run works on a fresh node.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Brought {
    /// A file or folder will be there.
    Path(String),
    User(String),
    Group(String),
    /// A package is installed or upgraded; it may bring files, units, users and commands of any name.
    Package(String),
    /// A unit file is there.
    Unit(String),
    Repository(String),
}

/// What the earlier operations of a plan bring.
#[derive(Clone, Debug, Default)]
pub struct Ahead {
    pub brought: BTreeSet<Brought>,
    /// The ids of resources that change in this plan.
    pub changed: BTreeSet<Id>,
    /// Those resources in order, so that a later module compares with what they leave: two modules may own a line
    /// each of one file.
    pub settled: Vec<Arc<dyn Resource>>,
}

impl Ahead {
    pub fn has(&self, what: &Brought) -> bool {
        self.brought.contains(what)
    }

    /// True where a package is installed earlier in the plan: what is missing now may be there then.
    pub fn any_package(&self) -> bool {
        self.brought.iter().any(|b| matches!(b, Brought::Package(_)))
    }
}

#[cfg(test)]
mod tests;
