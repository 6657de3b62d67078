//! The story of a resource, for people.

use super::{Paint, text};
use crate::base::{Place, Plain};
use crate::module::{Effect, Way};
use crate::plan::origin::{From, Source, Story};

/// A value is shown up to so many columns.
const VALUE: usize = 40;

/// So many keys of which nothing is known are named.
const UNKNOWN: usize = 5;

/// Renders the story; `only` leaves the one line, counted from 0.
pub fn render(story: &Story, only: Option<usize>, columns: Option<usize>, paint: Paint) -> String {
    let mut out = paint.heading(&text::clean(&format!("{} on {}", story.resource, story.node))) + "\n";
    for (name, words) in head(story) {
        out.push_str(&format!("  {name:<9}  {words}\n"));
    }
    if only.is_none() {
        out.push_str(&values(story, paint));
    }
    for key in story.unknown.iter().take(UNKNOWN) {
        out.push_str(&format!("  not told apart: what {key} does, for the module takes no other value\n"));
    }
    if let Some(more @ 1..) = story.unknown.len().checked_sub(UNKNOWN) {
        out.push_str(&format!("  not told apart: {}\n", text::count(more, "other value")));
    }
    if story.provisional {
        out.push_str("  provisional: the node was never probed, no OS layer is read\n");
    }
    match &story.lines {
        Some(lines) => out.push_str(&content(story, lines, only, columns, paint)),
        None if !story.origin.lines.is_empty() => out.push_str(&paint.quiet("  its content is not shown\n")),
        None => {}
    }
    out
}

/// The lines of the content, each with what made it, and below it the values that it shows or is there by.
fn content(story: &Story, lines: &[String], only: Option<usize>, columns: Option<usize>, paint: Paint) -> String {
    let mut out = "\n".to_owned();
    let places: Vec<String> = (0..lines.len()).map(|at| from(story, at)).collect();
    let first = lines.len().to_string().len();
    let second = places.iter().map(|place| text::width(place)).max().unwrap_or(0);
    let shown = lines.iter().zip(&places).enumerate();
    for (at, (line, place)) in shown.filter(|(at, _)| only.is_none_or(|only| only == *at)) {
        let mut head = format!("  {:>first$}  ", at + 1);
        if second > 0 {
            let gap = " ".repeat(second.saturating_sub(text::width(place)) + 2);
            head.push_str(&format!("{}{gap}", paint.quiet(place)));
        }
        let room = |columns: usize| columns.saturating_sub(text::width(&head)).max(20);
        let line = text::clean(line);
        let line = columns.map_or_else(|| line.clone(), |columns| text::cut(&line, room(columns)));
        out.push_str(format!("{head}{line}").trim_end());
        out.push('\n');
        for (source, effect) in story.at_line(at) {
            let because = match effect {
                Effect::Text => "",
                Effect::Presence => "there because ",
                Effect::Perhaps => "this or a line like it, there because ",
            };
            out.push_str(&format!("{}{}\n", " ".repeat(first + 6), paint.run(&format!("{because}{}", named(source)))));
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
    let mut steps = story.origin.steps.iter();
    rows.extend(steps.next().map(|step| ("made at", step.place.to_string())));
    rows.extend(steps.map(|step| ("called at", format!("{}  {}()", step.place, step.function))));
    match &story.origin.way {
        Some(Way::Template(path)) => rows.push(("template", path.display().to_string())),
        Some(Way::File(path)) => rows.push(("file", path.display().to_string())),
        Some(Way::Code) => rows.push(("content", "put together by the code".to_owned())),
        None => {}
    }
    for (name, value) in story.wanted.as_map().into_iter().flatten() {
        let is_name = value.as_str().is_some_and(|value| story.resource.ends_with(&format!(" {value}")));
        if !is_name {
            let heading = if rows.iter().any(|(name, _)| *name == "wanted") { "" } else { "wanted" };
            rows.push((heading, format!("{name} {}", short(value))));
        }
    }
    rows
}

/// The values that decide something beside the lines that are shown.
fn values(story: &Story, paint: Paint) -> String {
    let mut out = String::new();
    for source in &story.values {
        let influence = &source.influence;
        let mut what: Vec<&str> = influence.attributes.iter().map(String::as_str).collect();
        if influence.existence {
            what.insert(0, "whether it is there");
        }
        if story.lines.is_none() && !influence.lines.is_empty() {
            what.push("its content");
        }
        if !what.is_empty() {
            let heading = if out.is_empty() { "values" } else { "" };
            let words = paint.run(&named(source));
            out.push_str(&format!("  {heading:<9}  {words}\n{}decides {}\n", " ".repeat(15), what.join(", ")));
        }
    }
    if story.values.is_empty() && story.unknown.is_empty() && story.lines.is_none() {
        out.push_str("  values     none: the code alone says it\n");
    }
    out
}

/// `nginx.workers = 4  data/roles/web.yaml:7:12`
fn named(source: &Source) -> String {
    let place = match (source.from, source.place) {
        (From::Node, _) => match source.key.as_str() {
            "suil.node" => "  the node's name".to_owned(),
            "suil.role" => "  the node's role".to_owned(),
            "suil.ssh_user" => "  no layer names one".to_owned(),
            _ => "  as probed".to_owned(),
        },
        (From::Data, Some(at)) => format!("  {at}"),
        (From::Default, Some(at)) => format!("  {at} default"),
        (From::Data | From::Default, None) => "  default".to_owned(),
    };
    text::clean(&format!("{} = {}{place}", source.key, short(&source.value)))
}

fn short(value: &Plain) -> String {
    let text = match value {
        Plain::Str(text) if text.len() == 71 && text.starts_with("sha256:") => text.chars().take(19).collect(),
        Plain::Str(text) if text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit()) => {
            text.chars().take(12).collect()
        }
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
