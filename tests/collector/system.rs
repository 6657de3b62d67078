//! The questions about packages, services, accounts and the machine, asked under every shell. The tools of other
//! distributions are stood in for by functions that say what was recorded.

use super::shells::shells;
use suil::resource::{Facts, Request, fact};

fn asked(kind: &'static str, names: &[&str]) -> Vec<Request> {
    names.iter().map(|name| Request::new(kind, [*name])).collect()
}

fn text(facts: &Facts, request: &Request, field: &str) -> String {
    facts.known(request).unwrap_or_else(|words| panic!("{request:?}: {words}")).text(field).unwrap_or_default()
}

/// The answers under every shell, with `functions` in the place of tools.
fn under_every_shell(functions: &str, requests: &[Request], check: impl Fn(&str, &Facts)) {
    for shell in shells() {
        let output = shell.run(&format!("set -u\n{functions}\n{}", fact::script(requests)), &[]);
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", shell.name);
        check(shell.name, &fact::parse(requests, &output.stdout));
    }
}

fn recorded(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/open/O02-package-queries/input");
    format!("{folder}/{name}")
}

#[test]
fn the_lines_of_dpkg_are_given_to_the_name_that_they_are_of() {
    let names = ["bash", "libc6", "libc6:i386", "git:amd64", "lib", "vim", "awk", "nosuch"];
    let stub = tools(&[
        (
            "dpkg-query",
            &format!(
                "case \"$*\" in *Provides*) printf 'installed\\tmawk\\t, awk,\\nconfig-files\\tgawk\\t, awk,\\n' ;; \
                 *) cat '{}'; echo 'dpkg-query: no packages found matching nosuch' >&2; exit 1 ;; esac",
                recorded("dpkg-query.txt")
            ),
        ),
        ("apt-cache", "exit 100"),
    ]);
    let functions = format!("facts_package_tool() {{ echo apt; }}\nPATH={}:$PATH\n", stub.path().display());
    let requests = asked("package", &names);
    under_every_shell(&functions, &requests, |shell, facts| {
        let versions = |n: usize| {
            let lines = text(facts, &requests[n], "lines");
            lines.lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(versions(0), ["bash"], "{shell}");
        assert_eq!(versions(1), ["libc6:amd64", "libc6:i386"], "{shell}");
        assert_eq!(versions(2), ["libc6:i386"], "{shell}");
        assert_eq!(versions(3), ["git"], "{shell}");
        assert_eq!(versions(4), Vec::<String>::new(), "{shell}: a beginning is no name");
        assert_eq!(versions(5), ["vim"], "{shell}");
        assert_eq!(text(facts, &requests[6], "provided_by"), "mawk ", "{shell}");
        assert_eq!(text(facts, &requests[7], "lines"), "", "{shell}");
    });
}

#[test]
fn a_failing_database_is_unknown_and_never_empty() {
    let requests = asked("package", &["bash", "vim"]);
    for (tool, stub) in [
        ("apt", ("dpkg-query", "echo 'dpkg-query: error: cannot open the status file' >&2; exit 2")),
        ("rpm", ("rpm", "echo 'error: cannot open Packages database in /var/lib/rpm'; exit 1")),
    ] {
        let stub = tools(&[stub]);
        let functions = format!("facts_package_tool() {{ echo {tool}; }}\nPATH={}:$PATH\n", stub.path().display());
        under_every_shell(&functions, &requests, |shell, facts| {
            for request in &requests {
                assert!(facts.known(request).expect_err(shell).contains("cannot open"), "{shell}");
            }
        });
    }
    under_every_shell("facts_package_tool() { :; }\n", &requests, |shell, facts| {
        assert!(facts.known(&requests[0]).expect_err(shell).starts_with("needs dpkg-query, rpm or apk"), "{shell}");
    });
}

#[test]
fn the_words_of_rpm_are_no_package_in_any_language() {
    let stub = tools(&[(
        "rpm",
        &format!(
            "case \"$*\" in *whatprovides*vi*) printf 'vim-minimal ' ;; *whatprovides*) echo 'kein Paket'; exit 1 ;; \
             *) sed 's/^\\(.*\t\\)/=\t\\1/' '{}'; exit 3 ;; esac",
            recorded("rpm-q.txt")
        ),
    )]);
    let functions = format!("facts_package_tool() {{ echo rpm; }}\nPATH={}:$PATH\n", stub.path().display());
    let requests = asked("package", &["kernel-core", "perl-libs.i686", "nginx", "/usr/bin/vi"]);
    under_every_shell(&functions, &requests, |shell, facts| {
        let lines = |n: usize| text(facts, &requests[n], "lines").lines().count();
        assert_eq!([lines(0), lines(1), lines(2), lines(3)], [2, 1, 0, 0], "{shell}");
        assert_eq!(text(facts, &requests[2], "provided_by"), "", "{shell}");
        assert_eq!(text(facts, &requests[3], "provided_by"), "vim-minimal ", "{shell}");
    });
}

#[test]
fn one_call_of_systemctl_answers_for_every_unit_and_an_old_one_is_asked_in_its_own_words() {
    let requests = asked("service", &["nginx.service", "nosuch.service"]);
    let blocks = "Type=forking\\nId=nginx.service\\nLoadState=loaded\\nActiveState=active\\nSubState=running\\n\
        UnitFileState=enabled\\nActiveEnterTimestamp=Mon 2026-11-30 05:15:14 UTC\\nStateChangeTimestamp=\\n\
        NeedDaemonReload=yes\\n\\nType=\\nId=nosuch.service\\nLoadState=not-found\\nActiveState=inactive\\n\
        SubState=dead\\nUnitFileState=\\nActiveEnterTimestamp=\\nNeedDaemonReload=no\\n";
    let old = format!("case \"$*\" in *--timestamp*) echo unknown option >&2; exit 1 ;; *) printf '{blocks}' ;; esac");
    let stub = tools(&[("systemctl", &old)]);
    under_every_shell(&format!("PATH={}:$PATH\n", stub.path().display()), &requests, |shell, facts| {
        let field = |n: usize, name: &str| text(facts, &requests[n], name);
        assert_eq!(field(0, "active"), "active", "{shell}");
        assert_eq!(field(0, "need_reload"), "yes", "{shell}");
        assert_eq!(field(0, "started_at"), "Mon 2026-11-30 05:15:14 UTC", "{shell}");
        assert_eq!(field(1, "load"), "not-found", "{shell}");
    });
    let stub = tools(&[("systemctl", "echo 'System has not been booted with systemd' >&2; exit 1")]);
    under_every_shell(&format!("PATH={}:$PATH\n", stub.path().display()), &requests, |shell, facts| {
        assert!(facts.known(&requests[1]).expect_err(shell).contains("not been booted"), "{shell}");
    });
}

#[test]
fn this_machine_is_read_alike_by_every_shell() {
    let mut requests = asked("user", &["root", "nobody-at-all"]);
    requests.extend(asked("group", &["root", "no-such-group"]));
    requests.push(Request::new("hostname", []));
    requests.push(Request::new("sysctl", ["kernel.ostype", "/proc/sys/kernel/ostype", "/nonexistent"]));
    requests.extend(asked("mtime", &["/etc/passwd", "/nonexistent"]));
    let all = std::cell::RefCell::new(Vec::new());
    under_every_shell("", &requests, |shell, facts| {
        let field = |n: usize, name: &str| text(facts, &requests[n], name);
        assert_eq!([field(0, "uid"), field(0, "home"), field(0, "source")], ["0", "/root", "files"], "{shell}");
        assert_eq!([field(1, "state"), field(3, "state")], ["absent", "absent"], "{shell}");
        assert_eq!([field(2, "gid"), field(2, "source")], ["0", "files"], "{shell}");
        assert_eq!(field(5, "value"), "Linux", "{shell}");
        assert_eq!(field(7, "state"), "absent", "{shell}");
        all.borrow_mut().push([0, 2, 4].map(|n| facts.known(&requests[n]).expect("known").clone()));
    });
    let all = all.into_inner();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
}

#[test]
fn the_accounts_of_a_node_without_tools_are_kept_in_whole_files() {
    let root = tempfile::tempdir().expect("a folder");
    let at = root.path().display();
    for shell in shells() {
        std::fs::write(root.path().join("group"), "root:x:0:\na:x:5:root,jane\nb:x:999:jane\n").expect("written");
        let script = format!(
            "set -eu\ncolon_set {at}/group a 3 7\ncolon_add {at}/group 'c:x:8:'\ncolon_drop {at}/group root\n\
             cat {at}/group\nfree_number {at}/group yes\nfree_number {at}/group no\n"
        );
        let output = shell.run(&script, &[]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "a:x:7:root,jane\nb:x:999:jane\nc:x:8:\n998\n1000\n", "{}", shell.name);
        assert_eq!(std::fs::read_dir(root.path()).expect("a folder").count(), 1, "{}", shell.name);
    }
}

#[test]
fn a_line_of_sysctl_is_one_whatever_way_it_was_written() {
    let root = tempfile::tempdir().expect("a folder");
    let file = root.path().join("90.conf");
    let at = file.display();
    for shell in shells() {
        std::fs::write(&file, "# kept\nnet/ipv4/x=1\n-net.ipv4.x = 2\nnet.ipv4.xx = 3\n").expect("written");
        let output = shell.run(&format!("set -eu\nsysctl_save {at} net.ipv4.x '1 2'\ncat {at}\n"), &[]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "# kept\nnet.ipv4.xx = 3\nnet.ipv4.x = 1 2\n", "{}", shell.name);
    }
}

/// A folder with commands of these names and texts.
fn tools(commands: &[(&str, &str)]) -> tempfile::TempDir {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in commands {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("mode");
    }
    folder
}

/// One stat answers for all files: each answer must be of its own file, whatever its name and whatever went away.
#[test]
fn the_times_of_many_files_are_each_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let names = ["a", "with blank", "$(touch x)", "two\nlines", "'quoted'", "z", "gone", "last"];
    for (n, name) in names.iter().enumerate().filter(|(_, name)| **name != "gone") {
        std::fs::write(at(name), "").expect("a file");
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(86_400 * (n as u64 + 1));
        std::fs::File::options().write(true).open(at(name)).expect("the file").set_modified(time).expect("a time");
    }
    std::os::unix::fs::symlink(at("a"), at("link")).expect("a link");
    let paths: Vec<String> = names.iter().copied().chain(["link", "a"]).map(at).collect();
    let requests: Vec<Request> = paths.iter().map(|path| Request::new("mtime", [path.as_str()])).collect();
    under_every_shell("", &requests, |shell, facts| {
        for (n, name) in names.iter().enumerate() {
            let found = text(facts, &requests[n], "at");
            match *name {
                "gone" => assert_eq!(text(facts, &requests[n], "state"), "absent", "{shell}"),
                _ => assert!(found.starts_with(&format!("1970-01-{:02} 00:00:00", n + 2)), "{shell}: {name}: {found}"),
            }
        }
        let link = text(facts, &requests[names.len()], "at");
        assert!(link.starts_with("1970-01-02 "), "{shell}: what a link leads to: {link}");
    });
}

