//! Every exit code, command by command. 130 is shown where runs are stopped, in `tests/local/stop.rs`.

use crate::commands;
use crate::room::Room;
use clap::CommandFactory;
use suil::base::Plain;

fn all() -> Vec<String> {
    let mut cli = suil::cli::Cli::command();
    cli.build();
    commands(&cli, "")
}

/// The kinds of the problems that a program is told.
#[track_caller]
fn kinds(room: &Room, args: &[&str], status: i32) -> Vec<String> {
    let left = room.run(&[args, &["--output", "json"]].concat());
    assert_eq!(left.status, status, "{args:?}: {left:?}");
    let told = Plain::from_json(&left.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {left:?}"));
    let problems = told.get("problems").and_then(Plain::as_list).expect("problems").to_vec();
    problems.iter().map(|p| p.get("kind").and_then(Plain::as_str).expect("a kind").to_owned()).collect()
}

#[test]
fn a_wrong_command_line_is_64_for_every_command() {
    let room = Room::copy("data-example");
    // Every option behind `infra terraform` is Terraform's to judge.
    for command in all().iter().filter(|command| *command != "infra terraform") {
        let args: Vec<&str> = command.split(' ').chain(["--no-such-option"]).collect();
        assert_eq!(kinds(&room, &args, 64), ["usage"], "{command}");
        let left = room.run(&args);
        assert_eq!((left.status, left.stdout.as_str()), (64, ""), "{command}");
        assert!(left.stderr.starts_with("suil: unknown option `--no-such-option`\n"), "{command}: {}", left.stderr);
    }
}

#[test]
fn help_is_0_for_every_command() {
    for command in all() {
        let args: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let left = Room::new().run(&args);
        assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{command}");
        assert!(left.stdout.contains(&format!("Usage: suil {command}")), "{command}: {}", left.stdout);
    }
}

/// A command, its exit code at the example, and what stands before a colon is what makes it so.
const OUTCOMES: &[(i32, &[&str])] = &[
    (0, &["nodes"]),
    (0, &["roles"]),
    (0, &["modules"]),
    (0, &["config"]),
    (1, &["config", "--node", "nobody"]),
    (1, &["config", "--role", "nobody"]),
    (1, &["config", "--module", "nothing"]),
    (0, &["explain", "web-01.example.com", "nginx"]),
    (1, &["explain", "web-01.example.com", "nothing"]),
    (1, &["explain", "nobody", "nginx"]),
    (64, &["explain", "*", "nginx"]),
    (0, &["validate"]),
    (0, &["test"]),
    (1, &["test", "nothing"]),
    (0, &["schema"]),
    (1, &["schema", "nothing"]),
    (0, &["encrypt", "x"]),
    (64, &["encrypt"]),
    (64, &["decrypt", "x"]),
    (1, &["init", "."]),
    (0, &["completions", "bash"]),
    (64, &["completions", "csh"]),
    (0, &["man"]),
    (64, &["apply"]),
    (64, &["apply", "--node", "*"]),
    (1, &["apply", "--node", "nobody", "--dry-run"]),
    (0, &["plan", "--role", "demo"]),
    (2, &["plan", "--role", "demo", "--detailed-exitcode"]),
    (2, &["apply", "--role", "demo", "--dry-run", "--detailed-exitcode"]),
    (1, &["apply", "--plan", "no-such-plan", "--confirm"]),
    (0, &["run", "--role", "demo", "--", "true"]),
    (1, &["run", "--role", "demo", "--", "false"]),
    (64, &["run", "--role", "demo"]),
    (64, &["unlock"]),
    (0, &["facts", "--role", "demo"]),
    (1, &["facts", "--role", "nobody"]),
    (0, &["runs"]),
    (1, &["runs", "show", "1999"]),
    (0, &["rekey", "--dry-run"]),
];

#[test]
fn each_outcome_has_its_exit_code() {
    let room = Room::copy("data-example");
    let mine = room.path().join("demo").display().to_string();
    let role = std::fs::read_to_string(room.path().join("data/roles/demo.yaml")).expect("a role");
    room.write("data/roles/demo.yaml", &role.replace("/tmp/suil-demo", &mine));
    let mut wrong = Vec::new();
    for (status, args) in OUTCOMES {
        let left = room.run(args);
        if left.status != *status {
            wrong.push(format!("suil {}: {} instead of {status}\n{}", args.join(" "), left.status, left.stderr));
        }
        if (left.status == 0) != left.stderr.is_empty() && *status != 2 && args[0] != "run" {
            wrong.push(format!("suil {}: exits {} and says {:?}", args.join(" "), left.status, left.stderr));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn without_a_workspace_it_is_1_for_every_command_that_needs_one() {
    for args in [
        &["nodes"][..],
        &["roles"],
        &["modules"],
        &["config"],
        &["explain", "a", "b"],
        &["validate"],
        &["test"],
        &["schema"],
        &["facts"],
        &["plan", "--node", "*"],
        &["apply", "--node", "*", "--confirm"],
        &["rekey"],
        &["runs"],
        &["runs", "show"],
    ] {
        assert_eq!(kinds(&Room::new(), args, 1), ["failed"], "{args:?}");
    }
}

#[test]
fn a_saved_plan_that_moved_is_refused_with_3() {
    let room = Room::copy("data-example");
    let mine = room.path().join("demo").display().to_string();
    let role = std::fs::read_to_string(room.path().join("data/roles/demo.yaml")).expect("a role");
    room.write("data/roles/demo.yaml", &role.replace("/tmp/suil-demo", &mine));
    assert_eq!(room.run(&["plan", "--role", "demo", "--out", "saved"]).status, 0);
    room.write("data/roles/demo.yaml", &role.replace("/tmp/suil-demo", &mine).replace("draft", "other"));
    let found = kinds(&room, &["apply", "--plan", "saved", "--confirm"], 3);
    assert!(found.contains(&"refused".to_owned()), "{found:?}");
}
