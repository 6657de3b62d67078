//! Covers secrets in what Terraform says, before it is stored or shown: values that are known, and what looks like one.

mod blocks;
mod named;

use crate::base::{Mask, Needles};
use crate::infra::secret::{self, ADDRESS, COVER, NAMES};
use regex::{Captures, Regex};
use serde_json::Value;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// A shorter value hides nothing and would spoil every text.
const SHORTEST: usize = 4;
/// So many values are known at most: a plan may mark everything as sensitive.
const MOST: usize = 4096;

/// The values that a run must not tell. Threads share it.
#[derive(Clone, Default)]
pub struct Redactor {
    mask: Mask,
    known: Arc<RwLock<Known>>,
}

#[derive(Default)]
struct Known {
    /// Longest first: a value inside a longer one must not spoil it.
    values: Vec<String>,
    needles: Needles,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

/// Names of variables whose values are secrets.
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts = ["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIAL", "PRIVATE", "APIKEY"];
    parts.iter().any(|part| name.contains(part)) || name.split('_').any(|part| part == "KEY" || part == "PASS")
}

/// Something of this is in every text in which one of the patterns here or of blocks finds anything. Most lines have
/// nothing of it.
static SUSPECT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let heads = "-----BEGIN|eyJ|AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|AIPA|gh[pousr]_|github_pat_|xox|xapp-|://";
    Regex::new(&format!("{heads}|(?i:password|passwd|passphrase|secret|token|key|bearer)")).ok()
});

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let texts = [
        // An end that is missing was cut off.
        r"-----BEGIN [A-Z0-9 ]{1,40}-----(?s:.*?)(?:-----END [A-Z0-9 ]{1,40}-----|\z)",
        r"\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]*",
        r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|AIPA)[A-Z0-9]{16}\b",
        r"\bgh[pousr]_[A-Za-z0-9]{20,}",
        r"\bgithub_pat_[A-Za-z0-9_]{20,}",
        r"\bxox[a-z]-[A-Za-z0-9-]{8,}",
        r"\bxapp-[A-Za-z0-9-]{8,}",
        r"https://hooks\.slack\.com/services/[A-Za-z0-9/_-]+",
        r"(?i)\bbearer[ \t]+[A-Za-z0-9._~+/=-]{16,}",
    ];
    texts.iter().filter_map(|text| Regex::new(text).ok()).collect()
});

/// `password = "x"`, `"db_token": "x"`, and the second value of a change. What Terraform itself keeps back stands in
/// parentheses.
static ASSIGNED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let value = r#"(?:"(?:[^"\\\n]|\\.)*"|[^\s"',}(\[{]+)"#;
    let text = format!(r#"(?i)((?:{NAMES})"?[ \t]*(?:=|:)[ \t]*){value}(?:([ \t]*->[ \t]*){value})?"#);
    Regex::new(&text).ok()
});

impl Redactor {
    /// One that knows what `mask` knows, now and later.
    pub fn new(mask: Mask) -> Redactor {
        Redactor { mask, known: Arc::default() }
    }

