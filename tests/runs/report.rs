//! Reports of runs that go well, fail, stop, and never begin. What nodes say is as nasty as it can be.

use crate::room::{NODE, Room, until};
use serde_json::Value;
use std::process::Command;

/// What a node says to break out of a report.
const NASTY: &str = r#"printf '\001\033[2J]]>&<b a=\"x\">|`\n```\n</details>\n\100everyone ￾\n'"#;

fn room(more: &str) -> Room {
    let room = Room::new(&["demo"]);
    let main = format!(
        "def resources(config):\n    return [\n        file(\"@/a\", content = \"1|2 `x`\\n```\\n</details>\\n\"),\n        {more}\n    ]\n"
    );
    room.module("demo", "", &main);
    room
}

/// The report as Python's XML parser reads it: `[{name, tests, failures, errors, skipped, cases: [[name, child, text]]}]`.
#[track_caller]
fn junit(room: &Room) -> Value {
    let program = "\
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert root.tag == 'testsuites', root.tag
cases = lambda suite: [[c.get('name'), [(e.tag, e.get('message'), e.text) for e in c]] for c in suite]
keys = ['name', 'tests', 'failures', 'errors', 'skipped']
known = {'testcase': {'classname', 'name', 'time'}, 'failure': {'message', 'type'}, 'error': {'message', 'type'}, 'skipped': {'message'}, 'system-out': set()}
for suite in root:
    assert suite.tag == 'testsuite' and set(suite.attrib) <= {'name', 'tests', 'failures', 'errors', 'skipped', 'time', 'timestamp', 'hostname'}, suite.attrib
    for element in list(suite.iter())[1:]:
        assert set(element.attrib) == known[element.tag], (element.tag, element.attrib)
print(json.dumps([dict({k: s.get(k) for k in keys}, cases=cases(s)) for s in root]))
";
    let parsed =
        Command::new("python3").args(["-c", program]).arg(room.path().join("report.xml")).output().expect("python3");
    assert!(parsed.status.success(), "{}\n{}", String::from_utf8_lossy(&parsed.stderr), room.read("report.xml"));
    serde_json::from_slice(&parsed.stdout).expect("JSON")
}

const BOTH: [&str; 2] = ["--report=junit=report.xml", "--report=markdown=report.md"];

#[test]
fn a_dry_run_is_reported_as_a_plan() {
    let room = room("");
    room.apply(&[&BOTH[..], &["--dry-run"]].concat()).expect(0);
    let suite = &junit(&room)[0];
    assert_eq!((&suite["tests"], &suite["skipped"], &suite["failures"]), (&"2".into(), &"2".into(), &"0".into()));
    let markdown = room.read("report.md");
    assert!(markdown.starts_with("### suil dry run: 1 operation on 1 node\n"), "{markdown}");
    assert!(markdown.contains("| planned | <code>here.example.com</code> | 1 |\n"), "{markdown}");
    let want = "````text\n  planned, 1 operation · role demo · demo\n  + write ";
    assert!(markdown.contains(want), "a fence longer than what it holds: {markdown}");
    assert!(markdown.contains("      +```\n      +</details>\n````\n\n</details>\n"), "{markdown}");
    // A later report of the same run knows the digests of contents alone.
    room.suil(&["runs", "show", "--report", "markdown=later.md"]).expect(0);
    assert!(room.read("later.md").contains("      content  sha256 "), "{}", room.read("later.md"));
}

#[test]
fn a_failed_run_is_reported_with_what_the_node_said() {
    let room = room(&format!(
        "command(\"nasty\", run = \"\"\"{NASTY}; exit 1\"\"\", unless = \"false\"), command(\"later\", run = \"true\", creates = \"@/later\")"
    ));
    room.apply(&[&BOTH[..], &["--confirm"]].concat()).expect(1);
    let suite = &junit(&room)[0];
    assert_eq!(suite["name"], NODE);
    assert_eq!((&suite["tests"], &suite["skipped"], &suite["failures"]), (&"4".into(), &"2".into(), &"1".into()));
    let (tag, told) = (&suite["cases"][1][1][0][0], suite["cases"][1][1][0][2].as_str().expect("what it said"));
    assert_eq!(tag, "failure");
    assert!(told.contains("[2J]]>&<b a=\"x\">|`\n```\n</details>\n@everyone"), "{told}");
    assert!(!told.contains(['\u{1}', '\u{1b}', '\u{fffe}']), "{told:?}");
    let markdown = room.read("report.md");
    assert!(markdown.starts_with("### suil apply: 1 failed\n"), "{markdown}");
    assert!(markdown.contains("<details open><summary><code>here.example.com</code>: failed, 3 operations</summary>"));
    let (before, fenced) = markdown.split_once("````text\n").expect("a fence");
    let (fenced, after) = fenced.split_once("\n````\n").expect("its end");
    assert!(fenced.contains("      | @everyone") && !before.contains('@') && !after.contains('@'), "{markdown}");
    // The report of the record is the same.
    let first = room.read("report.xml");
    room.suil(&["runs", "show", "--report", "junit=report.xml"]).expect(0);
    assert_eq!(room.read("report.xml"), first);
}

