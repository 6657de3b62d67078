//! N04, N20: nodes with little room, and little on them.

use crate::fleet::{Workspace, address, change, on, ops_password};
use std::fs;

const FOLDERS: &str = "ls -d /run/suil-* /run/user/*/suil-* /var/lib/suil-* /dev/shm/suil-* /tmp/suil-* /var/tmp/suil-* 2>/dev/null; true";

/// N04: nothing is executed from where nothing may be executed, and nothing of suil's lies where it is swept away.
#[test]
#[ignore = "needs the fleet"]
fn a_node_whose_temporary_folders_are_noexec_and_swept_is_worked_with() {
    let _mounts = change(
        "debian3",
        "for at in /tmp /var/tmp /dev/shm; do mount -t tmpfs -o noexec,nosuid,nodev,mode=1777 tmpfs $at; done; \
         mount --bind /home/ops /home/ops; mount -o remount,ro,bind /home/ops; \
         systemd-run -q --unit sweep sh -c 'while sleep 0.2; do find /tmp -mindepth 1 -mmin +0.016 -delete; done'",
        "systemctl stop sweep; umount /home/ops; for at in /tmp /var/tmp /dev/shm; do umount $at; done",
    );
    let workspace = Workspace::new(&[]);
    workspace.node("debian3", &address("debian3"), "  ssh_user: ops\n");
    workspace.role("modules: [tight]\n");
    workspace.module(
        "tight",
        "Config = schema(fail = t.bool(default = False))\n",
        r#"
def resources(config):
    return [
        file("/etc/tight", content = "tight\n"),
        command("script", run = "sleep 3; echo ran >/etc/tight.ran", creates = "/etc/tight.ran"),
        command("fails", run = "false", unless = "false") if config.fail else file("/etc/tight.last", content = ""),
    ]

def check(config, facts):
    return [] if facts["seen"] == "yes" else ["the collector did not run"]
"#,
    );
    workspace.write("modules/tight/facts/collector.sh", "#!/bin/sh\necho '{\"seen\": \"yes\"}'\n");
    on("debian3", "rm -f /etc/tight*");
    let apply = |args: &[&str]| {
        let mut command = workspace.command(&[&["apply", "--node", "debian3"], args].concat());
        crate::fleet::Ran::of(command.env("SUIL_SUDO_PASSWORD", ops_password()).output().expect("suil runs"))
    };
    apply(&["--confirm"]).expect(0);
    assert_eq!(on("debian3", "cat /etc/tight /etc/tight.ran"), "tight\nran\n");
    assert_eq!(on("debian3", FOLDERS), "");
    workspace.role("modules: [tight]\ntight: {fail: true}\n");
    apply(&["--confirm"]).expect(1);
    assert_eq!(on("debian3", FOLDERS), "", "after an error");
    on("debian3", "rm -f /etc/tight*");
}

/// N04: a node where nothing can be written says which places were tried.
#[test]
#[ignore = "needs the fleet"]
fn a_node_without_a_place_to_write_names_the_places() {
    // A login user without root, where no logind makes a folder for users.
    let _mounts = change(
        "busybox1",
        "for at in /tmp /var/tmp /dev/shm; do mount --bind $at $at && mount -o remount,ro,bind $at $at || exit 1; done",
        "for at in /dev/shm /var/tmp /tmp; do umount $at; done",
    );
    let workspace = Workspace::new(&[]);
    workspace.node("busybox1", &address("busybox1"), "  sudo: false\n");
    workspace.role("modules: [tight]\n");
    workspace.module("tight", "Config = schema()\n", "def resources(config):\n    return []\n");
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(1);
    for place in ["/run", "/var/lib", "/dev/shm", "/tmp", "/var/tmp"] {
        assert!(ran.stderr.contains(place), "{place} in\n{}", ran.stderr);
    }
}

/// N20: busybox, dropbear, no python, no sftp.
#[test]
#[ignore = "needs the fleet"]
fn a_node_with_busybox_alone_has_its_facts_files_and_users() {
    let workspace = Workspace::new(&["busybox1"]);
    workspace.node("busybox1", &address("busybox1"), "");
    workspace.role("modules: [small]\n");
    workspace.module(
        "small",
        "Config = schema()\n",
        r#"
def resources(config):
    return [
        directory("/etc/small", mode = "0750"),
        file("/etc/small/five.bin", source = "five.bin", mode = "0600"),
        file("/etc/small/a b's \"c\"", content = "odd\n"),
        group("small", gid = 4712),
        user("small", uid = 4712, group = "small", home = "/home/small", shell = "/bin/sh"),
        command("path", run = "umask >/etc/small/umask; command -v dropbear >>/etc/small/umask", creates = "/etc/small/umask"),
    ]
"#,
    );
    let mut bytes = Vec::with_capacity(5_000_000);
    let mut state: u32 = 2463534242;
    while bytes.len() < 5_000_000 {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    workspace.write("modules/small/files/.keep", "");
    fs::write(workspace.path().join("modules/small/files/five.bin"), &bytes).expect("a file");
    on("busybox1", "rm -rf /etc/small; deluser small 2>/dev/null; delgroup small 2>/dev/null; true");
    let facts = workspace.suil(&["facts", "--node", "busybox1"]).expect(0);
    assert!(facts.stdout.contains("family: alpine"), "{}", facts.stdout);
    workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
    let digest = suil::base::digest::sha256(&bytes);
    assert_eq!(on("busybox1", "sha256sum </etc/small/five.bin").split_whitespace().next(), Some(&*digest));
    assert_eq!(
        on("busybox1", "cat '/etc/small/a b'\\''s \"c\"'; id -u small; stat -c %a /etc/small /etc/small/five.bin"),
        "odd\n4712\n750\n600\n"
    );
    assert!(
        on("busybox1", "cat /etc/small/umask").starts_with("0022\n/usr/sbin/dropbear"),
        "umask and PATH are suil's own"
    );
    workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
    assert_eq!(workspace.outcome("busybox1"), "nothing to do");
    workspace.module(
        "small",
        "Config = schema()\n",
        "def resources(config):\n    return [package(\"fleet-lib\"), file(\"/etc/small/more\", content = \"\")]\n",
    );
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm"]);
    assert_ne!(ran.status, 0);
    assert!(ran.stderr.contains("apk") || ran.stderr.contains("alpine"), "{}", ran.stderr);
    on("busybox1", "rm -rf /etc/small; deluser small 2>/dev/null; delgroup small 2>/dev/null; true");
}

/// N20: a name that no tool of a node can take is refused when the module is loaded, with its place.
#[test]
#[ignore = "needs the fleet"]
fn a_path_with_a_line_break_works_or_is_refused_with_its_place() {
    let workspace = Workspace::new(&["busybox1"]);
    workspace.role("modules: [odd]\n");
    workspace.module(
        "odd",
        "Config = schema()\n",
        "def resources(config):\n    return [file(\"/etc/odd\\nname\", content = \"odd\\n\")]\n",
    );
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm"]);
    match ran.status {
        0 => assert_eq!(
            on("busybox1", "cat \"$(printf '/etc/odd\\nname')\"; rm -f \"$(printf '/etc/odd\\nname')\""),
            "odd\n"
        ),
        _ => assert!(ran.stderr.contains("modules/odd/code/main.star:2:"), "{}", ran.stderr),
    }
}
