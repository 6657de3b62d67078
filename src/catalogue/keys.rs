//! The top-level keys of layer files: names of modules, `deployment`, and the few that steer the run.

use super::hook;
use crate::base::{Problem, Problems, nearest::nearest};
use crate::data::{Tagged, library::Library};

/// What kind of layer a file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Module,
    Role,
    Node,
    Other,
}

/// Keys that the run sets itself.
const RESERVED: [&str; 7] = ["role", "modules", "family", "release", "facts", "name", "node"];

/// True for a key that steers the run and is no data.
pub fn steers(kind: Kind, key: &str) -> bool {
    match kind {
        Kind::Node => matches!(key, "role" | "modules"),
        Kind::Role => matches!(key, "modules" | "after") || hook::KEYS.contains(&key),
        Kind::Module | Kind::Other => false,
    }
}

/// Finds top-level keys that mean nothing in a file of this kind.
pub fn check(file: &Tagged, kind: Kind, library: &Library) -> Problems {
    let mut problems = Problems::new();
    for (key, member) in file.members() {
        let (key, place) = (&*key, member.key);
        if key == "deployment" || steers(kind, key) || library.get(key).is_some() || library.absent(key).is_some() {
            continue;
        }
        let what = match RESERVED.contains(&key) {
            true => format!("the key `{key}` is set by the run itself"),
            false => format!("unknown top-level key `{key}`"),
        };
        let problem = Problem::new(what).at(place);
        let problem = match (key, RESERVED.contains(&key)) {
            ("role", _) => problem.expected("expected it in node files only"),
            ("modules", _) => problem.expected("expected it in role and node files only"),
            (_, true) => problem.expected("expected no such key in a layer"),
            ("after", _) => problem.expected("expected it in role files only"),
            (hook, _) if hook::KEYS.contains(&hook) => {
                problem.expected("expected it in data/common.yaml and role files only")
            }
            ("hierarchy" | "recipients" | "runs", _) => problem.expected("expected it in data/common.yaml only"),
            _ => problem.expected("expected `deployment` or the name of a module"),
        };
        let steering = ["deployment", "role", "modules", "after"].into_iter().chain(hook::KEYS);
        let steering = steering.filter(|key| *key == "deployment" || steers(kind, key));
        let known = library.iter().map(|module| module.name.as_str()).chain(steering);
        problems.push(match nearest(key, known) {
            Some(near) if near != key => problem.help(format!("did you mean `{near}`?")),
            _ => problem,
        });
    }
    problems
}
