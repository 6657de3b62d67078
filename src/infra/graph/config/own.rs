//! `.stackorder.yaml`, and what an instance says otherwise.

use super::super::key;
use super::Text;
use crate::base::{Problem, Problems, Result};
use crate::data::Value;
use crate::infra::reader::{self, Reader};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What a stack says, or an instance of it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Own {
    pub depends_on: Vec<Text>,
    pub ignore_inferred: Vec<Text>,
    /// `None` where the file does not name any; in the order of their names.
    pub instances: Option<Vec<(Text, Own)>>,
    pub workspace: Option<Text>,
    pub backend_config: Vec<Text>,
    pub var_files: Vec<Text>,
    pub env: Vec<Variable>,
    pub tool: Option<String>,
    pub tool_version: Option<String>,
    pub environment: Option<Text>,
    pub allowed_teams: Vec<String>,
    pub plan_output: Option<String>,
}

/// A variable of the environment, whole.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Variable {
    pub name: String,
    pub plan: Option<Text>,
    pub apply: Option<Text>,
    pub drift: Option<Text>,
}

const KEYS: [&str; 12] = [
    "depends_on",
    "ignore_inferred",
    "instances",
    "workspace",
    "backend_config",
    "var_files",
    "env",
    "tool",
    "tool_version",
    "environment",
    "apply",
    "plan_output",
];

/// What an instance can say.
const INSTANCE: [&str; 9] = [
    "environment",
    "workspace",
    "backend_config",
    "var_files",
    "env",
    "plan_output",
    "apply",
    "depends_on",
    "ignore_inferred",
];

/// Names that a variable of the environment may not begin with, and those it may not have.
const PREFIXES: [&str; 5] = ["STACKORDER_", "SUIL_", "GITHUB_", "ACTIONS_", "RUNNER_"];
const NAMES: [&str; 2] = ["PATH", "HOME"];

impl Own {
    /// Reads the file; an empty one says nothing.
    ///
    /// # Errors
    /// Everything that is wrong in it.
    pub fn read(shown: &Path, bytes: &[u8]) -> Result<Own> {
        let Some(value) = reader::whole(shown, bytes)? else { return Ok(Own::default()) };
        let mut problems = Problems::new();
        let mut reader = Reader::new(&value, super::OWN, &KEYS, &mut problems);
        let mut own = Own::common(&mut reader);
        own.tool = reader.word("tool", &["terraform", "tofu"]);
        own.tool_version = reader.text("tool_version").map(|text| text.text);
        own.instances = instances(&mut reader);
        if problems.is_empty() { Ok(own) } else { Err(problems) }
    }

    fn common(reader: &mut Reader) -> Own {
        Own {
            depends_on: entries(reader, "depends_on"),
            ignore_inferred: entries(reader, "ignore_inferred"),
            workspace: workspace(reader),
            backend_config: reader.templates("backend_config"),
            var_files: reader.templates("var_files"),
            env: env(reader),
            environment: reader.template("environment"),
            allowed_teams: teams(reader).unwrap_or_default(),
            plan_output: reader.word("plan_output", &["full", "summary"]),
            ..Own::default()
        }
    }
}

/// `apply.allowed_teams` of a stack.
fn teams(reader: &mut Reader) -> Option<Vec<String>> {
    reader.within("apply", &["allowed_teams"], |reader| {
        let texts = reader.texts("allowed_teams").unwrap_or_default();
        texts.into_iter().map(|text| text.text).collect()
    })
}

/// The keys of other stacks; their shape is checked once they are rendered.
fn entries(reader: &mut Reader, key: &str) -> Vec<Text> {
    reader.templates(key)
}

fn workspace(reader: &mut Reader) -> Option<Text> {
    let text = reader.template("workspace")?;
    if super::super::template::is_template(&text.text) {
        return Some(text);
    }
    match workspace_fault(&text.text) {
        None => Some(text),
        Some(expected) => {
            if let Some(value) = reader.value("workspace") {
                reader.wrong("workspace", value, expected);
            }
            None
        }
    }
}

/// Why a text is no name of a workspace.
pub fn workspace_fault(name: &str) -> Option<&'static str> {
    name.contains(['/', ':', ' ', '\t']).then_some("expected a name without `/`, `:` and blanks")
}

