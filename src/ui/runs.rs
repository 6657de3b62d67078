//! Recorded runs as people read them.

mod diff;
pub mod show;

pub use diff::diff;
pub use show::show;

use super::text::{age, clean, cut, took};
use super::{Paint, Table, columns};
use crate::base::Problem;
use crate::run::Run;
use crate::run::past::{Head, State};
use chrono::{DateTime, Utc};

/// Two lines a run, the newest first: how it went, and below it who ran what.
pub fn list(rows: &[(&Run, Result<Head, Problem>)], now: DateTime<Utc>, paint: Paint) -> String {
    if rows.is_empty() {
        return "no runs\n".to_owned();
    }
    let mut table = Table::new(["RUN", "AGE", "TOOK", "OUTCOME"]);
    for (run, head) in rows {
        let age = age((now - run.started()).num_seconds());
        table.row(match head {
            Ok(head) => [run.id.clone(), age, head.seconds.map(took).unwrap_or_default(), outcome(head)],
            Err(_) => [run.id.clone(), age, String::new(), "broken".to_owned()],
        });
    }
    let table = table.render(columns(), paint);
    let purposes = rows.iter().map(|(_, head)| head.as_ref().map(purpose).unwrap_or_default());
    let mut out = String::new();
    for (line, purpose) in table.lines().zip(std::iter::once(String::new()).chain(purposes)) {
        out.push_str(&format!("{line}\n"));
        if !purpose.is_empty() {
            let purpose = format!("    {}", clean(&purpose));
            let purpose = columns().map_or_else(|| purpose.clone(), |columns| cut(&purpose, columns));
            out.push_str(&format!("{}\n", paint.quiet(&purpose)));
        }
    }
    out
}

/// `1 failed, 3 done`, or how far the run came.
pub fn outcome(head: &Head) -> String {
    match head.state {
        State::Ended if head.counts.is_empty() => "no nodes".to_owned(),
        State::Ended => {
            let counts: Vec<String> = head.counts.iter().map(|(word, n)| format!("{n} {word}")).collect();
            counts.join(", ")
        }
        state => state.word().to_owned(),
    }
}

/// `anna@desk: suil apply --role web`, the reason before the command where there is one.
pub fn purpose(head: &Head) -> String {
    let work = match head.reason.as_str() {
        "" => head.command.clone(),
        reason => format!("{reason} ({})", head.command),
    };
    match head.by.as_str() {
        "" => work,
        by => format!("{by}: {work}"),
    }
}
