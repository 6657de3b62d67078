//! Runs over many stacks with Terraform itself: failures, resumes, kills, inputs that are not there yet.

#![allow(clippy::disallowed_methods)]

#[path = "cli/room.rs"]
#[allow(dead_code, reason = "others need the rest")]
mod room;

#[path = "engine/removed.rs"]
mod removed;

use room::Room;
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use suil::base::Plain;

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/bin:/bin";

/// Terraform code that counts how often it is applied: one line in `log` for each.
fn code(key: &str, reads: &[&str], command: &str) -> String {
    let mut text = format!(
        "terraform {{\n  backend \"local\" {{\n    path = \"../../state/{key}.tfstate\"\n  }}\n}}\n\
         resource \"terraform_data\" \"it\" {{\n  input = [{}]\n  provisioner \"local-exec\" {{\n    command = \"{command}\"\n  }}\n}}\n\
         output \"id\" {{\n  value = terraform_data.it.id\n}}\n",
        reads
            .iter()
            .map(|read| format!("data.terraform_remote_state.{read}.outputs.id"))
            .collect::<Vec<_>>()
            .join(", "),
    );
    for read in reads {
        text += &format!(
            "data \"terraform_remote_state\" \"{read}\" {{\n  backend = \"local\"\n  config = {{\n    path = \"../../state/{read}.tfstate\"\n  }}\n}}\n"
        );
    }
    text
}

/// Thirty stacks in five waves of six: each reads the outputs of one or two of the wave before. `command` is what each
/// runs when it is applied, told its key.
fn thirty(command: impl Fn(&str) -> String) -> Room {
    let room = Room::new().set("PATH", PATH);
    room.write("stackorder.yaml", "version: 1\nstacks: {backends: all}\n");
    for wave in 0..5 {
        for at in 0..6 {
            let key = format!("s{wave}{at}");
            let before = [at, (at + 1) % 6].map(|at| format!("s{}{at}", (wave + usize::from(wave == 0)) - 1));
            let reads: Vec<&str> = match (wave, at % 2) {
                (0, _) => vec![],
                (_, 0) => vec![&before[0]],
                _ => vec![&before[0], &before[1]],
            };
            room.write(&format!("stacks/{key}/main.tf"), &code(&key, &reads, &command(&key)));
        }
    }
    room
}

fn counted(key: &str) -> String {
    format!("echo {key} >> ../../log")
}

/// How often each stack was applied.
fn log(room: &Room) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for line in fs::read_to_string(room.path().join("log")).unwrap_or_default().lines() {
        *counts.entry(line.to_owned()).or_insert(0) += 1;
    }
    counts
}

/// The state of each stack, as a run tells it in JSON.
fn states(json: &str) -> BTreeMap<String, String> {
    let told = Plain::from_json(json).unwrap_or_else(|e| panic!("{e}: {json}"));
    let stacks = told.get("stacks").and_then(Plain::as_list).expect("stacks");
    let text = |stack: &Plain, key: &str| stack.get(key).and_then(Plain::as_str).unwrap_or_default().to_owned();
    stacks.iter().map(|stack| (text(stack, "stack"), text(stack, "state"))).collect()
}

fn count(states: &BTreeMap<String, String>, state: &str) -> usize {
    states.values().filter(|found| *found == state).count()
}

