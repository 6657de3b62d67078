//! What a tree says about its own rendering: the file `stacks.yaml` at the root. Without it, or without a key of it,
//! layers render as the original renders them.

use crate::base::{Problems, Result, problem};
use crate::infra::hcl::Reading;
use crate::infra::reader::{self, Reader};
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
        let Some(value) = reader::whole(shown, bytes)? else { return Ok(Settings::default()) };
        let mut problems = Problems::new();
        let mut reader = Reader::new(&value, FILE, KEYS, &mut problems);
        // True for the second word.
        let second = |reader: &mut Reader, key: &str, words: [&str; 2]| {
            reader.word(key, &words).is_some_and(|found| words.get(1) == Some(&found.as_str()))
        };
        let settings = Settings {
            reading: match second(&mut reader, "hcl", ["terraform", "hcl2-7.2"]) {
                true => Reading::Original,
                false => Reading::Terraform,
            },
            markers: reader.bool("markers", false),
            real_path: second(&mut reader, "stacks_path", ["original", "real"]),
            closed: second(&mut reader, "stacks_environments", ["open", "closed"]),
            declare_all: second(&mut reader, "declare", ["original", "all"]),
            sensitive: reader.bool("sensitive", false),
        };
        problem::sort(&mut problems);
        if problems.is_empty() { Ok(settings) } else { Err(problems) }
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
        let want = [
            ("`hcl` is `hcl2`", Some(1)),
            ("unknown key `marker` in `stacks.yaml`", Some(2)),
            ("`sensitive` is a list", Some(3)),
        ];
        assert_eq!(told, want);
    }
}
