//! The page of `suil serve`.

use crate::driver::{Browser, Look};
use crate::server::Server;
use crate::stage;
use serde_json::json;

/// No console line, and no address but the server's.
#[track_caller]
fn is_quiet(browser: &Browser, server: &Server) {
    assert_eq!(browser.said(), [""; 0]);
    let home = server.url("");
    let strange: Vec<String> = browser
        .asked()
        .into_iter()
        .filter(|url| !url.starts_with(&home) && !url.starts_with("data:") && url != "about:blank")
        .collect();
    assert_eq!(strange, [""; 0]);
}

/// Goes to a view, and waits until these words are there.
#[track_caller]
fn see(browser: &Browser, server: &Server, view: &str, words: &[&str]) {
    browser.open(&server.url(&format!("#/{view}")));
    for word in words {
        browser.until(&format!(
            "return document.querySelector('main')?.innerText.toLowerCase().includes({})",
            json!(word.to_lowercase())
        ));
    }
}

#[test]
fn every_view_shows_what_the_store_and_the_tree_say() {
    let stage = stage::whole();
    let server = Server::start(&stage.path(), &[]);
    let run = format!("runs/{}", stage.failed);
    let views: [(&str, &[&str]); 13] = [
        ("", &["acme", "Stacks\n12", "of 4 looked at", "drifted", "anna@desk", "Nodes\n5", "Runs over stacks"]),
        ("stacks", &["stacks/apps:prod", "production", "s3://acme-state/apps/prod.tfstate"]),
        (
            "stacks/stacks%2Fcluster%3Aprod",
            &[
                "Locked by anna@desk",
                "failed",
                "Depends on",
                "stacks/network:prod",
                "Depended on by",
                "stacks/apps:prod",
                "Runs",
            ],
        ),
        ("stacks/stacks%2Flegacy", &["gone from the tree"]),
        ("runs", &["apply", "plan", "2 applied, 1 failed, 2 blocked", "ci@ci-7"]),
        (&run, &["wave 0", "wave 2", "network:prod", "blocked", "new subnets"]),
        ("locks", &["stacks/network:prod", "gone", "suil infra unlock"]),
        ("drift", &["stacks/network:prod", "drifted", "~2", "no valid credential"]),
        ("modules", &["modules/vpc", "git", "v1.4.0", "2 stacks"]),
        ("modules/acme%2F%2Fmodules%2Fvpc", &["Used by", "stacks/network:staging", "modules/labels"]),
        ("nodes", &["web-01.example.com", "debian 12", "not probed", "never"]),
        ("nodes/web-01.example.com", &["role", "web", "No run had it"]),
        ("audit", &["take", "release", "the run ended"]),
    ];
    for look in [Look::default(), Look { phone: true, dark: true }] {
        let browser = Browser::start(look);
        let name = if look.phone { "phone-dark" } else { "light" };
        for (n, (view, words)) in views.iter().enumerate() {
            see(&browser, &server, view, words);
            browser.shot(&format!("serve-{name}-{n:02}"));
            let wide = browser.run("return document.documentElement.scrollWidth - innerWidth");
            assert!(wide.as_f64().is_some_and(|wide| wide <= 0.0), "`{view}` is wider than the screen, {name}");
        }
        is_quiet(&browser, &server);
    }
}