#[test]
fn a_failure_blocks_exactly_its_dependents_and_resume_finishes_the_rest() {
    let room = thirty(|key| match key {
        "s11" => format!("test -e ../../repaired && {}", counted(key)),
        _ => counted(key),
    });
    let left = room.run(&["infra", "plan", "--all"]);
    assert_eq!(left.status, 0, "{}", left.stderr);
    assert_eq!(left.stdout.matches("  provisional  ").count(), 24, "{}", left.stdout);
    assert!(left.stdout.contains("    stacks/s00: id\n"), "{}", left.stdout);

    let left = room.run(&["infra", "apply", "--all", "--confirm", "--output", "json"]);
    assert_eq!(left.status, 1, "{}{}", left.stdout, left.stderr);
    let found = states(&left.stdout);
    assert_eq!(found["stacks/s11"], "failed");
    // What reads s11, directly or not: in wave 2 its own place and the odd ones before it, and so on.
    let mut blocked: Vec<usize> = vec![1];
    for wave in 2..5 {
        blocked =
            (0..6).filter(|at| blocked.contains(at) || at % 2 == 1 && blocked.contains(&((at + 1) % 6))).collect();
        for at in 0..6 {
            let want = if blocked.contains(&at) { "blocked" } else { "applied" };
            assert_eq!(found[&format!("stacks/s{wave}{at}")], want, "wave {wave}, {at}");
        }
    }
    let applied = count(&found, "applied");
    assert_eq!((applied, log(&room).len()), (30 - 1 - count(&found, "blocked"), applied));

    room.write("repaired", "");
    let left = room.run(&["infra", "resume", "--output", "json"]);
    assert_eq!(left.status, 0, "{}{}", left.stdout, left.stderr);
    assert_eq!(count(&states(&left.stdout), "applied"), 30, "{}", left.stdout);
    assert_eq!((log(&room).len(), log(&room).values().max()), (30, Some(&1)), "each once");

    let left = room.run(&["infra", "plan", "--all", "--detailed-exitcode"]);
    assert_eq!((left.status, left.stdout.matches("no changes").count()), (0, 30), "{}{}", left.stdout, left.stderr);
    let left = room.run(&["infra", "resume"]);
    assert_eq!(
        (left.status, left.stderr.as_str()),
        (3, "suil: there is no run to resume\nhelp: `suil infra runs` lists all runs\n")
    );
}

#[test]
fn kills_at_any_moment_lose_nothing_and_apply_nothing_twice() {
    let room = thirty(|key| format!("sleep 0.1; {}", counted(key)));
    let left = room.run(&["infra", "plan", "--all"]);
    assert_eq!(left.status, 0, "{}", left.stderr);
    let mut arguments = vec!["infra", "apply", "--all", "--confirm"];
    let seed = std::process::id().wrapping_mul(2_654_435_761);
    for kill in 0..10_u32 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_suil"))
            .args(&arguments)
            .current_dir(room.path())
            .env_clear()
            .env("PATH", PATH)
            .env("HOME", room.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("suil starts");
        // From the first moments to the middle of an apply.
        let pause = 100 + u64::from(seed.rotate_left(kill * 3) % 700);
        std::thread::sleep(Duration::from_millis(pause));
        let ended = child.try_wait().expect("a child");
        child.kill().expect("killed");
        child.wait().expect("ended");
        let runs = room.run(&["infra", "runs", "--output", "json"]);
        assert_eq!(runs.status, 0, "{}", runs.stderr);
        if runs.stdout.contains("\"apply\"") {
            arguments = vec!["infra", "resume"];
        }
        if ended.is_some() {
            break;
        }
    }
    let begun = Instant::now();
    let left = loop {
        let left = room.run(&arguments);
        if left.status != 3 || begun.elapsed() > Duration::from_secs(120) {
            break left;
        }
    };
    let all = log(&room);
    assert!(left.status == 0, "{}{}\n{all:?}", left.stdout, left.stderr);
    assert_eq!((all.len(), all.values().max()), (30, Some(&1)), "{all:?}");
    let locks = room.run(&["infra", "locks", "--output", "json"]);
    assert!(locks.stdout.contains("\"locks\": []"), "{}", locks.stdout);
    let left = room.run(&["infra", "plan", "--all", "--detailed-exitcode"]);
    assert_eq!(left.status, 0, "{}{}", left.stdout, left.stderr);
}

