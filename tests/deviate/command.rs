//! The same corpus as a person compares it: `suil config --merged --output json`, one process a case.

use super::{Case, corpus, deviate, first_difference, yaml};
use std::process::Command;
use suil::base::Plain;

struct Left {
    status: Option<i32>,
    stdout: String,
    stderr: String,
}

#[allow(clippy::disallowed_methods, reason = "the command is what is tested")]
fn run(case: &Case) -> Left {
    let select = match (case.says("role"), case.says("node")) {
        (Some(role), None) => ["--role", role],
        (None, Some(node)) => ["--node", node],
        _ => panic!("{} selects neither a role nor a node", case.name),
    };
    let output = Command::new(env!("CARGO_BIN_EXE_suil"))
        .args(["config", "--merged", "--output", "json"])
        .args(select)
        .current_dir(case.folder.join("workspace"))
        .env_clear()
        .env("SUIL_AGE_KEY_FILE", corpus().join("keys/TEST-ONLY-identity.txt"))
        .output()
        .expect("suil starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Left { status: output.status.code(), stdout: bare(&text(output.stdout)), stderr: text(output.stderr) }
}

/// The result as the corpus has it: nothing of what suil puts around every result. One that is no result is nothing.
fn bare(stdout: &str) -> String {
    let Ok(Plain::Map(mut result)) = Plain::from_json(stdout) else { panic!("no result: {stdout}") };
    assert_eq!(result.shift_remove("version"), Some(Plain::Int(1)));
    assert!(result.shift_remove("problems").is_some_and(|problems| problems.as_list().is_some()));
    if result.is_empty() { String::new() } else { Plain::Map(result).to_json() + "\n" }
}

/// What is said, with each place at the beginning of its line.
fn said(stderr: &str) -> String {
    let place = |line: &str| line.trim_start().strip_prefix("--> ").map(str::to_owned).unwrap_or(line.to_owned());
    stderr.lines().map(place).collect::<Vec<_>>().join("\n")
}

/// Words that no message may have: Rust's own, and numbers of the system's errors.
const FOREIGN: [&str; 9] =
    ["panicked", "RUST_BACKTRACE", "os error", "Some(", "None", "alloc::", "core::", "serde", "unwrap"];

fn refused(left: &Left) -> Option<String> {
    if (left.status, left.stdout.as_str()) != (Some(1), "") || !left.stderr.starts_with("suil: ") {
        return Some(format!("  want status 1 and an empty stdout, found {:?} and {:?}", left.status, left.stdout));
    }
    FOREIGN.iter().find(|word| left.stderr.contains(**word)).map(|word| format!("  {word:?} is no word for a person"))
}

fn judge(case: &Case, left: &Left) -> Option<String> {
    if let Some(wants) = deviate::TABLE.iter().find(|row| row.0 == case.name).map(|row| &row.1) {
        let shown = said(&left.stderr);
        let found = Plain::from_json(&left.stdout);
        let problems = Vec::new();
        let judge = |want: &deviate::Want| match (left.status, &found) {
            (Some(0), Ok(plain)) => want.judge(Ok((plain, shown.clone())), &shown).err(),
            _ => refused(left).or_else(|| want.judge(Err(&problems), &shown).err()),
        };
        return wants.iter().find_map(judge);
    }
    if case.says("expect") == Some("error") {
        let needle = case.says("error_contains").expect("error_contains");
        let named = left.stderr.contains(needle);
        return refused(left).or_else(|| (!named).then(|| format!("  nothing names {needle:?}")));
    }
    let want = yaml(&case.folder.join("expected.yaml")).to_json() + "\n";
    match left.status {
        Some(0) if left.stdout == want => None,
        Some(0) => Some(first_difference(&want, &left.stdout)),
        status => Some(format!("  unexpected status {status:?}")),
    }
}

#[test]
fn the_command_prints_every_case_in_the_shape_of_the_corpus() {
    let cases = Case::all();
    assert!(cases.len() > 130, "only {} cases were found", cases.len());
    let mut failures = Vec::new();
    for case in &cases {
        let left = run(case);
        failures.extend(judge(case, &left).map(|words| format!("{}\n{words}\n{}", case.name, left.stderr)));
    }
    assert!(failures.is_empty(), "{} of {} cases fail:\n\n{}", failures.len(), cases.len(), failures.join("\n\n"));
}
