//! Functions of `collector/lib.sh` that a whole plan does not reach, under every shell.

use crate::shells::{Shell, shells};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use suil::base::{Plain, shell};
use suil::resource::{Answer, Facts, Fields, build, path};

/// What the Rust side makes of a file, seen through the diff of a plan.
fn rewritten(kind: &str, yaml: &str, before: &str) -> String {
    let resource = build(kind, "/f", &Plain::from_yaml(yaml).expect("yaml"), None, None).expect(yaml);
    let mut facts = Facts::default();
    let there = [("type", "file"), ("mode", "0644"), ("sha256", "00"), ("content", before)];
    let asked = path::request("/f", path::Want::Content);
    facts.insert(asked.clone(), Answer::Known(Fields::of(there)));
    resource.settle(&mut facts);
    facts.known(&asked).expect("known").text("content").expect("content")
}

fn printed(shell: &Shell, call: &str) -> String {
    let output = shell.run(&format!("set -eu\n{call}\n"), &[]);
    assert!(output.status.success(), "{} {call}: {}", shell.name, String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// A file that only comes during the run is edited on the node, and must end as it would have here.
#[test]
fn an_edit_on_the_node_is_the_edit_of_the_plan() {
    let root = tempfile::tempdir().expect("a folder");
    let file = root.path().join("f");
    let path = shell::quote(file.to_str().expect("text"));
    for shell in shells() {
        for before in
            ["", "a 1\n", "#a 0\nb\na 2\n", "b\nb\nc", "a 1\na 1\n", "# BEGIN m\nx\n# END m\nrest\n", "it's $x \\n\n"]
        {
            for (matching, after, at) in
                [("", "", "end"), ("", "", "start"), ("^#?a ", "", "end"), ("", "^b", "end"), ("^z", "^z", "start")]
            {
                std::fs::write(&file, before).expect("written");
                let call = format!("with_line {path} 'a 1' '{matching}' '{after}' {at}");
                let mut yaml = format!("{{line: a 1, at: {at}");
                for (key, value) in [("match", matching), ("after", after)] {
                    if !value.is_empty() {
                        yaml.push_str(&format!(", {key}: '{value}'"));
                    }
                }
                yaml.push('}');
                let mut wanted = rewritten("line", &yaml, before);
                let mut given = printed(&shell, &call);
                // A file without a newline at its end is as good as one with it.
                for text in [&mut wanted, &mut given] {
                    if !text.ends_with('\n') {
                        text.push('\n');
                    }
                }
                assert_eq!(given, wanted, "{} {before:?} {call}", shell.name);
            }
            for at in ["end", "start"] {
                std::fs::write(&file, before).expect("written");
                let call = format!("with_block {path} '# BEGIN m' '# END m' 'one\ntwo\n' present {at}");
                let wanted = rewritten("block", &format!("{{marker: m, content: \"one\\ntwo\\n\", at: {at}}}"), before);
                let given = printed(&shell, &call);
                assert_eq!(given.trim_end(), wanted.trim_end(), "{} {before:?} {at}", shell.name);
            }
        }
    }
}

#[test]
fn a_key_is_set_once_and_keys_of_others_stay() {
    let body = "AAAAC3NzaC1lZDI1NTE5AAAAIJsa";
    for shell in shells() {
        let root = tempfile::tempdir().expect("a folder");
        let home = shell::quote(root.path().to_str().expect("text"));
        let account = format!(
            "passwd_of() {{ [ \"$1\" = jane ] || return 2; echo \"jane:x:$(id -u):$(id -g)::\"{home}:/bin/sh; }}\n"
        );
        let run = |call: &str| {
            let output = shell.run(&format!("{account}(\nset -eu\n{call}\n)\n"), &[]);
            (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let keys = root.path().join(".ssh/authorized_keys");
        let text = || std::fs::read_to_string(&keys).expect("keys");
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o7777;
        assert_eq!(run(&format!("authorize jane {body} 'ssh-ed25519 {body} one'")), (true, String::new()));
        assert_eq!(text(), format!("ssh-ed25519 {body} one\n"));
        assert_eq!((mode(&root.path().join(".ssh")), mode(&keys)), (0o700, 0o600), "{}", shell.name);
        std::fs::write(&keys, format!("ssh-rsa OTHER x\nfrom=\"a\" ssh-ed25519 {body} old\nlast")).expect("written");
        assert_eq!(run(&format!("authorize jane {body} 'ssh-ed25519 {body} two'")), (true, String::new()));
        assert_eq!(text(), format!("ssh-rsa OTHER x\nlast\nssh-ed25519 {body} two\n"), "{}", shell.name);
        assert_eq!(run(&format!("authorize jane {body} ''")), (true, String::new()));
        assert_eq!(text(), "ssh-rsa OTHER x\nlast\n");
        assert_eq!(run("authorize jack x y"), (false, "jack is no user of this node\n".to_owned()));
        std::fs::remove_file(&keys).expect("removed");
        std::os::unix::fs::symlink("/etc/elsewhere", &keys).expect("linked");
        let (done, said) = run(&format!("authorize jane {body} 'ssh-ed25519 {body} two'"));
        assert!(!done && said.contains("is led elsewhere by a symlink"), "{} {said}", shell.name);
        let left: Vec<_> = std::fs::read_dir(root.path().join(".ssh")).expect("a folder").collect();
        assert_eq!(left.len(), 1, "{}", shell.name);
    }
}

#[test]
fn a_file_that_changed_after_the_plan_is_left_alone() {
    let root = tempfile::tempdir().expect("a folder");
    let file = root.path().join("f");
    std::fs::write(&file, "now\n").expect("written");
    let path = shell::quote(file.to_str().expect("text"));
    for shell in shells() {
        for (seen, words) in [("missing", "came into being after"), ("00", "changed after the plan was made")] {
            let output = shell.run(&format!("set -eu\nunchanged {path} {seen}\n"), &[]);
            assert!(!output.status.success());
            assert!(String::from_utf8_lossy(&output.stderr).contains(words), "{}", shell.name);
        }
    }
}

/// The new file is another inode that takes the name at once, so whoever reads sees old or new.
#[test]
fn a_file_is_replaced_in_one_step_and_keeps_its_attributes() {
    let root = tempfile::tempdir().expect("a folder");
    let (file, staged) = (root.path().join("f"), root.path().join("staged"));
    for shell in shells() {
        std::fs::write(&file, "old\n").expect("written");
        std::fs::write(&staged, "new\n").expect("written");
        let labelled = std::process::Command::new("setfattr")
            .args(["-n", "user.note", "-v", "kept"])
            .arg(&file)
            .status()
            .is_ok_and(|status| status.success());
        let before = std::fs::metadata(&file).expect("there").ino();
        let held = std::fs::File::open(&file).expect("open");
        let words = [&staged, &file].map(|path| shell::quote(path.to_str().expect("text")));
        printed(&shell, &format!("put_file {} {} - - -", words[0], words[1]));
        assert_eq!(std::fs::read_to_string(&file).expect("read"), "new\n");
        assert_ne!(std::fs::metadata(&file).expect("there").ino(), before);
        assert_eq!(std::io::read_to_string(held).expect("read"), "old\n");
        assert!(!staged.exists());
        if labelled && shell.name != "busybox" {
            let shown = std::process::Command::new("getfattr").args(["-d"]).arg(&file).output().expect("getfattr");
            assert!(String::from_utf8_lossy(&shown.stdout).contains("user.note=\"kept\""), "{}", shell.name);
        }
    }
}

/// An operation that is killed while it validates leaves the old file, and (unless it is killed outright) nothing else.
#[test]
fn an_operation_that_dies_leaves_the_old_file() {
    for shell in shells() {
        for (signal, stays) in [("TERM", false), ("KILL", true)] {
            let root = tempfile::tempdir().expect("a folder");
            let (file, staged) = (root.path().join("f"), root.path().join("staged"));
            std::fs::write(&file, "old\n").expect("written");
            std::fs::write(&staged, "new\n").expect("written");
            let yaml = format!("{{content: \"new\\n\", validate: 'kill -{signal} $$; : %s'}}");
            let name = file.to_str().expect("text");
            let resource = build("file", name, &Plain::from_yaml(&yaml).expect("yaml"), None, None).expect("built");
            let mut facts = Facts::default();
            for request in resource.requests() {
                let is_file = request.args.first().is_some_and(|path| path == name);
                let kind = if is_file { "file" } else { "directory" };
                facts.insert(
                    request,
                    Answer::Known(Fields::of([("type", kind), ("mode", "0644"), ("uid", "0"), ("gid", "0")])),
                );
            }
            let changes = resource.compare(&facts, &Default::default(), false).expect("planned");
            let script = format!("set -eu\n{}", changes[0].action.script);
            let output = shell.run(&script, &[staged.to_str().expect("text")]);
            assert!(!output.status.success());
            assert_eq!(std::fs::read_to_string(&file).expect("read"), "old\n", "{} {signal}", shell.name);
            assert_eq!(staged.exists(), stays, "{} {signal}", shell.name);
        }
    }
}

/// No ping is read in the middle of an upload: without a sign of life a slow one of many minutes would be ended.
#[test]
fn a_long_upload_is_taken_to_the_byte_and_keeps_the_session_alive() {
    let session = concat!(env!("CARGO_MANIFEST_DIR"), "/collector/session.sh");
    let session = std::fs::read_to_string(session).expect("the session");
    let take = session.split("suil_take() {").nth(1).and_then(|rest| rest.split("\n}\n").next()).expect("the function");
    for shell in shells() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("alive"), "").expect("a file");
        let text = format!(
            "suil_take() {{{take}\n}}\nset -C\nsuil_watch=1 suil_folder=$1\nrm \"$1/alive\"\n\
             head -c 3000005 /dev/zero | {{ suil_take 3000000 >\"$1/out\"; wc -c; }}\nwc -c <\"$1/out\"\n[ -e \"$1/alive\" ] && echo alive\n"
        );
        let output = shell.run(&text, &[&folder.path().display().to_string()]);
        let words = String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words, "5 3000000 alive", "{}: {}", shell.name, String::from_utf8_lossy(&output.stderr));
    }
}
