use crate::room::Room;

/// The workspace of `suil init`, whose one node is this machine; it manages a folder of the room.
fn workspace() -> Room {
    let room = Room::new();
    assert_eq!(room.run(&["init", "."]).status, 0);
    let role = std::fs::read_to_string(room.path().join("data/roles/example.yaml")).expect("the role");
    let folder = room.path().join("here").to_string_lossy().into_owned();
    room.write("data/roles/example.yaml", &role.replace("/tmp/suil-example", &folder));
    room
}

#[test]
fn what_a_dry_run_shows_is_done_once_and_then_never_again() {
    let room = workspace();
    let dry = room.run(&["apply", "--role", "example", "--dry-run", "--detailed-exitcode"]);
    assert_eq!((dry.status, dry.stderr.as_str()), (2, ""), "{dry:?}");
    assert!(!room.path().join("here").exists());
    let done = room.run(&["apply", "--role", "example", "--confirm"]);
    assert_eq!((done.status, done.stderr.as_str()), (0, ""), "{done:?}");
    let plan = |text: &str| -> String {
        text.lines().skip_while(|line| *line != "here").take_while(|line| !line.starts_with("here ")).collect()
    };
    assert!(plan(&dry.stdout).contains("+Hello, the example role!"), "{dry:?}");
    assert_eq!(plan(&dry.stdout), plan(&done.stdout));
    assert!(done.stdout.ends_with("here  done  2 operations\n"), "{done:?}");
    let text = std::fs::read_to_string(room.path().join("here/greeting.txt")).expect("the file");
    assert_eq!(text, "Hello, the example role!\nHello, the node here!\n");
    let again = room.run(&["apply", "--role", "example", "--confirm"]);
    assert_eq!((again.status, again.stderr.as_str()), (0, ""), "{again:?}");
    assert!(again.stdout.ends_with("Nothing to apply.\nhere  nothing to do\n"), "{again:?}");
}

#[test]
fn without_a_terminal_nothing_is_applied_unasked() {
    let room = workspace();
    let want = "\
suil: there is no terminal to ask \"Apply?\" on
help: show the plan with `--dry-run`, or apply without asking with `--confirm`
";
    room.run(&["apply", "--role", "example"]).is(64, "", want);
    assert!(!room.path().join("here").exists());
}

#[test]
fn a_run_wants_to_be_told_which_nodes() {
    let want = "\
suil: no node is selected
help: name some with `--role ROLE` or `--node NODE`, or take all with `--node '*'`
";
    workspace().run(&["apply", "--confirm"]).is(64, "", want);
}

#[test]
fn a_node_whose_module_fails_is_no_node_with_nothing_to_do() {
    let room = workspace();
    room.write("modules/greeting/templates/greeting.txt.j2", "{{ nmaes }}\n");
    let left = room.run(&["apply", "--role", "example", "--confirm"]);
    assert_eq!(left.status, 1, "{left:?}");
    assert!(left.stdout.contains("could not be planned: here\n"), "{left:?}");
    assert!(left.stderr.contains("modules/greeting/templates/greeting.txt.j2:1"), "{left:?}");
}
