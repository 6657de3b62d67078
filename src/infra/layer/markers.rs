//! Merging with markers, where a tree asks for it: a list or map can replace the lower one, and things can be removed, at
//! any depth.
//!
//! `["!replace", …]` replaces the list, `["!delete", …]` takes the items out of it; a map with `"!replace" = true` replaces
//! the map; `"!delete"` in the place of a value removes its key. Nothing of the markers is left in the result.

use crate::infra::Value;

const REPLACE: &str = "!replace";
const DELETE: &str = "!delete";

/// What comes of `known` once it meets `value`; `None` is nothing.
pub fn meet(known: Option<Value>, value: &Value) -> Option<Value> {
    match (known, value) {
        (_, Value::Str(text)) if text == DELETE => None,
        (known, Value::Map(more)) => {
            let replaces = more.get(REPLACE) == Some(&Value::Bool(true));
            let mut map = match known {
                Some(Value::Map(map)) if !replaces => map,
                _ => Default::default(),
            };
            for (key, value) in more.iter().filter(|(key, _)| !(replaces && *key == REPLACE)) {
                // The place in the order is kept.
                let known = map.get_mut(key).map(std::mem::take);
                match meet(known, value) {
                    Some(value) => drop(map.insert(key.clone(), value)),
                    None => drop(map.shift_remove(key)),
                }
            }
            Some(Value::Map(map))
        }
        (known, Value::List(more)) => {
            let lower = match known {
                Some(Value::List(items)) => items,
                _ => Vec::new(),
            };
            let items = |from: usize| more.iter().skip(from).filter_map(|item| meet(None, item));
            Some(Value::List(match more.first().and_then(Value::as_str) {
                Some(REPLACE) => items(1).collect(),
                Some(DELETE) => {
                    let gone: Vec<Value> = items(1).collect();
                    lower.into_iter().filter(|item| !gone.contains(item)).collect()
                }
                _ => lower.into_iter().chain(items(0)).collect(),
            }))
        }
        (_, value) => Some(value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::FileId;
    use crate::infra::hcl;
    use crate::infra::layer::Variables;

    /// What comes of files that meet in this order, on one line.
    fn met(files: &[&str]) -> String {
        let mut variables = Variables::default();
        for text in files {
            variables.meet(&hcl::variables(FileId::new("x.tfvars", *text)).expect("variables"), true);
        }
        variables.value().to_json_line()
    }

    #[test]
    fn without_a_marker_all_is_as_it_was() {
        let files =
            ["a = [1]\nm = { x = [1], y = 2 }\nn_override = { a = 1 }", "a = [2]\nm = { x = [2] }\nn_override = {}"];
        assert_eq!(met(&files), r#"{"a": [1, 2], "m": {"x": [1, 2], "y": 2}, "n_override": {}}"#);
    }

    #[test]
    fn a_marker_replaces_and_removes_at_any_depth() {
        for (lower, upper, want) in [
            ("a = [1, 2]", r#"a = ["!replace", 3]"#, r#"{"a": [3]}"#),
            ("a = [1, 2, 1]", r#"a = ["!delete", 1]"#, r#"{"a": [2]}"#),
            ("a = 1\nb = 2", r#"a = "!delete""#, r#"{"b": 2}"#),
            (
                "m = { x = { y = [1] }, z = 1 }",
                r#"m = { x = { y = ["!replace"] } }"#,
                r#"{"m": {"x": {"y": []}, "z": 1}}"#,
            ),
            ("m = { x = 1, y = 2 }", r#"m = { "!replace" = true, z = 3 }"#, r#"{"m": {"z": 3}}"#),
            ("m = { x = 1, y = 2, z = 3 }", r#"m = { y = "!delete" }"#, r#"{"m": {"x": 1, "z": 3}}"#),
            ("m = 1", r#"m = [["!replace", 1], { a = "!delete" }]"#, r#"{"m": [[1], {}]}"#),
            ("", r#"m = ["!delete", 1]"#, r#"{"m": []}"#),
        ] {
            assert_eq!(met(&[lower, upper]), want, "{upper}");
        }
    }
}
