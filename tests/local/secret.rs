//! The canary: a plaintext that the node says back is in no output and in no record.

use crate::room::Room;
use std::fs;
use std::path::Path;

const CANARY: &str = "canary \"7f3a\" 'bird'";
const IDENTITIES: &str = include_str!("../cases/keys/test-identities.txt");

const MAIN: &str = r##"
def resources(config):
    return [
        file("@/conf", content = "key = %s\n" % config.key, mode = "0600"),
        line("@/list", line = "key=%s" % config.key, create = True),
        block("@/hosts", marker = "demo", content = "# %s\n" % config.key, create = True),
        command("say it", run = "cat @/conf; echo to stderr: $(cat @/conf) >&2", unless = "test -e @/said"),
        command("fail", run = "cat @/conf; exit 3", unless = "test -e @/well"),
    ]

def check(config, facts):
    return ["it is %s" % config.key]
"##;

fn word(start: &str) -> &'static str {
    let at = IDENTITIES.find(start).expect(start);
    IDENTITIES[at..].split_whitespace().next().expect("a word")
}

fn texts_below(folder: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true if path.is_symlink() => {}
            true => texts_below(&path, found),
            false => found
                .push((path.display().to_string(), String::from_utf8_lossy(&fs::read(&path).expect("a file")).into())),
        }
    }
}

#[test]
fn what_a_node_says_of_a_secret_is_covered_in_every_form() {
    let mut room = Room::new(&["demo"]);
    room.set("SUIL_AGE_KEY", word("AGE-SECRET-KEY-1"));
    room.set("SUIL_AGE_RECIPIENT", word("age1"));
    let sealed = room.suil(&["encrypt", CANARY]).expect(0).stdout;
    room.data(&format!("demo: {{key: {}}}\n", sealed.trim()));
    room.module("demo", "key = t.secret()", MAIN);
    let collector = format!(
        "#!/bin/sh\ncat >/dev/null\nprintf '{{\"said\": \"%s\"}}' \"$(sed 's/\"/\\\\\"/g' {}/conf)\"\n",
        room.node().display()
    );
    room.write("modules/demo/facts/collector.sh", &collector);
    // The node has an older form of all of it, so that the facts bring contents and the plan has diffs.
    room.spoil("conf", &format!("old {CANARY}\n"));
    room.spoil("list", &format!("old={CANARY}\n"));
    room.spoil("hosts", &format!("# BEGIN demo\n# {CANARY}!\n# END demo\n"));
    let mut told = Vec::new();
    for form in ["text", "json", "yaml"] {
        for args in [
            &["facts", "--role", "demo"][..],
            &["apply", "--role", "demo", "--dry-run"],
            &["apply", "--role", "demo", "--confirm"],
            &["config"],
            &["config", "--merged"],
            &["explain", crate::room::NODE, "demo.key"],
            &["validate"],
        ] {
            let ran = room.suil(&[args, &["--output", form]].concat());
            assert!(ran.status == 0 || args.contains(&"--confirm") || args[0] == "facts", "{args:?}: {}", ran.stderr);
            told.push((format!("stdout of {args:?}, {form}"), ran.stdout));
            told.push((format!("stderr of {args:?}, {form}"), ran.stderr));
        }
    }
    assert!(room.there("conf").contains(CANARY), "it was applied: {}", room.there("conf"));
    for folder in ["facts", ".runs"] {
        texts_below(&room.path().join(folder), &mut told);
    }
    assert!(told.iter().any(|(_, text)| text.contains("‹secret ")), "something was covered");
    for (place, text) in &told {
        for part in ["7f3a", "bird", "N2YzYS"] {
            assert!(!text.contains(part), "{place} has {part:?}:\n{text}");
        }
    }
}
