//! What Terraform code says about what lies outside it: backends, modules, and states that it reads. Taken literally:
//! what would have to be computed is [`Literal::Computed`].

use super::json::{self, Json};
use super::lexer::Span;
use super::parser;
use super::source::Source;
use super::tree::{Block, Body, Expression, Node, Part};
use crate::base::{FileId, Problems};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A value as far as it stands in the code.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Literal {
    Text(String),
    Computed,
}

/// Settings by name; those in a map within them as `map.name`.
pub type Settings = BTreeMap<String, Literal>;

/// A line and a column, both from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Spot {
    pub line: u32,
    pub column: u32,
}

/// A `backend` or `cloud` block; the kind of the latter is `cloud`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kept {
    pub kind: String,
    pub settings: Settings,
    pub at: Spot,
}

/// A `module` block.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Called {
    pub name: String,
    /// `None` where the block has none.
    pub source: Option<Literal>,
    pub version: Option<Literal>,
    pub at: Spot,
}

/// A block `data "terraform_remote_state"`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Read {
    pub name: String,
    pub backend: Option<Literal>,
    pub workspace: Option<Literal>,
    /// `None` where there is none, or none that is a map.
    pub config: Option<Settings>,
    pub at: Spot,
}

/// What one file of code says.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Links {
    pub backends: Vec<Kept>,
    pub modules: Vec<Called>,
    pub states: Vec<Read>,
    /// What could not be read; the rest stays good.
    pub problems: Problems,
}

/// Reads a file of code; `path` is the one that problems show. Nothing is kept of a file without problems.
pub fn links(path: &Path, text: Arc<str>) -> Links {
    let source = Source::passing(text);
    match path.extension().is_some_and(|e| e == "json") {
        true => named(&source, path, of_json(&source)),
        false => {
            let (body, problems) = parser::parse(&source);
            named(&source, path, Links { problems, ..of_body(&source, &body) })
        }
    }
}

/// The literal settings of a file of settings (`*.tfbackend`), or of one in JSON.
///
/// # Errors
/// What is no such file.
pub fn settings(path: &Path, text: Arc<str>) -> Result<Settings, Problems> {
    let source = Source::passing(text);
    let (settings, problems) = match path.extension().is_some_and(|e| e == "json") {
        true => match json::parse(&source) {
            Ok(root) => (json_settings(&root).unwrap_or_default(), Problems::new()),
            Err(problem) => (Settings::new(), vec![*problem]),
        },
        false => {
            let (body, problems) = parser::parse(&source);
            (body_settings(&source, &body), problems)
        }
    };
    let found = named(&source, path, Links { problems, ..Links::default() });
    if found.problems.is_empty() { Ok(settings) } else { Err(found.problems) }
}

/// Enters the file in the table of places where there is something to show of it.
fn named(source: &Source, path: &Path, mut links: Links) -> Links {
    if !links.problems.is_empty() {
        let file = FileId::new(path, Arc::clone(&source.text));
        let own = |place: &mut crate::base::Place| place.file = file;
        for problem in &mut links.problems {
            problem.place.iter_mut().for_each(own);
            problem.notes.iter_mut().filter_map(|note| note.place.as_mut()).for_each(own);
        }
    }
    links
}

fn spot(source: &Source, span: Span) -> Spot {
    let place = source.place(span);
    Spot { line: place.line, column: place.column }
}

fn of_body(source: &Source, body: &Body) -> Links {
    let mut links = Links::default();
    for block in &body.blocks {
        let at = spot(source, block.keyword);
        let labels: Vec<&str> = block.labels.iter().map(|(label, _)| label.as_str()).collect();
        match (source.slice(block.keyword), labels.as_slice()) {
            ("terraform", []) => links.backends.extend(block.body.blocks.iter().filter_map(|own| kept(source, own))),
            ("module", [name]) => {
                let get = |name: &str| attribute(source, &block.body, name).and_then(|e| literal(source, e));
                let (source, version) = (get("source"), get("version"));
                links.modules.push(Called { name: (*name).to_owned(), source, version, at });
            }
            ("data", ["terraform_remote_state", name]) => {
                let get = |name: &str| attribute(source, &block.body, name);
                links.states.push(Read {
                    name: (*name).to_owned(),
                    backend: get("backend").and_then(|e| literal(source, e)),
                    workspace: get("workspace").and_then(|e| literal(source, e)),
                    config: get("config").and_then(|e| map_settings(source, e)),
                    at,
                });
            }
            _ => {}
        }
    }
    links
}

