//! Masking: the known plaintexts of a run never reach an output.

use super::{Needles, Plain};
use std::borrow::Cow;
use std::sync::{Arc, RwLock};
use zeroize::Zeroize;

/// The plaintexts that were revealed so far, shared by every room that hands text on.
///
/// Each is masked as it stands and as base64, JSON, URL encoding and shell quoting would write it; a plaintext of
/// several lines is masked line by line too, since a diff shows lines.
#[derive(Clone, Default)]
pub struct Mask {
    inner: Arc<RwLock<Words>>,
}

#[derive(Default)]
struct Words {
    /// Longest first, so that a secret inside a longer one does not spoil it.
    words: Vec<(String, String)>,
    needles: Needles,
}

impl Drop for Words {
    fn drop(&mut self) {
        for (word, _) in &mut self.words {
            word.zeroize();
        }
    }
}

/// What a masked secret looks like: its digest, cut to twelve digits.
fn cover(plaintext: &str) -> String {
    format!("‹secret {}›", &super::digest::sha256(plaintext.as_bytes())[..12])
}

impl Mask {
    pub fn new() -> Mask {
        Mask::default()
    }

    /// Adds a plaintext. Empty text and lines that are too common to mask (fewer than three characters) are
    /// left out: masking them would spoil every output and hide nothing.
    pub fn add(&self, plaintext: &str) {
        let cover = cover(plaintext);
        let mut forms: Vec<String> = vec![plaintext.to_owned(), plaintext.trim().to_owned()];
        forms.extend(plaintext.lines().map(|line| line.trim().to_owned()).filter(|line| line.len() >= 6));
        for form in forms.clone() {
            use base64::Engine;
            let b64 = base64::engine::general_purpose::STANDARD.encode(form.as_bytes());
            forms.push(b64.trim_end_matches('=').to_owned());
            let debug = format!("{form:?}");
            forms.push(debug.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(&debug).to_owned());
            // JSON in ASCII, as for a page, and a string of Python.
            for also in ["", "<>&'"] {
                let mut json = String::new();
                super::json::string(&mut json, &form, also);
                forms.push(json.get(1..json.len() - 1).unwrap_or_default().to_owned());
            }
            forms.push(form.replace('\\', r"\\").replace('\n', r"\n").replace('\r', r"\r").replace('\t', r"\t"));
            forms.push(form.replace('\'', r"'\''"));
            forms.push(url(&form));
        }
        let mut inner = self.inner.write().unwrap_or_else(|e| e.into_inner());
        for form in forms {
            if form.chars().count() >= 3 && !inner.words.iter().any(|(word, _)| *word == form) {
                inner.words.push((form, cover.clone()));
            }
        }
        inner.needles.forget();
        inner.words.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    }

    /// Returns `text` with every known plaintext covered.
    pub fn apply(&self, text: &str) -> String {
        let inner = self.inner.read().unwrap_or_else(|e| e.into_inner());
        let mut out = text.to_owned();
        if !inner.needles.are_in(text, &inner.words, |(word, _)| word) {
            return out;
        }
        for (word, cover) in &inner.words {
            if out.contains(word.as_str()) {
                out = out.replace(word.as_str(), cover);
            }
        }
        out
    }

    /// Returns `value` with every known plaintext covered, in keys too. Before a document is written this is surer than
    /// covering its text, where a plaintext may stand escaped or broken into lines.
    pub fn plain(&self, value: &Plain) -> Plain {
        match value {
            Plain::Str(text) => Plain::Str(self.apply(text)),
            Plain::List(items) => items.iter().map(|item| self.plain(item)).collect(),
            Plain::Map(map) => map.iter().map(|(key, value)| (self.apply(key), self.plain(value))).collect(),
            other => other.clone(),
        }
    }

    /// What stands for secrets in a text that was covered, one after the other.
    pub fn covers(text: &str) -> impl Iterator<Item = &str> {
        text.split("‹secret ").skip(1).filter_map(|rest| rest.split_once('›')).map(|(digest, _)| digest)
    }

    /// True where no plaintext is known.
    pub fn is_empty(&self) -> bool {
        self.inner.read().unwrap_or_else(|e| e.into_inner()).words.is_empty()
    }
}

impl std::fmt::Debug for Mask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mask")
    }
}

fn url(text: &str) -> String {
    text.bytes()
        .map(|b| match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => (b as char).to_string(),
            _ => format!("%{b:02X}"),
        })
        .collect()
}

/// The text with `***` for every password in an address: `https://anna:***@example.com`.
pub fn without_passwords(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("://") {
        let end =
            behind.find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '\\'));
        let authority = behind.get(..end.unwrap_or(behind.len())).unwrap_or(behind);
        let login = authority.rsplit_once('@').map(|(login, _)| login);
        if let Some((user, password)) = login.and_then(|login| login.split_once(':'))
            && !password.is_empty()
        {
            out.push_str(&format!("{before}://{user}:***"));
            rest = behind.get(user.len() + 1 + password.len()..).unwrap_or_default();
        } else {
            out.push_str(&format!("{before}://"));
            rest = behind;
        }
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_secret_is_covered() {
        let mask = Mask::new();
        mask.add("s3cr'et pass");
        for text in ["a s3cr'et pass b", r"'s3cr'\''et pass'", "s3cr%27et%20pass", "czNjcidldCBwYXNz"] {
            assert!(mask.apply(text).contains("‹secret "), "{text}");
        }
        mask.add("é\"\\\n<b>");
        // JSON in ASCII, the same for a page, and what Python prints of it in a list.
        for text in [r#""\u00e9\"\\\n<b>""#, r#""\u00e9\"\\\n\u003cb\u003e""#, "['é\"\\\\\\n<b>']"] {
            assert!(mask.apply(text).contains("‹secret "), "{text}");
        }
        assert_eq!(mask.apply("nothing here"), "nothing here");
        let value = Plain::from_json(r#"{"s3cr'et pass": ["1 s3cr'et pass", 2]}"#).expect("json");
        assert!(!mask.plain(&value).to_json().contains("s3cr"));
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (text, shown) in [
            ("plain", "plain"),
            (
                "\"git::https://anna:p4ss@h/x?ref=1\" and pg://u:p@h",
                "\"git::https://anna:***@h/x?ref=1\" and pg://u:***@h",
            ),
            ("https://h:8420/a@b:c", "https://h:8420/a@b:c"),
            ("https://anna@h/ s3://bucket/key", "https://anna@h/ s3://bucket/key"),
            ("https://a:b@c:d@h", "https://a:***@h"),
            ("://", "://"),
        ] {
            assert_eq!(without_passwords(text), shown);
        }
    }
}
