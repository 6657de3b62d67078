//! The probe: what a session says about its node with its first word.

use super::release::{Release, assignments, families, family, release};
use crate::base::{Plain, Problem};

/// What kind of system a node is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Probe {
    /// `debian`, `redhat`, `suse`, `alpine` or `arch`.
    pub family: String,
    pub release: Release,
    /// `ID` of its os-release.
    pub id: String,
    /// `PRETTY_NAME`, or the `ID`.
    pub pretty: String,
    /// The login shell of the login user.
    pub shell: String,
    /// True where the session acts as root.
    pub root: bool,
    /// Why the release is `rolling`, where the system is none that is known to be.
    pub warning: Option<String>,
}

impl Probe {
    /// As `facts/<node>/suil.yaml` keeps it under `facts`.
    pub fn to_plain(&self) -> Plain {
        Plain::from_iter([
            ("family", Plain::from(&self.family)),
            ("release", Plain::from(self.release)),
            ("id", Plain::from(&self.id)),
            ("pretty", Plain::from(&self.pretty)),
            ("shell", Plain::from(&self.shell)),
        ])
    }
}

/// The first word of a session, not yet judged.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Greeting {
    /// The number of the user that the session acts as.
    pub acts_as: String,
    pub shell: String,
    /// The name of the login user.
    pub user: String,
    /// Sessions that ended while they guarded the access: whether they took everything back, and their names.
    pub taken: Vec<(bool, String)>,
    /// Path and content of the os-release that was found.
    pub release: Option<(String, Vec<u8>)>,
}

impl Greeting {
    pub fn parse(bytes: &[u8]) -> Greeting {
        let mut greeting = Greeting::default();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|b| *b == b'\n') {
            let line = String::from_utf8_lossy(rest.get(..end).unwrap_or_default()).into_owned();
            rest = rest.get(end + 1..).unwrap_or_default();
            match line.split_once(' ') {
                Some(("acts-as", value)) => greeting.acts_as = value.to_owned(),
                Some(("shell", value)) => greeting.shell = value.to_owned(),
                Some(("user", value)) => greeting.user = value.to_owned(),
                Some(("taken", value)) => {
                    let (word, name) = value.split_once(' ').unwrap_or((value, ""));
                    greeting.taken.push((word == "back", name.to_owned()));
                }
                Some(("os-release", path)) => {
                    greeting.release = Some((path.to_owned(), rest.to_vec()));
                    break;
                }
                _ => {}
            }
        }
        greeting
    }

    /// Judges the os-release.
    ///
    /// # Errors
    /// There is none, it says nothing, or it names a system of no known family.
    pub fn probe(&self, node: &str) -> Result<Probe, Problem> {
        let Some((path, content)) = &self.release else {
            return Err(Problem::new(format!(
                "node `{node}`: neither `/etc/os-release` nor `/usr/lib/os-release` is there"
            ))
            .expected("expected one that names the system"));
        };
        let fields = assignments(content);
        let field = |name: &str| fields.get(name).map_or("", String::as_str);
        let id = field("ID");
        if id.is_empty() {
            let first = content.get(..content.len().min(24)).unwrap_or_default().escape_ascii();
            let found = if content.is_empty() { "an empty file".to_owned() } else { format!("`{first}`") };
            return Err(Problem::new(format!("node `{node}`: `{path}` does not name a system"))
                .expected(format!("expected a line `ID=…`, found {found}")));
        }
        let Some(family) = family(id, field("ID_LIKE")) else {
            let what = format!("node `{node}`: the system `{id}` is of no family that suil knows");
            return Err(Problem::new(what)
                .expected(format!("expected one of {}, by `ID` or `ID_LIKE` in `{path}`", families())));
        };
        let release = release(family, id, field("VERSION_ID"));
        let codename = field("VERSION_CODENAME");
        let warning = (release == Release::Rolling && family != "arch" && id != "opensuse-tumbleweed").then(|| {
            let name = [field("PRETTY_NAME"), codename, id].into_iter().find(|name| !name.is_empty());
            format!("no VERSION_ID ({})", name.unwrap_or_default())
        });
        let pretty = if field("PRETTY_NAME").is_empty() { id } else { field("PRETTY_NAME") };
        Ok(Probe {
            family: family.to_owned(),
            release,
            id: id.to_owned(),
            pretty: pretty.to_owned(),
            shell: self.shell.clone(),
            root: self.acts_as == "0",
            warning,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn probe(file: &str) -> Result<Probe, Problem> {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/open/O01-os-release/input/os-release").join(file);
        let content = std::fs::read(path).expect("the case");
        let greeting = Greeting { release: Some(("/etc/os-release".into(), content)), ..Greeting::default() };
        greeting.probe("node")
    }

    /// The case wants an error for Alpine and Arch; DESIGN.md names them as families, and DESIGN.md wins.
    #[test]
    fn os_release_files_give_family_and_release() {
        for (file, want_family, want_release) in [
            ("ubuntu-24.04", "debian", "24"),
            ("debian-12", "debian", "12"),
            ("debian-testing", "debian", "rolling"),
            ("rocky-9", "redhat", "9"),
            ("rhel-10-single-quotes", "redhat", "10"),
            ("centos-stream-10", "redhat", "10"),
            ("fedora-43", "redhat", "43"),
            ("amazon-2023", "redhat", "2023"),
            ("derivative-like", "debian", "7"),
            ("odd-spelling", "debian", "12"),
            ("arch", "arch", "rolling"),
            ("alpine-3.22", "alpine", "3"),
        ] {
            let probe = probe(file).expect(file);
            assert_eq!(
                (probe.family.as_str(), probe.release.to_string().as_str()),
                (want_family, want_release),
                "{file}"
            );
        }
        let testing = probe("debian-testing").expect("debian-testing");
        assert_eq!(testing.warning.as_deref(), Some("no VERSION_ID (Debian GNU/Linux forky/sid)"));
    }

    #[test]
    fn a_system_that_is_not_known_is_named_with_what_is() {
        let problem = probe("derivative-no-like").expect_err("no family");
        assert!(problem.what.contains("`acme`") && problem.expected.is_some_and(|text| text.contains("`suse`")));
        let noise = probe("binary-noise").expect_err("noise").expected.unwrap_or_default();
        assert!(noise.contains(r"\x00\x01ID"), "{noise}");
        assert!(probe("empty").expect_err("empty").expected.unwrap_or_default().contains("an empty file"));
        let none = Greeting::default().probe("node").expect_err("none");
        assert!(none.what.contains("/etc/os-release") && none.what.contains("/usr/lib/os-release"));
    }
}
