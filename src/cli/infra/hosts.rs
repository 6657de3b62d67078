//! Answers `lookup()` of templates from the data of a workspace.

use crate::base::{Mask, Place, Problem, Problems, nearest::nearest};
use crate::catalogue::{self, Open, Questions, Workspace};
use crate::cli::{Context, Settings};
use crate::data::yaml::{self, LOOKUP_OPTIONS};
use crate::data::{Kind, Lookup, Tree};
use crate::infra::jinja::Lookup as Asked;
use crate::infra::layer::{Hosts, Looked};
use crate::infra::{Value, value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The name under which a question is read as a marker.
const NAME: &str = "lookup";

/// The data of the workspace around a tree of layers, read when the first template asks.
pub struct Data {
    root: PathBuf,
    /// The root of the tree of layers.
    tree: PathBuf,
    mask: Mask,
    revision: Option<Arc<dyn Tree>>,
    opened: OnceLock<Result<Opened, Problems>>,
}

struct Opened {
    workspace: Workspace,
    asking: Mutex<Asking>,
    /// The secrets that were opened so far.
    secrets: Arc<Mutex<Vec<String>>>,
}

struct Asking {
    questions: Questions,
    /// What was asked before, by its words: the answer is found by the very same marker.
    known: HashMap<String, (Arc<Lookup>, Place)>,
}

/// The host data for a tree of layers: the workspace that was named, else the nearest at or above its root; `None` where
/// there is none.
pub fn around(tree: &Path, context: &Context, mask: &Mask) -> Option<Arc<dyn Hosts>> {
    let root = match &context.workspace {
        Some(root) => root.clone(),
        None => catalogue::find(tree)?,
    };
    Some(of(&root, tree, mask, None))
}

/// The data of the workspace at `root`, as a revision of it has it, for a tree of layers.
pub fn of(root: &Path, tree: &Path, mask: &Mask, revision: Option<Arc<dyn Tree>>) -> Arc<dyn Hosts> {
    let (root, tree, mask) = (root.to_owned(), tree.to_owned(), mask.clone());
    Arc::new(Data { root, tree, mask, revision, opened: OnceLock::new() })
}

impl Data {
    fn open(&self) -> Result<Opened, Problems> {
        let vault = Settings::read(&self.root)?.vault(&self.mask)?;
        let mut workspace = Workspace::open(&self.root)?;
        if let Some(revision) = &self.revision {
            workspace = workspace.beside(revision.clone())?;
        }
        let secrets: Arc<Mutex<Vec<String>>> = Arc::default();
        let opened = secrets.clone();
        let open: Arc<Open> = Arc::new(move |cipher, field, place| {
            let plaintext = vault.reveal(cipher, field, place)?;
            let text = plaintext.as_str().ok_or_else(|| {
                Problem::new(format!("the secret `{field}` is no text")).at(place).expected("expected UTF-8")
            })?;
            opened.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
            Ok(text.to_owned())
        });
        let asking = Mutex::new(Asking { questions: Questions::new(open), known: HashMap::new() });
        Ok(Opened { workspace, asking, secrets })
    }
}

impl Hosts for Data {
    fn lookup(&self, asked: &Asked) -> Result<Looked, Problems> {
        let opened = self.opened.get_or_init(|| self.open()).as_ref().map_err(Problems::clone)?;
        let text = marker(asked)?;
        let mut asking = opened.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let (lookup, place) = match asking.known.get(&text) {
            Some(known) => known.clone(),
            None => {
                let read = read(&text).map_err(plain)?;
                asking.known.insert(text, read.clone());
                read
            }
        };
        let found = asking.questions.ask(&opened.workspace, &lookup, place).map_err(plain)?;
        // An answer that is known opens nothing again, but is as secret as before.
        let secrets = opened.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        let texts: Vec<Value> = found.iter().filter_map(|v| v.scalar()).map(|v| Value::from(&*v.text)).collect();
        let held = |text: &str| secrets.iter().any(|secret| text.contains(secret.as_str()));
        let secrets = texts.iter().filter(|text| text.as_str().is_some_and(held)).cloned().collect();
        Ok(Looked { value: Value::List(texts), secrets })
    }

    fn of_revision(&self, revision: Arc<dyn Tree>) -> Arc<dyn Hosts> {
        let same = |a: &Path, b: &Path| {
            a == b || a.canonicalize().ok().zip(b.canonicalize().ok()).is_some_and(|(a, b)| a == b)
        };
        // A workspace above the tree is not in what the revision has of the tree.
        let revision = same(&self.root, &self.tree).then_some(revision);
        let (root, tree) = (self.root.clone(), self.tree.clone());
        Arc::new(Data { root, tree, mask: self.mask.clone(), revision, opened: OnceLock::new() })
    }
}

/// The question as it would stand in a data file.
fn marker(asked: &Asked) -> Result<String, Problem> {
    let mut options = vec![format!("field: {}", quoted(&asked.field))];
    for (name, value) in &asked.keys {
        if name == "self" {
            return Err(
                Problem::new("`self` makes no sense in a layer").note("a layer is no node that could find itself")
            );
        }
        if !LOOKUP_OPTIONS.contains(&name.as_str()) {
            let problem = Problem::new(format!("there is no argument `{name}`"));
            let known: Vec<&str> = LOOKUP_OPTIONS.into_iter().filter(|name| *name != "self").collect();
            return Err(match nearest(name, known.iter().copied()) {
                Some(near) => problem.note(format!("did you mean `{near}`?")),
                None => problem.note(format!("expected one of `{}`", known.join("`, `"))),
            });
        }
        let text = match value {
            Value::Bool(b) => b.to_string(),
            Value::Str(text) => quoted(text),
            Value::Number(value::Number::Int(n)) => n.to_string(),
            other => {
                return Err(Problem::new(format!("`{name}` is {}", other.type_name())).note("expected a string"));
            }
        };
        options.push(format!("{name}: {text}"));
    }
    Ok(format!("{NAME}: !LOOKUP {{{}}}", options.join(", ")))
}

/// A string in quotes, as YAML has it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() || !c.is_ascii() => out.push_str(&format!("\\U{:08x}", c as u32)),
            c => out.push(c),
        }
    }
    out + "\""
}

