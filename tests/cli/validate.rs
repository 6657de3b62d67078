use crate::lists::reef;
use crate::room::Room;

#[test]
fn a_sound_workspace_says_so() {
    reef().run(&["validate"]).is(0, "2 nodes, 2 roles: no problem\n", "");
    reef().run(&["validate", "--output", "json"]).is(
        0,
        "{\n  \"version\": 1,\n  \"nodes\": 2,\n  \"roles\": 2,\n  \"problems\": []\n}\n",
        "",
    );
}

/// Case L04 of the shared corpus; its module gets the schema that its ninth line speaks of.
#[test]
fn nine_typing_mistakes_are_told_in_one_go() {
    let room = Room::copy("tests/cases/open/L04-typos/input");
    for n in 1..=9 {
        let text = std::fs::read_to_string(room.path().join(format!("bad/{n}.yaml"))).expect("a bad node");
        room.write(&format!("data/nodes/web-{n}.example.net.yaml"), &text);
    }
    room.write("modules/nginx/code/config.star", "Config = schema(workers = t.int(default = 2))\n");
    let left = room.run(&["validate"]);
    assert_eq!((left.status, left.stdout.as_str()), (1, ""));
    let wanted = [
        (1, "ngnix", "did you mean `nginx`?"),
        (2, "wbe", "did you mean `web`?"),
        (3, "postgers", "expected a folder under `modules/`"),
        (4, "feild", "did you mean `field`?"),
        (5, "v5", "expected one of `v4`, `v6`, `any`"),
        (6, "none", "expected one of `include`, `exclude`, `only`"),
        (7, "{val}", "expected `{value}`"),
        (8, "!replce", "did you mean `!replace`?"),
        (9, "wrokers", "did you mean `workers`?"),
    ];
    for (n, word, help) in wanted {
        let place = format!("data/nodes/web-{n}.example.net.yaml:");
        let told = left.stderr.split("\n\n").any(|p| p.contains(&place) && p.contains(word) && p.contains(help));
        assert!(told, "{n}\n{}", left.stderr);
    }
}

#[test]
fn one_fault_in_a_role_is_told_once_for_all_its_nodes() {
    let room = reef();
    room.write("modules/surf/code/config.star", "Config = schema(port = t.int(), hosts = t.list(t.int()))\n");
    room.write("data/nodes/kelp-01.yaml", "role: reef\n");
    let want = "\
suil: module `surf`: `hosts[0]` is a string
 --> data/roles/reef.yaml:2:26
  |
2 | surf: {port: 80, hosts: [a]}
  |                          ^ expected a whole number
note: rule: modules/surf/code/config.star:1:48
";
    room.run(&["validate"]).is(1, "", want);
}

#[test]
fn a_template_is_rendered_and_its_fault_found() {
    let room = reef();
    room.write(
        "modules/surf/code/main.star",
        "def resources(config):\n    return [file(\"/x\", content = render(\"x.j2\", config))]\n",
    );
    room.write("modules/surf/templates/x.j2", "port={{ prot }}\n");
    let left = room.run(&["validate"]);
    assert_eq!(left.status, 1);
    assert!(left.stderr.contains("modules/surf/templates/x.j2:1:"), "{}", left.stderr);
    assert!(left.stderr.contains("prot"), "{}", left.stderr);
}

#[test]
fn files_that_no_node_reads_are_checked_too() {
    let room = reef();
    room.write("data/stray.yaml", "surf: {port: 80}\n");
    room.write("data/roles/idle.yaml", "modules: [surf]\nsruf: {port: 80}\n");
    room.write("modules/surf/data/os/debian/99.yaml", "surf: [\n");
    let left = room.run(&["validate"]);
    assert_eq!((left.status, left.stdout.as_str()), (1, ""));
    for words in [
        "suil: warning: `data/stray.yaml` is read by no layer of the `hierarchy`",
        " --> data/roles/idle.yaml:2:1",
        "did you mean `surf`?",
        " --> modules/surf/data/os/debian/99.yaml:1:7",
    ] {
        assert!(left.stderr.contains(words), "{words}: {}", left.stderr);
    }
    assert_eq!(left.stderr.matches("sruf").count(), 2, "told once, with its line: {}", left.stderr);
}

/// A pipe is never read to its end, and a device has none.
#[test]
fn what_is_no_regular_file_is_refused_and_not_waited_for() {
    let wanted = "is_a_device.yaml`: it is no regular file";
    for path in ["data/roles", "modules/surf/data", "modules/surf/data/os/debian"] {
        let room = reef();
        std::fs::create_dir_all(room.path().join(path)).expect("folders");
        std::os::unix::fs::symlink("/dev/zero", room.path().join(path).join("is_a_device.yaml")).expect("a link");
        let left = room.run(&["validate"]);
        assert_eq!((left.status, left.stdout.as_str()), (1, ""), "{path}");
        assert!(left.stderr.contains(wanted), "{path}: {}", left.stderr);
    }
}

#[test]
fn code_that_suil_never_calls_is_told() {
    let room = reef();
    room.write("modules/surf/code/main.star", "def resource(config):\n    return []\n");
    let want = "\
suil: module `surf`: `code/main.star` has no function that suil calls
note: expected one of `resources(config)`, `expected(config)`, `deploy(config, facts, force)`, `check(config, facts)`
help: did you mean `resources` by `resource`?
";
    room.run(&["validate"]).is(1, "", want);
}
