//! `lookup()` in templates: what the data of hosts says, in layers.

use crate::room::Room;

const LAYER: &str = "stacks/kiln/layers/harbor";
const IDENTITY: &str = "AGE-SECRET-KEY-12GYFDP8EJUL8X9LYVLFEDFMTRPFRA8EF9U5LW70KL0UJL3R60FPSCTX67M";
const RECIPIENT: &str = "age1t2k99x76e30vpcas8he2mc7ezaplyc400ap32l83zjthzwp469fsfyqpv2";

fn room(code: &str) -> Room {
    Room::new(&[
        ("data/common.yaml", "hierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n"),
        ("data/roles/web.yaml", "modules: [front]\n"),
        ("data/roles/db.yaml", "modules: [front]\n"),
        (
            "data/nodes/web-01.example.com.yaml",
            "role: web\nfront: {port: 8080, addresses: [192.0.2.1, \"2001:db8::1\"]}\n",
        ),
        ("data/nodes/web-02.example.com.yaml", "role: web\nfront: {port: 8081, addresses: [192.0.2.2]}\n"),
        ("data/nodes/db-01.example.com.yaml", "role: db\nfront: {port: 5432, addresses: [192.0.2.3]}\n"),
        ("modules/front/requires.yaml", "requires: []\n"),
        ("facts/db-01.example.com/front.yaml", "facts: {disk: {serial: S-77}}\n"),
        ("stacks/kiln/base/main.tf", code),
        ("stacks/kiln/layers/harbor/.keep", ""),
    ])
}

fn rendered(code: &str) -> String {
    let room = room(code);
    room.suil(LAYER, &["render", "--init=never"]).well();
    room.read(&format!("{LAYER}/stacks.out/base_main.tf"))
}

fn refused(code: &str) -> String {
    room(code).suil(LAYER, &["render", "--init=never"]).failed(1)
}

#[test]
fn a_template_looks_up_what_hosts_are_told() {
    assert_eq!(rendered("{{ lookup(\"front.port\") }}"), "['5432', '8080', '8081']");
    let code = r#"{{ jsonencode(lookup("front.addresses", role="web", ip="v4", format="{node}={value}")) }}
{{ lookup("front.port", nodes="db-*")[0] | int + 1 }} {{ lookup("front.disk.serial", **{"from": "facts"}) | join }}
{{ lookup("front.gone", required=false) | length }}"#;
    let want = "[\"web-01.example.com=192.0.2.1\", \"web-02.example.com=192.0.2.2\"]\n5433 S-77\n0";
    assert_eq!(rendered(code), want);
}

