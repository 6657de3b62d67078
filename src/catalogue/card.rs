//! What a node's own file says about the node: its role, its modules.

use super::files::{Layer, keep};
use super::order::once;
use super::probe::{Probe, Probes};
use super::stack::{Shape, Stack};
use super::workspace::Workspace;
use crate::base::{Place, Problem, Problems, Result};
use crate::data::{Resolved, Tagged, Value, merge, tagged::Node};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// One node of the inventory.
#[derive(Debug)]
pub struct Card {
    pub name: Arc<str>,
    /// The node's number, by name; `None` for a node that is not in the inventory.
    pub number: u32,
    pub role: Arc<str>,
    pub role_place: Place,
    pub layer: Arc<Layer>,
    listed: OnceLock<Result<Arc<[String]>>>,
    view: OnceLock<Result<Arc<Stack>>>,
}

/// The cards that were read so far.
#[derive(Debug)]
pub struct Cards {
    numbers: HashMap<Arc<str>, u32>,
    cards: Mutex<HashMap<String, Result<Arc<Card>>>>,
    probes: Mutex<Probes>,
}

impl Cards {
    pub fn new<'a>(names: impl Iterator<Item = &'a String>) -> Cards {
        let numbers = names.zip(0..).map(|(name, number)| (Arc::from(name.as_str()), number)).collect();
        Cards { numbers, cards: Mutex::default(), probes: Mutex::default() }
    }

    pub fn get(&self, workspace: &Workspace, node: &str) -> Result<Arc<Card>> {
        let mut cards = self.cards.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(card) = cards.get(node) {
            return card.clone();
        }
        let card = self.read(workspace, node);
        cards.insert(node.to_owned(), card.clone());
        card
    }

    fn read(&self, workspace: &Workspace, node: &str) -> Result<Arc<Card>> {
        let Some(layer) = workspace.node_layer(node)? else {
            let place = workspace.hierarchy().node().place;
            return Err(Problem::new(format!("the file of node `{node}` is empty"))
                .note_at("nodes live where", place)
                .help("name its role: `role: web`")
                .into());
        };
        let (name, number) = match self.numbers.get_key_value(node) {
            Some((name, number)) => (name.clone(), *number),
            None => (Arc::from(node), u32::MAX),
        };
        let Some(member) = layer.whole.get("role") else {
            return Err(Problem::new(format!("node `{node}` names no role"))
                .at(layer.whole.place)
                .expected("expected a line such as `role: web`")
                .into());
        };
        let (role, role_place) = plain_text(&member.value).ok_or_else(|| {
            Problem::new(format!("the role of node `{node}` is no plain string"))
                .at(member.value.tag.map_or(member.value.place, |tag| tag.place))
                .expected("expected the name of a role, as in `role: web`, and no tag")
                .note(said(&member.value))
        })?;
        Ok(Arc::new(Card {
            name,
            number,
            role: role.into(),
            role_place,
            layer,
            listed: OnceLock::new(),
            view: OnceLock::new(),
        }))
    }

    /// The cached probe of a node.
    pub fn probe(&self, workspace: &Workspace, node: &str) -> Result<Probe, Problem> {
        let mut probes = self.probes.lock().unwrap_or_else(|e| e.into_inner());
        probes.read(workspace.root(), node)
    }
}

/// The text of a string with no tag; a number counts by its spelling.
fn plain_text(value: &Tagged) -> Option<(String, Place)> {
    let plain = value.plain()?;
    let scalar = plain.scalar()?;
    let named = matches!(scalar.resolved, Resolved::Str | Resolved::Int(_)) && !scalar.text.is_empty();
    named.then(|| (scalar.text.to_string(), plain.place))
}

fn said(value: &Tagged) -> String {
    let tag = value.tag.map(|tag| format!("{} ", tag.strategy.name())).unwrap_or_default();
    match &value.node {
        Node::Plain(plain) => match plain.scalar() {
            Some(scalar) => format!("found `{tag}{}`", scalar.text),
            None => format!("found {}", plain.type_name()),
        },
        _ => format!("found `{}`", tag.trim()),
    }
}

impl Card {
    /// What decides the node's layers.
    ///
    /// # Errors
    /// A role that is not there, `modules` that are no list of names, and names of no module.
    pub fn shape(&self, workspace: &Workspace, probe: &Probe) -> Result<Shape> {
        let listed = self.listed.get_or_init(|| self.list(workspace)).clone()?;
        Ok(Shape::new(self.role.clone(), listed, probe))
    }

    /// The layers of the node as lookups see it: no OS layer, the same whether it was probed or not.
    ///
    /// # Errors
    /// As for [`Card::shape`].
    pub fn view(&self, workspace: &Workspace) -> Result<Arc<Stack>> {
        let view = || Ok(workspace.stacks().get(workspace, &self.shape(workspace, &Probe::default())?.of_view()));
        self.view.get_or_init(view).clone()
    }

    /// The modules as the role and the node list them, each once.
    fn list(&self, workspace: &Workspace) -> Result<Arc<[String]>> {
        let mut problems = Problems::new();
        let role = workspace.role_layer(&self.role, self.role_place)?;
        let mut modules: Option<Value> = None;
        for layer in role.iter().chain([&self.layer]) {
            let Some(member) = layer.whole.get("modules") else { continue };
            if member.value.tag.is_none() && !member.value.is_list() {
                let what = format!("`modules` of `{}` is no list", layer.shown);
                let problem = Problem::new(what).at(member.value.place);
                problems.push(problem.expected("expected a list of module names, as in `modules: [nginx]`"));
                continue;
            }
            modules = keep(merge(modules, &member.value), &mut problems).flatten();
        }
        let listed = once(&names(workspace, modules.as_ref(), &mut problems));
        if problems.is_empty() { Ok(listed.into()) } else { Err(problems) }
    }
}

fn names(workspace: &Workspace, modules: Option<&Value>, problems: &mut Problems) -> Vec<String> {
    let Some(modules) = modules else { return Vec::new() };
    let Some(items) = modules.list() else {
        let what = format!("`modules` is {}", modules.type_name());
        problems.push(Problem::new(what).at(modules.place).expected("expected a list of module names"));
        return Vec::new();
    };
    let mut names = Vec::new();
    for item in items {
        let Some(name) = item.as_str() else {
            let what = format!("`modules` names {}", item.type_name());
            problems.push(Problem::new(what).at(item.place).expected("expected the name of a module"));
            continue;
        };
        if workspace.library().get(name).is_none() && workspace.library().absent(name).is_none() {
            let problem = Problem::new(format!("unknown module `{name}`")).at(item.place);
            problems.push(workspace.graph().guess(problem.expected(workspace.library().expected()), name));
        }
        names.push(name.to_owned());
    }
    names
}
