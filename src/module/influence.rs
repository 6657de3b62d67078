//! Which values of a config decide what a resource is like, found by trial: each value is changed in turn, the module is
//! asked again, and what comes out is compared. So what is named is true, however the code got from one to the other;
//! a value that matters only beyond a threshold can be missed.

use super::config::Private;
use super::origin::{Line, Makings, Origin};
use super::{Config, Module};
use crate::base::{Place, Plain};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::sync::Arc;

/// The module is asked at most so often.
const TRIALS: usize = 2000;

/// What a module may take for a family, where it takes no made-up one.
const FAMILIES: &[&str] = &["debian", "redhat", "suse", "alpine", "arch"];

/// The items of a list that is longer are tried together first.
const LONG: usize = 16;

/// What decides a resource.
#[derive(Clone, Debug, Default)]
pub struct Influences {
    /// In the order of the config.
    pub found: Vec<Influence>,
    /// Values that no trial tells about: the module takes no other value, or there are too many to try.
    pub unknown: Vec<Vec<String>>,
}

/// What one value of the config decides about a resource.
#[derive(Clone, Debug)]
pub struct Influence {
    /// The way to the value, without the module's name.
    pub path: Vec<String>,
    /// It decides whether the resource is there at all.
    pub existence: bool,
    /// The attributes of the wanted state that it changes, beside the content; `name` where it has another name.
    pub attributes: Vec<String>,
    /// Line numbers, from 0, with what it does to each.
    pub lines: Vec<(usize, Effect)>,
}

/// What another value does to a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Effect {
    /// The line says something else then.
    Text,
    /// The line is not there then.
    Presence,
    /// A line like it is not there then, and which of them is not told apart.
    Perhaps,
}

impl Influence {
    fn new(path: &[String]) -> Influence {
        Influence { path: path.to_vec(), existence: false, attributes: Vec::new(), lines: Vec::new() }
    }

    fn is_empty(&self) -> bool {
        !self.existence && self.attributes.is_empty() && self.lines.is_empty()
    }

    /// Joins what the trials gave. What a value inside this one decides is that value's own.
    fn settle(&mut self, found: &[Influence]) {
        self.lines.sort_unstable();
        self.lines.dedup_by_key(|(line, _)| *line);
        // The others come and go with it.
        if let Some(at) = self.attributes.iter().position(|name| name == "ensure") {
            self.attributes = vec![self.attributes.swap_remove(at)];
        }
        for inner in found.iter().filter(|inner| inner.path.starts_with(&self.path)) {
            self.lines.retain(|(line, _)| !inner.lines.iter().any(|(own, _)| own == line));
            self.attributes.retain(|name| !inner.attributes.contains(name));
            // A name that follows a value is there by it.
            self.existence &= !inner.existence && inner.attributes.is_empty();
        }
    }
}

impl Module {
    /// Finds what decides the resource at `at` of `makings`, which `config` gave.
    pub fn influences(&self, config: &Arc<Config>, makings: &Makings, at: usize) -> Influences {
        let Some(mine) = self.origin_of(makings, at) else { return Influences::default() };
        let trials = Trials { module: self, config, makings, at, mine, left: TRIALS, all: Influences::default() };
        trials.run()
    }
}

/// Trials with one resource in view.
struct Trials<'a> {
    module: &'a Module,
    config: &'a Arc<Config>,
    makings: &'a Makings,
    at: usize,
    mine: Origin,
    left: usize,
    all: Influences,
}

