//! What moved between a plan and now, and whether that matters.
//!
//! Who acts, where, and on what code must be the same: suil, the nodes, how each is reached, its system, its modules
//! and their code. Values and facts may change as long as every operation stays what it was; where one does not, those
//! that it comes from are named.

use super::read::OWN;
use super::{Code, Node, Part, Saved, Step};
use crate::base::{Place, Problem, Problems, problem::Kind};
use std::collections::{BTreeMap, BTreeSet};

/// Finds the place of a value as it is now: node, module or `deployment`, path.
pub type Places<'a> = dyn Fn(&str, &str, &[String]) -> Option<Place> + 'a;

/// One input that is not what it was.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Moved {
    what: String,
    place: Option<Place>,
    /// The node that it was seen on, where `what` does not say.
    node: Option<String>,
    note: Option<String>,
}

impl Moved {
    fn new(what: impl Into<String>) -> Moved {
        Moved { what: what.into(), ..Moved::default() }
    }
}

/// Another suil: what its operations call on the node came with it.
pub fn version(made_by: &str) -> Problem {
    Problem::new(format!("this is suil {OWN}, and the plan was made by suil {made_by}")).kind(Kind::Refused)
}

/// What can be seen before anything connects. `now` are the nodes that the selection of the plan gives today, as far
/// as the last probe of each tells.
///
/// # Errors
/// Everything that moved and must not, with the values that moved beside it.
pub fn before(saved: &Saved, now: &[Node], code: &BTreeMap<String, Code>, places: &Places<'_>) -> Result<(), Problems> {
    let mut moved = Vec::new();
    let mut values = Vec::new();
    if saved.suil != OWN {
        moved.push(Moved::new(version(&saved.suil).what));
    }
    moved.extend(modules(saved, code));
    for (was, is) in pairs(saved, now) {
        moved.extend(connection(was, is, places));
        // What the last probe said of the system may be old, and the modules and values come from it.
        if was.system == is.system {
            moved.extend(lists(was, is));
            values.extend(was.modules.iter().flat_map(|part| config(was, is, &part.name, places)));
        }
    }
    if moved.is_empty() {
        return Ok(());
    }
    moved.extend(values);
    Err(told(moved))
}

/// Whether the nodes that are selected today are those that were planned.
///
/// # Errors
/// Each node that came or went.
pub fn nodes(saved: &Saved, selected: &BTreeSet<String>, exists: &dyn Fn(&str) -> bool) -> Result<(), Problems> {
    let planned: BTreeSet<&String> = saved.nodes.iter().map(|node| &node.name).chain(saved.left_out.keys()).collect();
    let came = selected.iter().filter(|node| !planned.contains(node));
    let came = came.map(|node| Moved::new(format!("node `{node}` is selected now, and was not when planned")));
    let went = planned.iter().filter(|node| !selected.contains(**node)).map(|node| {
        Moved::new(match exists(node) {
            true => format!("node `{node}` is not selected any more"),
            false => format!("node `{node}` is not in the workspace any more"),
        })
    });
    let moved: Vec<Moved> = came.chain(went).collect();
    if moved.is_empty() { Ok(()) } else { Err(told(moved)) }
}

/// What can be seen once the nodes were asked; `now` are those that were reached.
///
/// # Errors
/// Everything that moved and matters.
pub fn after(saved: &Saved, now: &[Node], places: &Places<'_>) -> Result<(), Problems> {
    let mut moved = Vec::new();
    for (was, is) in pairs(saved, now) {
        let mut own = lists(was, is);
        if !same(was, is) {
            own.extend(operations(was, is, places));
        }
        moved.extend(own);
    }
    if moved.is_empty() { Ok(()) } else { Err(told(moved)) }
}

fn pairs<'a>(saved: &'a Saved, now: &'a [Node]) -> impl Iterator<Item = (&'a Node, &'a Node)> {
    let by_name: BTreeMap<&str, &Node> = now.iter().map(|node| (node.name.as_str(), node)).collect();
    saved.nodes.iter().filter_map(move |was| Some((was, *by_name.get(was.name.as_str())?)))
}

fn same(was: &Node, is: &Node) -> bool {
    was.operations.len() == is.operations.len()
        && was.operations.iter().zip(&is.operations).all(|(was, is)| was.sha256 == is.sha256)
}

