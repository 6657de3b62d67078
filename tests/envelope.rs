//! Envelopes against the corpus: what the original makes opens, and what it refuses is refused for the same reason.

use std::path::{Path, PathBuf};
use suil::base::{Plain, Problem};
use suil::infra::envelope::{Keys, Refusal};

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
