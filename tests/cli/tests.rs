use crate::lists::reef;
use crate::room::Room;

fn surf(test: &str) -> Room {
    let room = reef();
    room.write("modules/surf/code/config.star", "Config = schema(port = t.int(min = 1))\n");
    let main = "def resources(config):\n    return [file(\"/etc/surf\", content = \"port=%d\\n\" % config.port)]\n";
    room.write("modules/surf/code/main.star", main);
    room.write("modules/surf/tests/port.yaml", test);
    room
}

#[test]
fn a_test_that_holds_is_ok() {
    let test = "\
config: {port: 8080}
resources:
  - file /etc/surf: {content: \"port=8080\\n\"}
operations: [write /etc/surf]
";
    surf(test).run(&["test", "surf"]).is(0, "MODULE  TEST  OUTCOME\nsurf    port  ok\n1 test, 0 failed\n", "");
}

#[test]
fn what_is_there_already_needs_no_operation() {
    let test = "\
config: {port: 80}
facts:
  - file /etc/surf: {content: \"port=80\\n\", owner: root, group: root}
operations: []
";
    surf(test).run(&["test", "surf"]).is(0, "MODULE  TEST  OUTCOME\nsurf    port  ok\n1 test, 0 failed\n", "");
}

#[test]
fn a_wrong_operation_is_shown_at_its_line() {
    let test = "config: {port: 80}\noperations: [write /etc/surv]\n";
    let want = "\
suil: module `surf`: test `port`: operation 1 is not as wanted
 --> modules/surf/tests/port.yaml:2:14
  |
2 | operations: [write /etc/surv]
  |              ^^^^^^^^^^^^^^^ expected `write /etc/surv`, found `write /etc/surf`
note: found: `write /etc/surf`
";
    surf(test).run(&["test"]).is(1, "MODULE  TEST  OUTCOME\nsurf    port  failed\n1 test, 1 failed\n", want);
}

#[test]
fn a_fault_can_be_wanted() {
    let test = "config: {port: 0}\nfails: port\n";
    assert_eq!(surf(test).run(&["test", "surf"]).status, 0);
    let test = "config: {port: 1}\nfails: port\n";
    let left = surf(test).run(&["test", "surf"]);
    assert_eq!(left.status, 1);
    assert!(left.stderr.contains("it does not fail as wanted"), "{left:?}");
}

#[test]
fn a_misspelt_key_of_a_test_is_an_error() {
    let left = surf("confg: {port: 1}\n").run(&["test", "surf"]);
    assert_eq!(left.status, 1);
    assert!(left.stderr.contains("unknown key `confg` in a test"), "{left:?}");
    assert!(left.stderr.contains("did you mean `config`?"), "{left:?}");
}

#[test]
fn every_test_of_the_stock_modules_and_of_the_example_holds() {
    let left = Room::copy("data-example").run(&["test", "--all"]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{}", left.stdout);
    for module in ["accounts", "motd", "nginx", "packages", "ssh", "sysctl", "time", "status"] {
        assert!(left.stdout.lines().any(|line| line.starts_with(module)), "{module} has no test");
    }
}
