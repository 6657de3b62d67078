//! A file being read: its text, and where the bytes of it stand.

use super::lexer::Span;
use crate::base::{FileId, Place, Problem};
use std::sync::{Arc, OnceLock};

pub(super) struct Source {
    pub file: FileId,
    pub text: Arc<str>,
    /// The byte that each line starts at.
    lines: Vec<usize>,
}

impl Source {
    pub fn new(file: FileId) -> Source {
        Source::of(file, file.text())
    }

    /// A text that is in no table yet. Its places are those of a file without a name until it gets one.
    pub fn passing(text: Arc<str>) -> Source {
        static NONE: OnceLock<FileId> = OnceLock::new();
        Source::of(*NONE.get_or_init(|| FileId::new("", "")), text)
    }

    fn of(file: FileId, text: Arc<str>) -> Source {
        let mut lines = vec![0];
        lines.extend(text.match_indices('\n').map(|(at, _)| at + 1));
        Source { file, text, lines }
    }

    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.start..span.end).unwrap_or("")
    }

    /// The place of a stretch; of one over several lines the part on the first.
    pub fn place(&self, span: Span) -> Place {
        let line = self.lines.partition_point(|start| *start <= span.start).saturating_sub(1);
        let start = self.lines.get(line).copied().unwrap_or(0);
        let before = self.slice(Span { start, end: span.start });
        let within = self.slice(span);
        let within = within.lines().next().unwrap_or("");
        let characters = |text: &str| text.chars().filter(|c| *c != '\u{feff}').count() as u32;
        Place { file: self.file, line: line as u32 + 1, column: characters(before) + 1, width: characters(within) }
    }

    pub fn problem(&self, span: Span, what: impl Into<String>, expected: impl Into<String>) -> Problem {
        Problem::new(what).at(self.place(span)).expected(expected)
    }
}
