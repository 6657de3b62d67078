use crate::room::Room;

#[test]
fn a_new_workspace_is_made_once() {
    let room = Room::new();
    let want = "\
made a workspace in ws:
  .gitignore
  data/common.yaml
  data/roles/example.yaml
  data/nodes/here.yaml
  modules/greeting/code/config.star
  modules/greeting/code/main.star
  modules/greeting/templates/greeting.txt.j2
  modules/greeting/tests/greeting.yaml
next: cd ws && suil apply --role example --dry-run
";
    room.run(&["init", "ws"]).is(0, want, "");
    let want = "suil: `ws` is a workspace already: it has data/common.yaml\nhelp: choose another folder\n";
    room.run(&["init", "ws"]).is(1, "", want);
}

#[test]
fn a_file_that_is_in_the_way_stops_everything_and_a_gitignore_is_kept() {
    let room = Room::with(&[("data/nodes/here.yaml", "mine\n"), (".gitignore", "mine\n")]);
    room.run(&["init", "."]).is(1, "", "suil: `./data/nodes/here.yaml` is already there\n");
    assert!(!room.path().join("data/common.yaml").exists());
    std::fs::remove_file(room.path().join("data/nodes/here.yaml")).expect("gone");
    assert_eq!(room.run(&["init", "."]).status, 0);
    assert_eq!(std::fs::read_to_string(room.path().join(".gitignore")).expect("kept"), "mine\n");
}

/// What the new workspace teaches must be true.
#[test]
fn a_new_workspace_is_sound_and_its_test_holds() {
    let room = Room::new();
    assert_eq!(room.run(&["init", "ws"]).status, 0);
    room.run(&["validate", "--workspace", "ws"]).is(0, "1 node, 1 role: no problem\n", "");
    let want = "MODULE    TEST      OUTCOME\ngreeting  greeting  ok\n1 test, 0 failed\n";
    room.run(&["test", "--workspace", "ws"]).is(0, want, "");
}
