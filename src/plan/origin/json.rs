//! The story of a resource as data.

use super::{From, Source, Story};
use crate::base::{Place, Plain};
use crate::module::{Effect, Way};

/// The version of the shape below; it grows when a reader would have to change.
pub const VERSION: i64 = 1;

impl Story {
    /// `{version, node, resource, module, place, template, lines: […], …}`; `only` leaves the one line, counted from 0,
    /// and asks `layers` for the layers of each of its values.
    pub fn to_plain(&self, only: Option<usize>, layers: &mut dyn FnMut(&Source) -> Plain) -> Plain {
        let step = |step: &crate::module::Step| {
            Plain::from_iter([("function", Plain::from(&step.function)), ("place", place(Some(step.place)))])
        };
        let also = |(module, at): &(String, Option<Place>)| {
            Plain::from_iter([("module", Plain::from(module)), ("place", place(*at))])
        };
        let shown = |path: &std::path::Path| Plain::from(path.display().to_string());
        let lines = self.origin.lines.iter().enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at));
        Plain::from_iter([
            ("version", Plain::Int(VERSION)),
            ("node", Plain::from(&self.node)),
            ("provisional", Plain::from(self.provisional)),
            ("resource", Plain::from(&self.resource)),
            ("module", Plain::from(&self.module)),
            ("position", Plain::from(self.position.0)),
            ("modules", Plain::from(self.position.1)),
            ("also", self.also.iter().map(also).collect()),
            ("place", place(self.origin.steps.first().map(|step| step.place))),
            ("calls", self.origin.steps.iter().map(step).collect()),
            ("content", Plain::from(self.origin.way.as_ref().map(way))),
            ("template", self.template().map_or(Plain::Null, shown)),
            ("wanted", self.wanted.clone()),
            ("values", self.values.iter().map(value).collect()),
            ("unknown", self.unknown.iter().map(Plain::from).collect()),
            ("lines", lines.map(|(at, _)| self.line(at, only.is_some(), layers)).collect()),
        ])
    }

    fn line(&self, at: usize, whole: bool, layers: &mut dyn FnMut(&Source) -> Plain) -> Plain {
        let places = self.origin.lines.get(at).map(|line| line.places.as_slice()).unwrap_or_default();
        let named = |(source, effect): (&Source, Effect)| {
            let mut value =
                Plain::from_iter([("key", Plain::from(&source.key)), ("decides", Plain::from(decides(effect)))]);
            if whole {
                value.set("layers", layers(source));
            }
            value
        };
        Plain::from_iter([
            ("line", Plain::from(at + 1)),
            ("text", Plain::from(self.lines.as_ref().and_then(|lines| lines.get(at)))),
            ("places", places.iter().map(|at| place(Some(*at))).collect()),
            ("values", self.at_line(at).map(named).collect()),
        ])
    }
}

fn value(source: &Source) -> Plain {
    let from = match source.from {
        From::Data => "data",
        From::Default => "default",
        From::Node => "node",
    };
    Plain::from_iter([
        ("key", Plain::from(&source.key)),
        ("value", source.value.clone()),
        ("from", Plain::from(from)),
        ("place", place(source.place)),
        ("existence", Plain::from(source.influence.existence)),
        ("attributes", source.influence.attributes.iter().map(Plain::from).collect()),
    ])
}

fn way(way: &Way) -> &'static str {
    match way {
        Way::Template(_) => "template",
        Way::File(_) => "file",
        Way::Code => "code",
    }
}

fn decides(effect: Effect) -> &'static str {
    match effect {
        Effect::Text => "text",
        Effect::Presence => "presence",
        Effect::Perhaps => "not told apart",
    }
}

/// `{file, line, column}`, or null.
pub fn place(place: Option<Place>) -> Plain {
    place.map_or(Plain::Null, |at| {
        Plain::from_iter([
            ("file", Plain::from(at.path().display().to_string())),
            ("line", Plain::from(at.line)),
            ("column", Plain::from(at.column)),
        ])
    })
}
