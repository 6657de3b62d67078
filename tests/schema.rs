//! The JSON Schemas for editors: what people write rightly is accepted, and a slip is not.
//!
//! The check is as much of JSON Schema as suil prints; a keyword that it does not know fails the test.

#![allow(clippy::disallowed_methods)]

#[path = "schema/check.rs"]
mod check;
#[path = "cli/room.rs"]
#[allow(dead_code, reason = "others need the rest")]
mod room;
#[path = "schema/seen.rs"]
mod seen;

use check::faults;
use room::Room;
use seen::seen;
use std::fs;
use std::path::{Path, PathBuf};
use suil::base::Plain;

const FILES: [&str; 4] = ["data", "common", "modules", "requires"];

#[track_caller]
fn schema(room: &Room, args: &[&str]) -> Plain {
    let left = room.run(&[&["schema"], args].concat());
    assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{args:?}");
    Plain::from_json(&left.stdout).expect("JSON")
}

/// What an editor finds wrong in `text`.
fn wrong(schema: &Plain, text: &str) -> Vec<String> {
    faults(schema, &seen(text))
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            yaml_files(&path, found);
        } else if path.extension().is_some_and(|end| end == "yaml") {
            found.push(path);
        }
    }
}

#[test]
fn every_file_of_the_example_is_accepted() {
    let room = Room::copy("data-example");
    let (data, common) = (schema(&room, &[]), schema(&room, &["--for", "common"]));
    let mut files = Vec::new();
    yaml_files(&room.path().join("data"), &mut files);
    assert!(files.len() > 12, "{files:?}");
    for path in files {
        let schema = if path.ends_with("data/common.yaml") { &common } else { &data };
        let text = fs::read_to_string(&path).expect("a file");
        assert_eq!(wrong(schema, &text), [""; 0], "{}", path.display());
    }
    let requires = schema(&room, &["--for", "requires"]);
    assert_eq!(wrong(&requires, "requires: [nginx, motd]\n"), [""; 0]);
    assert_eq!(wrong(&requires, "requires: [ngnix]\n").len(), 1);
}

#[test]
fn what_suil_init_writes_is_accepted() {
    let room = Room::new();
    assert_eq!(room.run(&["init", "."]).status, 0);
    for (file, path) in
        [("common", "data/common.yaml"), ("data", "data/roles/example.yaml"), ("data", "data/nodes/here.yaml")]
    {
        let text = fs::read_to_string(room.path().join(path)).expect("a file");
        assert_eq!(wrong(&schema(&room, &["--for", file]), &text), [""; 0], "{path}");
    }
}

#[test]
fn stock_data_is_accepted() {
    let data = schema(&Room::copy("data-example"), &[]);
    let mut files = Vec::new();
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("modules");
    for entry in fs::read_dir(modules).expect("modules") {
        let folder = entry.expect("an entry").path().join("data");
        if folder.is_dir() {
            yaml_files(&folder, &mut files);
        }
    }
    assert!(files.len() > 5, "{files:?}");
    for path in files {
        assert_eq!(wrong(&data, &fs::read_to_string(&path).expect("a file")), [""; 0], "{}", path.display());
    }
}

/// Every form that a tag, a lookup and a secret may take.
#[test]
fn tags_lookups_and_secrets_may_stand_where_a_value_stands() {
    let data = schema(&Room::copy("data-example"), &[]);
    for line in [
        "modules: !append [time]",
        "modules: !delete [time]",
        "deployment: {ssh_port: !replace 2222, ssh_options: [Compression=yes], ssh_persist: no, sudo: doas}",
        "deployment: {ssh_options: {Compression: yes}, exec: [docker, exec], ssh_key: !ENC[YWdl], transport: !delete }",
        "nginx: !delete",
        "nginx: !replace {workers: 4}",
        "nginx: {connections: !replace 2048, max_body: 1.10, user: !delete }",
        "nginx: {sites: !delete [www.example.com]}",
        "nginx: {sites: !merge [{name: a, key: !ENC[YWdl]}, {name: b, key: '!ENC[YWdl]'}]}",
        "packages: {install: [vim, !LOOKUP {field: a.b}]}",
        "packages: {install: !LOOKUP {field: a.b, from: facts, required: no, ip: v4, self: exclude}}",
        "packages: {versions: !delete [vim], names: !delete , remove: !replace []}",
        "ssh: {root_login: no, password_login: !replace yes, port: [22]}",
        "status: {token: !ENC[YWdl]}",
    ] {
        assert_eq!(wrong(&data, &format!("{line}\n")), [""; 0], "{line}");
    }
}

