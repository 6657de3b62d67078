//! A state that may be shown: what is sensitive in it stands as its digest, wherever it stands.

use super::json::Json;
use super::state::State;
use crate::base::digest::sha256;
use crate::base::{Mask, Plain, Problem, Result};
use crate::infra::terraform::Tool;
use std::collections::HashMap;
use std::path::Path;

/// A step into an attribute.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Step {
    Key(String),
    At(usize),
}

/// What the providers' schemas call sensitive, by the address of an instance.
#[derive(Clone, Default, Debug)]
pub struct Sensitive {
    paths: HashMap<String, Vec<Vec<Step>>>,
    /// The schemas could not be asked: every text of an attribute is taken for a secret.
    all: bool,
}

impl Sensitive {
    /// Nothing is known: everything is.
    pub fn all() -> Sensitive {
        Sensitive { all: true, ..Sensitive::default() }
    }

    /// Asks Terraform about the state of `folder`.
    ///
    /// # Errors
    /// It does not answer.
    pub fn ask(tool: &Tool, folder: &Path) -> Result<Sensitive, Problem> {
        let finished = tool.capture(folder, &["show", "-json", "-no-color"], &[])?;
        let text = String::from_utf8_lossy(&finished.stdout);
        match Plain::from_json(&text) {
            Ok(shown) if finished.status.success() => Ok(Sensitive::read(&shown)),
            _ => Err(Problem::new(format!("`{} show` failed", tool.program.display()))),
        }
    }

    fn read(shown: &Plain) -> Sensitive {
        let mut paths = HashMap::new();
        let mut modules: Vec<&Plain> = shown.at(&["values", "root_module"]).into_iter().collect();
        while let Some(module) = modules.pop() {
            let list = |key: &str| module.get(key).and_then(Plain::as_list).unwrap_or_default();
            modules.extend(list("child_modules"));
            for resource in list("resources") {
                let Some(address) = resource.get("address").and_then(Plain::as_str) else { continue };
                let mut found = Vec::new();
                if let Some(tree) = resource.get("sensitive_values") {
                    leaves(tree, &mut Vec::new(), &mut found);
                }
                paths.insert(address.to_owned(), found);
            }
        }
        Sensitive { paths, all: false }
    }

    /// The state as JSON with every secret covered by its digest. `mask` learns them.
    pub fn cover(&self, state: &State, mask: &Mask) -> Json {
        let mut json = state.to_json();
        let Some(head) = json.as_map_mut() else { return json };
        if let Some(outputs) = head.get_mut("outputs").and_then(Json::as_map_mut) {
            for output in outputs.values_mut().filter_map(Json::as_map_mut) {
                let secret = output.get("sensitive") == Some(&Json::Bool(true));
                if let (true, Some(value)) = (secret || self.all, output.get_mut("value")) {
                    hide(value, mask);
                }
            }
        }
        let Some(Json::List(groups)) = head.get_mut("resources") else { return json };
        for group in groups {
            let text = |key: &str| group.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
            let [module, mode, kind, name] = ["module", "mode", "type", "name"].map(text);
            let dot = if module.is_empty() { "" } else { "." };
            let data = if mode == "managed" { String::new() } else { format!("{mode}.") };
            let address = format!("{module}{dot}{data}{kind}.{name}");
            let Some(Json::List(instances)) = group.as_map_mut().and_then(|group| group.get_mut("instances")) else {
                continue;
            };
            instances.iter_mut().for_each(|instance| self.cover_instance(&address, instance, mask));
        }
        json
    }

    fn cover_instance(&self, resource: &str, instance: &mut Json, mask: &Mask) {
        let key = match instance.get("index_key") {
            Some(Json::Text(text)) => super::address::Key::Text(text.clone()).to_string(),
            Some(Json::Number(digits)) => format!("[{digits}]"),
            _ => String::new(),
        };
        let mut paths = self.paths.get(&format!("{resource}{key}")).cloned().unwrap_or_default();
        let marks = instance.get("sensitive_attributes").and_then(Json::as_list).unwrap_or_default();
        paths.extend(marks.iter().map(path));
        let Some(object) = instance.as_map_mut() else { return };
        for private in ["private", "identity"] {
            if let Some(value @ Json::Text(_)) = object.get_mut(private) {
                hide(value, mask);
            }
        }
        for attributes in ["attributes", "attributes_flat"] {
            let Some(attributes) = object.get_mut(attributes) else { continue };
            if self.all {
                hide(attributes, mask);
            }
            paths.iter().filter(|path| !path.is_empty()).for_each(|path| hide_at(attributes, path, mask));
        }
    }
}

