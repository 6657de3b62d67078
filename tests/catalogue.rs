//! What the catalogue does beyond the conformance corpus: the cases about lookups and order, selection, explanations,
//! rebuilding, lists. Each workspace is made for its test.

use std::fs;
use std::path::Path;
use suil::base::{Mask, Plain, Problem, Problems};
use suil::catalogue::{Catalogue, Probe, Selection, Workspace, explain, validate};
use suil::data::secret::{Keys, Vault};

const COMMON: &str = "\
hierarchy:
  - os/{family}/{release}.yaml
  - modules/{module}.yaml
  - roles/{role}.yaml
  - nodes/{node}.yaml
";

struct Room(tempfile::TempDir);

impl Room {
    fn new(files: &[(&str, &str)]) -> Room {
        let room = Room(tempfile::tempdir().expect("folder"));
        if !files.iter().any(|(path, _)| *path == "data/common.yaml") {
            room.write("data/common.yaml", COMMON);
        }
        files.iter().for_each(|(path, text)| room.write(path, text));
        room
    }

    /// The input of a case, with a folder for every module that it names.
    fn case(name: &str, modules: &[&str]) -> Room {
        let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/open").join(name).join("input");
        let room = Room(tempfile::tempdir().expect("folder"));
        let mut open = vec![input.clone()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).expect("folder") {
                let path = entry.expect("entry").path();
                match path.is_dir() {
                    true => open.push(path),
                    false => {
                        let rel = path.strip_prefix(&input).expect("below").to_string_lossy().into_owned();
                        room.write(&rel, &fs::read_to_string(&path).expect("text"));
                    }
                }
            }
        }
        modules.iter().for_each(|module| room.write(&format!("modules/{module}/requires.yaml"), ""));
        room
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().expect("folder")).expect("folder");
        fs::write(path, text).expect("file");
    }

    fn open(&self) -> Result<Workspace, Problems> {
        Workspace::open(self.0.path())
    }

    fn build(&self, selection: &Selection) -> Result<Catalogue, Problems> {
        Catalogue::build(&self.open()?, selection)
    }

    fn good(&self, selection: &Selection) -> Catalogue {
        self.build(selection).unwrap_or_else(|problems| panic!("{}", words(&problems)))
    }

    fn bad(&self, selection: &Selection) -> String {
        match self.build(selection) {
            Ok(catalogue) => panic!("no error: {:?}", catalogue.entries),
            Err(problems) => words(&problems),
        }
    }
}

fn all() -> Selection {
    Selection::default()
}

