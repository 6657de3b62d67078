//! Explains where a value of a node comes from: every layer that touched it, lowest first.

use super::build::Catalogue;
use super::entry::Entry;
use super::lookup::text;
use super::select::Selection;
use super::workspace::Workspace;
use crate::base::{Place, Plain, Problem, Result, nearest::nearest};
use crate::data::{Kind, Resolved, Scalar, Tagged, Value, trace};
use std::sync::Arc;

/// The final value of a key and its story.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub node: String,
    /// True for a node that was never probed: its OS layers are not among the touches.
    pub provisional: bool,
    /// The dotted path, as it was asked for.
    pub key: String,
    /// Lowest layer first.
    pub touches: Vec<Touch>,
    /// `None` where the last layer that touched the key removed it.
    pub value: Option<Value>,
}

/// What one layer did to the key.
#[derive(Clone, Debug)]
pub struct Touch {
    pub place: Place,
    /// The file, as a person would type it.
    pub layer: String,
    /// The tag, or `set`, `deep merge`, `concatenate`, `replace`, `lookup`, `default`.
    pub strategy: &'static str,
    /// The value with this layer and all below it.
    pub after: Option<Value>,
}

/// Asks what stands for a key that no layer has: the place of the rule that says so, and the value.
pub type Default<'a> = dyn FnMut(&Entry, &[&str]) -> Result<Option<(Place, Plain)>> + 'a;

/// Follows `key`, a dotted path of keys and list indexes, through the layers of `node`.
///
/// # Errors
/// A node that is not there or is broken, and a key that no layer has.
pub fn explain(workspace: &Workspace, node: &str, key: &str, default: &mut Default) -> Result<Explanation> {
    let catalogue = Catalogue::build(workspace, &Selection::node(node))?;
    let [entry] = catalogue.entries.as_slice() else {
        let what = format!("`{node}` names {} nodes", catalogue.entries.len());
        return Err(Problem::usage(what).help("explain one node at a time").into());
    };
    let card = workspace.card(&entry.name)?;
    let shape = card.shape(workspace, &entry.probe)?;
    let layers = workspace.stacks().get(workspace, &shape).layers(workspace, &entry.name)?;
    let parts = parts(entry, layers.iter().map(|layer| &layer.data), key)?;
    let path: Vec<&str> = parts.iter().map(String::as_str).collect();
    let steers = matches!(path.first(), Some(&("role" | "modules")));
    let steps = trace(layers.iter().map(|layer| if steers { &layer.whole } else { &layer.data }), &path)?;
    let mut touches: Vec<Touch> = steps
        .into_iter()
        .map(|step| Touch {
            place: step.place,
            layer: layers.get(step.layer).map(|layer| layer.shown.clone()).unwrap_or_default(),
            strategy: step.strategy,
            after: step.after,
        })
        .collect();
    let mut value = match (steers, touches.last()) {
        (true, Some(last)) => settled(entry, key, last),
        _ => entry.at(&path),
    };
    if let Some(touch) = expansion(entry, &path, &touches, value.as_ref()) {
        touches.push(touch);
    }
    if value.is_none()
        && !steers
        && let Some((place, plain)) = default(entry, &path)?
    {
        let after = Some(text::from_plain(&plain, place));
        value.clone_from(&after);
        touches.push(Touch { place, layer: place.path().display().to_string(), strategy: "default", after });
    }
    if touches.is_empty() && value.is_none() {
        return Err(unknown(entry, key, &layers.iter().map(|layer| &layer.data).collect::<Vec<_>>()).into());
    }
    let (node, provisional) = (entry.name.to_string(), entry.provisional);
    Ok(Explanation { node, provisional, key: key.to_owned(), touches, value })
}