fn kept(source: &Source, block: &Block) -> Option<Kept> {
    let kind = match (source.slice(block.keyword), block.labels.as_slice()) {
        ("backend", [(label, _)]) => label.clone(),
        ("cloud", []) => "cloud".to_owned(),
        _ => return None,
    };
    Some(Kept { kind, settings: body_settings(source, &block.body), at: spot(source, block.keyword) })
}

fn attribute<'a>(source: &Source, body: &'a Body, name: &str) -> Option<&'a Expression> {
    body.attributes.iter().find(|own| source.slice(own.name) == name).map(|own| &own.expression)
}

fn body_settings(source: &Source, body: &Body) -> Settings {
    let mut settings = Settings::new();
    for own in &body.attributes {
        add(source, source.slice(own.name), &own.expression, &mut settings);
    }
    for block in &body.blocks {
        let name = source.slice(block.keyword);
        let inner = body_settings(source, &block.body);
        settings.extend(inner.into_iter().map(|(key, value)| (format!("{name}.{key}"), value)));
    }
    settings
}

fn map_settings(source: &Source, expression: &Expression) -> Option<Settings> {
    match &expression.node {
        Node::Parentheses(inner) => map_settings(source, inner),
        Node::Map(pairs) => {
            let mut settings = Settings::new();
            for (key, value) in pairs {
                let name = match &key.node {
                    Node::Name => source.slice(key.span),
                    Node::Text(text) => text.as_str(),
                    _ => continue,
                };
                add(source, name, value, &mut settings);
            }
            Some(settings)
        }
        _ => None,
    }
}

fn add(source: &Source, name: &str, value: &Expression, settings: &mut Settings) {
    if let Some(inner) = map_settings(source, value) {
        settings.extend(inner.into_iter().map(|(key, value)| (format!("{name}.{key}"), value)));
    } else if let Some(value) = literal(source, value) {
        settings.insert(name.to_owned(), value);
    }
}

/// The value of an expression; `None` where it is `null`.
fn literal(source: &Source, expression: &Expression) -> Option<Literal> {
    Some(match &expression.node {
        Node::Null => return None,
        Node::Bool(b) => Literal::Text(b.to_string()),
        Node::Number => Literal::Text(source.slice(expression.span).to_owned()),
        Node::Text(text) => Literal::Text(text.clone()),
        Node::Template(parts) => {
            let text = parts.iter().map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            });
            text.collect::<Option<String>>().map_or(Literal::Computed, Literal::Text)
        }
        Node::Parentheses(inner) => return literal(source, inner),
        _ => Literal::Computed,
    })
}

fn of_json(source: &Source) -> Links {
    let root = match json::parse(source) {
        Ok(root) => root,
        Err(problem) => return Links { problems: vec![*problem], ..Links::default() },
    };
    let mut links = Links::default();
    for (keyword, (_, block)) in root.bodies().into_iter().flatten() {
        match keyword.as_str() {
            "terraform" => {
                for (keyword, (span, own)) in block.bodies().into_iter().flatten() {
                    match keyword.as_str() {
                        "cloud" => links.backends.push(json_kept(source, "cloud", *span, own)),
                        "backend" => {
                            for (kind, (span, own)) in own.bodies().into_iter().flatten() {
                                links.backends.push(json_kept(source, kind, *span, own));
                            }
                        }
                        _ => {}
                    }
                }
            }
            "module" => {
                for (name, (span, own)) in block.bodies().into_iter().flatten() {
                    for body in own.bodies() {
                        let get = |name: &str| body.get(name).and_then(|(_, json)| json_literal(json));
                        let at = spot(source, *span);
                        links.modules.push(Called {
                            name: name.clone(),
                            source: get("source"),
                            version: get("version"),
                            at,
                        });
                    }
                }
            }
            "data" => {
                let kinds = block.bodies().into_iter().flatten();
                for (_, (_, states)) in kinds.filter(|(kind, _)| *kind == "terraform_remote_state") {
                    for (name, (span, own)) in states.bodies().into_iter().flatten() {
                        for body in own.bodies() {
                            let get = |name: &str| body.get(name).map(|(_, json)| json);
                            links.states.push(Read {
                                name: name.clone(),
                                backend: get("backend").and_then(json_literal),
                                workspace: get("workspace").and_then(json_literal),
                                config: get("config").and_then(json_settings),
                                at: spot(source, *span),
                            });
                        }
                    }
                }
            }
            _ => {}
        }
    }
    links
}

