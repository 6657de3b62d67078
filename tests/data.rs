//! The shared corpora, as far as loading and merging files goes. The catalogue has the rest.

use std::path::{Path, PathBuf};
use suil::base::{Plain, Problem};
use suil::data::load;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/suil/cases")
}

/// The data files of a workspace, shown as a person would type them.
fn files(workspace: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut out = Vec::new();
    let mut open = vec![workspace.to_owned()];
    while let Some(folder) = open.pop() {
        let mut entries: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "yaml") && !path.to_string_lossy().contains("/facts/") {
                out.push((path.strip_prefix(workspace).unwrap().to_owned(), std::fs::read(&path).unwrap()));
            }
        }
    }
    out.sort();
    out
}

/// Everything that a problem says, on one line.
fn text(problem: &Problem) -> String {
    let place = problem.place.map(|p| p.to_string()).unwrap_or_default();
    let notes: Vec<String> = problem
        .notes
        .iter()
        .map(|n| format!("{} {}", n.text, n.place.map(|p| p.to_string()).unwrap_or_default()))
        .collect();
    format!(
        "{place}: {} | {} | {} | {}",
        problem.what,
        problem.expected.clone().unwrap_or_default(),
        notes.join("; "),
        problem.help.clone().unwrap_or_default()
    )
}

#[test]
fn smoke() {
    let mut cases: Vec<_> = std::fs::read_dir(corpus()).unwrap().map(|e| e.unwrap().path()).collect();
    cases.sort();
    for case in cases {
        let about = Plain::from_yaml(&std::fs::read_to_string(case.join("case.yaml")).unwrap()).unwrap();
        for (path, bytes) in files(&case.join("workspace")) {
            if let Err(problems) = load(&path, &bytes) {
                for problem in problems {
                    println!(
                        "{} {:?} {:?}\n     {}",
                        case.file_name().unwrap().to_string_lossy(),
                        about.get("expect"),
                        about.get("peer"),
                        text(&problem)
                    );
                }
            }
        }
    }
}
