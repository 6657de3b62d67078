//! Graphs of stacks: as text, as JSON, and for programs that draw.

mod affected;
mod dot;
mod mermaid;
mod text;
mod why;

pub use affected::affected;
pub use dot::dot;
pub use mermaid::mermaid;
pub use text::graph;
pub use why::why;

use crate::base::{FileId, Place, Plain, Problem, Problems};
use crate::infra::graph::{At, Warning};
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// The value as its JSON says it.
pub fn plain(value: &impl Serialize) -> Plain {
    serde_json::to_string(value).ok().and_then(|text| Plain::from_json(&text).ok()).unwrap_or_default()
}

/// So many warnings of one kind are told one by one.
const MANY: usize = 8;

/// Warnings as problems; of many alike the rest is counted. `root` is where their files stand.
pub fn warnings(warnings: &[Warning], root: &Path) -> Problems {
    let mut files: HashMap<&str, FileId> = HashMap::new();
    let mut told: HashMap<crate::infra::graph::Code, usize> = HashMap::new();
    let mut problems = Problems::new();
    for warning in warnings {
        let count = told.entry(warning.code).or_default();
        *count += 1;
        if *count > MANY {
            continue;
        }
        let mut problem = Problem::warning(&warning.message);
        if let Some(at) = &warning.at {
            let file = *files.entry(&at.file).or_insert_with(|| entered(root, &at.file));
            problem = problem.at(Place { file, line: at.line, column: at.column, width: 0 });
        }
        problems.push(problem);
    }
    let mut rest: Vec<(String, usize)> = told
        .into_iter()
        .filter(|(_, count)| *count > MANY)
        .map(|(code, count)| (plain(&code).as_str().unwrap_or_default().to_owned(), count - MANY))
        .collect();
    rest.sort();
    problems.extend(rest.into_iter().map(|(code, count)| {
        let what = format!("{} more of `{code}`", super::text::count(count, "warning"));
        Problem::warning(what.replace("warnings more", "more warnings").replace("warning more", "more warning"))
            .help("`--output json` lists all")
    }));
    problems
}

fn entered(root: &Path, file: &str) -> FileId {
    // Files are small: they were read to find what the warning is about.
    let text = crate::base::file::read_text(&root.join(file)).unwrap_or_default();
    FileId::new(file, text)
}

/// A place in a few words, blank for none.
fn place(at: Option<&At>) -> String {
    at.map(|at| format!("{}:{}", at.file, at.line)).unwrap_or_default()
}