/// Modules whose code is not what it was. Their data counts by its values, their requirements by the order of modules.
fn modules(saved: &Saved, now: &BTreeMap<String, Code>) -> Vec<Moved> {
    let code = |path: &&String| !path.starts_with("data/") && *path != "requires.yaml";
    let mut moved = Vec::new();
    for (name, was) in &saved.modules {
        let Some(is) = now.get(name) else {
            moved.push(Moved::new(format!("module `{name}` is gone since the plan was made")));
            continue;
        };
        let paths: BTreeSet<&String> = was.files.keys().chain(is.files.keys()).filter(code).collect();
        let changed: Vec<String> = paths
            .into_iter()
            .filter(|path| was.files.get(*path) != is.files.get(*path))
            .map(|path| match (was.files.contains_key(path), is.files.contains_key(path)) {
                (false, _) => format!("`{path}` is new"),
                (_, false) => format!("`{path}` is gone"),
                _ => format!("`{path}`"),
            })
            .collect();
        if !changed.is_empty() {
            let what = format!("module `{name}` changed since the plan was made: {}", listed(&changed));
            moved.push(Moved::new(what));
        }
    }
    moved
}

/// Where the node is and as whom it is entered.
fn connection(was: &Node, is: &Node, places: &Places<'_>) -> Vec<Moved> {
    let keys: BTreeSet<&String> = was.connection.keys().chain(is.connection.keys()).collect();
    let differ = keys.into_iter().filter(|key| was.connection.get(*key) != is.connection.get(*key));
    let shown = |node: &Node, key: &String| node.connection.get(key).map_or("not set".to_owned(), |v| format!("`{v}`"));
    differ
        .map(|key| {
            let (name, now, then) = (&is.name, shown(is, key), shown(was, key));
            let place = places(name, "deployment", std::slice::from_ref(key));
            let what = format!("node `{name}` is reached otherwise: `{key}` is {now}, and was {then} when planned");
            Moved { place, ..Moved::new(what) }
        })
        .collect()
}

/// The system and the modules of a node.
fn lists(was: &Node, is: &Node) -> Vec<Moved> {
    let mut moved = Vec::new();
    let name = &is.name;
    if was.system != is.system {
        moved.push(Moved::new(format!("node `{name}` is {}, and was {} when planned", is.system, was.system)));
    }
    let names = |node: &Node| node.modules.iter().map(|part| part.name.clone()).collect::<Vec<_>>();
    let (then, now) = (names(was), names(is));
    if then != now {
        let mut sorted = (then.clone(), now.clone());
        sorted.0.sort();
        sorted.1.sort();
        let what = match sorted.0 == sorted.1 {
            true => format!("the modules of node `{name}` come in another order than when planned"),
            false => format!("the modules of node `{name}` are not those that were planned"),
        };
        let note = format!("now {}; when planned {}", now.join(", "), then.join(", "));
        moved.push(Moved { note: Some(note), ..Moved::new(what) });
    }
    moved
}

/// The values of a module that are not what they were.
fn config(was: &Node, is: &Node, module: &str, places: &Places<'_>) -> Vec<Moved> {
    let find = |node: &'_ Node| node.modules.iter().position(|part| part.name == module);
    let (Some(then), Some(now)) =
        (find(was).and_then(|at| was.modules.get(at)), find(is).and_then(|at| is.modules.get(at)))
    else {
        return Vec::new();
    };
    let keys: BTreeSet<&String> = then.config.keys().chain(now.config.keys()).collect();
    let mut moved = Vec::new();
    for key in keys {
        let word = match (then.config.get(key), now.config.get(key)) {
            (Some(a), Some(b)) if a.digest == b.digest => continue,
            (Some(_), Some(_)) => "changed",
            (None, _) => "is new",
            (_, None) => "is gone",
        };
        let place = now.config.get(key).and_then(|value| places(&is.name, module, &value.path));
        let what = format!("`{key}` of module `{module}` {word} since the plan was made");
        moved.push(Moved { place, node: Some(is.name.clone()), ..Moved::new(what) });
    }
    moved
}

/// Why the operations of a node are not those that were planned.
fn operations(was: &Node, is: &Node, places: &Places<'_>) -> Vec<Moved> {
    let name = &is.name;
    if is.operations.is_empty() {
        return vec![Moved::new(format!("node `{name}` is already as planned: nothing is left of this plan"))];
    }
    let (gone, come) = (rest(&was.operations, &is.operations), rest(&is.operations, &was.operations));
    let touched: Vec<&Step> = gone.iter().chain(&come).copied().collect();
    let modules: BTreeSet<&str> = touched.iter().map(|step| step.module.as_str()).collect();
    let resources: BTreeSet<&str> = touched.iter().flat_map(|step| step.resources()).collect();
    let mut moved = inputs(was, is, modules, places);
    for resource in resources.into_iter().filter(|id| was.facts.get(*id) != is.facts.get(*id)) {
        // What nobody asked about is told by the value or the code that brought it.
        if was.facts.contains_key(resource) && is.facts.contains_key(resource) {
            moved.push(Moved::new(format!("`{resource}` on node `{name}` is not as when planned")));
        }
    }
    if was.role != is.role {
        moved.push(Moved::new(format!("the role of node `{name}` is `{}`, and was `{}`", is.role, was.role)));
    }
    if moved.is_empty() {
        // One module may decide what comes of another: both may want one file.
        moved = inputs(was, is, is.modules.iter().map(|part| part.name.as_str()), places);
    }
    if moved.is_empty() {
        moved.extend(plainly(name, was, is, &gone, &come));
    }
    moved
}