fn read(text: &str) -> Result<(Arc<Lookup>, Place), Problems> {
    let lost = || Problem::new("the question cannot be read");
    let file = yaml::load(Path::new(NAME), text.as_bytes())?.ok_or_else(lost)?;
    let value = file.get(NAME).and_then(|member| member.value.plain().cloned()).ok_or_else(lost)?;
    match value.kind {
        Kind::Lookup(lookup) => Ok((lookup, value.place)),
        _ => Err(lost().into()),
    }
}

/// Problems of a question, without the place that it has in no file.
fn plain(problems: Problems) -> Problems {
    let here = |place: &Place| place.path() == Path::new(NAME);
    let words = |problem: Problem| {
        let what = problem.what.replace(&format!(" of the lookup at `{NAME}`"), "");
        let what = what.replace(&format!("the lookup at `{NAME}`"), "it");
        Problem { place: problem.place.filter(|place| !here(place)), what, ..problem }
    };
    problems.into_iter().map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(keys: &[(&str, Value)]) -> Asked {
        let keys = keys.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Asked { field: "nginx.port".to_owned(), keys }
    }

    #[test]
    fn a_question_is_read_as_a_marker_whatever_it_holds() {
        let odd = "a\"b\\c: {x}, #é\u{1f3fa}\n";
        let text = marker(&asked(&[("nodes", odd.into()), ("required", false.into())])).expect("a marker");
        let (lookup, _) = read(&text).expect("a lookup");
        assert_eq!((lookup.field.as_str(), lookup.nodes.as_str(), lookup.required), ("nginx.port", odd, false));
    }

    #[test]
    fn a_bad_question_is_refused_in_words_of_a_template() {
        let told = |keys: &[(&str, Value)]| {
            let problems = match marker(&asked(keys)) {
                Ok(text) => read(&text).map_err(plain).expect_err("a problem"),
                Err(problem) => problem.into(),
            };
            problems.first().map(|p| (p.what.clone(), p.expected.clone(), p.place.is_some())).expect("one")
        };
        assert_eq!(told(&[("rolle", "web".into())]).0, "there is no argument `rolle`");
        assert_eq!(told(&[("self", "only".into())]).0, "`self` makes no sense in a layer");
        assert_eq!(told(&[("nodes", Value::List(vec![]))]).0, "`nodes` is a list");
        let expected = Some("expected one of `v4`, `v6`, `any`, found `v5`".to_owned());
        assert_eq!(told(&[("ip", "v5".into())]), ("`ip` is not usable".to_owned(), expected, false));
    }
}