impl Trials<'_> {
    fn run(mut self) -> Influences {
        let config = Arc::clone(self.config);
        self.walk(&config.plain, &mut Vec::new());
        self.all
    }

    /// Tries the values inside `value`, then `value` itself.
    fn walk(&mut self, value: &Plain, path: &mut Vec<String>) {
        match value {
            Plain::Map(map) => {
                for (key, item) in map {
                    path.push(key.clone());
                    self.walk(item, path);
                    path.pop();
                }
            }
            Plain::List(list) => self.items(list, 0..list.len(), path),
            _ => {}
        }
        if !path.is_empty() {
            self.value(value, path);
        }
    }

    /// Tries the items of a list. Most items of a long one have nothing to do with one resource: where a change of all
    /// of them at once does nothing, they are not tried one by one.
    fn items(&mut self, list: &[Plain], range: std::ops::Range<usize>, path: &mut Vec<String>) {
        let open = |at: usize| {
            let path: Vec<String> = path.iter().cloned().chain([at.to_string()]).collect();
            !self.is_secret(&path)
        };
        // Of a secret it must be known what it does.
        if list.len() > LONG && !range.is_empty() && range.clone().all(open) {
            let mut plain = Plain::clone(&self.config.plain);
            if let Some(Plain::List(items)) = at_mut(&mut plain, path) {
                items.iter_mut().take(range.end).skip(range.start).for_each(change);
            }
            let mut influence = Influence::new(path);
            if self.differs(plain, &mut influence) && influence.is_empty() {
                return;
            }
        }
        if list.len() > LONG && range.len() > 1 {
            let middle = range.start + range.len() / 2;
            self.items(list, range.start..middle, path);
            self.items(list, middle..range.end, path);
            return;
        }
        for (at, item) in list.iter().enumerate().take(range.end).skip(range.start) {
            path.push(at.to_string());
            self.walk(item, path);
            path.pop();
        }
    }

    fn value(&mut self, value: &Plain, path: &[String]) {
        let mut influence = Influence::new(path);
        let mut answers = Vec::new();
        let secret = self.is_secret(path);
        let more: Vec<Plain> = match (path, value) {
            ([suil, family], _) if suil == "suil" && family == "family" => {
                FAMILIES.iter().copied().map(Plain::from).collect()
            }
            (_, Plain::Str(word)) if secret => vec![Plain::Str(other(word))],
            _ => Vec::new(),
        };
        for other in more.into_iter().filter(|other| other != value).chain(others(value)) {
            let mut plain = Plain::clone(&self.config.plain);
            if let Some(place) = at_mut(&mut plain, path) {
                *place = other;
                answers.push(self.differs(plain, &mut influence));
            }
        }
        // What is said of a secret decides what is shown: one trial alone may have left the part of it that matters.
        let answered = match secret {
            true => matches!(answers.as_slice(), [true, ..] | [_, true, true, ..]),
            false => answers.contains(&true),
        };
        // What is not given, or holds others, says nothing of its own.
        if !answered && !matches!(value, Plain::Null | Plain::List(_) | Plain::Map(_)) {
            self.all.unknown.push(path.to_vec());
        }
        influence.settle(&self.all.found);
        if !influence.is_empty() {
            self.all.found.push(influence);
        }
    }

    fn is_secret(&self, path: &[String]) -> bool {
        let keys: Vec<&str> = path.iter().map(String::as_str).collect();
        self.config.is_secret(&keys)
    }

    /// Enters what the resource is like with another config; false where the module does not take it.
    fn differs(&mut self, plain: Plain, influence: &mut Influence) -> bool {
        let changed = Config { plain: Private(plain), ..Config::clone(self.config) };
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let Ok(then) = self.module.make(&Arc::new(changed)) else { return false };
        // Another one took its name by chance: the two cannot be told apart.
        if then.count(&self.mine.resource.id()) > 1 {
            return false;
        }
        let beside = || {
            // Only its name is another: what stands at its place in a list that is alike otherwise.
            let other = then.resources.get(self.at)?;
            let same = then.resources.len() == self.makings.resources.len()
                && other.place() == self.mine.resource.place()
                && other.kind() == self.mine.resource.kind();
            same.then_some(self.at)
        };
        let other = then.position(&self.mine.resource.id()).or_else(beside);
        match other.and_then(|at| self.module.origin_of(&then, at)) {
            Some(other) => compare(&self.mine, &other, influence),
            None => influence.existence = true,
        }
        true
    }
}

/// Gives every value inside `value` another one.
fn change(value: &mut Plain) {
    match value {
        Plain::Map(map) => map.values_mut().for_each(change),
        Plain::List(list) => list.iter_mut().for_each(change),
        Plain::Null => {}
        value => *value = others(value).into_iter().next().unwrap_or_default(),
    }
}

/// Other values of the same type, and the one that counts as false.
fn others(value: &Plain) -> Vec<Plain> {
    let text = |text: &str| Plain::Str(text.to_owned());
    match value {
        Plain::Null => vec![text("x"), Plain::Int(1)],
        Plain::Bool(b) => vec![Plain::Bool(!b)],
        Plain::Int(n) => vec![Plain::Int(n.saturating_add(1)), Plain::Int(0)],
        Plain::Float(x) => vec![Plain::Float(x + 1.0), Plain::Float(0.0)],
        Plain::Str(word) => vec![text(&shifted(word)), text(&beside(word)), text("")],
        Plain::List(list) if list.is_empty() => vec![Plain::List(vec![text("x")])],
        Plain::List(_) => vec![Plain::List(Vec::new())],
        Plain::Map(map) if map.is_empty() => vec![Plain::from_iter([("x", text("x"))])],
        Plain::Map(_) => vec![Plain::map()],
    }
}

