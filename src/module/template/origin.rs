//! Which stretch of a template made which stretch of the rendered text.

use super::{Templates, value};
use crate::base::{Place, Plain};
use minijinja::OutputSpanKind;
use std::ops::Range;

/// A stretch of rendered text, and the stretch of template source that made it.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Bytes of the rendered text.
    pub range: Range<usize>,
    /// The template's name below `templates/`.
    pub template: String,
    /// Bytes of the template's source.
    pub source: Range<usize>,
    /// True where the text stands in the template as it is; false for what an expression gave.
    pub literal: bool,
}

impl Templates {
    /// Where each part of `text`, the result of [`Templates::render`] for the same names, comes from; empty where that
    /// cannot be told.
    pub fn origin(&self, name: &str, vars: &Plain, text: &str) -> Vec<Piece> {
        let Ok(template) = self.get(name, vars) else { return Vec::new() };
        let Ok((again, spans)) = template.render_with_spans(value(&self::named(vars))) else { return Vec::new() };
        if again != text {
            return Vec::new();
        }
        let piece = |span: minijinja::OutputSpan| Piece {
            range: span.output_range(),
            template: span.name().to_owned(),
            source: span.source_range(),
            literal: span.kind() == OutputSpanKind::Raw,
        };
        spans.into_iter().map(piece).collect()
    }

    /// The place in the template of what the piece made, from byte `at` of the rendered text on.
    pub fn place(&self, piece: &Piece, at: usize) -> Option<Place> {
        let file = self.sources.get(&piece.template)?;
        let text = file.text();
        let ahead = if piece.literal { at.saturating_sub(piece.range.start) } else { 0 };
        let start = piece.source.start + ahead;
        let before = text.get(..start)?;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() as u32 + 1;
        let width = text.get(start..piece.source.end)?.lines().next().map_or(0, |line| line.chars().count()) as u32;
        Some(Place { file, line: before.matches('\n').count() as u32 + 1, column, width })
    }
}

/// The names that a template finds: the keys of `vars`, and all of them under `config`.
pub fn named(vars: &Plain) -> Plain {
    let mut names = vars.clone();
    if vars.get("config").is_none() {
        names.set("config", vars.clone());
    }
    names
}
