//! Problems as people read them: what, the line with a caret, notes, help.

use super::text::count;
use super::{Paint, text};
use crate::base::problem::{self, Kind};
use crate::base::{Mask, Place, Problem, Problems};

/// How many columns of a source line are shown where the screen does not say; a longer one is cut around the caret.
const SOURCE: usize = 100;

/// What the process tells its caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// Done, or no difference.
    Done,
    Failed,
    /// Differences were found, and it was asked to say so.
    Differences,
    Refused,
    Usage,
    Interrupted,
    /// The exit code of a program that suil ran for its caller.
    Other(u8),
}

impl Exit {
    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Differences => 2,
            Exit::Refused => 3,
            Exit::Usage => 64,
            Exit::Interrupted => 130,
            Exit::Other(code) => code,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Renders one problem; every line ends in a line end.
pub fn render(problem: &Problem, mask: &Mask, paint: Paint) -> String {
    let screen = console::Term::stderr();
    let columns = if screen.is_term() { screen.size().1.into() } else { usize::MAX };
    render_in(columns, problem, mask, paint)
}

/// Renders one problem for a screen of so many columns.
fn render_in(columns: usize, problem: &Problem, mask: &Mask, paint: Paint) -> String {
    let show = |text: &str| text::clean_lines(&mask.apply(text));
    let mut out = String::new();
    let first = match problem.kind {
        Kind::Warning => paint.warning(&format!("suil: warning: {}", show(&problem.what))),
        _ => paint.bad(&format!("suil: {}", show(&problem.what))),
    };
    line(&mut out, &first);
    let expected = problem.expected.as_deref().map(show);
    match (problem.place, expected) {
        (Some(place), expected) => source(&mut out, columns, place, expected.as_deref(), mask, paint),
        (None, Some(expected)) => labelled(&mut out, "note", &expected, paint),
        (None, None) => {}
    }
    for note in &problem.notes {
        let place = note.place.map(|place| format!(" {place}")).unwrap_or_default();
        labelled(&mut out, "note", &show(&format!("{}{place}", note.text)), paint);
    }
    if let Some(help) = &problem.help {
        labelled(&mut out, "help", &show(help), paint);
    }
    out
}

/// `--> file:line:column`, then the line itself with a caret under what is meant.
fn source(out: &mut String, columns: usize, place: Place, expected: Option<&str>, mask: &Mask, paint: Paint) {
    let number = place.line.to_string();
    let pad = " ".repeat(number.len());
    line(out, &format!("{pad}{} {}", paint.quiet("-->"), text::clean(&place.to_string())));
    let bar = paint.quiet("|");
    let Some(raw) = place.source_line().filter(|raw| mask.apply(raw) == *raw) else {
        // The line is gone, or shows a secret: its place must do.
        if let Some(expected) = expected {
            line(out, &format!("{pad} {} {expected}", paint.quiet("=")));
        }
        return;
    };
    let start = (place.column.max(1) - 1) as usize;
    let chars: Vec<char> = raw.chars().collect();
    let end = (start + place.width.max(1) as usize).min(chars.len().max(start + 1));
    let piece = |from: usize, to: usize| -> String { chars.iter().take(to).skip(from).collect::<String>() };
    let (before, marked, after) = (piece(0, start), piece(start, end), piece(end, chars.len()));
    let before = text::clean(&before);
    let marked = text::clean(&marked);
    let room = SOURCE.min(columns.saturating_sub(number.len() + 3).max(40));
    let (before, marked, after) = window(room, before, marked, text::clean(&after));
    let caret = "^".repeat(text::width(&marked).max(1));
    let caret = match expected {
        Some(expected) => format!("{} {expected}", paint.bad(&caret)),
        None => paint.bad(&caret),
    };
    line(out, &format!("{pad} {bar}"));
    let shown = format!("{before}{marked}{after}");
    line(out, format!("{} {bar} {shown}", paint.quiet(&number)).trim_end());
    let gap = " ".repeat(text::width(&before) + start.saturating_sub(chars.len()));
    for (i, part) in caret.split('\n').enumerate() {
        let more = if i == 0 { String::new() } else { " ".repeat(text::width(&marked).max(1) + 1) };
        line(out, &format!("{pad} {bar} {gap}{more}{part}"));
    }
}

/// Cuts a long line so that the marked part stays in sight.
fn window(room: usize, before: String, marked: String, after: String) -> (String, String, String) {
    let whole = text::width(&before) + text::width(&marked) + text::width(&after);
    if whole <= room {
        return (before, marked, after);
    }
    let marked = text::cut(&marked, room * 6 / 10);
    let room = room - text::width(&marked);
    // Half of the room stands before the caret, unless less is needed there.
    let lead = text::width(&before).min(room / 2);
    let before = if lead < text::width(&before) {
        let mut tail: Vec<char> = Vec::new();
        let mut used = 1;
        for c in before.chars().rev() {
            used += text::width(c.encode_utf8(&mut [0; 4]));
            if used > lead {
                break;
            }
            tail.push(c);
        }
        std::iter::once('…').chain(tail.into_iter().rev()).collect()
    } else {
        before
    };
    let left = room - text::width(&before);
    (before, marked, text::cut(&after, left))
}

/// `note: …`; further lines stand under the first word.
fn labelled(out: &mut String, label: &str, body: &str, paint: Paint) {
    for (i, part) in body.trim_end().split('\n').enumerate() {
        match i {
            0 => line(out, &format!("{} {part}", paint.heading(&format!("{label}:")))),
            _ => line(out, format!("      {part}").trim_end()),
        }
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

/// The same problem of many nodes once: it has one place and one cure.
pub fn folded(mut problems: Problems) -> Problems {
    problem::sort(&mut problems);
    let mut folded: Vec<(Problem, usize)> = Vec::new();
    for found in problems {
        let same = |known: &Problem| known.place.is_some() && (known.place, &known.what) == (found.place, &found.what);
        match folded.iter_mut().find(|(known, _)| same(known)) {
            Some((_, more)) => *more += 1,
            None => folded.push((found, 0)),
        }
    }
    let told = |(problem, more): (Problem, usize)| match more {
        0 => problem,
        more => problem.note(format!("{} like this", count(more, "more problem"))),
    };
    folded.into_iter().map(told).collect()
}

/// Renders several problems, sorted by place, those of one line folded into the first, with a blank line between them.
pub fn render_all(problems: &[Problem], mask: &Mask, paint: Paint) -> String {
    let problems = folded(problems.to_vec());
    problems.iter().map(|p| render(p, mask, paint)).collect::<Vec<_>>().join("\n")
}

/// Prints warnings, which fail nothing.
pub fn warn(problems: &[Problem], mask: &Mask) {
    if !problems.is_empty() {
        super::err(&render_all(problems, mask, Paint::ON));
        super::output::keep(problems, mask);
    }
}

/// Prints all problems and returns the exit code that they stand for: the gravest wins, and warnings alone fail
/// nothing.
pub fn fail(problems: &[Problem], mask: &Mask) -> Exit {
    super::err(&render_all(problems, mask, Paint::ON));
    super::output::keep(problems, mask);
    exit(problems)
}

/// The exit code that problems stand for.
pub fn exit(problems: &[Problem]) -> Exit {
    let rank = |exit: Exit| match exit {
        Exit::Done => 0,
        Exit::Differences => 1,
        Exit::Refused => 2,
        Exit::Failed | Exit::Other(_) => 3,
        Exit::Usage => 4,
        Exit::Interrupted => 5,
    };
    problems
        .iter()
        .map(|p| match p.kind {
            Kind::Warning => Exit::Done,
            Kind::Failed => Exit::Failed,
            Kind::Refused => Exit::Refused,
            Kind::Usage => Exit::Usage,
            Kind::Interrupted => Exit::Interrupted,
        })
        .max_by_key(|exit| rank(*exit))
        .unwrap_or(Exit::Failed)
}

#[cfg(test)]
#[path = "problem_test.rs"]
mod tests;
