//! Asks suil for completions as a shell does.

#![allow(clippy::disallowed_methods)]

#[path = "cli/room.rs"]
#[allow(dead_code, reason = "others need the rest")]
mod room;

use room::Room;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

const WEB: &str = "web-01.example.com";

fn example() -> Room {
    Room::copy("data-example")
}

/// The candidates for the last of the words, as `shell` gets them, in `folder`.
#[track_caller]
fn ask(room: &Room, shell: &str, folder: &str, words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let variables = [("SUIL_COMPLETE", shell), ("_CLAP_COMPLETE_INDEX", &*index), ("_CLAP_IFS", "\n")];
    let left = room.run_in(folder, &variables, &[&["--"], words].concat());
    assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{words:?}");
    left.stdout.lines().map(str::to_owned).collect()
}

/// The same without options, in bash, at the root of the workspace.
#[track_caller]
fn names(room: &Room, words: &[&str]) -> Vec<String> {
    let mut found = ask(room, "bash", "", &[&["suil"], words].concat());
    found.retain(|word| !word.starts_with('-'));
    found
}

#[test]
fn nodes_roles_and_modules_come_from_the_workspace() {
    let room = example();
    let nodes =
        ["db-01.example.com", "db-02.example.com", "here.example.com", "web-01.example.com", "web-02.example.com"];
    assert_eq!(names(&room, &["config", "--node", ""]), nodes);
    assert_eq!(names(&room, &["explain", "web"]), nodes[3..]);
    assert_eq!(names(&room, &["apply", "-r", "d"]), ["db", "demo"]);
    assert_eq!(names(&room, &["apply", "--role", "db", "demo", "w"]), ["web"], "an option of several values");
    assert_eq!(names(&room, &["apply", "--role", "db", "--module", "s"]), ["ssh", "status", "sysctl"]);
    assert_eq!(names(&room, &["test", "ho"]), ["hosts"]);
    assert_eq!(names(&room, &["schema", "ho"]), ["hosts"]);
    assert_eq!(names(&room, &["nodes", "--output", ""]), ["text", "json", "yaml"]);
    assert_eq!(names(&room, &["ap"]), ["apply"]);
}

#[test]
fn layers_come_from_the_tree_and_surgeries_from_their_records() {
    let room = Room::new();
    for layer in ["kiln/layers/harbor", "kiln/layers/meadow", "barn/layers/harbor"] {
        room.write(&format!("stacks/{layer}/l.tfvars"), "");
    }
    for (path, text) in [
        ("environments/harbor/env.tfvars", ""),
        ("stacks/kiln/base/main.tf", ""),
        ("stacks/barn/base/main.tf", ""),
        (
            ".suil/surgery/2026-11-30T08-42-13Z-kiln-harbor/manifest.json",
            r#"{"version": 1, "surgery": "move", "started": "", "by": "", "outcome": "done", "layers": []}"#,
        ),
    ] {
        room.write(path, text);
    }
    let inside =
        |words: &[&str]| ask(&room, "bash", "stacks/kiln/layers/harbor", &[&["suil", "infra"], words].concat());
    let kiln = ["stacks/kiln/layers/harbor", "stacks/kiln/layers/meadow"];
    assert_eq!(inside(&["render", "stacks/k"]), kiln);
    assert_eq!(inside(&["surgery", "move", "a.b", "--to", "stacks/b"]), ["stacks/barn/layers/harbor"]);
    assert_eq!(inside(&["surgery", "list", "--layer", "../m"]), ["../meadow/"]);
    assert_eq!(inside(&["surgery", "undo", "2026"]), ["2026-11-30T08-42-13Z"]);
}

#[test]
fn every_command_is_offered() {
    let room = Room::new();
    let help = room.run(&["--help"]).stdout;
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A line that goes on with the words of a command begins further right.
    let commands = commands.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let commands: Vec<&str> = commands.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 10, "{help}");
    assert_eq!(names(&room, &[""]), commands);
}

