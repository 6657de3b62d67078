//! Known plaintexts go through every command, and are looked for wherever suil leaves something: its output, `facts/`,
//! `.runs/`, the arguments and the environment of every process, and the node's temporary files.

#![allow(clippy::disallowed_methods)]

#[path = "canary/infra.rs"]
mod infra;
#[path = "local/room.rs"]
mod room;

use room::{NODE, Ran, Room, until};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard};

const IDENTITY: &str = "AGE-SECRET-KEY-12GYFDP8EJUL8X9LYVLFEDFMTRPFRA8EF9U5LW70KL0UJL3R60FPSCTX67M";
const RECIPIENT: &str = "age1t2k99x76e30vpcas8he2mc7ezaplyc400ap32l83zjthzwp469fsfyqpv2";

const QUOTED: &str = r#"canary's "q$uoted" \back & <p>"#;
const SHORT: &str = "zQ9#";
const PEM: &str =
    "-----BEGIN CANARY KEY-----\nY2FuYXJ5IGxpbmUgb25l/+aW5n\nY2FuYXJ5IGxpbmUgdHdv/+aW5n\n-----END CANARY KEY-----\n";
const ALL: [(&str, &str); 3] = [("quoted", QUOTED), ("short", SHORT), ("pem", PEM)];

/// How a plaintext could look in an output: as it is, line by line, and as JSON, YAML, shell, URL or base64 write it.
fn forms() -> Vec<String> {
    let mut forms = Vec::new();
    for (_, secret) in ALL {
        for text in secret.lines().chain([secret]) {
            let json = serde_json::to_string(text).expect("JSON");
            let json = json.trim_matches('"').to_owned();
            let url: String = text
                .bytes()
                .map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") })
                .collect();
            forms.extend([
                text.to_owned(),
                text.trim().to_owned(),
                json.replace('\\', "\\\\"),
                text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;"),
                json,
                text.replace('\'', "''"),
                text.replace('\'', r"'\''"),
                url,
                base64(text).trim_end_matches('=').to_owned(),
            ]);
        }
    }
    forms.sort();
    forms.dedup();
    // The frame of a PEM block is no secret, and the base64 of four bytes is found by chance.
    forms.retain(|form| !form.contains("CANARY KEY") || form.contains("Y2Fu"));
    forms
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * i)) as usize & 63];
            out.push(if i <= three.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[track_caller]
fn sealed(what: &str, text: &[u8]) {
    let text = String::from_utf8_lossy(text);
    for form in forms() {
        assert!(!text.contains(&form), "{form:?} in {what}:\n{text}");
    }
}

/// Every file below `folder`.
fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        match path.is_dir() && !path.is_symlink() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}

#[track_caller]
fn sealed_folder(folder: &Path) {
    for path in files(folder) {
        sealed(&path.display().to_string(), &fs::read(&path).unwrap_or_default());
    }
}

