//! What a tree says about its own rendering: the file `stacks.yaml` at the root. Without it, or without a key of it,
//! layers render as the original renders them.

use crate::base::{Problem, Problems, Result, nearest::nearest};
use crate::data::{Entry, Resolved, load};
use crate::infra::hcl::Reading;
use std::path::Path;

/// The name of the file.
pub const FILE: &str = "stacks.yaml";

/// How a tree wants its layers rendered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Settings {
    /// `hcl`: whose reading of `*.tfvars` counts.
    pub reading: Reading,
    /// `markers`: `!replace` and `!delete` in values say how levels meet.
    pub markers: bool,
    /// `stacks_path: real`: the variable holds the layer's path in the tree.
    pub real_path: bool,
    /// `stacks_environments: closed`: secrets of environments stay envelopes in it.
    pub closed: bool,
    /// `declare: all`: what every file of variables in base sets is declared.
    pub declare_all: bool,
    /// `sensitive`: a variable that holds a secret is declared as such.
    pub sensitive: bool,
}

const KEYS: &[&str] = &["hcl", "markers", "stacks_path", "stacks_environments", "declare", "sensitive"];

impl Settings {
    /// Reads the file's bytes; an empty one says nothing.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(shown: &Path, bytes: &[u8]) -> Result<Settings> {
        let mut settings = Settings::default();
        let Some(value) = load(shown, bytes)?.map(|file| file.settle()).transpose()?.flatten() else {
            return Ok(settings);
        };
        let mut problems = Problems::new();
        for (name, entry) in value.map().into_iter().flatten() {
            let read = match &**name {
                "hcl" => one_of(name, entry, "terraform", "hcl2-7.2").map(|other| {
                    settings.reading = if other { Reading::Original } else { Reading::Terraform };
                }),
                "markers" => flag(name, entry).map(|on| settings.markers = on),
                "stacks_path" => one_of(name, entry, "original", "real").map(|real| settings.real_path = real),
                "stacks_environments" => one_of(name, entry, "open", "closed").map(|closed| settings.closed = closed),
                "declare" => one_of(name, entry, "original", "all").map(|all| settings.declare_all = all),
                "sensitive" => flag(name, entry).map(|on| settings.sensitive = on),
                _ => Err(unknown(name, entry)),
            };
            problems.extend(read.err());
        }
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
    }
}

/// True for the second word, false for the first.
fn one_of(name: &str, entry: &Entry, first: &str, second: &str) -> Result<bool, Problem> {
    match entry.value.as_str() {
        Some(text) if text == first => Ok(false),
        Some(text) if text == second => Ok(true),
        _ => Err(wrong(name, entry, &format!("expected `{first}` or `{second}`"))),
    }
}

fn flag(name: &str, entry: &Entry) -> Result<bool, Problem> {
    match entry.value.scalar().map(|scalar| &scalar.resolved) {
        Some(Resolved::Bool(on)) => Ok(*on),
        _ => Err(wrong(name, entry, "expected `true` or `false`")),
    }
}

fn wrong(name: &str, entry: &Entry, expected: &str) -> Problem {
    let found = match entry.value.scalar() {
        Some(scalar) => format!("`{}`", scalar.text),
        None => entry.value.type_name().to_owned(),
    };
    Problem::new(format!("`{name}` is {found}")).at(entry.value.place).expected(expected)
}

fn unknown(name: &str, entry: &Entry) -> Problem {
    let list = KEYS.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    let problem =
        Problem::new(format!("unknown key `{name}`")).at(entry.key).expected(format!("expected one of {list}"));
    match nearest(name, KEYS.iter().copied()) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Settings> {
        Settings::read(Path::new(FILE), text.as_bytes())
    }

    #[test]
    fn every_key_is_read_and_an_empty_file_is_the_default() {
        let text = "hcl: hcl2-7.2\nmarkers: true\nstacks_path: real\nstacks_environments: closed\ndeclare: all\n\
                    sensitive: true\n";
        let all = Settings {
            reading: Reading::Original,
            markers: true,
            real_path: true,
            closed: true,
            declare_all: true,
            sensitive: true,
        };
        assert_eq!(read(text).expect("settings"), all);
        assert_eq!(read("# nothing\n").expect("settings"), Settings::default());
        assert_eq!(read("hcl: terraform\nmarkers: false\n").expect("settings"), Settings::default());
    }

    #[test]
    fn everything_wrong_is_told_at_once() {
        let problems = read("hcl: hcl2\nmarker: true\nsensitive: [a]\n").expect_err("problems");
        let told: Vec<_> = problems.iter().map(|p| (p.what.as_str(), p.place.map(|at| at.line))).collect();
        let want =
            [("`hcl` is `hcl2`", Some(1)), ("unknown key `marker`", Some(2)), ("`sensitive` is a list", Some(3))];
        assert_eq!(told, want);
    }
}
