//! `repository`: where packages come from: a deb822 file of apt or a .repo file of dnf, with its key; the package
//! lists follow.

use super::unit::{file_of, staged_there};
use super::*;
use crate::base::{digest, shell};
use crate::common_methods;

pub const KIND: Kind = Kind {
    name: "repository",
    attributes: &[
        "ensure",
        "uris",
        "suites",
        "components",
        "types",
        "architectures",
        "key",
        "trusted",
        "description",
        "metalink",
        "mirrorlist",
        "enabled",
    ],
    build,
    join: None,
};

#[derive(Debug)]
struct Repository {
    common: Common,
    present: bool,
    enabled: bool,
    apt: Side,
    dnf: Side,
}

/// The files of one tool, the key first.
#[derive(Debug)]
struct Side {
    files: Vec<Arc<dyn Resource>>,
    source: String,
    /// Why this tool cannot have the repository as it is described.
    lacking: Option<&'static str>,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let good = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if from.name.starts_with(['.', '-']) || !from.name.chars().all(good) {
        return Err(from
            .problem("this is no name of a repository")
            .expected("expected letters, digits, `.`, `_` and `-`: it becomes the name of a file"));
    }
    let present = from.present()?;
    let words = Words::read(from)?;
    if present && words.uris.is_empty() && words.metalink.is_none() && words.mirrorlist.is_none() {
        return Err(from.problem("`uris` is missing").expected("expected `uris = \"https://…\"`"));
    }
    let name = from.name;
    let apt_key = format!("/etc/apt/keyrings/{name}.asc");
    let dnf_key = format!("/etc/pki/rpm-gpg/RPM-GPG-KEY-{name}");
    let side = |source: String, key: &str, text: String, lacking| {
        let content = |text: &str| present.then(|| Content::Bytes(text.as_bytes().into()));
        let values = Plain::from_iter([("ensure", Plain::from(if present { "present" } else { "absent" }))]);
        let mut files = Vec::new();
        if words.key.is_some() || !present {
            files.push(file_of(from, key, content(words.key.as_deref().unwrap_or_default()), &values)?);
        }
        files.push(file_of(from, &source, content(&text), &values)?);
        Ok::<_, Problem>(Side { files, source, lacking })
    };
    let no_suites = words.suites.is_empty().then_some("`suites`");
    Ok(Arc::new(Repository {
        apt: side(format!("/etc/apt/sources.list.d/{name}.sources"), &apt_key, words.deb822(&apt_key), no_suites)?,
        dnf: side(format!("/etc/yum.repos.d/{name}.repo"), &dnf_key, words.repo(name, &dnf_key), None)?,
        common: from.common(name)?,
        enabled: words.enabled,
        present,
    }))
}

/// The attributes as they go into the files.
struct Words {
    uris: Vec<String>,
    suites: Vec<String>,
    components: Vec<String>,
    types: Vec<String>,
    architectures: Vec<String>,
    key: Option<String>,
    trusted: bool,
    enabled: bool,
    description: Option<String>,
    metalink: Option<String>,
    mirrorlist: Option<String>,
}

impl Words {
    fn read(from: &Attributes<'_>) -> Result<Words, Problem> {
        let words = |key: &str| {
            let list = from.list(key)?.unwrap_or_default();
            match list.iter().find(|word| word.is_empty() || word.contains(char::is_whitespace)) {
                Some(bad) => Err(from
                    .problem(&format!("`{key}` holds `{}`", bad.escape_debug()))
                    .expected("expected words without blanks")),
                None => Ok(list),
            }
        };
        let key = from.text("key")?.map(|key| format!("{}\n", key.trim_end()));
        if key.as_ref().is_some_and(|key| !key.contains("-----BEGIN PGP PUBLIC KEY BLOCK-----")) {
            return Err(from
                .problem("`key` is no public key")
                .expected("expected the text of an armored PGP public key"));
        }
        Ok(Words {
            uris: words("uris")?,
            suites: words("suites")?,
            components: words("components")?,
            types: Some(words("types")?).filter(|types| !types.is_empty()).unwrap_or_else(|| vec!["deb".to_owned()]),
            architectures: words("architectures")?,
            key,
            trusted: from.boolean("trusted")?.unwrap_or(false),
            enabled: from.boolean("enabled")?.unwrap_or(true),
            description: from.line("description")?,
            metalink: from.line("metalink")?,
            mirrorlist: from.line("mirrorlist")?,
        })
    }

    fn deb822(&self, key: &str) -> String {
        let mut text = String::new();
        let mut line = |name: &str, words: &[String]| {
            if !words.is_empty() {
                text.push_str(&format!("{name}: {}\n", words.join(" ")));
            }
        };
        line("Types", &self.types);
        line("URIs", &self.uris);
        line("Suites", &self.suites);
        line("Components", &self.components);
        line("Architectures", &self.architectures);
        if self.key.is_some() {
            line("Signed-By", &[key.to_owned()]);
        }
        if self.trusted {
            line("Trusted", &["yes".to_owned()]);
        }
        if !self.enabled {
            line("Enabled", &["no".to_owned()]);
        }
        text
    }