/// The values of modules, the facts of their collectors, and what earlier runs left for them.
fn inputs<'a>(was: &Node, is: &Node, modules: impl IntoIterator<Item = &'a str>, places: &Places<'_>) -> Vec<Moved> {
    modules
        .into_iter()
        .flat_map(|module| config(was, is, module, places).into_iter().chain(facts(was, is, module)))
        .collect()
}

/// Facts of a module's own collector, and what earlier runs left for it.
fn facts(was: &Node, is: &Node, module: &str) -> Vec<Moved> {
    let find = |node: &Node| node.modules.iter().find(|part| part.name == module).cloned().unwrap_or_default();
    let (then, now): (Part, Part) = (find(was), find(is));
    let name = &is.name;
    let keys: BTreeSet<&String> = then.collected.keys().chain(now.collected.keys()).collect();
    let differ = keys.into_iter().filter(|key| then.collected.get(*key) != now.collected.get(*key));
    let mut moved: Vec<Moved> = differ
        .map(|key| Moved::new(format!("the fact `{key}` of module `{module}` on node `{name}` is not as when planned")))
        .collect();
    if then.past != now.past {
        let what = format!("what earlier runs left for module `{module}` on node `{name}` is not as when planned");
        let note = format!("`facts/{name}/{module}.yaml` says which of its code was applied last, and what is owed");
        moved.push(Moved { note: Some(note), ..Moved::new(what) });
    }
    moved
}

/// The operations themselves, where no input tells why they differ.
fn plainly(name: &str, was: &Node, is: &Node, gone: &[&Step], come: &[&Step]) -> Vec<Moved> {
    if gone.is_empty() && come.is_empty() {
        return vec![Moved::new(format!("the operations of node `{name}` come in another order than planned"))];
    }
    let key = |step: &Step| (step.module.clone(), step.resource.clone());
    let number = |of: &Node, step: &Step| of.operations.iter().position(|o| o == step).map_or(0, |at| at + 1);
    let mut moved = Vec::new();
    for step in gone {
        let title = &step.title;
        let id = number(was, step);
        moved.push(Moved::new(match come.iter().find(|other| key(other) == key(step)) {
            Some(other) => {
                let fields: Vec<&str> = step.differing(other).collect();
                format!("operation {id} of node `{name}`, `{title}`, is another now: {}", fields.join(", "))
            }
            None => format!("operation {id} of node `{name}`, `{title}`, is not called for any more"),
        }));
    }
    for step in come.iter().filter(|step| !gone.iter().any(|other| key(other) == key(step))) {
        let id = number(is, step);
        moved.push(Moved::new(format!("operation {id} of node `{name}`, `{}`, was not planned", step.title)));
    }
    moved
}

/// The operations of `these` that have no equal in `those`, each equal counted once.
fn rest<'a>(these: &'a [Step], those: &[Step]) -> Vec<&'a Step> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for step in those {
        *counts.entry(&step.sha256).or_default() += 1;
    }
    these
        .iter()
        .filter(|step| match counts.get_mut(step.sha256.as_str()) {
            Some(left) if *left > 0 => {
                *left -= 1;
                false
            }
            _ => true,
        })
        .collect()
}

/// So many inputs are named; who changed more knows.
const NAMED: usize = 30;

/// What moved, as problems: what is seen on many nodes is told once.
fn told(moved: Vec<Moved>) -> Problems {
    let mut seen: Vec<(Moved, Vec<String>)> = Vec::new();
    for mut one in moved {
        let node = one.node.take();
        match seen.iter_mut().find(|(known, _)| *known == one) {
            Some((_, nodes)) => nodes.extend(node),
            None => seen.push((one, node.into_iter().collect())),
        }
    }
    let more = seen.len().saturating_sub(NAMED);
    let mut problems: Problems = seen
        .into_iter()
        .take(NAMED)
        .map(|(one, nodes)| {
            let mut problem = Problem::new(one.what).kind(Kind::Refused);
            problem.place = one.place;
            let nodes: Vec<String> = nodes.into_iter().map(|node| format!("`{node}`")).collect();
            let on = match nodes.as_slice() {
                [] => None,
                [node] => Some(format!("on node {node}")),
                many => Some(format!("on nodes {}", listed(many))),
            };
            one.note.into_iter().chain(on).fold(problem, Problem::note)
        })
        .collect();
    if more > 0 {
        problems.push(Problem::new(format!("{more} more inputs moved since the plan was made")).kind(Kind::Refused));
    }
    problems
}

/// The first few of many names.
fn listed(names: &[String]) -> String {
    const FEW: usize = 8;
    let shown: Vec<&str> = names.iter().take(FEW).map(String::as_str).collect();
    match names.len().saturating_sub(FEW) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
