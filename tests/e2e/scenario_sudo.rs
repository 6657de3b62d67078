//! N05, N06: how root is become.

use crate::fleet::{FREE, Ran, Undo, Workspace, account, address, change, on};
use std::fs;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

const PASSWORD: &str = r#"a'b"c$d;e f\\g%h"#;
const ASKS: &str = "ALL=(ALL:ALL) ALL";

fn workspace(users: &[&str]) -> Workspace {
    let workspace = Workspace::new(&[]);
    workspace.role("modules: [who]\n");
    workspace.module(
        "who",
        "Config = schema()\n",
        "def resources(config):\n    return [file(\"/etc/who-\" + config.suil.ssh_user, content = \"root\\n\")]\n",
    );
    on("debian1", "rm -f /etc/who-*");
    for user in users {
        workspace.node(&format!("n-{user}"), &address("debian1"), &format!("  ssh_user: {user}\n"));
    }
    workspace
}

/// Four users whom sudo asks, the second with the lecture, the third slowly, the fourth with another password, and one
/// whom it does not ask.
fn five() -> Vec<Undo> {
    let mut undo = Vec::new();
    for (user, password, rule) in [
        ("one", PASSWORD, ASKS),
        ("lectured", PASSWORD, ASKS),
        ("slow", PASSWORD, ASKS),
        ("other", "other", ASKS),
        ("free", "x", FREE),
    ] {
        undo.push(account("debian1", user, "/bin/bash", rule));
        let line = format!("{user}:{password}").replace('\'', r"'\''");
        on("debian1", &format!("printf '%s\\n' '{line}' | chpasswd"));
    }
    on("debian1", "printf 'Defaults:lectured lecture=always\\n' >>/etc/sudoers.d/lectured");
    undo.push(change(
        "debian1",
        "printf '#!/bin/sh\\n[ \"$PAM_USER\" != slow ] || sleep 6\\n' >/root/slow; chmod 755 /root/slow; cp /etc/pam.d/sudo /root/sudo.pam; \
         sed -i '2i auth optional pam_exec.so quiet /root/slow' /etc/pam.d/sudo",
        "[ ! -e /root/sudo.pam ] || cp /root/sudo.pam /etc/pam.d/sudo; rm -f /root/slow /root/sudo.pam",
    ));
    undo
}

const FIVE: [&str; 5] = ["one", "lectured", "slow", "other", "free"];

/// N05
#[test]
#[ignore = "needs the fleet"]
fn the_sudo_password_of_the_environment_is_used_once_a_node_and_seen_nowhere() {
    let _undo = five();
    let workspace = workspace(&FIVE);
    let before = refusals();
    let mut command = workspace.command(&["apply", "--role", "web", "--confirm"]);
    let child = command.env("SUIL_SUDO_PASSWORD", PASSWORD).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.expect("suil starts");
    let own = child.id();
    while child.try_wait().expect("a child").is_none() {
        unseen(own);
        std::thread::sleep(Duration::from_millis(20));
    }
    let ran = Ran::of(child.wait_with_output().expect("an end")).expect(1);
    for user in ["one", "lectured", "slow", "free"] {
        assert_eq!(workspace.outcome(&format!("n-{user}")), "done", "{}", ran.stderr);
        assert_eq!(on("debian1", &format!("cat /etc/who-{user}")), "root\n");
    }
    assert_eq!(workspace.outcome("n-other"), "not reached");
    assert!(ran.stderr.contains("sudo refused the password"), "{}", ran.stderr);
    let tries = refusals() - before;
    assert!(tries <= 1, "one try at most: {tries}");
    for text in [
        &ran.stdout,
        &ran.stderr,
        &workspace.read(".runs/latest/events.jsonl"),
        &workspace.read(".runs/latest/summary.yaml"),
    ] {
        assert!(!text.contains("c$d;e"), "{text}");
    }
}

/// How often sudo refused the user with another password, since the node booted.
fn refusals() -> u32 {
    let count =
        "journalctl -q -b --no-pager | grep -c 'pam_unix(sudo:auth): authentication failure.*user=other' || true";
    on("debian1", count).trim().parse().expect("a count")
}

