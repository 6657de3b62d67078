//! A tree of layers in a folder of its own, and suil in it.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How a command ended.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// The same where it went well.
    #[track_caller]
    pub fn well(self) -> Ran {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }

    /// What it said on stderr, where it ended with `code`.
    #[track_caller]
    pub fn failed(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self.stderr
    }
}

pub struct Room {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

impl Room {
    /// A tree with the environment `harbor`, and what `files` hold by their paths.
    pub fn new(files: &[(&str, &str)]) -> Room {
        let room = Room { folder: tempfile::tempdir().expect("a folder"), environment: Vec::new() };
        room.write("environments/harbor/env.tfvars", "town = \"harbor\"\n");
        fs::create_dir_all(room.path("stacks")).expect("a folder");
        for (path, text) in files {
            room.write(path, text);
        }
        room
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    pub fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).expect("a file").permissions().mode() & 0o777
    }

    /// A shell script under this name, which the layers of the room take for Terraform.
    pub fn stand_in(&mut self, name: &str, script: &str) {
        self.program(name, script);
        let path = self.path(name).display().to_string();
        self.set("STACKS_TERRAFORM_PATH", &path);
    }

    /// A shell script under this name.
    pub fn program(&self, name: &str, script: &str) {
        self.write(name, &format!("#!/bin/sh\n{script}"));
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    pub fn command(&self, layer: &str, words: &[&str]) -> Command {
        let here = self.path(layer);
        fs::create_dir_all(&here).expect("a layer");
        let mut command = Command::new(env!("CARGO_BIN_EXE_suil"));
        command.arg("infra").args(words).current_dir(here).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", self.folder.path());
        command.env("CHECKPOINT_DISABLE", "1").envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs `suil infra` in a folder of the room.
    pub fn suil(&self, layer: &str, words: &[&str]) -> Ran {
        let output = self.command(layer, words).stdin(Stdio::null()).output().expect("suil");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }

    /// Starts it, with what it starts in a process group of its own as in a terminal.
    pub fn start(&self, layer: &str, words: &[&str]) -> Child {
        let log = |name: &str| fs::File::create(self.path(name)).expect("a log");
        let mut command = self.command(layer, words);
        command.stdin(Stdio::null()).stdout(log("stdout")).stderr(log("stderr")).process_group(0);
        command.spawn().expect("suil")
    }

    /// Files below a folder, by their paths.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let (mut found, mut due) = (Vec::new(), vec![self.path(folder)]);
        while let Some(path) = due.pop() {
            for entry in fs::read_dir(path).into_iter().flatten() {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    due.push(path.clone());
                }
                found.push(path.strip_prefix(self.folder.path()).expect("inside").display().to_string());
            }
        }
        found.sort();
        found
    }
}

/// Waits until something is so.
#[track_caller]
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(Instant::now() < end, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn signal(child: &Child, signal: Signal) {
    kill_process(pid(child), signal).expect("a process");
}

pub fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).expect("an id")).expect("an id")
}

pub fn has_line(path: &Path, line: &str) -> bool {
    fs::read_to_string(path).is_ok_and(|text| text.lines().any(|found| found.contains(line)))
}
