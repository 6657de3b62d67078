//! Settings: from the environment, then from `.env` in the workspace. The only reader of the environment.

use crate::base::{FileId, Place, Problem, Problems, nearest::nearest};
use crate::data::tree::Environment;
use crate::infra::store::{self, Server};
use crate::ui::Colour;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// All settings.
pub const NAMES: [&str; 9] = [
    "SUIL_AGE_KEY",
    "SUIL_AGE_KEY_FILE",
    "SUIL_AGE_RECIPIENT",
    "SUIL_KEY_PASSPHRASE",
    "SUIL_SUDO_PASSWORD",
    "SUIL_STORE",
    "SUIL_TOKEN",
    "SUIL_LOG_COLOR",
    "NO_COLOR",
];

/// What the environment and `.env` say. An empty value is no value, and one in the environment hides `.env`.
#[derive(Default)]
pub struct Settings {
    /// age identities, one a line.
    pub age_key: Option<Zeroizing<String>>,
    /// A file of age identities. A relative path of `.env` starts at the workspace.
    pub age_key_file: Option<PathBuf>,
    /// Recipients, separated by commas.
    pub age_recipient: Option<String>,
    /// What opens a private key of envelopes.
    pub key_passphrase: Option<Zeroizing<String>>,
    pub sudo_password: Option<Zeroizing<String>>,
    /// The server of the store of `infra`.
    pub store: Option<Server>,
    /// What `suil serve` demands.
    pub token: Option<Zeroizing<String>>,
    pub colour: Colour,
}

impl std::fmt::Debug for Settings {
    /// Never the key or the password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Settings")
    }
}

impl Settings {
    /// Reads the settings for the workspace at `root`.
    ///
    /// # Errors
    /// `.env` is there and cannot be read, or has a line that is no assignment.
    pub fn read(root: &Path) -> Result<Settings, Problems> {
        Ok(Settings::with(&dotenv(root)?, root))
    }

    /// Reads the settings of the environment alone.
    pub fn environment() -> Settings {
        Settings::with(&BTreeMap::new(), Path::new("."))
    }

    fn with(file: &BTreeMap<String, Zeroizing<String>>, root: &Path) -> Settings {
        let get = |name: &str| environment(name).or_else(|| file.get(name).cloned()).filter(|v| !v.is_empty());
        let key_file = match environment("SUIL_AGE_KEY_FILE") {
            Some(path) => Some(path).filter(|p| !p.is_empty()).map(|p| home(&p)),
            None => file.get("SUIL_AGE_KEY_FILE").filter(|p| !p.is_empty()).map(|p| root.join(home(p))),
        };
        Settings {
            age_key: get("SUIL_AGE_KEY"),
            age_key_file: key_file,
            age_recipient: get("SUIL_AGE_RECIPIENT").map(|v| v.to_string()),
            key_passphrase: get("SUIL_KEY_PASSPHRASE"),
            sudo_password: get("SUIL_SUDO_PASSWORD"),
            store: get("SUIL_STORE").map(server),
            token: get("SUIL_TOKEN"),
            colour: colour_of(get("SUIL_LOG_COLOR").as_deref().map(String::as_str), get("NO_COLOR").is_some()),
        }
    }
}

/// The colour setting of the environment alone, for what is printed before there is a workspace.
pub fn colour() -> Colour {
    let set = |name| environment(name).filter(|v| !v.is_empty());
    colour_of(set("SUIL_LOG_COLOR").as_deref().map(String::as_str), set("NO_COLOR").is_some())
}

/// `SUIL_LOG_COLOR` is suil's own and therefore stronger than `NO_COLOR`, which speaks to every program.
fn colour_of(suil: Option<&str>, no_color: bool) -> Colour {
    match suil.map(str::to_ascii_lowercase).as_deref() {
        Some("1" | "true" | "yes" | "on" | "always") => Colour::Always,
        Some("0" | "false" | "no" | "off" | "never") => Colour::Never,
        _ if no_color => Colour::Never,
        _ => Colour::Auto,
    }
}

#[allow(clippy::disallowed_methods)]
fn environment(name: &str) -> Option<Zeroizing<String>> {
    std::env::var_os(name).map(|value| Zeroizing::new(value.to_string_lossy().into_owned()))
}

/// A server of the store with what libpq's environment says beside its address.
fn server(url: Zeroizing<String>) -> Server {
    let variables = store::server::VARIABLES.into_iter().filter_map(|name| Some((name, environment(name)?)));
    let passwords = environment("HOME").map(|_| home("~/.pgpass"));
    Server { url, variables: variables.collect(), passwords }
}

/// A variable that suil only hands on, such as the socket of the ssh agent.
pub fn variable(name: &str) -> Option<String> {
    environment(name).map(|value| value.to_string()).filter(|value| !value.is_empty())
}