/// The paths of a tree that end in `true`.
fn leaves(tree: &Plain, path: &mut Vec<Step>, found: &mut Vec<Vec<Step>>) {
    match tree {
        Plain::Bool(true) => found.push(path.clone()),
        Plain::Map(map) => {
            for (key, below) in map {
                path.push(Step::Key(key.clone()));
                leaves(below, path, found);
                path.pop();
            }
        }
        Plain::List(items) => {
            for (at, below) in items.iter().enumerate() {
                path.push(Step::At(at));
                leaves(below, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

/// The path of one of `sensitive_attributes`.
fn path(mark: &Json) -> Vec<Step> {
    let step = |step: &Json| {
        let value = step.get("value")?;
        // An index comes with its type.
        match value.get("value").unwrap_or(value) {
            Json::Text(key) => Some(Step::Key(key.clone())),
            number => number.as_u64().and_then(|at| usize::try_from(at).ok()).map(Step::At),
        }
    };
    mark.as_list().unwrap_or_default().iter().map_while(step).collect()
}

/// Covers what a path leads to; as far as it can be followed, where that is not to its end.
fn hide_at(json: &mut Json, path: &[Step], mask: &Mask) {
    let below = match (&mut *json, path.split_first()) {
        (Json::Map(map), Some((Step::Key(key), rest))) => map.get_mut(key).map(|below| (below, rest)),
        (Json::List(items), Some((Step::At(at), rest))) => items.get_mut(*at).map(|below| (below, rest)),
        _ => None,
    };
    match below {
        Some((below, rest)) => hide_at(below, rest, mask),
        None => hide(json, mask),
    }
}

/// Covers a value, and tells the mask every text in it, which may stand elsewhere too.
fn hide(value: &mut Json, mask: &Mask) {
    fn learn(value: &Json, mask: &Mask) {
        match value {
            Json::Text(text) => mask.add(text),
            Json::Number(digits) if digits.len() > 3 => mask.add(digits),
            Json::List(items) => items.iter().for_each(|item| learn(item, mask)),
            Json::Map(map) => map.values().for_each(|item| learn(item, mask)),
            _ => {}
        }
    }
    // A value of a type that is known only then comes with it.
    if let Some(map) = value.as_map_mut()
        && map.len() == 2
        && map.contains_key("type")
        && let Some(inner) = map.get_mut("value")
    {
        return hide(inner, mask);
    }
    if matches!(value, Json::Null) || value.as_str().is_some_and(|text| text.starts_with(COVER)) {
        return;
    }
    learn(value, mask);
    let digest = sha256(value.line().as_bytes());
    *value = Json::text(format!("{COVER}{}›", digest.get(..12).unwrap_or_default()));
}

const COVER: &str = "‹secret ";

#[cfg(test)]
mod tests {
    use super::super::state::tests::{KILN, read};
    use super::*;

    #[test]
    fn what_is_sensitive_is_covered_wherever_it_stands() {
        let text = KILN
            .replace(r#""id": "p0","#, r#""id": "p0", "glaze": {"a": ["salt and ash"]}, "note": "salt and ash","#)
            .replace(r#""id": "b""#, r#""id": "b", "list": [{"key": "deep s3cr3t"}], "plain": "seen""#);
        let shown = Plain::from_json(
            r#"{"values": {"root_module": {"child_modules": [{"child_modules": [{"resources": [
                {"address": "module.shop[\"e.u\"].module.shelf.board.b", "sensitive_values": {"list": [{"key": true}], "plain": false}}
            ]}]}]}}}"#,
        );
        let sensitive = Sensitive::read(&shown.expect("JSON"));
        let mask = Mask::new();
        let covered = mask.apply(&sensitive.cover(&read(&text), &mask).pretty());
        for secret in ["salt and ash", "deep s3cr3t", "s3cr3t", "YWJj"] {
            assert!(!covered.contains(secret), "{secret}: {covered}");
        }
        assert!(covered.contains("\"plain\": \"seen\"") && covered.contains("\"id\": \"p0\""), "{covered}");
        assert!(covered.matches("‹secret ").count() >= 5, "{covered}");
    }

    #[test]
    fn where_nothing_is_known_every_value_is_covered() {
        let covered = Sensitive::all().cover(&read(KILN), &Mask::new()).pretty();
        assert!(!covered.contains("123456789012345678901234567890") && !covered.contains("\"p1\""), "{covered}");
        assert!(covered.contains("clay.wheel"), "{covered}");
    }

    #[test]
    fn the_type_of_a_value_is_no_secret() {
        let (mut json, mask) = (Json::parse(r#"{"value": "hush", "type": "string"}"#).expect("JSON"), Mask::new());
        hide(&mut json, &mask);
        assert!(json.line().ends_with(r#","type":"string"}"#) && !json.line().contains("hush"), "{}", json.line());
        assert_eq!(mask.apply("a string"), "a string");
    }

    #[test]
    fn a_path_that_leads_nowhere_covers_what_it_reached() {
        let mut json = Json::parse(r#"{"input": {"value": "hush", "type": "string"}}"#).expect("JSON");
        hide_at(&mut json, &[Step::Key("input".to_owned()), Step::At(3)], &Mask::new());
        assert!(!json.line().contains("hush"), "{}", json.line());
    }
}
