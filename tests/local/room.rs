//! A workspace with one node that is this machine, and suil run on it in a sealed room: no environment, no terminal,
//! and no root, even where the tests themselves run as root.

#![allow(dead_code, reason = "each binary of tests needs a part of it")]

use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

pub const NODE: &str = "here.example.com";

/// Who suil runs as where the tests run as root: nobody.
const NOBODY: u32 = 65534;

pub struct Room {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// How suil ended and what it said.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    pub fn expect(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

impl Room {
    /// A workspace with the role `demo`, which names `modules`, and one local node.
    pub fn new(modules: &[&str]) -> Room {
        let room = Room { folder: tempfile::tempdir().expect("a folder"), variables: Vec::new() };
        for folder in ["work", "home", "node", "run"] {
            fs::create_dir_all(room.folder.path().join(folder)).expect("a folder");
        }
        room.write(
            "data/common.yaml",
            "deployment: {transport: local, sudo: false}\nhierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n",
        );
        room.write("data/roles/demo.yaml", &format!("modules: [{}]\n", modules.join(", ")));
        room.data("");
        room
    }

    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// The data of the node, beside its role.
    pub fn data(&self, more: &str) {
        self.write(&format!("data/nodes/{NODE}.yaml"), &format!("role: demo\n{more}"));
    }

    /// A module; `@` in its code stands for the folder on the node that the test owns.
    pub fn module(&self, name: &str, config: &str, main: &str) {
        let main = main.replace('@', &self.node().display().to_string());
        self.write(&format!("modules/{name}/code/config.star"), &format!("Config = schema({config})\n"));
        self.write(&format!("modules/{name}/code/main.star"), &main);
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// The folder that stands for the node's disk.
    pub fn node(&self) -> PathBuf {
        self.folder.path().join("node")
    }

    pub fn read(&self, path: &str) -> String {
        let path = self.path().join(path);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// A file of the node; `none` where there is no such file.
    pub fn there(&self, path: &str) -> String {
        fs::read_to_string(self.node().join(path)).unwrap_or_else(|_| "none".to_owned())
    }

    /// What the node keeps of what it owes; `none` where it owes nothing.
    pub fn state(&self) -> String {
        let path = self.folder.path().join("home/.local/state/suil/owed");
        fs::read_to_string(path).unwrap_or_else(|_| "none".to_owned())
    }

    pub fn spoil(&self, path: &str, text: &str) {
        fs::write(self.node().join(path), text).expect("a file");
    }

    /// Removes a file of the node: what waits for that goes on.
    pub fn release(&self, path: &str) {
        fs::remove_file(self.node().join(path)).expect("a file");
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command
            .args(args)
            .current_dir(self.path())
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            // The lock of the node lies there: each room is a node of its own.
            .env("XDG_RUNTIME_DIR", self.folder.path().join("run"))
            .env("PATH", "/usr/bin:/bin")
            .env("COLUMNS", "120")
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if rustix::process::getuid().is_root() {
            give(self.folder.path());
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    pub fn suil(&self, args: &[&str]) -> Ran {
        Ran::of(self.start(args).wait_with_output().expect("suil ends"))
    }

    pub fn start(&self, args: &[&str]) -> Child {
        self.command(args).spawn().expect("suil starts")
    }

    /// `apply` on the node, with these arguments behind it.
    #[track_caller]
    pub fn apply(&self, more: &[&str]) -> Ran {
        self.suil(&[&["apply", "--role", "demo"], more].concat())
    }

    pub fn events(&self) -> Vec<Value> {
        let text = self.read(".runs/latest/events.jsonl");
        text.lines().map(|line| serde_json::from_str(line).expect("an event")).collect()
    }

    /// The titles of the operations that ended in the last run, with `!` before one that failed.
    pub fn performed(&self) -> Vec<String> {
        let ended = self.events().into_iter().filter(|event| event["event"] == "ended");
        let title = |event: Value| {
            let bad = if event["problem"].is_null() { "" } else { "!" };
            format!("{bad}{}", event["title"].as_str().expect("a title"))
        };
        let node = self.node().display().to_string();
        ended.map(title).map(|title| title.replace(&node, "@")).collect()
    }

    pub fn yaml(&self, path: &str) -> Value {
        serde_saphyr::from_str(&self.read(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    pub fn outcome(&self) -> String {
        self.yaml(".runs/latest/summary.yaml")["nodes"][NODE]["outcome"].as_str().expect("an outcome").to_owned()
    }
}

/// Makes everything in the room nobody's own.
pub fn give(path: &Path) {
    use std::os::unix::fs::{MetadataExt, lchown};
    if fs::symlink_metadata(path).is_ok_and(|found| found.uid() != NOBODY) {
        lchown(path, Some(NOBODY), Some(NOBODY)).expect("an owner");
    }
    if path.is_dir() && !path.is_symlink() {
        for entry in fs::read_dir(path).expect("a folder") {
            give(&entry.expect("an entry").path());
        }
    }
}

/// Waits until something is so; panics after a minute.
#[track_caller]
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("not within a minute: {what}");
}

/// The suil that is tested. A target folder below root's home cannot be entered by nobody, so that it is copied.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let built = Path::new(env!("CARGO_BIN_EXE_suil"));
        if !rustix::process::getuid().is_root() {
            return built.to_owned();
        }
        // One name for each checkout, so that runs that end badly do not fill the disk and none tests another's suil;
        // renamed, so that no run starts half of it.
        let checkout: String = env!("CARGO_BIN_EXE_suil").replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let copy = std::env::temp_dir().join(format!("suil-under-test{checkout}"));
        let aside = copy.with_extension(std::process::id().to_string());
        fs::copy(built, &aside).expect("a copy of suil");
        fs::set_permissions(&aside, fs::Permissions::from_mode(0o755)).expect("its mode");
        fs::rename(&aside, &copy).expect("its name");
        copy
    })
}
