//! What `terraform show -json` says of a saved plan, as facts: outputs, and what would change.

use crate::base::{Mask, Plain, Problem, Problems, digest};
use serde_json::Value;

/// A layer that was planned.
#[derive(Clone, Debug)]
pub struct Found {
    pub clean: bool,
    /// Its present outputs by name, sensitive ones as digests.
    pub outputs: Plain,
    /// `{clean, folder, plan, changes, outputs, sensitive}`, of these what there is.
    pub state: Plain,
    /// The digest of what the plan does; `None` where it does nothing.
    pub plan: Option<String>,
}

/// Reads the JSON form of a saved plan. `folder` is the output folder of the layer, as a person types it. Sensitive
/// outputs are added to `mask`.
///
/// # Errors
/// It is no such JSON, in words.
pub fn read(json: &[u8], folder: &str, mask: &Mask) -> Result<Found, String> {
    let shown: Value = serde_json::from_slice(json).map_err(|e| e.to_string())?;
    if !shown.get("format_version").is_some_and(Value::is_string) {
        return Err("it has no `format_version`".to_owned());
    }
    let (mut outputs, mut sensitive, mut moved) = (Plain::map(), Vec::new(), Vec::new());
    for (name, change) in shown.get("output_changes").and_then(Value::as_object).into_iter().flatten() {
        let secret = ["before_sensitive", "after_sensitive"].iter().any(|key| is_sensitive(change.get(*key)));
        let before = change.get("before").unwrap_or(&Value::Null);
        if secret {
            hide(before, mask);
            hide(change.get("after").unwrap_or(&Value::Null), mask);
            sensitive.push(Plain::from(name));
        }
        if !before.is_null() {
            let value = if secret { Plain::Str(sealed(before)) } else { plain(before) };
            outputs.set(name, value);
        }
        if let Some(action) = action(change) {
            moved.push(Plain::from_iter([("output", Plain::from(name)), ("action", Plain::from(action))]));
        }
    }
    let changes: Vec<Plain> =
        shown.get("resource_changes").and_then(Value::as_array).into_iter().flatten().filter_map(row).collect();
    let clean = changes.is_empty() && moved.is_empty() && shown.get("applyable") != Some(&Value::Bool(true));
    let mut state = Plain::from_iter([("clean", Plain::Bool(clean)), ("folder", Plain::from(folder))]);
    let plan = (!clean).then(|| sha256(&shown));
    if let Some(plan) = &plan {
        state.set("plan", plan);
        state.set("changes", Plain::List(changes));
        state.set("outputs", Plain::List(moved));
    }
    if !sensitive.is_empty() {
        state.set("sensitive", Plain::List(sensitive));
    }
    Ok(Found { clean, outputs, state, plan })
}

/// Present outputs by name, sensitive ones as digests, and the names of these.
#[derive(Default)]
pub struct Outputs {
    values: Plain,
    sensitive: Vec<Plain>,
}

/// Reads what `terraform output -json` says; `None` where that is something else. Sensitive outputs are added to `mask`.
pub fn outputs(json: &[u8], mask: &Mask) -> Option<Outputs> {
    let said: Value = serde_json::from_slice(json).ok()?;
    let mut outputs = Outputs { values: Plain::map(), sensitive: Vec::new() };
    for (name, output) in said.as_object()? {
        let value = output.get("value").unwrap_or(&Value::Null);
        let secret = is_sensitive(output.get("sensitive"));
        if secret {
            hide(value, mask);
            outputs.sensitive.push(Plain::from(name));
        }
        if !value.is_null() {
            outputs.values.set(name, if secret { Plain::Str(sealed(value)) } else { plain(value) });
        }
    }
    Some(outputs)
}

/// The facts of a layer that needs, or may need, what another one is to bring.
pub fn waits(folder: &str, why: &str, outputs: Outputs) -> Found {
    let Outputs { values, sensitive } = outputs;
    let mut state =
        Plain::from_iter([("clean", Plain::Bool(false)), ("folder", Plain::from(folder)), ("waits", Plain::from(why))]);
    if !sensitive.is_empty() {
        state.set("sensitive", Plain::List(sensitive));
    }
    let outputs = if values.is_null() { Plain::map() } else { values };
    Found { clean: false, outputs, state, plan: None }
}

/// The first of these problems and its first note, in one line.
pub fn first(problems: &Problems) -> String {
    let Some(problem) = problems.first() else { return String::new() };
    let note = problem.notes.first().map(|note| format!(": {}", note.text)).unwrap_or_default();
    format!("{}{note}", problem.what)
}

/// So many lines of what Terraform said are shown.
const WORDS: usize = 16;