#[test]
fn keys_go_level_by_level_and_belong_to_the_node() {
    let room = example();
    let keys = |node: &str, start: &str| names(&room, &["explain", node, start]);
    assert_eq!(keys(WEB, "ng"), ["nginx", "nginx."]);
    assert_eq!(keys("db-01.example.com", "ng"), [""; 0]);
    // `sites` is in the data, `max_body` in the schema alone.
    let below = keys(WEB, "nginx.");
    for key in ["nginx.sites", "nginx.sites.", "nginx.max_body"] {
        assert!(below.iter().any(|known| known == key), "{key}: {below:?}");
    }
    let site = ["aliases", "default_site", "name", "root"].map(|key| format!("nginx.sites.0.{key}"));
    assert_eq!(keys(WEB, "nginx.sites.0."), site);
    // A key with a dot of its own.
    assert_eq!(keys("db-01.example.com", "sysctl.parameters.vm.s"), ["sysctl.parameters.vm.swappiness"]);
    assert_eq!(keys(WEB, "deployment."), ["deployment.ssh_user"]);
    assert!(keys("nobody", "").is_empty());
}

#[test]
fn resources_are_offered_where_one_is_asked_for() {
    let room = example();
    let resources = |start: &str| names(&room, &["explain", "--resource", WEB, start]);
    assert_eq!(resources("/etc/nginx/n"), ["/etc/nginx/nginx.conf"]);
    assert_eq!(resources("/etc/hosts"), ["/etc/hosts"]);
    assert!(resources("ng").is_empty(), "no key of the data");
}

#[test]
fn zsh_and_fish_show_what_a_candidate_is() {
    let room = example();
    for (shell, between) in [("zsh", ":"), ("fish", "\t")] {
        let shown = |words: &[&str]| ask(&room, shell, "", &[&["suil"], words].concat());
        assert_eq!(shown(&["config", "--node", "web"])[0], format!("{WEB}{between}web"));
        assert_eq!(shown(&["apply", "--role", ""])[1], format!("demo{between}1 node"));
        assert!(shown(&["apply", "--role", ""]).contains(&format!("web{between}2 nodes")));
        assert!(shown(&["apply", "--module", "hos"]).contains(&format!("hosts{between}workspace")));
    }
}

#[test]
fn a_workspace_is_found_from_below_and_by_name() {
    let room = example();
    let found = ask(&room, "bash", "data/roles", &["suil", "config", "--node", "h"]);
    assert_eq!(found, ["here.example.com"]);
    for words in [
        &["suil", "--workspace", "../work", "config", "--node", "h"][..],
        &["suil", "config", "--workspace", "../work", "--node", "h"],
        &["suil", "config", "--workspace=../work", "--role", "demo"],
    ] {
        assert_eq!(ask(&room, "bash", "../home", words).len(), 1, "{words:?}");
    }
    let home = room.path().join("../home/mine");
    std::os::unix::fs::symlink(room.path(), home).expect("a link");
    let found = ask(&room, "bash", "../home", &["suil", "--workspace", "~/mine", "config", "--node", "h"]);
    assert_eq!(found, ["here.example.com"], "a shell hands on `~` as it is typed");
}

#[test]
fn what_is_broken_gives_no_candidate_and_no_noise() {
    let asked = [&["config", "--node", "x"][..], &["apply", "--role", "x"], &["explain", WEB, "nginx"], &["diff", "x"]];
    for words in asked {
        assert_eq!(names(&Room::new(), words), [""; 0], "{words:?}");
    }
    let room = example();
    room.write("data/nodes/web-01.example.com.yaml", "role: [\n");
    assert_eq!(names(&room, &["explain", WEB, "ng"]), [""; 0]);
    assert_eq!(names(&room, &["config", "--node", "web"]).len(), 2, "names come from the names of files");
    room.write("modules/hosts/code/config.star", "Config = schema(\n");
    assert_eq!(names(&room, &["explain", "web-02.example.com", "hosts.a"]), ["hosts.address"]);
    room.write("data/common.yaml", "hierarchy: [\n");
    for words in [&["config", "--node", ""][..], &["apply", "--role", ""], &["explain", WEB, ""]] {
        assert_eq!(names(&room, words), [""; 0], "{words:?}");
    }
}

