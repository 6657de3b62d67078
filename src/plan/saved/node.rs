//! What a saved plan says of one node: where and what it is, what the plan rests on, and the operations.

use super::{Step, seal, short};
use crate::base::{Mask, Plain};
use crate::catalogue::Entry;
use crate::plan::intent::Part as IntentPart;
use crate::plan::{Collected, Force, Intent, NodePlan, Operation, Past};
use crate::resource::{Answer, Facts, Resource};
use std::collections::BTreeMap;

/// One node, once as it was when planned and once as it is now.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub name: String,
    pub role: String,
    /// `debian 12`; empty while the node was never probed.
    pub system: String,
    /// How it is reached: each setting that says where it is and as whom, as text or as a digest.
    pub connection: BTreeMap<String, String>,
    /// In run order.
    pub modules: Vec<Part>,
    /// A digest of all that was read of each resource.
    pub facts: BTreeMap<String, String>,
    pub operations: Vec<Step>,
}

/// One module on one node.
#[derive(Clone, Debug, Default)]
pub struct Part {
    pub name: String,
    /// Each value of the public config, by its dotted path.
    pub config: BTreeMap<String, Value>,
    /// A digest of each fact of the module's own collector.
    pub collected: BTreeMap<String, String>,
    /// A digest of what earlier runs left: a signature that is not the present one, reactions that are owed.
    pub past: String,
}

/// One value of a config.
#[derive(Clone, Debug, Default)]
pub struct Value {
    pub digest: String,
    /// The way to it, where the dotted path could mean several. Not in the file.
    pub path: Vec<String>,
}

/// What a node is described from.
pub struct View<'a> {
    pub entry: &'a Entry,
    pub connection: &'a BTreeMap<String, String>,
    pub intent: &'a Intent,
}

/// What is known of a node only once it was asked.
pub struct Asked<'a> {
    pub facts: &'a Facts,
    pub collected: &'a Collected,
    pub past: &'a dyn Fn(&IntentPart) -> Past,
    pub plan: &'a NodePlan,
}

impl Node {
    /// What can be said without asking the node.
    pub fn expected(view: &View<'_>) -> Node {
        let entry = view.entry;
        let system = [entry.family().map(str::to_owned), entry.release()];
        Node {
            name: entry.name.to_string(),
            role: entry.role.to_string(),
            system: system.into_iter().flatten().collect::<Vec<_>>().join(" "),
            connection: view.connection.clone(),
            modules: view.intent.parts.iter().map(Part::expected).collect(),
            ..Node::default()
        }
    }

    /// All of it.
    pub fn found(view: &View<'_>, asked: &Asked<'_>, mask: &Mask) -> Node {
        let mut node = Node::expected(view);
        for (part, own) in view.intent.parts.iter().zip(&mut node.modules) {
            if let Some(Ok(facts)) = asked.collected.get(&part.name) {
                own.collected = digests(facts);
            }
            own.past = past((asked.past)(part));
            for resource in &part.resources {
                node.facts.insert(mask.apply(&resource.id().0), answers(&**resource, asked.facts));
            }
        }
        let resources = view.intent.parts.iter().flat_map(|part| &part.resources);
        let contents: BTreeMap<String, String> =
            resources.filter_map(|resource| Some((resource.id().0, content(&**resource, asked.facts)?))).collect();
        let step = |operation: &Operation| {
            let replaces = operation.resources.iter().filter_map(|id| contents.get(id)).map(Plain::from);
            Step::of(operation, replaces.collect(), mask)
        };
        node.operations = asked.plan.operations.iter().map(step).collect();
        node
    }

    pub(super) fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("node", Plain::from(&self.name)),
            ("role", Plain::from(&self.role)),
            ("system", Plain::from(&self.system)),
            ("connection", map(&self.connection)),
            ("modules", self.modules.iter().map(Part::to_plain).collect()),
            ("facts", map(&self.facts)),
            ("operations", self.operations.iter().map(Step::to_plain).collect()),
        ])
    }
}

impl Part {
    fn expected(part: &IntentPart) -> Part {
        let mut config = BTreeMap::new();
        // What suil itself says of the node stands beside the modules.
        for (key, value) in part.config.public.as_map().into_iter().flatten().filter(|(key, _)| *key != "suil") {
            spread(&mut vec![key.clone()], value, &mut config);
        }
        Part { name: part.name.clone(), config, ..Part::default() }
    }

    fn to_plain(&self) -> Plain {
        let config = self.config.iter().map(|(path, value)| (path.clone(), Plain::from(&value.digest))).collect();
        Plain::from_iter([
            ("module", Plain::from(&self.name)),
            ("config", config),
            ("collected", map(&self.collected)),
            ("past", Plain::from(&self.past)),
        ])
    }
}

fn map(texts: &BTreeMap<String, String>) -> Plain {
    texts.iter().map(|(key, text)| (key.clone(), Plain::from(text))).collect()
}

/// Each value below `value` with its path; what is empty is a value, too.
fn spread(path: &mut Vec<String>, value: &Plain, out: &mut BTreeMap<String, Value>) {
    let mut below = |key: String, value: &Plain| {
        path.push(key);
        spread(path, value, out);
        path.pop();
    };
    match value {
        Plain::Map(entries) if !entries.is_empty() => entries.iter().for_each(|(key, v)| below(key.clone(), v)),
        Plain::List(items) if !items.is_empty() => {
            items.iter().enumerate().for_each(|(at, v)| below(at.to_string(), v));
        }
        leaf => {
            let digest = short(leaf.to_json_line().as_bytes());
            out.insert(path.join("."), Value { digest, path: path.clone() });
        }
    }
}

fn digests(facts: &Plain) -> BTreeMap<String, String> {
    let entries = facts.as_map().into_iter().flatten();
    entries.map(|(key, value)| (key.clone(), seal(value).chars().take(16).collect())).collect()
}

/// What was answered, not what was asked: a question may hold the wanted state, as that about a file does.
fn answers(resource: &dyn Resource, facts: &Facts) -> String {
    let mut text = Vec::new();
    for request in resource.requests() {
        let about = request.args.first().map(String::as_str).unwrap_or_default();
        text.extend(format!("{} {about:?}\n", request.kind).into_bytes());
        match facts.get(&request) {
            Some(Answer::Known(fields)) => {
                // The content comes only where it is not the wanted one; its digest says as much.
                let told = |name: &str| name != "content" || fields.bytes("sha256").is_none();
                for (name, value) in fields.0.iter().filter(|(name, _)| told(name)) {
                    text.extend(format!("{name} {}\n", value.len()).into_bytes());
                    text.extend(value);
                }
            }
            Some(Answer::Unknown(words)) => text.extend(format!("unknown {words}\n").into_bytes()),
            None => {}
        }
    }
    short(&text)
}

/// The digest of the content that a path has now.
fn content(resource: &dyn Resource, facts: &Facts) -> Option<String> {
    let requests = resource.requests();
    let own =
        requests.iter().find(|r| r.kind == "path" && r.args.first().is_some_and(|path| path == resource.name()))?;
    facts.known(own).ok()?.text("sha256")
}

/// Empty where nothing was left, which is the rule.
fn past(past: Past) -> String {
    let force = match past.force {
        Force::No if past.owed.is_empty() => return String::new(),
        Force::No => "no",
        Force::Changed => "changed",
        Force::Asked => "asked",
    };
    let owed = past.owed.into_iter().map(|(id, why)| (id, Plain::from(why))).collect::<Plain>();
    short(format!("{force} {}", owed.to_json_line()).as_bytes())
}
