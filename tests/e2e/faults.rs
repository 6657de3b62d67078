//! suil and nodes that die in the middle.

use crate::fleet::{Workspace, address, dir, on, there, until};
use std::process::Stdio;
use std::time::Duration;

const MAIN: &str = r#"
def resources(config):
    return [directory("/etc/fault")] + [
        file("/etc/fault/%d" % n, content = "".join(["%d of node %s\n" % (n, config.suil.node)] * 2000)) for n in range(40)
    ] + [command("slow", run = "sleep 0.5; touch /run/fault-begun; while [ -e /run/fault-hold ]; do sleep 0.1; done; touch /etc/fault/end", creates = "/etc/fault/end")]
"#;

fn workspace() -> Workspace {
    let workspace = Workspace::new(&["debian1"]);
    workspace.role("modules: [fault]\n");
    workspace.module("fault", "Config = schema()\n", MAIN);
    on("debian1", "rm -rf /etc/fault /run/fault-*");
    workspace
}

/// Every file is whole or absent, and nothing of suil's is left.
fn no_half_files() {
    on(
        "debian1",
        "cd /etc/fault 2>/dev/null || exit 0; for f in $(seq 0 39); do [ ! -e $f ] || [ $(wc -l <$f) = 2000 ] || exit 1; done",
    );
}

fn nothing_is_left() {
    let left = "ls -A /etc/fault | grep -Ev '^([0-9]+|end)$'; \
                ls -d /run/suil* /tmp/suil* /var/lib/suil* /run/user/*/suil* 2>/dev/null; pgrep -f 'iflag=full[b]lock'; true";
    until("nothing of suil's is left", || on("debian1", left).is_empty());
}

#[test]
#[ignore = "needs the fleet"]
fn killing_suil_in_mid_apply_leaves_whole_files_and_the_next_run_converges() {
    for wait in [120, 250, 400, 700] {
        let workspace = workspace();
        let mut child = workspace
            .command(&["apply", "--node", "debian1", "--confirm"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("suil starts");
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().expect("a kill");
        child.wait().expect("an end");
        no_half_files();
        workspace.suil(&["apply", "--node", "debian1", "--confirm"]).expect(0);
        no_half_files();
        assert_eq!(on("debian1", "ls /etc/fault | wc -l"), "41\n");
        nothing_is_left();
        workspace.suil(&["apply", "--node", "debian1", "--confirm"]).expect(0);
        assert_eq!(workspace.outcome("debian1"), "nothing to do");
    }
}

#[test]
#[ignore = "needs the fleet"]
fn killing_the_session_on_the_node_is_in_doubt_or_failed_and_the_next_run_converges() {
    let workspace = workspace();
    on("debian1", "touch /run/fault-hold");
    let child = workspace
        .command(&["apply", "--node", "debian1", "--confirm"])
        // The plan is longer than a pipe holds.
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("suil starts");
    until("the slow command begins", || there("debian1", "/run/fault-begun"));
    on("debian1", "pkill -9 -u deploy || true");
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(workspace.outcome("debian1"), "in doubt", "{}", String::from_utf8_lossy(&output.stderr));
    no_half_files();
    until("the session has ended what it ran", || !there("debian1", "/run/suil.lock"));
    on("debian1", "rm /run/fault-hold");
    workspace.suil(&["apply", "--node", "debian1", "--confirm"]).expect(0);
    nothing_is_left();
}

#[test]
#[ignore = "needs the fleet"]
fn a_wrong_key_and_a_failing_operation_stop_their_node_alone() {
    let workspace = Workspace::new(&["debian1", "debian2", "debian3"]);
    workspace.role("modules: [part]\n");
    workspace.module(
        "part",
        "Config = schema(fail = t.bool(default = False))\n",
        r#"
def resources(config):
    return [
        file("/etc/part-first", content = "first\n"),
        command("middle", run = "false" if config.fail else "true", unless = "false" if config.fail else "true"),
        file("/etc/part-last", content = "last\n"),
    ]
"#,
    );
    for node in ["debian1", "debian2", "debian3"] {
        on(node, "rm -f /etc/part-first /etc/part-last");
    }
    workspace.node("debian2", &address("debian2"), "part:\n  fail: true\n");
    let key = dir().join("key.pub").display().to_string();
    workspace.node("debian3", &address("debian3"), &format!("  ssh_key: {key}\n"));
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(1);
    assert_eq!(workspace.outcome("debian1"), "done");
    assert_eq!(workspace.outcome("debian2"), "failed");
    assert_eq!(workspace.outcome("debian3"), "not reached");
    assert_eq!(on("debian2", "cat /etc/part-first; ls /etc/part-last 2>/dev/null || echo none"), "first\nnone\n");
    assert!(ran.stderr.contains("node `debian2`"), "{}", ran.stderr);
}

#[test]
#[ignore = "needs the fleet"]
fn what_would_shut_suil_out_is_taken_back() {
    let workspace = Workspace::new(&["debian3"]);
    workspace.role("modules: [shut]\n");
    workspace.module(
        "shut",
        "Config = schema()\n",
        r#"
def resources(config):
    conf = file("/etc/ssh/sshd_config.d/50-shut.conf", content = "AllowUsers nobody\n", validate = "sshd -t -f %s")
    return [conf, service("ssh", enabled = True, running = True, reload_on = [conf])]
"#,
    );
    let ran = workspace.suil(&["apply", "--node", "debian3", "--confirm"]).expect(1);
    assert_eq!(workspace.outcome("debian3"), "failed");
    for words in ["shut suil out", "was taken back"] {
        assert!(ran.stderr.contains(words), "{words} in\n{}", ran.stderr);
    }
    assert_eq!(on("debian3", "ls /etc/ssh/sshd_config.d | grep shut || echo none"), "none\n");
    workspace.suil(&["facts", "--node", "debian3"]).expect(0);
}
