//! Stacks and layers that the tree has no more.

use super::room::Room;
use super::{PATH, code, count, git, states};
use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use suil::base::Plain;

/// Runs this when it is destroyed.
fn destroyed(command: &str) -> String {
    format!("  provisioner \"local-exec\" {{\n    when    = destroy\n    command = \"{command}\"\n  }}\n")
}

/// Layers of `kiln`; one of `ferry` whose template asks for its output; a stack of plain code that reads the state of that
/// one. Each says in `log` that it is destroyed. `pause` is how long `ferry` takes for that, in seconds.
fn mixed(pause: u32) -> Room {
    let room = Room::new().set("PATH", PATH);
    let (ferry, kiln, top) = (
        destroyed(&format!("sleep {pause}; echo ferry >> ../../../../../log")),
        destroyed("echo kiln >> ../../../../../log"),
        destroyed("echo top >> ../../log"),
    );
    for (path, text) in [
        ("log", ""),
        ("stackorder.yaml", "version: 1\nstacks: {backends: all}\n"),
        (".gitignore", ".suil/\nstacks.out/\nstate/\n.terraform/\n*.tfstate*\n/log\n"),
        ("environments/harbor/env.tfvars", "zone = \"east\"\n"),
        ("environments/quay/env.tfvars", "zone = \"west\"\n"),
        (
            "stacks/backend.tf",
            "terraform {\n  backend \"local\" {\n    path = \"{{ var.stacks_root }}/state/{{ var.stacks_stack }}-{{ var.stacks_layer }}\
             {{ '' if '/layers/' in var.stacks_path else '.other' }}\"\n  }\n}\n",
        ),
        ("stacks.yaml", "stacks_path: real\n"),
        ("modules/m/main.tf", "resource \"terraform_data\" \"m\" {}\n"),
        (
            "stacks/kiln/base/main.tf",
            &format!(
                "module \"m\" {{\n  source = \"../../../../../modules/m\"\n}}\noutput \"word\" {{\n  value = \"clay\"\n}}\n\
                 resource \"terraform_data\" \"it\" {{\n  input = var.zone\n{kiln}}}\n"
            ),
        ),
        ("stacks/kiln/layers/harbor/l.tfvars", ""),
        ("stacks/kiln/layers/quay/l.tfvars", ""),
        (
            "stacks/ferry/base/main.tf",
            &format!(
                "resource \"terraform_data\" \"it\" {{\n  input = \"{{{{ output('word', stack='kiln') }}}}\"\n{ferry}}}\n\
                 output \"id\" {{\n  value = terraform_data.it.id\n}}\n"
            ),
        ),
        ("stacks/ferry/layers/harbor/l.tfvars", ""),
        (
            "stacks/top/main.tf",
            &format!(
                "terraform {{\n  backend \"local\" {{}}\n}}\n\
                 data \"terraform_remote_state\" \"ferry\" {{\n  backend = \"local\"\n  config = {{\n    path = \"../../state/ferry-harbor\"\n  }}\n}}\n\
                 resource \"terraform_data\" \"it\" {{\n  input = data.terraform_remote_state.ferry.outputs.id\n{top}}}\n"
            ),
        ),
    ] {
        room.write(path, text);
    }
    committed(&room, &["init", "-q"]);
    let left = room.run(&["infra", "apply", "--all", "--fresh", "--confirm", "--output", "json"]);
    assert_eq!((left.status, count(&states(&left.stdout), "applied")), (0, 4), "{}{}", left.stdout, left.stderr);
    room
}

/// Changes the tree by git, and commits.
fn committed(room: &Room, arguments: &[&str]) {
    git(room, arguments);
    git(room, &["add", "."]);
    git(room, &["commit", "-q", "-m", "next"]);
}

fn log(room: &Room) -> String {
    fs::read_to_string(room.path().join("log")).expect("a log").replace('\n', " ")
}

