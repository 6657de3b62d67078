//! A module's own collector: the executable in `facts/` that runs on the node.

use super::files::Files;
use crate::base::{FileId, Place, Problem};
use std::sync::Arc;

/// What is sent to the node and run there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Collector {
    /// The path in the module: `facts/collector.py`.
    pub path: String,
    pub text: Arc<[u8]>,
    pub language: Language,
}

/// How the collector is started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Language {
    /// By its shebang: the interpreter and its arguments, as `#!` names them.
    Executable(Vec<String>),
    /// A subclass of `Facter`, through the bootstrap `collector/facter.py`.
    Facter,
    /// `#!suil layers`: suil itself reads Terraform layers, on the control machine.
    Layers,
}

/// Finds `facts/collector*`.
pub fn find(module: &str, files: &dyn Files) -> Result<Option<Collector>, Problem> {
    let mut found: Vec<String> = files.walk("facts")?;
    found.retain(|path| {
        path.strip_prefix("facts/collector").is_some_and(|rest| !rest.contains('/') && !rest.ends_with(['~', '#']))
    });
    if let [first, second, ..] = found.as_slice() {
        let text = format!("module `{module}` has two collectors, `{first}` and `{second}`");
        return Err(Problem::new(text).expected("expected one file `facts/collector*`"));
    }
    let Some(path) = found.pop() else { return Ok(None) };
    let Some(text) = files.read(&path)? else { return Ok(None) };
    // A Facter prints nothing by itself, so its class weighs more than a shebang.
    let language = match shebang(&text) {
        _ if path.ends_with(".py") && is_facter(&text) => Language::Facter,
        Some(words) if words == ["suil", "layers"] => Language::Layers,
        Some(words) => Language::Executable(words),
        None => {
            let shown = files.shown(&path);
            let file = FileId::new(shown.clone(), String::from_utf8_lossy(&text).into_owned());
            return Err(Problem::new(format!("module `{module}`: `{}` names no interpreter", shown.display()))
                .at(Place::start(file))
                .expected("expected a first line like `#!/bin/sh`, or in Python a subclass of `Facter`"));
        }
    };
    Ok(Some(Collector { path, text, language }))
}

/// The words behind `#!`.
fn shebang(text: &[u8]) -> Option<Vec<String>> {
    let line = text.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let words: Vec<String> = String::from_utf8_lossy(line).split_whitespace().map(str::to_owned).collect();
    (!words.is_empty()).then_some(words)
}

/// A class whose bases name `Facter`, bare or with its package before it.
fn is_facter(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).lines().any(|line| {
        let Some(rest) = line.strip_prefix("class ") else { return false };
        let Some((_, bases)) = rest.split_once('(') else { return false };
        let bases = bases.split(')').next().unwrap_or(bases);
        bases.split(',').any(|base| base.trim().rsplit('.').next() == Some("Facter"))
    })
}

#[cfg(test)]
mod tests {
    use super::{Language, find};
    use crate::module::tests::Memory;

    fn language(files: &[(&str, &str)]) -> Result<Option<Language>, String> {
        find("app", &*Memory::of(files.iter().copied())).map(|c| c.map(|c| c.language)).map_err(|p| p.what)
    }

    #[test]
    fn a_collector_is_told_by_its_shebang_or_its_class() {
        let words = |words: &[&str]| Ok(Some(Language::Executable(words.iter().map(|w| (*w).to_owned()).collect())));
        let facter = "from suil.sdk import Facter\n\nclass Surf(Facter):\n    pass\n";
        assert_eq!(language(&[("facts/collector", "#!/bin/sh -u\n")]), words(&["/bin/sh", "-u"]));
        assert_eq!(
            language(&[("facts/collector.py", "#!/usr/bin/env python3\n")]),
            words(&["/usr/bin/env", "python3"])
        );
        assert_eq!(language(&[("facts/collector.py", facter)]), Ok(Some(Language::Facter)));
        let qualified = "#!/usr/bin/python3\nclass S(suil.sdk.Facter):\n";
        assert_eq!(language(&[("facts/collector.py", qualified)]), Ok(Some(Language::Facter)));
        assert_eq!(language(&[("facts/lib.sh", "#!/bin/sh\n")]), Ok(None));
    }

    #[test]
    fn a_collector_without_an_interpreter_and_a_second_one_are_refused() {
        let silent = language(&[("facts/collector.py", "print(1)\n")]).expect_err("no interpreter");
        assert!(silent.contains("names no interpreter"), "{silent}");
        let two = language(&[("facts/collector.py", "#!/x"), ("facts/collector.sh", "#!/x")]).expect_err("two");
        assert!(two.contains("two collectors"), "{two}");
    }
}
