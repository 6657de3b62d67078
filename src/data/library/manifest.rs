//! `modules.yaml`: which modules a workspace uses, and where they come from.

use crate::base::{FileId, Place, Problem, Problems, Result, nearest::nearest};
use crate::data::{Kind, Tree, Value, load};
use std::collections::BTreeMap;

const FILE: &str = "modules.yaml";
const EXAMPLE: &str = "expected entries such as `- {repo: local, modules: [nginx]}`";

/// What `modules.yaml` declares.
pub struct Manifest {
    pub modules: BTreeMap<String, Declared>,
    pub place: Place,
}

/// One declared module.
pub struct Declared {
    pub repo: String,
    /// `None` for a module of `repo: local`.
    pub version: Option<String>,
    pub place: Place,
}

impl Manifest {
    /// Reads the manifest of a workspace; `None` where it has none.
    ///
    /// # Errors
    /// All that is wrong in it.
    pub fn read(tree: &dyn Tree) -> Result<Option<Manifest>> {
        let shown = tree.shown(FILE);
        let bytes = match tree.read(FILE) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Problem::io("read", &shown, &error).into()),
        };
        let Some(file) = load(&shown, &bytes)?.map(|file| file.settle()).transpose()?.flatten() else {
            let place = Place::start(FileId::new(shown, String::from_utf8_lossy(&bytes).into_owned()));
            return Err(no_repos(place).into());
        };
        let mut manifest = Manifest { modules: BTreeMap::new(), place: file.place };
        let mut problems = Problems::new();
        known_keys(&file, &["repos"], &mut problems);
        match file.get("repos") {
            None => problems.push(no_repos(file.place)),
            Some(repos) => match repos.list() {
                None => problems.push(wrong("`repos`", repos, EXAMPLE)),
                Some(repos) => repos.iter().for_each(|repo| manifest.repo(repo, &mut problems)),
            },
        }
        if problems.is_empty() { Ok(Some(manifest)) } else { Err(problems) }
    }

    fn repo(&mut self, entry: &Value, problems: &mut Problems) {
        if entry.map().is_none() {
            return problems.push(wrong("an entry of `repos`", entry, EXAMPLE));
        }
        known_keys(entry, &["repo", "modules"], problems);
        let repo = match entry.get("repo") {
            Some(value) => value.as_str().filter(|repo| !repo.is_empty()).map(str::to_owned).or_else(|| {
                let expected = "expected `local`, or the address of a git or http source";
                problems.push(wrong("`repo`", value, expected));
                None
            }),
            None => {
                problems.push(Problem::new("an entry of `repos` has no `repo`").at(entry.place).expected(EXAMPLE));
                None
            }
        };
        let Some(modules) = entry.get("modules") else {
            return problems
                .push(Problem::new("an entry of `repos` has no `modules`").at(entry.place).expected(EXAMPLE));
        };
        let Some(repo) = repo else { return };
        match (&modules.kind, repo == "local") {
            (Kind::List(names), true) => {
                for name in names.iter() {
                    match name.as_str() {
                        Some(text) => self.declare(text, &repo, None, name.place, problems),
                        None => problems.push(wrong("a module", name, "expected the name of a module")),
                    }
                }
            }
            (Kind::Map(versions), false) => {
                for (name, slot) in versions.iter() {
                    match version(&slot.value) {
                        Some(text) => self.declare(name, &repo, Some(text), slot.key, problems),
                        None => {
                            let expected = "expected a version, such as `'1.4.0'`";
                            problems.push(wrong(&format!("the version of `{name}`"), &slot.value, expected));
                        }
                    }
                }
            }
            (_, true) => problems.push(wrong("`modules`", modules, "expected a list of module names")),
            (_, false) => {
                let expected = "expected a version for each name, as in `modules: {nginx: '1.4.0'}`";
                let problem = wrong("`modules`", modules, expected);
                problems.push(match nearest("local", [repo.as_str()]) {
                    Some(_) => problem.help("did you mean `repo: local`?"),
                    None => problem,
                });
            }
        }
    }

    fn declare(&mut self, name: &str, repo: &str, version: Option<String>, place: Place, problems: &mut Problems) {
        if name.is_empty() || name.starts_with('.') || name.contains('/') {
            return problems.push(Problem::new(format!("`{name}` is no name of a module")).at(place));
        }
        if let Some(first) = self.modules.get(name) {
            return problems.push(
                Problem::new(format!("a module is declared twice: {name}")).at(place).note_at("first at", first.place),
            );
        }
        self.modules.insert(name.to_owned(), Declared { repo: repo.to_owned(), version, place });
    }
}

/// The version of a remote module: a text, or a mapping of `version` and `sha256`.
fn version(value: &Value) -> Option<String> {
    match value.scalar() {
        Some(scalar) if !scalar.text.is_empty() => Some(scalar.text.to_string()),
        Some(_) => None,
        None => version(value.get("version")?),
    }
}

fn no_repos(place: Place) -> Problem {
    Problem::new("`modules.yaml` has no `repos`").at(place).expected(EXAMPLE)
}

fn wrong(subject: &str, value: &Value, expected: &str) -> Problem {
    let found = match value.scalar() {
        Some(scalar) => format!("`{}`", scalar.text),
        None => value.type_name().to_owned(),
    };
    Problem::new(format!("{subject} of `modules.yaml` is {found}")).at(value.place).expected(expected)
}

fn known_keys(value: &Value, known: &[&str], problems: &mut Problems) {
    let Some(map) = value.map() else { return };
    for (key, slot) in map.iter().filter(|(key, _)| !known.contains(&&***key)) {
        let list = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        let problem = Problem::new(format!("unknown key `{key}` in `modules.yaml`")).at(slot.key);
        let problem = problem.expected(format!("expected one of {list}"));
        problems.push(match nearest(key, known.iter().copied()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem,
        });
    }
}