/// How many resources a state has.
fn resources(room: &Room, state: &str) -> usize {
    let text = fs::read_to_string(room.path().join(state)).expect("a state");
    let state = Plain::from_json(&text).expect("JSON");
    state.get("resources").and_then(Plain::as_list).map_or(0, <[Plain]>::len)
}

/// How many private pictures of the tree there are.
fn pictures(room: &Room) -> usize {
    fs::read_dir(room.path().join(".suil/infra/removed")).map_or(0, Iterator::count)
}

/// The keys of a list of an answer.
fn keys<'a>(answer: &'a Plain, list: &str) -> Vec<&'a str> {
    let items = answer.get(list).and_then(Plain::as_list).unwrap_or_default();
    items.iter().filter_map(|item| item.get("key")?.as_str()).collect()
}

#[test]
fn removed_layers_and_a_removed_stack_are_destroyed_those_first_that_nobody_needs() {
    let room = mixed(0);
    // Each goes in a commit of its own, and what they share before the last of them.
    committed(&room, &["rm", "-q", "-r", "stacks/ferry", "stacks/top"]);
    committed(&room, &["rm", "-q", "-r", "modules", "environments/harbor", "stacks.yaml"]);
    committed(&room, &["rm", "-q", "-r", "stacks/kiln/layers/harbor"]);
    // Git leaves what it does not know.
    assert!(room.path().join("stacks/kiln/layers/harbor/stacks.out/base_main.tf").is_file());
    let answer = room.run(&["infra", "affected", "--base", "HEAD~3", "--output", "json"]);
    let answer = Plain::from_json(&answer.stdout).expect("JSON");
    assert_eq!(keys(&answer, "removed"), ["stacks/top", "stacks/ferry:harbor", "stacks/kiln:harbor"]);
    let ferry = &answer.get("removed").and_then(Plain::as_list).expect("a list")[1];
    assert_eq!(ferry.get("state").and_then(Plain::as_str), Some("local://state/ferry-harbor"));
    let file = ferry.get("at").and_then(|at| at.get("file")).and_then(Plain::as_str).unwrap_or_default();
    assert!(file.ends_with(":stacks/backend.tf"), "{file}");

    let left = room.run(&["infra", "destroy", "--removed", "--confirm"]);
    let want = "\
WAVE  STACK                STATE
0     stacks/top           planned  1 to destroy
1     stacks/ferry:harbor  planned  1 to destroy, 1 output
2     stacks/kiln:harbor   planned  2 to destroy, 1 output

WAVE  STACK                STATE
0     stacks/top           applied  1 destroyed
1     stacks/ferry:harbor  applied  1 destroyed, 1 output
2     stacks/kiln:harbor   applied  2 destroyed, 1 output
";
    left.is(0, want, "");
    assert_eq!(log(&room), "top ferry kiln ");
    let all = ["stacks/top/terraform.tfstate", "state/ferry-harbor", "state/kiln-harbor", "state/kiln-quay"];
    assert_eq!(all.map(|state| resources(&room, state)), [0, 0, 0, 2]);
    assert_eq!(resources(&room, "stacks/top/terraform.tfstate.backup"), 2, "the backup is beside the state");
    assert_eq!(pictures(&room), 0);
    room.run(&["infra", "locks"]).is(0, "no locks\n", "");
    let runs = room.run(&["infra", "runs", "--output", "json"]).stdout;
    let runs = Plain::from_json(&runs).expect("JSON");
    let newest = &runs.get("runs").and_then(Plain::as_list).expect("runs")[0];
    let word = |key: &str| newest.get(key).and_then(Plain::as_str).unwrap_or_default().to_owned();
    assert_eq!((word("mode"), word("state")), ("destroy".to_owned(), "applied".to_owned()));
    room.run(&["infra", "destroy", "--removed", "--confirm"]).is(0, "no stacks affected\n", "");
}

