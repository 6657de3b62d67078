//! `suil infra rekey`: all envelopes of a tree or none, and no other byte.

use super::room::Room;
use super::{corpus, keys};
use std::fs;
use std::path::Path;
use suil::base::Plain;
use suil::infra::envelope::{Public, seal};

/// Makes an envelope for a key of the corpus.
fn sealed(key: &str, text: &str) -> String {
    let pem = fs::read_to_string(corpus().join("keys").join(key)).expect("a key");
    seal(&Public::read(&pem, key).expect("a key"), text).expect("sealed")
}

/// The text of a file with `@name@` for the envelope of each name.
fn filled(text: &str, envelope: impl Fn(&str) -> String) -> String {
    let parts = text.split('@').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { envelope(part) } else { part.to_owned() }).collect()
}

const FILES: [(&str, &str); 5] = [
    (
        "environments/e/env.tfvars",
        "\u{feff}# ENC[a;b;c;d] stays\r\na=\"@one@\"   // odd   blanks\r\nb = { \"ENC[k;e;y;s]\" = [\"@two@\" , \"x\"] }\r\n",
    ),
    ("stacks/s/s.tfvars", "here = <<-EOT\n    @three@\n  EOT\nsame = \"@one@\"\npart = \"x ENC[p;a;r;t]\""),
    (
        "stacks/s/layers/e/l.tfvars.jinja",
        "{% set x = '@four@' %}\nc = \"@five@\"\nd = \"ENC[{{ y }}]\"\ne = <<E\n@six@\nE\n",
    ),
    ("stacks/s/layers/e/plain.tfvars", "# nothing here\n"),
    ("stacks/s/base/main.tf", "# \"ENC[not;read;at;all]\"\n"),
];

/// A tree of layers whose secrets are for `corpus.pub`; each plaintext is its name.
fn tree() -> Room {
    let room = Room::new();
    for (path, text) in FILES {
        room.write(path, &filled(text, |name| sealed("corpus.pub", name)));
    }
    room.write("stacks/s/layers/e/stacks.out/x.tfvars", "x = \"ENC[of;an;older;render]\"\n");
    for name in ["corpus.pem", "second.pem", "second.pub", "wrong.pem"] {
        fs::copy(corpus().join("keys").join(name), room.path().join(name)).expect("a key");
    }
    room
}

fn read(room: &Room, path: &str) -> String {
    fs::read_to_string(room.path().join(path)).expect("a file")
}

/// What stands in a file, envelopes as their names between `@` where `key` opens them.
fn opened(text: &str, key: &str) -> String {
    let keys = keys(key);
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("ENC[") {
        let end = at + rest[at..].find(']').expect("closed") + 1;
        out.push_str(&rest[..at]);
        match keys.open(&rest[at..end]) {
            Ok(plain) => out.push_str(&format!("@{}@", plain.as_str())),
            Err(_) => out.push_str(&rest[at..end]),
        }
        rest = &rest[end..];
    }
    out + rest
}

const REKEY: [&str; 6] =
    ["infra", "rekey", "--public-key-path", "second.pub", "--private-key-path", "corpus.pem,second.pem"];

#[test]
fn every_envelope_is_made_anew_and_no_other_byte_changes() {
    let room = tree();
    let left = room.run(&[&REKEY[..], &["--output", "json"]].concat());
    assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{left:?}");
    let value = Plain::from_json(&left.stdout).expect("JSON");
    assert_eq!(value.get("secrets").and_then(Plain::as_int), Some(7));
    for (path, text) in FILES {
        let now = read(&room, path);
        assert_eq!(opened(&now, "second.pem"), text, "{path}");
        assert!(!opened(&now, "corpus.pem").contains('@'), "{path}: nothing is left for the old key");
    }
    assert_eq!(read(&room, "stacks/s/layers/e/stacks.out/x.tfvars"), "x = \"ENC[of;an;older;render]\"\n");
    let names: Vec<_> =
        fs::read_dir(room.path().join(".suil")).expect("folder").map(|e| e.expect("entry").file_name()).collect();
    assert_eq!(names, ["swap.lock"]);
}

#[test]
fn one_that_does_not_open_keeps_every_file_as_it_was() {
    let room = tree();
    let bad = format!("z = [\n  \"{}\",\n  \"ENC[x]\"]\n", sealed("wrong.pub", "foreign"));
    room.write("stacks/zz.tfvars", &bad);
    let before: Vec<String> = FILES.iter().map(|(path, _)| read(&room, path)).collect();
    let left = room.run(&REKEY);
    assert_eq!(left.status, 1);
    assert!(
        left.stderr.contains("suil: a secret of `z` is encrypted for another key\n --> stacks/zz.tfvars:2:3"),
        "{left:?}"
    );
    assert!(left.stderr.contains("suil: a secret of `z` is no whole envelope"), "{left:?}");
    let dry = tree();
    assert_eq!(dry.run(&[&REKEY[..], &["--dry-run"]].concat()).status, 0);
    assert!(!dry.path().join(".suil").exists());
    assert_eq!(opened(&read(&dry, FILES[0].0), "corpus.pem"), FILES[0].1);
    let after: Vec<String> = FILES.iter().map(|(path, _)| read(&room, path)).collect();
    assert_eq!(before, after);
}

#[test]
fn a_key_that_nobody_here_has_is_refused_unless_forced() {
    let room = tree();
    let args = ["infra", "rekey", "--public-key-path", "second.pub", "--private-key-path", "corpus.pem"];
    let left = room.run(&args);
    assert_eq!(left.status, 3);
    assert!(left.stderr.starts_with("suil: you would lock yourself out"), "{left:?}");
    assert_eq!(opened(&read(&room, FILES[1].0), "corpus.pem"), FILES[1].1);
    let left = room.run(&[&args[..], &["--force"]].concat());
    assert_eq!(left.status, 0, "{left:?}");
    assert_eq!(opened(&read(&room, FILES[1].0), "second.pem"), FILES[1].1);
    assert!(Path::new(FILES[1].0).is_relative() && left.stdout.contains("stacks/s/s.tfvars: 2 secrets\n"), "{left:?}");
}
