//! The corpus of graphs: every case is scanned and asked through the library, and compared whole.

#![allow(clippy::disallowed_methods)]

#[path = "graph/git.rs"]
mod git;
#[path = "graph/layers.rs"]
mod layers;
#[path = "cli/room.rs"]
#[allow(dead_code, reason = "the sealed room has more than is needed here")]
mod room;
#[path = "graph/scan.rs"]
mod scan;
#[path = "graph/told.rs"]
mod told;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use suil::base::Plain;
use suil::infra::graph::{self, Affected, Code, Graph, Need, Query, Warning};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/infra-graph")
}

struct Case {
    name: String,
    input: Plain,
    expected: Plain,
    room: tempfile::TempDir,
}

impl Case {
    fn repo(&self) -> &str {
        self.input.get("repo").and_then(Plain::as_str).expect("a repository")
    }

    /// Warnings of this code are not compared.
    fn is_lenient(&self) -> bool {
        self.input.get("strict_environment").and_then(Plain::as_bool) != Some(true)
    }

    fn scan(&self) -> Result<Graph, Vec<suil::base::Problem>> {
        graph::scan(self.room.path(), self.repo())
    }

    fn queries(&self) -> &[Plain] {
        list(self.input.get("queries"))
    }
}

fn cases() -> Vec<Case> {
    let mut found = Vec::new();
    for entry in fs::read_dir(corpus()).expect("the corpus") {
        let path = entry.expect("an entry").path();
        if !path.is_dir() {
            continue;
        }
        let read = |name: &str| {
            let text = fs::read_to_string(path.join(name)).expect("a file of the case");
            Plain::from_yaml(&text).expect("YAML")
        };
        let room = tempfile::tempdir().expect("a room");
        copy(&path.join("repo"), room.path());
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        found.push(Case { name, input: read("case.yaml"), expected: read("expected.yaml"), room });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder of the case") {
        let path = entry.expect("an entry").path();
        let to = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &to),
            false => drop(fs::copy(&path, &to).expect("copied")),
        }
    }
}

fn list(value: Option<&Plain>) -> &[Plain] {
    value.and_then(Plain::as_list).unwrap_or(&[])
}

fn strings(value: Option<&Plain>) -> Vec<String> {
    list(value).iter().map(|item| item.as_str().expect("a text").to_owned()).collect()
}

/// The code and the subject of each warning, sorted.
fn told(warnings: &[Warning], lenient: bool) -> BTreeSet<(String, String)> {
    let kept = warnings.iter().filter(|w| !(lenient && w.code == Code::UnmappedEnvironment));
    kept.map(|w| (json(&w.code).as_str().expect("a code").to_owned(), w.subject.clone())).collect()
}

fn wanted(value: Option<&Plain>, lenient: bool) -> BTreeSet<(String, String)> {
    let text = |item: &Plain, key: &str| item.get(key).and_then(Plain::as_str).expect("a text").to_owned();
    let all = list(value).iter().map(|item| (text(item, "code"), text(item, "subject")));
    all.filter(|(code, _)| !(lenient && code == "unmapped_environment")).collect()
}

fn json(value: &impl serde::Serialize) -> Plain {
    Plain::from_json(&serde_json::to_string(value).expect("JSON")).expect("JSON")
}

/// The graph in the shape of `expected.yaml`.
fn shaped(graph: &Graph) -> Plain {
    let stacks = graph.stacks.iter().map(|stack| {
        let mut out = Plain::from_iter([("key", Plain::from(stack.key.as_str()))]);
        if stack.external {
            out.set("external", true);
            return out;
        }
        out.set("environment", stack.environment.as_str());
        out.set("state", stack.state.clone());
        if !stack.workspace.is_empty() {
            out.set("workspace", stack.workspace.as_str());
        }
        if !stack.watch_paths.is_empty() {
            out.set("watch", stack.watch_paths.iter().map(|p| Plain::from(p.as_str())).collect::<Plain>());
        }
        out
    });
    let mut out = Plain::from_iter([("stacks", stacks.collect::<Plain>())]);
    let modules: Vec<Plain> = graph
        .modules
        .iter()
        .map(|module| {
            let mut out = Plain::from_iter([("key", Plain::from(module.key.as_str())), ("kind", json(&module.kind))]);
            if !module.pin.is_empty() {
                out.set("ref", module.pin.as_str());
            }
            out
        })
        .collect();
    if !modules.is_empty() {
        out.set("modules", modules);
    }
    for need in [Need::DependsOn, Need::UsesModule, Need::ReadsState] {
        let edges = graph.edges.iter().filter(|edge| edge.kind == need);
        let mut words: Vec<String> = edges.map(|edge| format!("{} -> {}", edge.from.key, edge.to.key)).collect();
        words.sort();
        if !words.is_empty() {
            out.set(need.name(), words.iter().map(|word| Plain::from(word.as_str())).collect::<Plain>());
        }
    }
    out
}

