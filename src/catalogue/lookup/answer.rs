//! What one marker finds, over all nodes of the workspace.

use super::super::glob::Glob;
use super::super::workspace::Workspace;
use super::read::Read;
use super::{fact, text};
use crate::base::nearest::nearest;
use crate::base::{Place, Plain, Problem, Problems, Result, file};
use crate::data::{
    Kind, Lookup, Value,
    value::{From, SelfRule},
};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

/// The values that a marker finds, in the order of the nodes' names.
#[derive(Debug, Default)]
pub struct Answer {
    values: Arc<Vec<Value>>,
    /// The number of the node that each value comes from.
    nodes: Vec<u32>,
    broken: bool,
    /// What could be meant where nothing was found: a field of the facts.
    near: Option<String>,
}

impl Answer {
    /// False where a problem was found on the way, so that the answer says nothing.
    pub fn is_good(&self) -> bool {
        !self.broken
    }

    pub fn near(&self) -> Option<&str> {
        self.near.as_deref()
    }

    /// How many values there are for the node of this number.
    pub fn count(&self, node: u32, rule: SelfRule) -> usize {
        let own = || self.own(node).len();
        match rule {
            SelfRule::Include => self.nodes.len(),
            SelfRule::Exclude => self.nodes.len() - own(),
            SelfRule::Only => own(),
        }
    }

    /// The numbers of the nodes that it finds something on.
    pub fn nodes(&self) -> Vec<u32> {
        let mut nodes = self.nodes.clone();
        nodes.dedup();
        nodes
    }

    pub fn list(&self, node: u32, rule: SelfRule) -> Arc<Vec<Value>> {
        let own = self.own(node);
        let part = |range: std::ops::Range<usize>| self.values.get(range).unwrap_or_default();
        match rule {
            SelfRule::Include => self.values.clone(),
            SelfRule::Exclude if own.is_empty() => self.values.clone(),
            SelfRule::Exclude => Arc::new([part(0..own.start), part(own.end..self.values.len())].concat()),
            SelfRule::Only => Arc::new(part(own).to_vec()),
        }
    }

    /// The values of one node stand together.
    fn own(&self, node: u32) -> std::ops::Range<usize> {
        self.nodes.partition_point(|n| *n < node)..self.nodes.partition_point(|n| *n <= node)
    }
}

/// The answers to all markers that were met so far.
#[derive(Default)]
pub struct Answers {
    by_marker: HashMap<usize, (Arc<Lookup>, Place, Arc<Answer>)>,
    /// Views, by node and top-level key.
    slices: HashMap<String, HashMap<u32, Option<Value>>>,
    facts: HashMap<(u32, String), Plain>,
    pub problems: Problems,
    pub(super) open: Option<Arc<text::Open>>,
}

impl Answers {
    pub fn answer(&mut self, workspace: &Workspace, lookup: &Arc<Lookup>, place: Place) -> Arc<Answer> {
        let address = Arc::as_ptr(lookup) as usize;
        if let Some((_, _, answer)) = self.by_marker.get(&address) {
            return answer.clone();
        }
        let known = self.problems.len();
        let mut answer = self.find(workspace, lookup, place);
        answer.broken = self.problems.len() > known;
        let answer = Arc::new(answer);
        self.by_marker.insert(address, (lookup.clone(), place, answer.clone()));
        answer
    }

    /// Every marker met so far with what it finds, by place.
    pub fn reads(&self) -> Vec<Read> {
        let read = |(lookup, place, answer): &(Arc<Lookup>, Place, Arc<Answer>)| Read {
            lookup: lookup.clone(),
            place: *place,
            answer: answer.clone(),
        };
        let mut reads: Vec<Read> = self.by_marker.values().map(read).collect();
        reads.sort_by_key(|read| (read.place.path(), read.place.line, read.place.column));
        reads
    }

