//! Why a stack is affected, and what it has to do with others.

use super::affected::{Query, affected_with, touched_by};
use super::{Edge, Graph, Kind, Need, Node, Stack, Touched, key};
use crate::base::{Problem, nearest::nearest};
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};

/// What there is to say about a stack.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Why {
    pub stack: Stack,
    /// `None` where nothing that changed touches it, or where nobody asked.
    pub touched: Option<Touched>,
    /// The shortest way from a changed path to the stack; empty where nothing touches it.
    pub way: Vec<Step>,
    /// What it needs.
    pub needs: Vec<Edge>,
    /// What needs it.
    pub needed_by: Vec<Edge>,
}

/// A step of a way.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Step {
    pub node: Node,
    /// The changed path, at the first step alone.
    pub path: Option<String>,
    /// The edge to the step before.
    pub edge: Option<Edge>,
}

/// Says why `name` is affected by `changed`, and what it has to do with others. `data` are the keys of layers whose
/// templates read host data that differs.
///
/// # Errors
/// There is no such stack in this repository, or several are meant.
pub fn why(graph: &Graph, name: &str, changed: Option<&[String]>, data: &[String]) -> Result<Why, Problem> {
    let stack = find(graph, name)?;
    let own = |node: &Node| node.kind == Kind::Stack && node.key == stack.key;
    let mut why = Why {
        stack: stack.clone(),
        touched: None,
        way: Vec::new(),
        needs: graph.edges.iter().filter(|edge| own(&edge.from)).cloned().collect(),
        needed_by: graph.edges.iter().filter(|edge| own(&edge.to)).cloned().collect(),
    };
    if let Some(changed) = changed {
        let all = affected_with(graph, &Query { changed: changed.to_vec(), requested: Vec::new() }, data);
        let affected: HashSet<&str> = all.affected.iter().map(|touched| touched.key.as_str()).collect();
        why.way = way(graph, stack, &affected, &touched_by(graph, changed));
        why.touched = all.affected.into_iter().find(|touched| touched.key == stack.key);
    }
    Ok(why)
}

/// The stack of a key, of a path that has one stack, or of either with this repository's name before it.
///
/// # Errors
/// There is none, or the path has several.
pub fn find<'a>(graph: &'a Graph, name: &str) -> Result<&'a Stack, Problem> {
    let plain = match key::qualified(name) {
        Some((repo, rest)) if key::same_repo(repo, &graph.repo) => rest,
        _ => name,
    };
    let (path, instance) = key::split(plain);
    let wanted = match key::qualified(plain) {
        Some(_) => plain.to_owned(),
        None => key::key(&key::clean(path).unwrap_or_default(), instance),
    };
    if let Some(stack) = graph.stacks.iter().find(|stack| stack.key == wanted) {
        return Ok(stack);
    }
    let there: Vec<&Stack> = graph.stacks.iter().filter(|stack| stack.path == wanted && !stack.external).collect();
    // The folder of a layer is what a person stands in.
    let layer = graph.stacks.iter().find(|stack| stack.layer.as_deref() == Some(&wanted));
    match (there.as_slice(), layer) {
        (_, Some(layer)) => Ok(layer),
        ([only], None) => Ok(only),
        ([], None) => {
            let problem = Problem::new(format!("there is no stack `{name}`"));
            let keys = graph.stacks.iter().filter(|stack| !stack.external).map(|stack| stack.key.as_str());
            Err(match nearest(&wanted, keys) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem.help("`suil infra graph` lists all stacks"),
            })
        }
        (several, None) => {
            let problem = Problem::new(format!("`{name}` is {} stacks", several.len()));
            let names = several.iter().map(|stack| format!("`{}`", stack.key)).collect::<Vec<_>>().join(", ");
            Err(problem.help(format!("name one of {names}")))
        }
    }
}

/// Searches from the stack over what it needs for the nearest node that a path touches itself.
fn way(graph: &Graph, stack: &Stack, affected: &HashSet<&str>, touched: &HashMap<String, String>) -> Vec<Step> {
    let mut edges: HashMap<&Node, Vec<&Edge>> = HashMap::new();
    for edge in &graph.edges {
        edges.entry(&edge.from).or_default().push(edge);
    }
    let start = Node { kind: Kind::Stack, key: stack.key.clone() };
    let mut before: HashMap<&Node, (&Node, &Edge)> = HashMap::new();
    let mut queue = VecDeque::from([&start]);
    let mut seen: HashSet<&Node> = HashSet::from([&start]);
    while let Some(node) = queue.pop_front() {
        if let Some(path) = touched.get(&node.key) {
            let mut steps = vec![Step { node: node.clone(), path: Some(path.clone()), edge: None }];
            let mut at = node;
            while let Some((next, edge)) = before.get(at) {
                steps.push(Step { node: (*next).clone(), path: None, edge: Some((*edge).clone()) });
                at = next;
            }
            return steps;
        }
        for edge in edges.get(node).into_iter().flatten() {
            // A change spreads over what is affected itself, and over modules.
            let carries = match edge.kind {
                Need::UsesModule => true,
                Need::ReadsOutput | Need::ReadsHostData => false,
                Need::DependsOn | Need::ReadsState => {
                    graph.policy.dependents && affected.contains(edge.to.key.as_str())
                }
            };
            if carries && seen.insert(&edge.to) {
                before.insert(&edge.to, (node, edge));
                queue.push_back(&edge.to);
            }
        }
    }
    Vec::new()
}
