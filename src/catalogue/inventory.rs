//! The inventory: which nodes and roles there are, by the names of their files.

use super::pattern::Pattern;
use crate::base::{Problem, Problems, Result};
use crate::data::Tree;
use std::collections::BTreeSet;

/// The names that files give, by code point, and what was passed over.
#[derive(Clone, Debug, Default)]
pub struct Inventory {
    pub names: BTreeSet<String>,
    pub warnings: Problems,
}

impl Inventory {
    /// Lists the names for which the `pattern` of nodes or roles has a file. Names with a leading dot are editors'
    /// leftovers, and skipped.
    ///
    /// # Errors
    /// A folder that is there and cannot be read.
    pub fn list(tree: &dyn Tree, pattern: &Pattern) -> Result<Inventory, Problem> {
        let (folder, prefix, after) = pattern.split();
        let (suffix, below) = match after.split_once('/') {
            Some((suffix, below)) => (suffix, Some(below)),
            None => (after.as_str(), None),
        };
        let path = match folder.as_str() {
            "" => "data".to_owned(),
            folder => format!("data/{folder}"),
        };
        let entries = match tree.entries(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Inventory::default()),
            Err(error) => return Err(Problem::io("read the folder", &tree.shown(&path), &error)),
        };
        let mut inventory = Inventory::default();
        for (file, is_folder) in entries {
            let Some(rest) = file.strip_prefix(prefix.as_str()).filter(|rest| !rest.starts_with('.')) else { continue };
            if file.starts_with('.') {
                continue;
            }
            match rest.strip_suffix(suffix).filter(|name| !name.is_empty()) {
                Some(name) if is_folder == below.is_some() => {
                    let there = below.is_none_or(|_| pattern_file(tree, pattern, name));
                    inventory.names.extend(there.then(|| name.to_owned()));
                }
                None if !is_folder && below.is_none() && suffix.ends_with(".yaml") && rest.ends_with(".yml") => {
                    let (shown, stem) = (tree.shown(&path).join(&file), rest.trim_end_matches(".yml"));
                    inventory.warnings.push(
                        Problem::warning(format!("`{}` is not read: its name ends in `.yml`", shown.display()))
                            .help(format!("rename it to `{prefix}{stem}.yaml`")),
                    );
                }
                _ => {}
            }
        }
        inventory.warnings.sort_by(|a, b| a.what.cmp(&b.what));
        Ok(inventory)
    }
}

fn pattern_file(tree: &dyn Tree, pattern: &Pattern, name: &str) -> bool {
    use super::pattern::Known;
    let known = Known { node: Some(name), role: Some(name), ..Known::default() };
    pattern.path(known).is_some_and(|path| tree.is_file(&format!("data/{path}")))
}

/// Refuses a name that would leave its folder or hide in it.
///
/// # Errors
/// A slash, or a leading dot.
pub fn check_name(kind: &str, name: &str) -> Result<(), Problem> {
    match name {
        "" => Err(Problem::new(format!("a {kind} has an empty name"))),
        name if name.contains('/') => Err(Problem::new(format!("{kind} `{name}` has a slash in its name"))
            .help(format!("give the name alone, as `suil {kind}s` lists it"))),
        name if name.starts_with('.') => Err(Problem::new(format!("{kind} `{name}` has a leading dot in its name"))
            .help(format!("give the name alone, as `suil {kind}s` lists it"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::hierarchy::Hierarchy;
    use crate::data::load;
    use crate::data::tree::Disk;
    use std::fs;
    use std::path::Path;

    #[test]
    fn names_are_found_wherever_the_pattern_puts_them() {
        let root = tempfile::tempdir().expect("folder");
        let files = [
            "roles/web.yaml",
            "roles/.old.yaml",
            "roles/db.yml",
            "roles/deep/x.yaml",
            "hosts/h-a/main.yaml",
            "hosts/h-b/other.yaml",
            "hosts/c/main.yaml",
            "hosts/h-d",
        ];
        for file in files {
            let path = root.path().join("data").join(file);
            fs::create_dir_all(path.parent().expect("folder")).expect("folder");
            fs::write(path, "").expect("file");
        }
        let common =
            load(Path::new("data/common.yaml"), b"hierarchy: ['roles/{role}.yaml', 'hosts/h-{node}/main.yaml']\n");
        let value =
            common.expect("file").and_then(|file| file.get("hierarchy")?.value.plain().cloned()).expect("value");
        let hierarchy = Hierarchy::read(&value).expect("hierarchy");
        let list = |pattern: &Pattern| Inventory::list(&Disk::new(root.path()), pattern).expect("list");
        let (roles, nodes) = (list(hierarchy.role()), list(hierarchy.node()));
        assert_eq!(roles.names.iter().collect::<Vec<_>>(), ["web"]);
        assert!(
            roles.warnings.len() == 1 && roles.warnings[0].what.contains("data/roles/db.yml"),
            "{:?}",
            roles.warnings
        );
        assert_eq!(nodes.names.iter().collect::<Vec<_>>(), ["a"]);
    }
}
