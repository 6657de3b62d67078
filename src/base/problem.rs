//! Problems: errors as data, so that they can be tested, counted and sorted. `ui` renders them.

use super::Place;

/// What went wrong, where, what was expected, and what helps.
///
/// `what` is one line, lower case, with no full stop; names stand in backticks. `expected` starts with the word
/// `expected` and is printed under the caret.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problem {
    pub what: String,
    pub place: Option<Place>,
    pub expected: Option<String>,
    pub notes: Vec<Note>,
    pub help: Option<String>,
    pub kind: Kind,
}

/// Which exit code a problem stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Kind {
    /// Exit 1.
    #[default]
    Failed,
    /// Exit 3: a stale plan, a held lock.
    Refused,
    /// Exit 64: the command line is wrong.
    Usage,
    /// Exit 130.
    Interrupted,
    /// Worth saying, but nothing fails because of it.
    Warning,
}

/// A line under a problem: losing layers, the rule's own place, what the node said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    pub text: String,
    pub place: Option<Place>,
}

/// All problems of one stage.
pub type Problems = Vec<Problem>;

/// The result of a stage: a value, or every problem that the stage found.
pub type Result<T, E = Problems> = std::result::Result<T, E>;

impl Problem {
    pub fn new(what: impl Into<String>) -> Problem {
        Problem { what: what.into(), ..Problem::default() }
    }

    pub fn usage(what: impl Into<String>) -> Problem {
        Problem { what: what.into(), kind: Kind::Usage, ..Problem::default() }
    }

    pub fn warning(what: impl Into<String>) -> Problem {
        Problem { what: what.into(), kind: Kind::Warning, ..Problem::default() }
    }

    /// A failed file operation; the path is always named, and the errno never stands alone.
    pub fn io(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Problem {
        Problem::new(format!("cannot {doing} `{}`: {}", path.display(), plain_io(error)))
    }

    pub fn at(mut self, place: Place) -> Problem {
        self.place = Some(place);
        self
    }

    pub fn expected(mut self, text: impl Into<String>) -> Problem {
        self.expected = Some(text.into());
        self
    }

    pub fn note(mut self, text: impl Into<String>) -> Problem {
        self.notes.push(Note { text: text.into(), place: None });
        self
    }

    /// A note that ends in a place: `<text> <file:line:column>`.
    pub fn note_at(mut self, text: impl Into<String>, place: Place) -> Problem {
        self.notes.push(Note { text: text.into(), place: Some(place) });
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Problem {
        self.help = Some(text.into());
        self
    }

    pub fn kind(mut self, kind: Kind) -> Problem {
        self.kind = kind;
        self
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Problems {
        vec![problem]
    }
}

/// Sorts by place (problems with none last) and drops repeats.
pub fn sort(problems: &mut Problems) {
    problems.sort_by_key(|p| {
        let place = p.place.map(|at| (at.path(), at.line, at.column));
        (place.is_none(), place, p.what.clone())
    });
    problems.dedup();
}

/// The words of an I/O error without the number that the standard library puts behind them.
fn plain_io(error: &std::io::Error) -> String {
    let text = error.to_string();
    if error.kind() == std::io::ErrorKind::InvalidData && text.to_lowercase().contains("utf-8") {
        return "it is not UTF-8".to_owned();
    }
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
