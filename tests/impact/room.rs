//! A workspace in a git repository, and suil run on it in a sealed room: no environment, no configuration of git but
//! the repository's own, no terminal.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

pub struct Room {
    folder: TempDir,
    /// The folder of the workspace in the repository; empty for the top.
    below: String,
    pub variables: Vec<(String, String)>,
}

/// How a program ended and what it said.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    #[track_caller]
    pub fn expect(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}:\n{}", self.stdout))
    }

    /// The nodes that the answer names.
    pub fn nodes(&self) -> Vec<String> {
        let all = self.json()["nodes"].as_array().expect("nodes").clone();
        let name = |node: &Value| node["node"].as_str().or(node["name"].as_str()).expect("a name").to_owned();
        all.iter().map(name).collect()
    }
}

pub const COMMON: &str =
    "hierarchy: [all.yaml, \"os/{family}/{release}.yaml\", \"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n";

impl Room {
    /// Two roles of two nodes each, all of them with the module `page`, which writes a file from a template; committed.
    pub fn new() -> Room {
        Room::below("")
    }

    /// The same in a folder of the repository.
    pub fn below(below: &str) -> Room {
        let room =
            Room { folder: tempfile::tempdir().expect("a folder"), below: below.to_owned(), variables: Vec::new() };
        for folder in ["home", "repo"] {
            fs::create_dir_all(room.folder.path().join(folder)).expect("a folder");
        }
        room.git(&["init", "--quiet", "--initial-branch=main"]);
        room.write("data/common.yaml", COMMON);
        room.write("data/roles/web.yaml", "modules: [page]\npage:\n  title: Web\n  lines: [one, two]\n");
        room.write("data/roles/db.yaml", "modules: [page]\npage:\n  title: Database\n");
        for (node, role) in [("db-1", "db"), ("db-2", "db"), ("web-1", "web"), ("web-2", "web")] {
            room.write(&format!("data/nodes/{node}.yaml"), &format!("role: {role}\n"));
            room.write(&format!("facts/{node}/suil.yaml"), "facts: {family: debian, release: 12}\n");
        }
        room.write(
            "modules/page/code/config.star",
            "Config = schema(title = t.string(), lines = t.list(t.string(), default = []), peers = t.list(t.string(), default = []), \
             token = t.secret(optional = True))\n",
        );
        room.write(
            "modules/page/code/main.star",
            "def resources(config):\n    return [file(\"/srv/page\", template = \"page.j2\", mode = \"0644\")]\n",
        );
        room.write(
            "modules/page/templates/page.j2",
            "# {{ title }}\n{% for line in lines %}\n- {{ line }}\n{% endfor %}\n{% for peer in peers %}\n* {{ peer }}\n\
             {% endfor %}\n{% if token %}\ntoken {{ token }}\n{% endif %}\nthe end\n",
        );
        room.write(".gitignore", "facts/\n");
        room.commit("one");
        room
    }

    pub fn repository(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    pub fn path(&self) -> PathBuf {
        self.repository().join(&self.below)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.path().join(path)).expect("a file");
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    pub fn git(&self, args: &[&str]) -> String {
        let mut command = self.sealed("git", &self.repository());
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(args);
        let ran = run(command);
        assert_eq!(ran.status, 0, "git {args:?}: {}", ran.stderr);
        ran.stdout
    }

    pub fn suil(&self, args: &[&str]) -> Ran {
        self.suil_in(&self.path(), args)
    }

    pub fn suil_in(&self, folder: &Path, args: &[&str]) -> Ran {
        let mut command = self.sealed(env!("CARGO_BIN_EXE_suil"), folder);
        command.args(args).envs(self.variables.iter().cloned());
        run(command)
    }

    /// `suil diff` in its form for programs.
    #[track_caller]
    pub fn diff(&self, args: &[&str]) -> Ran {
        self.suil(&[&["diff", "--output", "json"], args].concat()).expect(0)
    }

    fn sealed(&self, program: &str, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CEILING_DIRECTORIES", self.folder.path())
            .stdin(Stdio::null());
        command
    }
}

fn run(mut command: Command) -> Ran {
    let output = command.output().expect("a program");
    Ran {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
