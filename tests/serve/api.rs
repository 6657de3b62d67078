//! What the API tells, held against docs/serve.md.

use crate::documented::{Manual, Path, paths};
use crate::server::Server;
use crate::stage::{self, CANARY, Stage};
use std::collections::{BTreeMap, BTreeSet};
use suil::base::Plain;

fn manual() -> Manual {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/serve.md");
    Manual::parse(&std::fs::read_to_string(path).expect("docs/serve.md"))
}

/// Every call of the API, by its section of the manual.
fn calls(stage: &Stage, node_run: &str) -> Vec<(&'static str, String)> {
    let mut calls = vec![
        ("`GET /v1/me`", "/v1/me".to_owned()),
        ("`GET /v1/overview`", "/v1/overview".to_owned()),
        ("`GET /v1/repos`", "/v1/repos".to_owned()),
        ("`GET /v1/repos/OWNER/NAME`", "/v1/repos/-/acme".to_owned()),
        ("`GET /v1/repos/OWNER/NAME/graph`", "/v1/repos/-/-/graph".to_owned()),
        ("`GET /v1/repos/OWNER/NAME/graph`", format!("/v1/repos/-/-/graph?run={}", stage.failed)),
        ("`GET /v1/repos/OWNER/NAME/stacks`", "/v1/repos/-/-/stacks".to_owned()),
        ("`GET /v1/repos/OWNER/NAME/stacks`", "/v1/repos/-/-/stacks?removed=1".to_owned()),
        ("`GET /v1/runs`", "/v1/runs".to_owned()),
        ("`GET /v1/runs`", "/v1/repos/-/-/runs".to_owned()),
        ("`GET /v1/runs`", "/v1/stacks/stacks%2Fnetwork:prod/runs".to_owned()),
        ("`GET /v1/stacks/ID`", "/v1/stacks/stacks%2Fnetwork%3Aprod".to_owned()),
        ("`GET /v1/stacks/ID`", "/v1/stacks/stacks%2Fcluster:prod".to_owned()),
        ("`GET /v1/stacks/ID`", "/v1/stacks/stacks%2Flegacy".to_owned()),
        ("`GET /v1/locks`", "/v1/locks".to_owned()),
        ("`GET /v1/drift`", "/v1/drift".to_owned()),
        ("`GET /v1/modules`", "/v1/modules".to_owned()),
        ("`GET /v1/modules/ID`", "/v1/modules/acme%2F%2Fmodules%2Fvpc".to_owned()),
        ("`GET /v1/audit`", "/v1/audit".to_owned()),
        ("`GET /v1/nodes`", "/v1/nodes".to_owned()),
        ("`GET /v1/nodes/NAME`", "/v1/nodes/here.example.com".to_owned()),
        ("`GET /v1/node-runs`", "/v1/node-runs".to_owned()),
        ("`GET /v1/node-runs/ID`", format!("/v1/node-runs/{node_run}")),
    ];
    for run in [&stage.applied, &stage.failed, &stage.going] {
        calls.push(("`GET /v1/runs/ID`", format!("/v1/runs/{run}")));
    }
    let plan = format!("/v1/runs/{}/stacks/stacks%2Fnetwork:prod/plan", stage.failed);
    calls.push(("`GET /v1/runs/ID/stacks/KEY/plan`", plan.clone()));
    calls.push(("`GET /v1/runs/ID/stacks/KEY/plan`", plan + "?phase=apply"));
    calls
}

/// A run over the node that is this machine.
fn with_node_run(stage: &Stage) -> String {
    let left = std::process::Command::new(env!("CARGO_BIN_EXE_suil"))
        .args(["apply", "--dry-run", "--node", "here.example.com", "db-01.example.com"])
        .current_dir(stage.path())
        .env_clear()
        .env("HOME", stage.path())
        .env("PATH", "/usr/bin:/bin")
        .output()
        .expect("suil ends");
    let latest = std::fs::read_link(stage.path().join(".runs/latest")).unwrap_or_else(|_| panic!("{left:?}"));
    latest.to_string_lossy().into_owned()
}

