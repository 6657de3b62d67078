//! Names under which secrets stand in Terraform's code and in the settings of its backends.

use regex::Regex;
use std::borrow::Cow;
use std::sync::LazyLock;

/// What stands in a secret's place.
pub const COVER: &str = "***";

/// The ends of names whose values are secrets, as a pattern.
pub const NAMES: &str = "password|passwd|passphrase|secret|token|(?:secret|api|private|access|signing)[_-]?key";

static ENDS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!("(?i)(?:{NAMES})s?$")).ok());

/// The password of an address: `postgres://user:password@host`.
pub static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@"']*:)[^\s/@"']+@"#).ok());

/// Settings of backends that are secrets and are not named like one.
const SETTINGS: [&str; 8] = [
    "conn_str",
    "credentials",
    "http_auth",
    "encryption_key",
    "sse_customer_key",
    "client_key",
    "client_private_key_pem",
    "secret_id",
];

/// True for a name whose values are secrets.
pub fn is_name(name: &str) -> bool {
    ENDS.as_ref().is_some_and(|ends| ends.is_match(name))
}

/// True for a setting of a backend whose value is a secret. One of a map, `a = { token = "x" }`, is looked for, too.
pub fn is_setting(name: &str, value: &str) -> bool {
    let name = name.trim();
    let last = name.rsplit('.').next().unwrap_or(name);
    let opens = || ADDRESS.as_ref().is_some_and(|address| address.is_match(value));
    let within = || {
        let words = value.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
        value.contains(['{', '[']) && words.filter(|word| !word.is_empty()).any(is_name)
    };
    is_name(last) || SETTINGS.contains(&last) || opens() || within()
}

/// `name=value` as it may be shown; the name of a file is itself.
pub fn shown(entry: &str) -> Cow<'_, str> {
    match entry.split_once('=') {
        Some((name, value)) if is_setting(name, value) && !value.trim().is_empty() => {
            Cow::Owned(format!("{name}={COVER}"))
        }
        _ => Cow::Borrowed(entry),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_end_like_a_secret_are_those_of_secrets() {
        for (name, secret) in [
            ("password", true),
            ("db_Token", true),
            ("secret_key", true),
            ("apiKey", true),
            ("passwords", true),
            ("secret_name", false),
            ("public_key", false),
            ("key", false),
            ("token_ttl", false),
        ] {
            assert_eq!(is_name(name), secret, "{name}");
        }
    }

    #[test]
    fn a_setting_of_a_backend_is_shown_without_its_secret() {
        for (entry, want) in [
            ("secret_key=hunter2", "secret_key=***"),
            ("access_key = hunter2", "access_key =***"),
            ("password=a=b", "password=***"),
            ("sas_token=?sv=1&sig=x", "sas_token=***"),
            ("conn_str=postgres://u:p@h/d", "conn_str=***"),
            ("conn_str=host=h password=p", "conn_str=***"),
            ("address=https://u:p@h/state", "address=***"),
            ("assume_role={ role_arn = \"a\", token = \"x\" }", "assume_role=***"),
            ("http_auth=u:p", "http_auth=***"),
            ("encryption_key=x", "encryption_key=***"),
            ("token=", "token="),
            ("key=network/token.tfstate", "key=network/token.tfstate"),
            ("address=https://h:8443/state", "address=https://h:8443/state"),
            ("bucket=secret", "bucket=secret"),
            ("backend/common.tfbackend", "backend/common.tfbackend"),
        ] {
            assert_eq!(shown(entry), want);
        }
    }
}
