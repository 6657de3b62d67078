use crate::nest::{COMMON, Key, blank, nest, read, recipients, seal, sealed, snapshot};
use crate::room::Room;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const FILE: &str = "data/nodes/n.yaml";

/// A file with comments, odd indentation, CRLF and a folded block.
fn text(anna: &Key) -> String {
    let start = "# first\r\nrole: r   \r\napp:\r\n     one:   !ENC[‹oyster one›]   # why\r\n     two: &t '!ENC[‹oyster two›]'\r\n";
    let block = "     block: >-\r\n          !ENC[‹oyster three›]\r\n\r\n     list: [ !ENC[‹oyster four›],x ]\r\n     end: !ENC[‹oyster five›]";
    let (folded, rest) = block.split_once("\r\n\r\n").expect("a blank line");
    sealed(start, &[anna], None) + &sealed(folded, &[anna], Some(64)) + "\r\n\r\n" + &sealed(rest, &[anna], None)
}

/// A workspace with this file, and a place for views that can be looked at.
fn room(anna: &Key, text: &str) -> Room {
    let files = [
        ("data/common.yaml", COMMON.to_owned()),
        ("data/roles/r.yaml", "modules: [app]\n".to_owned()),
        ("modules/app/requires.yaml", String::new()),
        (FILE, text.to_owned()),
    ];
    let room = nest(&files, anna);
    recipients(&room, &[anna]);
    let run = room.path().join("../run");
    fs::create_dir_all(&run).expect("a folder");
    let runtime = run.display().to_string();
    room.set("XDG_RUNTIME_DIR", &runtime)
}

/// An editor that is this script; `$1` is the view.
fn editor(room: &Room, script: &str) -> String {
    let path = room.path().join("../editor");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("mode");
    path.canonicalize().expect("a path").display().to_string()
}

fn edit(room: Room, script: &str) -> (Room, crate::room::Left) {
    let editor = editor(&room, script);
    let room = room.set("EDITOR", &editor);
    let left = room.run(&["edit", FILE]);
    nothing_left(&room);
    (room, left)
}

/// No view is left, and no plaintext anywhere in the workspace.
#[track_caller]
fn nothing_left(room: &Room) {
    let views: Vec<PathBuf> = fs::read_dir(room.path().join("../run"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert!(views.is_empty(), "{views:?}");
    for (path, bytes, ..) in snapshot(room) {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("oyster") && !text.contains("pearl"), "{}: {text}", path.display());
    }
}

/// The marker of a secret, by the start of its line.
fn marker<'a>(text: &'a str, start: &str) -> &'a str {
    let line = text.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or_else(|| panic!("{start}"));
    let from = line.find("!ENC[").expect("a marker");
    &line[from..=from + line[from..].find(']').expect("closed")]
}

#[test]
fn only_the_ciphertext_of_what_changed_is_another_one() {
    let anna = Key::new();
    let old = text(&anna);
    let (room, left) = edit(room(&anna, &old), "sed -i 's/oyster one/pearl 1/; s/oyster three/pearl 3/' \"$1\"");
    left.is(0, &format!("2 secrets changed in {FILE}\n"), "");
    let new = read(&room, FILE);
    assert_eq!(blank(&new), blank(&old));
    for same in ["two:", "list:", "end:"] {
        assert_eq!(marker(&new, same), marker(&old, same));
    }
    assert_ne!(marker(&new, "one:"), marker(&old, "one:"));
    let shown = edit(room, "cat \"$1\"; exit 3").1;
    assert!(
        shown.stderr.contains("!SECRET \"pearl 1\"   # why\r\n")
            || shown.stderr.contains("!SECRET \"pearl 1\"   # why")
    );
    assert!(
        shown.stderr.contains("block: !SECRET \"pearl 3\"") && shown.stderr.contains("[ !SECRET \"oyster four\",x ]")
    );
}

#[test]
fn a_secret_is_added_and_removed_as_it_is_typed_and_other_bytes_are_as_saved() {
    let anna = Key::new();
    let old = text(&anna);
    let script = "sed -i '/two:/d; s/# first/# changed comment/; s/,x/,!SECRET \"pearl new\"/' \"$1\"";
    let editor_room = room(&anna, &old);
    let editor = editor(&editor_room, script);
    let left = editor_room.set("VISUAL", &editor).set("EDITOR", "false");
    let said = left.run(&["edit", FILE, "--output", "json"]);
    let value: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    let want = serde_json::json!({
        "version": 1, "file": FILE, "written": true, "changed": [], "added": ["app.list.1"], "removed": ["app.two"], "problems": [],
    });
    assert_eq!(value, want);
    let new = read(&left, FILE);
    let mut lines: Vec<&str> = old.lines().filter(|line| !line.contains("two:")).collect();
    lines[0] = "# changed comment";
    let want = lines.join("\r\n").replace(",x", ",!ENC[X]");
    assert_eq!(blank(&new).replace("X", ""), blank(&want).replace("X", ""));
    assert_eq!(marker(&new, "list:"), marker(&old, "list:"));
    nothing_left(&left);
}

