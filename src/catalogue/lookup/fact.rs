//! Paths into the facts of a module.

use crate::base::Plain;
use std::collections::BTreeSet;

/// Walks a dotted path, and returns what is there with the keys that lead there. Keys may hold dots: `a.b` leads to
/// `{a: {b: …}}` and to `{a.b: …}`, to the former where both are there.
pub fn reach<'a>(facts: &'a Plain, path: &str) -> Option<(&'a Plain, Vec<String>)> {
    let words: Vec<&str> = path.split('.').filter(|word| !word.is_empty()).collect();
    let mut way = Vec::new();
    walk(facts, &words, &mut way).map(|found| (found, way))
}

fn walk<'a>(value: &'a Plain, words: &[&str], way: &mut Vec<String>) -> Option<&'a Plain> {
    if words.is_empty() {
        return Some(value);
    }
    // The whole of a long path is no key of a module that has none with dots.
    let most = match value {
        Plain::Map(map) if map.keys().any(|key| key.contains('.')) => words.len(),
        _ => 1,
    };
    for count in 1..=most {
        let (head, rest) = words.split_at_checked(count)?;
        let key = head.join(".");
        let next = match value {
            Plain::Map(map) => map.get(&key),
            Plain::List(list) => key.parse::<usize>().ok().and_then(|at| list.get(at)),
            _ => None,
        };
        let Some(next) = next else { continue };
        way.push(key);
        if let Some(found) = walk(next, rest, way) {
            return Some(found);
        }
        way.pop();
    }
    None
}

/// True where the facts call an output of a layer sensitive.
pub fn is_sensitive(facts: &Plain, layer: &str, output: &str) -> bool {
    let names = facts.at(&["layers", layer, "sensitive"]).and_then(Plain::as_list).unwrap_or_default();
    names.iter().any(|name| name.as_str() == Some(output))
}

/// So many fields of one module are looked at for a guess.
const FIELDS: usize = 1000;

/// Adds the dotted paths of the plain values in `value`, down to three keys.
pub fn fields(value: &Plain, above: &str, out: &mut BTreeSet<String>) {
    below(value, above, 3, out);
}

fn below(value: &Plain, above: &str, depth: usize, out: &mut BTreeSet<String>) {
    match value {
        Plain::Map(map) if depth > 0 => {
            map.iter().for_each(|(key, value)| below(value, &format!("{above}.{key}"), depth - 1, out));
        }
        Plain::Null | Plain::Map(_) => {}
        _ if out.len() < FIELDS => drop(out.insert(above.to_owned())),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_dots_is_reached_and_a_nested_one_comes_first() {
        let facts = Plain::from_yaml(
            "net/v1.2: {cidr: a, deep: {x.y: b}}\nnet/v1: {'2': {cidr: nested}, other: c}\nplain: {list: [p, q]}",
        )
        .expect("yaml");
        let text = |path: &str| reach(&facts, path).and_then(|(found, _)| found.as_str().map(str::to_owned));
        assert_eq!(text("net/v1.2.cidr").as_deref(), Some("nested"));
        assert_eq!(text("net/v1.2.deep.x.y").as_deref(), Some("b"));
        assert_eq!(text("net/v1.other").as_deref(), Some("c"));
        assert_eq!(text("plain.list.1").as_deref(), Some("q"));
        assert_eq!(text("net/v1.2.nothing"), None);
        let way = reach(&facts, "net/v1.2.deep.x.y").map(|(_, way)| way).unwrap_or_default();
        assert_eq!(way, ["net/v1.2", "deep", "x.y"]);
    }
}
