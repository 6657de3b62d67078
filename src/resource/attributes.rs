//! The attributes of one resource, as module code wrote them, and the problems that they can have.

use super::{Content, Id, path};
use crate::base::nearest::nearest;
use crate::base::{Place, Plain, Problem};

/// What every resource has.
#[derive(Clone, Debug)]
pub struct Common {
    pub name: String,
    pub place: Option<Place>,
    pub needs: Vec<Id>,
}

/// Implements what [`super::Resource`] asks of every kind, from the field `common`.
#[macro_export]
macro_rules! common_methods {
    ($kind:expr) => {
        fn kind(&self) -> &'static str {
            $kind
        }

        fn name(&self) -> &str {
            &self.common.name
        }

        fn place(&self) -> Option<$crate::base::Place> {
            self.common.place
        }

        fn needs(&self) -> Vec<$crate::resource::Id> {
            self.common.needs.clone()
        }
    };
}

/// Reads attributes by name and type. Unknown names are found before a kind is built, so a kind only asks.
#[derive(Debug)]
pub struct Attributes<'a> {
    pub kind: &'static str,
    pub name: &'a str,
    pub values: &'a Plain,
    /// The content of a file, resolved by the module from `content`, `source` or `template`.
    pub content: Option<Content>,
    pub place: Option<Place>,
}