#[test]
fn what_is_not_changed_is_not_written() {
    let anna = Key::new();
    let room = room(&anna, &text(&anna));
    let before = snapshot(&room);
    let (room, left) = edit(room, "touch \"$1\"");
    left.is(0, &format!("nothing changed in {FILE}\n"), "");
    assert_eq!(snapshot(&room), before);
}

#[test]
fn the_view_is_private_and_the_editor_is_not_handed_the_key() {
    let anna = Key::new();
    let room = room(&anna, &text(&anna));
    let report = room.path().join("../report").display().to_string();
    let script = format!(
        "stat -c '%a %n' \"$1\" \"$(dirname \"$1\")\" > {report}; env >> {report}; cp \"$1\" \"$1~\"; tr '\\0' ' ' < /proc/$PPID/cmdline >> {report}"
    );
    let (room, left) = edit(room, &script);
    assert_eq!(left.status, 0, "{left:?}");
    let report = fs::read_to_string(room.path().join("../report")).expect("a report");
    let lines: Vec<&str> = report.lines().collect();
    assert!(lines[0].starts_with("600 ") && lines[0].ends_with("/n.yaml"), "{report}");
    assert!(lines[1].starts_with("700 ") && lines[1].contains("/run/suil-edit-"), "{report}");
    assert!(!report.contains("AGE-SECRET-KEY") && !report.contains("oyster"), "{report}");
    assert!(report.contains(&format!("TMPDIR={}", &lines[1][4..])), "{report}");
}

#[test]
fn without_a_private_place_in_memory_the_workspace_has_one() {
    let anna = Key::new();
    let room = room(&anna, &text(&anna)).set("XDG_RUNTIME_DIR", "/nonexistent");
    let report = room.path().join("../report").display().to_string();
    let (_room, left) = edit(room, &format!("dirname \"$1\" > {report}"));
    assert_eq!(left.status, 0, "{left:?}");
    let folder = fs::read_to_string(&report).expect("a report");
    assert!(folder.starts_with("/dev/shm/suil-edit-") || folder.contains("/.suil/suil-edit-"), "{folder}");
    assert!(!Path::new(folder.trim()).exists());
}

#[test]
fn an_editor_that_fails_changes_nothing() {
    let anna = Key::new();
    for (script, want) in [
        ("sed -i s/oyster/pearl/ \"$1\"; exit 1", "failed (exit status: 1)"),
        ("sed -i s/oyster/pearl/ \"$1\"; kill -9 $$", "failed (signal: 9 (SIGKILL))"),
        ("rm \"$1\"", "left no file"),
    ] {
        let room = room(&anna, &text(&anna));
        let before = snapshot(&room);
        let (room, left) = edit(room, script);
        assert_eq!((left.status, left.stdout.as_str()), (1, ""));
        assert!(left.stderr.contains(want) && left.stderr.contains("note: nothing was written"), "{}", left.stderr);
        assert_eq!(snapshot(&room), before);
    }
}

#[test]
fn a_view_that_is_broken_is_refused_with_its_line_and_without_a_word_of_it() {
    let anna = Key::new();
    for (script, want) in [
        ("echo 'x: [' >> \"$1\"", "n.yaml:9:"),
        (
            "sed -i 's/!SECRET \"oyster one/!SECERT \"pearl/' \"$1\"",
            "unknown tag `!SECERT`\n --> data/nodes/n.yaml:4:13\n",
        ),
        ("sed -i 's/!SECRET \"oyster one\"/!SECRET pearl/' \"$1\"", "is not in quotes\n --> data/nodes/n.yaml:4:13\n"),
        ("sed -i 's/oyster one//' \"$1\"", "nothing to encrypt: the secret is empty\n --> data/nodes/n.yaml:4:"),
        ("sed -i 's/one:/# one:/' \"$1\"", "`!SECRET` stands where no value is\n --> data/nodes/n.yaml:4:15\n"),
        ("printf '\\377' >> \"$1\"", "is not UTF-8"),
    ] {
        let room = room(&anna, &text(&anna));
        let before = snapshot(&room);
        let (room, left) = edit(room, script);
        assert_eq!((left.status, left.stdout.as_str()), (1, ""), "{script}");
        assert!(left.stderr.contains(want), "{script}: {}", left.stderr);
        assert!(left.stderr.contains("nothing was written"), "{}", left.stderr);
        assert!(!left.stderr.contains("pearl") && !left.stderr.contains("oyster"), "{}", left.stderr);
        assert_eq!(snapshot(&room), before);
    }
}

