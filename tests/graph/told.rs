//! What git said before is kept, and never told where git would say something else now.

use crate::room::Room;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;
use suil::base::Plain;

/// Folders of which no new file counts.
const SKIPPED: [&str; 3] = [".terraform", "node_modules", ".suil"];

fn command(room: &Room, folder: &str, args: &[&str]) -> Output {
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
    let mut git = Command::new("git");
    git.args(who).args(["-c", "protocol.file.allow=always"]).args(args).current_dir(room.path().join(folder));
    git.env("HOME", room.path().parent().expect("a room").join("home")).env_remove("XDG_CONFIG_HOME");
    git.output().expect("git")
}

fn git_in(room: &Room, folder: &str, args: &[&str]) -> String {
    let done = command(room, folder, args);
    assert!(done.status.success(), "{args:?}: {done:?}");
    String::from_utf8(done.stdout).expect("UTF-8")
}

fn git(room: &Room, args: &[&str]) -> String {
    git_in(room, "", args)
}

/// What git says itself, seen from `folder`.
fn truth(room: &Room, folder: &str, base: &str) -> BTreeSet<String> {
    let differ =
        git_in(room, folder, &["diff", "--name-only", "-z", "--no-renames", "--relative", "--merge-base", base]);
    let new = git_in(room, folder, &["ls-files", "--others", "--exclude-standard", "-z"]);
    let is_skipped = |path: &&str| path.split('/').rev().skip(1).any(|name| SKIPPED.contains(&name));
    let new = new.split('\0').filter(|path| !path.ends_with('/') && !is_skipped(path));
    differ.split('\0').chain(new).filter(|path| !path.is_empty()).map(str::to_owned).collect()
}

/// What suil says.
fn told(room: &Room, folder: &str, args: &[&str]) -> BTreeSet<String> {
    let left = room.run_in(folder, &[], &[&["infra", "affected", "--output", "json"], args].concat());
    let answer = Plain::from_json(&left.stdout).unwrap_or_else(|e| panic!("{e}: {left:?}"));
    let changed = answer.get("changed").and_then(Plain::as_list).unwrap_or_else(|| panic!("{left:?}"));
    changed.iter().filter_map(Plain::as_str).map(str::to_owned).collect()
}

fn settle() {
    std::thread::sleep(Duration::from_millis(70));
}

fn tree() -> Room {
    let room = Room::new();
    room.write(".gitignore", "*.log\n.suil/\n/ignored/\n");
    for stack in ["a", "b", "c"] {
        room.write(
            &format!("stacks/{stack}/main.tf"),
            &format!("terraform {{\n  backend \"gcs\" {{\n    bucket = \"b\"\n    prefix = \"{stack}\"\n  }}\n}}\n"),
        );
        room.write(&format!("stacks/{stack}/deep/er/notes.txt"), "1\n");
    }
    git(&room, &["init", "-q"]);
    git(&room, &["add", "--all"]);
    git(&room, &["commit", "-q", "-m", "x"]);
    git(&room, &["checkout", "-q", "-b", "work"]);
    room
}

fn kept(room: &Room) -> Option<Vec<u8>> {
    fs::read(room.path().join(".suil/changes")).ok()
}

#[test]
fn an_unchanged_tree_is_answered_from_what_git_said_and_a_change_by_asking_about_it() {
    let room = tree();
    settle();
    assert_eq!(told(&room, "", &[]), BTreeSet::new());
    settle();
    // The folder of the cache itself is new in the tree.
    told(&room, "", &[]);
    let first = kept(&room).expect("kept");
    assert_eq!(told(&room, "", &[]), BTreeSet::new());
    assert!(kept(&room).is_some_and(|now| now == first), "nobody was asked again");
    room.write("stacks/a/new file.txt", "");
    assert_eq!(told(&room, "", &[]), BTreeSet::from(["stacks/a/new file.txt".to_owned()]));
    assert!(kept(&room).is_some_and(|now| now != first));
    // One who cannot ask git at all is still told what did not change.
    settle();
    told(&room, "", &[]);
    let bare = room.run_in("", &[("PATH", "/nowhere")], &["infra", "affected", "--output", "json"]);
    assert_eq!(bare.status, 2, "{bare:?}");
    room.write("stacks/b/other.txt", "");
    let bare = room.run_in("", &[("PATH", "/nowhere")], &["infra", "affected"]);
    assert_eq!((bare.status, bare.stderr.contains("there is no program `git` here")), (1, true), "{bare:?}");
}

