//! Where a value comes from: each layer that touched one key. Runs only when asked, beside the merge and not in it.

use super::tagged::{Node, Strategy};
use super::{Kind, Tagged, Value, merge, same};
use crate::base::{Place, Result};

/// What one layer did to the key.
#[derive(Clone, Debug)]
pub struct Step {
    /// Counts from 0 in the order of the layers.
    pub layer: usize,
    /// Where the layer says it.
    pub place: Place,
    /// The tag, or `set`, `deep merge`, `concatenate`, `replace`.
    pub strategy: &'static str,
    /// The key's value with this layer and all below it; `None`: the layer removed it.
    pub after: Option<Value>,
}

/// Follows the key `path` through `layers`, lowest first. A segment that is a number reaches into a list.
///
/// # Errors
/// As for [`merge()`].
pub fn trace<'a>(layers: impl IntoIterator<Item = &'a Tagged>, path: &[&str]) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    let mut value = None;
    for (layer, upper) in layers.into_iter().enumerate() {
        let upper = upper.filtered(|key| path.first().is_none_or(|first| *first == key));
        let before = value.as_ref().and_then(|value| at(value, path)).cloned();
        value = merge(value, &upper)?;
        let after = value.as_ref().and_then(|value| at(value, path)).cloned();
        let Some(touch) = touch(&upper, path) else {
            continue;
        };
        let changed = match (&before, &after) {
            (Some(before), Some(after)) => !same(before, after),
            (None, None) => false,
            _ => true,
        };
        if touch.exact && (before.is_some() || after.is_some()) || changed {
            steps.push(Step { layer, place: touch.place, strategy: touch.strategy(before.as_ref()), after });
        }
    }
    Ok(steps)
}

/// The value at the end of `path`.
pub fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| match &value.kind {
        Kind::Map(map) => map.get(*key).map(|entry| &entry.value),
        Kind::List(list) => key.parse::<usize>().ok().and_then(|index| list.get(index)),
        _ => None,
    })
}

/// How a layer reaches a key: it names it, or it says something about what lies above.
struct Touch {
    place: Place,
    tag: Option<Strategy>,
    shape: Shape,
    exact: bool,
}

#[derive(PartialEq)]
enum Shape {
    Map,
    List,
    Other,
}

impl Touch {
    fn strategy(&self, before: Option<&Value>) -> &'static str {
        let below = before.map(|value| &value.kind);
        match (self.tag, below, &self.shape) {
            (Some(strategy), ..) => strategy.name(),
            (None, None, _) => "set",
            (None, Some(Kind::Map(_)), Shape::Map) => "deep merge",
            (None, Some(Kind::List(_)), Shape::List) => "concatenate",
            (None, Some(_), Shape::List) if !self.exact => "concatenate",
            _ => "replace",
        }
    }
}

fn touch(upper: &Tagged, path: &[&str]) -> Option<Touch> {
    let mut here = upper.clone();
    let mut place = upper.place;
    let mut tag = None;
    for key in path {
        let next = here.get(key);
        tag = here.tag.map(|tag| tag.strategy).or(tag);
        match next {
            Some(member) => {
                // A tag higher up decides, as long as nothing nearer does.
                place = member.key;
                here = member.value;
            }
            None if here.is_map() && tag.is_none() => return None,
            None => return Some(Touch { place, tag, shape: shape(&here), exact: false }),
        }
    }
    let own = here.tag.map(|tag| tag.strategy);
    let above = tag.filter(|tag| matches!(tag, Strategy::Replace | Strategy::Delete));
    Some(Touch { place, tag: own.or(above), shape: shape(&here), exact: true })
}

fn shape(node: &Tagged) -> Shape {
    match &node.node {
        _ if node.is_map() => Shape::Map,
        _ if node.is_list() => Shape::List,
        Node::Nothing | Node::Plain(_) | Node::List(_) | Node::Map(_) => Shape::Other,
    }
}

#[cfg(test)]
mod tests;
