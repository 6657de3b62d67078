//! What stands at a path: the facts that files, directories, links, lines and blocks share.

mod found;
mod left;
mod reach;

pub use found::{Access, Found, Type};
pub use left::{is_missing, missing, settle, settle_content, settle_type};
pub use reach::{in_the_way, parent_is_there, placed, removal, unknown, written};

use super::fact::{Answer, Fields, Request};
use std::fmt::Write;

pub const KIND: &str = "path";

/// How much is wanted to be known about the bytes of a file.
#[derive(Clone, Copy, Debug)]
pub enum Want<'a> {
    /// Nothing: a folder, a link, something to be removed.
    Nothing,
    /// The content whatever it is, up to 1 MiB: something is edited in it.
    Content,
    /// The digest, and the content where the digest is another one: it is shown as a diff.
    Differing(&'a str),
    /// The digest only.
    Digest(&'a str),
}

/// Returns the request for `path`.
pub fn request(path: &str, want: Want<'_>) -> Request {
    let want = match want {
        Want::Nothing => "-".to_owned(),
        Want::Content => "+".to_owned(),
        Want::Differing(sha256) => sha256.to_owned(),
        Want::Digest(sha256) => format!("={sha256}"),
    };
    Request { kind: KIND, args: vec![path.to_owned(), want] }
}

/// Turns the raw answer of `facts_path` into fields by name: `type`, `mode`, `uid`, `gid`, `owner`, `group`, `size`,
/// `mtime`, the same with `to_` for what a link leads to, `target`, `real`, `sha256`, `content`, `me_uid`, `me_gid`.
pub fn refine(raw: Fields) -> Answer {
    let mut fields = Fields::default();
    for (name, value) in &raw.0 {
        let outcome = match name.as_str() {
            "stat" => stat(&mut fields, "", value),
            "to_stat" if value.is_empty() => {
                fields.set("to_type", "missing");
                Ok(())
            }
            "to_stat" => stat(&mut fields, "to_", value),
            "uid" | "gid" => {
                fields.set(&format!("me_{name}"), value.as_slice());
                Ok(())
            }
            "type" if value != b"missing" => Ok(()),
            "sha256" if value.is_empty() => Ok(()),
            _ => {
                fields.set(name, value.as_slice());
                Ok(())
            }
        };
        if let Err(words) = outcome {
            return Answer::Unknown(words);
        }
    }
    match fields.bytes("type") {
        Some(_) => Answer::Known(fields),
        None => Answer::Unknown("the node did not say what stands at the path".to_owned()),
    }
}

/// `81a4:0:0:1234:1796016608:root:root`, where the first is the raw mode in hexadecimal.
fn stat(fields: &mut Fields, prefix: &str, line: &[u8]) -> Result<(), String> {
    let line = String::from_utf8_lossy(line);
    let garbled = || format!("stat gave a line that cannot be read: {line}");
    let parts: Vec<&str> = line.splitn(7, ':').collect();
    let [raw, uid, gid, size, mtime, owner, group] = parts.as_slice() else { return Err(garbled()) };
    let raw = u32::from_str_radix(raw, 16).map_err(|_| garbled())?;
    for number in [uid, gid, size] {
        number.parse::<u64>().map_err(|_| garbled())?;
    }
    mtime.parse::<i64>().map_err(|_| garbled())?;
    let kind = match raw & 0o170_000 {
        0o100_000 => "file",
        0o040_000 => "directory",
        0o120_000 => "link",
        0o010_000 => "fifo",
        0o020_000 => "character device",
        0o060_000 => "block device",
        0o140_000 => "socket",
        _ => return Err(garbled()),
    };
    let mode = mode_text(raw & 0o7777);
    let named = [("type", kind), ("mode", &mode), ("uid", uid), ("gid", gid), ("size", size), ("mtime", mtime)];
    for (name, value) in named {
        fields.set(&format!("{prefix}{name}"), value);
    }
    // `UNKNOWN` is what stat prints for a number that has no name.
    for (name, value) in [("owner", owner), ("group", group)] {
        if *value != "UNKNOWN" {
            fields.set(&format!("{prefix}{name}"), *value);
        }
    }
    Ok(())
}

/// The folder that holds `path`.
pub fn parent(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => path.get(..end).unwrap_or("/"),
    }
}

/// Reads an octal mode, with or without `0` or `0o` before it.
pub fn mode(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0o").or_else(|| text.strip_prefix("0O")).unwrap_or(text);
    let octal = (1..=5).contains(&digits.len()) && digits.bytes().all(|b| (b'0'..=b'7').contains(&b));
    u32::from_str_radix(digits, 8).ok().filter(|mode| octal && *mode <= 0o7777)
}

/// `0644`, and `02775` with a special bit.
pub fn mode_text(mode: u32) -> String {
    let mut text = String::from("0");
    let _ = write!(text, "{mode:03o}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_octal_however_it_is_written() {
        for (text, want) in [
            ("0644", Some(0o644)),
            ("644", Some(0o644)),
            ("0o644", Some(0o644)),
            ("2775", Some(0o2775)),
            ("02775", Some(0o2775)),
            ("0", Some(0)),
            ("0999", None),
            ("u=rw,g=r", None),
            ("", None),
            ("0o", None),
            ("+644", None),
            ("77777", None),
        ] {
            assert_eq!(mode(text), want, "{text}");
        }
        assert_eq!(mode_text(0o644), "0644");
        assert_eq!(mode_text(0o2775), "02775");
        assert_eq!(mode_text(0), "0000");
    }

    #[test]
    fn a_raw_line_becomes_fields_and_a_name_that_is_none_is_left_out() {
        let raw =
            Fields::of([("type", "file"), ("stat", "89ed:7:8:12:-5:UNKNOWN:EXAMPLE\\domain users"), ("uid", "0")]);
        let Answer::Known(fields) = refine(raw) else { panic!("unknown") };
        let want = [
            ("type", "file"),
            ("mode", "04755"),
            ("uid", "7"),
            ("gid", "8"),
            ("size", "12"),
            ("mtime", "-5"),
            ("group", "EXAMPLE\\domain users"),
            ("me_uid", "0"),
        ];
        assert_eq!(fields, Fields::of(want));
    }

    /// The lines of another tool, or of another file, are never taken for the answer.
    #[test]
    fn a_line_that_is_no_stat_line_is_unknown() {
        for line in ["", "drwxr-xr-x 3 root root 4096 Nov 30 02:44 .", "81a4:0:0:x:5:root:root", "f1a4:0:0:1:5:a:b"] {
            let answer = refine(Fields::of([("type", "file"), ("stat", line)]));
            assert!(matches!(answer, Answer::Unknown(_)), "{line}");
        }
    }
}