/// Reads `env`.
pub fn env(reader: &mut Reader) -> Vec<Variable> {
    let mut found = Vec::new();
    for (name, place, value) in reader.entries("env") {
        if let Some(expected) = name_fault(name) {
            reader.fault("env", format!("names `{name}`"), place, expected);
            continue;
        }
        let mut variable = Variable { name: name.to_owned(), ..Variable::default() };
        match value.map() {
            None => {
                let expected = "expected a text, or keys of `plan`, `apply`, `drift`";
                let text = reader.template_of(&format!("env.{name}"), value, expected);
                variable.plan = text.clone();
                variable.apply = text.clone();
                variable.drift = text;
            }
            Some(map) => {
                for (mode, entry) in map.iter() {
                    let slot = match &**mode {
                        "plan" => &mut variable.plan,
                        "apply" => &mut variable.apply,
                        "drift" => &mut variable.drift,
                        _ => {
                            let expected = "expected `plan`, `apply` or `drift`";
                            reader.fault(
                                "env",
                                format!("of `{name}` has an unknown mode `{mode}`"),
                                entry.key,
                                expected,
                            );
                            continue;
                        }
                    };
                    *slot = reader.template_of(&format!("env.{name}.{mode}"), &entry.value, "expected a text");
                }
                variable.drift = variable.drift.or_else(|| variable.plan.clone());
            }
        }
        found.push(variable);
    }
    found
}

fn name_fault(name: &str) -> Option<&'static str> {
    let ok = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(ok) {
        return Some("expected letters, digits and `_`, no digit first");
    }
    let upper = name.to_ascii_uppercase();
    let kept = PREFIXES.iter().any(|prefix| upper.starts_with(prefix)) || NAMES.contains(&upper.as_str());
    kept.then_some("expected a name that belongs to nobody else: not PATH, HOME, STACKORDER_…, SUIL_…, GITHUB_…, ACTIONS_…, RUNNER_…")
}

/// What an instance says.
fn said(reader: &mut Reader, name: &str, value: &Value, known: &[&str]) -> Own {
    let mut problems = Problems::new();
    let own = Own::common(&mut Reader::new(value, super::OWN, known, &mut problems));
    let tell = |problem: Problem| problem.note(format!("it stands in instance `{name}`"));
    reader.problems.extend(problems.into_iter().map(tell));
    own
}

fn instances(reader: &mut Reader) -> Option<Vec<(Text, Own)>> {
    let value = reader.value("instances")?;
    let mut found: Vec<(Text, Own)> = Vec::new();
    if let Some(list) = value.list() {
        for item in list {
            // `{name: eu, var_files: [...]}` says the same as `eu: {var_files: [...]}`.
            match item.get("name") {
                Some(name) => {
                    let Some(text) = reader.text_of("instances.name", name, "expected the name of an instance") else {
                        continue;
                    };
                    let own = said(reader, &text.text, item, &[&INSTANCE[..], &["name"]].concat());
                    found.push((text, own));
                }
                None => {
                    if let Some(text) = reader.text_of("instances", item, "expected the name of an instance") {
                        found.push((text, Own::default()));
                    }
                }
            }
        }
    } else if value.map().is_some() {
        for (name, place, value) in reader.entries("instances") {
            let text = Text { text: name.to_owned(), at: place.into() };
            if value.map().is_none() {
                reader.wrong(&format!("instances.{name}"), value, "expected keys with values; `{}` for none");
                continue;
            }
            let own = said(reader, name, value, &INSTANCE);
            found.push((text, own));
        }
    } else {
        reader.wrong("instances", value, "expected a list of names, or keys of names");
    }
    for (text, _) in &found {
        if let Some(expected) = key::instance_fault(&text.text) {
            let at = crate::base::Place { line: text.at.line, column: text.at.column, ..value.place };
            reader.fault("instances", format!("names `{}`", text.text), at, expected);
        }
    }
    found.sort_by(|a, b| a.0.text.cmp(&b.0.text));
    for pair in found.windows(2) {
        if let [(one, _), (other, _)] = pair
            && one.text == other.text
        {
            let at = crate::base::Place { line: other.at.line, column: other.at.column, ..value.place };
            reader.fault("instances", format!("names `{}` twice", one.text), at, "expected each name once");
        }
    }
    found.dedup_by(|a, b| a.0.text == b.0.text);
    // An empty list is none, so that the next rule has its say.
    Some(found).filter(|found| !found.is_empty())
}
