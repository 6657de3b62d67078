//! The collector's questions about paths, asked for real under every shell.

use crate::shells::shells;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use suil::base::digest::sha256;
use suil::resource::path::{Found, Type, Want, request};
use suil::resource::{Request, fact};

fn root() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn at(root: &Path, name: &str) -> String {
    root.join(name).to_str().expect("text").to_owned()
}

#[test]
fn names_of_every_form_are_told_apart() {
    let root = root();
    let names =
        ["plain", "a b", "it's", "do\"uble", "new\nline", "end\n", "back\\slash", "$HOME", "*", "-x", "ž", "#:="];
    for name in names {
        std::fs::write(root.path().join(name), name).expect("written");
    }
    for shell in shells() {
        let wanted = sha256(b"something else");
        let requests: Vec<Request> =
            names.iter().map(|name| request(&at(root.path(), name), Want::Differing(&wanted))).collect();
        let facts = shell.ask(&requests);
        for (name, request) in names.iter().zip(&requests) {
            let found = Found::read(&facts, request).expect(name);
            assert_eq!(found.kind, Type::File, "{} {name}", shell.name);
            assert_eq!(found.sha256, Some(sha256(name.as_bytes())), "{} {name}", shell.name);
            assert_eq!(found.content.as_deref(), Some(name.as_bytes()), "{} {name}", shell.name);
            assert_eq!(found.size, name.len() as u64, "{} {name}", shell.name);
        }
    }
}

#[test]
fn content_comes_only_where_it_is_wanted_and_differs() {
    let root = root();
    let bytes: Vec<u8> = (0..=255).cycle().take(3000).collect();
    std::fs::write(root.path().join("f"), &bytes).expect("written");
    std::fs::write(root.path().join("empty"), "").expect("written");
    std::fs::write(root.path().join("large"), vec![b'x'; 65537]).expect("written");
    let (same, other) = (sha256(&bytes), sha256(b"other"));
    let (f, empty, large) = (at(root.path(), "f"), at(root.path(), "empty"), at(root.path(), "large"));
    for shell in shells() {
        for (path, want, digest, content) in [
            (&f, Want::Nothing, false, None),
            (&f, Want::Differing(&same), true, None),
            (&f, Want::Digest(&other), true, None),
            (&f, Want::Differing(&other), true, Some(bytes.len())),
            (&f, Want::Content, true, Some(bytes.len())),
            (&empty, Want::Differing(&other), true, Some(0)),
            (&large, Want::Differing(&other), true, None),
            (&large, Want::Content, true, Some(65537)),
        ] {
            let asked = request(path, want);
            let found = Found::read(&shell.ask(std::slice::from_ref(&asked)), &asked).expect("known");
            assert_eq!(found.sha256.is_some(), digest, "{} {path} {want:?}", shell.name);
            assert_eq!(found.content.map(|content| content.len()), content, "{} {path} {want:?}", shell.name);
        }
    }
}

#[test]
fn types_modes_and_targets_are_seen() {
    let root = root();
    let in_root = |name: &str| root.path().join(name);
    std::fs::write(in_root("f"), "x").expect("written");
    std::fs::set_permissions(in_root("f"), PermissionsExt::from_mode(0o4750)).expect("mode");
    std::fs::create_dir(in_root("d")).expect("made");
    std::fs::set_permissions(in_root("d"), PermissionsExt::from_mode(0o1777)).expect("mode");
    symlink("f", in_root("to f")).expect("linked");
    symlink("d", in_root("to d")).expect("linked");
    symlink("nothing\n\n", in_root("to nothing")).expect("linked");
    symlink("to f", in_root("to to f")).expect("linked");
    let _socket = std::os::unix::net::UnixListener::bind(in_root("s")).expect("bound");
    let names = ["f", "d", "to f", "to d", "to nothing", "to to f", "s", "missing", "f/below", "missing/below"];
    for shell in shells() {
        let requests: Vec<Request> =
            names.iter().map(|name| request(&at(root.path(), name), Want::Differing(&sha256(b"")))).collect();
        let facts = shell.ask(&requests);
        let found: Vec<Found> = requests.iter().map(|asked| Found::read(&facts, asked).expect("known")).collect();
        let types: Vec<String> = found.iter().map(|found| found.kind.noun()).collect();
        let want = "a file|a directory|a symlink|a symlink|a symlink|a symlink|a socket|nothing|nothing|nothing";
        assert_eq!(types.join("|"), want, "{}", shell.name);
        let modes: Vec<Option<u32>> = found.iter().take(2).map(|found| found.access.mode).collect();
        assert_eq!(modes, [Some(0o4750), Some(0o1777)], "{}", shell.name);
        let targets: Vec<Option<&str>> = found.iter().skip(2).take(4).map(|found| found.target.as_deref()).collect();
        assert_eq!(targets, [Some("f"), Some("d"), Some("nothing\n\n"), Some("to f")], "{}", shell.name);
        let led: Vec<&Type> = found.iter().skip(2).take(4).map(|found| found.followed().0).collect();
        assert_eq!(led, [&Type::File, &Type::Directory, &Type::Missing, &Type::File], "{}", shell.name);
        assert_eq!(found[5].real.as_deref(), Some(at(&root.path().canonicalize().expect("real"), "f").as_str()));
        assert_eq!(found[5].sha256, Some(sha256(b"x")), "{}", shell.name);
    }
}

