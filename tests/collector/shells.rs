//! The shells that collector code must run under, and a way to run it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use suil::resource::{Facts, Request, fact};

pub struct Shell {
    pub name: &'static str,
    program: &'static [&'static str],
    path: String,
    /// Holds the links of busybox for as long as the shell is used.
    _tools: Option<tempfile::TempDir>,
}

/// Every shell of this machine that counts; at least one.
pub fn shells() -> Vec<Shell> {
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let there = |program: &str| {
        path.split(':').map(|folder| Path::new(folder).join(program)).find(|file: &PathBuf| file.exists())
    };
    let mut shells = Vec::new();
    for name in ["dash", "bash"] {
        if there(name).is_some() {
            let program: &[&str] = if name == "dash" { &["dash"] } else { &["bash"] };
            shells.push(Shell { name, program, path: path.to_owned(), _tools: None });
        }
    }
    if let Some(busybox) = there("busybox") {
        // Only busybox's own tools are in reach, as on a node that has nothing else.
        let tools = tempfile::tempdir().expect("a folder");
        let installed = Command::new(&busybox).args(["--install", "-s"]).arg(tools.path()).status();
        assert!(installed.expect("busybox runs").success());
        let path = tools.path().display().to_string();
        shells.push(Shell { name: "busybox", program: &["busybox", "sh"], path, _tools: Some(tools) });
    }
    assert!(!shells.is_empty(), "expected dash, bash or busybox on this machine");
    shells
}

impl Shell {
    /// Runs `text` with the functions of `collector/` in reach.
    pub fn run(&self, text: &str, args: &[&str]) -> Output {
        let collector = Path::new(env!("CARGO_MANIFEST_DIR")).join("collector");
        let mut program = String::new();
        for part in ["lib.sh", "lib-system.sh", "facts.sh", "facts-system.sh"] {
            program.push_str(&std::fs::read_to_string(collector.join(part)).expect("collector code"));
        }
        program.push_str(text);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), program).expect("written");
        Command::new(self.program.first().expect("a program"))
            .args(self.program.iter().skip(1))
            .arg(file.path())
            .args(args)
            .env_clear()
            .env(
                "PATH",
                if self.name == "busybox" { format!("{}:/bin:/usr/bin", self.path) } else { self.path.clone() },
            )
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .expect("the shell runs")
    }

    /// Asks for facts.
    pub fn ask(&self, requests: &[Request]) -> Facts {
        let output = self.run(&format!("set -u\n{}", fact::script(requests)), &[]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", self.name);
        fact::parse(requests, &output.stdout)
    }
}