#[test]
fn a_run_opens_stack_by_stack_and_is_replayed_on_the_graph() {
    let stage = stage::whole();
    let server = Server::start(&stage.path(), &[]);
    let browser = Browser::start(Look::default());
    see(&browser, &server, &format!("runs/{}", stage.failed), &["network:prod"]);
    browser
        .run("[...document.querySelectorAll('.card')].find((card) => card.innerText.includes('network:prod')).click()");
    for word in [
        "a module that it uses changed",
        "modules/vpc",
        "policy",
        "1 of 40 rules warns",
        "aws_subnet.private[0]",
        "Plan: 1 to add",
    ] {
        browser.until(&format!("return document.querySelector('.drawer.open')?.innerText.includes({})", json!(word)));
    }
    browser.shot("serve-run");
    browser
        .run("[...document.querySelectorAll('.card')].find((card) => card.innerText.includes('cluster:prod')).click()");
    browser.until("return document.querySelector('.drawer.open')?.innerText.includes('quota exceeded')");
    browser.run("[...document.querySelectorAll('.head a')].find((link) => link.innerText === 'On the graph').click()");
    browser.until("return document.querySelector('.banner')?.innerText.includes('2 applied, 1 failed, 2 blocked')");
    browser.until("return window.suil?.view.drawing().boxes.length > 10");
    let chips =
        browser.run("return [...document.querySelectorAll('.rows .chip')].map((chip) => chip.innerText).sort()");
    assert_eq!(chips, json!(["applied", "applied", "blocked", "blocked", "failed"]));
    browser.shot("serve-graph-run");
    let at = browser.run("return suil.view.place('stack:stacks/cluster:prod')");
    browser.press(at["x"].as_f64().expect("x"), at["y"].as_f64().expect("y"));
    for word in ["In this run", "Locked by anna@desk", "Open the stack"] {
        browser.until(&format!(
            "return document.querySelector('.drawer.open')?.innerText.toLowerCase().includes({})",
            json!(word.to_lowercase())
        ));
    }
    assert!(
        browser
            .run("return location.hash")
            .as_str()
            .is_some_and(|hash| hash.contains("run=") && hash.contains("select=")),
        "it can be linked to"
    );
    browser.run("document.querySelector('.drawer .main').click()");
    browser.until("return document.querySelector('main h1')?.innerText.includes('stacks/cluster:prod')");
    is_quiet(&browser, &server);
}

#[test]
fn a_list_is_filtered_and_grows() {
    let stage = stage::stacks_alone();
    for n in 0..70 {
        let folder = stage.path().join(format!("stacks/more-{n:02}"));
        std::fs::create_dir(&folder).expect("a folder");
        std::fs::write(
            folder.join("main.tf"),
            format!("terraform {{\n  backend \"s3\" {{\n    bucket = \"b\"\n    key = \"{n}\"\n  }}\n}}\n"),
        )
        .expect("a file");
    }
    let server = Server::start(&stage.path(), &[]);
    let browser = Browser::start(Look::default());
    see(&browser, &server, "stacks", &["Show more"]);
    assert_eq!(browser.run("return document.querySelectorAll('tbody tr').length"), json!(50));
    browser.run("document.querySelector('button.main').click()");
    browser.until("return document.querySelectorAll('tbody tr').length === 82");
    browser.run("const s = document.querySelector('input[type=search]'); s.value = 'more-6'; s.dispatchEvent(new Event('input'))");
    browser.until("return document.querySelectorAll('tbody tr').length === 10");
    assert_eq!(browser.run("return location.hash"), json!("#/stacks?q=more-6"));
    let tabs = browser.run(
        "return [...document.querySelectorAll('.tabs a')].filter((tab) => !tab.hidden).map((tab) => tab.innerText)",
    );
    assert!(!tabs.to_string().contains("Nodes"), "there are none: {tabs}");
    is_quiet(&browser, &server);
}

