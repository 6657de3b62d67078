//! In which order a run comes to its nodes: waves, one after the other, and when the rest is left alone.

use crate::base::{Mask, Plain};
use crate::catalogue::{Hook, Hooks, Sequence};
use std::collections::{BTreeMap, BTreeSet};

/// A number of nodes, or a share of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Share {
    Nodes(usize),
    Percent(usize),
}

impl Share {
    /// Reads `3` or `25%`.
    pub fn parse(text: &str) -> Option<Share> {
        let number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
        match text.strip_suffix('%') {
            Some(digits) => number(digits).filter(|percent| *percent <= 100).map(Share::Percent),
            None => number(text).map(Share::Nodes),
        }
    }

    /// So many of `total` as a batch has: at least one, a share rounded up.
    pub fn of_batch(self, total: usize) -> usize {
        match self {
            Share::Nodes(n) => n.max(1),
            Share::Percent(percent) => total.saturating_mul(percent).div_ceil(100).max(1),
        }
    }

    /// So many of `total` may fail: a share rounded down.
    pub fn of_failures(self, total: usize) -> usize {
        match self {
            Share::Nodes(n) => n,
            Share::Percent(percent) => total.saturating_mul(percent) / 100,
        }
    }
}

/// How a run goes over its nodes.
#[derive(Clone, Default, Debug)]
pub struct Roll {
    /// One after the other; none: all nodes at once.
    pub waves: Vec<Wave>,
    /// Once more nodes than this have failed, no further wave begins; `None`: whatever fails.
    pub most_failures: Option<usize>,
}

/// Nodes that are worked on together.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Wave {
    /// By the name of the role.
    pub parts: Vec<Part>,
}

/// The nodes of a wave that have one role.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Part {
    pub role: String,
    /// The roles that come before this one.
    pub after: BTreeSet<String>,
    pub nodes: Vec<String>,
    pub hooks: Hooks,
}

/// Roles of a wave that share their hooks, with those of their nodes that have operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group<'a> {
    pub roles: Vec<&'a str>,
    pub nodes: Vec<&'a str>,
    pub hooks: &'a Hooks,
}

impl Roll {
    /// Deals nodes, each with its role, into waves. Roles come in the order of their `after`, those of the same height
    /// by name, and no wave holds two of which one comes after the other.
    ///
    /// A number counts the nodes of a wave. A percentage counts within each role, so that no role ever misses a
    /// larger share of its nodes.
    pub fn new<'a>(
        nodes: impl IntoIterator<Item = (&'a str, &'a str)>,
        sequence: &Sequence,
        hooks: &BTreeMap<String, Hooks>,
        batch: Option<Share>,
        max_failures: Option<Share>,
    ) -> Roll {
        let mut roles: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        nodes.into_iter().for_each(|(node, role)| roles.entry(role).or_default().push(node));
        let total = roles.values().map(Vec::len).sum();
        let mut roll = Roll { most_failures: max_failures.map(|most| most.of_failures(total)), ..Roll::default() };
        if batch.is_some() {
            roll.most_failures.get_or_insert(0);
        }
        for layer in layers(roles.keys().copied().collect(), sequence) {
            let layer: Vec<(&str, &[&str])> =
                layer.into_iter().filter_map(|role| Some((role, roles.get(role)?.as_slice()))).collect();
            roll.waves.extend(deal(&layer, batch, sequence));
        }
        for part in roll.waves.iter_mut().flat_map(|wave| &mut wave.parts) {
            part.hooks = hooks.get(&part.role).cloned().unwrap_or_default();
        }
        roll
    }

    /// `[{batch, roles, nodes, hooks: [{hook, roles, nodes, command, timeout, place}]}]`; `works` says which nodes have
    /// operations.
    pub fn to_plain(&self, mask: &Mask, works: &dyn Fn(&str) -> bool) -> Plain {
        let hook = |name: &str, group: &Group<'_>, hook: &Hook| {
            Plain::from_iter([
                ("hook", Plain::from(name)),
                ("roles", group.roles.iter().map(|role| Plain::from(*role)).collect()),
                ("nodes", group.nodes.iter().map(|node| Plain::from(*node)).collect()),
                ("command", hook.words.iter().map(|word| Plain::Str(mask.apply(word))).collect()),
                ("timeout", Plain::Int(hook.timeout.as_secs().try_into().unwrap_or(i64::MAX))),
                ("place", Plain::from(hook.place.to_string())),
            ])
        };
        let wave = |(n, wave): (usize, &Wave)| {
            let groups = wave.groups(works);
            let before = groups.iter().filter_map(|g| g.hooks.before.as_ref().map(|h| hook("before_batch", g, h)));
            let after = groups.iter().filter_map(|g| g.hooks.after.as_ref().map(|h| hook("after_batch", g, h)));
            Plain::from_iter([
                ("batch", Plain::from(n + 1)),
                ("roles", wave.parts.iter().map(|part| Plain::from(&part.role)).collect()),
                ("nodes", wave.nodes().map(Plain::from).collect()),
                ("hooks", before.chain(after).collect()),
            ])
        };
        self.waves.iter().enumerate().map(wave).collect()
    }
}

