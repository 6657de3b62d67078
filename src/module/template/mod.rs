//! Jinja templates of a module, resolved inside `templates/` only.
//!
//! Strict: an undefined name is an error. `trim_blocks`, `lstrip_blocks` and `keep_trailing_newline` are on, CRLF
//! becomes LF, nothing is escaped. Where minijinja and Jinja2 differ, this room follows Jinja2 as far as it can.

mod cycler;
pub mod error;
pub mod filter;
mod json;
pub mod method;
pub mod number;
mod origin;
pub mod printf;
pub mod python;
#[cfg(test)]
mod tests;

pub use origin::Piece;

use super::files::Files;
use crate::base::{FileId, Plain, Problem, Problems};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Environment, ErrorKind, UndefinedBehavior};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// Steps of one rendering; a template that loops over a thousand items needs some ten thousand.
const STEPS: u64 = 10_000_000;

/// The templates of one module, each compiled once.
pub struct Templates {
    module: String,
    files: Arc<dyn Files>,
    environment: Environment<'static>,
    sources: Arc<Sources>,
}

/// The texts that were compiled, by name, for the places of errors.
#[derive(Default)]
struct Sources(Mutex<BTreeMap<String, FileId>>);

impl Sources {
    fn add(&self, name: &str, shown: std::path::PathBuf, text: &str) {
        let mut known = self.0.lock().unwrap_or_else(|e| e.into_inner());
        known.entry(name.to_owned()).or_insert_with(|| FileId::new(shown, text));
    }

    fn get(&self, name: &str) -> Option<FileId> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).get(name).copied()
    }
}

/// How white space around blocks is treated.
#[derive(Clone, Copy)]
pub struct Space {
    pub trim_blocks: bool,
    pub lstrip_blocks: bool,
    pub keep_trailing_newline: bool,
}

/// What holds for every template of a module.
const SPACE: Space = Space { trim_blocks: true, lstrip_blocks: true, keep_trailing_newline: true };

impl Templates {
    pub fn new(module: &str, files: Arc<dyn Files>) -> Templates {
        Templates::spaced(module, files, SPACE)
    }

    fn spaced(module: &str, files: Arc<dyn Files>, space: Space) -> Templates {
        let mut environment = environment(space);
        let sources = Arc::new(Sources::default());
        let (folder, known) = (Arc::clone(&files), Arc::clone(&sources));
        environment.set_loader(move |name| {
            if super::star::safe(name).is_none() {
                return Ok(None);
            }
            let path = format!("templates/{name}");
            let failed = |text: String| minijinja::Error::new(ErrorKind::InvalidOperation, text);
            let Some(bytes) = folder.read(&path).map_err(|problem| failed(problem.what))? else { return Ok(None) };
            let shown = folder.shown(&path);
            let text =
                std::str::from_utf8(&bytes).map_err(|_| failed(format!("`{}` is not UTF-8", shown.display())))?;
            let text = text.replace("\r\n", "\n");
            known.add(name, shown, &text);
            Ok(Some(text))
        });
        Templates { module: module.to_owned(), files, environment, sources }
    }

    /// Compiles every template.
    pub fn check(&self) -> Problems {
        let names = match self.files.walk("templates") {
            Ok(names) => names,
            Err(problem) => return vec![problem],
        };
        let names = names.iter().filter_map(|path| path.strip_prefix("templates/"));
        names.filter_map(|name| self.get(name, &Plain::Null).err()).collect()
    }

    fn get(&self, name: &str, vars: &Plain) -> Result<minijinja::Template<'_, '_>, Problem> {
        self.environment.get_template(name).map_err(|error| match error.kind() {
            ErrorKind::TemplateNotFound => self.absent(name),
            _ => self.problem(&error, vars),
        })
    }

    /// Renders `name` with the keys of `vars` as names, and all of them under `config`.
    ///
    /// # Errors
    /// The template's own place and words; never the values that it was given.
    pub fn render(&self, name: &str, vars: &Plain) -> Result<String, Problem> {
        let template = self.get(name, vars)?;
        template.render(value(&origin::named(vars))).map_err(|error| self.problem(&error, vars))
    }

    fn absent(&self, name: &str) -> Problem {
        let shown = self.files.shown(&format!("templates/{name}"));
        let problem = Problem::new(format!("module `{}`: there is no template `{}`", self.module, shown.display()))
            .expected("expected a file inside `templates/`");
        let known = self.files.walk("templates").unwrap_or_default();
        let known = known.iter().filter_map(|path| path.strip_prefix("templates/"));
        match crate::base::nearest::nearest(name, known) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        }
    }

    fn problem(&self, error: &minijinja::Error, vars: &Plain) -> Problem {
        let before = |name: &str| format!("module `{}`: template `{name}`: ", self.module);
        error::problem(error, before, &|name| self.sources.get(name), &value(vars))
    }
}

/// The engine with everything in which it follows Jinja2; it has no templates and no loader.
pub fn environment(space: Space) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(STEPS));
    // For the names in errors. The values that it collects beside are never shown.
    environment.set_debug(true);
    let syntax = SyntaxConfig::builder()
        .trim_blocks(space.trim_blocks)
        .lstrip_blocks(space.lstrip_blocks)
        .keep_trailing_newline(space.keep_trailing_newline)
        .build();
    if let Ok(syntax) = syntax {
        environment.set_syntax(syntax);
    }
    environment.set_unknown_method_callback(method::call);
    environment.set_formatter(|out, state, value| {
        // The engine knows best where something undefined comes from.
        let plain = matches!(state.auto_escape(), AutoEscape::None);
        if plain && !value.is_undefined() && value.kind() != ValueKind::Invalid {
            return out.write_str(&python::text(value)?).map_err(minijinja::Error::from);
        }
        minijinja::escape_formatter(out, state, value)
    });
    filter::add(&mut environment);
    environment
}

fn value(plain: &Plain) -> Value {
    match plain {
        Plain::Null => Value::from(()),
        Plain::Bool(b) => Value::from(*b),
        Plain::Int(n) => Value::from(*n),
        Plain::Float(x) => Value::from(*x),
        Plain::Str(text) => Value::from(text.as_str()),
        Plain::List(list) => Value::from(list.iter().map(value).collect::<Vec<Value>>()),
        Plain::Map(map) => Value::from_pairs(map.iter().map(|(key, item)| (key.as_str(), value(item)))),
    }
}
