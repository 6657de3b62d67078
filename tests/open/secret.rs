use crate::expect::{at, fits, folder, map, merged, refused, room, text, wanted, words};
use crate::local;
use crate::room::Room;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use suil::base::Plain;

const SPELLINGS: &str = "S01-secret-spellings";
const BYTES: &str = "S03-secret-bytes";
const IDENTITIES: &str = include_str!("../cases/keys/test-identities.txt");

/// The first identity of the corpus, and its recipient.
fn key() -> (String, String) {
    let word = |start: &str| {
        let at = IDENTITIES.find(start).unwrap_or_else(|| panic!("no {start}"));
        IDENTITIES[at..].split_whitespace().next().expect("a word").to_owned()
    };
    (word("AGE-SECRET-KEY-1"), word("age1"))
}

fn spelt() -> Room {
    room(SPELLINGS, &["app"])
}

#[test]
fn s01_every_spelling_is_the_same_secret() {
    let want = wanted(SPELLINGS);
    let found = merged(&spelt().set("SUIL_AGE_KEY", &key().0), &[]);
    for node in ["n1.example.net", "n2-crlf.example.net"] {
        for (path, want) in map(&want, "values").chain(map(&want, "plain")) {
            assert_eq!(at(&found, node, path), Some(want), "{node}: {path}");
        }
    }
    for (file, any) in map(&want, "any") {
        let room = spelt().set("SUIL_AGE_KEY", &key().0);
        room.write("data/nodes/n1.example.net.yaml", &text(SPELLINGS, &format!("input/{file}")));
        let found = merged(&room, &["--node", "n1.example.net"]);
        let app = at(&found, "n1.example.net", "app").and_then(Plain::as_map).expect("app");
        assert!(fits(&Plain::from_iter([("any", any.clone())]), app.values().next()), "{file}: {}", found.to_json());
    }
}

#[test]
fn s01_a_cut_one_is_damaged() {
    let want = wanted(SPELLINGS);
    for (file, expect) in map(&want, "errors") {
        let room = spelt().set("SUIL_AGE_KEY", &key().0);
        let name = file.trim_start_matches("bad/").replace(".yaml", "");
        room.write(&format!("data/nodes/{name}.yaml"), &text(SPELLINGS, &format!("input/{file}")));
        let expect = Plain::from_iter([("words", expect.clone())]);
        for command in [&["config", "--merged"][..], &["config"], &["validate"]] {
            let left = room.run(command);
            refused(&left, words(&expect, "words").chain(["damaged ciphertext", "truncated.yaml:4:"]));
            assert!(!left.stderr.contains("another key"), "{}", left.stderr);
        }
    }
}

#[test]
fn s01_nothing_needs_a_key() {
    let room = spelt();
    assert_eq!(room.run(&["nodes"]).status, 0);
    assert_eq!(room.run(&["validate"]).status, 0);
    for merged in [&["config"][..], &["config", "--merged"]] {
        let left = room.run(merged);
        assert_eq!((left.status, left.stderr.as_str()), (0, ""));
        assert_eq!(left.stdout.matches("secret (no key)").count(), 12, "{}", left.stdout);
    }
    // A key that opens none of them is no key less: it is said for each of them.
    let other = IDENTITIES.lines().filter(|line| line.starts_with("AGE-SECRET-KEY-1")).nth(1).expect("a second key");
    let left = spelt().set("SUIL_AGE_KEY", other).run(&["config", "--merged"]);
    refused(&left, ["another key", "app.inline", "app.seq.0", "n1.example.net.yaml:4:", "n2-crlf.example.net.yaml:4:"]);
}

