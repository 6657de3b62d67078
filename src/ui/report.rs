//! Reports of a run for other programs: JUnit for what gathers tests, Markdown for a comment on a pull request.
//!
//! They are told from the record, so that a report of a run just ended and one made later are the same; only contents
//! that a record does not keep are missing from the later one.

pub mod junit;
pub mod markdown;

use crate::base::{Mask, Problem};
use crate::ui::plan::Details;

/// What a report is about.
pub enum Subject<'a> {
    Run {
        story: &'a crate::run::past::Story,
        /// What stands below each operation, where more is known than the record keeps.
        details: &'a Details,
    },
    /// Nothing came to run: what was wrong before, or that there was nothing to do.
    Problems { problems: &'a [Problem], mask: &'a Mask },
}

impl Subject<'_> {
    /// True where nothing came to run because there was nothing to do.
    fn is_nothing(&self) -> bool {
        match self {
            Subject::Run { .. } => false,
            Subject::Problems { problems, .. } => super::problem::exit(problems) == super::Exit::Done,
        }
    }
}

/// The form of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Junit,
    Markdown,
}

/// Renders a report.
pub fn render(form: Form, subject: &Subject<'_>) -> String {
    match form {
        Form::Junit => junit::render(subject),
        Form::Markdown => markdown::render(subject),
    }
}
