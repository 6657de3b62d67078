//! `suil explain --resource`.

use crate::room::Room;

/// A module with a template, a file and a command; three layers say something.
fn dock() -> Room {
    Room::with(&[
        (
            "data/common.yaml",
            "deployment: {ssh_user: root}\nhierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n",
        ),
        ("data/roles/pier.yaml", "modules: [dock]\ndock:\n  workers: 2\n  tls: yes\n  pads: [a, b]\n"),
        ("data/nodes/kelp.yaml", "role: pier\ndock: {workers: !replace 4}\n"),
        ("facts/kelp/suil.yaml", "facts: {family: debian, release: 12}\n"),
        (
            "modules/dock/code/config.star",
            "Config = schema(\n    workers = t.int(min = 1),\n    tls = t.bool(default = False),\n    pads = t.list(t.string()),\n    motto = t.string(default = \"ahoy\"),\n)\n",
        ),
        (
            "modules/dock/code/main.star",
            "load(\"lib.star\", \"conf\")\n\ndef resources(config):\n    main = conf(config)\n    return [\n        package(\"dock\"),\n        main,\n        \
             file(\"/etc/dock/rules\", source = \"rules\"),\n        service(\"dock\", running = True, reload_on = [main]),\n    ]\n",
        ),
        (
            "modules/dock/code/lib.star",
            "def conf(config):\n    return file(\"/etc/dock.conf\", template = \"dock.conf.j2\", mode = \"0640\")\n",
        ),
        (
            "modules/dock/templates/dock.conf.j2",
            "# Written by suil.\nworker_processes {{ workers }};\n{% if tls %}\nlisten 443;\n{% endif %}\n{% for pad in pads %}\npad {{ pad | upper }};\n{% endfor %}\nmotto {{ motto }}\n",
        ),
        ("modules/dock/files/rules", "one\ntwo\n"),
    ])
}

#[test]
fn each_line_of_a_file_names_its_template_line_and_the_data_behind_it() {
    let want = "\
file /etc/dock.conf on kelp
  module     dock, 1 of 1 in run order
  made at    modules/dock/code/lib.star:2:12
  called at  modules/dock/code/main.star:4:12  conf()
  template   modules/dock/templates/dock.conf.j2
  wanted     ensure present
             sha256 SHA256
             owner root
             group root
             mode 0640

  1  dock.conf.j2:1  # Written by suil.
  2  dock.conf.j2:2  worker_processes 4;
       dock.workers = 4  data/nodes/kelp.yaml:2:26
  3  dock.conf.j2:4  listen 443;
       there because dock.tls = true  data/roles/pier.yaml:4:8
  4  dock.conf.j2:7  pad A;
       dock.pads.0 = a  data/roles/pier.yaml:5:10
  5  dock.conf.j2:7  pad B;
       dock.pads.1 = b  data/roles/pier.yaml:5:13
  6  dock.conf.j2:9  motto ahoy
       dock.motto = ahoy  modules/dock/code/config.star:5:13 default
";
    let mut left = dock().run(&["explain", "--resource", "kelp", "/etc/dock.conf"]);
    let digest = left.stdout.lines().find_map(|line| line.trim().strip_prefix("sha256 ")).map(str::to_owned);
    left.stdout = left.stdout.replace(&digest.expect("a digest"), "SHA256");
    left.is(0, want, "");
}

#[test]
fn one_line_comes_with_every_layer_of_its_values() {
    let want = "
  2  dock.conf.j2:2  worker_processes 4;
       dock.workers = 4  data/nodes/kelp.yaml:2:26

dock.workers on kelp: 4
  data/roles/pier.yaml:3:3  set: 2
  data/nodes/kelp.yaml:2:8  !replace: 4
";
    for args in [&["/etc/dock.conf:2"][..], &["/etc/dock.conf", "--line", "2"], &["file /etc/dock.conf", "--line", "2"]]
    {
        let left = dock().run(&[&["explain", "--resource", "kelp"], args].concat());
        assert_eq!(left.status, 0, "{left:?}");
        assert!(left.stdout.ends_with(want), "{}", left.stdout);
    }
}

