//! A run as JUnit XML, in the elements that Jenkins and GitLab have in common: a suite for each node, a case for each
//! operation and one for the check.

use super::Subject;
use crate::run::past::story::{Fate, NodeStory, Step, Story};
use crate::ui::Paint;
use crate::ui::problem::render_all;
use std::fmt::Write;

/// What became of a case.
enum Verdict {
    Passed,
    Failure(String, String),
    Error(String, String),
    Skipped(String),
}

struct Case {
    class: String,
    name: String,
    seconds: f64,
    verdict: Verdict,
    said: String,
}

struct Suite {
    name: String,
    /// `2026-11-30T02:54:46`, without a zone, as the schema wants it.
    timestamp: String,
    cases: Vec<Case>,
}

/// Renders the report.
pub fn render(subject: &Subject<'_>) -> String {
    let suites = match subject {
        Subject::Run { story, .. } => {
            let beside = Some(&story.head.problems).filter(|problems| !problems.is_empty());
            let nodes = story.nodes.iter().map(|node| suite(story, node));
            nodes.chain(beside.map(|problems| around(story, problems))).collect()
        }
        Subject::Problems { problems, mask } => {
            let first = problems.first().map(|problem| mask.apply(&problem.what)).unwrap_or_default();
            let told = render_all(problems, mask, Paint::OFF);
            let (verdict, said) = match subject.is_nothing() {
                true => (Verdict::Passed, told),
                false => (Verdict::Error(first, told), String::new()),
            };
            let case = Case { class: "suil".to_owned(), name: "start".to_owned(), seconds: 0.0, verdict, said };
            vec![Suite { name: "suil".to_owned(), timestamp: String::new(), cases: vec![case] }]
        }
    };
    let seconds = match subject {
        Subject::Run { story, .. } => story.head.seconds.unwrap_or(0.0),
        Subject::Problems { .. } => 0.0,
    };
    write(&suites, seconds)
}

fn suite(story: &Story, node: &NodeStory) -> Suite {
    let mut cases: Vec<Case> = node.steps.iter().map(|step| operation(&node.node, step)).collect();
    cases.push(Case {
        class: node.node.clone(),
        name: "check".to_owned(),
        seconds: 0.0,
        verdict: check(node),
        said: String::new(),
    });
    Suite { name: node.node.clone(), timestamp: story.started.trim_end_matches('Z').to_owned(), cases }
}

/// What went wrong on no node, in a hook say.
fn around(story: &Story, problems: &[String]) -> Suite {
    let case = |problem: &String| Case {
        class: "suil".to_owned(),
        name: "run".to_owned(),
        seconds: 0.0,
        verdict: Verdict::Error(problem.clone(), problem.clone()),
        said: String::new(),
    };
    let timestamp = story.started.trim_end_matches('Z').to_owned();
    Suite { name: "suil".to_owned(), timestamp, cases: problems.iter().map(case).collect() }
}

fn operation(node: &str, step: &Step) -> Case {
    let problem = step.problem.clone().unwrap_or_else(|| "the run ended in the middle of it".to_owned());
    let told = || format!("{problem}\n{}", step.output).trim().to_owned();
    let verdict = match step.fate {
        Fate::Done => Verdict::Passed,
        Fate::Failed => Verdict::Failure(problem.clone(), told()),
        Fate::InDoubt => Verdict::Error(format!("in doubt: {problem}"), told()),
        Fate::NotPerformed => Verdict::Skipped("not performed".to_owned()),
        Fate::Planned => Verdict::Skipped("planned".to_owned()),
    };
    Case {
        class: format!("{node}.{}", step.module),
        name: step.title.clone(),
        seconds: step.seconds.unwrap_or(0.0),
        said: if matches!(verdict, Verdict::Passed) { step.output.clone() } else { String::new() },
        verdict,
    }
}

/// The last case of a node: whether it is as it should be.
fn check(node: &NodeStory) -> Verdict {
    let others: Vec<&str> = node.other_problems().collect();
    let first = others.first().copied().unwrap_or(&node.end.outcome).to_owned();
    match node.end.outcome.as_str() {
        "done" | "nothing to do" => Verdict::Passed,
        "not reached" => Verdict::Error(first, others.join("\n")),
        "planned" => Verdict::Skipped("planned".to_owned()),
        "failed" if !others.is_empty() => Verdict::Failure(first, others.join("\n")),
        _ => Verdict::Skipped("not checked".to_owned()),
    }
}