/// What the environment tells git.
pub fn git() -> Environment {
    let of_git = |(name, value): (String, Zeroizing<String>)| {
        name.starts_with("GIT_").then(|| format!("{name}={}", value.as_str()))
    };
    let mut variables: Vec<String> = all().into_iter().filter_map(of_git).collect();
    variables.sort();
    let path = |name: &str| variable(name).map(PathBuf::from);
    Environment { home: path("HOME"), settings: path("XDG_CONFIG_HOME"), variables }
}

/// The whole environment: what must not be told is known by its names.
#[allow(clippy::disallowed_methods)]
pub fn all() -> Vec<(String, Zeroizing<String>)> {
    let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
    std::env::vars_os().map(|(name, value)| (text(name), Zeroizing::new(text(value)))).collect()
}

/// `~/x` is in the home folder, as in a shell.
pub fn home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), environment("HOME")) {
        (Some(rest), Some(home)) => Path::new(home.as_str()).join(rest),
        _ => PathBuf::from(path),
    }
}

/// The assignments of `.env`. Names that are not suil's are left to whoever they are meant for.
fn dotenv(root: &Path) -> Result<BTreeMap<String, Zeroizing<String>>, Problems> {
    let path = root.join(".env");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => Zeroizing::new(text),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(e) => return Err(Problem::io("read", Path::new(".env"), &e).into()),
    };
    let mut found = BTreeMap::new();
    let mut problems = Problems::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.trim();
        let assignment = line.strip_prefix("export ").unwrap_or(line);
        if assignment.is_empty() || assignment.starts_with('#') {
            continue;
        }
        // The text may hold a key, so no problem shows the line: the place alone.
        let place = Place { file: FileId::new(".env", ""), line: i as u32 + 1, column: 1, width: 0 };
        let Some((name, value)) = assignment.split_once('=') else {
            problems.push(Problem::new("a line of `.env` is no assignment").at(place).expected("expected NAME=value"));
            continue;
        };
        let name = name.trim();
        match NAMES.contains(&name) {
            true => {
                found.insert(name.to_owned(), Zeroizing::new(unquoted(value.trim())));
            }
            false if name.starts_with("SUIL_") => {
                let problem = Problem::new(format!("unknown setting `{name}`")).at(place);
                let all = NAMES.map(|n| format!("`{n}`")).join(", ");
                let help = nearest(name, NAMES).map_or(String::new(), |n| format!("did you mean `{n}`? "));
                problems.push(problem.help(format!("{help}the settings are {all}")));
            }
            false => {}
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

/// Takes quotes off, or a comment that stands behind a blank.
fn unquoted(value: &str) -> String {
    for quote in ['"', '\''] {
        if let Some((inside, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return inside.to_owned();
        }
    }
    value.split_once(" #").map_or(value, |(value, _)| value.trim_end()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(text: &str) -> Result<BTreeMap<String, Zeroizing<String>>, Problems> {
        let root = tempfile::tempdir().expect("folder");
        std::fs::write(root.path().join(".env"), text).expect("file");
        dotenv(root.path())
    }

    #[test]
    fn quotes_exports_and_comments_are_read_as_a_shell_would() {
        let text = "# key\nexport SUIL_AGE_KEY='AGE-SECRET-KEY-1 # x'\nSUIL_AGE_RECIPIENT=age1a,age1b # two\nOTHER=1\n\nNO_COLOR=\"\"\n";
        let found = env(text).expect("read");
        assert_eq!(found["SUIL_AGE_KEY"].as_str(), "AGE-SECRET-KEY-1 # x");
        assert_eq!(found["SUIL_AGE_RECIPIENT"].as_str(), "age1a,age1b");
        assert_eq!(found["NO_COLOR"].as_str(), "");
        assert!(!found.contains_key("OTHER"));
    }

    #[test]
    fn every_bad_line_is_named_and_none_is_shown() {
        let problems = env("AGE-SECRET-KEY-1XYZ\nSUIL_AGE_KYE=secret\n").expect_err("two problems");
        assert_eq!(problems.len(), 2);
        assert!(problems[1].help.as_deref().is_some_and(|h| h.starts_with("did you mean `SUIL_AGE_KEY`?")));
        let shown = crate::ui::problem::render_all(&problems, &crate::base::Mask::new(), crate::ui::Paint::OFF);
        assert!(!shown.contains("XYZ") && !shown.contains("secret"), "{shown}");
    }

    #[test]
    fn suils_own_colour_setting_is_stronger_than_no_color() {
        assert_eq!(colour_of(Some("always"), true), Colour::Always);
        assert_eq!(colour_of(Some("0"), false), Colour::Never);
        assert_eq!(colour_of(None, true), Colour::Never);
        assert_eq!(colour_of(Some("auto"), false), Colour::Auto);
    }
}
