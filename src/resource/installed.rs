//! What the package databases of dpkg, rpm and apk say of one package.

use super::Fields;

/// How a package stands on a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum State {
    #[default]
    Absent,
    /// Removed, its configuration is still there (dpkg only).
    Leftovers,
    Installed,
    /// In the words of dpkg: `half-configured`, `half-installed`, …
    Broken(String),
}

/// One package, in all the versions and architectures that are there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Installed {
    pub state: State,
    pub versions: Vec<String>,
    pub held: bool,
    /// The packages that stand in for a virtual name.
    pub provided_by: Vec<String>,
}

impl Installed {
    /// Reads an answer to `package NAME`.
    ///
    /// # Errors
    /// The answer names a tool that is not known, or none.
    pub fn read(fields: &Fields) -> Result<Installed, String> {
        let lines = fields.text("lines").unwrap_or_default();
        let mut installed = match fields.text("tool").as_deref() {
            Some("apt") => dpkg(&lines),
            Some("rpm") => rpm(&lines),
            Some("apk") => apk(&lines),
            other => return Err(format!("the node answered with the package tool `{}`", other.unwrap_or(""))),
        };
        installed.provided_by =
            fields.text("provided_by").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
        Ok(installed)
    }

    fn version(&mut self, version: &str) {
        if !version.is_empty() && !self.versions.iter().any(|known| known == version) {
            self.versions.push(version.to_owned());
        }
    }

    /// The versions as a diff shows them.
    pub fn shown(&self) -> Option<String> {
        match &self.state {
            State::Absent => None,
            State::Leftovers => Some("configuration files only".to_owned()),
            State::Installed => Some(self.versions.join(", ")),
            State::Broken(words) => Some(format!("{words}, needs repair")),
        }
    }
}

/// Lines of `name want eflag status version arch`, parted by tabs. One broken architecture makes the package broken.
pub fn dpkg(lines: &str) -> Installed {
    let mut out = Installed::default();
    for line in lines.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [_, want, flag, status, version, _] = fields.as_slice() else { continue };
        out.held |= *want == "hold";
        let state = match (*flag, *status) {
            (_, "not-installed") => continue,
            (_, "config-files") => State::Leftovers,
            // Triggers are settled by the next run of dpkg: the package itself is whole.
            ("ok", "installed" | "triggers-awaited" | "triggers-pending") => State::Installed,
            (_, status) => State::Broken(status.to_owned()),
        };
        if state != State::Leftovers {
            out.version(version);
        }
        out.state = match (std::mem::take(&mut out.state), state) {
            (broken @ State::Broken(_), _) => broken,
            (State::Installed, State::Leftovers) => State::Installed,
            (_, state) => state,
        };
    }
    out
}

/// Lines of `name epoch version release arch`, parted by tabs, a sign in front. Words have no tabs and say nothing.
pub fn rpm(lines: &str) -> Installed {
    let mut out = Installed::default();
    for line in lines.lines() {
        let fields: Vec<&str> = line.strip_prefix("=\t").unwrap_or(line).split('\t').collect();
        let [name, epoch, version, release, _] = fields.as_slice() else { continue };
        // Imported keys stand in the database as packages of this name.
        if *name == "gpg-pubkey" {
            continue;
        }
        out.state = State::Installed;
        match *epoch {
            "0" => out.version(&format!("{version}-{release}")),
            epoch => out.version(&format!("{epoch}:{version}-{release}")),
        }
    }
    out
}

/// Lines of `name version arch`, parted by tabs.
pub fn apk(lines: &str) -> Installed {
    let mut out = Installed::default();
    for line in lines.lines() {
        let mut fields = line.split('\t').skip(1);
        out.state = State::Installed;
        out.version(fields.next().unwrap_or_default());
    }
    out
}