#[test]
fn what_somebody_else_saved_meanwhile_is_kept_and_so_is_what_was_typed() {
    let anna = Key::new();
    let old = text(&anna);
    let room = room(&anna, &old);
    let file = room.path().join(FILE).display().to_string();
    let (room, left) = edit(room, &format!("sed -i 's/oyster one/pearl/' \"$1\"; echo '# theirs' >> {file}"));
    assert_eq!((left.status, left.stdout.as_str()), (3, ""));
    assert!(left.stderr.contains("changed in the meantime\nnote: what you wrote is in `"), "{}", left.stderr);
    assert_eq!(read(&room, FILE), old.clone() + "# theirs\n");
    let mine = room.path().join(format!("{FILE}.suil-new"));
    assert_eq!(blank(&fs::read_to_string(&mine).expect("mine")), blank(&old));
    assert_eq!(fs::metadata(&mine).expect("mine").mode() & 0o7777, 0o600);
    fs::remove_file(&mine).expect("removed");
    let new = room.path().join("data/nodes/new.yaml").display().to_string();
    let editor = editor(&room, &format!("echo 'a: !SECRET \"pearl\"' > \"$1\"; echo 'role: r' > {new}"));
    let left = room.set("EDITOR", &editor);
    let said = left.run(&["edit", "data/nodes/new.yaml"]);
    assert_eq!(said.status, 3, "{said:?}");
    assert_eq!(read(&left, "data/nodes/new.yaml"), "role: r\n");
    assert!(read(&left, "data/nodes/new.yaml.suil-new").starts_with("a: !ENC["));
}

#[test]
fn a_new_file_and_a_file_without_secrets_can_get_their_first_one() {
    let anna = Key::new();
    let room = room(&anna, "role: r\n").set("SUIL_AGE_KEY", "");
    let (room, left) = edit(room, "printf 'app:\\n  k: !SECRET |\\n    oyster\\n    pearl\\n  z: 1\\n' >> \"$1\"");
    left.is(0, &format!("1 secret added in {FILE}\n"), "");
    assert!(blank(&read(&room, FILE)) == "role: r\napp:\n  k: !ENC[X]\n  z: 1\n", "{}", read(&room, FILE));
    let editor = editor(&room, "test ! -s \"$1\" && echo 'role: r' > \"$1\"");
    let room = room.set("EDITOR", &editor);
    room.run(&["edit", "data/nodes/m.yaml"]).is(0, "wrote data/nodes/m.yaml, no secret changed\n", "");
    assert_eq!(read(&room, "data/nodes/m.yaml"), "role: r\n");
    let said = room.run(&["edit", "data/none/m.yaml"]);
    assert!(
        said.status == 1 && said.stderr.starts_with("suil: cannot find the folder of `data/none/m.yaml`"),
        "{said:?}"
    );
    let said = room.run(&["edit", FILE]);
    assert!(said.stderr.contains("the secret `app.k` needs a key, and none is set"), "{said:?}");
}

#[test]
fn what_cannot_be_edited_is_told_before_the_editor_opens() {
    let (anna, ben) = (Key::new(), Key::new());
    let foreign = format!("role: r\na: !ENC[{}]\n", seal("x", &[&ben]));
    for (text, want) in [
        (foreign.as_str(), "the secret `a` is encrypted for another key\n --> data/nodes/n.yaml:2:4\n"),
        ("role: [\n", "a list is not closed\n --> data/nodes/n.yaml:1:7\n"),
        ("a: 1\n---\nb: 2\n", "a second document starts here\n --> data/nodes/n.yaml:2:1\n"),
        ("a: !ENC[YWJ]\n", "the secret `a` cannot be read\n --> data/nodes/n.yaml:1:4\n"),
        ("a: \"!SECRET x\"\n", "cannot show the secrets of `data/nodes/n.yaml` in plain text"),
    ] {
        let room = room(&anna, text);
        let opened = room.path().join("../opened");
        let (_, left) = edit(room, &format!("touch {}", opened.display()));
        assert_eq!(left.status, 1, "{text}");
        assert!(left.stderr.contains(want), "{}", left.stderr);
        assert!(!opened.exists());
    }
    let room = room(&anna, "role: r\n");
    let said = room.run(&["edit", "data"]);
    assert!(said.stderr.starts_with("suil: `data` is a folder\n"), "{said:?}");
    fs::set_permissions(room.path().join(FILE), fs::Permissions::from_mode(0o444)).expect("mode");
    assert!(room.run(&["edit", FILE]).stderr.starts_with("suil: `data/nodes/n.yaml` is read-only\n"));
    fs::set_permissions(room.path().join(FILE), fs::Permissions::from_mode(0o644)).expect("mode");
    let room = room.set("EDITOR", "'open");
    assert!(room.run(&["edit", FILE]).stderr.starts_with("suil: `EDITOR` is no command"));
    let room = room.set("EDITOR", "/nonexistent/editor --wait");
    let said = room.run(&["edit", FILE]);
    assert!(said.stderr.starts_with("suil: cannot start the editor `/nonexistent/editor`: no such file"), "{said:?}");
}

