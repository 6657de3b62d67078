//! Who may come in, and what every answer carries.

use crate::server::{Server, command};
use crate::stage;
use std::fs;
use std::process::Stdio;

const TOKEN: &str = "correct horse battery staple";

fn guarded(stage: &stage::Stage) -> Server {
    fs::write(stage.path().join("token"), format!("{TOKEN}\n")).expect("a token");
    Server::start(&stage.path(), &["--token-file", "token"])
}

#[test]
fn without_a_token_other_machines_are_not_let_in() {
    let stage = stage::nodes_alone();
    for (address, token) in [("0.0.0.0:0", None), ("[::]:0", None), ("0.0.0.0:0", Some("short"))] {
        let mut command = command(&stage.path(), &["--listen", address]);
        token.map(|token| command.env("SUIL_TOKEN", token));
        let output = command.stdin(Stdio::null()).output().expect("suil ends");
        assert_eq!(output.status.code(), Some(64), "{address}");
        assert!(output.stdout.is_empty(), "{address}");
    }
    let mut command = command(&stage.path(), &["--listen", "0.0.0.0:0", "--output", "json"]);
    command.env("SUIL_TOKEN", TOKEN);
    let mut server = Server::of(command);
    let port = server.address.rsplit_once(':').expect("a port").1.to_owned();
    server.address = format!("127.0.0.1:{port}");
    assert_eq!(server.get("/v1/overview").status, 401);
}

#[test]
fn only_the_token_opens_the_door() {
    let stage = stage::stacks_alone();
    let server = guarded(&stage);
    let with = |header: &str| server.ask("GET", "/v1/overview", &[("Authorization", header)], "").status;
    assert_eq!(with(&format!("Bearer {TOKEN}")), 200);
    assert_eq!(with(&format!("bearer {TOKEN}")), 200);
    for wrong in
        ["Bearer ", "Bearer correct horse battery stapl", "Basic Y29ycmVjdA==", TOKEN, &format!("Bearer {TOKEN}x")]
    {
        assert_eq!(with(wrong), 401, "{wrong}");
    }
    for path in ["/v1/overview", "/v1/runs", "/v1/repos/-/-/graph", "/v1/nodes", "/metrics", "/v1/me", "/v1/none"] {
        let reply = server.get(path);
        let wanted = if path == "/v1/none" { 404 } else { 401 };
        assert_eq!(reply.status, wanted, "{path}");
        assert!(!reply.body.contains("stacks/"), "{path}");
    }
    assert_eq!(server.get("/v1/runs").header("www-authenticate"), Some("Bearer realm=\"suil\""));
    for open in ["/healthz", "/readyz"] {
        assert_eq!(server.get(open).status, 200, "{open}");
    }
}

#[test]
fn a_browser_logs_in_with_the_token_and_out_again() {
    let stage = stage::stacks_alone();
    let server = guarded(&stage);
    let sent = server.get("/");
    assert_eq!((sent.status, sent.header("location")), (303, Some("/login")));
    let page = server.get("/login");
    assert!(page.status == 200 && page.body.contains("type=\"password\""));
    let post = |path: &str, body: &str, cookie: &str| {
        let form = ("Content-Type", "application/x-www-form-urlencoded");
        server.ask("POST", path, &[form, ("Cookie", cookie)], body)
    };
    let wrong = post("/login", "token=correct", "");
    assert_eq!(wrong.status, 403);
    assert!(wrong.body.contains("That is not the token") && wrong.header("set-cookie").is_none());
    let right = post("/login", &format!("token={}", TOKEN.replace(' ', "+")), "");
    assert_eq!((right.status, right.header("location")), (303, Some("/")));
    let cookie = right.header("set-cookie").expect("a cookie").to_owned();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("correct"), "the cookie does not hold the token");
    let session = cookie.split(';').next().expect("a pair").to_owned();
    let seen = |path: &str| server.ask("GET", path, &[("Cookie", &session)], "").status;
    assert_eq!((seen("/"), seen("/v1/overview"), seen("/login")), (200, 200, 303));
    assert_eq!(post("/logout", "x=1", &session).status, 303);
    assert_eq!((seen("/"), seen("/v1/overview")), (303, 401));
    assert_eq!(post("/login", &format!("token={}", "x".repeat(10_000)), "").status, 413);
    assert_eq!(post("/login", "word=x", "").status, 400);
}