#[test]
fn a_slip_is_found_at_its_key() {
    let room = Room::copy("data-example");
    let data = schema(&room, &[]);
    for (line, at) in [
        ("ngnix: {}", "ngnix"),
        ("modules: [ngnix]", "modules"),
        ("deployment: {ssh_prot: 1}", "deployment.ssh_prot"),
        ("deployment: {transport: opensh}", "deployment.transport"),
        ("deployment: {ssh_port: 70000}", "deployment.ssh_port"),
        ("nginx: {wrokers: 4}", "nginx.wrokers"),
        ("nginx: {connections: 3}", "nginx.connections"),
        ("nginx: {connections: many}", "nginx.connections"),
        ("nginx: [{}]", "nginx.0"),
        ("nginx: {sites: [{name: a, rooot: /x}]}", "nginx.sites"),
        ("packages: {install: vim}", "packages.install"),
        ("packages: {install: !LOOKUP {nodes: x}}", "packages.install"),
        ("ssh: {root_login: maybe}", "ssh.root_login"),
        ("ssh: {password_login: maybe}", "ssh.password_login"),
        ("status: {token: in the open}", "status.token"),
        ("hierarchy: []", "hierarchy"),
    ] {
        // What suil itself refuses as it loads the file needs no schema.
        let text = line.replace("!LOOKUP {nodes: x}", "{nodes: x}");
        assert_eq!(wrong(&data, &format!("{text}\n")), [at], "{line}");
    }
    let common = schema(&room, &["--for", "common"]);
    assert_eq!(wrong(&common, "hierarchy: [a]\ndeploymnet: {}\n"), ["deploymnet"]);
    assert_eq!(wrong(&common, "recipients: age1\n"), ["hierarchy"], "it is missing");
    assert_eq!(wrong(&common, "hierarchy: [a]\nruns: {kepe: 3}\nbefore_batch: {rnu: x}\n").len(), 2);
    let sound =
        "hierarchy: [a]\nruns: {keep: all, days: 30}\nbefore_batch: {run: [a, 1], timeout: 20m}\nafter_batch: no\n";
    assert_eq!(wrong(&common, sound), [""; 0]);
    let modules = schema(&room, &["--for", "modules"]);
    let sound = "repos:\n  - {repo: local, modules: [a]}\n  - {repo: 'https://x', modules: {a: '1', b: {version: 2, sha256: c}}}\n";
    assert_eq!(wrong(&modules, sound), [""; 0]);
    assert_eq!(wrong(&modules, "repos: [{rpeo: x, modules: [a]}]\n"), ["repos.0.repo", "repos.0.rpeo"]);
}

/// Whatever suil itself names as a key that may stand there.
#[test]
fn every_key_that_suil_reads_is_in_a_schema() {
    for (path, key, file) in [
        ("data/common.yaml", "nothing: x\n", "common"),
        ("modules.yaml", "nothing: x\nrepos: []\n", "modules"),
        ("modules.yaml", "repos: [{nothing: x}]\n", "modules"),
        ("data/nodes/web-01.example.com.yaml", "deployment: {nothing: x}\n", "data"),
    ] {
        let room = Room::copy("data-example");
        let text = fs::read_to_string(room.path().join(path)).unwrap_or_default();
        room.write(path, &format!("{text}{key}"));
        let told = room.run(&["validate"]).stderr;
        let schema = schema(&Room::copy("data-example"), &["--for", file]).to_json();
        let line =
            told.lines().find(|line| line.contains("expected one of `")).unwrap_or_else(|| panic!("{path}: {told}"));
        let known: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        assert!(!known.is_empty(), "{told}");
        for known in known {
            assert!(schema.contains(&format!("\"{known}\": {{")), "{path}: {known}");
        }
    }
}