/// The places in which a session may have its private folder.
fn private_folders() -> Vec<std::path::PathBuf> {
    let mut parents: Vec<std::path::PathBuf> =
        ["/run", "/var/lib", "/dev/shm", "/tmp", "/var/tmp"].map(Into::into).into();
    parents.extend(fs::read_dir("/run/user").into_iter().flatten().flatten().map(|entry| entry.path()));
    let entries = parents.iter().filter_map(|parent| fs::read_dir(parent).ok()).flatten().flatten();
    let of_a_session = |name: &str| {
        name.strip_prefix("suil-")
            .is_some_and(|nonce| nonce.len() == 16 && nonce.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    entries.filter(|entry| of_a_session(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}

/// A workspace with the canaries in it, encrypted by suil itself.
fn nest(main: &str) -> Room {
    let mut room = Room::new(&["canary"]);
    room.set("SUIL_AGE_KEY", IDENTITY);
    room.set("SUIL_AGE_RECIPIENT", RECIPIENT);
    let mut data = String::from("canary:\n");
    for (name, secret) in ALL {
        let mut child = room.command(&["encrypt", "--from-stdin"]).stdin(Stdio::piped()).spawn().expect("suil starts");
        child.stdin.take().expect("stdin").write_all(secret.as_bytes()).expect("a value");
        let ran = look(&room, Ran::of(child.wait_with_output().expect("an end"))).expect(0);
        data.push_str(&format!("  {name}: {}\n", ran.stdout.trim()));
    }
    room.data(&data);
    room.write("modules/canary/templates/all.j2", "{{ quoted }}\n{{ short }}\n{{ pem }}\n");
    room.module("canary", SCHEMA, main);
    room
}

const SCHEMA: &str = r#"
    quoted = t.secret(),
    short = t.secret(),
    pem = t.secret(),
"#;

/// Looks for the canaries in what a command said, and in all that it left in the workspace.
#[track_caller]
fn look(room: &Room, ran: Ran) -> Ran {
    sealed("stdout", ran.stdout.as_bytes());
    sealed("stderr", ran.stderr.as_bytes());
    sealed_folder(&room.path());
    // A session that was cut off cleans up by itself.
    until("the node's private folders are gone", || private_folders().is_empty() || !holds(&private_folders()));
    ran
}

fn holds(folders: &[std::path::PathBuf]) -> bool {
    let forms = forms();
    let texts = folders.iter().flat_map(|folder| files(folder)).filter_map(|path| fs::read(path).ok());
    texts.map(|text| String::from_utf8_lossy(&text).into_owned()).any(|text| forms.iter().any(|f| text.contains(f)))
}

/// One test at a time: the private folder of one must not be taken for that of another.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|e| e.into_inner())
}

#[track_caller]
fn run(room: &Room, args: &[&str]) -> Ran {
    look(room, room.suil(args))
}

/// The ids of the resources, as suil lists them.
fn resources(room: &Room) -> Vec<String> {
    let listed = run(room, &["explain", "--resource", NODE, "--output", "json"]).expect(0);
    let listed: serde_json::Value = serde_json::from_str(&listed.stdout).expect("JSON");
    let ids: Vec<String> = listed["resources"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|r| r["resource"].as_str().expect("an id").to_owned())
        .collect();
    assert!(!ids.is_empty(), "nothing is listed");
    ids
}

const REPORTS: [&str; 2] = ["--report=junit=report.xml", "--report=markdown=report.md"];

/// What reads the records of runs.
#[track_caller]
fn recorded(room: &Room, form: &str) {
    for args in [&["runs"][..], &["runs", "show"], &["runs", "diff", "latest", "latest"], &["runs", "diff"]] {
        run(room, &[args, &["--output", form]].concat());
    }
}

/// Every command, in every form of output.
#[track_caller]
fn through_all(room: &Room, applied: i32) {
    for form in ["text", "json", "yaml"] {
        let offline: [&[&str]; 9] = [
            &["validate"],
            &["config", "--node", NODE],
            &["config", "--node", NODE, "--merged"],
            &["explain", NODE, "canary"],
            &["explain", NODE, "canary.pem"],
            &["nodes"],
            &["modules"],
            &["schema"],
            &["facts", "--node", NODE],
        ];
        for args in offline {
            run(room, &[args, &["--output", form]].concat());
        }
        for resource in resources(room) {
            run(room, &["explain", "--resource", NODE, &resource, "--output", form]);
            if form == "text" {
                run(room, &["explain", "--resource", NODE, &resource, "--line", "1"]);
            }
        }
        run(room, &[&["apply", "--node", NODE, "--dry-run", "--output", form][..], &REPORTS].concat());
        recorded(room, form);
        run(room, &["plan", "--node", NODE, "--force", "--out", "plan.json", "--output", form]);
        run(room, &["apply", "--plan", "plan.json", "--confirm", "--output", form]).expect(applied);
        // The plan is done, or it is not: either way its refusal shows what differs.
        run(room, &["plan", "--node", NODE, "--out", "plan.json", "--output", form]);
        room.spoil("all", "spoiled");
        run(room, &["apply", "--plan", "plan.json", "--confirm", "--output", form]);
    }
    for form in ["json", "yaml", "text"] {
        run(room, &["apply", "--node", NODE, "--confirm", "--force", "--output", form]).expect(applied);
        recorded(room, form);
    }
    run(room, &[&["runs", "show"][..], &REPORTS].concat());
}

#[test]
fn no_plaintext_leaves_on_the_whole_path() {
    let _alone = alone();
    let room = nest(
        r#"
def resources(config):
    key = file("@/key", template = "all.j2", mode = "0600", validate = "grep -q CANARY %s")
    return [
        file("@/plain", content = "%s\n%s\n%s" % (config.quoted, config.short, config.pem), mode = "0600"),
        file("@/rendered", content = render("all.j2", config), mode = "0600"),
        key,
        line("@/edited", create = True, line = "p = " + config.quoted),
        block("@/edited", marker = "pem", content = config.pem),
        command("use " + config.short, run = "set -- '%s'; echo \"$1\"; cat @/key; cat @/key >&2" % config.pem, triggered_by = [key]),
    ]

def deploy(config, facts, force):
    if force:
        run("cat @/plain # " + config.short)
        run(["echo", config.quoted, config.pem])
        put("@/put", content = config.pem)
"#,
    );
    through_all(&room, 0);
    let shown = room.there("plain");
    assert_eq!(shown, format!("{QUOTED}\n{SHORT}\n{PEM}"), "the node itself has them");
    assert!(
        room.there("rendered").contains(QUOTED) && room.there("edited").contains(QUOTED) && room.there("put") == PEM
    );
    let said =
        room.events().into_iter().filter(|event| event["event"] == "ended").map(|event| event["output"].to_string());
    assert!(
        said.filter(|output| output.contains("‹secret ")).count() >= 2,
        "what the node echoes is masked, not dropped"
    );
    room.spoil("plain", "spoiled\n");
    let shown = run(&room, &["apply", "--node", NODE, "--dry-run"]).expect(0);
    assert!(!shown.stdout.contains("spoiled"), "what was there may be an earlier secret: {}", shown.stdout);
    assert!(shown.stdout.contains("-‹not shown") && shown.stdout.contains("+‹secret "), "{}", shown.stdout);
}

#[test]
fn no_plaintext_leaves_by_what_fails() {
    let _alone = alone();
    let faults = [
        "command(\"f\", run = \"cat @/all; cat @/all >&2; exit 1\", unless = \"false\")",
        "command(\"f\", run = \"exec '%s'\" % config.quoted.replace(\"'\", \"\"), unless = \"false\")",
        "command(\"f\", run = \"true\", unless = \"cat @/all >&2; exit 127\")",
        "command(\"f\", run = \"true\", unless = \"cat @/all; false\", nothing = config.pem)",
        "file(config.quoted, content = config.pem)",
        "file(\"@/none/f\", content = config.pem)",
        "file(\"@/f\", content = config.pem, mode = config.short)",
        "file(\"@/f\", content = config.pem, validate = \"cat %s; false\")",
        "file(\"@/f\", template = config.short)",
        "file(\"@/f\", content = render(\"bad.j2\", config))",
        "file(\"@/f\", content = render(\"worse.j2\", config))",
        "file(\"@/f\", content = config.pem + 1)",
        "file(\"@/f\", content = config[config.quoted])",
        "fail(config.pem)",
        "package(config.quoted)",
        "line(\"@/f\", line = config.pem)",
        "block(\"@/f\", marker = config.short, content = config.quoted)",
        "link(\"@/f\", target = config.quoted)",
    ];
    for fault in faults {
        let room = nest(&format!(
            "def resources(config):\n    return [\n        file(\"@/all\", template = \"all.j2\"),\n        {fault},\n    ]\n"
        ));
        room.write("modules/canary/templates/bad.j2", "{{ quoted }}\n{{ pem.nothing }}\n");
        room.write("modules/canary/templates/worse.j2", "{{ quoted | int(pem) }}{{ pem | frobnicate }}\n");
        for args in
            [&["validate"][..], &["apply", "--node", NODE, "--dry-run"], &["apply", "--node", NODE, "--confirm"]]
        {
            run(&room, args);
            run(&room, &[args, &["--output", "json"]].concat());
        }
        run(&room, &[&["runs", "show"][..], &REPORTS].concat());
    }
}

#[test]
fn no_plaintext_leaves_by_facts_and_checks() {
    let _alone = alone();
    let room = nest(
        r#"
def resources(config):
    return [file("@/all", template = "all.j2"), link("@/link", target = "/" + config.short)]

def expected(config):
    return {"text": "other than " + config.quoted}

def check(config, facts):
    return ["it has %s and %s" % (facts, config.pem)]
"#,
    );
    let node = room.node().display().to_string();
    let collector = "#!/usr/bin/python3\nimport json, sys\nsys.stdin.read()\ntry:\n    text = open(\"@/all\").read()\nexcept OSError:\n    text = \"\"\nsys.stderr.write(text)\nprint(json.dumps({\"text\": text, \"lines\": text.splitlines()}))\n";
    room.write("modules/canary/facts/collector", &collector.replace('@', &node));
    through_all(&room, 1);
    room.write(
        "modules/canary/facts/collector",
        &format!("#!/bin/sh\ncat {node}/all {node}/all >&2\ncat {node}/all\nexit 1\n"),
    );
    through_all(&room, 1);
}

#[test]
fn a_secret_in_a_field_that_is_none_is_an_error_without_it() {
    let _alone = alone();
    let room = nest("def resources(config):\n    return []\n");
    room.module(
        "canary",
        "quoted = t.string(), short = t.int(), pem = t.list(t.string())",
        "def resources(config):\n    return []\n",
    );
    let refused = run(&room, &["validate"]);
    assert_ne!(refused.status, 0);
    assert!(refused.stderr.contains("`quoted`") || refused.stderr.contains("canary.quoted"), "{}", refused.stderr);
    run(&room, &["apply", "--node", NODE, "--confirm"]).expect(1);
}

/// A secret that a filter or the code made unrecognisable is no word that could be masked: the line is not shown.
#[test]
fn no_plaintext_leaves_by_a_line_that_is_made_from_a_secret() {
    let _alone = alone();
    let room = nest(
        r#"
def resources(config):
    return [
        file("@/derived", content = render("derived.j2", config)),
        file("@/halves", content = config.quoted[:9] + "\n" + config.quoted[9:] + "\n"),
        file("@/hidden", content = config.pem, diff = False),
        link("@/link", target = "/" + config.quoted[:9]),
    ]
"#,
    );
    room.write(
        "modules/canary/templates/derived.j2",
        "plain\n{{ quoted | upper }}\n{{ short | reverse }}\n{{ pem | length }}\n{% if short %}\nyes\n{% endif %}\n",
    );
    for form in ["text", "json", "yaml"] {
        for resource in resources(&room) {
            let told = run(&room, &["explain", "--resource", NODE, &resource, "--output", form]);
            let upper = QUOTED.to_uppercase();
            for derived in [&upper[..9], "#9Qz", &QUOTED[..9], &QUOTED[9..]] {
                assert!(!told.stdout.contains(derived), "{derived} in {}", told.stdout);
            }
        }
    }
    let path = room.node().join("derived").display().to_string();
    let told = run(&room, &["explain", "--resource", NODE, &path]).expect(0).stdout;
    assert!(told.contains("  plain\n") && told.contains("  yes\n"), "{told}");
    assert_eq!(told.matches("‹not shown: made from a secret›").count(), 3, "{told}");
}

#[test]
fn without_a_key_every_offline_command_shows_that_there_is_none() {
    let _alone = alone();
    let mut room = nest("def resources(config):\n    return []\n");
    room.set("SUIL_AGE_KEY", "");
    let shown = run(&room, &["config", "--node", NODE]).expect(0);
    assert!(shown.stdout.contains("secret (no key)"), "{}", shown.stdout);
    run(&room, &["explain", NODE, "canary.quoted"]).expect(0);
}

/// An editor that waits for a sign; the view is looked for everywhere but in its private folder while it is open.
#[test]
fn no_plaintext_leaves_by_the_upkeep_of_secrets() {
    let _alone = alone();
    let mut room = nest("def resources(config):\n    return []\n");
    let file = format!("data/nodes/{NODE}.yaml");
    for form in ["text", "json", "yaml"] {
        for args in [&["secrets"][..], &["secrets", "list", "--nodes"], &["rekey", "--dry-run"], &["rekey"]] {
            run(&room, &[args, &["--output", form]].concat()).expect(0);
        }
    }
    let folder = room.path().join("../upkeep");
    fs::create_dir_all(folder.join("run")).expect("folders");
    let folder = folder.canonicalize().expect("a folder");
    let script = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{}\n", text.replace('@', &folder.display().to_string())))
            .expect("a script");
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
        path.display().to_string()
    };
    room.set("XDG_RUNTIME_DIR", &folder.join("run").display().to_string());
    for (name, text) in [
        ("nothing", "true"),
        ("failing", "exit 1"),
        ("broken", "sed -i 's/quoted: /quoted: [/' \"$1\""),
        ("misspelt", "sed -i 's/!SECRET/!SECERT/' \"$1\""),
        ("commented", "sed -i 's/quoted:/# quoted:/' \"$1\""),
        ("twice", "sed -i 's/short:/quoted:/' \"$1\""),
        ("changed", "sed -i 's/quoted: !SECRET \"/&another /' \"$1\""),
        ("moved", "sed -i 's/  short:/  # moved\\n  short:/' \"$1\""),
    ] {
        room.set("EDITOR", &script(name, text));
        for form in ["text", "json"] {
            run(&room, &["edit", &file, "--output", form]);
        }
        assert_eq!(files(&folder.join("run")), Vec::<std::path::PathBuf>::new(), "{name}");
    }
    let slow = "touch @/begun; while [ ! -e @/go ]; do sleep 0.05; done; sed -i 's/pem:/pem: /' \"$1\"";
    room.set("EDITOR", &script("slow", slow));
    let child = room.start(&["edit", &file]);
    until("the editor has begun", || folder.join("begun").exists());
    assert!(holds(&[folder.join("run")]), "the view has them");
    processes();
    sealed_folder(&room.path());
    fs::write(folder.join("go"), "").expect("a sign");
    look(&room, Ran::of(child.wait_with_output().expect("an end"))).expect(0);
    assert_eq!(files(&folder.join("run")), Vec::<std::path::PathBuf>::new());
    run(&room, &["config", "--node", NODE]).expect(0);
}

#[test]
fn decrypt_prints_the_plaintext_and_nothing_else_does() {
    let _alone = alone();
    let room = nest("def resources(config):\n    return []\n");
    let data = room.read(&format!("data/nodes/{NODE}.yaml"));
    for (name, secret) in ALL {
        let marker = data.lines().find_map(|line| line.trim().strip_prefix(&format!("{name}: "))).expect("a marker");
        let ran = room.suil(&["decrypt", marker]).expect(0);
        assert_eq!(ran.stdout, secret);
        sealed("stderr of decrypt", ran.stderr.as_bytes());
    }
    sealed_folder(&room.path());
}

#[test]
fn no_plaintext_stands_in_arguments_environments_or_the_private_folder_while_an_operation_runs() {
    let _alone = alone();
    let room = nest(
        r#"
def resources(config):
    return [
        file("@/all", template = "all.j2", mode = "0600"),
        command("slow", run = "word='%s'; touch @/begun; sleep 2; [ -n \"$word\" ]" % config.pem, creates = "@/begun"),
        file("@/put", content = config.pem, validate = "touch @/judging; sleep 1; test -s %s"),
    ]
"#,
    );
    let child = room.start(&["apply", "--node", NODE, "--confirm"]);
    for mark in ["begun", "judging"] {
        until(mark, || {
            processes();
            room.node().join(mark).exists()
        });
        for _ in 0..10 {
            processes();
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        for folder in private_folders() {
            sealed_folder(&folder);
        }
    }
    look(&room, Ran::of(child.wait_with_output().expect("an end"))).expect(0);
    assert_eq!(room.there("put"), PEM);
    let left: Vec<_> =
        files(&room.node()).into_iter().filter(|path| path.to_string_lossy().contains(".suil-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Looks at the arguments and the environment of every process of this machine.
#[track_caller]
fn processes() {
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        for file in ["cmdline", "environ"] {
            let path = entry.path().join(file);
            if let Ok(text) = fs::read(&path) {
                sealed(&path.display().to_string(), &text);
            }
        }
    }
}
