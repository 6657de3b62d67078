//! Lookups: what a marker finds on other nodes, and its expansion in an entry.
//!
//! A marker is answered once for all entries that carry it. It is expanded when an entry is asked for its data: a
//! list of every other node in each of ten thousand nodes is a hundred million values, and nobody needs them at once.

mod answer;
mod fact;
mod question;
mod read;
pub mod text;

pub use answer::{Answer, Answers};
pub use question::Questions;
pub use read::Read;
pub use text::Open;

use crate::base::{Place, Problem, Problems};
use crate::data::{
    Entry as Slot, Kind, Lookup, Map, Value,
    value::{From, SelfRule},
};
use std::collections::HashMap;
use std::sync::Arc;

/// The answers to the markers of one entry, by the address of the marker, which its `Arc` keeps alive.
#[derive(Clone, Debug, Default)]
pub struct Found {
    by_marker: HashMap<usize, (Arc<Lookup>, Arc<Answer>)>,
}

fn address(lookup: &Arc<Lookup>) -> usize {
    Arc::as_ptr(lookup) as usize
}

impl Found {
    /// Answers every marker in `value`, and finds the ones that read nothing for the node of this number.
    pub fn gather(
        &mut self,
        value: &Value,
        node: u32,
        answers: &mut dyn FnMut(&Arc<Lookup>, Place) -> Arc<Answer>,
        problems: &mut Problems,
    ) {
        match &value.kind {
            Kind::Lookup(lookup) => {
                let answer = answers(lookup, value.place);
                if lookup.required && answer.is_good() && answer.count(node, lookup.self_) == 0 {
                    problems.push(nothing(lookup, value.place, answer.near()));
                }
                self.by_marker.insert(address(lookup), (lookup.clone(), answer));
            }
            Kind::List(list) => list.iter().for_each(|item| self.gather(item, node, answers, problems)),
            Kind::Map(map) => map.values().for_each(|slot| self.gather(&slot.value, node, answers, problems)),
            Kind::Scalar(_) | Kind::Secret(_) => {}
        }
    }

    /// The value with every marker expanded: spliced into the list that it stands in, else a list of its own.
    /// What holds no marker is shared, not copied.
    pub fn expand(&self, value: &Value, node: u32) -> Value {
        match self.by_marker.is_empty() {
            true => value.clone(),
            false => self.changed(value, node).unwrap_or_else(|| value.clone()),
        }
    }

    fn changed(&self, value: &Value, node: u32) -> Option<Value> {
        let kind = match &value.kind {
            Kind::Lookup(lookup) => Kind::List(self.list(lookup, node)),
            Kind::List(list) => Kind::List(Arc::new(self.spliced(list, node)?)),
            Kind::Map(map) => {
                let mut copy: Option<Map> = None;
                for (key, slot) in map.iter() {
                    if let Some(value) = self.changed(&slot.value, node) {
                        let copy = copy.get_or_insert_with(|| Map::clone(map));
                        copy.insert(key.clone(), Slot { key: slot.key, value });
                    }
                }
                Kind::Map(Arc::new(copy?))
            }
            Kind::Scalar(_) | Kind::Secret(_) => return None,
        };
        Some(Value { kind, place: value.place })
    }

    fn spliced(&self, list: &[Value], node: u32) -> Option<Vec<Value>> {
        let mut copy: Option<Vec<Value>> = None;
        for (index, item) in list.iter().enumerate() {
            let changed = self.changed(item, node);
            if changed.is_none() && copy.is_none() {
                continue;
            }
            let copy = copy.get_or_insert_with(|| list.iter().take(index).cloned().collect());
            match (&item.kind, changed) {
                (Kind::Lookup(lookup), _) => copy.extend(self.list(lookup, node).iter().cloned()),
                (_, Some(changed)) => copy.push(changed),
                (_, None) => copy.push(item.clone()),
            }
        }
        copy
    }

    fn list(&self, lookup: &Arc<Lookup>, node: u32) -> Arc<Vec<Value>> {
        match self.by_marker.get(&address(lookup)) {
            Some((lookup, answer)) => answer.list(node, lookup.self_),
            None => Arc::default(),
        }
    }
}

fn nothing(lookup: &Lookup, place: Place, near: Option<&str>) -> Problem {
    let among = match (lookup.nodes.as_str(), &lookup.role) {
        ("*", None) => "on any node".to_owned(),
        ("*", Some(role)) => format!("on a node of role `{role}`"),
        (nodes, None) => format!("on a node named `{nodes}`"),
        (nodes, Some(role)) => format!("on a node of role `{role}` named `{nodes}`"),
    };
    let kind = match lookup.ip {
        None => "a value",
        Some(_) => "an address",
    };
    let itself = match lookup.self_ {
        SelfRule::Include => "",
        SelfRule::Exclude => " other than the one that asks",
        SelfRule::Only => ", the one that asks",
    };
    let problem = Problem::new(format!("lookup of `{}` finds nothing", lookup.field))
        .at(place)
        .expected(format!("expected {kind} {among}{itself}"));
    if lookup.from == From::Facts {
        let problem = problem.note("it looks at what was last read from those nodes, in facts/");
        return match near {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help("`suil facts` reads them; `required: false` gives an empty list meanwhile"),
        };
    }
    problem
        .note("a lookup sees the data of other nodes without their OS layers, and mappings by their keys only")
        .help("set the field there, or add `required: false` to get an empty list")
}
