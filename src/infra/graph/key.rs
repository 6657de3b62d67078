//! Paths, keys and names: how stacks and modules are called.

use crate::base::digest::sha256;

/// The instance that is none.
const NONE: &str = "default";

/// The longest name of an instance.
const LONGEST: usize = 64;

/// A path below the root as it is kept: `/` between names, no `.`, no slash at the end; empty for the root itself.
/// `None` where it leaves the root.
pub fn clean(path: &str) -> Option<String> {
    let path = path.replace('\\', "/");
    if path.starts_with('/') {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

/// `path` seen from `folder`, a cleaned one. `None` where it leaves the root.
pub fn beside(folder: &str, path: &str) -> Option<String> {
    if path.starts_with(['/', '\\']) {
        return None;
    }
    clean(format!("{folder}/{path}").trim_start_matches('/'))
}

/// The folder that a path stands in; empty for the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last name of a path.
pub fn name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Every folder above a path, the nearest first, and the path itself before them; the root is left out.
pub fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path).filter(|path| !path.is_empty()), |path| {
        path.rsplit_once('/').map(|(folder, _)| folder).filter(|folder| !folder.is_empty())
    })
}

/// `path`, or `path:instance`.
pub fn key(path: &str, instance: &str) -> String {
    match instance {
        "" => path.to_owned(),
        instance => format!("{path}:{instance}"),
    }
}

/// Cuts a key at its last `:`; the instance `default` is none.
pub fn split(key: &str) -> (&str, &str) {
    match key.rsplit_once(':') {
        Some((path, NONE)) => (path, ""),
        Some((path, instance)) => (path, instance),
        None => (key, ""),
    }
}

/// `owner/name` and the key within it; `None` for a key of this repository.
pub fn qualified(key: &str) -> Option<(&str, &str)> {
    key.split_once("//")
}

/// True where both name one repository.
pub fn same_repo(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// `owner/name` of a repository, out of the address of a remote.
pub fn repo_of(address: &str) -> Option<String> {
    let address = address.trim_end_matches('/');
    let address = address.strip_suffix(".git").unwrap_or(address);
    let path = match address.split_once("://") {
        Some((_, rest)) => rest.split_once('/').map(|(_, path)| path)?,
        None => address.split_once(':').map_or(address, |(_, path)| path),
    };
    let mut names = path.rsplit('/').filter(|name| !name.is_empty());
    let (name, owner) = (names.next()?, names.next()?);
    Some(format!("{owner}/{name}"))
}

/// Why a text is no name of an instance.
pub fn instance_fault(name: &str) -> Option<&'static str> {
    let ok = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.eq_ignore_ascii_case(NONE) {
        return Some("expected another name: `default` means that there is no instance");
    }
    let shape = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(ok);
    (!shape || name.len() > LONGEST)
        .then_some("expected letters, digits, `.`, `_` and `-`, a letter or a digit first, at most 64 of them")
}

/// The key as it can stand in the name of a file: readable, and still one of its own.
pub fn slug(key: &str) -> String {
    let digest = sha256(key.as_bytes());
    let plain = key.replace(['/', ':'], "-");
    // A name holds 255 bytes; the digest keeps apart what is cut.
    let end = plain.char_indices().map(|(at, _)| at).find(|at| *at >= 150).unwrap_or(plain.len());
    format!("{}-{}", plain.get(..end).unwrap_or_default(), digest.get(..8).unwrap_or_default())
}

/// The name of the plan of a stack at a commit; `local` outside git.
pub fn artifact(key: &str, sha: Option<&str>) -> String {
    format!("stackorder-plan-{}-{}", slug(key), sha.unwrap_or("local"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_and_never_leave_the_root() {
        for (path, want) in [
            ("./stacks/a/", Some("stacks/a")),
            ("stacks\\a", Some("stacks/a")),
            ("a/../b/./c", Some("b/c")),
            (".", Some("")),
            ("a/..", Some("")),
            ("../a", None),
            ("/a", None),
        ] {
            assert_eq!(clean(path).as_deref(), want, "{path}");
        }
        assert_eq!(beside("stacks/a", "../../modules/b").as_deref(), Some("modules/b"));
        assert_eq!(beside("", "./b").as_deref(), Some("b"));
        assert_eq!(beside("a", "../../b"), None);
        assert_eq!(ancestors("a/b/c").collect::<Vec<_>>(), ["a/b/c", "a/b", "a"]);
    }

    #[test]
    fn keys_are_cut_at_the_last_colon() {
        assert_eq!(split("x:default"), ("x", ""));
        assert_eq!(split("a:b:c"), ("a:b", "c"));
        assert_eq!(key("a", "b"), "a:b");
    }

    #[test]
    fn the_names_of_plans_are_those_of_the_specification() {
        assert_eq!(slug("stacks/prod/vpc"), "stacks-prod-vpc-69df0ef0");
        assert_eq!(artifact("stacks/prod/apps", None), "stackorder-plan-stacks-prod-apps-4b32b4c4-local");
    }

    #[test]
    fn a_remote_names_its_owner_and_its_repository() {
        for (address, want) in [
            ("git@github.com:acme/infra.git", Some("acme/infra")),
            ("https://user@git.example.net:8443/group/sub/infra/", Some("sub/infra")),
            ("ssh://git@git.example.net/acme/infra.git", Some("acme/infra")),
            ("/srv/git/acme/infra.git", Some("acme/infra")),
            ("infra", None),
        ] {
            assert_eq!(repo_of(address).as_deref(), want, "{address}");
        }
    }

    #[test]
    fn an_instance_is_a_plain_name() {
        for name in ["eu", "a.b-c_1", "0"] {
            assert_eq!(instance_fault(name), None, "{name}");
        }
        for name in ["", "Default", "-a", "a b", "a:b", &"a".repeat(65)] {
            assert!(instance_fault(name).is_some(), "{name}");
        }
    }
}