/// The parts that a person sees while typing.
#[test]
fn schemas_carry_words_and_defaults_and_close_every_mapping() {
    let room = Room::copy("data-example");
    for file in FILES {
        let schema = schema(&room, &["--for", file]);
        assert_eq!(schema.get("$schema").and_then(Plain::as_str), Some("https://json-schema.org/draft/2020-12/schema"));
        assert!(schema.get("title").and_then(Plain::as_str).is_some_and(|title| title.contains("suil")), "{file}");
        assert_eq!(schema.get("additionalProperties"), Some(&Plain::from(false)), "{file}");
    }
    let data = schema(&room, &[]);
    let at = |path: &[&str]| data.at(path).cloned().unwrap_or_else(|| panic!("{path:?}"));
    let workers = ["properties", "nginx", "properties", "workers"];
    assert_eq!(at(&[&workers[..], &["default"]].concat()), Plain::from("auto"));
    assert!(
        at(&[&workers[..], &["description"]].concat()).as_str().is_some_and(|doc| doc.contains("worker processes"))
    );
    let nginx = schema(&room, &["nginx"]);
    assert_eq!(nginx.get("additionalProperties"), Some(&Plain::from(false)));
    assert_eq!(nginx.at(&["properties", "workers", "default"]), Some(&Plain::from("auto")));
    open(&data, &mut Vec::new());
}

/// Fails at a mapping of known keys that takes others, too.
fn open(schema: &Plain, path: &mut Vec<String>) {
    if schema.get("properties").is_some() && schema.get("type").is_some() {
        assert_eq!(schema.get("additionalProperties"), Some(&Plain::from(false)), "{path:?}");
    }
    let members = schema.as_map().into_iter().flatten().map(|(key, value)| (key.clone(), value));
    let items = schema.as_list().into_iter().flatten().enumerate().map(|(n, value)| (n.to_string(), value));
    for (key, value) in members.chain(items) {
        path.push(key);
        open(value, path);
        path.pop();
    }
}

#[test]
fn every_editor_is_told_of_every_tag_and_every_schema() {
    let room = Room::copy("data-example");
    let unknown = room.run(&["schema", "--editor", "vscode"]);
    let settings = Plain::from_json(&unknown.stdout).expect("JSON");
    let tags = settings.get("yaml.customTags").and_then(Plain::as_list).expect("tags").to_vec();
    // Whatever suil itself names as the tags it knows.
    room.write("data/nodes/web-01.example.com.yaml", "role: web\nmotd: !replcae x\n");
    let told = room.run(&["validate"]).stderr;
    let known: Vec<&str> = told.split('`').filter(|word| word.starts_with('!') && *word != "!replcae").collect();
    assert!(known.len() >= 6, "{told}");
    for tag in known {
        let tag = tag.trim_end_matches("[…]");
        assert!(tags.iter().any(|t| t.as_str().is_some_and(|t| t.starts_with(&format!("{tag} ")))), "{tag}");
    }
    let room = Room::copy("data-example");
    let written = room.run(&["schema", "--write"]);
    let paths: Vec<&str> = written.stdout.lines().collect();
    let named: Vec<&str> =
        settings.get("yaml.schemas").and_then(Plain::as_map).expect("schemas").keys().map(|k| k.as_str()).collect();
    assert_eq!(paths, named);
    for (path, file) in paths.iter().zip(FILES) {
        let text = fs::read_to_string(room.path().join(path)).expect("a schema");
        assert_eq!(Plain::from_json(&text).expect("JSON"), schema(&room, &["--for", file]));
    }
    for editor in ["neovim", "helix"] {
        let text = room.run(&["schema", "--editor", editor]).stdout;
        for words in paths.iter().copied().chain(["!merge mapping", "!ENC sequence", "data/nodes/*.yaml"]) {
            assert!(text.contains(&format!("\"{words}\"")), "{editor}: {words}: {text}");
        }
    }
}

#[test]
fn the_check_itself_finds_faults() {
    let schema = Plain::from_json(
        r##"{"type": "object", "properties": {"a": {"type": ["integer", "string"], "minimum": 2, "pattern": "^x"},
        "b": {"$ref": "#/$defs/c"}}, "additionalProperties": false, "required": ["a"], "$defs": {"c": {"enum": [1]}}}"##,
    )
    .expect("JSON");
    assert_eq!(wrong(&schema, "a: 2\nb: 1\n"), [""; 0]);
    assert_eq!(wrong(&schema, "a: xy\n"), [""; 0]);
    assert_eq!(wrong(&schema, "b: 1\n"), ["a"]);
    assert_eq!(wrong(&schema, "a: 1\nb: 2\nc: 3\n"), ["a", "b", "c"]);
    assert_eq!(wrong(&schema, "a: no\n"), ["a"], "an editor reads YAML 1.2: it is a text");
}