#[test]
fn a_browser_logs_in_and_out() {
    let stage = stage::nodes_alone();
    std::fs::write(stage.path().join("token"), "a token of many words\n").expect("a token");
    let server = Server::start(&stage.path(), &["--token-file", "token"]);
    let browser = Browser::start(Look::default());
    browser.open(&server.url(""));
    browser.until("return location.pathname === '/login' && document.activeElement.id === 'token'");
    browser.shot("serve-login");
    browser.keys("a token of some words\u{e007}");
    browser.until("return document.body.innerText.includes('That is not the token')");
    browser.run("document.querySelector('#token').focus()");
    browser.keys("a token of many words\u{e007}");
    browser.until("return document.querySelector('main')?.innerText.includes('Nodes')");
    assert_eq!(browser.run("return document.cookie"), json!(""), "the page cannot read the cookie");
    let tabs = browser.run(
        "return [...document.querySelectorAll('.tabs a')].filter((tab) => !tab.hidden).map((tab) => tab.innerText)",
    );
    assert_eq!(tabs, json!(["Overview", "Nodes"]));
    browser
        .run("[...document.querySelectorAll('.top .link')].find((button) => button.innerText === 'Log out').click()");
    browser.until("return location.pathname === '/login'");
    // A wrong token is a line on the console, and nothing else is.
    let said: Vec<String> =
        browser.said().into_iter().filter(|line| !line.contains("/login") || !line.contains("403")).collect();
    assert_eq!(said, [""; 0]);
}

#[test]
fn a_page_says_when_its_server_is_gone() {
    let stage = stage::nodes_alone();
    let server = Server::start(&stage.path(), &[]);
    let browser = Browser::start(Look::default());
    see(&browser, &server, "nodes", &["web-01.example.com"]);
    assert_eq!(server.end("TERM"), Some(0));
    browser.run("dispatchEvent(new Event('visibilitychange')); document.dispatchEvent(new Event('visibilitychange'))");
    browser.until("return document.querySelector('.lost')?.hidden === false");
    browser.until("return document.querySelector('main').innerText.includes('web-01.example.com')");
}

/// The page of a node, the drawing with nodes, and that of a commit without them.
#[test]
fn nodes_lead_to_stacks_and_back_and_a_commit_is_shown_as_it_was() {
    let stage = stage::linked();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
        let output = command.args(args).current_dir(stage.path()).env("GIT_CONFIG_GLOBAL", "/dev/null").output();
        assert!(output.as_ref().expect("git").status.success(), "{args:?}: {output:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    std::fs::create_dir_all(stage.path().join("stacks/net/layers/prod_blue")).expect("a folder");
    std::fs::write(stage.path().join("stacks/net/layers/prod_blue/layer.tfvars"), "").expect("a file");
    let server = Server::start(&stage.path(), &[]);
    let browser = Browser::start(Look { dark: true, ..Look::default() });
    let page = "nodes/web-1.example.com";
    let words = ["Reads outputs of", "stacks/net:prod", "infra.net/prod.address", "Read by", "stacks/hosts:prod"];
    see(&browser, &server, page, &words);
    browser.shot("served-node-dark");
    see(&browser, &server, "stacks/stacks%2Fnet%3Aprod", &["Depended on by", "web-2.example.com", "reads_output"]);
    browser
        .run("[...document.querySelectorAll('main a')].find((one) => one.innerText === 'web-2.example.com').click()");
    browser.until("return location.hash === '#/nodes/web-2.example.com' && document.querySelector('main h1')?.innerText.includes('web-2')");

    browser.open(&server.url("#/graph"));
    browser.until("return window.suil?.view?.drawing().boxes.length === 6");
    browser.run("suil.view.select('node:web-1.example.com')");
    browser.until("return document.querySelector('.drawer.open a.main')?.innerText === 'Open the node'");
    browser.shot("served-graph-nodes-dark");
    browser.open(&server.url("#/graph?ref=main"));
    browser.until("return document.querySelector('.banner')?.innerText.includes('at main')");
    browser.until("return window.suil?.view?.drawing().boxes.length === 2");
    assert_eq!(browser.run("return document.querySelector('.drawer.open')"), json!(null), "the node is not in it");
    browser.shot("served-graph-at-dark");
    browser.run("suil.view.select('stack:stacks/net:prod')");
    assert!(browser.run("return location.hash").as_str().is_some_and(|hash| hash.contains("ref=main")), "it is kept");
    browser.run(
        "[...document.querySelectorAll('.banner a')].find((one) => one.innerText === 'Back to the present').click()",
    );
    browser.until("return window.suil?.view?.drawing().boxes.length === 6");
    is_quiet(&browser, &server);
}
