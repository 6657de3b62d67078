//! `suil infra versions`, with repositories on this machine.

use crate::room::Room;
use crate::tree::git;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// A tree with modules from elsewhere; `https://git.example.net/` leads to the folder `mods` beside it.
fn tree(modules: &str) -> Room {
    let room = Room::with(&[("stacks/a/main.tf", &format!("terraform {{\n  backend \"local\" {{}}\n}}\n{modules}"))]);
    git(&room.path(), &["init", "--quiet"]);
    let mods = room.path().join("../mods");
    let text = format!("[url \"{}/\"]\n\tinsteadOf = https://git.example.net/\n", mods.display());
    let config = room.path().join("../gitconfig");
    fs::write(&config, text).expect("a file");
    let repository = mods.join("plat/db.git");
    fs::create_dir_all(&repository).expect("a folder");
    git(&repository, &["init", "--quiet", "--initial-branch", "main"]);
    git(&repository, &["commit", "--quiet", "--allow-empty", "--message", "one"]);
    for tag in ["v1.0.0", "v1.1.0", "v1.2.0", "v2.0.0-rc.1", "nightly"] {
        git(&repository, &["tag", tag]);
    }
    room.set("GIT_CONFIG_GLOBAL", &config.display().to_string())
}

#[test]
fn each_module_is_told_with_its_newest_version_and_how_many_lie_between() {
    let room = tree(
        r#"
module "one" {
  source = "git::https://git.example.net/plat/db.git//x?ref=v1.0.0"
}
module "two" {
  source = "git::https://git.example.net/plat/db?ref=v1.2.0"
}
module "three" {
  source = "git::https://git.example.net/plat/db.git?ref=main"
}
module "four" {
  source = "git::https://git.example.net/plat/db.git"
}
module "five" {
  source  = "a/b/aws"
  version = "~> 1.0"
}
"#,
    );
    let want = "\
MODULE                      ASKED FOR  NEWEST                 USED BY
git.example.net/plat/db     -          v1.2.0  unpinned       stacks/a
git.example.net/plat/db     main       v1.2.0  branch         stacks/a
git.example.net/plat/db     v1.2.0     v1.2.0  current        stacks/a
git.example.net/plat/db//x  v1.0.0     v1.2.0  2 behind       stacks/a
registry:a/b/aws            ~> 1.0     -       not looked up  stacks/a

versions: 1 module behind, 1 current, 1 unpinned, 1 branch, 1 not looked up
";
    room.run(&["infra", "versions", "--no-registry"]).is(0, want, "");
    let left = room.run(&["infra", "versions", "--no-registry", "--detailed-exitcode", "--output", "json"]);
    assert_eq!((left.status, left.stderr.as_str()), (2, ""));
    let told: serde_json::Value = serde_json::from_str(&left.stdout).expect("JSON");
    let one = json!({"module": "git.example.net/plat/db//x", "kind": "git", "pin": "v1.0.0", "latest": "v1.2.0",
        "behind": 2, "standing": "behind", "named": "tag", "used_by": ["stacks/a"]});
    assert_eq!(told["modules"][3], one);
}

#[test]
fn a_repository_that_cannot_be_reached_fails_and_the_rest_is_told() {
    let room = tree(
        r#"
module "one" {
  source = "git::https://git.example.net/plat/db.git?ref=v1.2.0"
}
module "gone" {
  source = "git::https://me:canary-word@git.example.net/plat/gone.git?ref=v1.0.0"
}
module "odd" {
  source = "git::ext::sh -c touch% owned/x?ref=v1.0.0"
}
"#,
    );
    let config = room.path().join("../gitconfig");
    let mods = room.path().join("../mods").display().to_string();
    let more = format!(
        "[url \"{mods}/\"]\n\tinsteadOf = https://me:canary-word@git.example.net/\n[protocol \"ext\"]\n\tallow = always\n"
    );
    let text = fs::read_to_string(&config).expect("a file") + &more;
    fs::write(&config, text).expect("a file");
    let left = room.run(&["infra", "versions"]);
    assert_eq!(left.status, 1, "{}", left.stdout);
    assert!(left.stdout.contains("versions: 1 module current, 1 failed"), "{}", left.stdout);
    assert!(left.stderr.contains("module `git.example.net/plat/gone`: its tags cannot be listed"), "{}", left.stderr);
    assert!(!(left.stdout + &left.stderr).contains("canary-word"), "{}", left.stderr);
    assert!(!room.path().join("owned").exists());
}

