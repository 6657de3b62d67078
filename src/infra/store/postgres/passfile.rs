//! The file of passwords, `.pgpass`, read as libpq reads it: <https://www.postgresql.org/docs/current/libpq-pgpass.html>.

use crate::base::file;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use zeroize::Zeroizing;

/// Who asks for a password: one host, port, database and user.
pub struct Asked<'a> {
    pub host: &'a str,
    pub port: u16,
    pub database: &'a str,
    pub user: &'a str,
}

/// What became of a file of passwords.
pub enum Passfile {
    /// There is none.
    Absent,
    /// It was left out, and why: `others may open it`.
    LeftOut(&'static str),
    Read(Zeroizing<Vec<u8>>),
}

impl Passfile {
    /// Reads the file. One that is no plain file, or that others than its owner may open, is left out, as libpq does.
    pub fn open(path: &Path) -> Passfile {
        let Ok(found) = fs::metadata(path) else { return Passfile::Absent };
        if !found.is_file() {
            return Passfile::LeftOut("it is no plain file");
        }
        if found.permissions().mode() & 0o077 != 0 {
            return Passfile::LeftOut("others may open it");
        }
        match file::read(path) {
            Ok(bytes) => Passfile::Read(Zeroizing::new(bytes)),
            Err(_) => Passfile::LeftOut("it cannot be read"),
        }
    }
}

/// The password of the first line that fits.
pub fn find(text: &[u8], asked: &Asked<'_>) -> Option<Zeroizing<Vec<u8>>> {
    let port = asked.port.to_string();
    let wanted = [asked.host, &port, asked.database, asked.user];
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.starts_with(b"#"));
    let mut found = lines.filter_map(|line| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        wanted.iter().try_fold(line, |rest, field| after(rest, field.as_bytes()))
    });
    found.next().map(password).filter(|password| !password.is_empty())
}

/// What stands behind a field that is `wanted`, or `*`; nothing where it is another one. A backslash takes the next
/// character as it is.
fn after<'a>(line: &'a [u8], wanted: &[u8]) -> Option<&'a [u8]> {
    if let Some(rest) = line.strip_prefix(b"*:") {
        return Some(rest);
    }
    let (mut line, mut wanted) = (line, wanted);
    loop {
        line = match (line, wanted) {
            ([b':', rest @ ..], []) => return Some(rest),
            ([b'\\', rest @ ..], _) => rest,
            _ => line,
        };
        match (line, wanted) {
            ([one, rest @ ..], [other, others @ ..]) if one == other => (line, wanted) = (rest, others),
            _ => return None,
        }
    }
}

/// The last field without its backslashes.
fn password(field: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut found = Zeroizing::new(Vec::with_capacity(field.len()));
    let mut bytes = field.iter().peekable();
    while let Some(byte) = bytes.next().filter(|byte| **byte != b':') {
        let escaped = (*byte == b'\\').then(|| bytes.next()).flatten();
        found.push(*escaped.unwrap_or(byte));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, host: &str, user: &str) -> Option<String> {
        let asked = Asked { host, port: 5432, database: "infra", user };
        find(text.as_bytes(), &asked).map(|found| String::from_utf8(found.to_vec()).expect("UTF-8"))
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        let text = "# db:5432:infra:anna:of a comment\n\
                    db:5432:infra:ben:one\n\
                    db:5433:infra:anna:of another port\n\
                    db:5432:infr:anna:of another database\n\
                    db:5432:infra:anna:two\r\n\
                    *:*:*:anna:three\n\
                    *:5432:*:*:four";
        for (host, user, wanted) in [
            ("db", "ben", Some("one")),
            ("db", "anna", Some("two")),
            ("other", "anna", Some("three")),
            ("other", "cleo", Some("four")),
            ("d", "an", Some("four")),
        ] {
            assert_eq!(of(text, host, user).as_deref(), wanted, "{host} {user}");
        }
        assert_eq!(of("db:5432:infra:anna", "db", "anna"), None, "a line without a password");
        assert_eq!(of("db:5432:infra:anna:", "db", "anna"), None, "an empty one");
        assert_eq!(of(" #\n\n:\n:::::\nx", "db", "anna"), None);
        assert_eq!(of("*db:*:*:*:a star is one only where it stands alone", "db", "anna"), None);
    }

    #[test]
    fn a_backslash_takes_what_follows_as_it_is() {
        assert_eq!(
            of(r"\:\:1:5432:infra:an\\na:co\:lon\\ and \x:ignored", "::1", r"an\na").as_deref(),
            Some(r"co:lon\ and x")
        );
        assert_eq!(of(r"\*:5432:infra:anna:x", "db", "anna"), None, "a star that is escaped is a star");
        assert_eq!(of(r"\*:5432:infra:anna:x", "*", "anna").as_deref(), Some("x"));
        assert_eq!(of("db:5432:infra:anna:end\\", "db", "anna").as_deref(), Some("end\\"));
        assert_eq!(of("db:5432:infra:anna\\", "db", "anna"), None);
    }

    #[test]
    fn a_file_that_others_may_open_is_left_out() {
        let room = tempfile::tempdir().expect("a folder");
        let path = room.path().join("pgpass");
        assert!(matches!(Passfile::open(&path), Passfile::Absent));
        fs::write(&path, "*:*:*:*:sesame").expect("a file");
        for (mode, read) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o610, false)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
            assert_eq!(matches!(Passfile::open(&path), Passfile::Read(_)), read, "{mode:o}");
        }
        assert!(matches!(Passfile::open(room.path()), Passfile::LeftOut("it is no plain file")));
    }
}