#[test]
fn a_run_that_is_stopped_and_one_that_never_began_are_reported() {
    let room = room(
        "command(\"slow\", run = \"touch @/begun; sleep 1\", creates = \"@/done\"), command(\"later\", run = \"true\", creates = \"@/later\")",
    );
    let child = room.start(&[&["apply", "--role", "demo", "--confirm"], &BOTH[..]].concat());
    until("the operation runs", || room.node().join("begun").exists());
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert_eq!(child.wait_with_output().expect("an end").status.code(), Some(130));
    let cases = junit(&room)[0]["cases"].clone();
    assert_eq!(cases[2][1][0][1], "not performed", "{cases}");
    assert!(room.read("report.md").starts_with("### suil apply: 1 failed\n"));
    room.data("demon: 1\n");
    room.apply(&[&BOTH[..], &["--confirm"]].concat()).expect(1);
    let suite = &junit(&room)[0];
    assert_eq!((&suite["name"], &suite["errors"]), (&"suil".into(), &"1".into()));
    assert!(room.read("report.md").starts_with("### suil: nothing was run\n\n```text\nsuil: unknown top-level key"));
}

#[test]
fn a_hook_that_fails_is_reported_though_it_is_on_no_node() {
    let room = room("");
    let common = room.read("data/common.yaml");
    room.write("data/common.yaml", &format!("{common}before_batch: \"exit 7\"\n"));
    room.apply(&[&BOTH[..], &["--confirm"]].concat()).expect(1);
    let suites = junit(&room);
    assert_eq!((&suites[1]["name"], &suites[1]["errors"]), (&"suil".into(), &"1".into()), "{suites}");
    assert!(room.read("report.md").contains("\n**<code>"), "{}", room.read("report.md"));
}

#[test]
fn a_report_fits_into_a_comment_and_says_what_was_cut() {
    let room = Room::new(&["demo"]);
    let main = "def resources(config):\n    return [file(\"@/%s-%d\" % (config.suil.node, n), content = \"\\n\".join([\"line %d\" % i for i in range(900)])) for n in range(4)]\n";
    room.module("demo", "", main);
    for n in 0..40 {
        room.write(&format!("data/nodes/web-{n:02}.example.com.yaml"), "role: demo\n");
    }
    room.apply(&["--dry-run", "--report", "markdown=report.md"]).expect(0);
    let markdown = room.read("report.md");
    assert!((50_000..65_536).contains(&markdown.chars().count()), "{}", markdown.chars().count());
    assert!(markdown.contains(" and 21 more | 164 |\n"), "{}", &markdown[..2000]);
    assert!(markdown.contains(" more lines\n```\n"), "{}", &markdown[..6000]);
    let last = markdown.lines().last().expect("a line");
    assert!(last.contains(" nodes left out, as a comment may not be longer: see the record <code>"), "{last}");
    assert_eq!(markdown.matches("<details").count(), markdown.matches("</details>").count());
    assert_eq!(markdown.matches("\n```").count() % 2, 0);
}

#[test]
fn a_report_that_could_not_be_written_is_refused_before_anything_runs() {
    let room = room("");
    let ran = room.apply(&["--confirm", "--report", "junit=none/report.xml"]).expect(64);
    assert!(
        ran.stderr.starts_with("suil: there is no folder `") && ran.stderr.ends_with("help: make it first\n"),
        "{ran:?}"
    );
    assert_eq!(room.there("a"), "none");
    let ran = room.apply(&["--confirm", "--report", "html=x"]).expect(64);
    assert!(ran.stderr.contains("expected `junit=FILE` or `markdown=FILE`"), "{ran:?}");
}
