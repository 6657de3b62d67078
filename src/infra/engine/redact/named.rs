//! Values of a plan's JSON that stand under the name of a secret.

use crate::infra::secret::COVER;
use serde_json::Value;

/// Where a plan keeps a value that it also tells other things about, and what else it tells.
const VALUES: [&str; 6] = ["value", "before", "after", "default", "constant_value", "expression"];
const ABOUT: [&str; 5] = ["actions", "type", "sensitive", "references", "description"];

/// Covers all texts and numbers of what stands under such a key. What a plan tells about a variable or an output stays.
pub fn cover(value: &mut Value) {
    match value {
        Value::String(text) if !text.is_empty() => COVER.clone_into(text),
        Value::Number(_) => *value = Value::String(COVER.to_owned()),
        Value::Array(items) => items.iter_mut().for_each(cover),
        Value::Object(map) => {
            let told = map.keys().any(|key| VALUES.contains(&key.as_str()) || ABOUT.contains(&key.as_str()));
            let wanted = map.iter_mut().filter(|(key, _)| !told || VALUES.contains(&key.as_str()));
            wanted.for_each(|(_, value)| cover(value));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_under_the_name_of_a_secret_are_covered_and_what_is_told_about_them_stays() {
        for (mut value, want) in [
            (json!("x"), json!("***")),
            (json!(""), json!("")),
            (json!([1, {"a": "x"}, true]), json!(["***", {"a": "***"}, true])),
            (json!({"value": "x", "type": "string"}), json!({"value": "***", "type": "string"})),
            (
                json!({"actions": ["create"], "before": null, "after": {"n": "x"}}),
                json!({"actions": ["create"], "before": null, "after": {"n": "***"}}),
            ),
            (json!({"references": ["var.x"]}), json!({"references": ["var.x"]})),
            (json!({"expression": {"constant_value": "x"}}), json!({"expression": {"constant_value": "***"}})),
        ] {
            cover(&mut value);
            assert_eq!(value, want);
        }
    }
}
