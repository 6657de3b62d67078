//! Describes nodes for a saved plan: as they are expected before anything connects, and as they were found.

use super::gather::{Gathered, past};
use super::{Options, Prepared, Setup};
use crate::base::{Mask, Place, Problem, digest};
use crate::catalogue::Entry;
use crate::node::{Raise, Target, Transport};
use crate::plan::saved::{Asked, Code, Node, View};
use std::collections::{BTreeMap, BTreeSet};

/// How each node is reached, by its name.
pub type Connections = BTreeMap<String, BTreeMap<String, String>>;

/// The settings of each node that say where it is and as whom it is entered.
pub fn connections(prepared: &[Prepared], mask: &Mask) -> Connections {
    prepared.iter().map(|one| (one.entry.name.to_string(), connection(&one.target, mask))).collect()
}

/// A command and an option may hold more than a person should read, so that they stand as digests.
fn connection(target: &Target, mask: &Mask) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    let mut set = |key: &str, value: String| map.insert(key.to_owned(), mask.apply(&value));
    let sealed = |words: &[String]| digest::sha256(words.join("\0").as_bytes());
    let transport = match target.transport {
        Transport::Openssh => "openssh",
        Transport::Russh => "russh",
        Transport::Local => "local",
        Transport::Exec => "exec",
    };
    let ssh = matches!(target.transport, Transport::Openssh | Transport::Russh);
    set("transport", transport.to_owned());
    set(
        "sudo",
        match target.raise {
            Raise::Sudo => "sudo".to_owned(),
            Raise::Doas => "doas".to_owned(),
            Raise::No => "no".to_owned(),
        },
    );
    if ssh {
        set("ssh_host", target.host.clone());
        set("ssh_port", target.port.map_or("not set".to_owned(), |port| port.to_string()));
        set("ssh_user", target.user.clone().unwrap_or_else(|| "not set".to_owned()));
        let elsewhere: Vec<String> = target.options.iter().filter(|option| leads(option)).cloned().collect();
        if !elsewhere.is_empty() {
            set("ssh_options", sealed(&elsewhere));
        }
    }
    if target.transport == Transport::Exec {
        set("exec", sealed(&target.exec));
    }
    map
}

/// Options of ssh that lead to another machine or to another login.
const LEADING: [&str; 7] = ["hostname", "port", "user", "proxyjump", "proxycommand", "hostkeyalias", "remotecommand"];

fn leads(option: &str) -> bool {
    let name: String = option.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
    LEADING.contains(&name.to_ascii_lowercase().as_str())
}

/// The nodes as far as they are known without asking them; one that was never probed has no modules yet.
pub fn expected(prepared: &[Prepared], connections: &Connections) -> Vec<Node> {
    let none = BTreeMap::new();
    let node = |one: &Prepared| {
        let connection = connections.get(&*one.entry.name).unwrap_or(&none);
        match &one.intent {
            Some(intent) => Node::expected(&View { entry: &one.entry, connection, intent }),
            None => Node { name: one.entry.name.to_string(), connection: connection.clone(), ..Node::default() },
        }
    };
    prepared.iter().map(node).collect()
}

impl Gathered {
    /// The nodes that were reached, with what was read of them and what is planned on them.
    pub fn found(&self, connections: &Connections, options: &Options, mask: &Mask) -> Vec<Node> {
        let none = BTreeMap::new();
        let nodes = self.nodes.iter().zip(&self.plan.nodes);
        nodes
            .filter_map(|((name, ready), plan)| {
                let ready = ready.as_ref().ok()?;
                let connection = connections.get(name).unwrap_or(&none);
                let view = View { entry: &ready.entry, connection, intent: &ready.intent };
                let past = |part: &crate::plan::Part| past(part, ready.recorded.get(&part.name), options);
                let asked = Asked { facts: &ready.facts, collected: &ready.collected, past: &past, plan };
                Some(Node::found(&view, &asked, mask))
            })
            .collect()
    }

    /// The entries of the nodes that were reached.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.nodes.iter().filter_map(|(_, ready)| ready.as_ref().ok()).map(|ready| &ready.entry)
    }

    /// The nodes that could not be planned, and why.
    pub fn missed(&self) -> BTreeMap<String, String> {
        let missed = self.nodes.iter().filter_map(|(node, ready)| Some((node, ready.as_ref().err()?)));
        let why = |outcome: &super::Outcome| outcome.problems().first().map(|problem| problem.what.clone());
        missed.map(|(node, outcome)| (node.clone(), why(outcome).unwrap_or_default())).collect()
    }
}

impl Setup {
    /// The code of these modules.
    ///
    /// # Errors
    /// A file of a module cannot be read.
    pub fn code<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> Result<BTreeMap<String, Code>, Problem> {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let modules = names.into_iter().filter_map(|name| self.modules.get(name));
        modules
            .map(|module| {
                let code = Code { signature: module.signature()?, files: module.digests()? };
                Ok((module.name().to_owned(), code))
            })
            .collect()
    }
}

/// Where a value of a node stands in its layers now; `module` may be `deployment`, too.
pub fn place<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    node: &str,
    module: &str,
    path: &[String],
) -> Option<Place> {
    let entry = entries.into_iter().find(|entry| &*entry.name == node)?;
    let path: Vec<&str> = std::iter::once(module).chain(path.iter().map(String::as_str)).collect();
    entry.at(&path).map(|value| value.place)
}
