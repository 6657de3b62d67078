//! Packages, services, accounts and the machine on real nodes of the fleet: the steps are in `tests/system-node/`.
//!
//! A step has `resources`, and `plan` (the titles), `problem` or `fails` (words). After each step a second look must
//! find nothing to do.

#![allow(clippy::disallowed_methods)]

use base64::Engine;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use suil::base::Plain;
use suil::resource::{Action, Ahead, Content, Facts, Planned, Request, Resource, build, compare_all, fact};

#[test]
#[ignore = "needs the fleet"]
fn every_step_on_debian_is_planned_performed_and_then_at_rest() {
    walk("debian", "debian", "debian1");
}

#[test]
#[ignore = "needs the fleet"]
fn every_step_on_redhat_is_planned_performed_and_then_at_rest() {
    walk("redhat", "redhat", "redhat1");
}

#[test]
#[ignore = "needs the fleet"]
fn every_step_on_busybox_is_planned_performed_and_then_at_rest() {
    walk("busybox", "alpine", "busybox1");
}

fn walk(kind: &str, family: &'static str, name: &str) {
    let fleet = std::env::var("FLEET_DIR").unwrap_or_else(|_| "/var/tmp/fleet".to_owned());
    let command = ["ssh", "-F", &format!("{fleet}/ssh_config"), "-o", "BatchMode=yes", &format!("root@{name}")];
    let node = Node { command: command.map(str::to_owned).to_vec(), family };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/system-node").join(format!("{kind}.yaml"));
    let steps = Plain::from_yaml(&std::fs::read_to_string(file).expect("steps")).expect("YAML");
    for (number, step) in steps.as_list().expect("a list").iter().enumerate() {
        node.step(number + 1, step);
    }
}

struct Node {
    command: Vec<String>,
    family: &'static str,
}

impl Node {
    fn step(&self, number: usize, step: &Plain) {
        if let Some(text) = step.get("sh").and_then(Plain::as_str) {
            let (status, out, err) = self.run(text);
            assert!(status, "step {number}: {}{err}", String::from_utf8_lossy(&out));
            return;
        }
        let resources = resources(step);
        let planned = match self.plan(&resources) {
            Ok(planned) => planned,
            Err(said) => {
                let wanted = step.get("problem").and_then(Plain::as_str).unwrap_or("nothing");
                assert!(said.contains(wanted), "step {number}: {said}");
                return;
            }
        };
        let titles_count = planned.len();
        let titles: Vec<Plain> = planned.iter().map(|planned| Plain::from(&planned.change.title)).collect();
        assert_eq!(Plain::List(titles), step.get("plan").cloned().unwrap_or(Plain::List(Vec::new())), "step {number}");
        for (n, planned) in planned.iter().enumerate() {
            let last = n + 1 == titles_count;
            let (status, _, err) = self.run(&performed(&planned.change.action));
            if let Some(words) = step.get("fails").and_then(Plain::as_str).filter(|_| last) {
                assert!(!status && err.contains(words), "step {number}: {err}");
                return;
            }
            assert!(status, "step {number}: {}: {err}", planned.change.title);
        }
        let again = self.plan(&resources).unwrap_or_else(|said| panic!("step {number}, again: {said}"));
        let again: Vec<&str> = again.iter().map(|planned| planned.change.title.as_str()).collect();
        assert_eq!(again, Vec::<&str>::new(), "step {number}, again");
    }

    fn plan(&self, resources: &[Arc<dyn Resource>]) -> Result<Vec<Planned>, String> {
        let mut requests: Vec<Request> = resources.iter().flat_map(|resource| resource.requests()).collect();
        requests.sort();
        requests.dedup();
        let (_, out, err) = self.run(&fact::script(&requests));
        assert_eq!(err, "");
        let mut facts: Facts = fact::parse(&requests, &out);
        facts.family = self.family.to_owned();
        facts.ssh_user = "root".to_owned();
        compare_all(resources, &facts, &mut Ahead::default(), false).map_err(|problems| {
            let said = |p: &suil::base::Problem| format!("{} {:?}", p.what, p.notes);
            problems.iter().map(said).collect::<Vec<_>>().join("; ")
        })
    }

    fn run(&self, text: &str) -> (bool, Vec<u8>, String) {
        let collector = Path::new(env!("CARGO_MANIFEST_DIR")).join("collector");
        let mut program = String::from("LC_ALL=C; export LC_ALL; umask 022\n");
        program.push_str("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin; export PATH\n");
        for part in ["lib.sh", "lib-system.sh", "facts.sh", "facts-system.sh"] {
            program.push_str(&std::fs::read_to_string(collector.join(part)).expect("collector code"));
        }
        program.push_str(&format!("(\n{text}\n) </dev/null\nexit $?\n"));
        let mut child = Command::new(&self.command[0])
            .args(&self.command[1..])
            .arg("sh -s")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        child.stdin.take().expect("stdin").write_all(program.as_bytes()).expect("written");
        let output = child.wait_with_output().expect("an end");
        (output.status.success(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn resources(step: &Plain) -> Vec<Arc<dyn Resource>> {
    let declared = step.get("resources").and_then(Plain::as_list).expect("resources");
    let one = |declared: &Plain| {
        let mut attributes = declared.as_map().expect("a mapping").clone();
        let mut take = |key| match attributes.shift_remove(key) {
            Some(Plain::Str(text)) => text,
            other => panic!("{key} is {other:?}"),
        };
        let (kind, name) = (take("kind"), take("name"));
        build(&kind, &name, &Plain::Map(attributes), None, None).expect("a resource")
    };
    declared.iter().map(one).collect()
}

fn performed(action: &Action) -> String {
    let mut text = String::from("set -eu\n");
    let mut places = Vec::new();
    for (n, upload) in action.uploads.iter().enumerate() {
        let Content::Bytes(bytes) = &upload.content else { panic!("no stream here") };
        let place = match &upload.beside {
            Some(beside) => format!("{beside}.staged-{n}"),
            None => format!("/tmp/suil-test-{n}"),
        };
        let bytes = base64::engine::general_purpose::STANDARD.encode(bytes);
        text.push_str(&format!("printf %s {bytes} | base64 -d >{place}\n"));
        places.push(place);
    }
    text.push_str(&format!("set -- {}\n{}", places.join(" "), action.script));
    text
}