/// Numbers that look like chance, and are the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, count: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % count
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Does one thing that people and programs do to a tree.
fn disturb(room: &Room, chance: &mut Chance, step: usize) -> String {
    let root = room.path();
    let folder = chance.of(&["stacks/a", "stacks/b", "stacks/b/deep", "stacks/c/deep/er", "other", "ignored", ""]);
    let name = chance.of(&["main.tf", "notes.txt", "x.log", "y.tfvars", "link", "sp ace", "ü.txt"]);
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let full = root.join(&path);
    let gone = |path: &Path| match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(_) => Ok(()),
    };
    // Where a folder is wanted nothing else stays.
    let folders = |path: &Path| {
        let above: Vec<&Path> = path.ancestors().skip(1).take_while(|folder| *folder != root).collect();
        for folder in above.into_iter().rev().filter(|folder| !folder.is_dir()) {
            gone(folder).expect("gone");
            fs::create_dir(folder).expect("a folder");
        }
    };
    let what = chance.below(17);
    match what {
        0..4 => {
            folders(&full);
            if full.is_dir() || full.is_symlink() {
                gone(&full).expect("gone");
            }
            fs::write(&full, format!("# {}\n", chance.below(3))).expect("written");
        }
        4 => gone(&full).expect("gone"),
        5 => gone(&root.join(chance.of(&["stacks/a", "stacks/c", "other", "stacks/b/deep"]))).expect("gone"),
        6 => {
            folders(&full);
            gone(&full).expect("gone");
            symlink(chance.of(&["main.tf", "deep", "../a", "nowhere"]), &full).expect("a link");
        }
        7 => {
            // A file becomes a folder.
            folders(&full);
            gone(&full).expect("gone");
            fs::create_dir(&full).expect("a folder");
            fs::write(full.join("inner.txt"), "x").expect("written");
        }
        8 => drop(git(room, &["add", "--all"])),
        9 => {
            git(room, &["add", "--all"]);
            git(room, &["commit", "-q", "--allow-empty", "-m", "more"]);
        }
        // Beyond a link that was a folder git refuses.
        10 => drop(command(room, "", &["stash", "-q", "--include-untracked"])),
        11 => {
            git(room, &["checkout", "-q", "-f", "main"]);
            git(room, &["commit", "-q", "--allow-empty", "-m", &format!("on main {step}")]);
            git(room, &["checkout", "-q", "-f", "work"]);
        }
        12 => room.write(".gitignore", chance.of(&["*.log\n.suil/\n", "*.txt\n.suil/\n", ".suil/\n/other/\n"])),
        13 => {
            // Out of the index, and left on the disk.
            if let Some(path) = git(room, &["ls-files", "-z"]).split('\0').nth(chance.below(4) as usize)
                && !path.is_empty()
            {
                git(room, &["rm", "-q", "--cached", "--", path]);
            }
        }
        14 => {
            let (from, to) = (root.join("stacks/b"), root.join("other/b"));
            if from.is_dir() && !from.is_symlink() && to.symlink_metadata().is_err() {
                folders(&to);
                fs::rename(&from, &to).expect("moved");
                // What was there is still seen through a link.
                symlink("../other/b", &from).expect("a link");
            }
        }
        15 => {
            let exclude = chance.of(&["", "sp*\n"]);
            fs::write(root.join(".git/info/exclude"), exclude).expect("written");
        }
        _ => {
            if full.is_file() {
                // The content is the same, and the mark another.
                let bytes = fs::read(&full).expect("read");
                fs::write(&full, bytes).expect("written");
            }
        }
    }
    format!("{step}: {what} {path}")
}

#[test]
fn whatever_happens_to_a_tree_the_answer_is_the_one_that_git_gives() {
    for seed in 1..=6 {
        let room = tree();
        let mut chance = Chance(seed);
        let mut log = Vec::new();
        for step in 0..60 {
            log.push(disturb(&room, &mut chance, step));
            if chance.below(4) == 0 {
                settle();
            }
            let (want, have) = (truth(&room, "", "main"), told(&room, "", &[]));
            assert_eq!(have, want, "seed {seed}: {log:#?}");
        }
    }
}

#[test]
fn another_base_another_branch_and_other_settings_of_git_are_asked_anew() {
    let room = tree();
    room.write("stacks/a/x.tf", "");
    git(&room, &["add", "--all"]);
    git(&room, &["commit", "-q", "-m", "x"]);
    room.write("stacks/b/y.tf", "");
    room.write("stacks/c/z.txt", "");
    settle();
    for base in ["main", "HEAD", "HEAD~1", "main", "HEAD"] {
        assert_eq!(told(&room, "", &["--base", base]), truth(&room, "", base), "{base}");
    }
    assert_eq!(told(&room, "", &[]), truth(&room, "", "main"));
    git(&room, &["branch", "-q", "-f", "main", "HEAD"]);
    assert_eq!(told(&room, "", &[]), truth(&room, "", "HEAD"));
    settle();
    told(&room, "", &[]);
    // A file of the user's own, which git goes by from the moment that it is there.
    let home = room.path().parent().expect("a room").join("home");
    fs::create_dir_all(home.join(".config/git")).expect("a folder");
    fs::write(home.join(".config/git/ignore"), "*.txt\n").expect("written");
    assert_eq!(told(&room, "", &[]), BTreeSet::from(["stacks/b/y.tf".to_owned()]));
    settle();
    told(&room, "", &[]);
    fs::write(home.join("mine"), "*.tf\n").expect("written");
    fs::write(home.join(".gitconfig"), "[core]\n\texcludesFile = ~/mine\n").expect("written");
    assert_eq!(told(&room, "", &[]), BTreeSet::from(["stacks/c/z.txt".to_owned()]));
    settle();
    told(&room, "", &[]);
    fs::write(home.join("mine"), "").expect("written");
    assert_eq!(told(&room, "", &[]), truth(&room, "", "main"));
}