    fn find(&mut self, workspace: &Workspace, lookup: &Lookup, place: Place) -> Answer {
        let glob = Glob::new(&lookup.nodes);
        let mut values = Vec::new();
        let mut nodes = Vec::new();
        for name in workspace.node_names().filter(|name| glob.matches(name)) {
            let found = workspace.card(name).and_then(|card| {
                if lookup.role.as_deref().is_some_and(|role| role != &*card.role) {
                    return Ok(());
                }
                let value = match lookup.from {
                    From::Data => self.in_data(workspace, lookup, name, place),
                    From::Facts => self.in_facts(workspace, lookup, name, card.number, place),
                }?;
                let Some(value) = value else { return Ok(()) };
                let about =
                    text::About { lookup, node: name, role: &card.role, marker: place, open: self.open.as_deref() };
                let texts = about.texts(&value)?;
                nodes.resize(nodes.len() + texts.len(), card.number);
                values.extend(texts);
                Ok(())
            });
            if let Err(more) = found {
                self.problems.extend(more);
            }
        }
        let near = match lookup.from {
            From::Facts if values.is_empty() => self.near(&lookup.field),
            _ => None,
        };
        Answer { values: Arc::new(values), nodes, broken: false, near }
    }

    fn in_data(&mut self, workspace: &Workspace, lookup: &Lookup, node: &str, marker: Place) -> Result<Option<Value>> {
        let mut path = lookup.field.split('.');
        let top = path.next().unwrap_or_default();
        let Some(mut value) = self.slice(workspace, node, top)? else { return Ok(None) };
        for key in path {
            if let Kind::Lookup(other) = &value.kind {
                return Err(text::another(lookup, node, other, marker, value.place).into());
            }
            match value.get(key) {
                Some(next) => value = next.clone(),
                None => return Ok(None),
            }
        }
        Ok(Some(value))
    }

    /// What the view of a node has under a top-level key.
    fn slice(&mut self, workspace: &Workspace, node: &str, top: &str) -> Result<Option<Value>> {
        let card = workspace.card(node)?;
        if let Some(known) = self.slices.get(top).and_then(|slices| slices.get(&card.number)) {
            return Ok(known.clone());
        }
        let value = match top {
            "role" => Some(text::plain(&card.role, card.role_place)),
            "modules" => {
                let stack = card.view(workspace)?;
                let names = stack.modules.iter().map(|name| text::plain(name, card.role_place)).collect();
                Some(Value { kind: Kind::List(Arc::new(names)), place: card.role_place })
            }
            _ => card.view(workspace)?.slice(workspace, node, top)?,
        };
        self.slices.entry(top.to_owned()).or_default().insert(card.number, value.clone());
        Ok(value)
    }

    /// Reads `module.path.to.field` from the last facts of a node. A key of the facts may hold dots itself.
    fn in_facts(
        &mut self,
        workspace: &Workspace,
        lookup: &Lookup,
        node: &str,
        number: u32,
        marker: Place,
    ) -> Result<Option<Value>> {
        let (module, rest) = lookup.field.split_once('.').unwrap_or((&lookup.field, ""));
        let key = (number, module.to_owned());
        if !self.facts.contains_key(&key) {
            let facts = read_facts(workspace.root(), node, module)?;
            self.facts.insert(key.clone(), facts);
        }
        let Some(facts) = self.facts.get(&key).and_then(|document| document.get("facts")) else { return Ok(None) };
        let Some((found, way)) = fact::reach(facts, rest) else { return Ok(None) };
        if let [layer, output, ..] = way.as_slice()
            && fact::is_sensitive(facts, layer, output)
        {
            return Err(text::sensitive(lookup, node, layer, output, marker).into());
        }
        Ok(Some(found).filter(|value| !value.is_null()).map(|value| text::from_plain(value, marker)))
    }

    /// The field of the facts that were read which is nearest to one that no node has.
    fn near(&self, field: &str) -> Option<String> {
        let (module, _) = field.split_once('.').unwrap_or((field, ""));
        let mut fields = BTreeSet::new();
        for ((_, _), document) in self.facts.iter().filter(|((_, name), _)| name == module) {
            if let Some(facts) = document.get("facts") {
                fact::fields(facts, module, &mut fields);
            }
        }
        nearest(field, fields.iter().map(String::as_str)).map(str::to_owned)
    }
}

fn read_facts(root: &Path, node: &str, module: &str) -> Result<Plain, Problem> {
    let shown = Path::new("facts").join(node).join(format!("{module}.yaml"));
    match file::read_text(&root.join(&shown)) {
        Ok(text) => Plain::from_yaml(&text).map_err(|words| {
            Problem::new(format!("the facts in `{}` are broken: {words}", shown.display()))
                .help(format!("`suil facts --node {node}` reads them again"))
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Plain::Null),
        Err(error) => Err(Problem::io("read", &shown, &error)),
    }
}
