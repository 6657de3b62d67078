//! `suil infra versions`, with repositories on this machine.

use crate::room::Room;
use crate::tree::git;
use serde_json::json;
use std::fs;

/// A tree with modules from elsewhere; `https://git.example.net/` leads to the folder `mods` beside it.
fn tree(modules: &str) -> Room {
    let room = Room::with(&[("stacks/a/main.tf", &format!("terraform {{\n  backend \"local\" {{}}\n}}\n{modules}"))]);
    git(&room.path(), &["init", "--quiet"]);
    let mods = room.path().join("../mods");
    let text = format!("[url \"{}/\"]\n\tinsteadOf = https://git.example.net/\n", mods.display());
    let config = room.path().join("../gitconfig");
    fs::write(&config, text).expect("a file");
    let repository = mods.join("plat/db.git");
    fs::create_dir_all(&repository).expect("a folder");
    git(&repository, &["init", "--quiet"]);
    git(&repository, &["commit", "--quiet", "--allow-empty", "--message", "one"]);
    for tag in ["v1.0.0", "v1.1.0", "v1.2.0", "v2.0.0-rc.1", "nightly"] {
        git(&repository, &["tag", tag]);
    }
    room.set("GIT_CONFIG_GLOBAL", &config.display().to_string())
}

#[test]
fn each_module_is_told_with_its_newest_version_and_how_many_lie_between() {
    let room = tree(
        r#"
module "one" {
  source = "git::https://git.example.net/plat/db.git//x?ref=v1.0.0"
}
module "two" {
  source = "git::https://git.example.net/plat/db?ref=v1.2.0"
}
module "three" {
  source = "git::https://git.example.net/plat/db.git?ref=main"
}
module "four" {
  source = "git::https://git.example.net/plat/db.git"
}
module "five" {
  source  = "a/b/aws"
  version = "~> 1.0"
}
"#,
    );
    let want = "\
MODULE                      ASKED FOR  NEWEST                 USED BY
git.example.net/plat/db     -          v1.2.0  unpinned       stacks/a
git.example.net/plat/db     main       v1.2.0  unknown        stacks/a
git.example.net/plat/db     v1.2.0     v1.2.0  current        stacks/a
git.example.net/plat/db//x  v1.0.0     v1.2.0  2 behind       stacks/a
registry:a/b/aws            ~> 1.0     -       not looked up  stacks/a

versions: 1 module behind, 1 current, 1 unpinned, 1 unknown, 1 not looked up
";
    room.run(&["infra", "versions"]).is(0, want, "");
    let left = room.run(&["infra", "versions", "--detailed-exitcode", "--output", "json"]);
    assert_eq!((left.status, left.stderr.as_str()), (2, ""));
    let told: serde_json::Value = serde_json::from_str(&left.stdout).expect("JSON");
    let one = json!({"module": "git.example.net/plat/db//x", "kind": "git", "pin": "v1.0.0", "latest": "v1.2.0",
        "behind": 2, "standing": "behind", "used_by": ["stacks/a"]});
    assert_eq!(told["modules"][3], one);
}

#[test]
fn a_repository_that_cannot_be_reached_fails_and_the_rest_is_told() {
    let room = tree(
        r#"
module "one" {
  source = "git::https://git.example.net/plat/db.git?ref=v1.2.0"
}
module "gone" {
  source = "git::https://me:canary-word@git.example.net/plat/gone.git?ref=v1.0.0"
}
module "odd" {
  source = "git::ext::sh -c touch% owned/x?ref=v1.0.0"
}
"#,
    );
    let config = room.path().join("../gitconfig");
    let mods = room.path().join("../mods").display().to_string();
    let more = format!(
        "[url \"{mods}/\"]\n\tinsteadOf = https://me:canary-word@git.example.net/\n[protocol \"ext\"]\n\tallow = always\n"
    );
    let text = fs::read_to_string(&config).expect("a file") + &more;
    fs::write(&config, text).expect("a file");
    let left = room.run(&["infra", "versions"]);
    assert_eq!(left.status, 1, "{}", left.stdout);
    assert!(left.stdout.contains("versions: 1 module current, 1 failed"), "{}", left.stdout);
    assert!(left.stderr.contains("module `git.example.net/plat/gone`: its tags cannot be listed"), "{}", left.stderr);
    assert!(!(left.stdout + &left.stderr).contains("canary-word"), "{}", left.stderr);
    assert!(!room.path().join("owned").exists());
}

#[test]
fn a_tree_without_modules_from_elsewhere_says_so() {
    let room = tree("");
    room.run(&["infra", "versions", "--detailed-exitcode"]).is(0, "versions: no modules from elsewhere\n", "");
}