fn write(suites: &[Suite], seconds: f64) -> String {
    let all = || suites.iter().flat_map(|suite| &suite.cases);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = |cases: &mut dyn Iterator<Item = &Case>| {
        let (mut tests, mut failures, mut errors, mut skipped) = (0, 0, 0, 0);
        for case in cases {
            tests += 1;
            match case.verdict {
                Verdict::Passed => {}
                Verdict::Failure(..) => failures += 1,
                Verdict::Error(..) => errors += 1,
                Verdict::Skipped(_) => skipped += 1,
            }
        }
        (tests, failures, errors, skipped)
    };
    let (tests, failures, errors, _) = counts(&mut all());
    let _ = writeln!(
        out,
        "<testsuites name=\"suil\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{seconds:.3}\">"
    );
    for suite in suites {
        let (tests, failures, errors, skipped) = counts(&mut suite.cases.iter());
        let time: f64 = suite.cases.iter().map(|case| case.seconds).sum();
        let name = attribute(&suite.name);
        let _ = write!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" \
             skipped=\"{skipped}\" time=\"{time:.3}\""
        );
        if !suite.timestamp.is_empty() {
            let _ = write!(out, " timestamp=\"{}\" hostname=\"{name}\"", attribute(&suite.timestamp));
        }
        out.push_str(">\n");
        suite.cases.iter().for_each(|case| one(&mut out, case));
        out.push_str("  </testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn one(out: &mut String, case: &Case) {
    let (class, name) = (attribute(&case.class), attribute(&case.name));
    let _ = write!(out, "    <testcase classname=\"{class}\" name=\"{name}\" time=\"{:.3}\"", case.seconds);
    let said = case.said.trim();
    let bad = |element: &str, message: &str, told: &str| {
        let (message, told) = (attribute(message), text(told));
        format!("      <{element} message=\"{message}\" type=\"{element}\">{told}</{element}>\n")
    };
    let inner = match &case.verdict {
        Verdict::Passed if said.is_empty() => String::new(),
        Verdict::Passed => format!("      <system-out>{}</system-out>\n", text(said)),
        Verdict::Failure(message, told) => bad("failure", message, told),
        Verdict::Error(message, told) => bad("error", message, told),
        Verdict::Skipped(message) => format!("      <skipped message=\"{}\"/>\n", attribute(message)),
    };
    match inner.is_empty() {
        true => out.push_str("/>\n"),
        false => {
            let _ = write!(out, ">\n{inner}    </testcase>\n");
        }
    }
}

/// Text as XML 1.0 can hold it: without the characters that it has no way to write.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            '\t' | '\n' | '\u{20}'..='\u{fffd}' | '\u{10000}'.. => out.push(c),
            _ => {}
        }
    }
    out
}

/// The same where a line end would become a blank.
fn attribute(value: &str) -> String {
    text(value).replace('\n', "&#10;").replace('\t', "&#9;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Mask;

    #[test]
    fn what_xml_cannot_hold_is_left_out() {
        assert_eq!(text("a\u{0}\u{b}<b>&\"\u{fffe}\u{1f600}\r\n"), "a&lt;b&gt;&amp;&quot;\u{1f600}&#13;\n");
        assert_eq!(attribute("a\nb\tc"), "a&#10;b&#9;c");
    }

    #[test]
    fn what_was_wrong_before_anything_ran_is_an_error() {
        let problems = [crate::base::Problem::new("unknown module `x`")];
        let shown = render(&Subject::Problems { problems: &problems, mask: &Mask::new() });
        let nothing = [problems[0].clone().kind(crate::base::problem::Kind::Warning)];
        let passed = render(&Subject::Problems { problems: &nothing, mask: &Mask::new() });
        assert!(passed.contains("errors=\"0\"") && passed.contains("<system-out>suil: warning: unknown"), "{passed}");
        assert!(shown.contains("<error message=\"unknown module `x`\" type=\"error\">suil: unknown module"), "{shown}");
        assert!(shown.contains("tests=\"1\" failures=\"0\" errors=\"1\""), "{shown}");
    }
}
