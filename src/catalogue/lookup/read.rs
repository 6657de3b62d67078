//! Which nodes the lookups of a run find, to be compared with those of the last one: a pool that shrinks without a word
//! is how a load balancer loses half of its members.

use super::super::workspace::Workspace;
use super::Answer;
use crate::base::{Place, Problem};
use crate::data::{
    Lookup,
    value::{From, Ip},
};
use std::sync::Arc;

/// A marker and what it finds.
#[derive(Clone, Debug)]
pub struct Read {
    pub(super) lookup: Arc<Lookup>,
    pub(super) place: Place,
    pub(super) answer: Arc<Answer>,
}

impl Read {
    /// What it asks for, wherever it is written: `net.addresses role=web ip=v4`.
    pub fn key(&self) -> String {
        let Lookup { field, nodes, role, ip, from, .. } = &*self.lookup;
        let ip = ip.map(|ip| match ip {
            Ip::V4 => "v4",
            Ip::V6 => "v6",
            Ip::Any => "any",
        });
        let parts = [
            ("nodes", Some(nodes.as_str()).filter(|nodes| *nodes != "*")),
            ("role", role.as_deref()),
            ("ip", ip),
            ("from", (*from == From::Facts).then_some("facts")),
        ];
        let said = parts.into_iter().filter_map(|(name, value)| Some(format!(" {name}={}", value?)));
        field.clone() + &said.collect::<String>()
    }

    /// The names of the nodes that it finds something on.
    pub fn nodes(&self, workspace: &Workspace) -> Vec<String> {
        let names: Vec<&str> = workspace.node_names().collect();
        let name = |number: u32| names.get(number as usize).map(|name| (*name).to_owned());
        self.answer.nodes().into_iter().filter_map(name).collect()
    }

    /// The warning where it found something on more nodes `before`.
    pub fn shrunken(&self, workspace: &Workspace, before: &[&str]) -> Option<Problem> {
        let (now, was) = (self.answer.nodes().len(), before.len());
        if now >= was {
            return None;
        }
        let still = self.nodes(workspace);
        let gone: Vec<String> =
            before.iter().filter(|name| !still.iter().any(|s| s == *name)).map(|name| format!("`{name}`")).collect();
        let named = match gone.as_slice() {
            [first, second, third, _, ..] => format!("{first}, {second}, {third} and {} more", gone.len() - 3),
            few => few.join(", "),
        };
        let nodes = if now == 1 { "node" } else { "nodes" };
        let what = format!("lookup of `{}` finds {now} {nodes}, {was} in the last run", self.lookup.field);
        Some(Problem::warning(what).at(self.place).note(format!("it finds nothing any more on {named}")))
    }
}
