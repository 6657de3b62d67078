//! Runs over stacks with a program that stands for Terraform: what it is started with, in which order, what is refused.

#![allow(clippy::disallowed_methods)]

#[path = "cli/room.rs"]
#[allow(dead_code, reason = "others need the rest")]
mod room;

use room::{Left, Room};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/stand-in.sh");

/// A tree of stacks: the name of each, and those that it depends on.
fn tree(stacks: &[(&str, &[&str])]) -> Room {
    let room = Room::new().set("SUIL_TERRAFORM_BIN", STAND_IN);
    room.write("stackorder.yaml", "version: 1\nstacks: {backends: all}\n");
    for (name, before) in stacks {
        room.write(&format!("stacks/{name}/main.tf"), "terraform {\n  backend \"local\" {}\n}\n");
        let before: String = before.iter().map(|name| format!("stacks/{name}, ")).collect();
        room.write(&format!("stacks/{name}/.stackorder.yaml"), &format!("depends_on: [{before}]\n"));
    }
    room
}

fn calls(room: &Room) -> Vec<String> {
    let text = fs::read_to_string(room.path().join("calls")).unwrap_or_default();
    text.lines().map(|line| line.replace(&*room.path().to_string_lossy(), "")).collect()
}

fn forget(room: &Room) {
    let _ = fs::remove_file(room.path().join("calls"));
}

/// The stacks in the order in which they were applied.
fn applied(room: &Room) -> Vec<String> {
    calls(room).iter().filter_map(|line| line.strip_suffix(": applied").map(str::to_owned)).collect()
}

#[track_caller]
fn well(left: &Left) {
    assert_eq!(left.status, 0, "{}{}", left.stdout, left.stderr);
}

