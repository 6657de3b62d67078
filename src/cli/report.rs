//! `--report FORM=FILE`.

use crate::base::{Mask, Problem, Problems, file, problem::Kind};
use crate::run::past::Story;
use crate::ui::plan::Details;
use crate::ui::report::{Form, Subject, render};
use std::path::PathBuf;

/// A report that was asked for.
#[derive(Clone, Debug)]
pub struct Report {
    form: Form,
    path: PathBuf,
}

/// Reads `junit=FILE` or `markdown=FILE`.
pub fn parse(text: &str) -> Result<Report, String> {
    let form = |word: &str| match word {
        "junit" => Some(Form::Junit),
        "markdown" => Some(Form::Markdown),
        _ => None,
    };
    let parsed = text.split_once('=').and_then(|(word, path)| Some((form(word)?, path)));
    let (form, path) = parsed.filter(|(_, path)| !path.is_empty()).ok_or("`junit=FILE` or `markdown=FILE`")?;
    let path = std::path::absolute(path).map_err(|_| "a path below a folder that exists")?;
    Ok(Report { form, path })
}

/// Finds reports that could not be written in the end.
///
/// # Errors
/// One problem for each.
pub fn check(reports: &[Report]) -> Result<(), Problems> {
    let wrong = |report: &&Report| report.path.is_dir() || !report.path.parent().is_some_and(|folder| folder.is_dir());
    let problem = |report: &Report| {
        let (path, folder) = (report.path.display(), report.path.parent().unwrap_or(&report.path).display());
        match report.path.is_dir() {
            true => Problem::usage(format!("the report `{path}` would be a folder")).help("name a file in it"),
            false => Problem::usage(format!("there is no folder `{folder}` for the report")).help("make it first"),
        }
    };
    let problems: Problems = reports.iter().filter(wrong).map(problem).collect();
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// What stands below each operation of a plan, where a report shows contents.
pub fn details(reports: &[Report], plan: &crate::plan::Plan, mask: &Mask) -> Details {
    match reports.iter().any(|report| report.form == Form::Markdown) {
        true => crate::ui::plan::details(LINES, plan, mask),
        false => Details::new(),
    }
}

/// So many lines of one content are worth their place in a comment.
const LINES: usize = 200;

/// Writes the reports of a run.
///
/// # Errors
/// One of them cannot be written.
pub fn write(reports: &[Report], story: &Story, details: &Details) -> Result<(), Problem> {
    all(reports, &Subject::Run { story, details })
}

/// Writes reports that tell why nothing came to run. Where that fails, what went wrong is told anyhow.
pub fn write_problems(reports: &[Report], problems: &[Problem], mask: &Mask) {
    if let Err(problem) = all(reports, &Subject::Problems { problems, mask }) {
        crate::ui::warn(&[problem.kind(Kind::Warning)], mask);
    }
}

fn all(reports: &[Report], subject: &Subject<'_>) -> Result<(), Problem> {
    reports.iter().try_for_each(|report| file::write(&report.path, render(report.form, subject).as_bytes(), 0o644))
}