/// A tool that refuses an option says nothing about the file.
#[test]
fn a_refused_option_is_unknown_and_never_a_missing_file() {
    let root = root();
    std::fs::write(root.path().join("f"), "x").expect("written");
    let asked = [request(&at(root.path(), "f"), Want::Content)];
    for shell in shells() {
        for (fault, words) in [
            ("stat() { echo \"stat: unrecognized option '-c'\" >&2; return 1; }", "unrecognized option"),
            ("stat() { echo 'drwxr-xr-x 3 root root 4096 Nov 30 02:44 .'; }", "drwxr-xr-x"),
            ("stat() { :; }", "stat said nothing"),
            ("sha256sum() { echo 'sha256sum: read error' >&2; return 1; }", "read error"),
            ("sha256sum() { echo 'not a digest'; }", "not"),
            ("need() { [ \"$1\" != sha256sum ]; }; sha256sum() { return 127; }", "needs sha256sum"),
        ] {
            let output = shell.run(&format!("{fault}\n{}", fact::script(&asked)), &[]);
            let facts = fact::parse(&asked, &output.stdout);
            let said = Found::read(&facts, &asked[0]).expect_err(fault);
            assert!(said.contains(words), "{} {fault}: {said}", shell.name);
        }
    }
}

/// Without `base64` the content comes as hexadecimal.
#[test]
fn a_node_without_base64_still_tells_contents() {
    let root = root();
    let bytes: Vec<u8> = (0..=255).collect();
    std::fs::write(root.path().join("f"), &bytes).expect("written");
    let asked = [request(&at(root.path(), "f"), Want::Content)];
    for shell in shells() {
        let output = shell.run(&format!("need() {{ [ \"$1\" != base64 ]; }}\n{}", fact::script(&asked)), &[]);
        let found = Found::read(&fact::parse(&asked, &output.stdout), &asked[0]).expect("known");
        assert_eq!(found.content.as_deref(), Some(bytes.as_slice()), "{}", shell.name);
    }
}

#[test]
fn a_guard_tells_its_status_and_its_words() {
    let requests =
        ["true", "exit 3", "echo why >&2; false", "no-such-command-here", "printf 'a\\n%s' \"$PPID\" | wc -l; exit 0"]
            .map(|test| Request::new("test", [test]));
    for shell in shells() {
        let facts = shell.ask(&requests);
        let statuses: Vec<Option<String>> =
            requests.iter().map(|request| facts.known(request).expect("known").text("status")).collect();
        assert_eq!(statuses, ["0", "3", "1", "127", "0"].map(|text| Some(text.to_owned())), "{}", shell.name);
        assert_eq!(facts.known(&requests[2]).expect("known").text("said").as_deref(), Some("why"), "{}", shell.name);
    }
}

