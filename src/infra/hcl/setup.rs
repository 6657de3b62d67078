//! What of Terraform code an `init` depends on, and which states of others it reads.

use super::parser;
use super::source::Source;
use super::tree::{Block, Node};
use crate::base::FileId;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// What one file of code says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Setup {
    /// The texts of the blocks `terraform`, `module` and `provider`; where neither they nor `providers` changed, an
    /// `init` would do nothing new.
    pub texts: Vec<String>,
    /// A module comes from elsewhere.
    pub far: bool,
    /// The first words of the types of resources and data.
    pub providers: BTreeSet<String>,
    /// The blocks `data "terraform_remote_state"`.
    pub states: Vec<RemoteState>,
    /// `(state, output)` for each `data.terraform_remote_state.<state>.outputs.<output>`; the output is `*` where the
    /// code takes all of them, or one that it computes.
    pub reads: BTreeSet<(String, String)>,
}

/// A block `data "terraform_remote_state"`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemoteState {
    pub name: String,
    /// The block as it was written; of JSON its object.
    pub text: String,
    /// Its first and its last line, from 1; of JSON none is known, and both are 0.
    pub lines: (u32, u32),
}

static READ: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let text = r#"\bdata\s*\.\s*terraform_remote_state\s*\.\s*([A-Za-z0-9_-]+)\s*(?:\[[^\]\n]*\])?\s*\.\s*outputs(?:\s*\.\s*([A-Za-z_][A-Za-z0-9_-]*)|\[\s*"([^"\n]+)"\s*\])?"#;
    Regex::new(text).ok()
});

/// Reads a file of code (`*.tf`). One that is no HCL is Terraform's to refuse, and counts as a whole.
pub fn setup(file: FileId) -> Setup {
    let source = Source::new(file);
    let (body, problems) = parser::parse(&source);
    let mut setup = Setup { reads: reads(&source.text), ..Setup::default() };
    if !problems.is_empty() {
        setup.texts.push(source.text.to_string());
    }
    for block in &body.blocks {
        match source.slice(block.keyword) {
            keyword @ ("terraform" | "module" | "provider") => {
                setup.far |= keyword == "module" && !is_near(&source, block);
                setup.texts.push(source.slice(block.span).to_owned());
            }
            "resource" | "data" | "ephemeral" => {
                let mut labels = block.labels.iter().map(|(label, _)| label.as_str());
                let Some(kind) = labels.next() else { continue };
                setup.providers.insert(kind.split('_').next().unwrap_or(kind).to_owned());
                if let ("terraform_remote_state", Some(name)) = (kind, labels.next()) {
                    let text = source.slice(block.span).to_owned();
                    let first = source.place(block.keyword).line;
                    let last = first.saturating_add(u32::try_from(text.matches('\n').count()).unwrap_or(0));
                    setup.states.push(RemoteState { name: name.to_owned(), text, lines: (first, last) });
                }
            }
            _ => {}
        }
    }
    setup
}

/// True for a module in a folder of the tree.
fn is_near(source: &Source, block: &Block) -> bool {
    let of = block.body.attributes.iter().find(|setting| source.slice(setting.name) == "source");
    of.is_some_and(|setting| matches!(&setting.expression.node, Node::Text(text) if text.starts_with('.')))
}

/// The same of a file of code in JSON, which counts as a whole.
pub fn setup_json(file: FileId) -> Setup {
    let text = file.text();
    let mut setup = Setup { reads: reads(&text), texts: vec![text.to_string()], ..Setup::default() };
    setup.far = text.contains("\"module\"");
    let root: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    for keyword in ["resource", "data", "ephemeral"] {
        for (kind, names) in bodies(&root).filter_map(|body| body.get(keyword)).flat_map(bodies).flatten() {
            setup.providers.insert(kind.split('_').next().unwrap_or(kind).to_owned());
            if kind == "terraform_remote_state" {
                let state = |(name, body): (&String, &serde_json::Value)| RemoteState {
                    name: name.clone(),
                    text: body.to_string(),
                    lines: (0, 0),
                };
                setup.states.extend(bodies(names).flatten().map(state));
            }
        }
    }
    setup
}

/// An object, or the objects of a list.
fn bodies(value: &serde_json::Value) -> impl Iterator<Item = &serde_json::Map<String, serde_json::Value>> {
    value.as_object().into_iter().chain(value.as_array().into_iter().flatten().filter_map(|item| item.as_object()))
}

fn reads(text: &str) -> BTreeSet<(String, String)> {
    let Some(read) = READ.as_ref() else { return BTreeSet::new() };
    let found = read.captures_iter(text).map(|found| {
        let part = |at| found.get(at).map(|part: regex::Match<'_>| part.as_str().to_owned());
        (part(1).unwrap_or_default(), part(2).or_else(|| part(3)).unwrap_or_else(|| "*".to_owned()))
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_init_depends_on_and_what_is_read_of_others() {
        let text = r#"
terraform {
  backend "local" { path = "x" }
}
module "net" { source = "../net" }
resource "aws_instance" "web" {
  subnet = data.terraform_remote_state.vpc.outputs.subnet
  other  = try(data.terraform_remote_state.vpc.outputs["two words"], lookup(data.terraform_remote_state.dns[0].outputs, "a"))
}
data "terraform_remote_state" "vpc" { backend = "local" }
data "terraform_remote_state" "dns" { backend = "local" }
locals { a = 1 }
"#;
        let found = setup(FileId::new("main.tf", text));
        let set = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<BTreeSet<String>>();
        assert_eq!((found.texts.len(), found.far), (2, false));
        assert_eq!(found.providers, set(&["aws", "terraform"]));
        let states: Vec<_> = found.states.iter().map(|state| (state.name.as_str(), state.lines)).collect();
        assert_eq!(states, [("vpc", (10, 10)), ("dns", (11, 11))]);
        let reads: Vec<String> = found.reads.iter().map(|(state, output)| format!("{state}.{output}")).collect();
        assert_eq!(reads, ["dns.*", "vpc.subnet", "vpc.two words"]);
        let json =
            r#"{"data": {"terraform_remote_state": {"vpc": {"backend": "local"}}}, "resource": [{"aws_x": {}}]}"#;
        let found = setup_json(FileId::new("main.tf.json", json));
        assert_eq!((found.providers, found.states.len()), (set(&["aws", "terraform"]), 1));
        assert_eq!(setup(FileId::new("odd.tf", "}{")).texts, ["}{"]);
    }
}
