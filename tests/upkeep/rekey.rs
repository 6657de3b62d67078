use crate::nest::{COMMON, Key, blank, files, nest, read, recipients, seal, sealed, snapshot};
use crate::room::Room;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use suil::data::upkeep::Opened;

/// Every secret of a file as this person reads it: how many, or the first problem.
fn opened(room: &Room, path: &str, key: &Key) -> Result<usize, String> {
    let bytes = fs::read(room.path().join(path)).expect("a file");
    let opened = Opened::read(Path::new(path), &bytes, &key.keys());
    opened.map(|opened| opened.count()).map_err(|problems| problems[0].what.clone())
}

const SEALED: [(&str, usize); 3] =
    [("data/nodes/odd.yaml", 8), ("data/nodes/folded.yaml", 6), ("modules/app/data/defaults.yaml", 1)];

#[test]
fn only_ciphertext_bytes_change_and_who_left_reads_nothing_any_more() {
    let (anna, ben, carl) = (Key::new(), Key::new(), Key::new());
    let files = files(&[&anna, &ben]);
    let room = nest(&files, &anna);
    fs::set_permissions(room.path().join("data/nodes/odd.yaml"), fs::Permissions::from_mode(0o640)).expect("mode");
    recipients(&room, &[&anna, &carl]);
    let digests = room.run(&["config", "--output", "json"]);
    assert_eq!(digests.status, 0, "{}", digests.stderr);
    let want = "data/nodes/folded.yaml: 6 secrets\ndata/nodes/odd.yaml: 8 secrets\nmodules/app/data/defaults.yaml: 1 secret\n15 secrets in 3 files encrypted again for 2 recipients\n";
    room.run(&["rekey"]).is(0, want, "");
    for (path, secrets) in SEALED {
        let old = &files.iter().find(|(known, _)| *known == path).expect("a file").1;
        let new = read(&room, path);
        assert_eq!(blank(old), blank(&new), "{path}");
        assert_eq!(new.matches('\r').count(), old.matches('\r').count());
        assert_ne!(*old, new);
        assert_eq!(opened(&room, path, &anna), Ok(secrets));
        assert_eq!(opened(&room, path, &carl), Ok(secrets));
        assert!(opened(&room, path, &ben).expect_err("closed").contains("encrypted for another key"));
        // No line of a block is longer than the longest was.
        if path.contains("folded") {
            let widest = |text: &str| text.lines().map(str::len).filter(|n| *n < 80).max();
            assert_eq!(widest(old), widest(&new), "{new}");
        }
    }
    let others = |path: &str| path != "data/common.yaml" && SEALED.iter().all(|(sealed, _)| *sealed != path);
    for (path, text) in files.iter().filter(|(path, _)| others(path)) {
        assert_eq!(read(&room, path), *text, "{path}");
    }
    assert_eq!(room.run(&["config", "--output", "json"]), digests, "the plaintexts are the same");
    let mode = fs::metadata(room.path().join("data/nodes/odd.yaml")).expect("a file").mode();
    assert_eq!(mode & 0o7777, 0o640);
    assert_eq!(snapshot(&room).len(), files.len(), "nothing is left beside them");
}

#[test]
fn a_dry_run_writes_nothing_and_says_it_in_every_form() {
    let anna = Key::new();
    let room = nest(&files(&[&anna]), &anna);
    recipients(&room, &[&anna]);
    let before = snapshot(&room);
    let said = room.run(&["rekey", "--dry-run"]);
    assert!(said.stdout.ends_with("15 secrets in 3 files would be encrypted again for 1 recipient\n"), "{said:?}");
    let said = room.run(&["rekey", "--dry-run", "--output", "json"]);
    let value: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!((&value["version"], &value["dry_run"], &value["secrets"]), (&1.into(), &true.into(), &15.into()));
    assert_eq!(value["files"][0]["file"], "data/nodes/folded.yaml");
    assert_eq!(value["recipients"][0], anna.recipient.as_str());
    assert_eq!(snapshot(&room), before);
    assert!(!room.path().join(".suil").exists());
}