#[test]
fn the_api_tells_what_its_manual_says_and_no_plaintext() {
    let (stage, manual) = (stage::whole(), manual());
    let node_run = with_node_run(&stage);
    let server = Server::start(&stage.path(), &[]);
    let mut found: BTreeMap<&str, BTreeSet<Path>> = BTreeMap::new();
    let mut wrong = Vec::new();
    // What nodes and layers read of each other.
    let linked = stage::linked();
    let other = Server::start(&linked.path(), &[]);
    let beside = [
        ("`GET /v1/repos/OWNER/NAME/graph`", "/v1/repos/-/-/graph".to_owned()),
        ("`GET /v1/nodes/NAME`", "/v1/nodes/web-1.example.com".to_owned()),
    ];
    let all = calls(&stage, &node_run).into_iter().map(|call| (&server, call));
    for (server, (section, path)) in all.chain(beside.into_iter().map(|call| (&other, call))) {
        let reply = server.get(&path);
        assert_eq!(
            (reply.status, reply.header("content-type")),
            (200, Some("application/json")),
            "{path}: {}",
            reply.body
        );
        let value = reply.json();
        let first = value.as_map().and_then(|map| map.first()).map(|(key, value)| (key.as_str(), value.clone()));
        assert_eq!(first, Some(("version", Plain::Int(1))), "{path}");
        assert!(!reply.body.contains(CANARY) && !reply.body.contains("AGE-SECRET-KEY"), "{path} tells a secret");
        assert!(
            !reply.body.contains(&*stage.path().to_string_lossy()),
            "{path} tells where the workspace is: {}",
            reply.body
        );
        found.entry(section).or_default().extend(paths(&value));
    }
    let metrics = server.get("/metrics").body;
    assert!(!metrics.contains(CANARY) && metrics.contains("\nsuil_stacks 12\n"), "{metrics}");
    let mut common = BTreeSet::new();
    for (section, found) in &found {
        common.extend(found.iter().cloned());
        let Some(shape) = manual.shape(section) else {
            let keys: Vec<String> = found.iter().map(ToString::to_string).collect();
            wrong.push(format!("docs/serve.md has no section {section}, of {}", keys.join(", ")));
            continue;
        };
        for path in found.iter().filter(|path| !shape.iter().chain(&manual.common).any(|key| key.covers(path))) {
            wrong.push(format!("{section}: `{path}` occurs and is not documented"));
        }
        for key in shape.iter().filter(|key| !found.iter().any(|path| key.is(path))) {
            wrong.push(format!("{section}: `{key}` is documented and never occurs"));
        }
    }
    wrong.extend(
        manual
            .sections()
            .filter(|section| !found.contains_key(section))
            .map(|section| format!("{section} is never asked")),
    );
    assert!(wrong.is_empty(), "{} faults\n{}", wrong.len(), wrong.join("\n"));
}

fn list<'a>(value: &'a Plain, key: &str) -> &'a [Plain] {
    value.get(key).and_then(Plain::as_list).unwrap_or_else(|| panic!("no list `{key}`: {}", value.to_json()))
}

fn text<'a>(value: &'a Plain, key: &str) -> &'a str {
    value.get(key).and_then(Plain::as_str).unwrap_or_else(|| panic!("no text `{key}`: {}", value.to_json()))
}

/// Every item of a list, page by page.
fn walked(server: &Server, path: &str, key: &str, name: impl Fn(&Plain) -> String) -> (Vec<String>, usize) {
    let (mut names, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let value = server.get(&format!("{path}limit=2&cursor={cursor}")).json();
        let items = list(&value, key);
        assert!(items.len() <= 2);
        names.extend(items.iter().map(&name));
        pages += 1;
        match value.get("next").and_then(Plain::as_str) {
            Some(next) => cursor = next.replace('/', "%2F").replace(':', "%3A"),
            None => return (names, pages),
        }
    }
}

