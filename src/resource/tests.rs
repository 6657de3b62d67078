//! Facts in, changes out, for what cannot be tried on the machine that runs the tests.

use super::*;

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJsaAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn built(kind: &str, name: &str, yaml: &str) -> Arc<dyn Resource> {
    build(kind, name, &Plain::from_yaml(yaml).expect("yaml"), None, None).expect("built")
}

/// Facts where every path is missing but the folders named.
fn facts(resources: &[Arc<dyn Resource>], folders: &[&str]) -> Facts {
    let mut facts = Facts::default();
    for request in resources.iter().flat_map(|resource| resource.requests()) {
        let there = request.args.first().is_some_and(|path| folders.contains(&path.as_str()));
        let fields = match there {
            true => [("type", "directory"), ("mode", "0755"), ("uid", "0"), ("gid", "0")].as_slice(),
            false => [("type", "missing")].as_slice(),
        };
        facts.insert(request, Answer::Known(Fields::of(fields.iter().copied())));
    }
    facts
}

fn planned(resources: &[Arc<dyn Resource>], facts: &Facts) -> Vec<Change> {
    let planned = compare_all(resources, facts, &mut Ahead::default(), false).expect("planned");
    planned.into_iter().map(|planned| planned.change).collect()
}

#[test]
fn a_sudo_rule_is_checked_by_sudo_before_it_is_put_there() {
    let rule = [built("sudoer", "deploy", "rule: 'deploy ALL=(ALL:ALL) NOPASSWD: ALL'")];
    let changes = planned(&rule, &facts(&rule, &["/etc/sudoers.d"]));
    let [change] = changes.as_slice() else { panic!("{changes:?}") };
    assert_eq!(change.title, "write /etc/sudoers.d/deploy");
    assert_eq!(change.judged_then.as_deref(), Some("validated by `visudo -c -q -f %s`"));
    assert!(change.guards_access);
    let want = "staged=$1\ntrap 'rm -f -- \"$staged\"' EXIT\ntrap 'exit 1' HUP INT TERM\n(\nset +eu\n\
                visudo -c -q -f \"$1\"\n) >&2 || fail '/etc/sudoers.d/deploy is left as it was: \
                `visudo -c -q -f %s` refused the new content'\nput_file \"$1\" /etc/sudoers.d/deploy root root 0440\n";
    assert_eq!(change.action.script, want);
    let [upload] = change.action.uploads.as_slice() else { panic!("one upload") };
    assert_eq!(upload.content, Content::Bytes(Arc::from(b"deploy ALL=(ALL:ALL) NOPASSWD: ALL\n".as_slice())));
}

#[test]
fn a_cron_job_is_a_file_with_its_percent_signs_escaped() {
    let job = [built(
        "cron",
        "backup",
        "{schedule: '30 3 * * *', command: 'dump >/b/$(date +%F).\\%x', user: app, environment: ['A=b']}",
    )];
    let changes = planned(&job, &facts(&job, &["/etc/cron.d"]));
    let text = changes.first().and_then(|change| change.diff.text.clone()).expect("a text");
    assert_eq!(text.after, "A=b\n30 3 * * * app dump >/b/$(date +\\%F).\\%x\n");
}

#[test]
fn keys_of_others_stay_and_a_key_is_known_by_its_body() {
    let asked = Request::new("authorized_keys", ["jane"]);
    let other = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCother somebody";
    for (ensure, there, title) in [
        ("present", format!("{other}\n{KEY} jane\n"), None),
        ("present", format!("{other}\n"), Some("set a key of jane")),
        ("present", format!("from=\"10.0.0.0/8\" {KEY} old\n"), Some("set a key of jane")),
        ("present", format!("{KEY} jane\n{KEY} jane\n"), Some("set a key of jane")),
        ("absent", format!("from=\"a b\" {KEY} x\n"), Some("remove a key of jane")),
        ("absent", format!("{other}\n# {KEY}\n"), None),
    ] {
        let key = [built("authorized_key", "jane", &format!("{{key: '{KEY} jane', ensure: {ensure}}}"))];
        let mut facts = Facts::default();
        let fields = [("account", "present"), ("home", "/home/jane"), ("content", there.as_str())];
        facts.insert(asked.clone(), Answer::Known(Fields::of(fields)));
        let changes = planned(&key, &facts);
        assert_eq!(changes.first().map(|change| change.title.as_str()), title, "{there}");
        key[0].settle(&mut facts);
        assert_eq!(planned(&key, &facts).len(), 0);
        let left = facts.known(&asked).expect("known").text("content").expect("content");
        assert_eq!(left.contains(other), there.contains(other));
        if ensure == "absent" {
            assert!(changes.iter().all(|change| change.guards_access));
        }
    }
}

