//! Changes of modules, and what becomes of resources.

use crate::room::Room;
use serde_json::json;

#[test]
fn a_template_shows_what_becomes_of_the_file() {
    let room = Room::new();
    room.write(
        "modules/page/templates/page.j2",
        "# {{ title }}!\n{% for line in lines %}\n- {{ line }}\n{% endfor %}\n\nthe end\n",
    );
    let ran = room.diff(&["HEAD", "--role", "web"]);
    let node = &ran.json()["nodes"][0];
    assert_eq!(node["code"][0]["module"], "page");
    assert_eq!(node["code"][0]["files"], json!(["templates/page.j2"]));
    assert_ne!(node["code"][0]["before"], node["code"][0]["after"]);
    let resource = &node["resources"][0];
    assert_eq!((&resource["resource"], &resource["change"]), (&json!("file /srv/page"), &json!("changed")));
    let diff = resource["texts"][0]["diff"].as_str().expect("a diff");
    assert!(diff.contains("-# Web\n+# Web!\n"), "{diff}");
    assert_eq!(node["values"], json!([]));
}

#[test]
fn code_that_changes_nothing_on_a_node_is_told_all_the_same() {
    let room = Room::new();
    let code = "# the page\ndef resources(config):\n    return [file(\"/srv/page\", template = \"page.j2\", mode = \"0644\")]\n";
    room.write("modules/page/code/main.star", code);
    let ran = room.suil(&["diff", "HEAD"]).expect(0).stdout;
    let want = "\
db-1, db-2, web-1, web-2 (4 nodes)
  ~ code of page: code/main.star

impact: 4 nodes changed
";
    assert_eq!(ran, want);
    room.commit("two");
    // Files that decide nothing: see the signature of a module.
    room.write("modules/page/README.md", "a page\n");
    assert_eq!(room.diff(&["HEAD"]).json()["nodes"], json!([]));
}

/// What is fetched is rarely committed: the revision says which version it was, and no more.
#[test]
fn a_module_from_elsewhere_counts_by_its_version() {
    let room = Room::new();
    let manifest =
        |version: &str| format!("repos:\n  - {{repo: \"https://x.example.com\", modules: {{page: '{version}'}}}}\n");
    room.write("modules.yaml", &manifest("1.0"));
    room.write(".gitignore", "facts/\nmodules/\n");
    room.git(&["rm", "--quiet", "-r", "--cached", "modules"]);
    room.commit("two");
    assert_eq!(room.diff(&["HEAD"]).json()["nodes"], json!([]));
    room.write("modules.yaml", &manifest("1.1"));
    let ran = room.diff(&["HEAD"]);
    assert_eq!(ran.nodes().len(), 4);
    assert_eq!(ran.json()["nodes"][0]["code"][0]["files"], json!(["modules.yaml"]));
}

#[test]
fn resources_come_go_and_change_their_attributes() {
    let room = Room::new();
    let code = "def resources(config):\n    return [file(\"/srv/page\", template = \"page.j2\", mode = \"0600\"), package(\"curl\")]\n";
    room.write("modules/page/code/main.star", code);
    room.commit("two");
    let changes = |args: &[&str]| {
        let all = room.diff(args).json()["nodes"][0]["resources"].as_array().expect("resources").clone();
        json!(all.iter().map(|r| json!([r["change"], r["resource"]])).collect::<Vec<_>>())
    };
    assert_eq!(
        changes(&["HEAD~1", "--node", "db-1"]),
        json!([["changed", "file /srv/page"], ["added", "package curl"]])
    );
    assert_eq!(
        changes(&["HEAD", "HEAD~1", "--node", "db-1"]),
        json!([["changed", "file /srv/page"], ["removed", "package curl"]])
    );
    let attributes = &room.diff(&["HEAD~1", "--node", "db-1"]).json()["nodes"][0]["resources"][0]["attributes"];
    assert_eq!(*attributes, json!([{"name": "mode", "before": "0644", "after": "0600"}]));
    // A module that goes takes its resources along, and one that comes brings them.
    room.write("data/roles/db.yaml", "modules: []\n");
    assert_eq!(
        changes(&["HEAD", "--node", "db-1"]),
        json!([["removed", "file /srv/page"], ["removed", "package curl"]])
    );
}

#[test]
fn a_module_that_cannot_be_evaluated_is_told_with_its_revision() {
    let room = Room::new();
    room.write(
        "modules/page/code/main.star",
        "def resources(config):\n    return [file(\"/srv/page\", mode = confg)]\n",
    );
    room.commit("broken");
    let broken = room.suil(&["diff", "HEAD~1"]).expect(1);
    assert!(broken.stderr.contains("--> modules/page/code/main.star:2:38"), "{}", broken.stderr);
    room.write("modules/page/code/main.star", "def resources(config):\n    return []\n");
    let mended = room.suil(&["diff", "HEAD"]).expect(0);
    assert!(mended.stdout.contains("? resources of page are not known: the module was broken: "), "{}", mended.stdout);
    assert!(mended.stderr.contains("HEAD:modules/page/code/main.star:2:38"), "{}", mended.stderr);
}
