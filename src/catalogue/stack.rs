//! Which layers make a node, and their merge. What many nodes share is merged once.

use super::files::{Layer, keep};
use super::keys::Kind;
use super::pattern::{Known, Variable};
use super::probe::Probe;
use super::workspace::Workspace;
use crate::base::{Problems, Result};
use crate::data::{Map, Value, merge, value};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// What decides the layers of a node, apart from its own.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Shape {
    pub role: Arc<str>,
    /// As listed by the role and the node, each once.
    pub listed: Arc<[String]>,
    pub family: Option<String>,
    pub release: Option<String>,
    /// False: the modules stay in listed order, and what they require is not added.
    pub ordered: bool,
}

/// The layers of all nodes of one shape.
#[derive(Debug)]
pub struct Stack {
    pub shape: Shape,
    /// In run order.
    pub modules: Arc<[String]>,
    steps: Vec<Step>,
    /// How many steps at the bottom are the same for every node.
    shared: usize,
    /// What those steps make.
    bottom: Option<Value>,
    problems: Problems,
}

#[derive(Clone, Debug)]
enum Step {
    Shared(Arc<Layer>),
    /// The pattern of this number, for the module where it names one.
    OfNode(usize, Option<String>),
}

/// The stacks of a workspace, and the merges that they have in common.
#[derive(Debug, Default)]
pub struct Stacks {
    stacks: Mutex<HashMap<Shape, Arc<Stack>>>,
    merged: Mutex<HashMap<(u32, u32), Merged>>,
}

/// What the layers up to one of them make, and what could not be merged on the way.
#[derive(Clone, Debug)]
struct Merged {
    id: u32,
    value: Option<Value>,
    problems: Problems,
}

impl Shape {
    pub fn new(role: Arc<str>, listed: Arc<[String]>, probe: &Probe) -> Shape {
        Shape { role, listed, family: probe.family.clone(), release: probe.release(), ordered: probe.is_known() }
    }

    /// The shape of a view: no OS layer, and the same whether the node was probed or not.
    pub fn of_view(&self) -> Shape {
        Shape { family: None, release: None, ordered: true, ..self.clone() }
    }

    fn known<'a>(&'a self, node: Option<&'a str>, module: Option<&'a str>) -> Known<'a> {
        Known { node, module, role: Some(&self.role), family: self.family.as_deref(), release: self.release.as_deref() }
    }
}

impl Stacks {
    pub fn get(&self, workspace: &Workspace, shape: &Shape) -> Arc<Stack> {
        if let Some(stack) = self.stacks.lock().unwrap_or_else(|e| e.into_inner()).get(shape) {
            return stack.clone();
        }
        let stack = Arc::new(self.build(workspace, shape));
        self.stacks.lock().unwrap_or_else(|e| e.into_inner()).insert(shape.clone(), stack.clone());
        stack
    }

    fn build(&self, workspace: &Workspace, shape: &Shape) -> Stack {
        let modules = match shape.ordered {
            true => workspace.graph().order(&shape.listed),
            false => shape.listed.to_vec(),
        };
        let mut problems = Problems::new();
        for name in &modules {
            problems.extend(workspace.library().absent(name).cloned());
        }
        let mut steps: Vec<Step> = workspace.deployment_layer().into_iter().map(Step::Shared).collect();
        let os = shape.family.as_ref().zip(shape.release.as_ref());
        for module in modules.iter().filter_map(|name| workspace.library().get(name)) {
            let layers = keep(workspace.module_layers(module, os), &mut problems).unwrap_or_default();
            steps.extend(layers.into_iter().map(Step::Shared));
        }
        for (number, pattern) in workspace.hierarchy().patterns.iter().enumerate() {
            let of: Vec<Option<&String>> = match pattern.uses(Variable::Module) {
                true => modules.iter().map(Some).collect(),
                false => vec![None],
            };
            for module in of {
                if pattern.uses(Variable::Node) {
                    steps.push(Step::OfNode(number, module.cloned()));
                } else if let Some(path) = pattern.path(shape.known(None, module.map(String::as_str))) {
                    let kind = match number == workspace.hierarchy().role_number() {
                        true => Kind::Role,
                        false => Kind::Other,
                    };
                    let layer = keep(workspace.layer(&path, kind), &mut problems).flatten();
                    steps.extend(layer.map(Step::Shared));
                }
            }
        }
        for step in &steps {
            if let Step::Shared(layer) = step {
                problems.extend(layer.problems.iter().cloned());
            }
        }
        let shared = steps.iter().position(|step| matches!(step, Step::OfNode(..))).unwrap_or(steps.len());
        let bottom = self.merge_shared(steps.iter().take(shared), &mut problems);
        Stack { shape: shape.clone(), modules: modules.into(), steps, shared, bottom, problems }
    }

