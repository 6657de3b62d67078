//! `docs/output.md` as data: the keys of each section, and its examples.

use std::collections::BTreeSet;
use std::fmt;
use suil::base::Plain;

/// The way to a value: keys, and `[]` for the items of a list.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Path(Vec<String>);

/// A documented way: a step in capitals is any key, and `*` at the end is whatever lies below.
#[derive(Clone, Debug)]
pub struct Key(Vec<String>);

pub struct Manual {
    /// The keys of every result.
    pub common: Vec<Key>,
    /// Commands that have no result for programs.
    pub shapeless: BTreeSet<String>,
    sections: Vec<Section>,
}

struct Section {
    title: String,
    keys: Vec<Key>,
    examples: Vec<Plain>,
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(".").replace(".[]", "[]"))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Path(self.0.clone()).fmt(f)
    }
}

impl Key {
    fn parse(text: &str) -> Key {
        Key(text.replace("[]", ".[]").split('.').map(str::to_owned).collect())
    }

    /// True where `path` is this way, or lies on it.
    pub fn covers(&self, path: &Path) -> bool {
        let open = self.0.last().is_some_and(|step| step == "*");
        let steps = path.0.iter().enumerate();
        steps.into_iter().all(|(n, step)| match self.0.get(n) {
            Some(_) if open && n + 1 >= self.0.len() => true,
            Some(wanted) => fits(wanted, step),
            None => open,
        })
    }

    /// True where `path` is the whole of this way.
    pub fn is(&self, path: &Path) -> bool {
        let steps = self.0.iter().filter(|step| *step != "*").count();
        self.covers(path) && (path.0.len() == steps || path.0.len() > steps && steps < self.0.len())
    }
}

fn fits(wanted: &str, step: &str) -> bool {
    let any = wanted.chars().all(|c| c.is_ascii_uppercase()) && step != "[]";
    any || wanted == step
}

/// Every way that a value has.
pub fn paths(value: &Plain) -> BTreeSet<Path> {
    fn walk(value: &Plain, above: &mut Vec<String>, found: &mut BTreeSet<Path>) {
        let mut step = |name: &str, value: &Plain| {
            above.push(name.to_owned());
            found.insert(Path(above.clone()));
            walk(value, above, found);
            above.pop();
        };
        match value {
            Plain::Map(map) => map.iter().for_each(|(key, value)| step(key, value)),
            Plain::List(list) => list.iter().for_each(|value| step("[]", value)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    walk(value, &mut Vec::new(), &mut found);
    found
}

impl Manual {
    pub fn read() -> Manual {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/output.md");
        Manual::parse(&std::fs::read_to_string(path).expect("docs/output.md"))
    }

    pub fn parse(text: &str) -> Manual {
        let mut manual = Manual { common: Vec::new(), shapeless: BTreeSet::new(), sections: Vec::new() };
        for part in text.split("\n## ").skip(1) {
            let (title, body) = part.split_once('\n').unwrap_or((part, ""));
            let keys: Vec<Key> = body.lines().filter_map(|line| key(line, "| `", "` |")).map(Key::parse).collect();
            match title {
                "Every result" => manual.common = keys,
                "Without a result" => {
                    let named = body.lines().filter_map(|line| key(line, "- `suil ", "`"));
                    manual.shapeless.extend(named.map(str::to_owned));
                }
                title if title.starts_with('`') => {
                    let fences = body.split("```json\n").skip(1).filter_map(|rest| rest.split("\n```").next());
                    let examples = fences.flat_map(|text| documents(title, text)).collect();
                    manual.sections.push(Section { title: title.to_owned(), keys, examples });
                }
                _ => {}
            }
        }
        manual
    }

    pub fn shape(&self, title: &str) -> Option<&[Key]> {
        self.sections.iter().find(|section| section.title == title).map(|section| section.keys.as_slice())
    }

    pub fn sections(&self) -> impl Iterator<Item = &str> {
        self.sections.iter().map(|section| section.title.as_str())
    }

    /// Sections and keys that stand there twice.
    pub fn repeated(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let all = self.sections.iter().flat_map(|section| {
            let keys = section.keys.iter().map(|key| format!("{}: `{key}`", section.title));
            std::iter::once(section.title.clone()).chain(keys)
        });
        all.filter(|name| !seen.insert(name.clone())).collect()
    }

    /// The commands that sections are about; one of a file is about none.
    pub fn commands(&self) -> BTreeSet<String> {
        let named = self.sections().flat_map(|title| title.split("`, `"));
        let named = named.filter_map(|name| name.trim_matches('`').strip_prefix("suil "));
        let word = |word: &&str| !word.starts_with('-') && word.chars().any(|c| c.is_ascii_lowercase());
        named.map(|name| name.split(' ').take_while(word).collect::<Vec<_>>().join(" ")).collect()
    }

    pub fn examples(&self) -> impl Iterator<Item = (&str, &[Key], &Plain)> {
        self.sections
            .iter()
            .flat_map(|section| section.examples.iter().map(|e| (section.title.as_str(), section.keys.as_slice(), e)))
    }
}

/// One JSON document, or one a line.
fn documents(title: &str, text: &str) -> Vec<Plain> {
    match Plain::from_json(text) {
        Ok(value) => vec![value],
        Err(_) => text
            .lines()
            .map(|line| Plain::from_json(line).unwrap_or_else(|e| panic!("an example of {title}: {e}\n{line}")))
            .collect(),
    }
}

fn key<'a>(line: &'a str, before: &str, after: &str) -> Option<&'a str> {
    line.strip_prefix(before)?.split_once(after).map(|(key, _)| key)
}