#[test]
fn nothing_is_asked_opened_or_waited_for() {
    let room = example();
    // With the key, the secret of the module would be opened; with this one every use of it would be told.
    room.write(".env", "SUIL_AGE_KEY_FILE=no-such-file\n");
    assert!(names(&room, &["explain", "here.example.com", "status.t"]).contains(&"status.token".to_owned()));
    let pipe = room.path().join("data/nodes/pipe.example.com.yaml");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().expect("mkfifo").success());
    let begun = Instant::now();
    for shell in ["bash", "zsh"] {
        assert_eq!(ask(&room, shell, "", &["suil", "config", "--node", "p"]), ["pipe.example.com"]);
    }
    assert_eq!(names(&room, &["explain", "pipe.example.com", ""]), [""; 0]);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn a_thousand_nodes_are_no_wait() {
    let room = example();
    for n in 0..1000 {
        room.write(&format!("data/nodes/n-{n:04}.example.com.yaml"), "role: web\n");
    }
    for (shell, option) in [("bash", "--node"), ("zsh", "--node"), ("zsh", "--role")] {
        assert!(!ask(&room, shell, "", &["suil", "config", option, ""]).is_empty());
        // What it costs, and not how long it waits for a processor: other tests run beside this one.
        let line = format!("TIMEFORMAT='%U %S'; time \"$0\" -- suil config {option} ''");
        let output = std::process::Command::new("bash")
            .args(["-c", &line, env!("CARGO_BIN_EXE_suil")])
            .envs([("SUIL_COMPLETE", shell), ("_CLAP_COMPLETE_INDEX", "3"), ("_CLAP_IFS", "\n")])
            .current_dir(room.path())
            .output()
            .expect("bash");
        let told = String::from_utf8_lossy(&output.stderr);
        let seconds: f64 = told.split_whitespace().map(|part| part.parse::<f64>().expect("seconds")).sum();
        assert!(seconds < 0.1, "{shell} {option}: {seconds} s");
    }
    assert_eq!(names(&room, &["config", "--node", "n-"]).len(), 1000);
}

#[test]
fn runs_and_revisions_are_read_from_their_folders() {
    let room = example();
    room.write(".git/HEAD", "ref: refs/heads/main\n");
    room.write(".git/refs/heads/fix/motd", "0123\n");
    room.write(".git/packed-refs", "# pack-refs with: peeled\n0123 refs/heads/main\n0123 refs/tags/v1\n^0123\n");
    room.write(".runs/2026-11-30T08-00-00Z/summary.yaml", "");
    room.write(".runs/2026-11-30T09-00-00Z/summary.yaml", "");
    // The commands that take them; those that do not exist have no candidates at all.
    let commands = room.run(&["--help"]).stdout;
    if commands.contains("\n  diff ") {
        assert_eq!(names(&room, &["diff", ""]), ["HEAD", "fix/motd", "main", "v1"]);
    }
    if commands.contains("\n  runs ") {
        assert_eq!(names(&room, &["runs", "show", "2"]), ["2026-11-30T09-00-00Z", "2026-11-30T08-00-00Z"]);
    }
}

/// A shell that has this script asks the program that is meant.
#[test]
fn every_shell_gets_a_script_under_the_wanted_name() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = Room::new().run(&["completions", shell, "--name", "droch-shuil"]);
        assert_eq!((script.status, script.stderr.as_str()), (0, ""), "{shell}");
        let calls = script.stdout.lines().any(|line| line.contains("droch-shuil") && line.contains(" -- "));
        assert!(calls && script.stdout.contains("SUIL_COMPLETE"), "{shell}: {}", script.stdout);
    }
}

/// bash itself, with its own idea of words: what stands behind `=` is a word of its own there.
#[test]
fn bash_completes_with_the_script() {
    let room = example();
    let tools = room.path().join("../bin");
    fs::create_dir(&tools).expect("a folder");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_suil"), tools.join("suil")).expect("a link");
    let script = r#"
PATH=$PWD/../bin:$PATH
eval "$(suil completions bash)"
COMP_WORDS=(suil config --node we) COMP_CWORD=3 COMP_TYPE=9
_clap_complete_suil suil we --node
printf '%s\n' "${COMPREPLY[@]}"
complete -p suil
"#;
    let file = room.path().join("try.sh");
    fs::write(&file, script).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a mode");
    let output = std::process::Command::new("bash").arg(&file).current_dir(room.path()).output().expect("bash");
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], [WEB, "web-02.example.com"], "{output:?}");
    assert!(lines[2].contains("-F _clap_complete_suil suil"), "{text}");
}
