//! Envelopes against the corpus: what the original makes opens, and what it refuses is refused for the same reason.

#![allow(clippy::disallowed_methods)]

#[path = "envelope/commands.rs"]
mod commands;
#[path = "envelope/rekey.rs"]
mod rekey;
#[allow(dead_code, reason = "shared with the tests of the command line, which use all of it")]
#[path = "cli/room.rs"]
mod room;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use suil::base::{Mask, Plain, Problem};
use suil::data::{self, Recipients, secret};
use suil::infra::Value;
use suil::infra::envelope::{Keys, Public, Refusal, generate, is_envelope, seal};
use zeroize::Zeroizing;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks")
}

/// Keys of the corpus, without a passphrase.
fn keys(list: &str) -> Keys {
    Keys::read(list, &corpus().join("keys"), |shown| Err(Problem::new(format!("`{shown}` is encrypted"))))
}

fn vectors(file: &str) -> Plain {
    let text = std::fs::read_to_string(corpus().join(file)).expect("a file of the corpus");
    Plain::from_json(&text).expect("JSON")
}

fn list(plain: &Plain) -> &[Plain] {
    plain.as_list().expect("a list")
}

fn text<'a>(plain: &'a Plain, key: &str) -> &'a str {
    plain.get(key).and_then(Plain::as_str).unwrap_or_else(|| panic!("no {key}"))
}

#[test]
fn every_envelope_of_the_original_opens() {
    let vectors = vectors("enc_vectors.json");
    let keys = keys("corpus.pem");
    assert!(list(&vectors).len() >= 10);
    for vector in list(&vectors) {
        let plain = keys.open(text(vector, "envelope")).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(plain.as_str(), text(vector, "plaintext"));
    }
}

#[test]
fn what_the_original_refuses_is_refused_and_tolerated_where_it_tolerates_it() {
    let vectors = vectors("enc_vectors_bad.json");
    let keys = keys("corpus.pem");
    let refused = list(vectors.get("refused").expect("refused"));
    assert!(refused.len() >= 12);
    for vector in refused {
        let what = text(vector, "what");
        let refusal = keys.open(text(vector, "envelope")).expect_err(what);
        assert_eq!(refusal.tolerable(), text(vector, "tolerant") == "returned unchanged", "{what}: {refusal:?}");
        assert!(matches!(refusal, Refusal::NoneFits { .. } | Refusal::Malformed(_)), "{what}: {refusal:?}");
    }
    for vector in list(vectors.get("odd_but_accepted").expect("accepted")) {
        let plain = keys.open(text(vector, "envelope")).unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(plain.as_str(), text(vector, "result"));
    }
}

/// An envelope of the corpus and its plaintext.
fn sample() -> (String, String) {
    let vectors = vectors("enc_vectors.json");
    let vector = list(&vectors).get(1).expect("a second one");
    (text(vector, "envelope").to_owned(), text(vector, "plaintext").to_owned())
}

#[test]
fn keys_are_tried_in_their_order_and_none_behind_the_one_that_fits_is_read() {
    let (envelope, plain) = sample();
    for list in ["corpus.pkcs1.pem", "wrong.pem,second.pem,big4096.pem,corpus.pem,absent.pem"] {
        assert_eq!(*keys(list).open(&envelope).unwrap_or_else(|e| panic!("{list}: {e:?}")), plain);
    }
    let refusal = keys("wrong.pem,absent.pem,corpus.pem").open(&envelope).expect_err("absent");
    assert!(!refusal.tolerable());
    assert!(refusal.problem("it").what.contains("`absent.pem`: no such file"), "{refusal:?}");
    let blank = keys("wrong.pem, corpus.pem").open(&envelope).expect_err("a blank is part of a path");
    assert!(blank.problem("it").what.contains("` corpus.pem`"), "{blank:?}");
    let empty = keys("wrong.pem,").open(&envelope).expect_err("no path");
    assert!(empty.problem("it").what.contains("empty path"), "{empty:?}");
}

#[test]
fn a_refusal_says_which_keys_were_tried_and_whether_any_could_fit() {
    let (envelope, _) = sample();
    let problem = keys("wrong.pem,second.pem").open(&envelope).expect_err("closed").problem("the secret `token`");
    assert_eq!(problem.what, "the secret `token` is encrypted for another key");
    assert_eq!(problem.notes[0].text, "tried `wrong.pem`, `second.pem`");
    assert_eq!(problem.notes.len(), 1);
    let problem = keys("big4096.pem").open(&envelope).expect_err("closed").problem("it");
    assert_eq!(problem.notes[1].text, "it is for a key of 2048 bits, or was cut short");
    let refusal = keys("").open(&envelope).expect_err("closed");
    assert!(matches!(refusal, Refusal::NoKey(_)) && refusal.tolerable());
    assert!(refusal.problem("it").help.expect("help").contains("STACKS_PRIVATE_KEY_PATH"));
}

