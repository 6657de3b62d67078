//! What Terraform code declares: variables, and where the state is kept.

use super::eval::Evaluator;
use super::json::{self, Json};
use super::lexer::Span;
use super::parser;
use super::source::Source;
use super::{Backend, Found};
use crate::base::{FileId, Place};
use crate::infra::Value;
use indexmap::IndexMap;

/// The words of a block that says where the state is kept.
const KEYWORDS: [&str; 2] = ["backend", "cloud"];

/// Names the variables that a file of code (`*.tf`) declares.
pub fn declared(file: FileId) -> Found<(String, Place)> {
    let source = Source::new(file);
    let (body, problems) = parser::parse(&source);
    let blocks = body.blocks.iter().filter(|block| source.slice(block.keyword) == "variable");
    let names = blocks.filter_map(|block| block.labels.first());
    Found { items: names.map(|(name, span)| (name.clone(), source.place(*span))).collect(), problems }
}

/// Names the variables that a file of code in JSON (`*.tf.json`) declares.
pub fn declared_json(file: FileId) -> Found<(String, Place)> {
    let source = Source::new(file);
    within(&source, |root| {
        let variables = root.bodies().into_iter().filter_map(|body| body.get("variable"));
        let bodies = variables.flat_map(|(_, json)| json.bodies());
        bodies.flatten().map(|(name, (span, _))| (name.clone(), source.place(*span))).collect()
    })
}

/// The `backend` and `cloud` blocks of a file of code (`*.tf`), in whichever `terraform` block they stand.
pub fn backends(file: FileId) -> Found<Backend> {
    let source = Source::new(file);
    let (body, problems) = parser::parse(&source);
    let outer = body.blocks.iter().filter(|block| source.slice(block.keyword) == "terraform");
    let blocks = outer.flat_map(|block| &block.body.blocks);
    let blocks = blocks.filter(|block| KEYWORDS.contains(&source.slice(block.keyword)));
    let items = blocks.map(|block| Backend {
        keyword: source.slice(block.keyword).to_owned(),
        label: block.labels.first().map(|(label, _)| label.clone()),
        text: source.slice(block.span).to_owned(),
        place: source.place(block.keyword),
    });
    Found { items: items.collect(), problems }
}

/// The same of a file of code in JSON (`*.tf.json`); the text of each is its settings as a JSON object.
pub fn backends_json(file: FileId) -> Found<Backend> {
    let source = Source::new(file);
    within(&source, |root| {
        let outer = root.bodies().into_iter().filter_map(|body| body.get("terraform"));
        let mut found = vec![];
        for (keyword, (span, json)) in outer.flat_map(|(_, json)| json.bodies()).flatten() {
            let mut add = |label: Option<&String>, span: &Span, json: &Json| {
                found.push(Backend {
                    keyword: keyword.clone(),
                    label: label.cloned(),
                    text: source.slice(json.span).to_owned(),
                    place: source.place(*span),
                });
            };
            match keyword.as_str() {
                "cloud" => add(None, span, json),
                "backend" => {
                    for (label, (span, json)) in json.bodies().into_iter().flatten() {
                        add(Some(label), span, json);
                    }
                }
                _ => {}
            }
        }
        found
    })
}

impl Backend {
    /// The settings of the block that stand there as plain values; what has to be computed is left out. The second one is
    /// true where nothing is left out.
    pub fn settings(&self) -> (IndexMap<String, Value>, bool) {
        let source = Source::new(FileId::new(self.place.path(), self.text.as_str()));
        if self.text.starts_with(['{', '[']) {
            let root = json::parse(&source).ok();
            let bodies = root.as_ref().map(Json::bodies).unwrap_or_default();
            let texts = bodies.into_iter().flatten().filter_map(|(name, (_, json))| match &json.node {
                json::Node::Text(text) => Some((name.clone(), Value::from(text.as_str()))),
                _ => None,
            });
            return (texts.collect(), true);
        }
        let (body, _) = parser::parse(&source);
        let mut settings = IndexMap::new();
        let mut evaluator = Evaluator::new(&source);
        let mut whole = true;
        for setting in body.blocks.iter().flat_map(|block| &block.body.attributes) {
            match evaluator.value(&setting.expression) {
                Some(value) => drop(settings.insert(source.slice(setting.name).to_owned(), value.into_value())),
                None => whole = false,
            }
        }
        (settings, whole)
    }
}

fn within<T>(source: &Source, find: impl FnOnce(&Json) -> Vec<T>) -> Found<T> {
    match json::parse(source) {
        Ok(root) => Found { items: find(&root), problems: vec![] },
        Err(problem) => Found { items: vec![], problems: vec![*problem] },
    }
}
