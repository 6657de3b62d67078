//! Lists: the nodes, roles and modules of a workspace.

use super::files::keep;
use super::probe::Probe;
use super::workspace::Workspace;
use crate::base::{Place, Problem, Problems, Result, problem};
use crate::data::Tagged;
use crate::data::library::Origin;

/// A node, as its own file and its cached probe show it.
#[derive(Clone, Debug)]
pub struct NodeRow {
    pub name: String,
    pub role: String,
    pub probe: Probe,
    /// True for a node that was never probed.
    pub provisional: bool,
    /// Where its file names the role.
    pub place: Place,
}

/// A role, and the nodes that have it.
#[derive(Clone, Debug)]
pub struct RoleRow {
    pub name: String,
    pub nodes: Vec<String>,
    /// As the role lists them.
    pub modules: Vec<String>,
    /// The roles that a rolling run finishes before this one.
    pub after: Vec<String>,
}

/// A module, in the run order of the whole graph.
#[derive(Clone, Debug)]
pub struct ModuleRow {
    pub name: String,
    pub origin: Origin,
    /// As its `requires.yaml` lists them.
    pub requires: Vec<String>,
}

impl Workspace {
    /// All nodes, by name.
    ///
    /// # Errors
    /// Every node file and every cached probe that is broken.
    pub fn nodes(&self) -> Result<Vec<NodeRow>> {
        let mut problems = Problems::new();
        let mut rows = Vec::new();
        for name in self.node_names() {
            let Some(card) = keep(self.card(name), &mut problems) else { continue };
            let Some(probe) = keep(self.probe(name).map_err(Problems::from), &mut problems) else { continue };
            rows.push(NodeRow {
                name: name.to_owned(),
                role: card.role.to_string(),
                provisional: !probe.is_known(),
                probe,
                place: card.role_place,
            });
        }
        done(rows, problems)
    }

    /// All roles, by name.
    ///
    /// # Errors
    /// Every role or node file that is broken.
    pub fn roles(&self) -> Result<Vec<RoleRow>> {
        let mut problems = Problems::new();
        let nodes = keep(self.nodes(), &mut problems).unwrap_or_default();
        let roles: Vec<String> = self.role_names()?.map(str::to_owned).collect();
        let mut rows = Vec::new();
        for name in &roles {
            let layer = keep(self.role_layer_of(name), &mut problems).flatten();
            keep(self.hooks(name), &mut problems);
            let names = |key: &str, problems: &mut Problems| match layer.as_ref().and_then(|layer| layer.whole.get(key))
            {
                Some(member) => keep(names(key, &member.value), problems).unwrap_or_default(),
                None => Vec::new(),
            };
            rows.push(RoleRow {
                name: name.clone(),
                nodes: nodes.iter().filter(|node| node.role == *name).map(|node| node.name.clone()).collect(),
                modules: names("modules", &mut problems).into_iter().map(|(name, _)| name).collect(),
                after: names("after", &mut problems).into_iter().map(|(name, _)| name).collect(),
            });
        }
        keep(self.sequence(roles.iter().map(String::as_str)), &mut problems);
        done(rows, problems)
    }

    /// All modules, in the run order of the whole graph.
    pub fn modules(&self) -> Vec<ModuleRow> {
        let names: Vec<String> = self.library().iter().map(|module| module.name.clone()).collect();
        let order = self.graph().order(&names);
        let modules = order.iter().filter_map(|name| self.library().get(name));
        modules
            .map(|module| ModuleRow {
                name: module.name.clone(),
                origin: module.origin.clone(),
                requires: self.graph().requires(&module.name).map(str::to_owned).collect(),
            })
            .collect()
    }
}

fn done<T>(rows: Vec<T>, mut problems: Problems) -> Result<Vec<T>> {
    problem::sort(&mut problems);
    if problems.is_empty() { Ok(rows) } else { Err(problems) }
}

/// The names in a list, each with its place.
pub(super) fn names(key: &str, value: &Tagged) -> Result<Vec<(String, Place)>> {
    let Some(value) = value.settle()? else { return Ok(Vec::new()) };
    let wrong = |found: &str, place| {
        Problem::new(format!("`{key}` has {found}")).at(place).expected("expected a list of names")
    };
    let Some(items) = value.list() else { return Err(wrong(value.type_name(), value.place).into()) };
    let name = |item: &crate::data::Value| match item.as_str() {
        Some(name) => Ok((name.to_owned(), item.place)),
        None => Err(wrong(item.type_name(), item.place)),
    };
    Ok(items.iter().map(name).collect::<Result<Vec<_>, Problem>>()?)
}