/// Keys of this test: one that OpenSSL encrypted, PBES2 with scrypt, and its public half. The passphrase is `zebra`.
fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/envelope")
}

#[test]
fn a_passphrase_is_asked_for_once_and_only_for_a_key_that_has_one() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counter = asked.clone();
    let public = std::fs::read_to_string(own().join("openssl.pub")).expect("a key");
    let public = Public::read(&public, "openssl.pub").expect("a public key");
    let envelopes = ["one", "two"].map(|text| seal(&public, text).expect("sealed"));
    let list = format!("{},openssl-scrypt.pem", corpus().join("keys/wrong.pem").display());
    let keys = Keys::read(&list, &own(), move |shown| {
        assert_eq!(shown, "openssl-scrypt.pem");
        counter.fetch_add(1, Relaxed);
        Ok(Zeroizing::new("zebra".to_owned()))
    });
    for (envelope, want) in envelopes.iter().zip(["one", "two"]) {
        assert_eq!(keys.open(envelope).expect("opens").as_str(), want);
    }
    assert_eq!(asked.load(Relaxed), 1);
    let wrong = Keys::read("openssl-scrypt.pem", &own(), |_| Ok(Zeroizing::new("zebrb".to_owned())));
    let problem = wrong.open(&envelopes[0]).expect_err("wrong").problem("it");
    assert!(problem.what.contains("passphrase of the encrypted key `openssl-scrypt.pem` is wrong"), "{problem:?}");
    assert!(!format!("{problem:?}").contains("zebr"));
    let none = self::keys("corpus.passphrase.pem").open(&sample().0).expect_err("no passphrase");
    assert!(!none.tolerable() && none.problem("it").what.contains("encrypted"));
}

#[test]
fn what_is_sealed_opens_whatever_the_text_and_no_envelope_is_like_another() {
    let public = std::fs::read_to_string(corpus().join("keys/big4096.pub")).expect("a key");
    let public = Public::read(&public, "big4096.pub").expect("a key");
    assert_eq!(public.bits(), 4096);
    let keys = keys("big4096.pem");
    for length in [0, 1, 15, 16, 17, 4096] {
        let text = "é".repeat(length / 2) + &"x".repeat(length % 2);
        let envelope = seal(&public, &text).expect("sealed");
        assert!(is_envelope(&envelope));
        assert_eq!(*keys.open(&envelope).expect("opens"), text);
        assert_ne!(envelope, seal(&public, &text).expect("sealed"));
    }
}

#[test]
fn keys_that_cannot_be_used_say_why() {
    let read = |text: &str| Public::read(text, "k.pub").expect_err("refused").what;
    assert_eq!(read("hello"), "`k.pub` holds no public key");
    let private = std::fs::read_to_string(corpus().join("keys/corpus.pem")).expect("a key");
    let problem = Public::read(&private, "k").expect_err("the private half");
    assert!(problem.help.expect("help").contains("private half"));
    let folder = tempfile::tempdir().expect("a folder");
    let cut: String = private.lines().take(10).chain(["-----END PRIVATE KEY-----"]).collect::<Vec<_>>().join("\n");
    std::fs::write(folder.path().join("cut.pem"), cut).expect("written");
    let none = |_: &str| Err(Problem::new("no passphrase"));
    let problem = Keys::read("cut.pem", folder.path(), none).open(&sample().0).expect_err("cut").problem("it");
    assert!(problem.what.starts_with("the key `cut.pem` cannot be used"), "{problem:?}");
    assert!(generate(1024, None).is_err());
}

#[test]
fn every_whole_string_of_a_value_is_opened_and_nothing_else() {
    let (envelope, plain) = sample();
    let part = format!("x{envelope}");
    let map = |pairs: Vec<(&str, Value)>| -> Value { pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect() };
    let tree = |secret: &str| {
        map(vec![
            ("list", Value::List(vec![1.into(), secret.into(), map(vec![("a b", secret.into())])])),
            ("part", part.as_str().into()),
            (envelope.as_str(), "key".into()),
        ])
    };
    let mask = Mask::new();
    let mut value = tree(&envelope);
    let opened = keys("corpus.pem").open_all(&mut value, false, &mask, "db").expect("opens");
    assert_eq!(opened, ["db.list[1]", "db.list[2][\"a b\"]"]);
    assert_eq!(value, tree(&plain));
    assert!(!mask.apply(&format!("say {plain} again")).contains(&plain));
}

