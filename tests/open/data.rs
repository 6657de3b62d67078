use crate::expect::{at, fits, map, merged, refused, room, text, untouched, wanted, words};
use crate::local;
use std::os::unix::fs::PermissionsExt;
use suil::base::Plain;

const NODE: &str = "n1.example.net";

#[test]
fn d01_both_files_are_named_and_nothing_is_written() {
    let case = "D01-duplicate-keys";
    let room = room(case, &["nginx"]);
    let want = wanted(case);
    for command in [
        &["config", "--merged", "--output", "json"][..],
        &["config"],
        &["validate"],
        &["apply", "--node", "*", "--confirm"],
        &["explain", "web-1.example.net", "nginx"],
    ] {
        let left = room.run(command);
        refused(&left, words(&want, "contains"));
        refused(&left, ["data/roles/web.yaml:6:1", "data/roles/web.yaml:2:1", ".yaml:6:7", ".yaml:5:7"]);
    }
    untouched(&room);
}

#[test]
fn d03_a_mode_is_octal_on_disk_and_a_second_run_does_nothing() {
    let case = "D03-file-modes";
    let (want, input) = (wanted(case), text(case, "input/data/nodes/n1.example.net.yaml"));
    for line in input.lines().filter(|line| line.contains("path:")) {
        let room = local::Room::new(&["files"]);
        let schema = "list = t.list(t.object(path = t.path(), mode = t.mode()))";
        let main =
            "def resources(config):\n    return [file(f.path, content = \"x\", mode = f.mode) for f in config.list]\n";
        room.module("files", schema, main);
        let name = line.split_once("/etc/").and_then(|(_, rest)| rest.split(',').next()).expect("a path");
        let path = room.node().join(name);
        let line = line.replace(&format!("/etc/{name}"), &path.display().to_string());
        room.data(&format!("files:\n  list:\n{line}\n"));
        let ran = room.apply(&["--confirm"]);
        let octal = |mode: u32| Plain::from(format!("{mode:05o}").replacen("00", "0", 1));
        let found = match ran.status {
            0 => octal(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o7777),
            _ => {
                assert!(ran.stderr.contains("octal") && ran.stderr.contains("data/nodes/"), "{}", ran.stderr);
                assert!(!path.exists(), "{name}");
                Plain::from("error")
            }
        };
        let key = format!("/etc/{name}");
        let fine = match want.at(&["items", &key]).expect("an expectation") {
            Plain::List(several) => several.contains(&found),
            one => *one == found,
        };
        assert!(fine, "{key}: {found:?}");
        assert_ne!(want.at(&["never", &key]), Some(&found), "{key}");
        if ran.status == 0 {
            room.apply(&["--confirm"]).expect(0);
            assert_eq!((room.performed(), room.outcome().as_str()), (vec![], "nothing to do"), "{key}");
        }
    }
}

#[test]
fn d04_anchors_and_merge_keys_are_resolved_in_their_file() {
    let case = "D04-anchors-and-merge-keys";
    let want = wanted(case);
    let sound = room(case, &["nginx"]);
    let found = merged(&sound, &[]);
    assert!(fits(want.get("value").expect("a value"), at(&found, NODE, "nginx")), "{}", found.to_json());
    for (file, expect) in map(&want, "bad") {
        let bad = room(case, &["nginx"]);
        // Beside the file that has the anchor: anchors never cross files.
        bad.write(&format!("data/modules/{file}"), "");
        bad.write("data/os/debian/12.yaml", "");
        bad.write(&format!("modules/nginx/data/{file}"), &text(case, &format!("input/bad/{file}")));
        refused(&bad.run(&["config"]), words(expect, "contains").chain(["unknown alias `base`", ":3:9"]));
    }
}

#[test]
fn d05_lists_over_three_layers() {
    let case = "D05-list-rules-and-leftover-tags";
    let found = merged(&room(case, &[]), &["--node", NODE]);
    let want = wanted(case);
    assert!(fits(want.get("value").expect("a value"), at(&found, NODE, "pk")), "{}", found.to_json());
}

/// What decides about `any` and `never` decides rightly.
#[test]
fn what_may_never_be_is_refused() {
    let want = Plain::from_json(r#"{"any": [[], "absent"], "never": ["ghost"]}"#).expect("JSON");
    let list = |text: &str| Plain::from_json(text).expect("JSON");
    assert!(fits(&want, None) && fits(&want, Some(&list("[]"))));
    assert!(!fits(&want, Some(&list(r#"["ghost"]"#))) && !fits(&want, Some(&list(r#"["other"]"#))));
}