/// Adds to `problem` what Terraform said: its errors where it names some, without the frames that it draws.
pub fn words(problem: Problem, stderr: &str, stdout: &str, code: u8) -> Problem {
    let said = if stderr.trim().is_empty() { stdout } else { stderr };
    let bare = said.lines().map(|line| line.trim_start_matches(['│', '╷', '╵', ' ']).trim_end());
    let lines: Vec<&str> = bare.filter(|line| !line.is_empty()).collect();
    let from = lines.iter().position(|line| line.starts_with("Error: ")).unwrap_or(lines.len().saturating_sub(WORDS));
    let shown: Vec<&str> = lines.iter().skip(from).take(WORDS).copied().collect();
    match shown.is_empty() {
        true => problem.note(format!("it ended with {code} and said nothing")),
        false => shown.into_iter().fold(problem, |problem, line| problem.note(line)),
    }
}

/// One resource that would change.
fn row(resource: &Value) -> Option<Plain> {
    let change = resource.get("change")?;
    let address = resource.get("address").and_then(Value::as_str)?;
    let came = resource.get("previous_address").and_then(Value::as_str).filter(|before| *before != address);
    let action = match action(change) {
        Some(action) => action,
        None if change.get("importing").is_some_and(|i| !i.is_null()) => "import",
        None if came.is_some() => "move",
        None => return None,
    };
    let mut row = Plain::from_iter([("address", Plain::from(address)), ("action", Plain::from(action))]);
    let because = match (action, came) {
        ("move", Some(before)) => Some(format!("from {before}")),
        ("change", _) => Some(differing(change).join(", ")),
        ("replace", _) => Some(paths(change.get("replace_paths")).join(", ")),
        _ => None,
    };
    if let Some(because) = because.filter(|text| !text.is_empty()) {
        row.set("because", because);
    }
    Some(row)
}

/// The word for the actions of a change; `None` where nothing is done.
fn action(change: &Value) -> Option<&'static str> {
    let actions: Vec<&str> =
        change.get("actions").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    match actions.as_slice() {
        ["create"] => Some("add"),
        ["update"] => Some("change"),
        ["delete"] => Some("destroy"),
        ["forget"] => Some("forget"),
        ["no-op"] | ["read"] | [] => None,
        _ => Some("replace"),
    }
}

/// The names of the attributes that a change is about, never their values.
fn differing(change: &Value) -> Vec<String> {
    let side = |key: &str| change.get(key).and_then(Value::as_object);
    let (before, after, unknown) = (side("before"), side("after"), side("after_unknown"));
    let mut names: Vec<String> = Vec::new();
    for (name, value) in after.into_iter().flatten() {
        if before.and_then(|before| before.get(name)) != Some(value) {
            names.push(name.clone());
        }
    }
    names.extend(unknown.into_iter().flatten().filter(|(_, value)| holds_true(value)).map(|(name, _)| name.clone()));
    names.sort();
    names.dedup();
    names
}

/// The attributes that force a replacement, as Terraform writes them.
fn paths(value: Option<&Value>) -> Vec<String> {
    let path = |path: &Value| {
        let parts = path.as_array().into_iter().flatten();
        let parts: Vec<String> =
            parts.map(|part| part.as_str().map_or_else(|| part.to_string(), str::to_owned)).collect();
        parts.join(".")
    };
    value.and_then(Value::as_array).into_iter().flatten().map(path).collect()
}

fn holds_true(value: &Value) -> bool {
    match value {
        Value::Bool(is) => *is,
        Value::Array(items) => items.iter().any(holds_true),
        Value::Object(map) => map.values().any(holds_true),
        _ => false,
    }
}

fn is_sensitive(mark: Option<&Value>) -> bool {
    mark.is_some_and(holds_true)
}

/// Adds every text of a sensitive value to the mask.
fn hide(value: &Value, mask: &Mask) {
    match value {
        Value::String(text) => mask.add(text),
        Value::Array(items) => items.iter().for_each(|item| hide(item, mask)),
        Value::Object(map) => map.values().for_each(|item| hide(item, mask)),
        _ => {}
    }
}

/// `sha256:<hex>` of a text itself, or of the JSON of anything else.
fn sealed(value: &Value) -> String {
    let bytes = match value {
        Value::String(text) => text.clone().into_bytes(),
        other => other.to_string().into_bytes(),
    };
    format!("sha256:{}", digest::sha256(&bytes))
}

/// The digest of what a plan does, and from which values: not of when it was made.
fn sha256(shown: &Value) -> String {
    let parts = ["variables", "resource_changes", "output_changes", "checks", "deferred_changes"];
    let mut text = String::new();
    for part in parts {
        text.push_str(part);
        text.push(' ');
        text.push_str(&shown.get(part).unwrap_or(&Value::Null).to_string());
        text.push('\n');
    }
    digest::sha256(text.as_bytes())
}

fn plain(value: &Value) -> Plain {
    match value {
        Value::Null => Plain::Null,
        Value::Bool(is) => Plain::Bool(*is),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Plain::Int(whole),
            (None, Some(x)) => Plain::Float(x),
            (None, None) => Plain::Str(number.to_string()),
        },
        Value::String(text) => Plain::Str(text.clone()),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
    }
}
