//! N01, N02, N03: login shells, and what talks before the session does.

use crate::fleet::{FREE, Workspace, account, address, change, install, on};
use std::time::{Duration, Instant};

const MAIN: &str = r##"
def resources(config):
    return [
        file("/etc/app.conf", content = "path = C:\\\\share\\\\x\nvalue = it's $HOME !ok \"q\"\n"),
        command(
            "words",
            run = """
export LC_ALL=C
(cd /etc && printf '%s %s\\n' "$(basename "$PWD")" "$LC_ALL" >/etc/app.words) && cat >>/etc/app.words <<'END'
it's \\ $HOME `pwd` !x "q" {a,b} *
END
""",
            creates = "/etc/app.words",
        ),
    ]
"##;

const WORDS: &str = "etc C\nit's \\ $HOME `pwd` !x \"q\" {a,b} *\n";

fn workspace(nodes: &[&str]) -> Workspace {
    let workspace = Workspace::new(nodes);
    workspace.role("modules: [app]\n");
    workspace.module("app", "Config = schema()\n", MAIN);
    for node in nodes {
        on(node, "rm -f /etc/app.conf /etc/app.words");
    }
    workspace
}

fn shell_of(workspace: &Workspace, node: &str) -> String {
    let facts = workspace.suil(&["facts", "--node", node, "--output", "json"]).expect(0);
    let facts: serde_json::Value = serde_json::from_str(&facts.stdout).expect("JSON");
    facts["facts"][node]["suil"]["shell"].as_str().expect("a shell").to_owned()
}

/// N01, and the first user of N02: what runs is the same under every login shell.
#[test]
#[ignore = "needs the fleet"]
fn fish_and_tcsh_as_login_shells_change_nothing() {
    for shell in ["fish", "tcsh"] {
        install("debian1", shell);
    }
    let _fishy = account("debian1", "fishy", "/usr/bin/fish", FREE);
    let _tcshy = account("debian1", "tcshy", "/bin/tcsh", FREE);
    for (user, shell) in [("fishy", "/usr/bin/fish"), ("tcshy", "/bin/tcsh")] {
        let workspace = workspace(&["debian1", "debian2"]);
        workspace.node("debian1", &address("debian1"), &format!("  ssh_user: {user}\n"));
        assert_eq!(shell_of(&workspace, "debian1"), shell);
        workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
        let made = on("debian1", "cat /etc/app.conf /etc/app.words");
        assert_eq!(made, on("debian2", "cat /etc/app.conf /etc/app.words"), "as through bash");
        assert!(made.starts_with("path = C:\\\\share\\\\x\nvalue = it's $HOME !ok \"q\"\n"), "{made}");
        assert!(made.ends_with(WORDS), "{made}");
        workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
        assert_eq!(
            (workspace.outcome("debian1"), workspace.outcome("debian2")),
            ("nothing to do".into(), "nothing to do".into())
        );
    }
}

/// N02: a shell that is no shell is named with its own words, soon, and the healthy node is done.
#[test]
#[ignore = "needs the fleet"]
fn a_login_shell_that_is_none_is_named_with_what_it_said() {
    let _vendor = change(
        "debian1",
        "mkdir -p /opt/vendor; printf '#!/bin/sh\\necho \"invalid option -- c\"\\nexit 2\\n' >/opt/vendor/cli; chmod 755 /opt/vendor/cli",
        "rm -rf /opt/vendor",
    );
    let _closed = account("debian1", "closed", "/usr/sbin/nologin", FREE);
    let _boxed = account("debian1", "boxed", "/opt/vendor/cli", FREE);
    let workspace = workspace(&["debian1", "debian2"]);
    workspace.node("debian1", &address("debian1"), "  ssh_user: closed\n");
    workspace.node("debian3", &address("debian1"), "  ssh_user: boxed\n");
    let begun = Instant::now();
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(1);
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
    assert_eq!(workspace.outcome("debian2"), "done");
    for (node, words) in [("debian1", "This account is currently not available"), ("debian3", "invalid option -- c")] {
        assert_eq!(workspace.outcome(node), "not reached");
        assert!(ran.stderr.contains(words), "{words} in\n{}", ran.stderr);
    }
    assert!(ran.stderr.contains("login shell"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("unreachable") && !ran.stderr.contains("authentication"), "{}", ran.stderr);
}

/// N03: banners, start-up files and log-out files talk; facts and files are right, and none of it is shown.
#[test]
#[ignore = "needs the fleet"]
fn what_servers_and_start_up_files_say_is_no_answer() {
    let _banner = change(
        "debian1",
        "echo NOISE-BANNER >/etc/issue.noise; echo 'Banner /etc/issue.noise' >/etc/ssh/sshd_config.d/noise.conf; systemctl reload ssh",
        "rm -f /etc/issue.noise /etc/ssh/sshd_config.d/noise.conf; systemctl reload ssh",
    );
    let _noisy = account("debian1", "noisy", "/bin/bash", FREE);
    on(
        "debian1",
        "printf 'printf \"\\\\033[31mNOISE-RC\\\\033[0m\\\\n\"; echo NOISE-ERR >&2\\n' | tee /home/noisy/.bashrc >/home/noisy/.profile; \
         echo 'echo NOISE-SSH' >/home/noisy/.ssh/rc; echo 'echo NOISE-OUT; false' >/home/noisy/.bash_logout; chown -R noisy: /home/noisy",
    );
    let _expired = account("debian2", "expired", "/bin/bash", FREE);
    on("debian2", "chage -d 0 expired");
    let workspace = workspace(&["debian1", "debian2"]);
    workspace.node("debian1", &address("debian1"), "  ssh_user: noisy\n  ssh_persist: false\n");
    workspace.node("debian2", &address("debian2"), "  ssh_user: expired\n");
    workspace.module(
        "app",
        "Config = schema()\n",
        "def resources(config):\n    return [file(\"/opt/five\", content = \"0123456789abcde\\n\" * 327680), command(\"read\", run = \"sha256sum </opt/five >/opt/five.sum\", creates = \"/opt/five.sum\")]\n",
    );
    on("debian1", "rm -f /opt/five*");
    let begun = Instant::now();
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(1);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(workspace.outcome("debian1"), "done");
    let digest = suil::base::digest::sha256("0123456789abcde\n".repeat(327680).as_bytes());
    assert!(on("debian1", "cat /opt/five.sum; sha256sum </opt/five").lines().all(|line| line.starts_with(&digest)));
    for text in [
        &ran.stdout,
        &ran.stderr,
        &workspace.read("facts/debian1/app.yaml"),
        &workspace.read(".runs/latest/events.jsonl"),
    ] {
        assert!(!text.contains("NOISE"), "{text}");
    }
    assert_eq!(workspace.outcome("debian2"), "not reached");
    assert!(ran.stderr.to_lowercase().contains("password"), "the notice is the error: {}", ran.stderr);
    on("debian1", "rm -f /opt/five*");
}