#[test]
fn new_secrets_without_recipients_are_refused_and_other_changes_are_not() {
    let anna = Key::new();
    let room = room(&anna, &text(&anna));
    room.write("data/common.yaml", COMMON);
    let before = snapshot(&room);
    let (room, left) = edit(room, "sed -i 's/oyster one/pearl/' \"$1\"");
    assert!(left.status == 1 && left.stderr.contains("nobody to encrypt for"), "{left:?}");
    assert_eq!(snapshot(&room), before);
    let (_, left) = edit(room, "sed -i 's/# first/# 1st/' \"$1\"");
    left.is(0, &format!("wrote {FILE}, no secret changed\n"), "");
}

#[test]
fn a_plaintext_that_is_left_in_the_file_is_warned_of() {
    let anna = Key::new();
    let room = room(&anna, &text(&anna));
    let editor = editor(&room, "sed -i 's/!SECRET \"oyster one\"/\"oyster one\"/' \"$1\"");
    let left = room.set("EDITOR", &editor).run(&["edit", FILE]);
    assert_eq!((left.status, left.stdout.as_str()), (0, "1 secret removed in data/nodes/n.yaml\n"));
    assert!(left.stderr.starts_with("suil: warning: what was the secret `app.one` stands in `data/nodes/n.yaml`"));
}

fn start(room: &Room, script: &str, anna: &Key) -> Child {
    let editor = editor(room, script);
    Command::new(env!("CARGO_BIN_EXE_suil"))
        .args(["edit", FILE])
        .current_dir(room.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("SUIL_AGE_KEY", &anna.identity)
        .env("XDG_RUNTIME_DIR", room.path().join("../run"))
        .env("EDITOR", editor)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("suil starts")
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..400 {
        if done() {
            return;
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("never: {what}");
}

#[test]
fn a_signal_ends_the_edit_and_the_view_is_gone() {
    let anna = Key::new();
    for signal in ["TERM", "HUP", "QUIT"] {
        let room = room(&anna, &text(&anna));
        let before = snapshot(&room);
        let began = room.path().join("../began");
        let child = start(&room, &format!("touch {}; exec sleep 60", began.display()), &anna);
        until("the editor begins", || began.exists());
        let pid = child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().expect("kill").success());
        let output = child.wait_with_output().expect("an end");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), said.as_ref()), (Some(130), "suil: interrupted, nothing was written\n"));
        nothing_left(&room);
        assert_eq!(snapshot(&room), before);
    }
}

#[test]
fn ctrl_c_is_for_the_editor() {
    let anna = Key::new();
    let room = room(&anna, &text(&anna));
    let began = room.path().join("../began");
    let go = room.path().join("../go");
    let script = format!(
        "touch {}; while [ ! -e {} ]; do sleep 0.05; done; sed -i 's/oyster one/pearl/' \"$1\"",
        began.display(),
        go.display()
    );
    let child = start(&room, &script, &anna);
    until("the editor begins", || began.exists());
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    std::thread::sleep(Duration::from_millis(200));
    fs::write(&go, "").expect("a file");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("1 secret changed in {FILE}\n"));
    nothing_left(&room);
}

#[test]
fn the_view_of_a_killed_edit_is_removed_by_the_next_one() {
    let anna = Key::new();
    let room = room(&anna, &text(&anna));
    let began = room.path().join("../began");
    let mut child = start(&room, &format!("touch {}; exec sleep 3", began.display()), &anna);
    until("the editor begins", || began.exists());
    child.kill().expect("killed");
    child.wait().expect("an end");
    assert_eq!(fs::read_dir(room.path().join("../run")).expect("a folder").count(), 1);
    let (_, left) = edit(room, "true");
    assert_eq!(left.status, 0, "{left:?}");
}
