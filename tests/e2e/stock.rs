//! The stock modules, with the data of `data-example`, on a real node.

use crate::fleet::{Ran, address, dir, on};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const NODE: &str = "debian4";

/// `data-example` as it stands, but for where `web-01.example.com` is and what a container cannot have.
fn workspace() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data-example"), folder.path());
    let node = folder.path().join("data/nodes/web-01.example.com.yaml");
    let fleet = dir();
    let more = format!(
        "deployment:\n  ssh_host: {}\n  ssh_key: {}\n  ssh_options: [UserKnownHostsFile={}, IdentitiesOnly=yes]\n\
         ssh:\n  allow_users: [root]\ntime:\n  # The clock of a container is its host's.\n  client: none\n",
        address(NODE),
        fleet.join("key").display(),
        fleet.join("known_hosts").display(),
    );
    fs::write(&node, fs::read_to_string(&node).expect("the node") + &more).expect("the node");
    folder
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name();
        if [".runs", ".suil"].iter().any(|own| name == **own) {
            continue;
        }
        match entry.file_type().expect("its type").is_dir() {
            true => copy(&entry.path(), &to.join(name)),
            false => drop(fs::copy(entry.path(), to.join(name)).expect("a copy")),
        }
    }
}

fn apply(workspace: &Path) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_suil"));
    command.args(["apply", "--node", "web-01.example.com", "--confirm"]).current_dir(workspace).stdin(Stdio::null());
    Ran::of(command.output().expect("suil runs"))
}

#[test]
#[ignore = "needs the fleet"]
fn the_example_makes_a_web_server_and_a_second_run_finds_nothing_to_do() {
    let workspace = workspace();
    apply(workspace.path()).expect(0);
    let serves = "mkdir -p /srv/www; echo here >/srv/www/index.html; curl -s -H 'Host: example.com' localhost";
    assert_eq!(on(NODE, serves), "here\n");
    assert_eq!(on(NODE, "id -nG alice; getent shadow alice | cut -d: -f2 | cut -c1-3"), "alice adm\n$6$\n");
    let sshd = on(NODE, "sshd -T | grep -E '^(passwordauthentication|allowusers) ' | sort");
    assert_eq!(sshd, "allowusers alice\nallowusers deploy\nallowusers root\npasswordauthentication no\n");
    assert!(on(NODE, "cat /etc/hosts").contains("192.0.2.21 db-01.example.com\n"));
    let again = apply(workspace.path()).expect(0);
    assert!(again.stdout.contains("Nothing to apply."), "{}", again.stdout);
}