#[test]
fn one_secret_that_no_key_opens_leaves_every_file_untouched() {
    let (anna, ben) = (Key::new(), Key::new());
    let mut files = files(&[&anna]);
    let foreign =
        format!("role: r\napp:\n  a: !ENC[{}]\n  b: !ENC[{}]\n", seal("mine", &[&anna]), seal("not", &[&ben]));
    files.push(("data/nodes/foreign.yaml", foreign));
    let cut = seal("cut", &[&anna]);
    files.push(("data/nodes/cut.yaml", format!("role: r\napp: [!ENC[{}]]\n", &cut[..cut.len() - 40])));
    let room = nest(&files, &anna);
    recipients(&room, &[&anna]);
    let before = snapshot(&room);
    let said = room.run(&["rekey"]);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""));
    for want in [
        "the secret `app.b` is encrypted for another key\n --> data/nodes/foreign.yaml:4:6\n",
        "the secret `app.0` is a damaged ciphertext\n --> data/nodes/cut.yaml:2:7\n",
    ] {
        assert!(said.stderr.contains(want), "{}", said.stderr);
    }
    assert_eq!(snapshot(&room), before);
}

#[test]
fn a_broken_file_is_named_with_its_place_and_nothing_is_written() {
    let anna = Key::new();
    for (text, place) in [
        ("role: r\napp: [!ENC[‹x›]\n", "data/nodes/bad.yaml:2:6"),
        ("role: r\napp: !ENC[‹x›]\n---\nb: 1\n", "data/nodes/bad.yaml:3:1"),
        ("role: r\napp: !ENC[‹x›] y\n", "data/nodes/bad.yaml:2:6"),
        ("role: r\napp: {a: 1, a: !ENC[‹x›]}\n", "data/nodes/bad.yaml:2:13"),
    ] {
        let mut files = files(&[&anna]);
        files.push(("data/nodes/bad.yaml", sealed(text, &[&anna], None)));
        let room = nest(&files, &anna);
        recipients(&room, &[&anna]);
        let before = snapshot(&room);
        let said = room.run(&["rekey"]);
        assert_eq!(said.status, 1);
        assert!(said.stderr.contains(&format!("--> {place}\n")), "{}", said.stderr);
        assert_eq!(snapshot(&room), before);
    }
}

#[test]
fn who_would_be_locked_out_is_told_so_and_must_insist() {
    let (anna, ben) = (Key::new(), Key::new());
    let room = nest(&files(&[&anna]), &anna);
    recipients(&room, &[&ben]);
    let before = snapshot(&room);
    let said = room.run(&["rekey"]);
    assert_eq!(said.status, 3);
    assert!(said.stderr.starts_with("suil: you would lock yourself out: none of your keys is among the recipients\n"));
    assert_eq!(snapshot(&room), before);
    assert_eq!(room.run(&["rekey", "--force"]).status, 0);
    assert_eq!(opened(&room, "data/nodes/odd.yaml", &ben), Ok(8));
    let room = nest(&files(&[&anna]), &anna);
    let said = room.run(&["rekey"]);
    assert_eq!(said.status, 1);
    assert!(said.stderr.contains("nobody to encrypt for") && said.stderr.contains("list `recipients`"), "{said:?}");
    recipients(&room, &[&anna]);
    let said = room.set("SUIL_AGE_KEY", "").run(&["rekey"]);
    assert!(said.stderr.contains("no key to open the secrets with"), "{said:?}");
}