#[test]
fn every_list_comes_in_pages_without_gaps_and_repeats() {
    let stage = stage::whole();
    with_node_run(&stage);
    let server = Server::start(&stage.path(), &[]);
    for (path, key, name, all) in [
        ("/v1/repos/-/-/stacks", "stacks", "key", 12_usize),
        ("/v1/modules", "modules", "key", 5),
        ("/v1/runs", "runs", "id", 3),
        ("/v1/locks", "locks", "stack", 2),
        ("/v1/drift", "drift", "stack", 4),
        ("/v1/nodes", "nodes", "name", 5),
        ("/v1/node-runs", "runs", "id", 1),
    ] {
        let (names, pages) = walked(&server, &format!("{path}?"), key, |item| text(item, name).to_owned());
        let distinct: BTreeSet<&String> = names.iter().collect();
        assert_eq!((names.len(), distinct.len(), pages), (all, all, all.div_ceil(2)), "{path}: {names:?}");
    }
    let (ids, _) = walked(&server, "/v1/audit?", "audit", |item| text(item, "id").to_owned());
    let whole = server.get("/v1/audit?limit=500").json();
    assert_eq!(ids, list(&whole, "audit").iter().map(|item| text(item, "id").to_owned()).collect::<Vec<_>>());
    assert!(ids.len() > 5);
    for path in ["/v1/audit?cursor=none", "/v1/node-runs?cursor=none", "/v1/runs?limit=501", "/v1/runs?sate=failed"] {
        let reply = server.get(path);
        assert_eq!((reply.status, text(&reply.json(), "code")), (400, "invalid"), "{path}");
    }
}

#[test]
fn lists_are_narrowed_by_what_is_asked() {
    let stage = stage::whole();
    let server = Server::start(&stage.path(), &[]);
    let count = |path: &str, key: &str| list(&server.get(path).json(), key).len();
    assert_eq!(count("/v1/runs?state=failed", "runs"), 1);
    assert_eq!(count("/v1/runs?mode=plan", "runs"), 1);
    assert_eq!(count("/v1/runs?stack=stacks%2Fdns:prod", "runs"), 1);
    assert_eq!(count("/v1/stacks/stacks%2Fnetwork:staging/runs", "runs"), 1);
    assert_eq!(count("/v1/repos/-/-/stacks?environment=staging", "stacks"), 6);
    assert_eq!(count("/v1/repos/-/-/stacks?q=Clus%20prod", "stacks"), 1);
    assert_eq!(count("/v1/repos/-/-/stacks?removed=1", "stacks"), 1);
    assert_eq!(count("/v1/drift?state=drifted", "drift"), 1);
    assert_eq!(count("/v1/modules?kind=local", "modules"), 3);
    assert_eq!(count("/v1/modules?q=service", "modules"), 1);
    assert_eq!(count("/v1/nodes?q=web", "nodes"), 2);
    assert_eq!(count(&format!("/v1/audit?run={}&stack=stacks%2Fnetwork:prod", stage.failed), "audit"), 2);
}