#[test]
fn a_key_of_a_user_that_comes_earlier_can_be_planned_and_of_a_stranger_cannot() {
    let key = built("authorized_key", "jane", &format!("key: {KEY}"));
    let mut facts = Facts::default();
    facts.insert(Request::new("authorized_keys", ["jane"]), Answer::Known(Fields::of([("account", "missing")])));
    let mut ahead = Ahead::default();
    let problem = key.compare(&facts, &ahead, false).expect_err("a stranger");
    assert_eq!(problem.help.as_deref(), Some("declare user(\"jane\") before it"));
    ahead.brought.insert(Brought::User("jane".to_owned()));
    assert_eq!(key.compare(&facts, &ahead, false).expect("planned").len(), 1);
}

#[test]
fn a_fact_that_is_unknown_decides_nothing() {
    for (kind, name, attributes) in [
        ("file", "/d/f", "content: x"),
        ("directory", "/d/f", "{}"),
        ("link", "/d/f", "target: x"),
        ("line", "/d/f", "line: x"),
        ("block", "/d/f", "content: x"),
        ("command", "c", "{run: x, creates: /d/f}"),
        ("authorized_key", "jane", &format!("key: {KEY}")),
    ] {
        let resource = [built(kind, name, attributes)];
        let mut facts = Facts::default();
        for request in resource[0].requests() {
            facts.insert(request, Answer::Unknown("stat: no such option".to_owned()));
        }
        for force in [false, true] {
            let found = compare_all(&resource, &facts, &mut Ahead::default(), force).expect_err(kind);
            assert_eq!(found.len(), 1);
            assert!(found[0].what.ends_with("its state is unknown"), "{}", found[0].what);
            assert_eq!(found[0].notes[0].text, "the node said: stat: no such option");
        }
    }
}

#[test]
fn what_is_needed_comes_first_and_a_circle_is_spelt_out() {
    let first = built("file", "/a", "needs: [file /b, file /elsewhere]");
    let second = built("file", "/b", "{}");
    let resources = [first, second];
    let titles: Vec<String> =
        planned(&resources, &facts(&resources, &["/"])).into_iter().map(|change| change.title).collect();
    assert_eq!(titles, ["write /b", "write /a"]);
    let circle = [built("file", "/a", "needs: [file /b]"), built("file", "/b", "needs: [file /a]")];
    let found = compare_all(&circle, &facts(&circle, &["/"]), &mut Ahead::default(), false).expect_err("a circle");
    assert_eq!(found[0].what, "resources need each other: `file /a` needs `file /b` needs `file /a`");
}

#[test]
fn a_later_module_sees_what_an_earlier_one_leaves() {
    let [one, two] = ["one", "two"].map(|text| [built("line", "/etc/hosts", &format!("line: {text}"))]);
    let mut facts = facts(&one, &["/etc"]);
    let there = [("type", "file"), ("mode", "0644"), ("sha256", "00"), ("content", "zero\n")];
    facts.insert(path::request("/etc/hosts", path::Want::Content), Answer::Known(Fields::of(there)));
    let mut ahead = Ahead::default();
    compare_all(&one, &facts, &mut ahead, false).expect("planned");
    let second = compare_all(&two, &facts, &mut ahead, false).expect("planned");
    let text = second[0].change.diff.text.clone().expect("a text");
    assert_eq!(text, TextDiff { before: "zero\none\n".to_owned(), after: "zero\none\ntwo\n".to_owned(), shared: true });
    let expected = format!("unchanged /etc/hosts {}\n", crate::base::digest::sha256(b"zero\none\n"));
    assert!(second[0].change.action.script.contains(&expected));
}