#[test]
fn a_tree_without_modules_from_elsewhere_says_so() {
    let room = tree("");
    room.run(&["infra", "versions", "--detailed-exitcode"]).is(0, "versions: no modules from elsewhere\n", "");
}

/// A registry on this machine, for `localhost` at the port that it gives; it writes down what it is asked.
fn registry(folder: &Path) -> (u16, Arc<Mutex<Vec<String>>>) {
    let (key, certificate) = (folder.join("key.pem"), folder.join("registry.pem"));
    let mut openssl = Command::new("openssl");
    openssl.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]);
    openssl.args([
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
        "-addext",
        "basicConstraints=CA:FALSE",
    ]);
    openssl.arg("-keyout").arg(&key).arg("-out").arg(&certificate);
    let made = openssl.output().expect("openssl, which this test needs");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let chain = vec![CertificateDer::from_pem_file(&certificate).expect("a certificate")];
    let key = PrivateKeyDer::from_pem_file(&key).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("a server");
    let listener = TcpListener::bind("localhost:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (config, heard) = (Arc::new(config), asked.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(config.clone()).expect("a connection");
            // Who does not believe the certificate hangs up.
            let _ = answer(&mut StreamOwned::new(connection, stream), &heard);
        }
    });
    (port, asked)
}

fn answer(stream: &mut (impl Read + Write), heard: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    heard.lock().expect("no panic").push(head.clone());
    let path = head.split(' ').nth(1).unwrap_or_default();
    let text = match path {
        "/.well-known/terraform.json" => {
            let body = r#"{"modules.v1": "/v1/modules/"}"#;
            format!("200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        }
        "/v1/modules/plat/db/aws/versions" => {
            "302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n".to_owned()
        }
        "/elsewhere" => {
            let body = r#"{"modules": [{"versions": [{"version": "5.0.0"}, {"version": "5.1.0"}, {"version": "6.0.0-rc1"}]}]}"#;
            format!("200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len())
        }
        _ => "404 Not Found\r\nContent-Length: 0\r\n\r\n".to_owned(),
    };
    stream.write_all(format!("HTTP/1.1 {text}").as_bytes())?;
    stream.flush()
}

#[test]
fn a_registry_is_asked_over_tls_with_its_token() {
    let room = tree("");
    let (port, asked) = registry(&room.path());
    let module = |name: &str, place: &str, version: &str| {
        format!("module \"{name}\" {{\n  source  = \"localhost:{port}/{place}\"\n  version = \"{version}\"\n}}\n")
    };
    let code = "terraform {\n  backend \"local\" {}\n}\n".to_owned() + &module("one", "plat/db/aws//x", "5.0.0");
    room.write("stacks/a/main.tf", &code);
    let certificate = room.path().join("registry.pem").display().to_string();
    let trusted = [("SSL_CERT_FILE", certificate.as_str()), ("TF_TOKEN_localhost", "canary-token")];
    let left = room.run_in("", &trusted, &["infra", "versions", "--output", "json"]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""), "{}", left.stdout);
    let told: serde_json::Value = serde_json::from_str(&left.stdout).expect("JSON");
    let one = &told["modules"][0];
    assert_eq!((&one["latest"], &one["behind"], &one["standing"]), (&json!("5.1.0"), &json!(1), &json!("behind")));
    let heard = std::mem::take(&mut *asked.lock().expect("no panic"));
    assert_eq!(heard.len(), 3);
    assert!(heard.iter().all(|head| head.contains("\r\nAuthorization: Bearer canary-token\r\n")), "{heard:?}");
    // One that it does not have, beside one that it has.
    room.write("stacks/a/main.tf", &(code + &module("none", "plat/none/aws", "1.0.0")));
    let left = room.run_in("", &trusted, &["infra", "versions"]);
    assert_eq!(left.status, 1);
    assert!(left.stdout.ends_with("versions: 1 module behind, 1 failed\n"), "{}", left.stdout);
    assert!(left.stderr.contains("/v1/modules/plat/none/aws/versions` answers with status 404"), "{}", left.stderr);
    // A certificate that nobody believes.
    asked.lock().expect("no panic").clear();
    let other = room.path().join("other.pem");
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=other", "-keyout", "/dev/null", "-out"])
        .arg(&other)
        .output();
    assert!(made.expect("openssl").status.success());
    let left = room.run_in("", &[("SSL_CERT_FILE", &other.display().to_string())], &["infra", "versions"]);
    assert_eq!(left.status, 1, "{}", left.stdout);
    assert!(left.stderr.contains("gives no answer: invalid peer certificate"), "{}", left.stderr);
    assert_eq!(asked.lock().expect("no panic").len(), 0, "nothing is told to a stranger");
}