fn hook(room: &Room, path: &str, text: &str) {
    room.write(path, text);
    fs::set_permissions(room.path().join(path), fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn terraform_is_started_as_the_tree_says() {
    let room = tree(&[("a", &[])]);
    room.write("common.tfbackend", "region = \"x\"\n");
    room.write("stacks/a/prod.tfvars", "");
    room.write(
        "stacks/a/.stackorder.yaml",
        "workspace: prod\nbackend_config: [common.tfbackend, path=x]\nvar_files: [prod.tfvars]\n\
         env: {CITY: {plan: Rome, apply: Oslo}}\n",
    );
    let left = room.run_in("", &[("STACKORDER_BACKEND_CONFIG", "last=1")], &["infra", "plan", "--all", "--text"]);
    well(&left);
    assert!(left.stdout.contains("CITY=Rome"), "{}", left.stdout);
    let plan = "/.suil/plans/stackorder-plan-stacks-a-prod-";
    let calls = calls(&room);
    assert_eq!(
        calls[0],
        "a: init -input=false -no-color -reconfigure -backend-config=/common.tfbackend -backend-config=path=x -backend-config=last=1"
    );
    assert_eq!(calls[1], "a: workspace select -or-create prod");
    let start = format!("a: plan -input=false -no-color -detailed-exitcode -lock-timeout=60s -out={plan}");
    assert!(calls[2].starts_with(&start), "{}", calls[2]);
    assert!(calls[2].ends_with(".tfplan.aside -var-file=/stacks/a/prod.tfvars"), "{}", calls[2]);
    assert!(calls[3].starts_with(&format!("a: show -json -no-color {plan}")), "{}", calls[3]);
    assert_eq!(calls.len(), 4);
    forget(&room);
    well(&room.run_in("", &[("STACKORDER_BACKEND_CONFIG", "last=1")], &["infra", "apply", "--all", "--confirm"]));
    let calls = self::calls(&room);
    assert!(
        calls[0].starts_with(&format!("a: apply -input=false -no-color -lock-timeout=60s {plan}")),
        "no second init: {calls:?}"
    );
    let files = fs::read_dir(room.path().join(".suil/plans")).expect("a folder").count();
    assert_eq!(files, 0, "a plan that was applied is gone");
}

#[test]
fn terraform_waits_for_the_lock_of_a_state_unless_the_user_has_told_it_about_locks() {
    for (variable, plan, apply) in [
        (("HOME", "/nowhere"), true, true),
        (("TF_CLI_ARGS", "-lock-timeout=5s"), false, false),
        (("TF_CLI_ARGS_plan", "-lock=false"), false, true),
        (("TF_CLI_ARGS_apply", "-lock=false"), true, false),
    ] {
        let room = tree(&[("a", &[])]);
        well(&room.run_in("", &[variable], &["infra", "plan", "--all"]));
        well(&room.run_in("", &[variable], &["infra", "apply", "--all", "--confirm"]));
        well(&room.run_in("", &[variable], &["infra", "destroy", "--all", "--confirm"]));
        let calls = calls(&room);
        let waits = |word: &str| -> Vec<bool> {
            let own = calls.iter().filter(|call| call.starts_with(&format!("a: {word} ")));
            own.map(|call| call.contains(" -lock-timeout=60s ")).collect()
        };
        assert_eq!((waits("plan"), waits("apply")), (vec![plan; 2], vec![apply; 2]), "{variable:?}: {calls:?}");
    }
}

#[test]
fn a_program_that_is_not_there_is_named_by_the_variable_of_its_own() {
    let room = tree(&[("a", &[]), ("b", &[])]).set("SUIL_TOFU_BIN", "no-such-tofu");
    for (tool, program, help) in [
        ("tofu", "no-such-tofu", "install OpenTofu, or name it by SUIL_TOFU_BIN"),
        ("terraform", "no-such", "install Terraform, or name it by SUIL_TERRAFORM_BIN or STACKS_TERRAFORM_PATH"),
    ] {
        let variables = [("SUIL_TOOL", tool), ("SUIL_TERRAFORM_BIN", "no-such")];
        let left = room.run_in("", &variables, &["infra", "plan", "--all"]);
        let want = format!("suil: no program `{program}` on this machine\nhelp: {help}\n");
        assert_eq!((left.status, left.stderr), (1, want));
    }
}

#[test]
fn each_begins_as_soon_as_its_own_are_done_and_with_a_barrier_when_the_wave_is() {
    let order = |barrier: bool| {
        let room = tree(&[("a", &[]), ("b", &["a"]), ("slow", &[])]);
        room.write("does/slow/delay", "0.6");
        well(&room.run(&["infra", "plan", "--all"]));
        let mut apply = vec!["infra", "apply", "--all", "--confirm"];
        apply.extend(barrier.then_some("--barrier"));
        well(&room.run(&apply));
        applied(&room)
    };
    assert_eq!(order(false), ["a", "b", "slow"]);
    assert_eq!(order(true), ["a", "slow", "b"]);
}

#[test]
fn a_stack_that_only_follows_and_has_nothing_to_do_is_not_run() {
    let room = tree(&[("a", &[]), ("b", &["a"])]);
    for arguments in [["infra", "plan", "--all"].as_slice(), &["infra", "apply", "--all", "--confirm"]] {
        well(&room.run(arguments));
    }
    fs::remove_file(room.path().join("state/a")).expect("it goes");
    room.write("changed", "stacks/a/main.tf\n");
    let of_change = ["--changed-from", "changed"];
    let left = room.run(&[&["infra", "plan"], &of_change[..]].concat());
    well(&left);
    assert!(left.stdout.contains("1     stacks/b  nothing to do  no changes\n"), "{}", left.stdout);
    forget(&room);
    let left = room.run(&[&["infra", "apply", "--confirm"], &of_change[..]].concat());
    well(&left);
    assert!(left.stdout.contains("1     stacks/b  nothing to do  no changes\n"), "{}", left.stdout);
    assert_eq!(applied(&room), ["a"]);
    assert!(!calls(&room).iter().any(|call| call.starts_with("b: apply")));
}

#[test]
fn the_gate_tells_all_that_stands_in_the_way_at_once() {
    let room = tree(&[("a", &[]), ("b", &[]), ("c", &[]), ("d", &[]), ("e", &[])]);
    well(&room.run(&["infra", "plan", "--stacks", "stacks/a,stacks/b,stacks/c,stacks/e"]));
    room.write("stacks/a/more.tf", "# more\n");
    let plans = fs::read_dir(room.path().join(".suil/plans")).expect("a folder");
    let plan = plans.map(|entry| entry.expect("an entry").path()).find(|path| {
        path.to_string_lossy().contains("stacks-b-") && path.extension().is_some_and(|end| end == "tfplan")
    });
    fs::write(plan.expect("a plan"), "another").expect("written");
    let check = ["infra", "check", "--stack", "stacks/c", "--name", "tflint"];
    well(&room.run(&[&check[..], &["--status", "pass"]].concat()));
    well(&room.run(&[&check[..], &["--status", "fail", "--summary", "2 issues"]].concat()));
    well(&room.run(&["infra", "check", "--stack", "stacks/e", "--name", "cost", "--status", "warn"]));
    let left = room.run(&["infra", "apply", "--all", "--confirm"]);
    let want = "\
suil: check `tflint` of stack `stacks/c` failed
note: 2 issues

suil: stack `stacks/d` is not planned for this tree
help: `suil infra plan --stacks stacks/d` first, or plan and apply at once with `--fresh`

suil: the files of stack `stacks/a` changed after it was planned
help: plan it again

suil: the plan file of stack `stacks/b` is not the one that was made
note: it is `.suil/plans/stackorder-plan-stacks-b-8a0cbf57-local.tfplan`
help: plan the stack again
";
    left.is(3, "", want);
    assert!(applied(&room).is_empty());
    well(&room.run(&[&check[..], &["--status", "pass"]].concat()));
    well(&room.run(&["infra", "apply", "--stacks", "stacks/c,stacks/e", "--confirm"]));
    assert_eq!(applied(&room).len(), 2);
}

#[test]
fn a_run_takes_all_locks_or_none_and_the_other_is_told_who_holds_them() {
    let room = tree(&[("a", &[]), ("b", &[]), ("c", &[])]);
    room.write("does/b/delay", "1.5");
    well(&room.run(&["infra", "plan", "--all"]));
    let first = start(&room, &["infra", "apply", "--stacks", "stacks/b", "--confirm", "--reason", "wider"]);
    wait_for(&room, "b: apply");
    let left = room.run(&["infra", "apply", "--stacks", "stacks/a,stacks/b", "--confirm"]);
    assert_eq!(left.status, 3, "{}{}", left.stdout, left.stderr);
    assert!(left.stderr.starts_with("suil: stack `stacks/b` is locked by run `"), "{}", left.stderr);
    assert!(left.stderr.contains(": wider\n"), "{}", left.stderr);
    well(&room.run(&["infra", "apply", "--stacks", "stacks/c", "--confirm"]));
    assert!(first.wait_with_output().expect("it ends").status.success());
    assert_eq!(applied(&room), ["c", "b"]);
    let left = room.run(&["infra", "locks", "--output", "json"]);
    assert!(left.stdout.contains("\"locks\": []"), "{}", left.stdout);
}

/// Starts suil and does not wait for it.
fn start(room: &Room, arguments: &[&str]) -> std::process::Child {
    Command::new(env!("CARGO_BIN_EXE_suil"))
        .args(arguments)
        .current_dir(room.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", room.path())
        .env("SUIL_TERRAFORM_BIN", STAND_IN)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("suil starts")
}

fn wait_for(room: &Room, call: &str) {
    let begun = Instant::now();
    while !calls(room).iter().any(|line| line.starts_with(call)) {
        assert!(begun.elapsed() < Duration::from_secs(30), "{call}: {:?}", calls(room));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Applies all of `a`, `b` after `a`, `c` and `d`, one at a time in this order; `a` waits for the file `go`.
fn at_work(room: &Room) -> std::process::Child {
    room.write("does/a/until", &room.path().join("go").display().to_string());
    well(&room.run(&["infra", "plan", "--all"]));
    let child = start(room, &["infra", "apply", "--all", "--confirm", "--parallel", "1"]);
    wait_for(room, "a: apply");
    child
}

/// What a run said at its end, with its id as `RUN`, and of moments and processes only that they are there.
fn told_at_end(room: &Room, child: std::process::Child) -> (Option<i32>, String, String) {
    room.write("go", "");
    let output = child.wait_with_output().expect("it ends");
    let runs = room.run(&["infra", "runs", "--mode", "apply", "--output", "json"]);
    let runs: serde_json::Value = serde_json::from_str(&runs.stdout).expect("JSON");
    let id =
        runs["runs"].as_array().expect("runs").last().expect("the first")["id"].as_str().expect("an id").to_owned();
    let moment = regex::Regex::new(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ(, \d+ s ago|, now)?").expect("a pattern");
    let process = regex::Regex::new(r"process \d+").expect("a pattern");
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let plain = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&id, "RUN").replace(&host, "HOST");
        process.replace_all(&moment.replace_all(&text, "WHEN"), "process PID").into_owned()
    };
    (output.status.code(), plain(&output.stdout), plain(&output.stderr))
}

#[test]
fn a_run_whose_lock_is_taken_away_begins_no_other_stack_and_resume_finishes() {
    let room = tree(&[("a", &[]), ("b", &["a"]), ("c", &[]), ("d", &[])]);
    let child = at_work(&room);
    let unlock = ["infra", "unlock", "stacks/d", "--reason", "it hangs"];
    assert_eq!(room.run(&unlock).status, 3, "it is alive");
    let left = room.run_in("", &[("USER", "ben")], &[&unlock[..], &["--force"]].concat());
    well(&left);
    assert!(
        left.stdout.ends_with(" goes on: it ends what it has begun, and begins no other stack\n"),
        "{}",
        left.stdout
    );
    let (status, stdout, stderr) = told_at_end(&room, child);
    assert_eq!(
        stderr,
        "suil: the lock of stack `stacks/d` was taken away from run `RUN`; no more stacks were begun\n\
         note: ben@HOST took the lock of `stacks/d` away at WHEN: it hangs\n\
         help: `suil infra resume RUN` goes on with what is left, when nobody else works on it\n"
    );
    let table = stdout.split("\n\n").nth(1).expect("a second table");
    assert_eq!(
        table.trim_end(),
        "WAVE  STACK     STATE\n0     stacks/a  applied  1 added\n0     stacks/c  planned  1 to add\n\
         0     stacks/d  planned  1 to add\n1     stacks/b  planned  1 to add",
        "{stdout}"
    );
    assert_eq!((status, applied(&room)), (Some(3), vec!["a".to_owned()]));
    assert!(room.run(&["infra", "locks"]).stdout == "no locks\n");
    assert!(room.run(&["infra", "runs", "show"]).stdout.contains("  state    failed\n"));
    well(&room.run(&["infra", "resume", "--parallel", "1"]));
    assert_eq!(applied(&room), ["a", "b", "c", "d"]);
    assert_eq!(calls(&room).iter().filter(|call| call.starts_with("c: plan")).count(), 1, "its plan still held");
    assert_eq!(fs::read_dir(room.path().join(".suil/plans")).expect("a folder").count(), 0);
}

#[test]
fn a_run_tells_who_holds_the_lock_that_was_taken_from_it() {
    let room = tree(&[("a", &[]), ("b", &[]), ("c", &[])]);
    let child = at_work(&room);
    well(&room.run(&["infra", "unlock", "stacks/b", "--reason", "mine", "--force"]));
    let until = room.path().join("go-b");
    room.write("does/b/until", &until.display().to_string());
    let other = start(&room, &["infra", "apply", "--stacks", "stacks/b", "--confirm", "--reason", "at once"]);
    wait_for(&room, "b: apply");
    let (status, _, stderr) = told_at_end(&room, child);
    let note = "note: `stacks/b` is held by run `";
    assert!(
        stderr.contains(note) && stderr.contains("someone@HOST, process PID on HOST, since WHEN: at once\n"),
        "{stderr}"
    );
    assert_eq!(status, Some(3));
    let left = room.run(&["infra", "resume"]);
    assert!(left.status == 3 && left.stderr.contains(note), "{}", left.stderr);
    room.write("go-b", "");
    assert!(other.wait_with_output().expect("it ends").status.success());
    assert_eq!(applied(&room), ["a", "b"], "b once, by the other");
    room.run(&["infra", "resume", "--parallel", "1"]);
    assert!(room.path().join("state/c").exists());
}

#[test]
fn a_stack_that_ends_without_its_lock_is_told_of() {
    let room = tree(&[("a", &[])]);
    let child = at_work(&room);
    well(&room.run_in("", &[("USER", "ben")], &["infra", "unlock", "stacks/a", "--reason", "why not", "--force"]));
    let (status, _, stderr) = told_at_end(&room, child);
    assert_eq!(
        (status, stderr.as_str()),
        (
            Some(0),
            "suil: warning: the lock of stack `stacks/a` was taken away from run `RUN` before it ended\n\
             note: ben@HOST took the lock of `stacks/a` away at WHEN: why not\n"
        )
    );
    assert_eq!(applied(&room), ["a"]);
}

#[test]
fn a_lock_that_goes_while_a_hook_runs_keeps_its_stack_from_being_applied() {
    let room = tree(&[("a", &[]), ("b", &["a"])]);
    let suil = env!("CARGO_BIN_EXE_suil");
    let unlocks = format!("#!/bin/bash\n{suil} infra unlock $SUIL_STACK --reason hook --force >&2\n");
    hook(&room, "infra/hooks/pre-apply.sh", &unlocks);
    well(&room.run(&["infra", "plan", "--all"]));
    let left = room.run(&["infra", "apply", "--all", "--confirm"]);
    assert!(left.stderr.contains("the lock of stack `stacks/a` was taken away from run `"), "{}", left.stderr);
    assert!(left.status == 3 && applied(&room).is_empty(), "{}", left.stdout);
    assert!(
        left.stdout.ends_with("0     stacks/a  planned  1 to add\n1     stacks/b  planned  1 to add\n"),
        "{}",
        left.stdout
    );
    let audit = room.run(&["infra", "audit"]).stdout;
    assert!(!audit.lines().any(|line| line.contains(" apply ")), "nothing was begun: {audit}");
}

#[test]
fn ctrl_c_interrupts_once_says_where_each_stands_and_resume_finishes() {
    let room = tree(&[("a", &[]), ("b", &["a"]), ("c", &[])]);
    room.write("does/a/delay", "30");
    well(&room.run(&["infra", "plan", "--all"]));
    let child = start(&room, &["infra", "apply", "--all", "--confirm", "--parallel", "1"]);
    wait_for(&room, "a: apply");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(kill.success());
    let output = child.wait_with_output().expect("it ends");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{stdout}{stderr}");
    assert!(
        stderr.starts_with("suil: stack `stacks/a`: `stand-in.sh apply` was interrupted\nnote: interrupted\n"),
        "{stderr}"
    );
    assert!(stdout.contains("0     stacks/c  planned "), "{stdout}");
    assert!(stdout.contains("1     stacks/b  blocked  by stacks/a\n"), "{stdout}");
    room.write("does/a/delay", "0");
    well(&room.run(&["infra", "resume", "--parallel", "1"]));
    assert_eq!(applied(&room), ["a", "b", "c"]);
    assert_eq!(calls(&room).iter().filter(|call| call.starts_with("a: plan")).count(), 2, "planned anew");
    assert_eq!(calls(&room).iter().filter(|call| call.starts_with("c: plan")).count(), 1, "its plan still held");
}

#[test]
fn a_second_ctrl_c_leaves_terraform_to_itself_and_resume_waits_for_it() {
    let room = tree(&[("a", &[]), ("b", &["a"])]);
    room.write("does/a/delay", "2");
    room.write("does/a/stubborn", "");
    well(&room.run(&["infra", "plan", "--all"]));
    let child = start(&room, &["infra", "apply", "--all", "--confirm"]);
    wait_for(&room, "a: apply");
    for _ in 0..2 {
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
        assert!(kill.success());
        std::thread::sleep(Duration::from_millis(200));
    }
    let output = child.wait_with_output().expect("it ends");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{stdout}");
    assert!(stdout.contains("0     stacks/a  still runs "), "{stdout}");
    let locks = room.run(&["infra", "locks", "--output", "json"]);
    assert!(locks.stdout.contains("\"stack\": \"stacks/a\""), "its lock stays: {}", locks.stdout);
    assert!(applied(&room).is_empty());
    well(&room.run(&["infra", "resume"]));
    assert_eq!(applied(&room), ["a", "b"], "a was applied by the Terraform that was left, and not again");
}

#[test]
fn a_plan_that_is_made_anew_may_not_do_more_than_the_one_that_was_shown() {
    let room = tree(&[("a", &[]), ("b", &["a"])]);
    well(&room.run(&["infra", "plan", "--all"]));
    // What b plans after a is applied is not what it planned before.
    let after = format!("#!/bin/bash\nmkdir -p does/b\necho '{}' > does/b/plan.json\n", creates("it.extra"));
    hook(&room, "infra/hooks/post-apply.sh", &after);
    let left = room.run(&["infra", "apply", "--all", "--confirm"]);
    assert_eq!(left.status, 3, "{}{}", left.stdout, left.stderr);
    let want = "\
suil: the plan of stack `stacks/b` does more than the one that was shown
note: not shown: it.extra
help: look at it with `suil infra plan --stacks stacks/b`, then apply that
";
    assert_eq!((left.stderr.as_str(), applied(&room)), (want, vec!["a".to_owned()]));
    let left = room.run(&["infra", "apply", "--stacks", "stacks/b", "--fresh", "--confirm"]);
    well(&left);
    assert!(left.stdout.contains("1 to add"), "{}", left.stdout);
}

#[test]
fn a_check_that_is_told_after_a_later_run_of_the_stack_counts_for_its_plan() {
    let room = tree(&[("a", &[])]);
    well(&room.run(&["infra", "plan", "--all"]));
    well(&room.run(&["infra", "destroy", "--all", "--confirm"]));
    well(&room.run(&["infra", "check", "--stack", "stacks/a", "--name", "cost", "--status", "fail"]));
    room.run(&["infra", "apply", "--all", "--confirm"]).is(3, "", "suil: check `cost` of stack `stacks/a` failed\n");
    // Nor does a run that is resumed come to it.
    let room = tree(&[("a", &[]), ("b", &["a"])]);
    well(&room.run(&["infra", "plan", "--all"]));
    room.write("does/a/fail", "no\n");
    assert_eq!(room.run(&["infra", "apply", "--all", "--confirm"]).status, 1);
    well(&room.run(&["infra", "check", "--stack", "stacks/b", "--name", "cost", "--status", "fail"]));
    fs::remove_file(room.path().join("does/a/fail")).expect("removed");
    room.run(&["infra", "resume"]).is(3, "", "suil: check `cost` of stack `stacks/b` failed\n");
    well(&room.run(&["infra", "check", "--stack", "stacks/b", "--name", "cost", "--status", "pass"]));
    well(&room.run(&["infra", "resume"]));
    assert_eq!(applied(&room), ["a", "b"]);
}

/// What the stand-in plans, where `does/<stack>/plan.json` has it.
fn creates(address: &str) -> String {
    format!(
        "{{\"format_version\": \"1.2\", \"resource_changes\": [{{\"address\": \"{address}\", \"mode\": \"managed\", \"change\": {{\"actions\": [\"create\"]}}}}]}}"
    )
}

/// Between the plan that was shown and the answer to the question another run may plan the same stack.
#[test]
fn a_plan_of_another_run_is_never_applied_in_the_place_of_the_one_that_was_shown() {
    let room = tree(&[("a", &[]), ("b", &[]), ("c", &["b"])]);
    let hook_text = format!(
        "#!/bin/bash\n[ -e once ] && exit 0\ntouch once\nmkdir -p does/a\necho '{}' > does/a/plan.json\n'{}' infra plan --stacks stacks/a\n",
        creates("it.extra"),
        env!("CARGO_BIN_EXE_suil"),
    );
    hook(&room, "infra/hooks/post-plan.sh", &hook_text);
    // The run keeps its own in its hands.
    hook(
        &room,
        "infra/hooks/pre-apply.sh",
        "#!/bin/bash\ncp \"$SUIL_PLAN_FILE\" used && cat \"$SUIL_PLAN_JSON\" >>used\n",
    );
    well(&room.run(&["infra", "apply", "--stacks", "stacks/a", "--fresh", "--confirm"]));
    let used = fs::read_to_string(room.path().join("used")).expect("a plan");
    assert!(room.path().join("once").exists() && used.contains("it.a") && !used.contains("it.extra"), "{used}");
    assert_eq!(applied(&room), ["a"]);
    forget(&room);
    fs::remove_file(room.path().join("state/a")).expect("removed");
    // The same while a hook runs.
    room.write("does/a/plan.json", &creates("it.extra"));
    fs::remove_file(room.path().join("infra/hooks/post-plan.sh")).expect("removed");
    hook(&room, "infra/hooks/pre-apply.sh", "#!/bin/bash\necho >>\"$SUIL_PLAN_FILE\"\n");
    let left = room.run(&["infra", "apply", "--stacks", "stacks/a", "--fresh", "--confirm"]);
    assert!(
        left.stderr.starts_with("suil: the plan file of stack `stacks/a` is not the one that was made\n"),
        "{left:?}"
    );
    assert!(left.status == 3 && applied(&room).is_empty());
    fs::remove_file(room.path().join("infra/hooks/pre-apply.sh")).expect("removed");
    // The same where a run is resumed.
    room.write("does/b/delay", "30");
    well(&room.run(&["infra", "plan", "--all"]));
    let child = start(&room, &["infra", "apply", "--all", "--confirm", "--parallel", "1"]);
    wait_for(&room, "b: apply");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
    assert!(kill.success() && child.wait_with_output().expect("it ends").status.code() == Some(130));
    assert!(applied(&room).is_empty());
    room.write("does/b/delay", "0");
    room.write("does/a/plan.json", &creates("it.more"));
    well(&room.run(&["infra", "plan", "--stacks", "stacks/a"]));
    let runs = room.run(&["infra", "runs", "--mode", "apply", "--state", "failed", "--output", "json"]);
    let id = runs.stdout.split("\"id\": \"").nth(1).and_then(|rest| rest.split('"').next()).expect("a run").to_owned();
    let left = room.run(&["infra", "resume", &id, "--parallel", "1"]);
    assert!(left.stderr.contains("not shown: it.more"), "{}{}", left.stdout, left.stderr);
    assert_eq!(applied(&room), ["b", "c"]);
}

#[test]
fn hooks_run_at_the_root_and_a_failing_one_stops_what_it_stands_before() {
    let room = tree(&[("a", &[])]);
    let tells = "#!/bin/bash\necho \"$0 $SUIL_STACK $STACKORDER_STACK_PATH ${SUIL_PLAN_JSON:+json} $CITY\" >> told\npwd >> told\n";
    room.write("stacks/a/.stackorder.yaml", "env: {CITY: {plan: Rome, apply: Oslo}}\n");
    for name in ["pre-plan", "post-plan"] {
        hook(&room, &format!(".stackorder/hooks/{name}.sh"), tells);
    }
    hook(
        &room,
        "infra/hooks/post-plan.sh",
        &format!("{tells}grep -q top-secret \"$SUIL_PLAN_JSON\" && exit 9\ntrue\n"),
    );
    well(&room.run(&["infra", "plan", "--all"]));
    let told =
        fs::read_to_string(room.path().join("told")).expect("told").replace(&*room.path().to_string_lossy(), "/");
    assert_eq!(
        told,
        "//.stackorder/hooks/pre-plan.sh stacks/a stacks/a  Rome\n/\n//infra/hooks/post-plan.sh stacks/a stacks/a json Rome\n/\n"
    );
    room.write("infra/hooks/pre-apply.sh", "exit 0\n");
    let left = room.run(&["infra", "apply", "--all", "--confirm"]);
    assert_eq!(left.status, 1);
    let want = "suil: hook `infra/hooks/pre-apply.sh` is not executable\nhelp: `chmod +x infra/hooks/pre-apply.sh`\n";
    assert_eq!(left.stderr, want);
    hook(&room, "infra/hooks/pre-apply.sh", "#!/bin/bash\necho 'token = abc'\nexit 4\n");
    let left = room.run(&["infra", "resume"]);
    let want = "suil: stack `stacks/a`: hook `infra/hooks/pre-apply.sh` failed with code 4\nnote: token = ***\n";
    assert_eq!((left.status, left.stderr.as_str()), (1, want));
    assert!(applied(&room).is_empty());
    fs::remove_file(room.path().join("infra/hooks/pre-apply.sh")).expect("removed");
    hook(&room, "infra/hooks/post-apply.sh", "#!/bin/bash\nexit 5\n");
    let left = room.run(&["infra", "resume"]);
    assert!(left.stdout.starts_with("WAVE ") && left.stdout.contains("stacks/a  applied  1 added"), "{}", left.stdout);
    assert!(left.stderr.ends_with("failed with code 5\nnote: the stack was applied\n"), "{}", left.stderr);
    assert_eq!((left.status, applied(&room)), (1, vec!["a".to_owned()]));
}

#[test]
fn secret_settings_of_a_backend_are_in_no_list_of_arguments() {
    let room = tree(&[("a", &[])])
        .set("SUIL_BACKEND_CONFIG", "path=x,secret_key=hunter2-$${x},conn_str=postgres://bob:pa55@db/x,key=k/y");
    hook(&room, "infra/hooks/pre-plan.sh", "#!/bin/bash\ntrue\n");
    well(&room.run(&["infra", "plan", "--all"]));
    let calls = calls(&room);
    let init = calls.iter().find(|call| call.starts_with("a: init ")).expect("an init");
    let words: Vec<&str> = init.split(' ').filter(|word| word.starts_with("-backend-config=")).collect();
    assert_eq!((words[0], words[3], words.len()), ("-backend-config=path=x", "-backend-config=key=k/y", 4));
    assert!(!init.contains("hunter2") && !init.contains("pa55"), "{init}");
    let told = fs::read_to_string(room.path().join("told")).expect("what init was told");
    assert!(told.contains(r#"{"secret_key":"hunter2-$${x}"}{"conn_str":"postgres://bob:pa55@db/x"}"#), "{told}");
    for word in &words[1..3] {
        let path = word.trim_start_matches("-backend-config=/");
        assert!(path.ends_with(".tfbackend.json") && !room.path().join(path).exists(), "{word}");
    }
}

#[test]
fn no_secret_is_printed_or_kept() {
    let room = tree(&[("a", &[]), ("b", &[])]).set("DB_PASSWORD", "letmein-42");
    room.write("does/b/fail-plan", "Error: letmein-42 was refused\n");
    let left = room.run(&["infra", "plan", "--all", "--text", "--output", "json"]);
    assert_eq!(left.status, 1);
    let said = format!("{}{}", left.stdout, left.stderr);
    assert!(said.contains("password = *** and ***"), "{said}");
    let mut kept = Vec::new();
    let mut open = vec![room.path().join(".suil")];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => open.push(path),
                // Terraform's own plan file holds what it needs.
                false if path.extension().is_some_and(|end| end == "tfplan") => {
                    assert_eq!(path.metadata().expect("there").permissions().mode() & 0o777, 0o600);
                }
                false => kept.push(fs::read(path).expect("a file")),
            }
        }
    }
    let kept = String::from_utf8_lossy(&kept.concat()).into_owned() + &said;
    for secret in ["hunter2", "top-secret-pin", "letmein-42"] {
        assert!(!kept.contains(secret), "{secret}");
    }
}

#[test]
fn destroying_goes_backwards_and_leaves_nobody_without_what_they_need() {
    let room = tree(&[("a", &[]), ("b", &["a"]), ("c", &["b"])]);
    well(&room.run(&["infra", "apply", "--all", "--fresh", "--confirm"]));
    let left = room.run(&["infra", "destroy", "--stacks", "stacks/b", "--confirm"]);
    let want = "suil: stack `stacks/c` depends on what is to be destroyed\nhelp: destroy them as well with `--with-dependents`\n";
    left.is(3, "", want);
    forget(&room);
    let left = room.run(&["infra", "destroy", "--stacks", "stacks/b", "--with-dependents", "--confirm"]);
    well(&left);
    assert_eq!(applied(&room), ["c", "b"]);
    let state = fs::read_dir(room.path().join("state")).expect("a folder").count();
    assert_eq!(state, 1, "a is left");
    room.run(&["infra", "destroy"]).is(
        64,
        "",
        "suil: no stack is named\nhelp: name some with `--stacks STACK`, those that a change touches with `--base REV`, or `--all`\n",
    );
}

#[test]
fn a_stack_that_is_not_there_is_named_with_what_could_be_meant() {
    let room = tree(&[("a", &[])]);
    room.write("stacks/a/.stackorder.yaml", "instances: [east, west]\n");
    let left = room.run(&["infra", "plan", "--stacks", "stacks/a,stacks/b"]);
    let want = "\
suil: there is no stack `stacks/a`
note: expected one of its instances: `stacks/a:east`, `stacks/a:west`

suil: there is no stack `stacks/b`
help: `suil infra graph` names all stacks
";
    left.is(64, "", want);
    well(&room.run(&["infra", "plan", "--all"]));
}

#[test]
fn one_init_at_a_time_fills_the_cache_of_plugins() {
    let room = tree(&[("a", &[]), ("b", &[]), ("c", &[]), ("d", &[])]);
    for name in ["a", "b", "c", "d"] {
        room.write(&format!("stacks/{name}/vm.tf"), "resource \"aws_instance\" \"x\" {}\n");
    }
    well(&room.run(&["infra", "plan", "--all"]));
    let calls = calls(&room);
    assert_eq!(calls.iter().filter(|call| call.contains(": init")).count(), 4);
    assert!(!calls.iter().any(|call| call.ends_with(": at once")), "{calls:?}");
    assert!(room.path().join(".suil/plugins").is_dir());
}

#[test]
fn a_plan_file_that_is_gone_is_made_anew_and_must_touch_the_same() {
    let room = tree(&[("a", &[]), ("b", &[])]);
    let git = |arguments: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
        let done = Command::new("git").args(who).args(arguments).current_dir(room.path()).output().expect("git");
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "stacks", "stackorder.yaml"]);
    git(&["commit", "-q", "-m", "all"]);
    well(&room.run(&["infra", "plan", "--all"]));
    fs::remove_dir_all(room.path().join(".suil/plans")).expect("gone");
    let more = "{\"format_version\": \"1.2\", \"terraform_version\": \"1.9.0\"}";
    room.write("does/b/plan.json", more);
    let left = room.run(&["infra", "apply", "--all", "--confirm"]);
    let want = "\
suil: the plan of stack `stacks/b` does less than the one that was shown
note: shown: it.b
help: look at it with `suil infra plan --stacks stacks/b`, then apply that
";
    assert_eq!((left.status, left.stderr.as_str()), (3, want), "{}", left.stdout);
    assert_eq!(applied(&room), ["a"]);
    // What was applied is planned no more.
    let left = room.run(&["infra", "apply", "--stacks", "stacks/a", "--confirm"]);
    assert!(left.stderr.starts_with("suil: stack `stacks/a` is not planned for commit "), "{}", left.stderr);
    room.write("stacks/b/.stackorder.yaml", "tool_version: 1.8.5\n");
    let left = room.run(&["infra", "plan", "--stacks", "stacks/b"]);
    well(&left);
    assert!(
        left.stderr.starts_with("suil: warning: stack `stacks/b` asks for version 1.8.5, and is planned by 1.9.0\n"),
        "{}",
        left.stderr
    );
}

/// Layers in a workspace, committed: `plain` asks for no host data, `asks` does where it is there.
fn layers(asks: bool) -> Room {
    let room = Room::new().set("SUIL_TERRAFORM_BIN", STAND_IN);
    room.write(".gitignore", ".suil/\nstacks.out/\n/calls\n/state/\n/home/\n");
    room.write("stackorder.yaml", "version: 1\nstacks: {backends: all}\n");
    room.write("data/common.yaml", "hierarchy: ['nodes/{node}.yaml', 'roles/{role}.yaml']\n");
    room.write("data/roles/db.yaml", "modules: []\n");
    room.write("data/nodes/db-1.yaml", "role: db\n");
    room.write("environments/prod/env.tfvars", "town = \"harbor\"\n");
    let mut code = vec![("plain", "# {{ var.town }}\n")];
    code.extend(asks.then_some(("asks", "# {{ lookup('a.b', required=false) | length }}\n")));
    for (name, text) in code {
        room.write(
            &format!("stacks/{name}/base/main.tf"),
            &format!("terraform {{\n  backend \"local\" {{}}\n}}\n{text}"),
        );
        room.write(&format!("stacks/{name}/layers/prod/layer.tfvars"), "");
    }
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
    for words in [&["init", "-q"][..], &["add", "-A"], &["commit", "-q", "-m", "all"]] {
        let done = Command::new("git").args(who).args(words).current_dir(room.path()).output().expect("git");
        assert!(done.status.success(), "{done:?}");
    }
    room
}

#[test]
fn a_workspace_that_is_broken_does_not_matter_to_stacks_that_ask_for_no_host_data() {
    let broken = |room: &Room| {
        room.write("stacks/plain/base/main.tf", "terraform {\n  backend \"local\" {}\n}\n# {{ var.town }}!\n");
        room.write("data/common.yaml", "hierarchy: [nodes\n");
        room.write("modules.yaml", "modules: 7\n");
        room.write("data/nodes/db-1.yaml", "role: [\n");
    };
    let room = layers(false);
    broken(&room);
    let left = room.run(&["infra", "plan", "--base", "HEAD"]);
    well(&left);
    assert!(left.stdout.contains("stacks/plain:prod  planned"), "{}", left.stdout);

    let room = layers(true);
    broken(&room);
    let left = room.run(&["infra", "plan", "--base", "HEAD"]);
    assert_eq!(left.status, 1, "{}{}", left.stdout, left.stderr);
    assert!(
        left.stdout.contains("stacks/plain:prod  planned") && left.stdout.contains("stacks/asks:prod   failed"),
        "{}",
        left.stdout
    );
    assert!(left.stderr.contains("data/common.yaml") && !left.stderr.contains("plain"), "{}", left.stderr);
}