/// Where the one stat fails, and so says nothing of some, each is asked for alone.
#[test]
fn a_stat_that_answers_for_some_is_not_taken_for_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    for name in ["a", "b", "c"] {
        std::fs::write(at(name), "").expect("a file");
    }
    // The batch loses `b`; for one file alone it answers.
    let stub = format!(
        "stat() {{ [ $# -ne 7 ] || {{ set -- \"$1\" \"$2\" \"$3\" \"$4\" \"$5\" \"$7\"; }}; for stub_path; do :; done; [ $# -ne 6 ] || {{ printf 'at %s %s\\n' \"{a}\" \"{a}\"; printf 'at %s %s\\n' \"$stub_path\" \"$stub_path\"; return 1; }}; printf 'alone %s\\n' \"$stub_path\"; }}\n",
        a = at("a")
    );
    let requests: Vec<Request> =
        ["a", "b", "c"].iter().map(|name| Request::new("mtime", [at(name).as_str()])).collect();
    under_every_shell(&stub, &requests, |shell, facts| {
        let found: Vec<String> = requests.iter().map(|request| text(facts, request, "at")).collect();
        assert_eq!(
            found,
            [format!("at {}", at("a")), format!("alone {}", at("b")), format!("at {}", at("c"))],
            "{shell}"
        );
    });
}

