use crate::expect::{at, folder, map, merged, refused, room, text, untouched, wanted, words};
use crate::room::Room;
use suil::base::Plain;

const NETWORK: [&str; 3] = ["net", "lb", "nginx"];
const BALANCER: &str = "lb-1.example.net";

#[test]
fn l01_the_order_is_that_of_the_names_in_every_locale_and_every_run() {
    let case = "L01-lookup-order-family-self";
    let sound = room(case, &NETWORK);
    let found = merged(&sound, &[]);
    let want = wanted(case);
    for (key, want) in map(&want, "values") {
        let (node, path) = key.split_once(' ').expect("node and path");
        assert_eq!(at(&found, node, path), Some(want), "{key}");
    }
    // Files made in reverse, another locale, another selection: the same bytes.
    let other = room(case, &NETWORK).set("LC_ALL", "cs_CZ.UTF-8").set("LANG", "cs_CZ.UTF-8");
    let nodes = other.path().join("data/nodes");
    let mut files: Vec<_> = std::fs::read_dir(&nodes).expect("nodes").map(|f| f.expect("a file").path()).collect();
    files.sort();
    let texts: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).expect("text")).collect();
    files.iter().for_each(|file| std::fs::remove_file(file).expect("removed"));
    for (file, text) in files.iter().zip(&texts).rev() {
        std::fs::write(file, text).expect("written");
    }
    for form in ["json", "yaml", "text"] {
        let config = ["config", "--merged", "--output", form];
        let first = sound.run(&config);
        assert_eq!(first.status, 0, "{}", first.stderr);
        assert_eq!(other.run(&config), first);
        assert_eq!(other.run(&config), first);
    }
}

#[test]
fn l02_every_selection_gives_the_same_pool() {
    let case = "L02-lookup-with-limited-targets";
    let room = room(case, &NETWORK);
    let commands = text(case, "input/commands.txt");
    assert_eq!(commands.lines().count(), 3);
    for command in commands.lines() {
        let select: Vec<&str> = command.strip_prefix("suil config").expect("config").split_whitespace().collect();
        let found = merged(&room, &select);
        let want = wanted(case);
        for (path, want) in map(&want, "values") {
            assert_eq!(at(&found, BALANCER, path), Some(want), "{command}: {path}");
        }
        let public = room.run(&[&["config", "--output", "json"], &select[..]].concat());
        assert_eq!(public.status, 0, "{}", public.stderr);
        let compact: String = public.stdout.split_whitespace().collect();
        assert!(compact.contains(r#""pool":["192.0.2.11","192.0.2.20","192.0.2.12"]"#), "{command}: {compact}");
    }
    untouched(&room);
}

#[test]
fn l02_a_broken_stranger_is_named() {
    let case = "L02-lookup-with-limited-targets";
    let room = room(case, &NETWORK);
    room.write("data/nodes/other.example.net.yaml", "role: [web\n");
    for command in text(case, "input/commands.txt").lines() {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        refused(&room.run(&words), ["data/nodes/other.example.net.yaml:"]);
    }
}

/// A workspace with the one mistake of `bad/<n>.yaml`.
fn mistaken(n: u8) -> Room {
    let room = room("L04-typos", &[]);
    room.write("data/nodes/web-1.example.net.yaml", &text("L04-typos", &format!("input/bad/{n}.yaml")));
    room.write("modules/nginx/code/config.star", "Config = schema(workers = t.int(default = 2))\n");
    room
}

#[test]
fn l04_each_mistake_is_named_in_every_command() {
    let want = wanted("L04-typos");
    let files = want.get("files").expect("files");
    for n in 1..=9 {
        let room = mistaken(n);
        for command in [&["validate"][..], &["config"], &["apply", "--node", "*", "--confirm"]] {
            let left = room.run(command);
            refused(&left, words(files, &format!("bad/{n}.yaml")).chain(["data/nodes/web-1.example.net.yaml:"]));
        }
        untouched(&room);
    }
}

#[test]
fn l04_a_selection_of_nothing_fails() {
    let room = room("L04-typos", &[]);
    room.write("data/nodes/web-1.example.net.yaml", "role: web\n");
    let commands = text("L04-typos", "input/commands.txt");
    for command in commands.lines() {
        let words: Vec<&str> = command.split_whitespace().skip(1).collect();
        let guess =
            if command.contains("--role") { "did you mean `web`?" } else { "did you mean `web-1.example.net`?" };
        for more in [&["--confirm"][..], &["--dry-run"]] {
            let left = room.run(&[&words[..], more].concat());
            refused(&left, ["wbe", guess]);
            assert!(!left.stderr.to_lowercase().contains("nothing to apply"), "{}", left.stderr);
        }
    }
    untouched(&room);
}

/// The table of the case as a workspace of one node.
fn ordered(requires: &str, role: &str, node: &str, probed: bool) -> Room {
    let room = Room::with(&[
        ("data/common.yaml", "hierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n"),
        ("data/roles/r.yaml", &format!("modules: [{role}]\n")),
        ("data/nodes/n.yaml", &format!("role: r\nmodules: [{node}]\n")),
        ("data/nodes/another.yaml", "role: r\n"),
    ]);
    for (module, names) in Plain::from_yaml(requires).expect("YAML").as_map().expect("a mapping") {
        let names: Vec<&str> = names.as_list().expect("a list").iter().filter_map(Plain::as_str).collect();
        room.write(&format!("modules/{module}/requires.yaml"), &format!("requires: [{}]\n", names.join(", ")));
    }
    if probed {
        room.write("facts/n/suil.yaml", "facts: {family: debian, release: 12}\n");
    }
    room
}

#[test]
fn l05_the_order_is_that_of_the_lists_and_a_cycle_is_one_closed_path() {
    let case = "L05-module-order-and-cycles";
    let want = wanted(case);
    let input = |file: &str| text(case, &format!("input/{file}")).trim().to_owned();
    let node = |merged: &Plain| {
        let nodes = merged.get("nodes").and_then(Plain::as_list).expect("nodes");
        nodes.iter().find(|node| node.get("name") == Some(&"n".into())).expect("n").clone()
    };
    for (probed, key) in [(true, "order"), (false, "provisional")] {
        let room = ordered(&input("requires.yaml"), &input("role-modules.txt"), &input("node-modules.txt"), probed);
        for select in [&[][..], &["--node", "n"], &["--role", "r"]] {
            let node = node(&merged(&room, select));
            assert_eq!(node.get("modules"), want.get(key));
            assert_eq!(node.get("provisional"), Some(&(!probed).into()));
        }
    }
    for (file, words) in map(&want, "errors") {
        let room = ordered(&input(file), "other", "", true);
        let left = room.run(&["config"]);
        refused(&left, words.as_list().expect("words").iter().filter_map(Plain::as_str));
        if file == "bad/cycle.yaml" {
            assert_eq!(left.stderr.matches(" -> ").count(), 3, "{}", left.stderr);
            assert!(!left.stderr.contains("other ->"), "{}", left.stderr);
        }
        if file == "bad/unknown.yaml" {
            refused(&left, ["did you mean `nginx`?"]);
        }
    }
    assert!(folder(case).is_dir());
}
