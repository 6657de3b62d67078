use crate::expect::{refused, room, text, untouched, wanted, words};
use crate::local;
use crate::room::Room;

const CASE: &str = "T03-undefined-and-stable-output";
const SCHEMA: &str = "host = t.string(), opts = t.map(t.int()), log = t.map(t.string())";
const MAIN: &str = "def resources(config):\n    return [file(\"@/app.conf\", content = render(\"etc/app.conf.j2\", {\"app\": config}))]\n";

fn template() -> String {
    text(CASE, "input/etc/app.conf.j2")
}

/// The input with the module that renders its template.
fn workspace() -> Room {
    let room = room(CASE, &[]);
    room.write("modules/app/templates/etc/app.conf.j2", &template());
    room.write("modules/app/code/main.star", &MAIN.replace('@', "/nonexistent"));
    room.write("modules/app/code/config.star", &format!("Config = schema({SCHEMA})\n"));
    room
}

#[test]
fn t03_an_undefined_name_stops_before_anything_is_changed() {
    let want = wanted(CASE);
    let room = workspace();
    let precise = ["templates/etc/app.conf.j2:5:", "`app.log.levle`", "did you mean `level`?", "module `app`"];
    for command in [&["validate"][..], &["validate", "--output", "yaml"]] {
        let left = room.run(command);
        assert_eq!(left.status, 1);
        let said = left.stdout.clone() + &left.stderr;
        for word in words(&want, "contains") {
            assert!(said.contains(word), "{word}: {said}");
        }
        assert!(!said.contains("alpha") && !said.contains("{% for"), "the whole template is shown: {said}");
    }
    refused(&room.run(&["validate"]), precise);
    untouched(&room);

    let node = local::Room::new(&["first", "app"]);
    node.module("first", "", "def resources(config):\n    return [file(\"@/first\", content = \"x\")]\n");
    node.module("app", SCHEMA, MAIN);
    node.write("modules/app/templates/etc/app.conf.j2", &template());
    node.data("app: {host: h, opts: {zeta: 1}, log: {level: info}}\n");
    // Known, so that the module runs before anything is connected; unknown, so that it runs after the probe.
    for known in [false, true] {
        if known {
            node.write(&format!("facts/{}/suil.yaml", local::NODE), "facts: {family: debian, release: 12}\n");
        }
        let ran = node.apply(&["--confirm"]).expect(1);
        assert!(ran.stderr.contains("levle") && ran.stderr.contains(local::NODE), "{}", ran.stderr);
        assert_eq!((node.there("first"), node.there("app.conf")), ("none".into(), "none".into()));
    }
}

#[test]
fn t03_mappings_keep_the_order_of_the_data() {
    let want = wanted(CASE);
    let want = want.get("then_value").and_then(suil::base::Plain::as_str).expect("a value");
    let node = local::Room::new(&["app"]);
    node.module("app", SCHEMA, MAIN);
    let lines: Vec<&str> = template().leak().lines().collect();
    node.write("modules/app/templates/etc/app.conf.j2", &format!("{}\n", lines[..lines.len() - 1].join("\n")));
    node.write("modules/app/data/a.yaml", &text(CASE, "input/modules/app/data/a.yaml"));
    node.data("app:\n  opts: {mid: 3, alpha: 9}\n");
    node.apply(&["--confirm"]).expect(0);
    assert_eq!(node.there("app.conf"), want);
    for _ in 0..5 {
        node.apply(&["--confirm"]).expect(0);
        assert_eq!(node.outcome(), "nothing to do");
    }
}