impl Attributes<'_> {
    /// A problem with this resource, at its place.
    pub fn problem(&self, what: &str) -> Problem {
        let problem = Problem::new(format!("{} `{}`: {what}", self.kind, self.name.escape_debug()));
        match self.place {
            Some(place) => problem.at(place),
            None => problem,
        }
    }

    fn wrong(&self, key: &str, expected: &str, found: &Plain) -> Problem {
        self.problem(&format!("`{key}` is {}", found.type_name())).expected(format!("expected {expected}"))
    }

    /// The value of `key`; `None` (as in Starlark) counts as not given.
    pub fn value(&self, key: &str) -> Option<&Plain> {
        self.values.get(key).filter(|value| !value.is_null())
    }

    /// # Errors
    /// The value is no string.
    pub fn text(&self, key: &str) -> Result<Option<String>, Problem> {
        match self.value(key) {
            None => Ok(None),
            Some(Plain::Str(text)) if text.contains('\0') => {
                Err(self.problem(&format!("`{key}` holds a NUL byte")).expected("expected text that a shell can hold"))
            }
            Some(Plain::Str(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.wrong(key, "a string", other)),
        }
    }

    /// Text that fits on one line of a file on the node.
    ///
    /// # Errors
    /// The value is no string, or holds a line break.
    pub fn line(&self, key: &str) -> Result<Option<String>, Problem> {
        match self.text(key)? {
            Some(text) if text.contains(['\n', '\r']) => {
                Err(self.problem(&format!("`{key}` holds a line break")).expected("expected one line"))
            }
            text => Ok(text),
        }
    }

    /// A string or a whole number, as text: a uid, a version, a value of sysctl.
    ///
    /// # Errors
    /// The value is neither.
    pub fn text_or_number(&self, key: &str) -> Result<Option<String>, Problem> {
        match self.value(key) {
            Some(Plain::Int(n)) => Ok(Some(n.to_string())),
            Some(Plain::Str(_)) | None => self.text(key),
            Some(other) => Err(self.wrong(key, "a string or a whole number", other)),
        }
    }

    /// # Errors
    /// The value is not given, or is no string.
    pub fn required(&self, key: &str) -> Result<String, Problem> {
        self.text(key)?
            .ok_or_else(|| self.problem(&format!("`{key}` is missing")).expected(format!("expected `{key} = \"…\"`")))
    }

    /// # Errors
    /// The value is no boolean.
    pub fn boolean(&self, key: &str) -> Result<Option<bool>, Problem> {
        match self.value(key) {
            None => Ok(None),
            Some(Plain::Bool(value)) => Ok(Some(*value)),
            Some(other) => Err(self.wrong(key, "True or False", other)),
        }
    }

    /// # Errors
    /// The value is no whole number.
    pub fn number(&self, key: &str) -> Result<Option<i64>, Problem> {
        match self.value(key) {
            None => Ok(None),
            Some(Plain::Int(value)) => Ok(Some(*value)),
            Some(other) => Err(self.wrong(key, "a whole number", other)),
        }
    }

    /// A list of strings; `None` where it is not given. One string counts as a list of one.
    ///
    /// # Errors
    /// The value or an item has another type.
    pub fn list(&self, key: &str) -> Result<Option<Vec<String>>, Problem> {
        match self.value(key) {
            None => Ok(None),
            Some(Plain::Str(text)) => Ok(Some(vec![text.clone()])),
            Some(Plain::List(items)) => items
                .iter()
                .map(|item| match item {
                    Plain::Str(text) if !text.contains('\0') => Ok(text.clone()),
                    other => Err(self.wrong(key, "a list of strings", other)),
                })
                .collect::<Result<_, _>>()
                .map(Some),
            Some(other) => Err(self.wrong(key, "a list of strings", other)),
        }
    }

    /// Other resources, by their ids.
    ///
    /// # Errors
    /// The value is no list of `kind name`.
    pub fn ids(&self, key: &str) -> Result<Vec<Id>, Problem> {
        self.list(key)?
            .unwrap_or_default()
            .into_iter()
            .map(|id| match id.split_once(' ') {
                Some((kind, name)) if !name.is_empty() => Ok(Id::new(kind, name)),
                _ => Err(self
                    .problem(&format!("`{key}` names `{id}`"))
                    .expected("expected resources, or their ids such as \"file /etc/motd\"")),
            })
            .collect()
    }

    /// One of `choices`, the first of which is the default.
    ///
    /// # Errors
    /// The value is none of them.
    pub fn choice(&self, key: &str, choices: &'static [&'static str]) -> Result<&'static str, Problem> {
        let Some(text) = self.text(key)? else { return Ok(choices.first().copied().unwrap_or_default()) };
        choices.iter().find(|choice| **choice == text).copied().ok_or_else(|| {
            let known: Vec<String> = choices.iter().map(|choice| format!("`{choice}`")).collect();
            let problem =
                self.problem(&format!("`{key}` is `{text}`")).expected(format!("expected one of {}", known.join(", ")));
            suggest(problem, &text, choices)
        })
    }

    /// `ensure`: true for `present`.
    ///
    /// # Errors
    /// The value is neither `present` nor `absent`.
    pub fn present(&self) -> Result<bool, Problem> {
        Ok(self.choice("ensure", &["present", "absent"])? == "present")
    }

    /// A file mode: octal however it is written, so a bare number is refused, since nobody can tell how it was meant.
    ///
    /// # Errors
    /// The value is no octal mode.
    pub fn mode(&self, key: &str) -> Result<Option<u32>, Problem> {
        const EXPECTED: &str = "expected an octal mode in quotes with a leading zero, such as \"0644\"";
        match self.value(key) {
            None => Ok(None),
            Some(Plain::Str(text)) => path::mode(text)
                .map(Some)
                .ok_or_else(|| self.problem(&format!("`{key}` is `{text}`, which is not octal")).expected(EXPECTED)),
            Some(Plain::Int(number)) => {
                Err(self.problem(&format!("`{key}` is the bare number {number}")).expected(EXPECTED))
            }
            Some(other) => Err(self.wrong(key, EXPECTED.trim_start_matches("expected "), other)),
        }
    }

    /// The name of a user or a group, or its number.
    ///
    /// # Errors
    /// The name would be read as an option or as two names.
    pub fn account(&self, key: &str) -> Result<Option<String>, Problem> {
        match self.text_or_number(key)? {
            Some(name) if name.is_empty() || name.starts_with('-') || name.contains([':', '/', '\n']) => Err(self
                .problem(&format!("`{key}` is `{}`", name.escape_debug()))
                .expected("expected the name of an account, or its number")),
            name => Ok(name),
        }
    }

    /// Checks that `path` is absolute and clean; returns it without a slash at the end.
    ///
    /// # Errors
    /// The path is relative, or holds `.`, `..` or a NUL byte.
    pub fn absolute(&self, what: &str, path: &str) -> Result<String, Problem> {
        let clean = path.starts_with('/')
            && !path.contains('\0')
            && !path.contains("//")
            && !path.split('/').any(|part| part == "." || part == "..");
        if !clean {
            return Err(self
                .problem(&format!("{what} `{}` is not a clean path", path.escape_debug()))
                .expected("expected an absolute path without `.`, `..` and double slashes"));
        }
        Ok(if path == "/" { path.to_owned() } else { path.trim_end_matches('/').to_owned() })
    }

    /// The part that every resource has; `name` is what names it on the node.
    ///
    /// # Errors
    /// `needs` names no resources.
    pub fn common(&self, name: impl Into<String>) -> Result<Common, Problem> {
        Ok(Common { name: name.into(), place: self.place, needs: self.ids("needs")? })
    }
}

/// Adds "did you mean" where a known word is near.
pub fn suggest(problem: Problem, word: &str, known: &[&str]) -> Problem {
    match nearest(word, known.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}
