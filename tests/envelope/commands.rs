//! `suil infra encrypt`, `decrypt` and `genkey` in a sealed room.

use super::corpus;
use super::room::{Left, Room};
use std::os::unix::fs::PermissionsExt;
use suil::base::Plain;

/// A room with the keys of the corpus.
fn room() -> Room {
    let room = Room::new();
    for name in ["corpus.pem", "corpus.pub", "wrong.pem", "corpus.passphrase.pem"] {
        std::fs::copy(corpus().join("keys").join(name), room.path().join(name)).expect("a key");
    }
    room
}

fn sealed(room: &Room, text: &str) -> String {
    let left = room.run(&["infra", "encrypt", "--public-key-path", "corpus.pub", text]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{left:?}");
    left.stdout.trim_end().to_owned()
}

#[test]
fn what_was_encrypted_is_decrypted_byte_for_byte() {
    let room = room();
    for text in ["", "x", "two\nlines\n", "größe 🏺"] {
        let left = room.run(&["infra", "decrypt", "--private-key-path", "wrong.pem,corpus.pem", &sealed(&room, text)]);
        left.is(0, text, "");
    }
}

#[test]
fn stdin_counts_to_the_last_byte_and_an_empty_one_is_refused() {
    let room = room().set("STACKS_PUBLIC_KEY_PATH", "corpus.pub").set("STACKS_PRIVATE_KEY_PATH", "corpus.pem");
    let room = room.input("a secret\r\n");
    let envelope = room.run(&["infra", "encrypt"]).stdout;
    assert!(envelope.starts_with("ENC[") && !envelope.contains("secret"), "{envelope}");
    room.run(&["infra", "decrypt", envelope.trim_end()]).is(0, "a secret\r\n", "");
    let room = room.input(&envelope);
    room.run(&["infra", "decrypt"]).is(0, "a secret\r\n", "");
    let left = room.input("").run(&["infra", "encrypt", "--from-stdin"]);
    left.is(1, "", "suil: nothing came from stdin\nhelp: for an empty string, give `''` as the argument\n");
}

#[test]
fn what_is_no_envelope_passes_and_needs_no_key() {
    let room = room();
    for text in ["plain", "", "x ENC[a;b;c;d]", " two\n"] {
        room.run(&["infra", "decrypt", "--private-key-path", "absent.pem", text]).is(0, text, "");
    }
}

#[test]
fn a_refusal_names_the_keys_and_nothing_of_the_secret() {
    let room = room();
    let envelope = sealed(&room, "oyster-4711");
    room.run(&["infra", "decrypt", "--private-key-path", "wrong.pem", &envelope]).is(
        1,
        "",
        "suil: the string is encrypted for another key\nnote: expected the key at hand to open it\n\
         note: tried `wrong.pem`\n\
         help: ask for the key it was encrypted for, or encrypt the secret again for this one\n",
    );
    room.run(&["infra", "decrypt", &envelope]).is(
        1,
        "",
        "suil: the string needs a key, and none is set\n\
         help: set STACKS_PRIVATE_KEY_PATH to the private key, or to several with commas between\n",
    );
    let left = room.run(&["infra", "decrypt", "--private-key-path", "corpus.passphrase.pem", &envelope]);
    assert_eq!(left.status, 1);
    assert!(left.stderr.starts_with(
        "suil: the private key `corpus.passphrase.pem` is encrypted, and there is no passphrase for it\n"
    ));
    assert!(left.stderr.ends_with("help: set SUIL_KEY_PASSPHRASE\n"), "{left:?}");
    let left = room.run(&["infra", "encrypt", "oyster-4711"]);
    assert_eq!(left.status, 64);
    assert!(!left.stderr.contains("oyster") && left.stderr.contains("--public-key-path FILE"), "{left:?}");
}

fn mode(room: &Room, name: &str) -> u32 {
    room.path().join(name).metadata().expect("a file").permissions().mode() & 0o7777
}

#[test]
fn a_pair_is_made_private_and_no_file_is_overwritten() {
    let room = room();
    let made = room.run(&["infra", "genkey", "--bits", "2048", "--output", "json"]);
    let value = Plain::from_json(&made.stdout).expect("JSON");
    assert_eq!((mode(&room, "private.pem"), mode(&room, "public.pem")), (0o600, 0o644));
    assert!(value.get("fingerprint").and_then(Plain::as_str).is_some_and(|print| print.len() == 71), "{made:?}");
    let envelope = room.run(&["infra", "encrypt", "--public-key-path", "public.pem", "x"]).stdout;
    room.run(&["infra", "decrypt", "--private-key-path", "private.pem", envelope.trim_end()]).is(0, "x", "");
    let read = |name: &str| std::fs::read(room.path().join(name)).expect("a file");
    let before = (read("private.pem"), read("public.pem"));
    let left = room.run(&["infra", "genkey", "--public-key-path", "other.pub"]);
    assert_eq!(left.status, 3);
    assert!(left.stderr.starts_with("suil: `private.pem` is there already\n"), "{left:?}");
    let left = room.run(&["infra", "genkey", "--private-key-path", "other.pem"]);
    assert_eq!(left.status, 3, "{left:?}");
    assert_eq!((read("private.pem"), read("public.pem")), before);
    assert!(!room.path().join("other.pem").exists() && !room.path().join("other.pub").exists());
    let left = room.run(&["infra", "genkey", "--private-key-path", "other.pem", "--public-key-path", "no/such.pub"]);
    assert_eq!(left.status, 1);
    assert!(!room.path().join("other.pem").exists(), "half a pair is none: {left:?}");
    let Left { status, stdout, .. } =
        room.run(&["infra", "genkey", "--private-key-path", "a", "--public-key-path", "a"]);
    assert_eq!((status, stdout.as_str()), (64, ""));
    let left = room.run(&["infra", "genkey", "--passphrase", "--private-key-path", "b", "--public-key-path", "c"]);
    assert_eq!(left.status, 64);
    assert!(left.stderr.contains("SUIL_KEY_PASSPHRASE") && !room.path().join("b").exists(), "{left:?}");
}
