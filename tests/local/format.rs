//! `facts/` and `.runs/` are what the Python suil writes, field by field, in its order: tools that read them go on.
//! The documents compared with are those of `tests/conformance/suil/formats/sample`.

use crate::room::{NODE, Room};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/suil/formats/sample")
}

fn document(path: &str) -> Value {
    let path = sample().join(path);
    serde_saphyr::from_str(&fs::read_to_string(&path).expect("a sample")).expect("YAML")
}

/// The keys of a mapping in the order of the file.
fn keys(value: &Value) -> Vec<String> {
    value.as_object().expect("a mapping").keys().cloned().collect()
}

/// The sample's nodes and modules on this machine: its data, and modules that want and find the same.
fn room() -> Room {
    let room = Room::new(&["surf", "bundle"]);
    room.module(
        "surf",
        r#"
    height = t.int(default = 1),
    tags = t.list(t.string(), default = []),
    pin = t.secret(),
    note = t.string(optional = True),
"#,
        r#"
def resources(config):
    return [file("@/surf.conf", content = "x"), file("@/surf.old", ensure = "absent")]
"#,
    );
    room.write(
        "modules/surf/facts/collector",
        "#!/bin/sh\necho '{\"units\": {\"surf\": \"active\"}, \"height\": 3}'\n",
    );
    let data = sample().join("modules/surf/data/main.yaml");
    room.write("modules/surf/data/main.yaml", &fs::read_to_string(data).expect("a sample"));
    room.write("modules/bundle/requires.yaml", "requires: []\n");
    room.data("deployment: {ssh_user: diver, ssh_port: 22}\nsurf: {height: 3, tags: [b, a]}\n");
    room
}

fn key() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/suil");
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(text) = fs::read_to_string(&path)
                && let Some(at) = text.find("AGE-SECRET-KEY-1")
            {
                return text[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            }
        }
    }
    panic!("the corpus has a key");
}

fn stamped(value: &Value) {
    let text = value.as_str().expect("a timestamp");
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00:00:00Z");
}

#[test]
fn facts_and_records_have_the_fields_of_the_python_suil() {
    let mut room = room();
    room.set("SUIL_AGE_KEY", &key());
    room.apply(&["--confirm"]).expect(0);
    let old = sample().join("facts/kelp-01.reef.test");
    let sample = |path: &str| document(&format!("{}/{path}", old.strip_prefix(sample()).expect("inside").display()));

    let (probe, want) = (room.yaml(&format!("facts/{NODE}/suil.yaml")), sample("suil.yaml"));
    assert_eq!(keys(&probe), keys(&want));
    let fields = keys(&probe["facts"]);
    assert_eq!(fields[..3], keys(&want["facts"]), "more may follow: {fields:?}");
    stamped(&probe["timestamp"]);

    let (facts, want) = (room.yaml(&format!("facts/{NODE}/surf.yaml")), sample("surf.yaml"));
    assert_eq!(keys(&facts), keys(&want));
    assert_eq!(keys(&facts["facts"])[..3], keys(&want["facts"]));
    assert_eq!(
        (&facts["facts"]["units"], &facts["facts"]["height"]),
        (&want["facts"]["units"], &want["facts"]["height"])
    );
    let file = |name: &str| facts["facts"]["files"][room.node().join(name).to_str().expect("UTF-8")].clone();
    assert_eq!(file("surf.conf"), Value::from(suil::base::digest::sha256(b"x")));
    assert_eq!(file("surf.old"), Value::Null);
    assert!(facts["signature"].as_str().is_some_and(|s| s.starts_with("sha256:") && s.len() == 71), "{facts}");
    stamped(&facts["timestamp"]);

    let run = ".runs/2026-11-30T02-54-46Z/kelp-01.reef.test";
    let name = fs::read_link(room.path().join(".runs/latest")).expect("a link");
    let shape: String = name.to_string_lossy().chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00T00-00-00Z");
    let (node, want) = (room.yaml(&format!(".runs/latest/{NODE}/node.yaml")), document(&format!("{run}/node.yaml")));
    assert_eq!(keys(&node), keys(&want));
    assert_eq!((node["role"].as_str(), &node["modules"]), (Some("demo"), &want["modules"]));
    assert_eq!(
        (&node["deployment"]["ssh_user"], &node["deployment"]["ssh_port"]),
        (&want["deployment"]["ssh_user"], &want["deployment"]["ssh_port"])
    );
    for module in ["surf", "bundle"] {
        let found = room.yaml(&format!(".runs/latest/{NODE}/{module}.yaml"));
        let want = document(&format!("{run}/{module}.yaml"));
        assert_eq!((keys(&found), keys(&found["suil"])), (keys(&want), keys(&want["suil"])));
        for key in keys(&want).iter().filter(|key| *key != "suil") {
            assert_eq!(found[key], want[key], "{key} of {module}");
        }
        assert_eq!(
            (&found["suil"]["ssh_user"], found["suil"]["node"].as_str()),
            (&want["suil"]["ssh_user"], Some(NODE))
        );
        assert_eq!(
            (&found["suil"]["family"], &found["suil"]["release"]),
            (&probe["facts"]["family"], &probe["facts"]["release"])
        );
    }
    for folder in ["facts", ".runs"] {
        let mode = fs::metadata(room.path().join(folder)).expect("a folder").permissions().mode();
        assert_eq!(mode & 0o7777, 0o700, "{folder}");
    }
}

/// A record is the public view, but it is nobody else's business what stands on which node.
#[test]
fn a_record_is_private_and_keeps_only_the_end_of_what_an_operation_printed() {
    let room = Room::new(&["demo"]);
    let main = r#"
def resources(config):
    return [command("chat", run = "yes é | head -c 300000; echo the-end >&2; touch @/done", creates = "@/done")]
"#;
    room.module("demo", "", main);
    room.apply(&["--confirm"]).expect(0);
    let mut folders = vec![room.path().join(".runs")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_symlink() {
                continue;
            }
            let mode = path.metadata().expect("metadata").permissions().mode() & 0o7777;
            let private = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode, private, "{}", path.display());
            folders.extend(path.is_dir().then_some(path));
            seen += 1;
        }
    }
    assert!(seen >= 6, "{seen}");
    let events = room.events();
    let ended = events.iter().find(|event| event["event"] == "ended").expect("an end");
    let output = ended["output"].as_str().expect("text");
    assert!(output.starts_with("… ") && output.ends_with("the-end") && output.len() < 70_000, "{}", output.len());
}
