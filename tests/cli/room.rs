//! The sealed room.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A folder to work in and a home, both empty; both go when the test ends.
pub struct Room {
    folder: TempDir,
    variables: Vec<(String, String)>,
    input: String,
}

/// What a command left: paths of the room stand as `[ROOM]`.
#[derive(Debug, PartialEq, Eq)]
pub struct Left {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Room {
    pub fn new() -> Room {
        let room = Room { folder: tempfile::tempdir().expect("a folder"), variables: Vec::new(), input: String::new() };
        fs::create_dir_all(room.folder.path().join("home")).expect("home");
        fs::create_dir_all(room.path()).expect("work");
        room
    }

    /// A room whose work folder is a workspace with these files: path and text.
    pub fn with(files: &[(&str, &str)]) -> Room {
        let room = Room::new();
        for (path, text) in files {
            room.write(path, text);
        }
        room
    }

    /// A room whose work folder is a copy of a folder of this repository.
    pub fn copy(from: &str) -> Room {
        let room = Room::new();
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join(from), &room.path());
        room
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    pub fn set(mut self, name: &str, value: &str) -> Room {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn input(mut self, text: &str) -> Room {
        self.input = text.to_owned();
        self
    }

    pub fn run(&self, args: &[&str]) -> Left {
        self.run_in("", &[], args)
    }

    /// Runs suil in a folder below the work folder, with more variables.
    pub fn run_in(&self, folder: &str, variables: &[(&str, &str)], args: &[&str]) -> Left {
        let mut child = Command::new(env!("CARGO_BIN_EXE_suil"))
            .args(args)
            .current_dir(self.path().join(folder))
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("COLUMNS", "80")
            .env("TZ", "UTC")
            .envs(self.variables.iter().cloned())
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("suil starts");
        // A command that reads nothing may be gone already.
        let _ = child.stdin.take().expect("stdin").write_all(self.input.as_bytes());
        let output = child.wait_with_output().expect("suil ends");
        let text = |bytes: &[u8]| {
            let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
            text.replace(&*self.folder.path().to_string_lossy(), "[ROOM]")
        };
        Left { status: output.status.code().unwrap_or(-1), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl Left {
    /// Compares everything.
    #[track_caller]
    pub fn is(&self, status: i32, stdout: &str, stderr: &str) {
        let want = Left { status, stdout: stdout.to_owned(), stderr: stderr.to_owned() };
        assert!(
            *self == want,
            "status {} (wanted {status})\n--- stdout\n{}--- wanted\n{stdout}--- stderr\n{}--- wanted\n{stderr}",
            self.status,
            self.stdout,
            self.stderr
        );
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to copy") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).expect("a copy")),
        }
    }
}
