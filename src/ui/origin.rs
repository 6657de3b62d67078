//! The story of a resource, for people.

use super::{Paint, text};
use crate::base::{Place, Plain};
use crate::module::{Effect, Way};
use crate::plan::origin::{From, Source, Story};

/// A value is shown up to so many columns.
const VALUE: usize = 40;

/// Renders the story; `only` leaves the one line, counted from 0.
pub fn render(story: &Story, only: Option<usize>, columns: Option<usize>, paint: Paint) -> String {
    let mut out = paint.heading(&text::clean(&format!("{} on {}", story.resource, story.node))) + "\n";
    for (name, words) in head(story) {
        out.push_str(&format!("  {name:<10}  {words}\n"));
    }
    if only.is_none() {
        for (name, source) in decided(story) {
            out.push_str(&format!("  {:<10}  {}\n", name, named(source)));
        }
    }
    if !story.unknown.is_empty() {
        out.push_str(&format!("  not told apart: {}\n", story.unknown.join(", ")));
    }
    if story.provisional {
        out.push_str("  provisional: the node was never probed, no OS layer is read\n");
    }
    let Some(lines) = &story.lines else {
        if !story.origin.lines.is_empty() {
            out.push_str(&paint.quiet("  its content is not shown\n"));
        }
        return out;
    };
    let places: Vec<String> = (0..lines.len()).map(|at| from(story, at)).collect();
    let (first, second) = (lines.len().to_string().len(), places.iter().map(|p| text::width(p)).max().unwrap_or(0));
    out.push('\n');
    for (at, (line, place)) in
        lines.iter().zip(&places).enumerate().filter(|(at, _)| only.is_none_or(|only| only == *at))
    {
        let gap = " ".repeat(second.saturating_sub(text::width(place)));
        let head = format!("  {:>first$}  {}{gap}  ", at + 1, paint.quiet(place));
        let used = first + second + 6;
        let line = text::clean(line);
        let line =
            columns.map_or_else(|| line.clone(), |columns| text::cut(&line, columns.saturating_sub(used).max(20)));
        out.push_str(format!("{head}{line}").trim_end());
        out.push('\n');
        for (source, effect) in story.at_line(at) {
            let words = match effect {
                Effect::Text => named(source),
                Effect::Presence => format!("there by {}", named(source)),
            };
            out.push_str(&format!("{}{}\n", " ".repeat(first + 6), paint.run(&words)));
        }
    }
    out
}

/// What stands above the lines.
fn head(story: &Story) -> Vec<(&'static str, String)> {
    let (at, of) = story.position;
    let mut rows = vec![("module", format!("{}, {at} of {of} in run order", story.module))];
    for (module, place) in &story.also {
        rows.push(("also by", format!("{module}{}", place.map(|at| format!("  {at}")).unwrap_or_default())));
    }
    let mut steps = story.origin.steps.iter().peekable();
    while let Some(step) = steps.next() {
        match (rows.iter().any(|(name, _)| *name == "made at"), steps.peek()) {
            (false, _) => rows.push(("made at", step.place.to_string())),
            (true, _) => rows.push(("called at", format!("{}  {}()", step.place, step.function))),
        }
    }
    match &story.origin.way {
        Some(Way::Template(path)) => rows.push(("template", path.display().to_string())),
        Some(Way::File(path)) => rows.push(("file", path.display().to_string())),
        Some(Way::Code) => rows.push(("content", "put together by the code".to_owned())),
        None => {}
    }
    let wanted = story.wanted.as_map().into_iter().flatten();
    let wanted = wanted.map(|(name, value)| format!("{name} {}", short(value))).collect::<Vec<_>>().join(", ");
    rows.push(("wanted", text::clean(&wanted)));
    rows
}

/// What decides whether the resource is there and what its attributes are.
fn decided(story: &Story) -> Vec<(String, &Source)> {
    let mut rows = Vec::new();
    for source in &story.values {
        if source.influence.existence {
            rows.push(("there by".to_owned(), source));
        }
        rows.extend(source.influence.attributes.iter().map(|name| (format!("{name} by"), source)));
        // A content that is not shown line by line.
        if story.lines.is_none() && !source.influence.lines.is_empty() {
            rows.push(("content by".to_owned(), source));
        }
    }
    rows
}

/// `nginx.workers = 4  data/roles/web.yaml:7:12`
fn named(source: &Source) -> String {
    let place = match (source.from, source.place) {
        (From::Node, _) => "  told by the node".to_owned(),
        (From::Data, Some(at)) => format!("  {at}"),
        (From::Default, Some(at)) => format!("  {at} default"),
        (From::Data | From::Default, None) => "  default".to_owned(),
    };
    text::clean(&format!("{} = {}{place}", source.key, short(&source.value)))
}

fn short(value: &Plain) -> String {
    let text = match value {
        Plain::Str(text) if !text.is_empty() => text.clone(),
        Plain::Null => "nothing".to_owned(),
        value => value.to_json_line(),
    };
    text::cut(&text::clean(&text), VALUE)
}

/// `nginx.conf.j2:3`: what made the line, as short as it can be said.
fn from(story: &Story, at: usize) -> String {
    if let Some(Way::File(path)) = &story.origin.way {
        return format!("{}:{}", name(path), at + 1);
    }
    let places = story.origin.lines.get(at).map(|line| line.places.as_slice()).unwrap_or_default();
    let word = |place: &Place| format!("{}:{}", name(&place.path()), place.line);
    places.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn name(path: &std::path::Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