/// The example of the manual, as it stands there.
#[test]
fn the_lookups_of_the_manual_give_lists_and_the_one_value_of_a_list() {
    let manual = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/infra.md")).expect("the manual");
    let mut blocks = manual.split("```jinja\n").skip(1).filter_map(|block| block.split("```").next());
    let example = blocks.find(|block| block.contains("lookup(")).expect("an example");
    let room = Room::new(&[
        ("data/common.yaml", "hierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n"),
        ("data/roles/web.yaml", "modules: [net]\n"),
        ("data/nodes/web-1.example.com.yaml", "role: web\nnet: {addresses: [192.0.2.1, \"2001:db8::1\"]}\n"),
        ("data/nodes/web-2.example.com.yaml", "role: web\nnet: {addresses: [192.0.2.2]}\n"),
        ("data/roles/db.yaml", "modules: [net]\n"),
        ("data/nodes/db-1.example.com.yaml", "role: db\nnet: {addresses: [192.0.2.3]}\n"),
        ("modules/net/requires.yaml", "requires: []\n"),
        ("facts/db-1.example.com/hardware.yaml", "facts: {serial: S-77}\n"),
        ("facts/web-1.example.com/infra.yaml", "facts: {network/prod: {subnet: 10.0.0.0/24}}\n"),
        ("stacks/kiln/base/main.tf", example),
        ("stacks/kiln/layers/harbor/.keep", ""),
    ]);
    room.suil(LAYER, &["render", "--init=never"]).well();
    let want = "\
upstreams = [\"192.0.2.1\", \"192.0.2.2\"]
serials   = [\"S-77\"]
primary   = \"192.0.2.3\"
subnet    = \"10.0.0.0/24\"";
    assert_eq!(room.read(&format!("{LAYER}/stacks.out/base_main.tf")).trim_end(), want);
}

#[test]
fn a_workspace_above_the_tree_answers_too() {
    let outer = room("");
    for (path, text) in [
        ("infra/environments/harbor/env.tfvars", ""),
        ("infra/stacks/kiln/base/main.tf", "{{ lookup(\"front.port\", role=\"db\")[0] }}"),
        ("infra/stacks/kiln/layers/harbor/.keep", ""),
    ] {
        outer.write(path, text);
    }
    let layer = format!("infra/{LAYER}");
    outer.suil(&layer, &["render", "--init=never"]).well();
    assert_eq!(outer.read(&format!("{layer}/stacks.out/base_main.tf")), "5432");
}

#[test]
fn what_cannot_be_looked_up_is_told_at_the_line_of_the_template() {
    for (code, words) in [
        ("{{ lookup(\"front.prot\") }}", &["`lookup`: lookup of `front.prot` finds nothing", "main.tf:1:4"][..]),
        ("{{ lookup(\"front.port\", rolle=\"web\") }}", &["there is no argument `rolle`", "did you mean `role`?"]),
        ("{{ lookup(\"front.port\", ip=\"v5\") }}", &["`ip` is not usable", "found `v5`"]),
        ("{{ lookup(\"front\") }}", &["meets a mapping on node", "data/nodes/db-01.example.com.yaml:2"]),
    ] {
        let told = refused(code);
        for word in words {
            assert!(told.contains(word), "{word} is not in\n{told}");
        }
    }
    let room = Room::new(&[("stacks/kiln/base/main.tf", "{{ lookup(\"a.b\") }}\n")]);
    let told = room.suil(LAYER, &["render", "--init=never"]).failed(1);
    assert!(told.contains("`lookup`: there is no host data"), "{told}");
}

#[test]
fn a_secret_of_the_host_data_is_masked_and_its_file_private() {
    let mut room = room("# {{ lookup(\"front.key\", role=\"web\")[0] }}\n");
    room.set("SUIL_AGE_KEY", IDENTITY);
    let mut encrypt = std::process::Command::new(env!("CARGO_BIN_EXE_suil"));
    encrypt.args(["encrypt", "canary-of-the-hosts"]).env("SUIL_AGE_RECIPIENT", RECIPIENT).current_dir(room.path(""));
    let sealed = String::from_utf8(encrypt.output().expect("suil").stdout).expect("text");
    assert!(sealed.starts_with("!ENC["), "{sealed}");
    room.write("data/roles/web.yaml", &format!("modules: [front]\nfront: {{key: {}}}\n", sealed.trim()));
    room.write("stacks/kiln/base/open.tf", "# {{ lookup(\"front.port\") | length }}\n");
    room.suil(LAYER, &["render", "--init=never"]).well();
    let out = format!("{LAYER}/stacks.out");
    assert_eq!(room.read(&format!("{out}/base_main.tf")), "# canary-of-the-hosts");
    assert_eq!(room.mode(&format!("{out}/base_main.tf")), 0o600);
    assert_eq!(room.mode(&format!("{out}/base_open.tf")), 0o644);
    room.write("stacks/kiln/base/main.tf", "{{ throw(lookup(\"front.key\") | join) }}\n");
    let told = room.suil(LAYER, &["render", "--init=never"]).failed(1);
    assert!(told.contains("‹secret ") && !told.contains("canary"), "{told}");
}