fn json_kept(source: &Source, kind: &str, span: Span, json: &Json) -> Kept {
    let settings = json.bodies().into_iter().next().map(map_of).unwrap_or_default();
    Kept { kind: kind.to_owned(), settings, at: spot(source, span) }
}

fn json_settings(json: &Json) -> Option<Settings> {
    match &json.node {
        json::Node::Map(map) => Some(map_of(map)),
        _ => None,
    }
}

fn map_of(map: &indexmap::IndexMap<String, (Span, Json)>) -> Settings {
    let mut settings = Settings::new();
    for (name, (_, value)) in map {
        // A block within a block may stand in a list of one.
        let inner = json_settings(value).or_else(|| match &value.node {
            json::Node::List(items) => items.iter().find_map(json_settings),
            _ => None,
        });
        match inner {
            Some(inner) => settings.extend(inner.into_iter().map(|(key, value)| (format!("{name}.{key}"), value))),
            None => {
                if let Some(value) = json_literal(value) {
                    settings.insert(name.clone(), value);
                }
            }
        }
    }
    settings
}

fn json_literal(json: &Json) -> Option<Literal> {
    Some(match &json.node {
        json::Node::Null => return None,
        json::Node::Bool(b) => Literal::Text(b.to_string()),
        json::Node::Number(number) => Literal::Text(number.to_string()),
        json::Node::Text(text) if text.contains("${") || text.contains("%{") => Literal::Computed,
        json::Node::Text(text) => Literal::Text(text.clone()),
        json::Node::List(_) | json::Node::Map(_) => Literal::Computed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = r#"
terraform {
  required_version = ">= 1"
  backend "s3" {
    bucket = "b"
    key    = "${var.x}/k"
    use_lockfile = true
    endpoints = { s3 = "http://e" }
  }
}
module "net" {
  source  = "./net"
  version = var.v
}
data "terraform_remote_state" "a" {
  backend = "remote"
  config = {
    organization = "o"
    workspaces = { name = "w" }
    "quoted" = 1
  }
}
data "other" "a" {}
"#;

    fn read(path: &str, text: &str) -> Links {
        links(Path::new(path), Arc::from(text))
    }

    fn text(words: &str) -> Literal {
        Literal::Text(words.to_owned())
    }

    #[test]
    fn what_stands_in_the_code_is_literal_and_the_rest_computed() {
        let links = read("main.tf", CODE);
        assert!(links.problems.is_empty());
        let backend = &links.backends[0];
        assert_eq!((backend.kind.as_str(), backend.at), ("s3", Spot { line: 4, column: 3 }));
        assert_eq!(backend.settings["key"], Literal::Computed);
        assert_eq!(backend.settings["endpoints.s3"], text("http://e"));
        assert_eq!(backend.settings["use_lockfile"], text("true"));
        assert_eq!(links.modules[0].source, Some(text("./net")));
        assert_eq!(links.modules[0].version, Some(Literal::Computed));
        let config = links.states[0].config.clone().expect("a map");
        assert_eq!(config["workspaces.name"], text("w"));
        assert_eq!(config["quoted"], text("1"));
        assert_eq!(links.states.len(), 1);
    }

    #[test]
    fn json_says_the_same() {
        let json = r#"{"terraform": [{"backend": {"s3": {"bucket": "b", "key": "${x}"}}, "cloud": {"workspaces": [{"name": "w"}]}}],
            "module": {"net": {"source": "./net"}},
            "data": {"terraform_remote_state": {"a": {"backend": "s3", "config": {"bucket": "b"}}}}}"#;
        let links = read("main.tf.json", json);
        assert_eq!(links.backends[0].settings["key"], Literal::Computed);
        assert_eq!(links.backends[1].settings["workspaces.name"], text("w"));
        assert_eq!(links.modules[0].source, Some(text("./net")));
        assert_eq!(links.states[0].config.clone().expect("a map")["bucket"], text("b"));
    }

    #[test]
    fn code_that_is_broken_says_where_and_the_rest_counts() {
        let links = read("x/main.tf", "module \"a\" {\n  source = \"./a\"\n}\nresource = = 1\n");
        assert_eq!(links.modules.len(), 1);
        assert_eq!(links.problems[0].place.map(|p| p.to_string()).as_deref(), Some("x/main.tf:4:12"));
    }
}