#[test]
fn many_sysctls_are_each_their_own_and_a_value_of_several_lines_is_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    for (name, value) in
        [("one", "1\n"), ("tabs", "4096\t87380\n"), ("lines", "a\nb\n"), ("empty", ""), ("odd", "x:y=z\n")]
    {
        std::fs::write(at(name), value).expect("a value");
    }
    let names = ["one", "tabs", "lines", "empty", "odd", "none", "one"];
    let request = |name: &&str| Request::new("sysctl", [*name, at(name).as_str(), "/nonexistent"]);
    let requests: Vec<Request> = names.iter().map(request).collect();
    under_every_shell("", &requests, |shell, facts| {
        let found: Vec<String> = requests.iter().map(|request| text(facts, request, "value")).collect();
        assert_eq!(found, ["1", "4096\t87380", "a\nb", "", "x:y=z", "", "1"], "{shell}");
        assert_eq!(text(facts, &requests[5], "state"), "absent", "{shell}");
    });
}

#[test]
fn a_shell_knows_who_it_acts_as_with_proc_and_without() {
    let asked = |script: &str| {
        for shell in shells() {
            let output = shell.run(&format!("set -eu\n{script}\n"), &[]);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let ids: Vec<&str> = said.split_whitespace().collect();
            assert_eq!(ids.len(), 4, "{}: {said} {}", shell.name, String::from_utf8_lossy(&output.stderr));
            assert_eq!((ids[0], ids[1]), (ids[2], ids[3]), "{}", shell.name);
        }
    };
    asked("own_ids; echo \"$own_uid $own_gid $(id -u) $(id -g)\"");
    // A kernel that says nothing of it: the tool is asked.
    asked("read() { return 1; }; id() { echo \"7${1#-}\"; }; own_ids; echo \"$own_uid $own_gid 7u 7g\"");
}

/// The digests that stand in the collector are those of what they stand for.
#[test]
fn a_locked_account_has_the_digest_of_its_mark() {
    let code = include_str!("../../collector/facts-system.sh");
    for mark in ["!", "*"] {
        let digest = suil::base::digest::sha256(mark.as_bytes());
        assert!(code.contains(&format!("'{mark}') facts_password={digest} ;;")), "{mark}: {digest}");
    }
}
