//! What a change does to the resources of a node: those that its modules want before it, against those after it.
//! Nothing is asked of the node.

mod json;

use super::Modules;
use super::intent::header;
use crate::base::{Place, Plain, Problem, Problems, Result};
use crate::catalogue::{Entry, impact::Difference};
use crate::data::{Cipher, Vault, secret::NO_KEY};
use crate::module::{Module, Revealed};
use crate::resource::{Diff, Id, Resource, TextDiff, Verb};
use std::collections::BTreeMap;
use std::sync::Arc;
use zeroize::Zeroizing;

/// The names of the two that are compared; `None` for the working tree.
#[derive(Clone, Debug, Default)]
pub struct Revisions {
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Revisions {
    /// The file of a value before. One that is the same in both was read once, so that its own path may not say it.
    pub fn before(&self, place: Place) -> String {
        shown(place, self.before.as_deref())
    }

    /// The file of a value after.
    pub fn after(&self, place: Place) -> String {
        shown(place, self.after.as_deref())
    }
}

fn shown(place: Place, revision: Option<&str>) -> String {
    let path = place.path().display().to_string();
    match revision {
        Some(name) if !path.starts_with("stock:") && !path.starts_with(&format!("{name}:")) => format!("{name}:{path}"),
        _ => path,
    }
}

/// What a change does to one node.
#[derive(Clone, Debug)]
pub struct NodeImpact {
    pub node: String,
    /// `None` where the node is new.
    pub role_before: Option<String>,
    /// `None` where the node is gone.
    pub role_after: Option<String>,
    /// In run order.
    pub modules_before: Vec<String>,
    pub modules_after: Vec<String>,
    /// The modules of the node whose files differ.
    pub code: Vec<Code>,
    pub values: Vec<Difference>,
    /// Files of OS layers that differ, where the node was never probed and may read any of them.
    pub unseen: Vec<String>,
    /// Per module what differs, or why that is not known.
    pub resources: Vec<(String, std::result::Result<Vec<Changed>, Unknown>)>,
    /// The layers that the node holds and that Terraform is told otherwise.
    pub layers: Vec<LayerImpact>,
    /// What its data reads of such layers of others, and may be another value then.
    pub reads: Vec<LayerRead>,
}

/// A layer of Terraform that is not rendered as it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LayerImpact {
    /// `<stack>/<layer>`.
    pub layer: String,
    pub change: LayerChange,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LayerChange {
    Added,
    Removed,
    /// These files of its output folder differ.
    Changed(Vec<String>),
    /// It cannot be compared, and why.
    Unknown(String),
}

impl LayerChange {
    /// `added`, `removed`, `changed` or `unknown`.
    pub fn word(&self) -> &'static str {
        match self {
            LayerChange::Added => "added",
            LayerChange::Removed => "removed",
            LayerChange::Changed(_) => "changed",
            LayerChange::Unknown(_) => "unknown",
        }
    }
}

/// A field of the facts of a node, as another one reads it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LayerRead {
    pub node: String,
    pub field: String,
}

impl NodeImpact {
    /// True where something differs that has to do with its modules.
    pub fn is_any(&self) -> bool {
        let has_modules = !self.modules_before.is_empty() || !self.modules_after.is_empty();
        self.role_before != self.role_after && has_modules
            || self.modules_before != self.modules_after
            || !self.code.is_empty()
            || !self.values.is_empty()
            || !self.unseen.is_empty()
            || !self.resources.is_empty()
            || !self.layers.is_empty()
            || !self.reads.is_empty()
    }
}

/// A module that is not what it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Code {
    pub module: String,
    pub signature_before: String,
    pub signature_after: String,
    /// The files that differ, by their paths in the module.
    pub files: Vec<String>,
}

/// One revision of a node: what the catalogue knows of it, and the modules as they are there.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub entry: &'a Entry,
    pub modules: &'a Modules,
}

/// A resource that is not wanted as it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    pub module: String,
    pub id: Id,
    /// One of `Create`, `Change` and `Remove`. A resource that is not wanted any more stays on the node as it is.
    pub verb: Verb,
    pub attributes: Diff,
    /// Each text that differs, with what it is: a path, say. Secrets are masked.
    pub texts: Vec<(String, TextDiff)>,
    /// Where the module's code declares it; where it did, if it is gone.
    pub place: Option<Place>,
}

/// What cannot be told of the resources of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unknown {
    /// The node was never probed, so its data is not complete.
    Provisional,
    /// They depend on a secret that no key opens.
    Sealed,
    /// The module cannot be evaluated, before or after.
    Broken { before: bool, problems: Problems },
}

/// The resources of one module of a node that differ.
///
/// # Errors
/// Why that is not known.
pub fn resources(
    module: &str,
    before: Option<Side>,
    after: Option<Side>,
    vault: &Vault,
) -> std::result::Result<Vec<Changed>, Unknown> {
    let wanted = |side: Option<Side>, is_before| {
        let Some((side, module)) = side.and_then(|side| Some((side, side.modules.get(module)?))) else {
            return Ok(Wanted::default());
        };
        match of(side.entry, module, vault) {
            Ok(Some(resources)) => Ok(resources.into_iter().map(|resource| (resource.id(), resource)).collect()),
            Ok(None) => Err(Unknown::Sealed),
            // The OS layer may bring what is missing.
            Err(_) if side.entry.provisional => Err(Unknown::Provisional),
            Err(problems) => Err(Unknown::Broken { before: is_before, problems }),
        }
    };
    let after = wanted(after, false)?;
    let before = wanted(before, true)?;
    let mut changed: Vec<Changed> = Vec::new();
    for (id, resource) in &after.0 {
        changed.extend(compare(module, id, before.get(id), Some(&**resource), vault));
    }
    for (id, resource) in before.0.iter().filter(|(id, _)| after.get(id).is_none()) {
        changed.extend(compare(module, id, Some(&**resource), None, vault));
    }
    Ok(changed)
}