#[test]
fn nodes_and_stacks_that_read_of_each_other_are_one_graph() {
    let stage = stage::linked();
    let server = Server::start(&stage.path(), &[]);
    let graph = server.get("/v1/repos/-/-/graph").json();
    let nodes: Vec<String> =
        list(&graph, "nodes").iter().map(|node| format!("{} {}", text(node, "key"), text(node, "role"))).collect();
    assert_eq!(nodes, ["db-1.example.com db", "web-1.example.com web", "web-2.example.com web"]);
    let edges = |value: &Plain, key: &str| -> Vec<String> {
        let end = |edge: &Plain, key: &str| text(edge.get(key).expect("an end"), "key").to_owned();
        list(value, key)
            .iter()
            .map(|edge| format!("{} {} {}", end(edge, "from"), text(edge, "type"), end(edge, "to")))
            .collect()
    };
    let want = [
        "stacks/hosts:prod reads_host_data db-1.example.com",
        "stacks/hosts:prod reads_host_data web-1.example.com",
        "stacks/hosts:prod reads_host_data web-2.example.com",
        "web-1.example.com reads_output stacks/net:prod",
        "web-2.example.com reads_output stacks/net:prod",
    ];
    assert_eq!(edges(&graph, "edges"), want);
    let waves = graph.get("waves").expect("waves");
    assert_eq!(waves.as_map().map(|waves| waves.len()), Some(2), "nodes are in no wave: {waves:?}");
    let node = server.get("/v1/nodes/web-1.example.com").json();
    assert_eq!(
        (edges(&node, "depends_on"), edges(&node, "depended_on_by")),
        (vec![want[3].to_owned()], vec![want[1].to_owned()])
    );
    let stack = server.get("/v1/stacks/stacks%2Fnet:prod").json();
    assert_eq!(edges(&stack, "depended_on_by"), want[3..]);

    // Where the workspace is broken the stacks are there all the same.
    std::fs::write(stage.path().join("data/common.yaml"), "hierarchy: {}\n").expect("a file");
    std::thread::sleep(std::time::Duration::from_millis(3200));
    let graph = server.get("/v1/repos/-/-/graph").json();
    assert_eq!((list(&graph, "stacks").len(), graph.get("nodes")), (2, None));
}