/// suil with bytes on stdin, and the bytes of stdout.
fn piped(args: &[&str], input: &[u8]) -> (i32, Vec<u8>, String) {
    let (identity, recipient) = key();
    let home = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_suil"))
        .args(args)
        .current_dir(home.path())
        .env_clear()
        .env("SUIL_AGE_KEY", identity)
        .env("SUIL_AGE_RECIPIENT", recipient)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("suil starts");
    let _ = std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), input);
    let output = child.wait_with_output().expect("suil ends");
    (output.status.code().unwrap_or(-1), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn sealed(args: &[&str], input: &[u8]) -> String {
    let (status, stdout, stderr) = piped(args, input);
    assert_eq!((status, stderr.as_str()), (0, ""));
    String::from_utf8(stdout).expect("text").trim_end_matches('\n').to_owned()
}

/// The marker as a block of short lines.
fn block(marker: &str) -> String {
    let lines = marker.as_bytes().chunks(60).map(|line| format!("      {}\n", String::from_utf8_lossy(line)));
    format!(">-\n{}", lines.collect::<String>())
}

#[test]
fn s03_what_goes_in_comes_out_byte_for_byte() {
    let want = wanted(BYTES);
    assert_eq!(map(&want, "digests").count(), 9);
    for (name, digest) in map(&want, "digests") {
        let bytes = std::fs::read(folder(BYTES).join(format!("input/plain/{name}.bin"))).expect("bytes");
        let mut markers = vec![sealed(&["encrypt", "--from-stdin"], &bytes)];
        let argument = String::from_utf8(bytes.clone()).expect("text");
        // A value that begins with a hyphen needs the `--` that every command has.
        markers.push(sealed(&["encrypt", "--", &argument], b""));
        for marker in &markers {
            let (status, stdout, stderr) = piped(&["decrypt", marker], b"");
            assert_eq!((status, stdout.as_slice(), stderr.as_str()), (0, bytes.as_slice(), ""), "{name}");
            let folded = marker.as_bytes().chunks(60).map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n  ");
            assert_eq!(piped(&["decrypt", "--from-stdin"], folded.as_bytes()).1, bytes, "{name}");
        }
        let room = Room::with(&[
            ("data/common.yaml", "hierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n"),
            ("data/roles/r.yaml", "modules: [app]\n"),
            ("modules/app/requires.yaml", ""),
            ("data/nodes/n.yaml", &format!("role: r\napp:\n  inline: {}\n  block: {}", markers[0], block(&markers[1]))),
        ]);
        let found = merged(&room.set("SUIL_AGE_KEY", &key().0), &[]);
        for key in ["app.inline", "app.block"] {
            assert_eq!(at(&found, "n", key), Some(digest), "{name}: {key}");
        }
    }
    let empty = std::fs::read(folder(BYTES).join("input/plain/09-empty.bin")).expect("bytes");
    for (args, input) in [(&["encrypt", "--from-stdin"][..], empty.as_slice()), (&["encrypt", ""], b"")] {
        let (status, stdout, stderr) = piped(args, input);
        assert_eq!((status, stdout), (1, vec![]));
        assert!(stderr.contains("nothing to encrypt"), "{stderr}");
    }
    let (status, help, _) = piped(&["encrypt", "--help"], b"");
    let help = String::from_utf8(help).expect("text");
    assert!(status == 0 && help.contains("list of processes") && help.contains("--from-stdin"), "{help}");
}

#[test]
fn s03_a_file_of_it_has_these_bytes_and_is_written_once() {
    let mut room = local::Room::new(&["keep"]);
    room.set("SUIL_AGE_KEY", &key().0);
    room.module(
        "keep",
        "secrets = t.map(t.secret())",
        "def resources(config):\n    return [file(\"@/\" + k, content = v, mode = \"0600\") for k, v in config.secrets.items()]\n",
    );
    let want = wanted(BYTES);
    let names: Vec<&String> = map(&want, "digests").map(|(name, _)| name).collect();
    let read = |name: &str| std::fs::read(folder(BYTES).join(format!("input/plain/{name}.bin"))).expect("bytes");
    let line = |name: &&String| format!("    {name}: {}\n", sealed(&["encrypt", "--from-stdin"], &read(name)));
    room.data(&format!("keep:\n  secrets:\n{}", names.iter().map(line).collect::<String>()));
    let first = room.apply(&["--confirm"]).expect(0);
    for name in &names {
        let path = room.node().join(name);
        assert_eq!(std::fs::read(&path).expect("a file"), read(name), "{name}");
        let mode = std::fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o7777, 0o600, "{name}");
    }
    let plan = room.read(".runs/latest/plan.json");
    for (told, text) in [("the screen", &first.stdout), ("the problems", &first.stderr), ("the record", &plan)] {
        for secret in ["hunter2", "lead and trail", "BEGIN TEST KEY"] {
            assert!(!text.contains(secret), "{told} has {secret:?}");
        }
    }
    room.apply(&["--confirm"]).expect(0);
    assert_eq!((room.performed(), room.outcome().as_str()), (vec![], "nothing to do"));
}