    /// Merges layers, each beginning of the list once for all stacks that begin so.
    fn merge_shared<'a>(&self, steps: impl Iterator<Item = &'a Step>, problems: &mut Problems) -> Option<Value> {
        let mut known = self.merged.lock().unwrap_or_else(|e| e.into_inner());
        let mut below = Merged { id: 0, value: None, problems: Problems::new() };
        for step in steps {
            let Step::Shared(layer) = step else { continue };
            let key = (below.id, layer.id);
            below = match known.get(&key) {
                Some(merged) => merged.clone(),
                None => {
                    let mut problems = below.problems;
                    let value = over(below.value, layer, &mut problems);
                    let merged = Merged { id: known.len() as u32 + 1, value, problems };
                    known.insert(key, merged.clone());
                    merged
                }
            };
        }
        problems.extend(below.problems);
        below.value
    }
}

/// Merges one more layer. A layer that cannot be merged is left out, so that the problems of those above it are found
/// as well.
fn over(lower: Option<Value>, layer: &Layer, problems: &mut Problems) -> Option<Value> {
    match merge(lower.clone(), &layer.data) {
        Ok(value) => value,
        Err(more) => {
            problems.extend(more);
            lower
        }
    }
}

impl Stack {
    /// The merged data of `node`, lookups not expanded.
    ///
    /// # Errors
    /// All that is wrong in its layers.
    pub fn merge(&self, workspace: &Workspace, node: &str) -> Result<Option<Value>> {
        let mut problems = self.problems.clone();
        let mut value = self.bottom.clone();
        for layer in self.upper(workspace, node, &mut problems) {
            value = over(value, &layer, &mut problems);
        }
        if problems.is_empty() { Ok(value) } else { Err(problems) }
    }

    /// What `node` has under the top-level key `top`, lookups not expanded. Merges nothing else.
    ///
    /// # Errors
    /// All that is wrong in the node's layers under that key.
    pub fn slice(&self, workspace: &Workspace, node: &str, top: &str) -> Result<Option<Value>> {
        let mut problems = self.problems.clone();
        let mut value = self.bottom.as_ref().and_then(|bottom| only(bottom, top));
        for layer in self.upper(workspace, node, &mut problems) {
            if layer.data.get(top).is_none() {
                continue;
            }
            match merge(value.clone(), &layer.data.filtered(|key| key == top)) {
                Ok(merged) => value = merged,
                Err(more) => problems.extend(more),
            }
        }
        if problems.is_empty() { Ok(value.and_then(|value| value.get(top).cloned())) } else { Err(problems) }
    }

    fn upper(&self, workspace: &Workspace, node: &str, problems: &mut Problems) -> Vec<Arc<Layer>> {
        let steps = self.steps.iter().skip(self.shared);
        steps.filter_map(|step| self.layer(workspace, node, step, problems)).collect()
    }

    /// Every layer of `node`, lowest first.
    ///
    /// # Errors
    /// All that is wrong in one of them.
    pub fn layers(&self, workspace: &Workspace, node: &str) -> Result<Vec<Arc<Layer>>> {
        let mut problems = self.problems.clone();
        let layers = self.steps.iter().filter_map(|step| self.layer(workspace, node, step, &mut problems)).collect();
        if problems.is_empty() { Ok(layers) } else { Err(problems) }
    }

    fn layer(&self, workspace: &Workspace, node: &str, step: &Step, problems: &mut Problems) -> Option<Arc<Layer>> {
        match step {
            Step::Shared(layer) => Some(layer.clone()),
            Step::OfNode(number, module) => {
                let pattern = workspace.hierarchy().patterns.get(*number)?;
                let path = pattern.path(self.shape.known(Some(node), module.as_deref()))?;
                let kind = match *number == workspace.hierarchy().node_number() {
                    true => Kind::Node,
                    false => Kind::Other,
                };
                let layer = keep(workspace.layer(&path, kind), problems).flatten()?;
                problems.extend(layer.problems.iter().cloned());
                Some(layer)
            }
        }
    }
}

/// The mapping with one key alone, so that a problem in it names the whole path.
fn only(value: &Value, key: &str) -> Option<Value> {
    let (name, entry) = value.map()?.get_key_value(key)?;
    let map = Map::from_iter([(name.clone(), entry.clone())]);
    Some(Value { kind: value::Kind::Map(Arc::new(map)), place: value.place })
}