#[test]
fn a_tree_below_the_top_goes_by_what_is_above_it() {
    let room = tree();
    settle();
    assert_eq!(told(&room, "stacks", &["--repo-root", "."]), BTreeSet::new());
    room.write("stacks/a/x.tmp", "");
    assert_eq!(told(&room, "stacks", &["--repo-root", "."]), BTreeSet::from(["a/x.tmp".to_owned()]));
    settle();
    told(&room, "stacks", &["--repo-root", "."]);
    room.write(".gitignore", "*.tmp\n.suil/\n");
    assert_eq!(told(&room, "stacks", &["--repo-root", "."]), BTreeSet::new());
    settle();
    told(&room, "stacks", &["--repo-root", "."]);
    // The folder becomes a repository of its own.
    git_in(&room, "stacks", &["init", "-q"]);
    let left = room.run_in("stacks", &[], &["infra", "affected", "--repo-root", ".", "--output", "json"]);
    assert!(left.stdout.contains("\"a/main.tf\""), "{left:?}");
}

#[test]
fn what_no_listing_shows_is_never_kept() {
    let other = tree();
    let room = tree();
    git(&room, &["submodule", "--quiet", "add", &other.path().display().to_string(), "sub"]);
    git(&room, &["commit", "-q", "-m", "sub"]);
    git(&room, &["branch", "-q", "-f", "main", "HEAD"]);
    settle();
    assert_eq!(told(&room, "", &[]), BTreeSet::new());
    assert!(kept(&room).is_none());
    room.write("sub/stacks/a/main.tf", "# other\n");
    assert_eq!(told(&room, "", &[]), BTreeSet::from(["sub".to_owned()]));

    let room = tree();
    room.write("stacks/a/.terraform/lock", "1\n");
    git(&room, &["add", "--all", "--force"]);
    git(&room, &["commit", "-q", "-m", "x"]);
    git(&room, &["branch", "-q", "-f", "main", "HEAD"]);
    settle();
    assert_eq!(told(&room, "", &[]), BTreeSet::new());
    room.write("stacks/a/.terraform/lock", "2\n");
    assert_eq!(told(&room, "", &[]), BTreeSet::from(["stacks/a/.terraform/lock".to_owned()]));
}

#[test]
fn a_working_tree_of_its_own_and_a_repository_without_commits_are_told_rightly() {
    let room = tree();
    git(&room, &["worktree", "add", "-q", "-b", "third", "third"]);
    settle();
    assert_eq!(told(&room, "third", &[]), BTreeSet::new());
    room.write("third/stacks/a/x.tf", "");
    assert_eq!(told(&room, "third", &[]), BTreeSet::from(["stacks/a/x.tf".to_owned()]));
    git_in(&room, "third", &["add", "--all"]);
    settle();
    told(&room, "third", &[]);
    git_in(&room, "third", &["commit", "-q", "-m", "x"]);
    git(&room, &["branch", "-q", "-f", "main", "third"]);
    assert_eq!(told(&room, "third", &[]), BTreeSet::new());

    let room = Room::new();
    git(&room, &["init", "-q"]);
    room.write("stacks/a/main.tf", "terraform {\n  backend \"gcs\" {\n    bucket = \"b\"\n  }\n}\n");
    room.write(".gitignore", ".suil/\n");
    settle();
    let all = BTreeSet::from([".gitignore".to_owned(), "stacks/a/main.tf".to_owned()]);
    assert_eq!(told(&room, "", &[]), all);
    assert_eq!(told(&room, "", &[]), all);
    git(&room, &["add", "--all"]);
    assert_eq!(told(&room, "", &[]), all);
    settle();
    told(&room, "", &[]);
    room.write("stacks/a/main.tf", "terraform {\n  backend \"gcs\" {\n    bucket = \"c\"\n  }\n}\n");
    assert_eq!(told(&room, "", &[]), all);
}

#[test]
fn nothing_that_the_environment_tells_git_is_written_down() {
    let room = tree();
    git(&room, &["remote", "add", "origin", "https://me:s3cr3t-canary@example.com/o/r.git"]);
    settle();
    let header = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "http.extraHeader"),
        ("GIT_CONFIG_VALUE_0", "Authorization: s3cr3t-canary"),
    ];
    let left = room.run_in("", &header, &["infra", "affected", "--output", "json"]);
    assert_eq!(left.status, 0, "{left:?}");
    assert!(kept(&room).is_some());
    for entry in fs::read_dir(room.path().join(".suil")).expect("a folder") {
        let path = entry.expect("an entry").path();
        let bytes = fs::read(&path).expect("read");
        assert!(!bytes.windows(6).any(|window| window == b"s3cr3t"), "{}", path.display());
    }
    // Other variables, other answers.
    let other =
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.excludesFile"), ("GIT_CONFIG_VALUE_0", "/nowhere")];
    let before = kept(&room);
    room.run_in("", &other, &["infra", "affected"]);
    assert!(kept(&room) != before);
}