#[test]
fn a_name_that_fits_several_kinds_lists_them_and_a_near_miss_gets_a_guess() {
    let room = dock();
    let ask = |name: &str| room.run(&["explain", "--resource", "kelp", name]);
    let several = "\
suil: `dock` names 2 resources of node `kelp`
note: expected one of `package dock`, `service dock`
";
    ask("dock").is(64, "", several);
    let guess =
        "suil: no module of node `kelp` makes a resource `/etc/dock.cnf`\nhelp: did you mean `/etc/dock.conf`?\n";
    ask("/etc/dock.cnf").is(1, "", guess);
    let nothing = "\
suil: no module of node `kelp` makes a resource `/srv/elsewhere/page`
note: what `deploy()` does is no resource
help: `suil explain --resource kelp` lists those that there are
";
    ask("/srv/elsewhere/page").is(1, "", nothing);
    ask("/etc/dock.conf:7").is(64, "", "suil: `file /etc/dock.conf` has no line 7: it has 6\n");
    let service = "\
service dock on kelp
  module     dock, 1 of 1 in run order
  made at    modules/dock/code/main.star:9:9
  wanted     unit dock.service
             running true
  values     none: the code alone says it
";
    ask("service dock").is(0, service, "");
}

#[test]
fn without_a_name_the_resources_are_listed_in_run_order() {
    let want = "\
RESOURCE              MODULE  MADE AT
package dock          dock    modules/dock/code/main.star:6:9
file /etc/dock.conf   dock    modules/dock/code/lib.star:2:12
file /etc/dock/rules  dock    modules/dock/code/main.star:8:9
service dock          dock    modules/dock/code/main.star:9:9
";
    dock().run(&["explain", "--resource", "kelp"]).is(0, want, "");
}

#[test]
fn a_file_of_the_module_is_named_line_by_line() {
    let left = dock().run(&["explain", "--resource", "kelp", "/etc/dock/rules"]);
    assert!(left.stdout.contains("\n  file       modules/dock/files/rules\n"), "{}", left.stdout);
    assert!(left.stdout.ends_with("\n  1  rules:1  one\n  2  rules:2  two\n"), "{}", left.stdout);
}

#[test]
fn a_program_gets_the_same_with_places_as_numbers() {
    let left = dock().run(&["explain", "--resource", "kelp", "/etc/dock.conf:3", "--output", "json"]);
    let compact: String = left.stdout.split_whitespace().collect();
    let head = r#"{"version":1,"node":"kelp","provisional":false,"resource":"file/etc/dock.conf","module":"dock","position":1,"modules":1,"also":[],"place":{"file":"modules/dock/code/lib.star","line":2,"column":12},"#;
    assert!(compact.starts_with(head), "{compact}");
    let line = r#""lines":[{"line":3,"text":"listen443;","places":[{"file":"modules/dock/templates/dock.conf.j2","line":4,"column":1}],"values":[{"key":"dock.tls","decides":"presence","layers":[{"file":"data/roles/pier.yaml","line":4,"column":3,"layer":"data/roles/pier.yaml","strategy":"set","after":true}]}]}],"problems":[]}"#;
    assert!(compact.ends_with(line), "{compact}");
    let value = r#"{"key":"dock.tls","value":true,"from":"data","place":{"file":"data/roles/pier.yaml","line":4,"column":8},"existence":false,"attributes":[]}"#;
    assert!(compact.contains(value), "{compact}");
}

/// The example workspace of the README: a lookup and a secret are behind the page and the token.
#[test]
fn the_example_workspace_tells_where_a_looked_up_line_was_written() {
    let room = Room::copy("data-example");
    let left = room.run(&["explain", "--resource", "here.example.com", "/tmp/suil-demo/status.txt"]);
    let want = "
  1  status.txt.j2:1  What this workspace knows
       status.title = What this workspace knows  data/roles/demo.yaml:6:10
  2  status.txt.j2:2
  3  status.txt.j2:4  - db-01.example.com has 192.0.2.21
       status.hosts.0 = db-01.example.com has 192.0.2.21  data/nodes/db-01.example.com.yaml:4:12
";
    assert!(left.stdout.contains(want), "{left:?}");
    let token = room.run(&["explain", "--resource", "here.example.com", "/tmp/suil-demo/token"]);
    assert!(token.stdout.contains("status.token = sha256:"), "{token:?}");
    assert!(token.stdout.ends_with("  its content is not shown\n"), "{token:?}");
}

/// No key is needed; where one is missing nothing is made up.
#[test]
fn without_a_key_a_secret_stands_as_that() {
    let room = Room::copy("data-example").set("SUIL_AGE_KEY_FILE", "");
    std::fs::remove_file(room.path().join(".env")).expect("the settings are there");
    let token = room.run(&["explain", "--resource", "here.example.com", "/tmp/suil-demo/token"]);
    assert_eq!(token.status, 0, "{token:?}");
    let want = "             sha256 secret (no key)\n";
    assert!(token.stdout.contains(want) && token.stdout.contains("status.token = secret (no key)  data/"), "{token:?}");
    let user = room.run(&["explain", "--resource", "web-01.example.com", "user alice"]);
    assert_eq!(user.status, 1, "{user:?}");
    assert!(user.stderr.contains("note: no key is set: a text stands for every secret"), "{user:?}");
}