/// Runs git in the workspace, and gives what it says.
fn git(folder: &std::path::Path, args: &[&str]) -> String {
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    let output = command.args(args).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().expect("git");
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn the_graph_of_every_commit_branch_and_tag_is_there_and_no_other_name_is_one() {
    let stage = stage::linked();
    let root = stage.path();
    let commit = |words: &str| {
        git(&root, &["add", "-A"]);
        git(&root, &["commit", "-qm", words]);
        git(&root, &["rev-parse", "HEAD"])
    };
    git(&root, &["init", "-q"]);
    let first = commit("first");
    git(&root, &["tag", "v1"]);
    git(&root, &["checkout", "-qb", "more/layers"]);
    std::fs::create_dir_all(root.join("stacks/net/layers/prod_blue")).expect("a folder");
    std::fs::write(root.join("stacks/net/layers/prod_blue/layer.tfvars"), "").expect("a file");
    std::fs::write(root.join("stacks/hosts/base/reads.tf"), "# {{ output('address', stack='net') }}\n")
        .expect("a file");
    let second = commit("second");
    std::fs::remove_dir_all(root.join("stacks/hosts")).expect("removed");

    let server = Server::start(&root, &[]);
    let graph = |name: &str| {
        let reply = server.get(&format!("/v1/repos/-/-/graph?ref={name}"));
        assert_eq!(reply.status, 200, "{name}: {}", reply.body);
        let graph = reply.json();
        let keys: Vec<String> = list(&graph, "stacks").iter().map(|stack| text(stack, "key").to_owned()).collect();
        (text(&graph, "sha").to_owned(), keys.join(" "), graph)
    };
    let present = server.get("/v1/repos/-/-/graph").json();
    assert_eq!(list(&present, "stacks").len(), 2, "the working tree: {present:?}");
    for name in [first.as_str(), &first[..9], "v1", "main", "HEAD~1", "more/layers^", "more%2Flayers~1"] {
        let (sha, keys, _) = graph(name);
        assert_eq!((sha.as_str(), keys.as_str()), (first.as_str(), "stacks/hosts:prod stacks/net:prod"), "{name}");
    }
    let (sha, keys, then) = graph("more/layers");
    assert_eq!(
        (sha.as_str(), keys.as_str()),
        (second.as_str(), "stacks/hosts:prod stacks/net:prod stacks/net:prod_blue")
    );
    let edge = list(&then, "edges").first().cloned().expect("an edge");
    assert_eq!(edge.at(&["at", "file"]).and_then(Plain::as_str), Some("stacks/hosts/base/reads.tf"));
    assert_eq!(then.at(&["waves", "stacks/hosts:prod"]), Some(&Plain::Int(1)));
    assert_eq!(then.get("nodes"), None);

    // A range, a search through the history, an option, a file, and what there is not.
    for name in ["v1..main", "v1...main", ":/second", "HEAD^{/second}", "--help", "HEAD:stacks", "none", "a%00b", "%0a"]
    {
        let reply = server.get(&format!("/v1/repos/-/-/graph?ref={name}"));
        assert_eq!((reply.status, text(&reply.json(), "code")), (404, "not_found"), "{name}: {}", reply.body);
    }
    // More commits than are kept, and the first again.
    for n in 0..6 {
        std::fs::write(root.join(format!("environments/prod/x{n}.tfvars")), "").expect("a file");
        let sha = commit("more");
        assert_eq!(graph(&sha).0, sha);
    }
    assert_eq!(graph("v1").0, first);
}

#[test]
fn what_is_not_there_is_told_by_its_name() {
    let stage = stage::whole();
    let server = Server::start(&stage.path(), &[]);
    for path in [
        "/v1/runs/none",
        "/v1/stacks/none",
        "/v1/modules/none",
        "/v1/nodes/none",
        "/v1/node-runs/none",
        "/v1/repos/acme/none",
        "/v1/repos/-/-/graph?run=none",
        "/v1/repos/-/-/graph?ref=none",
        "/v1/runs/none/stacks/x/plan",
    ] {
        let reply = server.get(path);
        let value = reply.json();
        assert_eq!((reply.status, text(&value, "code")), (404, "not_found"), "{path}");
        assert!(text(&value, "message").contains('`') && value.get("details").is_some(), "{path}: {}", reply.body);
    }
    let path = format!("/v1/runs/{}/stacks/stacks%2Fdns:prod/plan", stage.going);
    assert_eq!(server.get(&path).status, 404, "no plan was made yet");
    let path = format!("/v1/runs/{}/stacks/stacks%2Fapps:prod/plan?phase=none", stage.failed);
    assert_eq!(server.get(&path).status, 400);
}

#[test]
fn a_path_that_is_no_text_is_answered_as_every_other() {
    let stage = stage::whole();
    let server = Server::start(&stage.path(), &[]);
    for path in ["/v1/runs/%ff", "/v1/stacks/%ff", "/v1/modules/%ff", "/v1/nodes/%ff", "/v1/repos/%ff/x/graph"] {
        let reply = server.get(path);
        let value = reply.json();
        assert_eq!((reply.status, text(&value, "code")), (400, "invalid"), "{path}");
        assert_eq!(text(&value, "message"), "a name in the path is not UTF-8");
    }
}

#[test]
fn a_stack_has_its_edges_its_lock_and_what_came_last() {
    let stage = stage::whole();
    let server = Server::start(&stage.path(), &[]);
    let value = server.get("/v1/stacks/stacks%2Fcluster:prod").json();
    let ends = |key: &str, end: &str| -> Vec<String> {
        list(&value, key).iter().map(|edge| text(edge.get(end).expect("an end"), "key").to_owned()).collect()
    };
    assert_eq!(ends("depends_on", "to"), ["stacks/network:prod", "acme//modules/cluster"]);
    assert_eq!(ends("depended_on_by", "from"), ["stacks/apps:prod", "stacks/monitoring:prod"]);
    assert_eq!(value.get("wave"), Some(&Plain::Int(1)));
    assert_eq!(value.get("lock").map(|lock| text(lock, "run")), Some(stage.failed.as_str()));
    let apply = value.at(&["last", "apply"]).expect("an apply");
    assert_eq!(text(apply, "run"), stage.failed);
    assert!(text(apply, "error").contains("quota exceeded"));
    let id = text(&value, "id").to_owned();
    let same = server.get(&format!("/v1/stacks/{id}")).json();
    assert_eq!(text(&same, "key"), "stacks/cluster:prod", "the id of the store names it, too");
    let gone = server.get("/v1/stacks/stacks%2Flegacy").json();
    assert!(gone.at(&["seen", "removed_at"]).is_some_and(|at| at.as_str().is_some()), "{}", gone.to_json());
}

#[test]
fn a_changed_tree_is_seen_without_a_restart() {
    let stage = stage::stacks_alone();
    let server = Server::start(&stage.path(), &[]);
    let count = || {
        server
            .get("/v1/repos")
            .json()
            .get("repos")
            .and_then(Plain::as_list)
            .and_then(|all| all[0].get("stacks").cloned())
    };
    assert_eq!(count(), Some(Plain::Int(12)));
    let folder = stage.path().join("stacks/extra");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("main.tf"), "terraform {\n  backend \"s3\" {}\n}\n").expect("a file");
    let begun = std::time::Instant::now();
    while count() != Some(Plain::Int(13)) {
        assert!(begun.elapsed().as_secs() < 20, "it is never seen");
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    std::fs::write(stage.path().join("stackorder.yaml"), "version: 7\n").expect("a file");
    let begun = std::time::Instant::now();
    while server.get("/v1/repos").status != 503 {
        assert!(begun.elapsed().as_secs() < 20, "it is never seen");
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    let value = server.get("/v1/repos").json();
    assert!(
        text(&value, "code") == "unavailable" && text(&value, "message").contains("stackorder.yaml:1"),
        "{}",
        value.to_json()
    );
    assert_eq!(server.get("/readyz").status, 503);
    let overview = server.get("/v1/overview");
    assert_eq!(overview.status, 200, "runs and locks are still told");
    assert_eq!(list(overview.json().get("infra").expect("infra"), "problems").len(), 1);
    assert_eq!(list(overview.json().get("infra").expect("infra"), "runs").len(), 3);
}

#[test]
fn how_far_a_module_is_behind_is_looked_up_once_somebody_asks() {
    let stage = stage::stacks_alone();
    let lag = |server: &Server| -> (Plain, Plain) {
        let value = server.get("/v1/modules?kind=git").json();
        let looked = value.get("looked_up").cloned().unwrap_or_default();
        (looked, list(&value, "modules")[0].clone())
    };
    let server = Server::start(&stage.path(), &[]);
    let begun = std::time::Instant::now();
    let module = loop {
        let (looked, module) = lag(&server);
        if !looked.is_null() {
            break module;
        }
        assert!(begun.elapsed().as_secs() < 20, "it is never looked up");
        std::thread::sleep(std::time::Duration::from_millis(100));
    };
    assert_eq!((text(&module, "latest"), text(&module, "standing")), ("v2.0.0", "behind"));
    assert_eq!(module.get("behind"), Some(&Plain::Int(2)));
    drop(server);
    let server = Server::start(&stage.path(), &["--offline"]);
    lag(&server);
    std::thread::sleep(std::time::Duration::from_millis(500));
    let (looked, module) = lag(&server);
    assert!(looked.is_null() && module.get("latest").is_some_and(Plain::is_null));
}

#[test]
fn nodes_alone_and_stacks_alone_are_workspaces_too() {
    let nodes = stage::nodes_alone();
    let server = Server::start(&nodes.path(), &[]);
    let value = server.get("/v1/overview").json();
    assert_eq!(value.at(&["infra", "stacks"]), Some(&Plain::Int(0)));
    assert_eq!(value.at(&["hosts", "nodes"]), Some(&Plain::Int(5)));
    assert!(value.at(&["infra", "store"]).is_some_and(Plain::is_null), "looking makes no store");
    assert!(!nodes.path().join(".suil/infra.db").exists(), "looking makes no store");
    assert_eq!(server.get("/v1/runs").status, 200);
    drop(server);

    let stacks = stage::stacks_alone();
    let server = Server::start(&stacks.path(), &[]);
    let value = server.get("/v1/overview").json();
    assert!(value.get("hosts").is_some_and(Plain::is_null));
    assert_eq!(value.at(&["infra", "stacks"]), Some(&Plain::Int(12)));
    assert_eq!(server.get("/v1/nodes").status, 404);
}
