//! Which values of a config decide what a resource is like, found by trial: each value is changed in turn, the module is
//! asked again, and what comes out is compared. So what is named is true, however the code got from one to the other;
//! a value that matters only beyond a threshold can be missed.

use super::config::Private;
use super::origin::{Line, Origin};
use super::{Config, Module};
use crate::base::{Place, Plain};
use crate::resource::Id;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::sync::Arc;

/// The module is asked at most so often.
const TRIALS: usize = 4000;

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
    /// It decides whether the resource is there at all, or its name.
    pub existence: bool,
    /// The attributes of the wanted state that it changes, beside the content.
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
}

impl Influence {
    fn is_empty(&self) -> bool {
        !self.existence && self.attributes.is_empty() && self.lines.is_empty()
    }
}

impl Module {
    /// Finds what decides the resource `id`, one of `origins`.
    pub fn influences(&self, config: &Arc<Config>, origins: &[Origin], id: &Id) -> Influences {
        let mut all = Influences::default();
        let Some(at) = origins.iter().position(|origin| origin.resource.id() == *id) else { return all };
        let mut paths = Vec::new();
        leaves(&config.plain, &mut Vec::new(), &mut paths);
        let mut trials = 0;
        for path in paths {
            let mut influence =
                Influence { path: path.clone(), existence: false, attributes: Vec::new(), lines: Vec::new() };
            let mut answered = false;
            let keys: Vec<&str> = path.iter().map(String::as_str).collect();
            for other in config.plain.at(&keys).map(others).unwrap_or_default() {
                trials += 1;
                if trials > TRIALS {
                    break;
                }
                let Some(changed) = with(config, &keys, other) else { continue };
                let Ok(then) = self.origins(&Arc::new(changed)) else { continue };
                answered = true;
                compare(origins, at, &then, &mut influence);
            }
            if !answered {
                all.unknown.push(path);
            } else if !influence.is_empty() {
                influence.lines.sort_unstable();
                influence.lines.dedup_by_key(|(line, _)| *line);
                all.found.push(influence);
            }
        }
        all
    }
}

/// The paths of all values that hold no others.
fn leaves(value: &Plain, path: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    let below: Vec<(String, &Plain)> = match value {
        Plain::Map(map) => map.iter().map(|(key, item)| (key.clone(), item)).collect(),
        Plain::List(list) => list.iter().enumerate().map(|(at, item)| (at.to_string(), item)).collect(),
        _ => Vec::new(),
    };
    if below.is_empty() && !path.is_empty() {
        out.push(path.clone());
    }
    for (key, item) in below {
        path.push(key);
        leaves(item, path, out);
        path.pop();
    }
}

/// Other values of the same type: one beside it, and one that counts as false.
fn others(value: &Plain) -> Vec<Plain> {
    let text = |text: &str| Plain::Str(text.to_owned());
    match value {
        Plain::Null => vec![text("x"), Plain::Int(1)],
        Plain::Bool(b) => vec![Plain::Bool(!b)],
        Plain::Int(n) => vec![Plain::Int(n.saturating_add(1)), Plain::Int(0)],
        Plain::Float(x) => vec![Plain::Float(x + 1.0), Plain::Float(0.0)],
        Plain::Str(word) => vec![text(&format!("{word}x")), text("")],
        Plain::List(_) => vec![Plain::List(vec![text("x")])],
        Plain::Map(_) => Vec::new(),
    }
}

fn with(config: &Config, path: &[&str], other: Plain) -> Option<Config> {
    let mut plain = Plain::clone(&config.plain);
    *at_mut(&mut plain, path)? = other;
    Some(Config { plain: Private(plain), ..config.clone() })
}

fn at_mut<'a>(value: &'a mut Plain, path: &[&str]) -> Option<&'a mut Plain> {
    path.iter().try_fold(value, |value, key| match value {
        Plain::Map(map) => map.get_mut(*key),
        Plain::List(list) => list.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Enters how the resource at `at` differs in `then`.
fn compare(now: &[Origin], at: usize, then: &[Origin], influence: &mut Influence) {
    let Some(mine) = now.get(at) else { return };
    let other = match then.iter().find(|origin| origin.resource.id() == mine.resource.id()) {
        Some(other) => other,
        None => {
            influence.existence = true;
            // Only its name is another: what stands at its place in a list that is alike otherwise.
            let beside = then.get(at).filter(|other| {
                then.len() == now.len() && other.steps.first().map(|s| s.place) == mine.steps.first().map(|s| s.place)
            });
            match beside {
                Some(other) => other,
                None => return,
            }
        }
    };
    let (before, after) = (mine.resource.wanted(), other.resource.wanted());
    let none = indexmap::IndexMap::new();
    let (before, after) = (before.as_map().unwrap_or(&none), after.as_map().unwrap_or(&none));
    for name in before.keys().chain(after.keys()).filter(|name| *name != "sha256") {
        if before.get(name) != after.get(name) && !influence.attributes.contains(name) {
            influence.attributes.push(name.clone());
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
    let mut out = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
        match op {
            DiffOp::Equal { .. } | DiffOp::Insert { .. } => {}
            DiffOp::Delete { old_index, old_len, .. } => {
                out.extend((old_index..old_index + old_len).map(|at| (at, Effect::Presence)));
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                let new: Vec<&Token> = after.iter().skip(new_index).take(new_len).collect();
                for at in old_index..old_index + old_len {
                    let same = |token: &&Token| before.get(at).is_some_and(|mine| mine.1 == token.1);
                    let text = old_len == new_len || new.iter().any(|token| same(&token) && !token.1.is_empty());
                    out.push((at, if text { Effect::Text } else { Effect::Presence }));
                }
            }
        }
    }
    out
}