    fn repo(&self, name: &str, key: &str) -> String {
        let mut text = format!("[{name}]\nname={}\n", self.description.as_deref().unwrap_or(name));
        if !self.uris.is_empty() {
            text.push_str(&format!("baseurl={}\n", self.uris.join("\n        ")));
        }
        for (word, value) in [("metalink", &self.metalink), ("mirrorlist", &self.mirrorlist)] {
            if let Some(value) = value {
                text.push_str(&format!("{word}={value}\n"));
            }
        }
        text.push_str(&format!("enabled={}\n", u8::from(self.enabled)));
        text.push_str(&format!("gpgcheck={}\n", u8::from(!self.trusted)));
        if self.key.is_some() {
            text.push_str(&format!("gpgkey=file://{key}\n"));
        }
        text
    }
}

impl Resource for Repository {
    common_methods!("repository");

    fn requests(&self) -> Vec<Request> {
        self.apt.files.iter().chain(&self.dnf.files).flat_map(|file| file.requests()).collect()
    }

    fn wanted(&self) -> Plain {
        let files = self.apt.files.iter().chain(&self.dnf.files);
        files.map(|file| (file.name().to_owned(), file.wanted())).collect()
    }

    fn texts(&self) -> Vec<(String, String)> {
        self.apt.files.iter().chain(&self.dnf.files).flat_map(|file| file.texts()).collect()
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let (side, tool) = match facts.family.as_str() {
            "debian" => (&self.apt, "apt"),
            "redhat" => (&self.dnf, "dnf"),
            family => return Err(self.problem(&format!("repositories are not supported yet on family `{family}`"))),
        };
        if let Some(lacking) = side.lacking.filter(|_| self.present) {
            return Err(self.problem(&format!("{lacking} is missing")).expected("expected it for a repository of apt"));
        }
        let mut ahead = ahead.clone();
        for file in &side.files {
            // The script makes the folder of a key.
            ahead.brought.insert(Brought::Path(path::parent(file.name()).to_owned()));
        }
        let mut changes = Vec::new();
        for file in &side.files {
            changes.extend(file.compare(facts, &ahead, force)?);
        }
        Ok(self.as_one(changes, side, tool).into_iter().collect())
    }

    fn settle(&self, facts: &mut Facts) {
        let side = if facts.family == "redhat" { &self.dnf } else { &self.apt };
        for file in &side.files {
            file.settle(facts);
        }
    }
}

impl Repository {
    /// Key and source are one operation, which fetches the lists and puts everything back where that fails: else
    /// the next run would find nothing to do.
    fn as_one(&self, changes: Vec<Change>, side: &Side, tool: &str) -> Option<Change> {
        let verb = changes.last()?.verb;
        let mut out = Change { verb, brings: vec![Brought::Repository(self.name().to_owned())], ..Change::default() };
        let word = match verb {
            Verb::Create => "add",
            Verb::Remove => "remove",
            _ => "change",
        };
        out.title = format!("{word} repository {}", self.name());
        let paths: Vec<&str> = side.files.iter().map(|file| file.name()).collect();
        let mut script = format!("repository_keep {}\n", shell::join(paths));
        for change in changes {
            let first = out.action.uploads.len();
            let path = change.title.split(' ').next_back().unwrap_or_default();
            let told = change.diff.attributes.into_iter().filter(|attribute| attribute.before.is_some());
            let told = told.map(|attribute| Attribute { name: format!("{path} {}", attribute.name), ..attribute });
            out.diff.attributes.extend(told);
            match change.diff.text {
                // A key says nothing to the eye.
                Some(text) if path != side.source => {
                    let digest = |text: &str| {
                        format!("sha256 {}", digest::sha256(text.as_bytes()).chars().take(12).collect::<String>())
                    };
                    let before = Some(&text.before).filter(|before| !before.is_empty());
                    out.diff = out.diff.attribute(path, before.map(|text| digest(text)), Some(digest(&text.after)));
                }
                Some(text) => out.diff.text = Some(text),
                None => {}
            }
            let action = staged_there(change.action);
            out.action.uploads.extend(action.uploads);
            // Each part runs as a script of its own, with its own upload as `$1`.
            let own: String = (first..out.action.uploads.len()).map(|i| format!(" \"${{{}}}\"", i + 1)).collect();
            script.push_str(&format!("part() (\n{})\npart{own}\n", action.script));
        }
        if self.present && self.enabled {
            script.push_str(&format!("repository_lists {tool} {} {}\n", shell::quote(&side.source), self.name()));
        }
        script.push_str("repository_done\n");
        out.action.script = script;
        Some(out)
    }

    fn problem(&self, what: &str) -> Problem {
        let problem = Problem::new(format!("repository `{}`: {what}", self.name()));
        match self.common.place {
            Some(place) => problem.at(place),
            None => problem,
        }
    }
}