#[test]
fn a_removed_layer_is_not_destroyed_where_its_state_its_key_or_who_needs_it_is_in_the_way() {
    let room = Room::new().set("PATH", PATH);
    assert_eq!(room.run(&["infra", "genkey", "--bits", "2048"]).status, 0);
    let sealed = room.run(&["infra", "encrypt", "--public-key-path", "public.pem", "kanarienvogel"]).stdout;
    let private = room.path().join("private.pem").display().to_string();
    let key = [("STACKS_PRIVATE_KEY_PATH", private.as_str())];
    for (path, text) in [
        ("stackorder.yaml", "version: 1\nstacks: {backends: all}\n"),
        (".gitignore", ".suil/\nstacks.out/\nstate/\n*.pem\n"),
        ("environments/harbor/env.tfvars", ""),
        ("stacks/kiln/base/main.tf", "resource \"terraform_data\" \"it\" {\n  input = var.token\n}\n"),
        ("stacks/kiln/layers/harbor/l.tfvars", &format!("token = \"{}\"\n", sealed.trim())),
        ("stacks/kiln/layers/harbor_spare/l.tfvars", "token = \"none\"\n"),
        ("stacks/kiln/layers/harbor_new/l.tfvars", "token = \"none\"\n"),
        ("stacks/quay/main.tf", &code("quay", &[], "true")),
        ("stacks/quay/.stackorder.yaml", "depends_on: ['stacks/kiln:harbor']\n"),
    ] {
        room.write(path, text);
    }
    committed(&room, &["init", "-q"]);
    let all = "stacks/kiln:harbor,stacks/kiln:harbor_spare,stacks/quay";
    let left = room.run_in("", &key, &["infra", "apply", "--stacks", all, "--fresh", "--confirm"]);
    assert_eq!(left.status, 0, "{}{}", left.stdout, left.stderr);
    committed(&room, &["rm", "-q", "-r", "stacks/kiln/layers"]);
    let destroy = |variables: &[(&str, &str)], more: &[&str]| {
        let left = room.run_in("", variables, &[&["infra", "destroy", "--removed", "--confirm"], more].concat());
        assert!(!(left.stdout.clone() + &left.stderr).contains("kanarienvogel"), "{left:?}");
        assert_eq!(pictures(&room), 0);
        left
    };
    let want = "\
suil: stack `stacks/quay` depends on removed stack `stacks/kiln:harbor`
note: at stacks/quay/.stackorder.yaml:1:14
help: take that out of its code first, or put the other one back
";
    destroy(&key, &[]).is(3, "", want);

    // As a removed stack it needs the other one still, and is destroyed with it.
    committed(&room, &["rm", "-q", "-r", "stacks/quay"]);
    let want = "\
suil: stack `stacks/quay` depends on what is to be destroyed
help: they are removed, too: `--stacks stacks/kiln:harbor,stacks/quay`
";
    destroy(&key, &["--stacks", "stacks/kiln:harbor"]).is(3, "", want);

    // A state that is gone is no empty one, and what needs a key is not planned without it.
    let spare = room.path().join("stacks/kiln/layers/harbor_spare/stacks.out/terraform.tfstate");
    fs::rename(&spare, room.path().join("state/aside")).expect("moved");
    let left = destroy(&[], &[]);
    let want = "\
WAVE  STACK                     STATE
0     stacks/kiln:harbor_new    skipped  no state
0     stacks/kiln:harbor_spare  failed   there is no state, so nothing of it can be destroyed
0     stacks/quay               planned  1 to destroy, 1 output
1     stacks/kiln:harbor        failed   the secret `token` needs a key, and none is set
";
    assert_eq!((left.status, left.stdout.as_str()), (1, want), "{}", left.stderr);
    let place = "stacks/kiln/layers/harbor_spare/stacks.out/terraform.tfstate";
    for told in [
        "suil: stack `stacks/kiln:harbor_spare`: there is no state, so nothing of it can be destroyed\n",
        &format!("note: it was looked for in local://{place}\n"),
        "note: it was applied, as the store knows\n",
        "help: bring the state back to its place, or name the other stacks with `--stacks`\n",
        "suil: warning: stack `stacks/kiln:harbor_new`: there is no state, so nothing of it can be destroyed\n",
        "note: nobody applied it, as far as the store knows\n",
        "suil: the secret `token` needs a key, and none is set\n",
        ":stacks/kiln/layers/harbor/l.tfvars:1:1\n",
    ] {
        assert!(left.stderr.contains(told), "{told}\n{}", left.stderr);
    }
    let harbor = "stacks/kiln/layers/harbor/stacks.out/terraform.tfstate";
    assert_eq!((resources(&room, harbor), resources(&room, "state/quay.tfstate")), (1, 1), "nothing was destroyed");

    fs::rename(room.path().join("state/aside"), &spare).expect("moved back");
    let hook = "\
#!/bin/bash
find .suil/infra/removed -path '*/.terraform*' -prune -o ! -type l -perm /077 -print >>state/seen
find .suil/infra/removed -path \"*/${SUIL_STACK##*:}/*\" -name zzz.auto.tfvars.json -printf '%m\\n' >>state/seen
";
    room.write("infra/hooks/post-plan.sh", hook);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(room.path().join("infra/hooks/post-plan.sh"), mode).expect("a mode");
    let left = destroy(&key, &["--text", "--output", "json"]);
    let found = states(&left.stdout);
    assert_eq!((left.status, count(&found, "applied"), count(&found, "skipped")), (0, 3, 1), "{left:?}");
    assert_eq!([harbor, place, "state/quay.tfstate"].map(|state| resources(&room, state)), [0, 0, 0]);
    let seen = fs::read_to_string(room.path().join("state/seen")).expect("a file");
    assert_eq!(seen, "600\n600\n", "what is rendered is for the owner's eyes");
}