#[test]
fn stacks_whose_folders_are_gone_are_destroyed_with_the_code_of_the_last_commit_that_had_them() {
    let room = Room::new().set("PATH", PATH);
    room.write("stackorder.yaml", "version: 1\nstacks: {backends: all}\n");
    room.write(".gitignore", ".suil/\nstate/\nlog\n.terraform/\n");
    room.write("modules/m/main.tf", "resource \"terraform_data\" \"m\" {}\n");
    let used = "module \"m\" {\n  source = \"../../modules/m\"\n}\n";
    room.write("stacks/kept/main.tf", &code("kept", &[], "true"));
    room.write("stacks/base/main.tf", &(code("base", &[], "true") + used));
    room.write("stacks/top/main.tf", &code("top", &["base"], "true"));
    git(&room, &["init", "-q"]);
    git(&room, &["add", "."]);
    git(&room, &["commit", "-q", "-m", "all"]);
    let left = room.run(&["infra", "apply", "--all", "--fresh", "--confirm"]);
    assert_eq!(left.status, 0, "{}{}", left.stdout, left.stderr);
    git(&room, &["rm", "-q", "-r", "stacks/base", "stacks/top", "modules"]);
    git(&room, &["commit", "-q", "-m", "fewer"]);
    room.write("stacks/kept/more.tf", "# more\n");
    git(&room, &["add", "."]);
    git(&room, &["commit", "-q", "-m", "later"]);
    let left = room.run(&["infra", "destroy", "--removed", "--confirm", "--output", "json"]);
    assert_eq!(left.status, 0, "{}{}", left.stdout, left.stderr);
    let found = states(&left.stdout);
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        [("stacks/base".to_owned(), "applied".to_owned()), ("stacks/top".to_owned(), "applied".to_owned())]
    );
    for (name, resources) in [("base", 0), ("top", 0), ("kept", 1)] {
        let state = fs::read_to_string(room.path().join(format!("state/{name}.tfstate"))).expect("a state");
        let state = Plain::from_json(&state).expect("JSON");
        assert_eq!(state.get("resources").and_then(Plain::as_list).map(<[Plain]>::len), Some(resources), "{name}");
    }
    assert_eq!(fs::read_dir(room.path().join(".suil/infra/removed")).expect("a folder").count(), 0);
    let left = room.run(&["infra", "destroy", "--removed", "--confirm"]);
    left.is(0, "no stacks affected\n", "");
}

#[test]
fn an_input_is_unknown_exactly_where_it_is_to_change() {
    let room = Room::new().set("PATH", PATH);
    room.write("stackorder.yaml", "version: 1\nstacks: {backends: all}\n");
    let outputs = |id: &str, other: &str| {
        format!(
            "terraform {{\n  backend \"local\" {{\n    path = \"../../state/vpc\"\n  }}\n}}\n\
             output \"id\" {{\n  value = \"{id}\"\n}}\noutput \"other\" {{\n  value = \"{other}\"\n}}\n"
        )
    };
    room.write("stacks/vpc/main.tf", &outputs("1", "1"));
    let web = code("web", &["vpc"], "true").replace("state/vpc.tfstate", "state/vpc");
    room.write("stacks/web/main.tf", &web);
    let left = room.run(&["infra", "apply", "--all", "--fresh", "--confirm"]);
    assert_eq!(left.status, 0, "{}{}", left.stdout, left.stderr);
    room.write("stacks/vpc/main.tf", &outputs("1", "2"));
    let left = room.run(&["infra", "plan", "--all"]);
    assert!(left.stdout.contains("1     stacks/web  planned  no changes\n"), "{}{}", left.stdout, left.stderr);
    room.write("stacks/vpc/main.tf", &outputs("2", "1"));
    let left = room.run(&["infra", "plan", "--all", "--text"]);
    assert!(left.stdout.contains("  stacks/web\n    stacks/vpc: id\n"), "{}{}", left.stdout, left.stderr);
    assert!(
        left.stdout.contains("(known after apply)") && !left.stdout.contains("suil_provisional"),
        "{}",
        left.stdout
    );
    let left = room.run(&["infra", "apply", "--all", "--confirm"]);
    assert_eq!(left.status, 0, "{}{}", left.stdout, left.stderr);
    assert!(left.stdout.ends_with("1     stacks/web  applied  1 changed\n"), "{}", left.stdout);
}