/// The password is in no argument, and in no environment but suil's own.
fn unseen(own: u32) {
    let program = fs::read_link(format!("/proc/{own}/exe")).ok();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let shows = |file: &str| {
            let text = fs::read(entry.path().join(file)).unwrap_or_default();
            String::from_utf8_lossy(&text).contains("c$d;e")
        };
        let pid = entry.file_name().to_string_lossy().into_owned();
        assert!(!shows("cmdline"), "process {pid} shows the password in its arguments");
        if shows("environ") && pid != own.to_string() {
            // A child is suil still until it becomes another program, which takes no time.
            std::thread::sleep(Duration::from_millis(100));
            let other = fs::read_link(entry.path().join("exe")).ok() != program;
            assert!(!(other && shows("environ")), "process {pid} shows the password in its environment");
        }
    }
}

/// N05: without a terminal and without a password nothing is asked; the nodes that need one are named.
#[test]
#[ignore = "needs the fleet"]
fn without_a_password_and_a_terminal_the_nodes_that_need_one_are_named_at_once() {
    let _undo = five();
    let workspace = workspace(&["one", "free"]);
    let begun = Instant::now();
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(1);
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!((workspace.outcome("n-one"), workspace.outcome("n-free")), ("not reached".into(), "done".into()));
    assert!(ran.stderr.contains("n-one") && ran.stderr.contains("SUIL_SUDO_PASSWORD"), "{}", ran.stderr);
}

/// N05: on a terminal the password is asked for once, and not shown.
#[test]
#[ignore = "needs the fleet"]
fn a_terminal_is_asked_once_for_all_nodes() {
    let _undo = five();
    let workspace = workspace(&["one", "lectured", "free"]);
    let mut command = workspace.command(&[]);
    let suil = command.get_program().to_string_lossy().into_owned();
    let line = format!("{suil} apply --role web --confirm");
    let mut terminal = std::process::Command::new("script");
    terminal
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .current_dir(workspace.path())
        .env_remove("SUIL_SUDO_PASSWORD");
    command = terminal;
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a terminal");
    let mut keys = child.stdin.take().expect("stdin");
    let mut screen = child.stdout.take().expect("stdout");
    let (mut shown, mut part) = (String::new(), [0; 4096]);
    loop {
        let n = screen.read(&mut part).expect("the screen");
        shown.push_str(&String::from_utf8_lossy(&part[..n]));
        if n == 0 || shown.contains("sudo password") {
            break;
        }
    }
    // The terminal shows what is typed until suil has turned that off, right behind the question.
    std::thread::sleep(Duration::from_millis(500));
    keys.write_all(format!("{PASSWORD}\r").as_bytes()).expect("keys");
    let mut rest = Vec::new();
    screen.read_to_end(&mut rest).expect("the screen");
    shown.push_str(&String::from_utf8_lossy(&rest));
    drop(keys);
    assert!(child.wait().expect("an end").success(), "{shown}");
    assert_eq!(shown.matches("sudo password").count(), 1, "{shown}");
    assert!(!shown.contains("c$d;e"), "{shown}");
    for user in ["one", "lectured", "free"] {
        assert_eq!(workspace.outcome(&format!("n-{user}")), "done", "{shown}");
    }
}

/// N06
#[test]
#[ignore = "needs the fleet"]
fn requiretty_and_narrow_rules_work_or_are_named() {
    let rules = [
        ("noterm", FREE, "Defaults:noterm requiretty"),
        ("pty", FREE, "Defaults:pty use_pty"),
        ("shonly", "ALL=(root) NOPASSWD: /bin/sh", ""),
        ("named", "ALL=(root) /usr/bin/id, /usr/bin/ls", ""),
    ];
    let mut undo = Vec::new();
    for (user, rule, more) in rules {
        undo.push(account("debian1", user, "/bin/bash", rule));
        on("debian1", &format!("printf '%s\\n' '{more}' >>/etc/sudoers.d/{user}"));
    }
    let workspace = workspace(&["noterm", "pty", "shonly", "named"]);
    on("debian1", "echo named:Xy7-Xy7 | chpasswd");
    let mut command = workspace.command(&["apply", "--role", "web", "--confirm"]);
    let ran = Ran::of(command.env("SUIL_SUDO_PASSWORD", "Xy7-Xy7").output().expect("suil runs")).expect(1);
    assert_eq!(workspace.outcome("n-pty"), "done", "{}", ran.stderr);
    assert_eq!(workspace.outcome("n-shonly"), "done", "{}", ran.stderr);
    assert!(workspace.outcome("n-noterm") == "done" || ran.stderr.contains("(`requiretty`)"), "{}", ran.stderr);
    assert_eq!(workspace.outcome("n-named"), "not reached");
    assert!(ran.stderr.contains("/bin/sh"), "the command that sudo refused: {}", ran.stderr);
}