#[test]
fn what_a_killed_destroy_left_is_removed_by_a_later_run_and_never_while_terraform_works_there() {
    let room = mixed(3);
    committed(&room, &["rm", "-q", "-r", "stacks/ferry", "stacks/top", "stacks/kiln/layers/harbor"]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_suil"))
        .args(["infra", "destroy", "--removed", "--confirm"])
        .current_dir(room.path())
        .env_clear()
        .env("PATH", PATH)
        .env("HOME", room.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("suil starts");
    let begun = Instant::now();
    let applies = || room.run(&["infra", "runs", "--output", "json"]).stdout.contains("\"applying\": 1");
    while !(log(&room) == "top " && applies()) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it never came so far");
        std::thread::sleep(Duration::from_millis(50));
    }
    // Terraform runs the command of `ferry` by now.
    std::thread::sleep(Duration::from_millis(500));
    child.kill().expect("killed");
    child.wait().expect("ended");
    let runs = Plain::from_json(&room.run(&["infra", "runs", "--output", "json"]).stdout).expect("JSON");
    let newest = &runs.get("runs").and_then(Plain::as_list).expect("runs")[0];
    let run = newest.get("id").and_then(Plain::as_str).expect("an id").to_owned();
    let plan = ["infra", "plan", "--stacks", "stacks/kiln:quay"];
    assert_eq!(room.run(&plan).status, 0);
    assert_eq!(pictures(&room), 1, "Terraform works there");
    let left = room.run(&["infra", "resume", &run, "--output", "json"]);
    assert_eq!((left.status, count(&states(&left.stdout), "applied")), (0, 3), "{}{}", left.stdout, left.stderr);
    assert_eq!(log(&room), "top ferry kiln ", "each once");
    assert_eq!(["state/ferry-harbor", "state/kiln-harbor"].map(|state| resources(&room, state)), [0, 0]);
    room.run(&["infra", "locks"]).is(0, "no locks\n", "");
    assert_eq!(room.run(&plan).status, 0);
    assert_eq!(pictures(&room), 0);
}