#[test]
fn the_plaintext_that_looks_like_an_envelope_is_left_alone() {
    let vectors = vectors("enc_vectors.json");
    let like = list(&vectors).iter().find(|v| text(v, "plaintext").starts_with("ENC[")).expect("one of them");
    let mut value = Value::from(text(like, "envelope"));
    keys("corpus.pem").open_all(&mut value, false, &Mask::new(), "x").expect("opens");
    assert_eq!(value.as_str(), Some(text(like, "plaintext")));
}

#[test]
fn tolerance_leaves_closed_what_no_key_fits_and_still_refuses_what_is_broken() {
    let (envelope, plain) = sample();
    let both = |second: &str| Value::List(vec![envelope.as_str().into(), second.into()]);
    let mask = Mask::new();
    for list in ["", "wrong.pem"] {
        let mut value = both("plain");
        assert_eq!(keys(list).open_all(&mut value, true, &mask, "x").expect("tolerated"), [""; 0]);
        assert_eq!(value, both("plain"));
        let problems = keys(list).open_all(&mut both("plain"), false, &mask, "x").expect_err("strict");
        assert_eq!(problems.len(), 1);
        assert!(problems[0].what.contains("`x[0]`"), "{problems:?}");
    }
    let problems = keys("corpus.pem").open_all(&mut both("ENC[a]"), true, &mask, "x").expect_err("malformed");
    assert_eq!(problems.len(), 1);
    assert!(problems[0].what.starts_with("the secret `x[1]` is no whole envelope"), "{problems:?}");
    assert!(keys("absent.pem").open_all(&mut both("y"), true, &mask, "x").is_err(), "a missing key is not tolerated");
    assert!(!format!("{problems:?}").contains(&plain));
}

#[test]
fn age_markers_open_with_age_keys_and_are_tolerated_without() {
    let identity = age::x25519::Identity::generate();
    let recipients = Recipients::parse(&identity.to_public().to_string(), "test").expect("recipients");
    let marker = secret::encrypt(b"reed", &recipients).expect("sealed").marker();
    let secret = identity.to_string();
    let age = move || data::Keys::parse(age::secrecy::ExposeSecret::expose_secret(&secret), "test").map(Some);
    let keys = keys("").with_age(age);
    let mut value = Value::from(marker.as_str());
    assert_eq!(keys.open_all(&mut value, false, &Mask::new(), "x").expect("opens"), ["x"]);
    assert_eq!(value.as_str(), Some("reed"));
    let refusal = self::keys("corpus.pem").open(&marker).expect_err("no age key");
    assert!(refusal.tolerable() && refusal.problem("it").help.expect("help").contains("SUIL_AGE_KEY"));
    assert!(!keys.open("!ENC[aGVsbG8=]").expect_err("no age file").tolerable());
}

#[test]
fn the_line_end_of_a_here_document_is_no_part_of_an_envelope() {
    let (envelope, plain) = sample();
    let mut value = Value::from(format!("{envelope}\n"));
    assert_eq!(keys("corpus.pem").open_all(&mut value, false, &Mask::new(), "x").expect("opens"), ["x"]);
    assert_eq!(value.as_str(), Some(plain.as_str()));
    for other in [format!("{envelope}\n\n"), format!("\n{envelope}"), format!("{envelope} ")] {
        assert!(!is_envelope(&other));
    }
}

#[test]
fn a_key_that_is_missing_is_said_once() {
    let (envelope, _) = sample();
    let mut value = Value::List(vec![envelope.as_str().into(), envelope.as_str().into(), "ENC[a]".into()]);
    let problems = keys("absent.pem").open_all(&mut value, false, &Mask::new(), "x").expect_err("missing");
    let whats: Vec<_> = problems.iter().map(|problem| problem.what.as_str()).collect();
    assert_eq!(whats.len(), 2, "{whats:?}");
    assert!(whats[0].contains("absent.pem") && whats[1].starts_with("the secret `x[2]`"), "{whats:?}");
}

#[test]
fn a_private_key_may_be_handed_over_by_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks");
    let vectors: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(root.join("enc_vectors.json")).expect("vectors")).expect("JSON");
    let (envelope, plain) = (vectors[1]["envelope"].as_str().expect("text"), vectors[1]["plaintext"].as_str());
    let key = root.join("keys/corpus.pem").display().to_string();
    let script = format!("\"$0\" infra decrypt --private-key-path <(cat \"$1\") '{envelope}'");
    let output = std::process::Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_suil"), &key])
        .output()
        .expect("bash");
    assert_eq!(Some(String::from_utf8_lossy(&output.stdout).trim()), plain, "{output:?}");
}
