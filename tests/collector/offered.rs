//! Which version the repositories of a node offer, by recorded answers.

use crate::shells::shells;
use std::os::unix::fs::PermissionsExt;
use suil::resource::{Request, fact};

/// Case O02 of the shared corpus.
#[test]
fn a_hundred_of_dnf_means_updates_and_one_means_a_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let dnf = folder.path().join("dnf");
    let requests = [Request::new("candidate", ["bash"])];
    for (answer, want) in [
        (
            "printf 'bash.x86_64  5.2-1.el9  baseos\\nObsoleting Packages\\nsh.x86_64 9 baseos\\n    bash.x86_64 1 @x\\n'; exit 100",
            Ok("5.2-1.el9"),
        ),
        ("exit 0", Ok("")),
        ("echo 'Error: Failed to download metadata' >&2; exit 1", Err("Failed to download metadata")),
    ] {
        std::fs::write(&dnf, format!("#!/bin/sh\n{answer}\n")).expect("written");
        std::fs::set_permissions(&dnf, PermissionsExt::from_mode(0o755)).expect("mode");
        for shell in shells() {
            let tools = format!("facts_package_tool() {{ echo rpm; }}\nPATH={}:$PATH\n", folder.path().display());
            let output = shell.run(&format!("set -u\n{tools}{}", fact::script(&requests)), &[]);
            let facts = fact::parse(&requests, &output.stdout);
            match (facts.known(&requests[0]), want) {
                (Ok(fields), Ok(version)) => {
                    assert_eq!(fields.text("version").as_deref(), Some(version), "{}", shell.name)
                }
                (Err(said), Err(words)) => assert!(said.contains(words), "{}: {said}", shell.name),
                (found, want) => panic!("{}: want {want:?}, found {found:?}", shell.name),
            }
        }
    }
}