#[test]
fn strange_host_names_are_turned_away() {
    let stage = stage::stacks_alone();
    let server = Server::start(&stage.path(), &["--host", "suil.example.com"]);
    let as_host = |host: &str| server.ask("GET", "/v1/overview", &[("Host", host)], "").status;
    for own in ["127.0.0.1:1", "localhost:8420", "[::1]:8420", "suil.example.com", "192.0.2.1"] {
        assert_eq!(as_host(own), 200, "{own}");
    }
    for strange in ["evil.example", "localhost.evil.example:8420", "suil.example.com.evil"] {
        assert_eq!(as_host(strange), 403, "{strange}");
    }
    assert_eq!(server.raw("GET /v1/overview HTTP/1.1\r\nConnection: close\r\n\r\n").status, 403, "no host at all");
}

#[test]
fn every_answer_says_how_it_is_to_be_taken() {
    let stage = stage::stacks_alone();
    let server = guarded(&stage);
    for path in [
        "/",
        "/login",
        "/v1/overview",
        "/v1/none",
        "/none",
        "/healthz",
        "/../../etc/passwd",
        "/stackorder.yaml",
        "/.suil/infra.db",
    ] {
        let reply = server.get(path);
        let policy = reply.header("content-security-policy").unwrap_or_else(|| panic!("{path}: no policy")).to_owned();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(reply.header(name), Some(value), "{path}: {name}");
        }
        assert!(reply.header("access-control-allow-origin").is_none() && reply.header("server").is_none(), "{path}");
    }
    for path in [
        "/stackorder.yaml",
        "/.suil/infra.db",
        "/stacks/network/main.tf",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/v1/../stackorder.yaml",
    ] {
        assert_eq!(server.get(path).status, 404, "no file is served: {path}");
    }
}

#[test]
fn nothing_can_be_changed() {
    let stage = stage::stacks_alone();
    let server = Server::start(&stage.path(), &[]);
    for (method, path) in [
        ("POST", "/v1/runs"),
        ("POST", "/v1/stacks/x"),
        ("DELETE", "/v1/locks"),
        ("PUT", "/v1/overview"),
        ("PATCH", "/"),
    ] {
        let reply = server.ask(method, path, &[], "{}");
        assert_eq!((reply.status, reply.header("allow")), (405, Some("GET, HEAD")), "{method} {path}");
        assert!(reply.body.contains("\"code\":\"invalid\""), "{}", reply.body);
    }
    let head = server.ask("HEAD", "/v1/overview", &[], "");
    assert!(head.status == 200 && head.body.is_empty());
}

#[test]
fn odd_requests_break_nothing() {
    let stage = stage::stacks_alone();
    let server = Server::start(&stage.path(), &[]);
    let long = format!("/v1/stacks/{}", "a".repeat(60_000));
    for path in [
        "/v1/runs?limit=0",
        "/v1/runs?limit=x",
        "/v1/runs?state=x",
        "/v1/nodes/%00",
        "/v1/stacks/%ff",
        "/v1/runs/%2e%2e",
        "/v1/stacks/..%2f..%2f",
        &long,
    ] {
        let status = server.get(path).status;
        assert!((400..500).contains(&status), "{}: {status}", &path[..path.len().min(40)]);
    }
    for text in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "\u{0}\u{1}\u{2}",
        &format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "b".repeat(900_000)),
    ] {
        server.raw(text);
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn a_signal_ends_it_and_that_is_no_failure() {
    let stage = stage::nodes_alone();
    for signal in ["INT", "TERM"] {
        let server = Server::start(&stage.path(), &[]);
        assert_eq!(server.get("/healthz").status, 200);
        assert_eq!(server.end(signal), Some(0), "{signal}");
    }
}

#[test]
fn a_port_that_is_taken_is_told() {
    let stage = stage::nodes_alone();
    let server = Server::start(&stage.path(), &[]);
    let output = command(&stage.path(), &["--listen", &server.address]).output().expect("suil ends");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.starts_with(&format!("suil: cannot listen on `{}`", server.address)), "{said}");
    assert!(said.contains("help: another program has the port"), "{said}");
}
