//! Runs what the README shows, and compares what comes with what it prints.
//!
//! A fence that opens with a language and a path is written to that path; the commands of a `console` fence run in
//! order, in one folder that holds copies of the examples. In their output `…` stands for any text in a line and a
//! line `...` for any number of lines. `BLESS=1 cargo test --test readme` writes what comes into README.md: read the
//! difference before you commit it.

#![allow(clippy::disallowed_methods)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

struct Fence {
    info: String,
    line: usize,
    body: Vec<String>,
}

#[test]
fn the_readme_does_what_it_says() {
    let stage = tempfile::tempdir().expect("a folder");
    let room = stage.path().join("suil");
    for example in ["data-example", "stacks-example"] {
        copy(&Path::new(ROOT).join(example), &room.join(example));
    }
    let tools = stage.path().join("bin");
    fs::create_dir(&tools).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_suil"), tools.join("suil")).expect("a link");
    // The README says `cargo run --`; what is built already need not be built again.
    script(&tools.join("cargo"), "#!/bin/sh\n[ \"$1 $2\" = 'run --' ] || exit 99\nshift 2\nexec suil \"$@\"\n");
    // Two checkouts tested at one time must not share a folder.
    let demo = stage.path().join("suil-demo").display().to_string();
    let role = room.join("data-example/data/roles/demo.yaml");
    let text = fs::read_to_string(&role).expect("the role").replace("/tmp/suil-demo", &demo);
    fs::write(&role, text).expect("the role");

    // A clone is a git repository.
    for args in ["init -q", "add .", "-c user.name=a -c user.email=a@example.com commit -qm begin"] {
        let git = Command::new("git").args(args.split(' ')).current_dir(&room).status().expect("git");
        assert!(git.success(), "git {args}");
    }

    let mut here = room.clone();
    let mut ran = 0;
    let mut wrong = Vec::new();
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("README.md");
    let mut blessed = readme.clone();
    for fence in fences(&readme) {
        let words: Vec<&str> = fence.info.split_whitespace().collect();
        match words.as_slice() {
            ["console"] => {
                for (command, wanted) in commands(&fence) {
                    if let Some(folder) = command.strip_prefix("cd ") {
                        here.push(folder);
                        continue;
                    }
                    ran += 1;
                    let found = run(&command.replace("/tmp/suil-demo", &demo), &here, &tools);
                    let found = as_root(&found.replace(&demo, "/tmp/suil-demo"), &tools);
                    if !matches(&wanted, &found.lines().map(str::to_owned).collect::<Vec<_>>()) {
                        wrong.push(format!("README.md:{}: $ {command}\n{found}", fence.line));
                        let shown = |lines: &[String]| {
                            let lines = lines.iter().map(|line| line.trim_end().to_owned() + "\n");
                            format!("$ {command}\n{}", lines.collect::<String>())
                        };
                        let found: Vec<String> = found.lines().map(str::to_owned).collect();
                        blessed = blessed.replacen(&shown(&wanted), &shown(&found), 1);
                    }
                }
            }
            [_, path] => {
                let path = room.join(path);
                fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
                let text = fence.body.join("\n") + "\n";
                fs::write(path, text.replace("/tmp/suil-demo", &demo)).expect("a file");
            }
            _ => {}
        }
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(Path::new(ROOT).join("README.md"), blessed).expect("README.md");
        return;
    }
    assert!(ran >= 8, "only {ran} commands were found in README.md");
    assert!(wrong.is_empty(), "README.md shows other output than this (BLESS=1 writes it):\n\n{}", wrong.join("\n\n"));
}

#[test]
fn the_test_command_of_the_readme_is_the_one_that_the_runner_calls() {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).expect("README.md");
    let runner = fs::read_to_string(Path::new(ROOT).join(".ci/run")).expect(".ci/run");
    assert!(readme.lines().any(|line| line == ".ci/test"), "README.md does not name .ci/test");
    assert!(runner.lines().any(|line| line == ".ci/test"), ".ci/run does not call .ci/test");
}

fn fences(text: &str) -> Vec<Fence> {
    let mut found: Vec<Fence> = Vec::new();
    let mut open = false;
    for (i, line) in text.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !open => {
                found.push(Fence { info: info.to_owned(), line: i + 1, body: Vec::new() });
                open = true;
            }
            Some(_) => open = false,
            None if open => found.last_mut().expect("an open fence").body.push(line.to_owned()),
            None => {}
        }
    }
    found
}

/// The commands of a fence, each with the output that stands under it.
fn commands(fence: &Fence) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in &fence.body {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((command.to_owned(), Vec::new())),
            (None, Some((_, wanted))) => wanted.push(line.clone()),
            (None, None) => panic!("README.md:{}: output without a command", fence.line),
        }
    }
    found
}

/// Runs a command as a person would who has just cloned suil: no settings, no terminal, both streams in one.
fn run(command: &str, here: &Path, tools: &Path) -> String {
    let path = format!("{}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", tools.display());
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(here)
        .env_clear()
        .env("PATH", path)
        .env("HOME", here)
        .env("COLUMNS", "120")
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Puts `root` where the output names the user and the group of whoever runs the test: the README was written as root.
fn as_root(found: &str, tools: &Path) -> String {
    let mine = run("id -un; id -u; id -gn; id -g", Path::new("/"), tools);
    let line = |line: &str| match line.trim_start().split_once(' ') {
        Some(("owner" | "group", name)) if mine.lines().any(|own| own == name.trim()) => {
            line.replace(name.trim(), "root")
        }
        _ => line.to_owned(),
    };
    found.lines().map(|text| line(text) + "\n").collect()
}

fn matches(wanted: &[String], found: &[String]) -> bool {
    match wanted.split_first() {
        None => found.is_empty(),
        Some((first, rest)) if first == "..." => (0..=found.len()).any(|skip| matches(rest, &found[skip..])),
        Some((first, rest)) => {
            found.split_first().is_some_and(|(line, others)| fits(first, line) && matches(rest, others))
        }
    }
}

/// Whether a line fits a pattern whose `…` stand for any text.
fn fits(pattern: &str, line: &str) -> bool {
    match pattern.split_once('…') {
        None => pattern.trim_end() == line.trim_end(),
        Some((head, tail)) => line.strip_prefix(head).is_some_and(|rest| {
            rest.char_indices().map(|(i, _)| i).chain([rest.len()]).any(|i| fits(tail, &rest[i..]))
        }),
    }
}

fn script(path: &Path, text: &str) {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, text).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
}

/// Copies what a clone would hold: records, caches and facts of earlier runs stay behind.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        if [".runs", ".suil", "here.example.com"].iter().any(|own| name == **own) {
            continue;
        }
        match entry.file_type().expect("its type").is_dir() {
            true => copy(&entry.path(), &to.join(name)),
            false => drop(fs::copy(entry.path(), to.join(name)).expect("a copy")),
        }
    }
}