#[test]
fn a_layer_that_asks_for_an_output_is_planned_when_that_is_there() {
    let room = Room::new().set("PATH", PATH);
    for (path, text) in [
        ("environments/harbor/env.tfvars", ""),
        (
            "stacks/backend.tf",
            "terraform {\n  backend \"local\" {\n    path = \"{{ var.stacks_root }}/state/{{ var.stacks_stack }}\"\n  }\n}\n",
        ),
        ("stacks/kiln/base/main.tf", "output \"word\" {\n  value = \"clay\"\n}\n"),
        ("stacks/kiln/layers/harbor/l.tfvars", ""),
        (
            "stacks/ferry/base/main.tf",
            "resource \"terraform_data\" \"it\" {\n  input = \"{{ output('word', stack='kiln') }}\"\n}\n",
        ),
        ("stacks/ferry/layers/harbor/l.tfvars", ""),
    ] {
        room.write(path, text);
    }
    let ferry = ["--stacks", "stacks/ferry:harbor"];
    let left = room.run(&[&["infra", "plan"], &ferry[..]].concat());
    let want = "\
WAVE  STACK                STATE
0     stacks/ferry:harbor  provisional  waits for stacks/kiln:harbor

not known before others are applied:
  stacks/ferry:harbor
    stacks/kiln:harbor: *
";
    left.is(0, want, "");
    let left = room.run(&[&["infra", "apply", "--confirm"], &ferry[..]].concat());
    assert_eq!(left.status, 3, "{}{}", left.stdout, left.stderr);
    let left = room.run(&["infra", "plan", "--all"]);
    assert!(
        left.stdout.contains("1     stacks/ferry:harbor  provisional  waits for stacks/kiln:harbor\n"),
        "{}{}",
        left.stdout,
        left.stderr
    );
    let left = room.run(&["infra", "apply", "--all", "--confirm"]);
    assert_eq!(left.status, 0, "{}{}", left.stdout, left.stderr);
    assert!(left.stdout.ends_with("1     stacks/ferry:harbor  applied  1 added\n"), "{}", left.stdout);
    let state = fs::read_to_string(room.path().join("state/ferry")).expect("a state");
    assert!(state.contains("\"clay\""), "{state}");
    let left = room.run(&["infra", "plan", "--all", "--detailed-exitcode"]);
    assert_eq!((left.status, left.stdout.matches("no changes").count()), (0, 2), "{}{}", left.stdout, left.stderr);
}

fn git(room: &Room, arguments: &[&str]) {
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
    let done = Command::new("git").args(who).args(arguments).current_dir(room.path()).output().expect("git");
    assert!(done.status.success(), "{done:?}");
}

/// The tree that the manual shows: layers whose code reads the state of another layer.
#[test]
fn layers_of_the_example_are_planned_with_inputs_that_are_not_there_yet_and_applied_in_their_order() {
    let room = Room::copy("stacks-example").set("PATH", PATH);
    let line = |text: &str, stack: &str| {
        text.lines().find(|line| line.contains(stack)).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let left = room.run(&["infra", "plan", "--all"]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""));
    let told = line(&left.stdout, "1     stacks/web:prod").expect("a line");
    assert_eq!(told, "1 stacks/web:prod provisional 2 to add; waits for stacks/network:prod");
    let left = room.run(&["infra", "apply", "--stacks", "stacks/web:prod", "--confirm"]);
    assert_eq!(left.status, 3, "{}", left.stdout);
    let left = room.run(&["infra", "apply", "--all", "--confirm"]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""));
    assert_eq!(left.stdout.matches("  applied").count(), 4, "{}", left.stdout);
    let left = room.run(&["infra", "plan", "--all", "--detailed-exitcode"]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{}", left.stdout);
    room.write("stacks/network/layers/dev/layer.tfvars", "cidr = \"10.3.0.0/16\"\n");
    let left = room.run(&["infra", "plan", "--all", "--detailed-exitcode"]);
    assert_eq!(left.status, 2, "{}", left.stdout);
    let told = line(&left.stdout, "1     stacks/web:dev").expect("a line");
    assert_eq!(told, "1 stacks/web:dev provisional 1 to change; waits for stacks/network:dev");
}

