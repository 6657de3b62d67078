//! Where the resources of a module come from: the call that declares each, and what made each line of its content.

use super::star::{self, Answer, Made, Rendered, Story, Wanted};
use super::{Config, Module};
use crate::base::{Place, Result};
use crate::resource::{Content, Id, Resource};
use std::path::PathBuf;
use std::sync::Arc;
use zeroize::Zeroizing;

/// How one resource came to be.
#[derive(Clone, Debug)]
pub struct Origin {
    pub resource: Arc<dyn Resource>,
    /// The call that declares it, then the calls that led there, innermost first.
    pub steps: Vec<Step>,
    /// `None` for a resource without a content, or with one that is streamed.
    pub way: Option<Way>,
    /// Empty where the content is no text.
    pub lines: Vec<Line>,
    /// The module asks that the content never be shown.
    pub hidden: bool,
}

/// What a module made, and how.
#[derive(Default)]
pub struct Makings {
    /// In the order in which the module lists them.
    pub resources: Vec<Arc<dyn Resource>>,
    story: Story,
}

impl Makings {
    /// Where the resource of this id stands.
    pub fn position(&self, id: &Id) -> Option<usize> {
        self.resources.iter().position(|resource| is(&**resource, id))
    }

    /// How many resources have this id.
    pub fn count(&self, id: &Id) -> usize {
        self.resources.iter().filter(|resource| is(&***resource, id)).count()
    }
}

/// Compares without making an id of each.
fn is(resource: &dyn Resource, id: &Id) -> bool {
    id.0.split_once(' ').is_some_and(|(kind, name)| resource.kind() == kind && resource.name() == name)
}

/// A call of module code.
#[derive(Clone, Debug)]
pub struct Step {
    /// The function that was called.
    pub function: String,
    pub place: Place,
}

/// How the content of a resource was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// Rendered from this template, the path as a person would type it.
    Template(PathBuf),
    /// A file of the module, the path as a person would type it.
    File(PathBuf),
    /// Put together by the code.
    Code,
}

/// One line of a content.
#[derive(Clone, PartialEq, Eq)]
pub struct Line {
    /// Without its line end. It may hold a secret.
    pub text: Zeroizing<String>,
    /// Where templates say it; several where a line is put together from several lines. Empty where that is not known:
    /// in a file of the module it is the line of the same number.
    pub places: Vec<Place>,
}

impl std::fmt::Debug for Line {
    /// Never the text itself: it may hold a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Line({} bytes, {:?})", self.text.len(), self.places)
    }
}

impl Module {
    /// Makes the resources of [`Module::resources`], and keeps how.
    ///
    /// # Errors
    /// As [`Module::resources`].
    pub fn make(&self, config: &Arc<Config>) -> Result<Makings> {
        Ok(match self.call("resources", config, &[], Wanted::Resources, true)? {
            Some(star::Called { answer: Answer::Resources(resources), story, .. }) => Makings { resources, story },
            _ => Makings::default(),
        })
    }

    /// The origin of the resource at `at` of `makings`.
    pub fn origin_of(&self, makings: &Makings, at: usize) -> Option<Origin> {
        let resource = makings.resources.get(at)?;
        let made = makings.story.made.iter().find(|made| Arc::ptr_eq(&made.resource, resource));
        Some(self.origin(Arc::clone(resource), made, &makings.story.rendered))
    }

    fn origin(&self, resource: Arc<dyn Resource>, made: Option<&Made>, rendered: &[Rendered]) -> Origin {
        let steps = made.map_or(&[][..], |made| made.calls.as_slice()).iter();
        let step = |call: &star::Call| Some(Step { function: call.function.clone(), place: call.place? });
        let mut origin = Origin {
            resource,
            steps: steps.filter_map(step).collect(),
            way: None,
            lines: Vec::new(),
            hidden: made.is_some_and(|made| made.hidden),
        };
        let Some((made, content)) = made.and_then(|made| Some((made, made.content.as_ref()?))) else { return origin };
        let source = made.source.as_ref().map(|path| self.inner.files.shown(&format!("files/{path}")));
        let text = match content {
            Content::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            Content::File { .. } => None,
        };
        let text = text.unwrap_or_default();
        if let Some(source) = source {
            origin.lines = lines(text).map(|(_, line)| line).collect();
            origin.way = Some(Way::File(source));
            return origin;
        }
        let mut same = rendered.iter().filter(|rendered| rendered.text.as_str() == text && !text.is_empty());
        origin.way = Some(Way::Code);
        let from = match (same.next(), same.next()) {
            (Some(one), None) => Some(one),
            // The same template rendered alike twice is one origin; two templates are told apart by nothing.
            (Some(one), Some(_)) if rendered.iter().all(|r| r.text != one.text || r.template == one.template) => {
                Some(one)
            }
            _ => None,
        };
        if let Some(from) = from {
            origin.way = Some(Way::Template(self.inner.files.shown(&format!("templates/{}", from.template))));
        }
        origin.lines = lines(text)
            .map(|(at, line)| {
                let places = from.map(|from| self.places(from, at, line.text.len())).unwrap_or_default();
                line.with(places)
            })
            .collect();
        origin
    }

    /// The places in templates of what made the line of `length` bytes at byte `at`.
    fn places(&self, from: &Rendered, at: usize, length: usize) -> Vec<Place> {
        // An empty line is made by what ends it.
        let end = at + length.max(1);
        let touching = from.pieces.iter().filter(|piece| piece.range.start < end && piece.range.end > at);
        let mut places: Vec<Place> = Vec::new();
        for place in touching.filter_map(|piece| self.inner.templates().place(piece, at)) {
            if !places.iter().any(|known| (known.file, known.line) == (place.file, place.line)) {
                places.push(place);
            }
        }
        places
    }
}

impl Line {
    fn with(self, places: Vec<Place>) -> Line {
        Line { places, ..self }
    }
}

/// Each line with the byte at which it begins.
fn lines(text: &str) -> impl Iterator<Item = (usize, Line)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let begin = at;
        at += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        (begin, Line { text: line.to_owned().into(), places: Vec::new() })
    })
}

#[cfg(test)]
mod tests;
