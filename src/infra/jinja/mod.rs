//! The templates of a layer: Jinja2 3.1.6 with `StrictUndefined`, without a loader, a program or an object of the host.
//!
//! Enters: a text and the variables. Leaves: what it renders to, or a problem at the template's own line. Never reads a
//! file or starts anything by itself: the [`Host`] answers what a template asks for.

mod deepformat;
mod dialect;
mod function;
mod json;
#[cfg(test)]
mod tests;
mod unknown;
mod value;
mod varied;

pub use json::decode;
pub use value::Var;

use super::Value;
use crate::base::{FileId, Place, Problem};
use crate::module::template::{Space, environment, error};
use dialect::Dialect;
use indexmap::IndexMap;
use minijinja::value::{Object, ObjectRepr, Value as Jin};
use minijinja::{Environment, ErrorKind};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The layer that a template asks about. What is `None` was not given: stack and environment are then the asking
/// layer's, sub-environment and instance are none. One of the four is always given.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Target {
    pub stack: Option<String>,
    pub environment: Option<String>,
    pub subenvironment: Option<String>,
    pub instance: Option<String>,
}

/// What `lookup("nginx.port", role = "web")` asks of the host data: the keys of `!LOOKUP`, of which `field` comes first.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Lookup {
    pub field: String,
    /// The other keys as the template gives them: `nodes`, `role`, `ip`, `format`, `self`, `from`, `required`. An unknown
    /// one, or a value that does not fit, is for the host to refuse.
    pub keys: IndexMap<String, Value>,
}

/// What was found.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    Value(Value),
    /// There is no such name; the words say where it was looked for: `layer stacks/ferry/layers/harbor has no variable
    /// absent`. The template goes on with something undefined, which `default` can replace.
    Absent(String),
    /// There is a value, and nobody knows it yet: every name, item and method of it is unknown, too.
    Unknown,
}

/// Answers what templates ask for beyond their variables. An `Err` stops the template: one line, lower case, no stop.
pub trait Host: Send + Sync {
    /// The text of a file, CRLF as LF.
    fn file(&self, path: &str) -> Result<String, String>;

    /// A variable in the plain files of another layer.
    fn variable(&self, name: &str, target: &Target) -> Result<Answer, String>;

    /// An output of another layer.
    fn output(&self, name: &str, target: &Target) -> Result<Answer, String>;

    /// The attributes of a resource of another layer.
    fn resource(&self, address: &str, target: &Target) -> Result<Answer, String>;

    /// A list of values of the host data.
    fn lookup(&self, asked: &Lookup) -> Result<Answer, String>;
}

/// How white space around blocks is treated: as it stands, but for one newline at the end.
const SPACE: Space = Space { trim_blocks: false, lstrip_blocks: false, keep_trailing_newline: false };

/// What was looked for in vain, by template, for the report of what is undefined.
type Missed = Arc<Mutex<BTreeMap<String, Vec<(String, String)>>>>;

/// The engine of one layer. Several threads may render with it.
pub struct Jinja {
    environment: Environment<'static>,
    missed: Missed,
}

impl Jinja {
    pub fn new(host: Arc<dyn Host>) -> Jinja {
        let mut environment = environment(SPACE);
        let missed = Missed::default();
        environment.set_loader(|_| {
            let words = "`include`, `import` and `extends` are not there in a layer: every template stands alone";
            Err::<Option<String>, _>(minijinja::Error::new(ErrorKind::InvalidOperation, words))
        });
        // It would print every variable.
        environment.remove_global("debug");
        environment.add_global("self", Jin::from_object(Whole));
        function::add(&mut environment, &host, &missed);
        varied::add(&mut environment);
        Jinja { environment, missed }
    }

    /// Renders the text of `file` with `var`.
    ///
    /// # Errors
    /// The template's own place and words; never the values that it was given, but for what `throw` says.
    pub fn render(&self, file: FileId, var: &Var) -> Result<String, Problem> {
        let text = file.text();
        let text = match text.contains('\r') {
            true => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
            false => Cow::Borrowed(&*text),
        };
        let dialect = Dialect::of(&text);
        let name = file.path().display().to_string();
        let context = var.context();
        let found = self
            .environment
            .template_from_named_str(&name, &dialect.text)
            .and_then(|template| template.render(context.clone()));
        let missed = self.missed.lock().unwrap_or_else(|e| e.into_inner()).remove(&name).unwrap_or_default();
        found.map_err(|error| {
            // The text that the engine read stands in for the file, whose place is then told.
            let read = FileId::new(file.path(), &*dialect.text);
            let mut problem = error::problem(&error, |_| String::new(), &|_| Some(read), &context);
            let unclosed =
                problem.what.starts_with("unexpected end of input").then(|| dialect::unclosed(&dialect.text));
            if let Some((word, at)) = unclosed.flatten() {
                let before = dialect.text.get(..at).unwrap_or_default();
                let line = before.matches('\n').count() as u32 + 1;
                let column = before.chars().rev().take_while(|c| *c != '\n').count() as u32 + 1;
                problem = Problem::new(format!("`{{% {word} %}}` of line {line} is never closed"));
                problem = problem.at(Place { file, line, column, width: 2 });
            }
            if let Some(place) = &mut problem.place {
                place.file = file;
                place.column = dialect.column(place.line, place.column);
            }
            function::told(problem, &missed, &context)
        })
    }
}

/// What `self` is: there, without a value. The engine itself answers `self.block()`.
#[derive(Debug)]
struct Whole;

impl Object for Whole {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }
}