#[test]
fn links_are_followed_inside_and_refused_outside_and_a_second_name_is_told() {
    let anna = Key::new();
    let room = nest(&files(&[&anna]), &anna);
    recipients(&room, &[&anna]);
    let at = |path: &str| room.path().join(path);
    fs::create_dir_all(at("shared")).expect("a folder");
    fs::rename(at("data/nodes/odd.yaml"), at("shared/odd.yaml")).expect("moved");
    std::os::unix::fs::symlink("../../shared/odd.yaml", at("data/nodes/odd.yaml")).expect("a link");
    std::os::unix::fs::symlink("odd.yaml", at("data/nodes/odd-2.yaml")).expect("a link");
    fs::hard_link(at("data/nodes/folded.yaml"), at("shared/second-name")).expect("a name");
    let old = read(&room, "shared/second-name");
    let said = room.run(&["rekey"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.ends_with("15 secrets in 3 files encrypted again for 1 recipient\n"), "{said:?}");
    assert!(said.stderr.starts_with("suil: warning: `data/nodes/folded.yaml` has another name"), "{said:?}");
    assert!(at("data/nodes/odd.yaml").is_symlink());
    assert_eq!(read(&room, "shared/second-name"), old);
    fs::rename(at("shared/odd.yaml"), at("../outside.yaml")).expect("moved");
    fs::remove_file(at("data/nodes/odd-2.yaml")).expect("removed");
    fs::remove_file(at("data/nodes/odd.yaml")).expect("removed");
    std::os::unix::fs::symlink("../../../outside.yaml", at("data/nodes/odd.yaml")).expect("a link");
    let before = snapshot(&room);
    let said = room.run(&["rekey"]);
    assert_eq!(said.status, 3);
    assert!(said.stderr.starts_with("suil: `data/nodes/odd.yaml` is outside of the workspace\n"), "{said:?}");
    assert_eq!(snapshot(&room), before);
    assert_eq!(room.run(&["rekey", "--force"]).status, 0);
}

#[test]
fn a_read_only_file_stops_it_before_anything_is_written() {
    let anna = Key::new();
    let room = nest(&files(&[&anna]), &anna);
    recipients(&room, &[&anna]);
    fs::set_permissions(room.path().join("data/nodes/odd.yaml"), fs::Permissions::from_mode(0o444)).expect("mode");
    let before = snapshot(&room);
    let said = room.run(&["rekey"]);
    said.is(
        1,
        "",
        "suil: `[ROOM]/work/data/nodes/odd.yaml` is read-only\nnote: expected a file that somebody may write\nhelp: `chmod u+w` it first\n"
            .replace("[ROOM]/work/", "")
            .as_str(),
    );
    assert_eq!(snapshot(&room), before);
}

/// Killed at any moment, each file is old or new and whole; the next rekey finishes, and leaves nothing behind.
#[test]
fn a_kill_at_any_moment_leaves_files_old_or_new_and_the_next_one_finishes() {
    let (anna, ben) = (Key::new(), Key::new());
    let text = sealed("role: r\napp:\n  a: !ENC[‹one›]\n  b: >-\n    !ENC[‹two›]\n", &[&anna], None);
    let names: Vec<String> = (0..12).map(|n| format!("data/nodes/n{n:02}.yaml")).collect();
    let base = [
        ("data/common.yaml", COMMON.to_owned()),
        ("data/roles/r.yaml", "modules: [app]\n".to_owned()),
        ("modules/app/requires.yaml", String::new()),
    ];
    let room = nest(&base, &anna);
    let mut cut = 0;
    let rekey = || {
        let mut suil = Command::new(env!("CARGO_BIN_EXE_suil"));
        suil.arg("rekey").current_dir(room.path()).env_clear().env("SUIL_AGE_KEY", &anna.identity);
        suil.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("suil starts")
    };
    names.iter().for_each(|name| room.write(name, &text));
    recipients(&room, &[&anna, &ben]);
    let begun = Instant::now();
    assert!(rekey().wait().expect("an end").success());
    let whole = begun.elapsed();
    const ROUNDS: u32 = 24;
    let journal = room.path().join(".suil/swap.json");
    for (pause, odd) in (0..ROUNDS).map(|n| (whole * n / ROUNDS, n % 2 == 1)) {
        for name in &names {
            room.write(name, &text);
        }
        let mut child = rekey();
        match odd {
            // Right when the renames begin: they are over in a moment.
            true => {
                let renaming = || fs::read_to_string(&journal).is_ok_and(|text| text.contains("renaming"));
                while !renaming() && child.try_wait().expect("a child").is_none() {}
            }
            false => std::thread::sleep(pause),
        }
        child.kill().expect("killed");
        cut += usize::from(!child.wait().expect("an end").success());
        for name in &names {
            let now = read(&room, name);
            assert_eq!(blank(&now), blank(&text), "{name}");
            assert_eq!(opened(&room, name, &anna), Ok(2));
        }
        let said = room.run(&["rekey"]);
        assert_eq!(said.status, 0, "{said:?}");
        for name in &names {
            assert_eq!(opened(&room, name, &ben), Ok(2), "{name}");
        }
        assert_eq!(snapshot(&room).len(), names.len() + base.len());
    }
    assert!(cut > 3, "only {cut} of {ROUNDS} were cut off");
}