/// Every file below `folder` that holds `text`, and its mode; not those of Terraform itself.
fn holders(folder: &std::path::Path, text: &[u8], found: &mut Vec<(String, u32)>) {
    use std::os::unix::fs::PermissionsExt;
    for entry in fs::read_dir(folder).expect("a folder") {
        let (entry, name) = entry.map(|entry| (entry.path(), entry.file_name())).expect("an entry");
        match entry.is_dir() {
            // What Terraform keeps in a state is as it stands there; its mode is Terraform's.
            true if name != "state" => holders(&entry, text, found),
            false => {
                let bytes = fs::read(&entry).expect("a file");
                if bytes.windows(text.len()).any(|part| part == text) {
                    let mode = fs::metadata(&entry).expect("a file").permissions().mode() & 0o777;
                    found.push((entry.display().to_string(), mode));
                }
            }
            true => {}
        }
    }
}

#[test]
fn a_secret_of_a_layer_is_shown_by_no_run_and_stands_in_no_file_that_others_may_read() {
    const CANARY: &str = "kanarienvogel-4711-xyz";
    let room = Room::copy("stacks-example").set("PATH", PATH).set("STACKS_PRIVATE_KEY_PATH", "private.pem");
    assert_eq!(room.run(&["infra", "genkey", "--bits", "2048"]).status, 0);
    let sealed = room.run(&["infra", "encrypt", "--public-key-path", "public.pem", CANARY]).stdout;
    room.write("stacks/common.tfvars", &format!("owner = \"platform\"\ntoken = \"{}\"\n", sealed.trim()));
    room.write(
        "stacks/network/base/token.tf",
        "resource \"terraform_data\" \"token\" {\n  input = { plain = var.token, code = \"{{ var.token }}\" }\n}\n",
    );
    let mut said = String::new();
    let key = room.path().join("private.pem").display().to_string();
    let mut run = |args: &[&str]| {
        let left = room.run_in("", &[("STACKS_PRIVATE_KEY_PATH", &key)], &[&["infra"], args].concat());
        said += &format!("{args:?}\n{}{}", left.stdout, left.stderr);
        left.status
    };
    assert_eq!(run(&["plan", "--all", "--text"]), 0);
    assert_eq!(run(&["plan", "--all", "--text", "--output", "json"]), 0);
    assert_eq!(run(&["apply", "--all", "--confirm", "--text"]), 0);
    for args in [
        vec!["drift", "--all"],
        vec!["runs", "show", "--output", "json"],
        vec!["audit", "--output", "yaml"],
        vec!["graph", "--output", "html"],
        vec!["graph", "--output", "json"],
        vec!["why", "stacks/web:dev"],
    ] {
        run(&args);
    }
    // A template that fails where the secret stands.
    room.write("stacks/network/base/token.tf", "x = {{ var.token | int / 0 }} {{ throw(var.token) }}\n");
    assert_eq!(run(&["plan", "--stacks", "stacks/network:dev", "--text"]), 1);
    room.write("stacks/network/base/token.tf", "x = {{ var.token }}\n");
    assert_eq!(run(&["plan", "--stacks", "stacks/network:dev", "--text"]), 1);
    assert!(said.contains("‹secret ") && said.len() > 2000, "{said}");
    assert!(!said.contains(CANARY), "{}", said.lines().filter(|line| line.contains(CANARY)).collect::<String>());
    let mut found = Vec::new();
    holders(&room.path(), CANARY.as_bytes(), &mut found);
    let names = ["zzz.auto.tfvars.json", "base_token.tf"];
    assert!(!found.is_empty());
    for (path, mode) in found {
        assert!(mode == 0o600 && names.iter().any(|name| path.ends_with(name)), "{path} {mode:o}");
    }
}