/// The same value with its keys sorted, warnings left out.
fn sorted(value: &Plain) -> Plain {
    match value {
        Plain::Map(map) => {
            let mut pairs: Vec<(String, Plain)> = map
                .iter()
                .filter(|(key, _)| *key != "warnings")
                .map(|(key, item)| (key.clone(), sorted(item)))
                .collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            pairs.into_iter().collect()
        }
        Plain::List(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn answer(case: &Case, graph: &Graph, query: &Plain) -> Affected {
    let query = Query { changed: strings(query.get("changed")), requested: strings(query.get("requested")) };
    let affected = graph::affected(graph, &query);
    assert_eq!(affected, graph::affected(graph, &query), "{}: the same question gives the same answer", case.name);
    affected
}

/// The answer in the shape of `expected.yaml`.
fn answered(affected: &Affected, locks: Option<&Plain>) -> Plain {
    let texts = |items: &[String]| items.iter().map(|item| Plain::from(item.as_str())).collect::<Plain>();
    let touched = affected.affected.iter().map(|one| {
        let mut out = Plain::from_iter([
            ("key", Plain::from(one.key.as_str())),
            ("wave", Plain::from(one.wave)),
            ("reasons", one.reasons.iter().map(|r| Plain::from(r.name())).collect()),
        ]);
        if !one.via.is_empty() {
            out.set("via", texts(&one.via));
        }
        if let Some(holder) = locks.and_then(|locks| locks.get(&one.key)) {
            out.set("locked_by", holder.clone());
        }
        out
    });
    let mut out = Plain::from_iter([
        ("affected", touched.collect::<Plain>()),
        ("waves", affected.waves.iter().map(|wave| texts(wave)).collect()),
    ]);
    if !affected.cycles.is_empty() {
        out.set("cycles", affected.cycles.iter().map(|cycle| texts(cycle)).collect::<Plain>());
        let words: Vec<String> = affected.cycles.iter().map(|cycle| graph::spelled(cycle)).collect();
        let error = [
            ("code", Plain::from("dependency_cycle")),
            ("message", Plain::from(format!("cycle: {}", words.join("; ")))),
            ("exit", Plain::Int(1)),
        ];
        out.set("error", Plain::from_iter(error));
    }
    out
}

#[test]
fn every_graph_and_every_answer_is_that_of_the_corpus() {
    let cases = cases();
    assert_eq!(cases.len(), 30);
    let wrong: Vec<String> = cases.iter().flat_map(differences).collect();
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_planted_fault_is_seen() {
    let plant = |name: &str, file: &str, text: &str| {
        let case = cases().into_iter().find(|case| case.name == name).expect("the case");
        fs::write(case.room.path().join(file), text).expect("written");
        differences(&case).len()
    };
    assert!(plant("005-chain", "stacks/run/apps/.stackorder.yaml", "") >= 4);
    assert!(plant("034-cycle", "stacks/c/.stackorder.yaml", "") >= 3);
    assert!(
        plant("009-module-direct", "stacks/us/dns/new.tf", "module \"v\" {\n  source = \"../../../modules/vpc\"\n}\n")
            >= 2
    );
}

/// What of a case is not as the corpus has it.
fn differences(case: &Case) -> Vec<String> {
    let mut wrong = Vec::new();
    let graph = match case.scan() {
        Ok(graph) => graph,
        Err(problems) => return vec![format!("{}: no graph: {problems:?}", case.name)],
    };
    let mut compare = |what: String, found: String, want: String| {
        if found != want {
            wrong.push(format!("{}: {what}\n  found {found}\n  want  {want}", case.name));
        }
    };
    let expected = case.expected.get("graph").expect("a graph");
    compare("graph".into(), sorted(&shaped(&graph)).to_json_line(), sorted(expected).to_json_line());
    let lenient = case.is_lenient();
    let want = wanted(expected.get("warnings"), lenient);
    compare("graph warnings".into(), format!("{:?}", told(&graph.warnings, lenient)), format!("{want:?}"));
    let checked = graph::check(&graph);
    let validate = case.expected.get("validate");
    let want = |key: &str| format!("{:?}", wanted(validate.and_then(|v| v.get(key)), lenient));
    compare("validate errors".into(), format!("{:?}", told(&checked.errors, lenient)), want("errors"));
    compare("validate warnings".into(), format!("{:?}", told(&checked.warnings, lenient)), want("warnings"));
    for query in case.queries() {
        let name = query.get("name").and_then(Plain::as_str).expect("a name");
        let affected = answer(case, &graph, query);
        let want = case.expected.at(&["queries", name]).expect("an answer");
        let found = answered(&affected, query.get("locks"));
        compare(name.to_owned(), sorted(&found).to_json_line(), sorted(want).to_json_line());
        let want = wanted(want.get("warnings"), lenient);
        compare(format!("{name} warnings"), format!("{:?}", told(&affected.warnings, lenient)), format!("{want:?}"));
    }
    for (key, want) in case.expected.get("artifacts").and_then(Plain::as_map).into_iter().flatten() {
        let sha = case.input.at(&["artifacts", "sha"]).and_then(Plain::as_str).filter(|sha| *sha != "local");
        compare(key.clone(), graph::key::artifact(key, sha), want.as_str().unwrap_or_default().to_owned());
    }
    wrong
}

#[test]
fn every_mistake_of_a_configuration_is_named() {
    let mut count = 0;
    for case in cases() {
        for config in list(case.input.get("configs")) {
            count += 1;
            let text = |key: &str| config.get(key).and_then(Plain::as_str).expect("a text");
            fs::write(case.room.path().join("stackorder.yaml"), text("text")).expect("written");
            let want = case.expected.at(&["configs", text("name")]).expect("an outcome");
            match (case.scan(), want.get("error")) {
                (Ok(graph), None) => {
                    let keys: Vec<String> = graph.stacks.iter().map(|stack| stack.key.clone()).collect();
                    assert_eq!(keys, strings(want.get("stacks")), "{}", text("name"));
                }
                (Err(problems), Some(error)) => {
                    let words = problems.iter().map(|p| p.what.as_str()).collect::<Vec<_>>().join("\n");
                    for mention in strings(error.get("mentions")) {
                        assert!(words.contains(&mention), "{}: no `{mention}` in\n{words}", text("name"));
                    }
                }
                (result, _) => panic!("{}: {result:?}", text("name")),
            }
        }
    }
    assert_eq!(count, 10);
}
