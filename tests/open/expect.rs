//! What a case expects, and the case as a workspace.

use crate::room::{Left, Room};
use std::path::{Path, PathBuf};
use suil::base::Plain;

pub fn folder(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/open").join(case)
}

pub fn text(case: &str, file: &str) -> String {
    let path = folder(case).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub fn wanted(case: &str) -> Plain {
    Plain::from_json(&text(case, "expect.json")).expect("expect.json")
}

/// A room whose work folder is the input of a case, with a folder for every module that it names.
pub fn room(case: &str, modules: &[&str]) -> Room {
    let room = Room::copy(&format!("tests/cases/open/{case}/input"));
    modules.iter().for_each(|module| room.write(&format!("modules/{module}/requires.yaml"), ""));
    room
}

pub fn map<'a>(value: &'a Plain, key: &str) -> impl Iterator<Item = (&'a String, &'a Plain)> {
    value.get(key).and_then(Plain::as_map).unwrap_or_else(|| panic!("no {key}")).iter()
}

/// The words of a list.
pub fn words<'a>(value: &'a Plain, key: &str) -> impl Iterator<Item = &'a str> {
    let list = value.get(key).and_then(Plain::as_list).unwrap_or_else(|| panic!("no {key}"));
    list.iter().map(|word| word.as_str().expect("a word"))
}

/// True where `got` is what is wanted, `any` and `never` included. A missing value is "absent".
pub fn fits(want: &Plain, got: Option<&Plain>) -> bool {
    if let Some(any) = want.get("any").and_then(Plain::as_list) {
        return want.get("never") != got && any.iter().any(|want| fits(want, got));
    }
    match (want, got) {
        (Plain::Str(word), None) => word == "absent",
        (Plain::Map(want), Some(Plain::Map(got))) => {
            let no_more = got.keys().all(|key| want.contains_key(key));
            no_more && want.iter().all(|(key, want)| fits(want, got.get(key)))
        }
        (want, got) => Some(want) == got,
    }
}

/// `config --merged` of the nodes that `select` names.
#[track_caller]
pub fn merged(room: &Room, select: &[&str]) -> Plain {
    let left = room.run(&[&["config", "--merged", "--output", "json"], select].concat());
    assert_eq!(left.status, 0, "{}", left.stderr);
    Plain::from_json(&left.stdout).expect("JSON")
}

/// What a node has at `app.seq[0]`.
pub fn at<'a>(merged: &'a Plain, node: &str, path: &str) -> Option<&'a Plain> {
    let nodes = merged.get("nodes").and_then(Plain::as_list).expect("nodes");
    let node = nodes.iter().find(|one| one.get("name").and_then(Plain::as_str) == Some(node)).expect(node);
    let path = path.replace('[', ".").replace(']', "");
    node.get("data").and_then(|data| data.at(&path.split('.').collect::<Vec<_>>()))
}

/// A failure in suil's own words, with no result on stdout: a form for programs has the problems there.
#[track_caller]
pub fn refused<'a>(left: &Left, words: impl IntoIterator<Item = &'a str>) {
    let told = Plain::from_json(&left.stdout).ok();
    let keys = told.as_ref().and_then(Plain::as_map).map(|map| map.keys().map(String::as_str).collect::<Vec<_>>());
    assert!(left.stdout.is_empty() || keys.is_some_and(|keys| keys == ["version", "problems"]), "{}", left.stdout);
    assert_eq!(left.status, 1, "{}", left.stderr);
    assert!(left.stderr.starts_with("suil: "), "{}", left.stderr);
    for word in words {
        assert!(left.stderr.contains(word), "nothing names {word:?} in\n{}", left.stderr);
    }
    for foreign in ["panicked", "os error", "Some(", "None", "stack backtrace"] {
        assert!(!left.stderr.contains(foreign), "{}", left.stderr);
    }
}

/// Nothing was recorded and no node was asked.
#[track_caller]
pub fn untouched(room: &Room) {
    for name in ["facts", ".runs", ".suil"] {
        assert!(!room.path().join(name).exists(), "{name} was written");
    }
}
