//! Explains where a value of a node comes from: every layer that touched it, lowest first.

use super::build::Catalogue;
use super::entry::Entry;
use super::select::Selection;
use super::workspace::Workspace;
use crate::base::{Place, Problem, Result, nearest::nearest};
use crate::data::{Kind, Resolved, Scalar, Tagged, Value, trace};
use std::sync::Arc;

/// The final value of a key and its story.
#[derive(Clone, Debug)]
pub struct Explanation {
    pub node: String,
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
    /// The tag, or `set`, `deep merge`, `concatenate`, `replace`, `lookup`.
    pub strategy: &'static str,
    /// The value with this layer and all below it.
    pub after: Option<Value>,
}

/// Follows `key`, a dotted path of keys and list indexes, through the layers of `node`.
///
/// # Errors
/// A node that is not there or is broken, and a key that no layer has.
pub fn explain(workspace: &Workspace, node: &str, key: &str) -> Result<Explanation> {
    let catalogue = Catalogue::build(workspace, &Selection::node(node))?;
    let [entry] = catalogue.entries.as_slice() else {
        let what = format!("`{node}` names {} nodes", catalogue.entries.len());
        return Err(Problem::usage(what).help("explain one node at a time").into());
    };
    let card = workspace.card(&entry.name)?;
    let shape = card.shape(workspace, &entry.probe)?;
    let layers = workspace.stacks().get(workspace, &shape).layers(workspace, &entry.name)?;
    let path: Vec<&str> = key.split('.').collect();
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
    let value = match (steers, touches.last()) {
        (true, Some(last)) => settled(entry, key, last),
        _ => entry.at(key),
    };
    if let Some(touch) = expansion(&touches, value.as_ref()) {
        touches.push(touch);
    }
    if touches.is_empty() && value.is_none() {
        return Err(unknown(entry, key, &layers.iter().map(|layer| &layer.data).collect::<Vec<_>>()).into());
    }
    Ok(Explanation { node: entry.name.to_string(), key: key.to_owned(), touches, value })
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

/// The last step where the merged value holds a lookup: its expansion.
fn expansion(touches: &[Touch], value: Option<&Value>) -> Option<Touch> {
    let last = touches.last()?;
    let marker = marker(last.after.as_ref()?)?;
    Some(Touch { place: marker, layer: marker.path().display().to_string(), strategy: "lookup", after: value.cloned() })
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
        Some(above) => entry.at(above).and_then(|value| value.map().map(|map| map.keys().cloned().collect::<Vec<_>>())),
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