/// A text of the same shape whose every letter and digit is another, so that it differs in each of its parts.
fn shifted(word: &str) -> String {
    let next = |c: char| match c {
        'z' => 'a',
        'Z' => 'A',
        '9' => '0',
        c if c.is_ascii_alphanumeric() => char::from_u32(c as u32 + 1).unwrap_or(c),
        c if c.is_alphanumeric() => 'x',
        c => c,
    };
    word.chars().map(next).collect()
}

/// A text of the same length that has no character in common with `word` at any place.
fn other(word: &str) -> String {
    word.chars().map(|c| if c == 'x' { 'y' } else { 'x' }).collect()
}

/// A mode, a port and an address stay one; anything else gets a letter more.
fn beside(word: &str) -> String {
    let mut chars = word.chars();
    match chars.next_back() {
        Some(last @ '0'..='9') if word.chars().all(|c| c.is_ascii_digit() || ".:/".contains(c)) => {
            format!("{}{}", chars.as_str(), if last == '0' { '1' } else { '0' })
        }
        _ => format!("{word}x"),
    }
}

fn at_mut<'a>(value: &'a mut Plain, path: &[String]) -> Option<&'a mut Plain> {
    path.iter().try_fold(value, |value, key| match value {
        Plain::Map(map) => map.get_mut(key),
        Plain::List(list) => list.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Enters how `other` differs from `mine`.
fn compare(mine: &Origin, other: &Origin, influence: &mut Influence) {
    let (before, after) = (mine.resource.wanted(), other.resource.wanted());
    let none = indexmap::IndexMap::new();
    let (before, after) = (before.as_map().unwrap_or(&none), after.as_map().unwrap_or(&none));
    let named = |name: &&String| before.get(*name).and_then(Plain::as_str) == Some(mine.resource.name());
    let of_its_own = |name: &&String| *name != "sha256" && !named(name);
    let mut names: Vec<&str> = before.keys().chain(after.keys()).filter(of_its_own).map(String::as_str).collect();
    names.retain(|name| before.get(*name) != after.get(*name));
    if other.resource.name() != mine.resource.name() {
        names.push("name");
    }
    if mine.lines.is_empty() && before.get("sha256") != after.get("sha256") {
        names.push("content");
    }
    for name in names {
        if !influence.attributes.iter().any(|known| known == name) {
            influence.attributes.push(name.to_owned());
        }
    }
    influence.lines.extend(differing(&mine.lines, &other.lines));
}

/// A line as it is compared: two lines alike from different lines of a template are not the same.
type Token<'a> = (&'a str, Vec<(crate::base::FileId, u32)>);

fn token(line: &Line) -> Token<'_> {
    (&line.text, line.places.iter().map(|place: &Place| (place.file, place.line)).collect())
}

/// What became of the lines `now`.
fn differing(now: &[Line], then: &[Line]) -> Vec<(usize, Effect)> {
    let (before, after): (Vec<Token>, Vec<Token>) = (now.iter().map(token).collect(), then.iter().map(token).collect());
    let alike = |(a, b): (&Token, &Token)| a.1 == b.1;
    if before.len() == after.len() && before.iter().zip(&after).all(alike) {
        let pairs = before.iter().zip(&after).enumerate().filter(|(_, (a, b))| a != b);
        return pairs.map(|(at, _)| (at, Effect::Text)).collect();
    }
    let mut out = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
        let (old, new) = match op {
            DiffOp::Equal { .. } | DiffOp::Insert { .. } => continue,
            DiffOp::Delete { old_index, old_len, .. } => (old_index..old_index + old_len, 0..0),
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                (old_index..old_index + old_len, new_index..new_index + new_len)
            }
        };
        let new = after.get(new).unwrap_or_default();
        for (nth, (at, mine)) in before.iter().enumerate().skip(old.start).take(old.len()).enumerate() {
            let says_other = match mine.1.is_empty() {
                true => nth < new.len(),
                false => new.iter().any(|token| token.1 == mine.1),
            };
            match (says_other, after.contains(mine)) {
                (true, _) => out.push((at, Effect::Text)),
                (false, false) => out.push((at, Effect::Presence)),
                // Which of several equal lines went away, nothing tells.
                (false, true) => {
                    let equal = before.iter().enumerate().filter(|(_, token)| *token == mine);
                    out.extend(equal.map(|(at, _)| (at, Effect::Perhaps)));
                }
            }
        }
    }
    out
}