    /// Adds a value; of one over several lines each line, too.
    pub fn add(&self, value: &str) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let Known { values: known, needles } = &mut *known;
        let lines = value.lines().map(str::trim).filter(|line| line.len() >= 6 && value.contains('\n'));
        for form in [value, value.trim()].into_iter().chain(lines) {
            let plain = matches!(form, "true" | "false" | "null" | "none" | "default");
            if form.chars().count() >= SHORTEST && !plain && known.len() < MOST && !known.iter().any(|k| k == form) {
                known.push(form.to_owned());
            }
        }
        needles.forget();
        known.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    }

    /// Adds the values of variables whose names say that they are secrets.
    pub fn add_environment<'a>(&self, variables: impl IntoIterator<Item = (&'a str, &'a str)>) {
        for (name, value) in variables {
            if is_secret_name(name) {
                self.add(value);
            }
        }
    }

    /// Covers every secret in a text.
    pub fn text(&self, text: &str) -> String {
        let mut out = self.mask.apply(text);
        // What is put in place of a known value makes nothing look like a secret that did not before.
        let suspect = SUSPECT.as_ref().is_none_or(|suspect| suspect.is_match(&out));
        if suspect {
            out = blocks::cover(out);
        }
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if known.needles.are_in(&out, &known.values, String::as_str) {
            for value in &known.values {
                if out.contains(value.as_str()) {
                    out = out.replace(value.as_str(), COVER);
                }
            }
        }
        drop(known);
        if !suspect {
            return out;
        }
        for pattern in PATTERNS.iter() {
            if pattern.is_match(&out) {
                out = pattern.replace_all(&out, COVER).into_owned();
            }
        }
        if let Some(address) = ADDRESS.as_ref().filter(|_| out.contains("://")) {
            out = address.replace_all(&out, format!("${{1}}{COVER}@")).into_owned();
        }
        if let Some(assigned) = ASSIGNED.as_ref() {
            let cover = |found: &Captures<'_>| {
                let part = |at| found.get(at).map_or("", |part| part.as_str());
                let second = if part(2).is_empty() { "" } else { COVER };
                format!("{}{COVER}{}{second}", part(1), part(2))
            };
            if assigned.is_match(&out) {
                out = assigned.replace_all(&out, cover).into_owned();
            }
        }
        out
    }

    /// Covers every secret in a JSON of a plan: what it marks as sensitive becomes known first.
    pub fn plan(&self, plan: &mut Value) {
        self.learn(plan);
        self.cover(plan);
    }

    /// Adds what a JSON of a plan or a state marks as sensitive.
    pub fn learn(&self, value: &Value) {
        match value {
            Value::Object(map) => {
                let pairs =
                    [("before", "before_sensitive"), ("after", "after_sensitive"), ("values", "sensitive_values")];
                for (values, marks) in pairs {
                    if let (Some(values), Some(marks)) = (map.get(values), map.get(marks)) {
                        self.marked(values, marks);
                    }
                }
                if map.get("sensitive") == Some(&Value::Bool(true))
                    && let Some(value) = map.get("value")
                {
                    self.marked(value, &Value::Bool(true));
                }
                map.values().for_each(|value| self.learn(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            _ => {}
        }
    }

    fn marked(&self, value: &Value, marks: &Value) {
        match (value, marks) {
            (Value::String(text), Value::Bool(true)) => self.add(text),
            (Value::Number(number), Value::Bool(true)) => self.add(&number.to_string()),
            (Value::Array(items), Value::Bool(true)) => items.iter().for_each(|item| self.marked(item, marks)),
            (Value::Object(map), Value::Bool(true)) => map.values().for_each(|value| self.marked(value, marks)),
            (Value::Array(items), Value::Array(marks)) => {
                items.iter().zip(marks).for_each(|(item, marks)| self.marked(item, marks));
            }
            (Value::Object(map), Value::Object(marks)) => {
                for (key, marks) in marks {
                    if let Some(value) = map.get(key) {
                        self.marked(value, marks);
                    }
                }
            }
            _ => {}
        }
    }

    fn cover(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let covered = self.text(text);
                if covered != *text {
                    *text = covered;
                }
            }
            Value::Number(number) => {
                let text = number.to_string();
                if self.known.read().unwrap_or_else(PoisonError::into_inner).values.contains(&text) {
                    *value = Value::String(COVER.to_owned());
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.cover(item)),
            Value::Object(map) => {
                map.iter_mut().filter(|(key, _)| secret::is_name(key)).for_each(|(_, value)| named::cover(value));
                let odd: Vec<String> = map.keys().filter(|key| self.text(key) != **key).cloned().collect();
                for key in odd {
                    if let Some(value) = map.shift_remove(&key) {
                        map.insert(self.text(&key), value);
                    }
                }
                map.values_mut().for_each(|value| self.cover(value));
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_looks_like_a_secret_is_covered() {
        let redactor = Redactor::default();
        // Put together here, so that nobody who scans this file for secrets finds one.
        let token = |head: &str| format!("{head}{}", "a1".repeat(20));
        for secret in [
            format!("-----BEGIN RSA {0} KEY-----\nMIIE\nabc\n-----END RSA {0} KEY-----", "PRIVATE"),
            format!("-----BEGIN {} KEY-----\nMIIE cut off", "PRIVATE"),
            format!("ey{}.eyJzdWIiOiIx.c2lnbmF0dXJl", "JhbGciOiJIUzI1NiJ9"),
            format!("AKIA{}", "ABCDEFGHIJKLMNOP"),
            token("ghp_"),
            token("github_pat_"),
            token("xoxb-"),
            format!("https://hooks.slack.com/services/{}", "T0/B0/xyz"),
            token("xapp-"),
            token("gho_"),
            token("ghs_"),
            format!("ASIA{}", "ABCDEFGHIJKLMNOP"),
            format!("AIPA{}", "ABCDEFGHIJKLMNOP"),
        ] {
            let text = redactor.text(&format!("before {secret}"));
            assert_eq!(text, "before ***", "{secret}");
        }
        for (text, want) in [
            (r#"  + db_password = "a \" b""#, "  + db_password = ***"),
            (r#"  ~ token = "old" -> "new""#, "  ~ token = *** -> ***"),
            ("  + password = (sensitive value)", "  + password = (sensitive value)"),
            ("SECRET=hunter2, next", "SECRET=***, next"),
            (r#"  + secret_key = "a""#, "  + secret_key = ***"),
            (r#"  + api-key = "a""#, "  + api-key = ***"),
            ("db_passwd: a", "db_passwd: ***"),
            ("passphrase = a", "passphrase = ***"),
            (r#"  + public_key = "a""#, r#"  + public_key = "a""#),
            ("postgres://bob:pa55@db/x, https://h:8443/y", "postgres://bob:***@db/x, https://h:8443/y"),
            ("Bearer abcdefghijklmnop1234", "***"),
            ("TO\u{212a}EN = \"x\"", "TO\u{212a}EN = ***"),
            ("the bearer of this", "the bearer of this"),
            (r#"{"api_token": "x", "a": 1}"#, r#"{"api_token": ***, "a": 1}"#),
            ("secret_name = \"public\"", "secret_name = \"public\""),
            ("no secret here", "no secret here"),
        ] {
            assert_eq!(redactor.text(text), want);
        }
    }

    #[test]
    fn known_values_are_covered_wherever_they_stand() {
        let mask = Mask::new();
        let redactor = Redactor::new(mask.clone());
        mask.add("opened-envelope");
        redactor.add_environment([("DB_PASSWORD", "hunter2x"), ("HOME", "/root"), ("AWS_ACCESS_KEY_ID", "idididid")]);
        let text = redactor.text("hunter2x in /root by idididid: opened-envelope");
        assert!(text.starts_with("*** in /root by ***: ‹secret "), "{text}");
        let mut plan = json!({
            "resource_changes": [{"change": {
                "before": null, "after": {"input": {"pin": 123456, "user": "bob"}, "list": ["abcd-1", "plain"], "on": true},
                "after_sensitive": {"input": {"pin": true}, "list": [true, false], "on": true},
            }}],
            "output_changes": {"o": {"after": "output-value", "after_sensitive": true}},
            "planned_values": {"outputs": {"o": {"sensitive": true, "value": "output-value"}}},
            "variables": {"db_password": {"value": "by-its-name"}},
            "echo": ["abcd-1 and output-value", {"k-output-value": 1}, true],
        });
        redactor.plan(&mut plan);
        let text = plan.to_string();
        for secret in ["123456", "abcd-1", "output-value", "by-its-name"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("bob") && text.contains("plain") && text.contains("true"), "{text}");
    }
}
