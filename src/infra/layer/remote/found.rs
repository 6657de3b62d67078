//! What is looked for in a state.

use crate::base::nearest::nearest;
use crate::infra::Value;

/// The value that a state has under a name.
#[derive(Clone, PartialEq, Debug)]
pub enum Found {
    Value {
        value: Value,
        /// What of it is secret.
        secrets: Vec<Value>,
    },
    /// There is none; the words say where it was looked for, and what there is instead.
    Absent(String),
}

impl Found {
    /// An output in what `terraform output -json` says.
    pub fn output(outputs: &Value, name: &str, label: &str) -> Found {
        let Some(output) = outputs.get(name) else {
            let Value::Map(known) = outputs else { return Found::nothing(label, "outputs") };
            let hint = match nearest(name, known.keys().map(String::as_str)) {
                _ if known.is_empty() => return Found::nothing(label, "outputs"),
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has `{}`", known.keys().take(10).cloned().collect::<Vec<_>>().join("`, `")),
            };
            return Found::Absent(format!("the state of layer `{label}` has no output `{name}`; {hint}"));
        };
        let value = output.get("value").cloned().unwrap_or_default();
        let secrets = match output.get("sensitive") {
            Some(Value::Bool(true)) => vec![value.clone()],
            _ => Vec::new(),
        };
        Found::Value { value, secrets }
    }

    /// A resource in what `terraform show -json` says.
    pub fn resource(state: &Value, address: &str, label: &str) -> Found {
        let mut known: Vec<(&str, &Value)> = Vec::new();
        let mut due: Vec<&Value> =
            state.get("values").and_then(|values| values.get("root_module")).into_iter().collect();
        while let Some(module) = due.pop() {
            let items = |name| match module.get(name) {
                Some(Value::List(items)) => items.as_slice(),
                _ => &[],
            };
            let current = items("resources").iter().filter(|resource| resource.get("deposed_key").is_none());
            known.extend(current.filter_map(|resource| Some((resource.get("address")?.as_str()?, resource))));
            due.extend(items("child_modules"));
        }
        if let Some((_, resource)) = known.iter().find(|(name, _)| *name == address) {
            let value = resource.get("values").cloned().unwrap_or_default();
            let mut secrets = Vec::new();
            if let Some(marks) = resource.get("sensitive_values") {
                marked(&value, marks, &mut secrets);
            }
            return Found::Value { value, secrets };
        }
        if known.is_empty() {
            return Found::nothing(label, "resources");
        }
        known.sort_by_key(|(name, _)| *name);
        let instance = |name: &str| name.strip_prefix(address).is_some_and(|rest| rest.starts_with('['));
        let instances: Vec<String> =
            known.iter().filter(|(name, _)| instance(name)).take(5).map(|(name, _)| format!("`{name}`")).collect();
        let hint = match nearest(address, known.iter().map(|(name, _)| *name)) {
            _ if !instances.is_empty() => format!("; it has {}", instances.join(", ")),
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        Found::Absent(format!("the state of layer `{label}` has no resource `{address}`{hint}"))
    }

    fn nothing(label: &str, what: &str) -> Found {
        Found::Absent(format!("the state of layer `{label}` has no {what}: it may never have been applied"))
    }
}

/// Collects what `marks` says is secret: `true` in the place of a value means all of it.
fn marked(value: &Value, marks: &Value, secrets: &mut Vec<Value>) {
    match (value, marks) {
        (value, Value::Bool(true)) => secrets.push(value.clone()),
        (Value::Map(map), Value::Map(marks)) => {
            for (key, marks) in marks {
                if let Some(value) = map.get(key) {
                    marked(value, marks, secrets);
                }
            }
        }
        (Value::List(items), Value::List(marks)) => {
            for (value, marks) in items.iter().zip(marks) {
                marked(value, marks, secrets);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::jinja::decode;

    #[test]
    fn an_output_is_a_value_and_a_sensitive_one_a_secret() {
        let outputs =
            decode(r#"{"word": {"sensitive": false, "value": "clay"}, "key": {"sensitive": true, "value": ["a", 2]}}"#)
                .expect("json");
        let word = Found::Value { value: "clay".into(), secrets: vec![] };
        assert_eq!(Found::output(&outputs, "word", "l"), word);
        let key = Value::List(vec!["a".into(), 2.into()]);
        assert_eq!(Found::output(&outputs, "key", "l"), Found::Value { value: key.clone(), secrets: vec![key] });
        let absent = |name: &str| match Found::output(&outputs, name, "l") {
            Found::Absent(words) => words,
            found => panic!("{found:?}"),
        };
        assert_eq!(absent("wrod"), "the state of layer `l` has no output `wrod`; did you mean `word`?");
        assert_eq!(absent("zzzzzzzz"), "the state of layer `l` has no output `zzzzzzzz`; it has `word`, `key`");
        let none = Found::output(&Value::Map(Default::default()), "word", "l");
        assert_eq!(none, Found::nothing("l", "outputs"));
    }

    #[test]
    fn a_resource_is_found_in_modules_and_what_is_marked_is_secret() {
        let state = decode(
            r#"{"values": {"root_module": {
                "resources": [
                    {"address": "a.pot[0]", "values": {"n": 1}},
                    {"address": "a.pot[1]", "values": {"n": 2}},
                    {"address": "a.old", "deposed_key": "0a", "values": {"n": 3}},
                    {"address": "a.old", "values": {"n": 4}}],
                "child_modules": [{"resources": [{"address": "module.m.a.key",
                    "values": {"pem": "PRIVATE", "list": ["x", "y"], "all": {"k": 1}, "open": "z"},
                    "sensitive_values": {"pem": true, "list": [false, true], "all": true, "gone": true}}]}]}}}"#,
        )
        .expect("json");
        let value = |address: &str| match Found::resource(&state, address, "l") {
            Found::Value { value, secrets } => (value.to_json_line(), Value::List(secrets).to_json_line()),
            Found::Absent(words) => (words, String::new()),
        };
        assert_eq!(value("a.old").0, r#"{"n": 4}"#);
        assert_eq!(value("module.m.a.key").1, r#"["PRIVATE", "y", {"k": 1}]"#);
        assert_eq!(value("a.pot").0, "the state of layer `l` has no resource `a.pot`; it has `a.pot[0]`, `a.pot[1]`");
        assert_eq!(value("a.odl").0, "the state of layer `l` has no resource `a.odl`; did you mean `a.old`?");
        assert_eq!(Found::resource(&Value::Null, "a.b", "l"), Found::nothing("l", "resources"));
    }
}
