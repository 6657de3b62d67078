//! Which nodes a run is about.

use super::card::Card;
use super::glob::Glob;
use super::inventory::check_name;
use super::workspace::Workspace;
use crate::base::{Problem, Problems, Result, nearest::nearest};
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// Names or patterns of roles and nodes. Nothing given selects every node; with both, a node must match both.
#[derive(Clone, Default, Debug)]
pub struct Selection {
    pub roles: Vec<String>,
    pub nodes: Vec<String>,
}

impl Selection {
    /// Selects the nodes of one role.
    pub fn role(role: &str) -> Selection {
        Selection { roles: vec![role.to_owned()], nodes: Vec::new() }
    }

    /// Selects the nodes of exactly these names.
    pub fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> Selection {
        // A class of one character stands for itself.
        let exact = |name: &str| {
            let one = |c: char| if "*?[".contains(c) { format!("[{c}]") } else { c.to_string() };
            name.chars().map(one).collect::<String>()
        };
        Selection { roles: Vec::new(), nodes: names.into_iter().map(exact).collect() }
    }

    /// Selects the nodes of this name or pattern.
    pub fn node(node: &str) -> Selection {
        Selection { roles: Vec::new(), nodes: vec![node.to_owned()] }
    }
}

/// A node and what its file says.
pub type Selected = (String, Result<Arc<Card>>);

/// The selected nodes with their cards, by name. A card that is broken counts as selected: its role cannot be known.
///
/// # Errors
/// A name or a pattern that matches nothing.
pub fn select(workspace: &Workspace, selection: &Selection, warnings: &mut Problems) -> Result<Vec<Selected>> {
    let mut problems = Problems::new();
    for name in &selection.nodes {
        problems.extend(check_node(workspace, name));
    }
    for name in &selection.roles {
        problems.extend(check_role(workspace, name)?);
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let (nodes, roles) = (Names::new(&selection.nodes), Names::new(&selection.roles));
    let mut cards = Vec::new();
    let mut others = false;
    for name in workspace.node_names().filter(|name| nodes.fit(name)) {
        match workspace.card(name) {
            Ok(card) if !roles.fit(&card.role) => others = true,
            Err(found) if !roles.is_empty() && nodes.is_empty() && !workspace.names_role(name) => {
                warnings.extend(found.into_iter().map(|problem| problem.kind(crate::base::problem::Kind::Warning)));
            }
            card => cards.push((name.to_owned(), card)),
        }
    }
    match cards.is_empty() && others && !nodes.is_empty() {
        true => Err(Problem::new(format!(
            "no node matches both {} and {}",
            words("node", &selection.nodes),
            words("role", &selection.roles)
        ))
        .help("`suil nodes` lists all nodes with their roles")
        .into()),
        false => Ok(cards),
    }
}

/// The names of the selected nodes.
///
/// # Errors
/// A name or a pattern that matches nothing.
pub fn selected(workspace: &Workspace, selection: &Selection) -> Result<BTreeSet<String>> {
    Ok(select(workspace, selection, &mut Problems::new())?.into_iter().map(|(node, _)| node).collect())
}

/// Names and patterns. A thousand names cost no more than one.
struct Names<'a> {
    names: HashSet<&'a str>,
    globs: Vec<Glob>,
}

impl<'a> Names<'a> {
    fn new(all: &'a [String]) -> Names<'a> {
        let (globs, names): (Vec<&String>, Vec<&String>) = all.iter().partition(|name| Glob::is_pattern(name));
        Names {
            names: names.into_iter().map(String::as_str).collect(),
            globs: globs.into_iter().map(|glob| Glob::new(glob)).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.names.is_empty() && self.globs.is_empty()
    }

    /// True where `name` is one of them, or where there is none to be one of.
    fn fit(&self, name: &str) -> bool {
        self.is_empty() || self.names.contains(name) || self.globs.iter().any(|glob| glob.matches(name))
    }
}

fn words(kind: &str, names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    format!("{kind} {}", names.join(", "))
}

fn check_node(workspace: &Workspace, name: &str) -> Option<Problem> {
    if let Err(problem) = check_name("node", name) {
        return Some(problem);
    }
    if !Glob::is_pattern(name) {
        return match workspace.node_names().any(|node| node == name) {
            true => None,
            false => Some(workspace.no_such_node(name)),
        };
    }
    let glob = Glob::new(name);
    match workspace.node_names().any(|node| glob.matches(node)) {
        true => None,
        false => Some(nothing("node", name, nearest(name, workspace.node_names()))),
    }
}

fn check_role(workspace: &Workspace, name: &str) -> Result<Option<Problem>> {
    if let Err(problem) = check_name("role", name) {
        return Ok(Some(problem));
    }
    if !Glob::is_pattern(name) {
        return match workspace.role_names()?.any(|role| role == name) {
            true => Ok(None),
            false => Ok(Some(workspace.no_such_role(name)?)),
        };
    }
    let glob = Glob::new(name);
    let found = workspace.role_names()?.any(|role| glob.matches(role));
    Ok(if found { None } else { Some(nothing("role", name, nearest(name, workspace.role_names()?))) })
}

fn nothing(kind: &str, pattern: &str, near: Option<&str>) -> Problem {
    let problem = Problem::new(format!("no {kind} matches `{pattern}`"));
    match near {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help(format!("`suil {kind}s` lists all")),
    }
}