#[test]
fn keys_of_a_user_are_read_and_a_stranger_is_missing() {
    let root = root();
    std::fs::create_dir(root.path().join(".ssh")).expect("made");
    std::fs::write(root.path().join(".ssh/authorized_keys"), "ssh-ed25519 AAAA x\n").expect("written");
    let requests = [Request::new("authorized_keys", ["jane"]), Request::new("authorized_keys", ["nobody-here"])];
    let accounts = format!(
        "passwd_of() {{ [ \"$1\" = jane ] || return 2; echo 'jane:x:7:8:Jane Doe,,,:{}:/bin/sh'; }}\n",
        root.path().display()
    );
    for shell in shells() {
        let output = shell.run(&format!("set -u\n{accounts}{}", fact::script(&requests)), &[]);
        let facts = fact::parse(&requests, &output.stdout);
        let jane = facts.known(&requests[0]).expect("known");
        assert_eq!(jane.text("account").as_deref(), Some("present"), "{}", shell.name);
        assert_eq!(jane.text("content").as_deref(), Some("ssh-ed25519 AAAA x\n"), "{}", shell.name);
        let stranger = facts.known(&requests[1]).expect("known");
        assert_eq!(stranger.text("account").as_deref(), Some("missing"), "{}", shell.name);
        let output = shell.run(&format!("passwd_of() {{ return 3; }}\n{}", fact::script(&requests)), &[]);
        let said = fact::parse(&requests, &output.stdout);
        assert!(said.known(&requests[0]).expect_err("unknown").contains("gave no answer"), "{}", shell.name);
    }
}

/// One question serves all users; each gets the line of that very name, and who is not in the answer is asked for alone.
#[test]
fn the_homes_of_several_users_are_each_their_own() {
    let root = root();
    let names = ["jan", "jane", "alone", "nobody"];
    for name in names {
        std::fs::create_dir_all(root.path().join(name).join(".ssh")).expect("made");
        std::fs::write(root.path().join(name).join(".ssh/authorized_keys"), format!("key of {name}\n"))
            .expect("written");
    }
    let requests = names.map(|name| Request::new("authorized_keys", [name]));
    let at = root.path().display();
    let accounts = format!(
        "getent() {{ case $* in *jan*jane*) echo \"jane:x:7:8:,,,:{at}/jane:/bin/sh\"; echo \"jan:x:9:9::{at}/jan:/bin/sh\"; \
         return 2 ;; 'passwd alone') echo \"alone:x:5:5::{at}/alone:/bin/sh\" ;; *) return 2 ;; esac; }}\n"
    );
    for shell in shells() {
        let output = shell.run(&format!("set -u\n{accounts}{}", fact::script(&requests)), &[]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", shell.name);
        let facts = fact::parse(&requests, &output.stdout);
        let content = |n: usize| facts.known(&requests[n]).expect("known").text("content");
        assert_eq!(content(0).as_deref(), Some("key of jan\n"), "{}", shell.name);
        assert_eq!(content(1).as_deref(), Some("key of jane\n"), "{}", shell.name);
        assert_eq!(content(2).as_deref(), Some("key of alone\n"), "{}", shell.name);
        let stranger = facts.known(&requests[3]).expect("known").text("account");
        assert_eq!(stranger.as_deref(), Some("missing"), "{}", shell.name);
    }
}

/// The price of a run that changes nothing: no process for each file.
#[test]
fn three_hundred_files_need_a_handful_of_processes() {
    let root = root();
    let mut requests = Vec::new();
    for n in 0..300 {
        let path = at(root.path(), &format!("file-{n}"));
        std::fs::write(&path, n.to_string()).expect("written");
        requests.push(request(&path, Want::Differing(&sha256(n.to_string().as_bytes()))));
    }
    for shell in shells() {
        let counting = "stat() { echo x >&2; command stat \"$@\"; }\nsha256sum() { echo x >&2; command sha256sum \"$@\"; }\n\
                        readlink() { echo x >&2; }\nbase64() { echo x >&2; }\n";
        let counting = counting.replace("2>/dev/null", "");
        let script = fact::script(&requests);
        let silenced = shell.run(&format!("{counting}{script}"), &[]);
        // The batch sends the words of its tools away, so a call for a single file would be seen here.
        assert_eq!(String::from_utf8_lossy(&silenced.stderr), "", "{}", shell.name);
        let facts = fact::parse(&requests, &silenced.stdout);
        assert!(requests.iter().all(|asked| Found::read(&facts, asked).is_ok_and(|found| found.content.is_none())));
    }
}