/// True where `found` is the version that is wanted. A star stands for any text; a wanted rpm version may leave out
/// the epoch and the release.
pub fn version_fits(tool: &str, wanted: &str, found: &str) -> bool {
    let bare = found.split_once(':').map_or(found, |(_, rest)| rest);
    let fits = |candidate: &str| fits_pattern(wanted, candidate);
    match tool {
        "rpm" => fits(found) || fits(bare) || bare.rsplit_once('-').is_some_and(|(version, _)| fits(version)),
        _ => fits(found),
    }
}

fn fits_pattern(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Plain;
    use std::path::PathBuf;

    fn case(name: &str) -> String {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/open/O02-package-queries");
        std::fs::read_to_string(folder.join(name)).expect("the case is there")
    }

    /// The lines that `facts_package` picks for a name.
    fn lines_of(text: &str, name: &str) -> String {
        let picked = text.lines().filter(|line| {
            let first = line.split('\t').next().unwrap_or_default();
            line.contains('\t') && (first == name || first.starts_with(&format!("{name}:")))
        });
        picked.map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn recorded_answers_of_dpkg_count_as_the_case_says() {
        let expect = Plain::from_json(&case("expect.json")).expect("json");
        let text = case("input/dpkg-query.txt");
        let names = expect.at(&["installed"]).and_then(Plain::as_map).expect("names");
        assert!(names.len() > 10);
        let mut held = Vec::new();
        for (name, want) in names {
            let found = dpkg(&lines_of(&text, name));
            let shown = match found.state {
                State::Installed => Plain::Bool(true),
                State::Broken(_) => Plain::from("broken"),
                State::Absent | State::Leftovers => Plain::Bool(false),
            };
            assert_eq!(&shown, want, "{name}");
            if found.held {
                held.push(Plain::from(name));
            }
        }
        assert_eq!(expect.get("held").and_then(Plain::as_list), Some(held.as_slice()));
        assert_eq!(dpkg(&lines_of(&text, "git")).versions, ["1:2.39.2-1.1"]);
        assert_eq!(dpkg(&lines_of(&text, "nginx")).state, State::Leftovers);
        assert_eq!(dpkg(&lines_of(&text, "postgresql-15")).shown().as_deref(), Some("half-configured, needs repair"));
        assert_eq!(dpkg(&lines_of(&text, "libc6")).versions, ["2.36-9"], "both architectures are of one version");
    }

    #[test]
    fn recorded_answers_of_rpm_keep_every_version_and_no_words() {
        let text = case("input/rpm-q.txt");
        let kernel = rpm(&lines_of(&text, "kernel-core"));
        assert_eq!(kernel.versions, ["5.14.0-427.13.1.el9_4", "5.14.0-427.20.1.el9_4"]);
        let perl = lines_of(&text, "perl-libs");
        assert_eq!(perl.lines().count(), 2);
        assert_eq!(rpm(&perl).versions, ["4:5.32.1-481.el9"]);
        assert_eq!(rpm(&lines_of(&text, "gpg-pubkey")).state, State::Absent);
        let words: String = text.lines().filter(|line| !line.contains('\t')).map(|line| format!("{line}\n")).collect();
        assert!(words.contains("nosuch") && words.contains("nginx"));
        assert_eq!(rpm(&words).state, State::Absent);
    }

    #[test]
    fn a_wanted_version_fits_by_star_and_for_rpm_without_release() {
        for (tool, wanted, found, fits) in [
            ("apt", "1.1", "1.1", true),
            ("apt", "1.1", "1.1-1", false),
            ("apt", "1.1*", "1.1-1", true),
            ("apt", "1:2.*-1", "1:2.39-1", true),
            ("apt", "1.*.3*5", "1.2.3.4.5", true),
            ("apt", "1.*.3*5", "1.2.3.4.6", false),
            ("apt", "*", "1.1", true),
            ("rpm", "1.1", "1.1-1.el9", true),
            ("rpm", "1.1-1.el9", "4:1.1-1.el9", true),
            ("rpm", "1", "1.1-1.el9", false),
            ("apk", "1.1-r0", "1.1-r0", true),
        ] {
            assert_eq!(version_fits(tool, wanted, found), fits, "{tool} {wanted} {found}");
        }
    }
}
