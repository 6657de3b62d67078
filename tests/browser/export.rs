//! `suil infra graph --output html`, opened from a file.

use crate::driver::{Browser, Look};
use crate::stage;
use serde_json::{Value, json};
use std::process::Command;
use suil::infra::graph::{Edge, Graph, Host, Kind, Need, Node, Stack};
use suil::ui::page;

const LEFT: &str = "\u{e012}";
const RIGHT: &str = "\u{e014}";
const ESCAPE: &str = "\u{e00c}";
const ENTER: &str = "\u{e007}";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

/// Where a box is on the screen.
fn place(browser: &Browser, id: &str) -> (f64, f64) {
    let at = browser.until(&format!("return suil.view.place({})", json!(id)));
    (number(&at["x"]), number(&at["y"]))
}

fn camera(browser: &Browser) -> (f64, f64, f64) {
    let camera = browser.run("return suil.view.camera()");
    (number(&camera["x"]), number(&camera["y"]), number(&camera["k"]))
}

fn selected(browser: &Browser) -> String {
    browser
        .run("return document.querySelector('.drawer.open h2 code')?.textContent ?? ''")
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// No console line, and no address but the file itself and what stands in it.
#[track_caller]
fn is_quiet(browser: &Browser) {
    assert_eq!(browser.said(), [""; 0]);
    let strange: Vec<String> = browser
        .asked()
        .into_iter()
        .filter(|url| !url.starts_with("file:///") && !url.starts_with("data:") && url != "about:blank")
        .collect();
    assert_eq!(strange, [""; 0]);
}

/// Writes the page of the stage with the command, and gives its address.
fn written(stage: &stage::Stage, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_suil"))
        .args(["infra", "graph", "--output", "html", "--write", "graph.html"])
        .args(args)
        .current_dir(stage.path())
        .env_clear()
        .env("HOME", stage.path())
        .env("PATH", "/usr/bin:/bin")
        .output()
        .expect("suil ends");
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    format!("file://{}", stage.path().join("graph.html").display())
}

#[test]
fn the_page_is_panned_zoomed_filtered_and_clicked_and_asks_for_nothing() {
    let stage = stage::stacks_alone();
    std::fs::write(stage.path().join("changed"), "modules/vpc/main.tf\n").expect("a file");
    let url = written(&stage, &["--changed-from", "changed"]);
    let browser = Browser::start(Look::default());
    browser.open(&url);
    browser.until("return suil.view.drawing().boxes.length");
    let boxes = browser.run("return suil.view.drawing().boxes");
    assert_eq!(boxes.as_array().map(Vec::len), Some(12 + 1 + 5), "stacks, one of another repository, modules: {boxes}");
    let inked = "const c = document.querySelector('canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; \
                 const seen = new Set(); for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return seen.size";
    assert!(number(&browser.run(inked)) > 30.0, "something is drawn, in colours");

    // Pan.
    let (x, y, k) = camera(&browser);
    browser.drag((700.0, 620.0), (600.0, 560.0));
    let (px, py, pk) = camera(&browser);
    assert!(((px - x) * k - 100.0).abs() < 3.0 && ((py - y) * k - 60.0).abs() < 3.0 && pk == k, "{x} {y} -> {px} {py}");
    assert_eq!(selected(&browser), "", "to drag is not to press");

    // Zoom: what is under the pointer stays there.
    let before = place(&browser, "stack:stacks/cluster:prod");
    browser.wheel(before.0, before.1, -300);
    let after = place(&browser, "stack:stacks/cluster:prod");
    assert!(camera(&browser).2 > k * 1.3, "nearer");
    assert!((after.0 - before.0).abs() < 3.0 && (after.1 - before.1).abs() < 3.0, "{before:?} {after:?}");
    browser.run("document.querySelector('[aria-label=\"Zoom out\"]').click()");
    browser.run("document.querySelector('[aria-label=\"Fit all\"]').click()");
    assert!((camera(&browser).2 - k).abs() < 0.001);

    // Press a stack: its details.
    let (x, y) = place(&browser, "stack:stacks/cluster:prod");
    browser.press(x, y);
    assert_eq!(selected(&browser), "stacks/cluster:prod");
    let told =
        browser.run("return document.querySelector('.drawer').innerText").as_str().unwrap_or_default().to_lowercase();
    for word in [
        "production",
        "s3://acme-state/cluster/prod.tfstate",
        "depends on",
        "stacks/network:prod",
        "depends_on",
        "depended on by",
        "stacks/apps:prod",
        "uses modules",
        "wave 1",
        "dependent",
        ".stackorder.yaml:",
    ] {
        assert!(told.contains(word), "{word}: {told}");
    }
    browser.shot("export-light");

    // Keys go along the edges.
    browser.run("document.querySelector('canvas').focus()");
    browser.keys(LEFT);
    let there = selected(&browser);
    assert!(there == "stacks/network:prod" || there.ends_with("modules/cluster"), "{there}");
    browser.keys(RIGHT);
    assert_ne!(selected(&browser), there);
    browser.keys(ESCAPE);
    assert_eq!(selected(&browser), "");
    browser.run("document.querySelector('canvas').focus()");
    let k = camera(&browser).2;
    browser.keys("+");
    assert!(camera(&browser).2 > k);

    // Filter by words, from the keyboard.
    browser.keys("/");
    browser.keys("prod -apps");
    browser.until("return document.querySelectorAll('.rows button').length === 5");
    let rest = browser.run("return suil.view.drawing().boxes.filter((id) => id.endsWith('apps:staging')).length");
    assert_eq!(rest, json!(0), "what is nowhere near is gone");
    browser.keys(ENTER);
    assert!(selected(&browser).ends_with(":prod"));
    browser.run(
        "const s = document.querySelector('input[type=search]'); s.value = ''; s.dispatchEvent(new Event('input'))",
    );
    browser.until("return document.querySelectorAll('.rows button').length === 12");

    // By environment, and by what is affected.
    browser.run("const s = document.querySelector('select[aria-label=Environment]'); s.value = 'staging'; s.dispatchEvent(new Event('change'))");
    browser.until("return document.querySelectorAll('.rows button').length === 6");
    browser.run("const s = document.querySelector('select[aria-label=Environment]'); s.value = ''; s.dispatchEvent(new Event('change'))");
    browser.run("[...document.querySelectorAll('.toggle')].find((one) => one.innerText.includes('Affected')).click()");
    browser.until("return document.querySelectorAll('.rows button').length === 10");
    let names = browser.run("return [...document.querySelectorAll('.rows button')].map((row) => row.title + ' ' + row.querySelector('.badge').innerText)");
    assert_eq!(names[0], json!("stacks/network:prod w0"), "by wave: {names}");
    browser.shot("export-affected");
    is_quiet(&browser);

    // And it could not ask anybody if it wanted to.
    browser.run("fetch('http://127.0.0.1:9/x').catch(() => 0); new Image().src = 'http://127.0.0.1:9/y.png'; const s = document.createElement('script'); s.textContent = 'window.strange = 1'; document.head.append(s)");
    browser.until("return performance.now() > 0");
    let said = browser.said().join("\n");
    assert!(said.matches("Content Security Policy").count() >= 3, "{said}");
    assert_eq!(browser.run("return window.strange ?? null"), Value::Null);
}

/// Three environments of a thousand stacks in all, with edges within a folder and a few across.
fn large() -> Graph {
    let names = |n: usize| format!("stacks/{}/r{}/s{:03}", ["dev", "prod", "staging"][n % 3], n / 3 % 4, n / 12);
    let stack = |n: usize| {
        let key = names(n);
        Stack {
            path: key.clone(),
            environment: ["dev", "prod", "staging"][n % 3].to_owned(),
            tool: "terraform".to_owned(),
            key,
            ..Stack::default()
        }
    };
    let node = |n: usize| Node { kind: Kind::Stack, key: names(n) };
    let edge = |from: usize, to: usize| Edge {
        from: node(from),
        to: node(to),
        kind: if from.is_multiple_of(2) { Need::DependsOn } else { Need::ReadsState },
        inferred: from % 2 == 1,
        meta: Default::default(),
        at: None,
    };
    let mut stacks: Vec<Stack> = (0..1000).map(stack).collect();
    stacks.sort_by(|a, b| a.key.cmp(&b.key));
    let within = (12..1000)
        .flat_map(|n| [edge(n, n % 12), edge(n, n % 12 + 12 * (n / 12 / 3))])
        .filter(|edge| edge.from != edge.to);
    let across = (0..1000).step_by(41).skip(1).map(|n| edge(n, 3));
    Graph { repo: "acme/large".to_owned(), edges: within.chain(across).collect(), stacks, ..Graph::default() }
}

#[test]
fn a_thousand_stacks_are_drawn_in_groups_that_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("large.html");
    std::fs::write(&file, page::export(&large(), None)).expect("a file");
    let browser = Browser::start(Look::default());
    browser.open(&format!("file://{}", file.display()));
    browser.until("return suil.view.drawing().boxes.length");
    let groups = browser.run("return suil.view.drawing().boxes");
    assert_eq!(groups.as_array().map(Vec::len), Some(12), "{groups}");
    browser.shot("export-groups");
    let (x, y) = place(&browser, "group:stacks/prod/r1");
    browser.press(x, y);
    browser.until("return document.querySelector('.drawer.open')?.innerText.includes('stacks/prod/r1')");
    browser.run("document.querySelector('.drawer .main').click()");
    assert!(
        number(&browser.until("return suil.view.drawing().boxes.length > 50 && suil.view.drawing().boxes.length"))
            < 200.0
    );
    // A stack that is in no open group is found by its name all the same.
    browser.run("suil.view.select('stack:stacks/dev/r0/s010')");
    assert_eq!(selected(&browser), "stacks/dev/r0/s010");
    browser.shot("export-opened");

    let ungrouped = "const s = document.querySelector('select[aria-label=Group]'); const begun = performance.now(); s.value = 'none'; \
                     s.dispatchEvent(new Event('change')); return performance.now() - begun";
    let took = number(&browser.run(ungrouped));
    assert_eq!(browser.run("return suil.view.drawing().boxes.length"), json!(1000));
    assert!(took < 5000.0, "a thousand stacks are laid out in {took} ms");
    browser.shot("export-ungrouped");
    let apart = "const { at } = suil.view.drawing(); let bad = 0; for (let i = 0; i < at.length; i++) for (let j = i + 1; j < at.length; j++) \
                 if (Math.abs(at[i].x - at[j].x) < (at[i].w + at[j].w) / 2 && Math.abs(at[i].y - at[j].y) < (at[i].h + at[j].h) / 2 - 0.01) bad++; return bad";
    assert_eq!(browser.run(apart), json!(0), "no box lies on another");
    let ordered = "const { at, boxes } = suil.view.drawing(), place = new Map(boxes.map((id, i) => [id, at[i]])); \
                   return suil.data.graph.edges.filter((e) => place.get('stack:' + e.to.key).x >= place.get('stack:' + e.from.key).x).length";
    assert_eq!(browser.run(ordered), json!(0), "what is needed stands left of who needs it");
    is_quiet(&browser);
}