fn words(problems: &[Problem]) -> String {
    let line = |problem: &Problem| {
        let place = problem.place.map_or(String::new(), |place| place.to_string());
        let notes = problem.notes.iter().map(|note| match note.place {
            Some(place) => format!("\n  {} {place}", note.text),
            None => format!("\n  {}", note.text),
        });
        let (expected, help) = (problem.expected.clone().unwrap_or_default(), problem.help.clone().unwrap_or_default());
        format!("{place} {}\n  {expected}\n  {help}{}", problem.what, notes.collect::<String>())
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn no_key() -> Vault {
    Vault::new(None, Mask::new())
}

fn value(catalogue: &Catalogue, node: &str, path: &str) -> Plain {
    let entry = catalogue.entries.iter().find(|entry| &*entry.name == node).expect(node);
    let value = entry.at(&path.split('.').collect::<Vec<_>>()).unwrap_or_else(|| panic!("{node} has no {path}"));
    suil::catalogue::public(&value, &no_key(), node, path).expect("public")
}

fn wanted(case: &str) -> Plain {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/open").join(case).join("expect.json");
    Plain::from_json(&fs::read_to_string(path).expect("expect.json")).expect("json")
}

#[test]
fn case_l01_lookups_are_sorted_spliced_and_filtered() {
    let room = Room::case("L01-lookup-order-family-self", &["net", "lb", "nginx"]);
    let catalogue = room.good(&all());
    for (key, want) in wanted("L01-lookup-order-family-self").get("values").and_then(Plain::as_map).expect("values") {
        let (node, path) = key.split_once(' ').expect("node and path");
        assert_eq!(value(&catalogue, node, path), *want, "{key}");
    }
}

#[test]
fn case_l02_a_lookup_sees_every_node_whatever_is_selected() {
    let room = Room::case("L02-lookup-with-limited-targets", &["net", "lb", "nginx"]);
    for selection in [Selection::node("lb-1.example.net"), Selection::role("lb"), all()] {
        let catalogue = room.good(&selection);
        for (path, want) in
            wanted("L02-lookup-with-limited-targets").get("values").and_then(Plain::as_map).expect("values")
        {
            assert_eq!(value(&catalogue, "lb-1.example.net", path), *want, "{path}");
        }
    }
    room.write("data/nodes/other.example.net.yaml", "role: [web\n");
    for selection in [Selection::node("lb-1.example.net"), Selection::role("lb"), all()] {
        assert!(room.bad(&selection).contains("data/nodes/other.example.net.yaml"));
    }
    // Without a lookup that could read it, a broken stranger does not matter.
    room.good(&Selection::node("db-1.example.net"));
}

#[test]
fn case_l04_typing_mistakes_are_listed_in_one_go() {
    let room = Room::case("L04-typos", &[]);
    for number in 1..=8 {
        let text = fs::read_to_string(room.0.path().join(format!("bad/{number}.yaml"))).expect("input");
        room.write(&format!("data/nodes/n{number}.example.net.yaml"), &text);
    }
    let found = room.bad(&all());
    let wanted = wanted("L04-typos");
    for number in 1..=8 {
        let file = format!("data/nodes/n{number}.example.net.yaml:");
        assert!(found.contains(&file), "{file} is not named in\n{found}");
        let needles = wanted.at(&["files", &format!("bad/{number}.yaml")]).and_then(Plain::as_list).expect("words");
        for needle in needles.iter().filter_map(Plain::as_str) {
            assert!(found.contains(needle), "{needle} is not named in\n{found}");
        }
    }
    for guess in ["did you mean `nginx`?", "did you mean `web`?"] {
        assert!(found.contains(guess), "{guess} is missing in\n{found}");
    }
}

#[test]
fn case_l04_a_selection_that_matches_nothing_is_an_error() {
    let room = Room::case("L04-typos", &[]);
    room.write("data/nodes/web-1.example.net.yaml", "role: web\n");
    assert!(room.bad(&Selection::node("wbe-1.example.net")).contains("did you mean `web-1.example.net`?"));
    assert!(room.bad(&Selection::role("wbe")).contains("did you mean `web`?"));
    assert!(room.bad(&Selection::node("db-*")).contains("no node matches `db-*`"));
    room.good(&Selection::node("web-*"));
    room.write("data/roles/db.yaml", "modules: []\n");
    let both = Selection { roles: vec!["db".into()], nodes: vec!["web-*".into()] };
    assert!(room.bad(&both).contains("no node matches both"));
}

/// The table of case L05 as a workspace.
fn l05(requires: &str, role: &str, node: &str, probed: bool) -> Room {
    let room = Room::new(&[
        ("data/roles/r.yaml", &format!("modules: [{role}]\n")),
        ("data/nodes/n.yaml", &format!("role: r\nmodules: [{node}]\n")),
    ]);
    for (module, names) in Plain::from_yaml(requires).expect("yaml").as_map().expect("mapping") {
        let names = names.as_list().expect("list").iter().filter_map(Plain::as_str).collect::<Vec<_>>().join(", ");
        room.write(&format!("modules/{module}/requires.yaml"), &format!("requires: [{names}]\n"));
    }
    if probed {
        room.write("facts/n/suil.yaml", "facts: {family: debian, release: 12}\n");
    }
    room
}

#[test]
fn case_l05_modules_are_ordered_and_a_cycle_is_spelled_out() {
    let input = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/open/L05-module-order-and-cycles/input");
    let read = |name: &str| fs::read_to_string(input.join(name)).expect("input").trim().to_owned();
    let wanted = wanted("L05-module-order-and-cycles");
    let names = |key: &str| wanted.get(key).and_then(Plain::as_list).expect("list").to_vec();
    for (probed, key) in [(true, "order"), (false, "provisional")] {
        let room = l05(&read("requires.yaml"), &read("role-modules.txt"), &read("node-modules.txt"), probed);
        let catalogue = room.good(&all());
        let entry = catalogue.entries.first().expect("entry");
        assert_eq!(entry.modules.iter().map(Plain::from).collect::<Vec<_>>(), names(key));
        assert_eq!(entry.provisional, !probed);
    }
    for (file, needles) in wanted.get("errors").and_then(Plain::as_map).expect("errors") {
        let found = l05(&read(file), "other", "", true).bad(&all());
        for needle in needles.as_list().expect("list").iter().filter_map(Plain::as_str) {
            assert!(found.contains(needle), "{needle} is not named in\n{found}");
        }
        assert_eq!(
            found.matches(" -> ").count(),
            if file == "bad/cycle.yaml" { 3 } else { found.matches(" -> ").count() }
        );
    }
}

/// The right value of the conformance case 219, with its keys declared as modules.
#[test]
fn a_tag_means_the_same_at_every_depth() {
    let room = Room::new(&[
        (
            "modules/sand/data/main.yaml",
            "surf: {list: [sand], map: {a: sand}}\nshared: [sand]\nother: [sand]\nthird: {l: [sand]}\n",
        ),
        (
            "modules/surf/data/main.yaml",
            "surf: {list: !replace [surf], map: !delete }\nshared: !replace [surf]\nother: !delete\nthird: !replace {l: [surf]}\n",
        ),
        ("modules/shared/requires.yaml", ""),
        ("modules/other/requires.yaml", ""),
        ("modules/third/requires.yaml", ""),
        ("data/roles/r.yaml", "modules: [sand, surf]\n"),
        ("data/nodes/n.yaml", "role: r\n"),
    ]);
    let found = room.good(&all()).merged(&no_key()).expect("merged");
    let data = found.at(&["nodes", "0", "data"]).expect("data").to_json_line();
    assert_eq!(data, r#"{"surf":{"list":["surf"]},"shared":["surf"],"third":{"l":["surf"]}}"#);
}

#[test]
fn a_fresh_probe_rebuilds_one_node_with_its_os_layers() {
    let room = Room::new(&[
        ("modules/a/requires.yaml", "requires: [b]\n"),
        ("modules/b/data/os/debian/12.yaml", "b: {pkg: libb}\n"),
        ("data/os/debian/12.yaml", "a: {os: [debian]}\n"),
        ("data/roles/r.yaml", "modules: [a]\na: {os: [any]}\n"),
        ("data/nodes/n1.yaml", "role: r\n"),
        ("data/nodes/n2.yaml", "role: r\n"),
    ]);
    let workspace = room.open().expect("workspace");
    let mut catalogue = Catalogue::build(&workspace, &all()).expect("catalogue");
    assert_eq!(value(&catalogue, "n1", "a.os").to_json_line(), r#"["any"]"#);
    // From here on nothing may be read again but what the probe brings in.
    fs::remove_dir_all(room.0.path().join("data/nodes")).expect("removed");
    fs::remove_dir_all(room.0.path().join("data/roles")).expect("removed");
    let probe = Probe { family: Some("debian".into()), release: Some(12.into()) };
    catalogue.rebuild(&workspace, "n1", probe).expect("rebuilt");
    assert_eq!(value(&catalogue, "n1", "a.os").to_json_line(), r#"["debian","any"]"#);
    assert_eq!(value(&catalogue, "n1", "b.pkg").to_json_line(), r#""libb""#);
    let [n1, n2] = catalogue.entries.as_slice() else { panic!("two entries") };
    assert_eq!((n1.modules.join(" "), n2.modules.join(" ")), ("b a".into(), "a".into()));
    assert_eq!((n1.provisional, n2.provisional), (false, true));
}

#[test]
fn a_lookup_is_the_same_whoever_was_probed() {
    let room = Room::new(&[
        ("modules/a/requires.yaml", "requires: [b]\n"),
        ("modules/b/data/main.yaml", "b: {port: 1}\n"),
        ("data/roles/r.yaml", "modules: [a]\na: {ports: !LOOKUP {field: b.port, format: '{node} {value}'}}\n"),
        ("data/nodes/n1.yaml", "role: r\n"),
        ("data/nodes/n2.yaml", "role: r\nb: {port: 2}\n"),
    ]);
    let before = value(&room.good(&all()), "n1", "a.ports");
    room.write("facts/n1/suil.yaml", "facts: {family: debian, release: 12}\n");
    assert_eq!(value(&room.good(&all()), "n1", "a.ports"), before);
    assert_eq!(before.to_json_line(), r#"["n1 1","n2 2"]"#);
}

#[test]
fn a_lookup_of_a_lookup_names_both_places() {
    let room = Room::new(&[
        ("modules/a/requires.yaml", ""),
        ("data/roles/r.yaml", "modules: [a]\na:\n  first: !LOOKUP {field: role}\n  second: !LOOKUP {field: a.first}\n"),
        ("data/nodes/n.yaml", "role: r\n"),
    ]);
    let found = room.bad(&all());
    assert!(found.contains("data/roles/r.yaml:4:"), "{found}");
    assert!(found.contains("the other lookup is at data/roles/r.yaml:3:"), "{found}");
}

#[test]
fn a_lookup_that_may_find_nothing_gives_an_empty_list() {
    let room = Room::new(&[
        ("modules/a/requires.yaml", ""),
        (
            "data/roles/r.yaml",
            "modules: [a]\na: {x: [1, !LOOKUP {field: a.no, required: false}], y: !LOOKUP {field: a.no, required: false}}\n",
        ),
        ("data/nodes/n.yaml", "role: r\n"),
    ]);
    assert_eq!(value(&room.good(&all()), "n", "a").to_json_line(), r#"{"x":[1],"y":[]}"#);
}

#[test]
fn a_lookup_alone_on_its_node_finds_no_other() {
    let room = Room::new(&[
        ("modules/a/requires.yaml", ""),
        ("data/roles/r.yaml", "modules: [a]\na: {ip: 1, peers: !LOOKUP {field: a.ip, self: exclude}}\n"),
        ("data/nodes/n.yaml", "role: r\n"),
    ]);
    let found = room.bad(&all());
    assert!(
        found.contains("lookup of `a.ip` finds nothing") && found.contains("other than the one that asks"),
        "{found}"
    );
}

#[test]
fn facts_can_be_looked_up() {
    let room = Room::new(&[
        ("modules/a/requires.yaml", ""),
        ("data/roles/r.yaml", "modules: [a]\na: {ips: !LOOKUP {field: net.eth0.ips, from: facts, ip: v4}}\n"),
        ("data/nodes/n1.yaml", "role: r\n"),
        ("data/nodes/n2.yaml", "role: r\n"),
        ("facts/n2/net.yaml", "facts: {eth0: {ips: [192.0.2.2, '2001:db8::2']}}\ntimestamp: '2031-01-01T00:00:00Z'\n"),
    ]);
    assert_eq!(value(&room.good(&all()), "n1", "a.ips").to_json_line(), r#"["192.0.2.2"]"#);
}

#[test]
fn an_explanation_names_every_layer_that_touched_the_key() {
    let room = Room::new(&[
        ("modules/a/data/main.yaml", "a: {port: 80, list: [x]}\n"),
        ("data/roles/r.yaml", "modules: [a]\na:\n  port: 81\n  list: !append [y]\n"),
        ("data/nodes/n.yaml", "role: r\na:\n  list: !replace [z, !LOOKUP {field: a.port}]\n"),
    ]);
    let workspace = room.open().expect("workspace");
    let story = |key: &str| {
        let explanation = explain(&workspace, "n", key, &mut |_, _| Ok(None))
            .unwrap_or_else(|problems| panic!("{}", words(&problems)));
        let plain = |value: &Option<suil::data::Value>| match value {
            Some(value) => suil::catalogue::public(value, &no_key(), "n", key).expect("public").to_json_line(),
            None => "nothing".to_owned(),
        };
        let mut lines: Vec<String> =
            explanation.touches.iter().map(|t| format!("{} {} {}", t.place, t.strategy, plain(&t.after))).collect();
        lines.push(plain(&explanation.value));
        lines
    };
    assert_eq!(
        story("a.port"),
        ["modules/a/data/main.yaml:1:5 set 80", "data/roles/r.yaml:3:3 replace 81", "81"].map(str::to_owned)
    );
    assert_eq!(
        story("a.list"),
        [
            r#"modules/a/data/main.yaml:1:15 set ["x"]"#,
            r#"data/roles/r.yaml:4:3 !append ["x","y"]"#,
            r#"data/nodes/n.yaml:3:3 !replace ["z","!LOOKUP a.port"]"#,
            r#"data/nodes/n.yaml:3:22 lookup ["z","81"]"#,
            r#"["z","81"]"#,
        ]
        .map(str::to_owned)
    );
    assert_eq!(story("modules"), [r#"data/roles/r.yaml:1:1 set ["a"]"#, r#"["a"]"#].map(str::to_owned));
    assert_eq!(story("role"), [r#"data/nodes/n.yaml:1:1 set "r""#, r#""r""#].map(str::to_owned));
    let Err(problems) = explain(&workspace, "n", "a.prot", &mut |_, _| Ok(None)) else { panic!("no error") };
    assert!(words(&problems).contains("did you mean `a.port`?"), "{}", words(&problems));
}

#[test]
fn deployment_keys_are_checked_with_their_places() {
    let room = Room::new(&[
        ("data/common.yaml", &format!("deployment: {{ssh_prot: 22}}\n{COMMON}")),
        ("data/roles/r.yaml", "deployment: {ssh_port: 70000, transport: ssh, connect_timeout: 10s, sudo: doas}\n"),
        ("data/nodes/n1.yaml", "role: r\n"),
        ("data/nodes/n2.yaml", "role: r\ndeployment: {ssh_port: 22}\n"),
    ]);
    let catalogue = room.good(&all());
    let found = words(&catalogue.check_deployments());
    assert_eq!(found.matches("unknown key `ssh_prot`").count(), 1, "{found}");
    for want in [
        "did you mean `ssh_port`?",
        "data/common.yaml:1:14",
        "cannot be `70000`",
        "cannot be `ssh`",
        "data/roles/r.yaml:1:24",
    ] {
        assert!(found.contains(want), "{want} is not in\n{found}");
    }
    assert!(!found.contains("doas") && !found.contains("connect_timeout"), "{found}");
}

#[test]
fn settings_reveal_the_secrets_of_the_connection() {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/suil/cases/513-secret-in-deployment/workspace");
    let identity = root.join("../../../keys/TEST-ONLY-identity.txt");
    let text = fs::read_to_string(root.join("data/common.yaml")).expect("common").replace("ssh_password", "ssh_user2");
    let room = Room::new(&[
        ("data/common.yaml", &text.replace("  ssh_user: diver\n", "").replace("ssh_user2", "ssh_user")),
        ("data/roles/r.yaml", ""),
        ("data/nodes/n.yaml", "role: r\n"),
    ]);
    let entry = room.good(&all()).entries.pop().expect("entry");
    let keys = Keys::parse(&fs::read_to_string(identity).expect("identity"), "test").expect("keys");
    let vault = Vault::new(Some(keys), Mask::new());
    let settings = entry.settings(&vault).unwrap_or_else(|problems| panic!("{}", words(&problems)));
    let user = settings.get("ssh_user").and_then(Plain::as_str).expect("user");
    let shown = entry.public(&vault).expect("public").to_json();
    assert!(!user.is_empty() && !shown.contains(user) && shown.contains("sha256:"), "{shown}");
    assert!(entry.public(&no_key()).expect("public").to_json().contains("secret (no key)"));
    assert!(entry.settings(&no_key()).is_err());
}

#[test]
fn lists_show_roles_nodes_and_modules() {
    let room = Room::new(&[
        (
            "modules.yaml",
            "repos: [{repo: local, modules: [a, b]}, {repo: 'https://modules.invalid/x', modules: {far: '1.0'}}]\n",
        ),
        ("modules/a/requires.yaml", "requires: [b]\n"),
        ("modules/b/requires.yaml", ""),
        ("data/roles/db.yaml", "modules: [b]\n"),
        ("data/roles/web.yaml", "modules: [a]\nafter: [db]\n"),
        ("data/nodes/n1.yaml", "role: web\n"),
        ("facts/n1/suil.yaml", "facts: {family: debian, release: 12}\n"),
        ("data/nodes/n2.yaml", "role: web\n"),
    ]);
    let workspace = room.open().unwrap_or_else(|problems| panic!("{}", words(&problems)));
    let roles = workspace.roles().expect("roles");
    let shown: Vec<String> = roles
        .iter()
        .map(|role| format!("{} {:?} {:?} {:?}", role.name, role.nodes, role.modules, role.after))
        .collect();
    assert_eq!(shown, [r#"db [] ["b"] []"#, r#"web ["n1", "n2"] ["a"] ["db"]"#]);
    let nodes = workspace.nodes().expect("nodes");
    assert_eq!(
        nodes.iter().map(|node| (node.name.as_str(), node.provisional)).collect::<Vec<_>>(),
        [("n1", false), ("n2", true)]
    );
    let own: Vec<String> = workspace
        .modules()
        .into_iter()
        .filter(|row| row.origin.to_string() == "workspace")
        .map(|row| row.name)
        .collect();
    assert_eq!(own, ["b", "a"]);
    // A module that was never fetched matters where it is used, and only there.
    room.write("data/nodes/n3.yaml", "role: web\nmodules: [far]\n");
    room.good(&Selection::node("n1"));
    let found = room.bad(&all());
    assert!(found.contains("modules.yaml:1:") && found.contains("fetching modules is not supported yet"), "{found}");
}

#[test]
fn a_role_that_does_not_exist_is_named_where_a_node_names_it() {
    let room = Room::new(&[("data/roles/web.yaml", ""), ("data/nodes/n.yaml", "# x\nrole: wbe\n")]);
    let found = room.bad(&all());
    assert!(found.contains("data/nodes/n.yaml:2:7") && found.contains("did you mean `web`?"), "{found}");
}

#[test]
fn a_node_without_a_role_is_passed_over_by_a_role_run_and_refused_elsewhere() {
    let room = Room::new(&[
        ("data/roles/web.yaml", ""),
        ("data/nodes/n1.yaml", "role: web\n"),
        ("data/nodes/n2.yaml", "deployment: {ssh_host: x}\n"),
    ]);
    let catalogue = room.good(&Selection::role("web"));
    assert_eq!(catalogue.entries.len(), 1);
    assert!(words(&catalogue.warnings).contains("node `n2` names no role"));
    assert!(room.bad(&all()).contains("node `n2` names no role"));
}

#[test]
fn a_workspace_is_validated_whole() {
    let room = Room::new(&[
        ("modules/nginx/requires.yaml", ""),
        ("modules/nginx/data/os/suse/15.yaml", "nignx: {a: 1}\n"),
        ("data/modules/nignx.yaml", "nginx: {a: 1}\n"),
        ("data/role/web.yaml", "modules: [nginx]\n"),
        ("data/os/suse/15.yaml", "nginx: {a: 1\n"),
        ("data/roles/web.yaml", "modules: [nginx]\nafter: [bd]\n"),
        ("data/roles/idle.yaml", "modules: []\nnginx: {a: !delet x}\n"),
        ("data/nodes/n.yaml", "role: web\ndeployment: {ssh_usr: x}\n"),
    ]);
    room.good(&all());
    let found = words(&validate(&room.open().expect("workspace")).1);
    for want in [
        "modules/nginx/data/os/suse/15.yaml:1:1 unknown top-level key `nignx`",
        "`data/modules/nignx.yaml` is for the module `nignx`, which does not exist",
        "`data/role/web.yaml` is read by no layer",
        "data/os/suse/15.yaml:1:",
        "data/roles/web.yaml:2:9 role `web` comes after `bd`",
        "data/roles/idle.yaml:2:12",
        "data/nodes/n.yaml:2:14 unknown key `ssh_usr`",
    ] {
        assert!(found.contains(want), "{want} is not in\n{found}");
    }
}

#[test]
fn a_sound_workspace_has_no_problems() {
    let room = Room::new(&[
        ("modules/nginx/data/main.yaml", "nginx: {a: 1}\n"),
        ("data/modules/nginx.yaml", "nginx: {b: 1}\n"),
        ("data/os/debian/12.yaml", "nginx: {c: 1}\n"),
        ("data/roles/web.yaml", "modules: [nginx]\n"),
        ("data/nodes/n.yaml", "role: web\ndeployment: {ssh_user: x}\n"),
    ]);
    let (catalogue, found) = validate(&room.open().expect("workspace"));
    assert_eq!(catalogue.entries.len(), 1);
    assert!(found.is_empty(), "{}", words(&found));
}

/// Facts are what a program wrote: only `true` and `false` are booleans there, and a key `n` is one.
#[test]
fn a_lookup_reads_facts_as_they_were_written() {
    let room = Room::new(&[
        ("modules/a/requires.yaml", ""),
        ("modules/b/requires.yaml", ""),
        ("data/roles/r.yaml", "modules: [a]\n"),
        ("data/nodes/n.yaml", "role: r\na: {x: !LOOKUP {field: b.port.n, from: facts}}\n"),
        ("facts/n/b.yaml", "facts:\n  port: {n: [22, no, 1.5, true, null, 'on']}\n"),
    ]);
    assert_eq!(value(&room.good(&all()), "n", "a.x").to_json_line(), r#"["22","no","1.5","true","on"]"#);
    room.write("facts/n/b.yaml", "facts: [\n");
    let found = room.bad(&all());
    assert!(found.contains("the facts in `facts/n/b.yaml` are broken: unclosed bracket"), "{found}");
    assert!(found.contains("`suil facts --node n` reads them again") && !found.contains("<input>"), "{found}");
    room.write("facts/n/b.yaml", "");
    assert!(room.bad(&all()).contains("lookup of `b.port.n` finds nothing"));
}

/// The facts of the module `infra`: outputs by layer, whose name may hold dots, and which of them are sensitive.
fn layers(field: &str) -> Room {
    Room::new(&[
        ("modules/a/requires.yaml", ""),
        ("modules/infra/requires.yaml", ""),
        ("data/roles/r.yaml", &format!("modules: [a]\na: {{x: !LOOKUP {{field: infra.{field}, from: facts}}}}\n")),
        ("data/roles/cloud.yaml", "modules: [infra]\n"),
        ("data/nodes/n.yaml", "role: r\n"),
        ("data/nodes/here.yaml", "role: cloud\n"),
        (
            "facts/here/infra.yaml",
            "facts:\n  net/prod@eu_v1.2: {address: 192.0.2.7, ports: [80, 443], token: 'sha256:00'}\n  layers: {net/prod@eu_v1.2: {clean: true, sensitive: [token]}}\n",
        ),
    ])
}

#[test]
fn an_output_of_a_layer_can_be_looked_up() {
    let found = |field: &str| value(&layers(field).good(&all()), "n", "a.x").to_json_line();
    assert_eq!(found("net/prod@eu_v1.2.address"), r#"["192.0.2.7"]"#);
    assert_eq!(found("net/prod@eu_v1.2.ports"), r#"["80","443"]"#);
    assert_eq!(found("net/prod@eu_v1.2.ports.1"), r#"["443"]"#);
}

#[test]
fn a_sensitive_output_cannot_be_looked_up() {
    let found = layers("net/prod@eu_v1.2.token").bad(&all());
    for words in
        ["reads a sensitive output of Terraform on node `here`", "data/roles/r.yaml:2:8", "`token`", "encrypted"]
    {
        assert!(found.contains(words), "{words}: {found}");
    }
    assert!(!found.contains("sha256"), "{found}");
}

#[test]
fn a_layer_or_an_output_that_is_misspelt_is_guessed() {
    for field in ["net/prod@eu_v1.2.adress", "net/prd@eu_v1.2.address", "net.prod@eu_v1.2.address"] {
        let found = layers(field).bad(&all());
        assert!(found.contains(&format!("lookup of `infra.{field}` finds nothing")), "{found}");
        assert!(found.contains("did you mean `infra.net/prod@eu_v1.2.address`?"), "{found}");
        assert!(found.contains("in facts/"), "{found}");
    }
    let found = layers("stacks/other/layers/none.zone").bad(&all());
    assert!(found.contains("`suil facts` reads them"), "{found}");
}

/// Which nodes wait for which: `reader < provider field`.
fn waits(room: &Room) -> (Vec<String>, Option<String>) {
    use suil::catalogue::need;
    let workspace = room.open().expect("workspace");
    let needs = need::needs(&workspace, &all(), &["infra".to_owned()].into()).expect("needs");
    let told = needs.iter().map(|need| format!("{} < {} {}", need.reader, need.provider, need.field)).collect();
    (told, need::circle(&needs).map(|problem| words(&[problem])))
}

#[test]
fn a_node_needs_those_whose_facts_its_data_reads() {
    let room = layers("net/prod@eu_v1.2.address");
    room.write("data/nodes/there.yaml", "role: cloud\n");
    assert_eq!(waits(&room).0, ["n < here infra.net/prod@eu_v1.2.address", "n < there infra.net/prod@eu_v1.2.address"]);
    room.write("data/roles/r.yaml", "modules: [a]\na: {x: !LOOKUP {field: infra.net.a, from: facts, nodes: 'th*'}}\n");
    assert_eq!(waits(&room).0, ["n < there infra.net.a"]);
    // Facts of other modules, the data of others, and a node's own facts are waited for by nobody.
    for lookup in ["field: net.a, from: facts", "field: infra.a", "field: infra.a.b, from: facts, self: only"] {
        room.write("data/roles/r.yaml", &format!("modules: [a]\na: {{x: !LOOKUP {{{lookup}}}}}\n"));
        assert_eq!(waits(&room), (Vec::new(), None), "{lookup}");
    }
}

#[test]
fn nodes_that_read_each_other_s_layers_are_a_circle() {
    let room = layers("net.a");
    let reads = |node: &str| {
        format!("role: cloud\ninfra: {{layers: [!LOOKUP {{field: infra.x.y, from: facts, nodes: {node}}}]}}\n")
    };
    room.write("data/nodes/here.yaml", &reads("there"));
    room.write("data/nodes/there.yaml", &reads("here"));
    let (told, circle) = waits(&room);
    assert_eq!(told.len(), 4, "{told:?}");
    let circle = circle.expect("a circle");
    assert!(circle.contains("nodes read each other's facts in a circle: here -> there -> here"), "{circle}");
    assert!(circle.contains("data/nodes/here.yaml:2:18"), "{circle}");
}
