//! The nodes, a workspace for them, and suil run on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

pub fn dir() -> PathBuf {
    std::env::var_os("FLEET_DIR").map_or_else(|| PathBuf::from("/var/tmp/fleet"), PathBuf::from)
}

/// The address of a node, read from the fleet's ssh_config.
pub fn address(node: &str) -> String {
    let config = fs::read_to_string(dir().join("ssh_config")).expect("the fleet is up");
    let mut lines = config.lines().skip_while(|line| *line != format!("Host {node}"));
    let host = lines.nth(1).unwrap_or_else(|| panic!("{node} is in the fleet"));
    host.trim().trim_start_matches("HostName ").to_owned()
}

/// Runs a command on a node as root, outside suil.
pub fn on(node: &str, command: &str) -> String {
    let output = Command::new("ssh")
        .arg("-F")
        .arg(dir().join("ssh_config"))
        .args(["-o", "BatchMode=yes", &format!("root@{node}"), command])
        .stdin(Stdio::null())
        .output()
        .expect("ssh runs");
    assert!(output.status.success(), "`{command}` on {node}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Waits until a node's sshd answers; panics after a minute.
pub fn wait_for_sshd(node: &str) {
    let address = format!("{}:22", address(node)).parse().expect("an address");
    for _ in 0..600 {
        let second = std::time::Duration::from_secs(1);
        if std::net::TcpStream::connect_timeout(&address, second).is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    panic!("{node} has no sshd again");
}

/// A workspace in a folder of its own.
pub struct Workspace {
    folder: tempfile::TempDir,
}

/// How suil ended and what it said.
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

    pub fn expect(self, status: i32) -> Ran {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }
}

impl Workspace {
    /// A workspace with the role `web` over `nodes`, logged in to as `deploy`.
    pub fn new(nodes: &[&str]) -> Workspace {
        let workspace = Workspace { folder: tempfile::tempdir().expect("a folder") };
        let fleet = dir();
        workspace.write(
            "data/common.yaml",
            &format!(
                "deployment:\n  ssh_user: deploy\n  ssh_key: {key}\n  ssh_options:\n    - UserKnownHostsFile={hosts}\n    - IdentitiesOnly=yes\n\
                 hierarchy:\n  - os/{{family}}/{{release}}.yaml\n  - roles/{{role}}.yaml\n  - nodes/{{node}}.yaml\n",
                key = fleet.join("key").display(),
                hosts = fleet.join("known_hosts").display(),
            ),
        );
        for node in nodes {
            workspace.node(node, &address(node), "");
        }
        workspace
    }

    pub fn node(&self, node: &str, host: &str, more: &str) {
        let text = format!("role: web\ndeployment:\n  ssh_host: {host}\n{more}");
        self.write(&format!("data/nodes/{node}.yaml"), &text);
    }

    pub fn role(&self, text: &str) {
        self.write("data/roles/web.yaml", text);
    }

    /// A module `name` whose code is `main` and whose schema is `config`.
    pub fn module(&self, name: &str, config: &str, main: &str) {
        self.write(&format!("modules/{name}/code/config.star"), config);
        self.write(&format!("modules/{name}/code/main.star"), main);
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_suil"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command.env_remove("SUIL_AGE_KEY").env_remove("SUIL_SUDO_PASSWORD");
        command
    }

    pub fn suil(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().expect("suil runs"))
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
    }

    /// The last line of a node in the summary: `debian1  done, 3 operations`.
    pub fn outcome(&self, node: &str) -> String {
        let summary: serde_json::Value =
            serde_saphyr::from_str(&self.read(".runs/latest/summary.yaml")).expect("a summary");
        summary["nodes"][node]["outcome"].as_str().unwrap_or("none").to_owned()
    }
}