#[test]
fn names_and_cycles_of_whatever_kind_are_shown_as_they_are() {
    let key = "stacks/</script><img src=x onerror=alert(1)>\u{2028}\"'&".to_owned();
    let stack = |key: &str| Stack {
        key: key.to_owned(),
        path: key.to_owned(),
        environment: "<b>".to_owned(),
        ..Stack::default()
    };
    let node = |key: &str| Node { kind: Kind::Stack, key: key.to_owned() };
    let edge = |from: &str, to: &str| Edge {
        from: node(from),
        to: node(to),
        kind: Need::DependsOn,
        inferred: false,
        meta: Default::default(),
        at: None,
    };
    let graph = Graph {
        repo: "<i>".to_owned(),
        stacks: vec![stack("a"), stack("b"), stack(&key)],
        edges: vec![edge("a", "b"), edge("b", "a"), edge("a", &key), edge("b", "gone")],
        ..Graph::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let browser = Browser::start(Look { phone: true, dark: true });
    for (name, graph) in [("odd", graph), ("empty", Graph::default())] {
        let file = folder.path().join(format!("{name}.html"));
        std::fs::write(&file, page::export(&graph, None)).expect("a file");
        browser.open(&format!("file://{}", file.display()));
        browser.until("return suil.view.drawing().boxes.length || document.body.innerText.includes('no stacks here')");
        if name == "odd" {
            browser.run(&format!("suil.view.select({})", json!(format!("stack:{key}"))));
            assert_eq!(selected(&browser), key);
            assert_eq!(browser.run("return document.querySelectorAll('img, b.evil').length"), json!(0));
            let (x, y, k) = camera(&browser);
            browser.pinch(195.0, 300.0, 40.0, 110.0);
            assert!(camera(&browser).2 > k, "two fingers zoom: {x} {y}");
        }
        browser.shot(&format!("export-{name}-phone-dark"));
    }
    is_quiet(&browser);
}

/// Five nodes between two stacks, and then forty.
#[test]
fn nodes_stand_between_stacks_and_can_be_left_out_and_many_are_groups_by_role() {
    let stack = |key: &str| Stack {
        key: key.to_owned(),
        path: key.to_owned(),
        environment: "prod".to_owned(),
        ..Stack::default()
    };
    let end = |kind: Kind, key: &str| Node { kind, key: key.to_owned() };
    let edge =
        |from: Node, kind: Need, to: Node| Edge { from, to, kind, inferred: true, meta: Default::default(), at: None };
    let graph = |hosts: usize| {
        let name = |n: usize| format!("web-{n}.example.com");
        let nodes = (0..hosts).map(|n| Host { key: name(n), role: ["web", "db"][n % 2].to_owned() }).collect();
        let edges = (0..hosts).flat_map(|n| {
            let node = || end(Kind::Node, &name(n));
            [
                edge(node(), Need::ReadsOutput, end(Kind::Stack, "net")),
                edge(end(Kind::Stack, "lb"), Need::ReadsHostData, node()),
            ]
        });
        Graph { repo: "acme".to_owned(), stacks: vec![stack("lb"), stack("net")], ..Graph::default() }
            .with_nodes(nodes, edges)
    };
    let folder = tempfile::tempdir().expect("a folder");
    let browser = Browser::start(Look::default());
    let open = |hosts: usize| {
        let file = folder.path().join(format!("{hosts}.html"));
        std::fs::write(&file, page::export(&graph(hosts), None)).expect("a file");
        browser.open(&format!("file://{}", file.display()));
        browser.until("return suil.view.drawing().boxes.length")
    };
    assert_eq!(open(5), json!(7));
    let (net, node, lb) =
        (place(&browser, "stack:net"), place(&browser, "node:web-3.example.com"), place(&browser, "stack:lb"));
    assert!(net.0 < node.0 && node.0 < lb.0, "{net:?} {node:?} {lb:?}");
    browser.press(node.0, node.1);
    assert_eq!(selected(&browser), "web-3.example.com");
    let told = browser.run("return document.querySelector('.drawer').innerText");
    let told = told.as_str().unwrap_or_default();
    assert!(told.contains("reads_output (inferred)") && told.contains("reads_host_data (inferred)"), "{told}");
    browser.shot("export-nodes");
    let toggle = "[...document.querySelectorAll('.toggle')].find((one) => one.innerText.includes('Nodes')).click()";
    browser.run(toggle);
    assert_eq!(browser.run("return suil.view.drawing().boxes"), json!(["stack:lb", "stack:net"]));
    // What is asked for by name is seen, whatever was left out.
    browser.run("suil.view.select('node:web-1.example.com')");
    assert_eq!(browser.run("return suil.view.drawing().boxes.length"), json!(7));

    assert_eq!(open(40), json!(4));
    let boxes = json!(["stack:lb", "stack:net", "group:role db", "group:role web"]);
    assert_eq!(browser.run("return suil.view.drawing().boxes"), boxes);
    browser.shot("export-node-groups");
    browser.run("suil.view.select('node:web-6.example.com')");
    assert_eq!(browser.run("return suil.view.drawing().boxes.length"), json!(23), "its role is open, the other is not");
    let total = browser.run("return document.querySelector('.total').innerText");
    assert_eq!(total, json!("2 stacks, 40 nodes"));
    is_quiet(&browser);
}