/// Resources by their ids, in the order of the module.
#[derive(Default)]
struct Wanted(Vec<(Id, Arc<dyn Resource>)>, BTreeMap<Id, usize>);

impl Wanted {
    fn get(&self, id: &Id) -> Option<&dyn Resource> {
        self.0.get(*self.1.get(id)?).map(|(_, resource)| &**resource)
    }
}

impl FromIterator<(Id, Arc<dyn Resource>)> for Wanted {
    fn from_iter<T: IntoIterator<Item = (Id, Arc<dyn Resource>)>>(all: T) -> Wanted {
        let list: Vec<_> = all.into_iter().collect();
        let index = list.iter().enumerate().map(|(at, (id, _))| (id.clone(), at)).collect();
        Wanted(list, index)
    }
}

/// What a module wants of a node; `None` where a secret of its config is not opened.
fn of(entry: &Entry, module: &Module, vault: &Vault) -> Result<Option<Vec<Arc<dyn Resource>>>> {
    let mut reveal = |cipher: &Cipher, place: Place, key: &str| -> Result<Revealed, Problem> {
        let Ok(plaintext) = vault.reveal(cipher, key, place) else { return Ok(Revealed::Marker(NO_KEY.to_owned())) };
        let text = plaintext.as_str().ok_or_else(|| {
            Problem::new(format!("the secret `{key}` is no text")).at(place).expected("expected UTF-8")
        })?;
        Ok(Revealed::Plaintext(Zeroizing::new(text.to_owned())))
    };
    let user = entry.slice("deployment").and_then(|value| Some(value.get("ssh_user")?.as_str()?.to_owned()));
    let header = header(entry, &user.unwrap_or_default());
    let config = Arc::new(module.config(entry.slice(module.name()).as_ref(), &header, &mut reveal)?);
    if !config.revealed {
        return if module.has_code()? { Ok(None) } else { Ok(Some(Vec::new())) };
    }
    module.resources(&config).map(Some)
}

fn compare(
    module: &str,
    id: &Id,
    before: Option<&dyn Resource>,
    after: Option<&dyn Resource>,
    vault: &Vault,
) -> Option<Changed> {
    let texts = |resource: Option<&dyn Resource>| -> BTreeMap<String, String> {
        let texts = resource.map(Resource::texts).unwrap_or_default();
        texts.into_iter().map(|(name, text)| (name, vault.mask().apply(&text))).collect()
    };
    let wanted = |resource: Option<&dyn Resource>| {
        let mut found = BTreeMap::new();
        let mut order = Vec::new();
        if let Some(resource) = resource {
            flat("", &resource.wanted(), &mut |name, value| {
                order.push(name.clone());
                found.insert(name, vault.mask().apply(&value));
            });
        }
        (order, found)
    };
    let ((order, old), (more, new)) = (wanted(before), wanted(after));
    let (mut was, is) = (texts(before), texts(after));
    let mut changed = Vec::new();
    for (name, after) in is {
        let before = was.remove(&name).unwrap_or_default();
        if before != after {
            changed.push((name, TextDiff { before, after, shared: false }));
        }
    }
    // A text that is gone is told by its resource, or by the attribute that takes it away.
    let mut names = more;
    names.extend(order.into_iter().filter(|name| !new.contains_key(name)));
    let mut attributes = Diff::default();
    for name in names {
        let (before, after) = (old.get(&name), new.get(&name));
        let told = !changed.is_empty() && is_digest(&name, after);
        if before != after && !told {
            attributes = attributes.attribute(&name, before.cloned(), after.cloned());
        }
    }
    let (verb, resource) = match (before, after) {
        (None, after) => (Verb::Create, after?),
        (Some(before), None) => {
            attributes = Diff::default();
            (Verb::Remove, before)
        }
        (Some(_), Some(_)) if attributes.attributes.is_empty() && changed.is_empty() => return None,
        (Some(_), Some(after)) => (Verb::Change, after),
    };
    Some(Changed {
        module: module.to_owned(),
        id: id.clone(),
        verb,
        attributes,
        texts: changed,
        place: resource.place(),
    })
}

/// The digest of a text says nothing beside the text itself.
fn is_digest(name: &str, value: Option<&String>) -> bool {
    name.rsplit('.').next() == Some("sha256") || value.is_some_and(|value| value.starts_with("sha256:"))
}

/// Every value of a tree that is no mapping, by its dotted path.
fn flat(path: &str, value: &Plain, each: &mut dyn FnMut(String, String)) {
    match value {
        Plain::Map(map) => {
            for (key, value) in map {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flat(&path, value, each);
            }
        }
        Plain::Null => {}
        Plain::Str(text) => each(path.to_owned(), text.clone()),
        other => each(path.to_owned(), other.to_json_line()),
    }
}

pub use json::public;

impl Unknown {
    /// Why it is not known, in a few words.
    pub fn words(&self) -> String {
        match self {
            Unknown::Provisional => "the node was never probed".to_owned(),
            Unknown::Sealed => "a secret that no key opens".to_owned(),
            Unknown::Broken { before, problems } => {
                let what = problems.first().map(|problem| problem.what.as_str()).unwrap_or_default();
                format!("{}: {what}", if *before { "the module was broken" } else { "the module is broken" })
            }
        }
    }
}