#[test]
fn a_force_asserts_what_already_matches() {
    let resources = [
        built("file", "/d/f", "content: x"),
        built("file", "/d/f", "mode: '0644'"),
        built("directory", "/d", "{}"),
        built("link", "/d/l", "target: f"),
        built("line", "/d/f", "line: x"),
    ];
    let mut facts = facts(&resources, &["/", "/d"]);
    for resource in &resources {
        resource.settle(&mut facts);
    }
    assert_eq!(planned(&resources, &facts).len(), 0);
    let forced = compare_all(&resources, &facts, &mut Ahead::default(), true).expect("planned");
    let titles: Vec<&str> = forced.iter().map(|planned| planned.change.title.as_str()).collect();
    let want = ["write /d/f", "set owner, group, mode of /d/f", "set owner, group, mode of /d", "link /d/l to f"];
    assert_eq!(titles[..4], want);
    assert!(forced.iter().all(|planned| planned.change.diff == Diff::default()
        || planned.change.diff.text.as_ref().is_some_and(|text| text.before == text.after)
        || planned.change.title.starts_with("link")));
}

#[test]
fn a_content_that_is_no_text_or_not_to_be_shown_is_a_digest_in_the_diff() {
    let binary = Content::Bytes(Arc::from(b"s3cret\0".as_slice()));
    for (attributes, content) in [("{}", Some(binary)), ("{content: s3cret, diff: false}", None)] {
        let yaml = Plain::from_yaml(attributes).expect("yaml");
        let resources = [build("file", "/d/f", &yaml, content, None).expect("built")];
        let changes = planned(&resources, &facts(&resources, &["/d"]));
        assert_eq!(changes[0].diff.text, None);
        assert_eq!(changes[0].diff.attributes[0].name, "content");
        assert!(!format!("{:?}", changes[0]).contains("s3cret"));
    }
}

#[test]
fn a_line_of_a_file_that_a_package_brings_is_set_on_the_node() {
    let line = built("line", "/etc/x.conf", "{line: a 1, match: '^a '}");
    let mut ahead = Ahead::default();
    ahead.brought.insert(Brought::Package("x".to_owned()));
    let changes = line.compare(&facts(std::slice::from_ref(&line), &["/etc"]), &ahead, false).expect("planned");
    assert!(changes[0].action.script.contains("with_line \"$target\" 'a 1' '^a ' '' end >\"$1\""));
    assert!(changes[0].judged_then.is_some());
}

#[test]
fn a_command_that_waits_for_another_runs_only_then() {
    let command = built("command", "reload", "{run: x, triggered_by: [file /f], unless: 'test -e /done'}");
    let mut facts = Facts::default();
    facts.insert(command.requests().remove(0), Answer::Known(Fields::of([("status", "1")])));
    assert_eq!(planned(std::slice::from_ref(&command), &facts).len(), 0);
    assert_eq!(command.triggers(), [Trigger { on: Id::new("file", "/f"), fire: Fire::Run }]);
    let change = command.fire(Fire::Run, &facts, &[]).expect("a change");
    let guard = "if (\nset +eu\ntest -e /done\n) >/dev/null 2>&1; then exit 0; fi\n(\nset +u\nx\n)\n";
    assert_eq!(change.action.script, guard);
}

proptest::proptest! {
    #[test]
    fn an_edit_of_an_edited_file_changes_nothing(
        before in "([ab#\\r\\n]|# BEGIN suil\\n|# END suil\\n){0,12}",
        line in "[ab#]{0,3}",
        pattern in "\\^[ab#]|a|[ab]+\\$",
        ensure in "present|absent",
        at in "start|end",
    ) {
        let text = |text: &str| Plain::from(text).to_json_line();
        let (line, pattern) = (text(&line), text(&pattern));
        for resource in [
            built("line", "/f", &format!("{{line: {line}, ensure: {ensure}, at: {at}}}")),
            built("line", "/f", &format!("{{line: {line}, match: {pattern}, ensure: {ensure}, after: {pattern}}}")),
            built("block", "/f", &format!("{{content: {line}, ensure: {ensure}, at: {at}}}")),
        ] {
            let mut facts = Facts::default();
            let there = [("type", "file"), ("mode", "0644"), ("sha256", "00"), ("content", before.as_str())];
            facts.insert(path::request("/f", path::Want::Content), Answer::Known(Fields::of(there)));
            if resource.compare(&facts, &Ahead::default(), false).is_ok() {
                resource.settle(&mut facts);
                let again = resource.compare(&facts, &Ahead::default(), false);
                proptest::prop_assert!(again.as_ref().is_ok_and(Vec::is_empty), "{:?} {:?}", resource, again);
            }
        }
    }
}
