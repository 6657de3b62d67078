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
    let mut output = ssh(node, command);
    for _ in 0..100 {
        // The test before this one may have restarted sshd; nothing was run then.
        if output.status.code() != Some(255) || !String::from_utf8_lossy(&output.stderr).contains("Connection refused")
        {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
        output = ssh(node, command);
    }
    assert!(output.status.success(), "`{command}` on {node}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn ssh(node: &str, command: &str) -> Output {
    Command::new("ssh")
        .arg("-F")
        .arg(dir().join("ssh_config"))
        .args(["-o", "BatchMode=yes", &format!("root@{node}"), command])
        .stdin(Stdio::null())
        .output()
        .expect("ssh runs")
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

/// Waits until something is so; panics after a minute.
#[track_caller]
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while begun.elapsed().as_secs() < 60 {
        if so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    panic!("not within a minute: {what}");
}

/// True where a node has this file.
pub fn there(node: &str, path: &str) -> bool {
    on(node, &format!("[ ! -e {path} ] || echo yes")) == "yes\n"
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

/// What a test changed on a node, put back when the test ends, however it ends.
pub struct Undo {
    node: String,
    command: String,
}

impl Drop for Undo {
    fn drop(&mut self) {
        let mut ssh = Command::new("ssh");
        ssh.arg("-F").arg(dir().join("ssh_config"));
        let node = format!("root@{}", self.node);
        let ended = ssh.args(["-o", "BatchMode=yes", &node, &self.command]).stdin(Stdio::null()).output();
        if !ended.is_ok_and(|output| output.status.success()) && !std::thread::panicking() {
            panic!("{} was not put back by `{}`", self.node, self.command);
        }
    }
}

/// Changes a node, and puts it back by `back` when the test ends.
pub fn change(node: &str, command: &str, back: &str) -> Undo {
    let undo = Undo { node: node.to_owned(), command: back.to_owned() };
    on(node, command);
    undo
}

/// A user with the fleet's key and this login shell, who is in sudoers by `rule`, for as long as the test runs.
pub fn account(node: &str, name: &str, shell: &str, rule: &str) -> Undo {
    change(
        node,
        &format!(
            "userdel -rf {name} 2>/dev/null; useradd -m -s {shell} {name} && \
             install -d -m 700 -o {name} -g {name} /home/{name}/.ssh && \
             install -m 600 -o {name} -g {name} /root/.ssh/authorized_keys /home/{name}/.ssh/authorized_keys && \
             printf '%s\\n' '{name} {rule}' >/etc/sudoers.d/{name} && chmod 440 /etc/sudoers.d/{name}"
        ),
        &format!("pkill -9 -u {name}; userdel -rf {name} 2>/dev/null; rm -rf /etc/sudoers.d/{name} /home/{name}; true"),
    )
}

pub const FREE: &str = "ALL=(ALL:ALL) NOPASSWD: ALL";

/// Installs a package on a node where it is not there yet.
pub fn install(node: &str, package: &str) {
    on(
        node,
        &format!(
            "command -v {package} >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get -qq install -y {package} >/dev/null 2>&1 || \
             {{ apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y {package}; }} >/dev/null 2>&1"
        ),
    );
}

/// The password of the user `ops`.
pub fn ops_password() -> String {
    fs::read_to_string(dir().join("ops-password")).expect("the fleet is up").trim().to_owned()
}