impl Wave {
    /// All nodes, whatever their roles.
    pub fn of(nodes: &[String]) -> Wave {
        Wave { parts: vec![Part { nodes: nodes.to_vec(), ..Part::default() }] }
    }

    pub fn nodes(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().flat_map(|part| &part.nodes).map(String::as_str)
    }

    /// The nodes that work and have hooks, those of roles with the same hooks together.
    pub fn groups(&self, works: impl Fn(&str) -> bool) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for part in self.parts.iter().filter(|part| !part.hooks.is_empty()) {
            let nodes: Vec<&str> = part.nodes.iter().map(String::as_str).filter(|node| works(node)).collect();
            if nodes.is_empty() {
                continue;
            }
            match groups.iter_mut().find(|group| *group.hooks == part.hooks) {
                Some(group) => {
                    group.roles.push(&part.role);
                    group.nodes.extend(nodes);
                }
                None => groups.push(Group { roles: vec![&part.role], nodes, hooks: &part.hooks }),
            }
        }
        groups
    }
}

/// The roles by height: the first layer comes after none of the others, each further one after one before.
fn layers<'a>(mut open: BTreeSet<&'a str>, sequence: &Sequence) -> Vec<BTreeSet<&'a str>> {
    let mut layers = Vec::new();
    while !open.is_empty() {
        let free = |role: &&&str| !sequence.before(role).any(|other| open.contains(other));
        let mut layer: BTreeSet<&str> = open.iter().filter(free).copied().collect();
        if layer.is_empty() {
            // A cycle: it was refused when the sequence was read.
            layer = open.clone();
        }
        open.retain(|role| !layer.contains(role));
        layers.push(layer);
    }
    layers
}

fn deal(layer: &[(&str, &[&str])], batch: Option<Share>, sequence: &Sequence) -> Vec<Wave> {
    let part = |role: &str, nodes: &[&str]| Part {
        role: role.to_owned(),
        after: sequence.before(role).map(str::to_owned).collect(),
        nodes: nodes.iter().map(|node| (*node).to_owned()).collect(),
        hooks: Hooks::default(),
    };
    match batch {
        None => vec![Wave { parts: layer.iter().map(|(role, nodes)| part(role, nodes)).collect() }],
        Some(share @ Share::Percent(_)) => {
            let mut waves: Vec<Wave> = Vec::new();
            for (role, nodes) in layer {
                for (n, nodes) in nodes.chunks(share.of_batch(nodes.len())).enumerate() {
                    if n == waves.len() {
                        waves.push(Wave::default());
                    }
                    waves.iter_mut().skip(n).take(1).for_each(|wave| wave.parts.push(part(role, nodes)));
                }
            }
            waves
        }
        Some(share) => {
            let all: Vec<(&str, &str)> =
                layer.iter().flat_map(|(role, nodes)| nodes.iter().map(|node| (*role, *node))).collect();
            let wave = |dealt: &[(&str, &str)]| Wave {
                parts: dealt
                    .chunk_by(|a, b| a.0 == b.0)
                    .filter_map(|dealt| {
                        let nodes: Vec<&str> = dealt.iter().map(|(_, node)| *node).collect();
                        dealt.first().map(|(role, _)| part(role, &nodes))
                    })
                    .collect(),
            };
            all.chunks(share.of_batch(all.len())).map(wave).collect()
        }
    }
}

#[cfg(test)]
#[path = "wave_test.rs"]
mod tests;
