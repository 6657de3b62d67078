//! What a node owes: written, read and paid under every shell.

use crate::shells::{Shell, shells};
use std::fs;
use std::path::Path;
use suil::resource::owed::{self, Change, Debts};
use suil::resource::{Facts, fact};

/// As a user that is not root, whose home is `home`.
fn run(shell: &Shell, home: &Path, text: &str) -> Facts {
    let request = owed::request();
    let ask = fact::script(std::slice::from_ref(&request));
    let text = format!("set -eu\nsuil_own=1000 HOME={}\n{text}{ask}", home.display());
    let output = shell.run(&text, &[]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", shell.name);
    fact::parse(&[request], &output.stdout)
}

fn debts(facts: &Facts) -> Debts {
    owed::read(facts).expect("known").expect("a place")
}

fn change(owe: &[(&str, &str, &str)], pay: &[(&str, &str)]) -> String {
    let mut change = Change::default();
    owe.iter().for_each(|(module, id, why)| change.owe(module, id, why));
    pay.iter().for_each(|(module, id)| change.pay(module, id));
    change.script()
}

#[test]
fn what_is_owed_is_there_until_it_is_paid_and_then_nothing_is_left() {
    for shell in shells() {
        let home = tempfile::tempdir().expect("a folder");
        let home = home.path();
        assert_eq!(debts(&run(&shell, home, "")), Debts::new());
        let odd = "command it's *\\t [a]\t$x\nend";
        run(
            &shell,
            home,
            &change(&[("web", "service nginx", "a"), ("web", odd, "b"), ("db", "service nginx", "c")], &[]),
        );
        let file = home.join(".local/state/suil/owed");
        assert_eq!(fs::metadata(&file).map(|found| found.len() > 0).ok(), Some(true), "{}", shell.name);
        // One is paid, one is asked for again, one has a name that another begins with.
        let text = change(&[("web", odd, "again"), ("web", "service nginx2", "d")], &[("web", "service nginx")]);
        let found = debts(&run(&shell, home, &text));
        assert_eq!(found["web"].keys().collect::<Vec<_>>(), [odd, "service nginx2"], "{}", shell.name);
        assert_eq!((found["web"][odd].as_str(), found["db"]["service nginx"].as_str()), ("again", "c"));

        let rest = [("web", odd), ("web", "service nginx2"), ("db", "service nginx"), ("db", "never owed")];
        assert_eq!(debts(&run(&shell, home, &change(&[], &rest))), Debts::new(), "{}", shell.name);
        assert!(!home.join(".local/state/suil").exists(), "{}", shell.name);
    }
}

#[test]
fn a_user_without_a_home_keeps_nothing_and_says_so() {
    for shell in shells() {
        let facts = run(&shell, Path::new("/nowhere"), &change(&[("web", "service nginx", "a")], &[]));
        assert_eq!(owed::read(&facts), Ok(None), "{}", shell.name);
    }
}

#[test]
fn what_cannot_be_written_down_ends_the_operation() {
    for shell in shells() {
        let home = tempfile::tempdir().expect("a folder");
        // A file stands where the folder should be.
        fs::write(home.path().join(".local"), "").expect("a file");
        let text = format!(
            "set -eu\nsuil_own=1000 HOME={}\n{}echo on",
            home.path().display(),
            change(&[("web", "x", "a")], &[])
        );
        let output = shell.run(&text, &[]);
        assert!(!output.status.success() && output.stdout.is_empty() && !output.stderr.is_empty(), "{}", shell.name);
    }
}