/// The parts of a dotted path. A key that has dots itself, as those of sysctl do, is found by what the data has;
/// `sites[0]` is `sites.0`.
fn parts<'a>(entry: &Entry, layers: impl DoubleEndedIterator<Item = &'a Tagged>, key: &str) -> Result<Vec<String>> {
    let key = key.replace('[', ".").replace(']', "");
    let (top, rest) = key.split_once('.').unwrap_or((&key, ""));
    let found = |value: &Value| match rest {
        "" => None,
        rest => below(value, rest).map(|parts| std::iter::once(top.to_owned()).chain(parts).collect()),
    };
    if let Some(parts) = entry.slice(top).as_ref().and_then(found) {
        return Ok(parts);
    }
    for layer in layers.rev() {
        let value = layer.filtered(|name| name == top).settle()?;
        if let Some(parts) = value.as_ref().and_then(|value| value.get(top)).and_then(found) {
            return Ok(parts);
        }
    }
    Ok(key.split('.').map(str::to_owned).collect())
}

fn below(value: &Value, path: &str) -> Option<Vec<String>> {
    let along = |name: &str, value: &Value| {
        let rest = path.strip_prefix(name)?;
        let more = if rest.is_empty() { Vec::new() } else { below(value, rest.strip_prefix('.')?)? };
        Some(std::iter::once(name.to_owned()).chain(more).collect())
    };
    match &value.kind {
        Kind::Map(map) => map.iter().find_map(|(name, slot)| along(name, &slot.value)),
        Kind::List(list) => {
            let index = path.split('.').next()?;
            along(index, list.get(index.parse::<usize>().ok()?)?)
        }
        _ => None,
    }
}

/// What the run makes of `role` and `modules`, which are no data of the node.
fn settled(entry: &Entry, key: &str, last: &Touch) -> Option<Value> {
    if key != "modules" {
        return last.after.clone();
    }
    let name = |name: &String| Value {
        kind: Kind::Scalar(Scalar { text: name.as_str().into(), plain: false, resolved: Resolved::Str }),
        place: last.place,
    };
    Some(Value { kind: Kind::List(Arc::new(entry.modules.iter().map(name).collect())), place: last.place })
}

/// The last step where the merged value holds a lookup: its expansion. In a list with a lookup what stands at an index
/// is decided by the expansion alone.
fn expansion(entry: &Entry, path: &[&str], touches: &[Touch], value: Option<&Value>) -> Option<Touch> {
    let own = touches.last().and_then(|last| marker(last.after.as_ref()?));
    let merged = entry.merged.as_ref();
    let spliced = || (1..path.len()).find_map(|n| marker_in_list(trace::at(merged?, path.get(..n)?)?));
    let place = own.or_else(spliced)?;
    Some(Touch { place, layer: place.path().display().to_string(), strategy: "lookup", after: value.cloned() })
}

fn marker_in_list(value: &Value) -> Option<Place> {
    value.list()?.iter().find(|item| matches!(item.kind, Kind::Lookup(_))).map(|item| item.place)
}

fn marker(value: &Value) -> Option<Place> {
    match &value.kind {
        Kind::Lookup(_) => Some(value.place),
        Kind::List(list) => list.iter().find_map(marker),
        Kind::Map(map) => map.values().find_map(|slot| marker(&slot.value)),
        Kind::Scalar(_) | Kind::Secret(_) => None,
    }
}

fn unknown(entry: &Entry, key: &str, layers: &[&Tagged]) -> Problem {
    let problem = Problem::new(format!("no layer of node `{}` has the key `{key}`", entry.name));
    let (above, last) = key.rsplit_once('.').map_or((None, key), |(above, last)| (Some(above), last));
    let beside = match above {
        Some(above) => entry
            .at(&above.split('.').collect::<Vec<_>>())
            .and_then(|value| value.map().map(|map| map.keys().cloned().collect::<Vec<_>>())),
        None => Some(layers.iter().flat_map(|layer| layer.members().into_keys()).collect()),
    };
    let beside = beside.unwrap_or_default();
    match nearest(last, beside.iter().map(|name| &**name)) {
        Some(near) => {
            let near = above.map_or(near.to_owned(), |above| format!("{above}.{near}"));
            problem.help(format!("did you mean `{near}`?"))
        }
        None => problem.help(format!("`suil config --merged --node {}` shows all of its data", entry.name)),
    }
}
