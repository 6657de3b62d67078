//! `suil infra diff`: what it tells, what it leaves untouched, and how it ends.

use crate::room::Room;
use crate::tree::{LAYER, commit, git, key, stand_in, tree};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

fn diff(room: &Room, args: &[&str]) -> (i32, Value) {
    let left = room.run(&[&["infra", "diff", "--output", "json"], args].concat());
    (left.status, serde_json::from_str(&left.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", left.stdout, left.stderr)))
}

/// The layers that differ and how, with the files that do.
fn changes(told: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let layers = told["layers"].as_array().expect("layers").iter().filter(|layer| layer["change"] != "same");
    layers
        .map(|layer| {
            let files: Vec<String> =
                layer["files"].as_array().expect("files").iter().map(|file| text(&file["file"])).collect();
            format!("{} {}: {}", text(&layer["change"]), text(&layer["layer"]), files.join(" "))
        })
        .collect()
}

#[test]
fn nothing_differs_ends_0_and_something_1_with_the_lines() {
    let room = tree();
    room.run(&["infra", "diff", "--all"]).is(0, "diff: 2 layers as in HEAD\n", "");
    room.write(&format!("{LAYER}/l.tfvars"), "size = 3\n");
    let want = "\
--- a/stacks/kiln/layers/harbor/stacks.out/zzz.auto.tfvars.json
+++ b/stacks/kiln/layers/harbor/stacks.out/zzz.auto.tfvars.json
@@ -1,6 +1,6 @@
 {
   \"town\": \"harbor\",
-  \"size\": 1,
+  \"size\": 3,
   \"stacks_path\": \"stacks/kiln/layer/harbor\",
   \"stacks_root\": \"../../../../..\",
   \"stacks_stack\": \"kiln\",

stacks/kiln/layers/harbor: changed, 1 file
diff: 1 layer changed, 1 as in HEAD
";
    room.run(&["infra", "diff", "--all"]).is(1, want, "");
    room.run_in(LAYER, &[], &["infra", "diff"]).is(1, &want.replace(", 1 as in HEAD", ""), "");
    room.run_in("stacks", &[], &["infra", "diff", "*/layers/*blue"]).is(0, "diff: 1 layer as in HEAD\n", "");
}

#[test]
fn a_layer_of_one_side_is_added_or_removed() {
    let room = tree();
    fs::remove_dir_all(room.path().join(LAYER)).expect("a layer");
    room.write("stacks/kiln/layers/harbor_red/l.tfvars", "");
    let (status, told) = diff(&room, &["--all"]);
    let files = "base_main.tf stacks.tf.json zzz.auto.tfvars.json";
    assert_eq!(status, 1);
    assert_eq!(
        changes(&told),
        [format!("removed {LAYER}: {files}"), format!("added stacks/kiln/layers/harbor_red: {files}")]
    );
    // One that is gone is named all the same.
    assert_eq!(changes(&diff(&room, &[LAYER]).1), [format!("removed {LAYER}: {files}")]);
    let left = room.run(&["infra", "diff", "--all"]);
    assert!(left.stdout.contains("--- /dev/null\n+++ b/stacks/kiln/layers/harbor_red/"), "{}", left.stdout);
    assert!(!left.stdout.contains("--- a/stacks/kiln/layers/harbor/"), "{}", left.stdout);
    assert!(left.stdout.ends_with("diff: 1 layer added, 1 removed, 1 as in HEAD\n"), "{}", left.stdout);
}

#[test]
fn a_layer_of_which_git_left_the_output_folder_is_removed_and_no_pattern_finds_it() {
    let room = tree();
    let render = |words: &[&str]| room.run(&[&["infra", "render", "--init", "never"], words].concat()).stdout;
    let (harbor, blue) = ("stacks/kiln/layers/harbor: rendered", "stacks/kiln/layers/harbor_blue: rendered");
    assert!(render(&["--all"]).contains(harbor));
    git(&room.path(), &["rm", "-q", "-r", LAYER]);
    assert!(room.path().join(LAYER).join("stacks.out/base_main.tf").is_file());
    // Before the commit, and after.
    for revision in ["HEAD", "HEAD~1"] {
        let told = changes(&diff(&room, &["--all", "--ref", revision]).1);
        assert_eq!(told, [format!("removed {LAYER}: base_main.tf stacks.tf.json zzz.auto.tfvars.json")]);
        for words in [["--all"], ["stacks/*/layers/*"]] {
            let told = render(&words);
            assert!(told.contains(blue) && !told.contains(harbor), "{told}");
        }
        commit(&room);
    }
    // A new one without a file is another thing, and so is a folder that is named.
    fs::create_dir_all(room.path().join("stacks/kiln/layers/harbor_new/stacks.out")).expect("a layer");
    assert!(render(&["--all"]).contains("stacks/kiln/layers/harbor_new: rendered"));
    assert!(render(&[LAYER]).contains(harbor));
}

#[test]
fn a_side_that_cannot_be_rendered_ends_2() {
    let room = tree();
    room.write("stacks/kiln/base/main.tf", "{{ var.absent }}\n");
    commit(&room);
    room.write("stacks/kiln/base/main.tf", "{{ var.town }}\n");
    let left = room.run(&["infra", "diff", LAYER]);
    assert_eq!((left.status, left.stdout.as_str()), (2, "diff: 1 layer failed\n"), "{}", left.stderr);
    assert!(left.stderr.contains("--> HEAD:stacks/kiln/base/main.tf:1:4\n"), "{}", left.stderr);
    assert_eq!(room.run(&["infra", "diff", LAYER, "--ref", "HEAD~1"]).status, 1);
    room.write("stacks/kiln/base/main.tf", "{{ var.gone }}\n");
    let left = room.run(&["infra", "diff", LAYER, "--ref", "HEAD~1"]);
    assert_eq!(left.status, 2);
    assert!(left.stderr.contains("--> stacks/kiln/base/main.tf:1:4\n"), "{}", left.stderr);
    for (args, words) in [
        (["--all", "--ref=none"], "git knows no commit `none`"),
        (["--all", "--ref=-x"], "git knows no commit `-x`"),
        (["stacks/kiln/layers/harbour", "--ref=HEAD"], "did you mean `stacks/kiln/layers/harbor`?"),
    ] {
        let left = room.run(&[&["infra", "diff"], &args[..]].concat());
        assert_eq!((left.status, left.stdout.as_str()), (2, ""), "{args:?}");
        assert!(left.stderr.contains(words), "{args:?}: {}", left.stderr);
    }
    fs::remove_dir_all(room.path().join(".git")).expect("a repository");
    let left = room.run(&["infra", "diff", "--all"]);
    assert!(left.status == 2 && left.stderr.contains("is in no git repository"), "{}", left.stderr);
}

/// Every file below a folder with its content and when it was changed.
fn all(folder: &Path, found: &mut BTreeMap<String, (Vec<u8>, i64, i64)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all(&path, found);
        } else {
            let meta = fs::metadata(&path).expect("a file");
            let content = fs::read(&path).expect("a file");
            found.insert(path.display().to_string(), (content, meta.mtime(), meta.mtime_nsec()));
        }
    }
}

#[test]
fn the_tree_the_index_and_a_stash_stay_as_they_are() {
    let room = tree();
    room.write("environments/harbor/env.tfvars", "town = \"stashed\"\n");
    git(&room.path(), &["stash"]);
    room.write("environments/harbor/env.tfvars", "town = \"staged\"\n");
    git(&room.path(), &["add", "--all"]);
    room.write("environments/harbor/env.tfvars", "town = \"here\"\n");
    room.write(&format!("{LAYER}/untracked.tfvars"), "more = 1\n");
    room.run(&["infra", "render", "--all", "--init", "never"]);
    let look = || {
        let mut found = BTreeMap::new();
        all(&room.path(), &mut found);
        found
    };
    let before = look();
    let left = room.run(&["infra", "diff", "--all"]);
    assert_eq!(look(), before);
    assert_eq!(left.status, 1);
    for words in ["-  \"town\": \"harbor\",\n+  \"town\": \"here\",", "+  \"more\": 1,"] {
        assert!(left.stdout.contains(words), "{words}: {}", left.stdout);
    }
    assert!(!left.stdout.contains("staged") && !left.stdout.contains("stashed"), "{}", left.stdout);
}

#[test]
fn base_is_compared_with_its_modes_its_links_and_what_is_no_text() {
    let room = tree();
    let base = room.path().join("stacks/kiln/base");
    room.write("stacks/kiln/base/run.sh", "#!/bin/sh\n");
    room.write("shared/m/main.tf", "# one\n");
    fs::write(base.join("blob"), [0, 159]).expect("a file");
    symlink("../../../shared/m", base.join("m")).expect("a link");
    commit(&room);
    assert_eq!(diff(&room, &["--all"]).0, 0);
    fs::set_permissions(base.join("run.sh"), fs::Permissions::from_mode(0o755)).expect("a mode");
    fs::write(base.join("blob"), [0, 160]).expect("a file");
    room.write("shared/m/main.tf", "# two\n");
    let (status, told) = diff(&room, &[LAYER]);
    assert_eq!((status, changes(&told)), (1, vec![format!("changed {LAYER}: blob m/main.tf run.sh")]));
    let files = &told["layers"][0]["files"];
    assert_eq!((files[0]["binary"].as_bool(), files[0]["diff"].is_null()), (Some(true), true));
    assert_eq!(files[2]["executable"], serde_json::json!({"before": false, "after": true}));
    let left = room.run(&["infra", "diff", LAYER]);
    let want = "Binary files a/stacks/kiln/layers/harbor/stacks.out/blob and b/stacks/kiln/layers/harbor/stacks.out/blob \
                differ\n";
    assert!(left.stdout.starts_with(want) && left.stdout.contains("-# one\n+# two\n"), "{}", left.stdout);
    assert!(left.stdout.contains("stacks.out/run.sh may be run as a program now\n"), "{}", left.stdout);
    // Links that would never end.
    fs::remove_file(base.join("m")).expect("a link");
    fs::create_dir(base.join("loop")).expect("a folder");
    symlink("..", base.join("loop/up")).expect("a link");
    commit(&room);
    let left = room.run(&["infra", "diff", LAYER]);
    assert_eq!(left.status, 2);
    for words in ["`HEAD:stacks/kiln/base/loop/up", "`stacks/kiln/base/loop/up"] {
        assert!(left.stderr.contains(words), "{words}: {}", left.stderr);
    }
}

#[test]
fn a_tree_may_be_a_folder_of_a_repository_with_submodules_and_worktrees() {
    let room = Room::new();
    let top = room.path();
    room.write("live/environments/harbor/env.tfvars", "town = \"harbor\"\n");
    room.write(&format!("live/{LAYER}/l.tfvars"), "size = 1\n");
    room.write("module/main.tf", "# module\n");
    room.write("live/file.txt", "old");
    room.write("live/stacks/kiln/base/main.tf", "x = \"{{ file(\"../../../../file.txt\") }}\"\n");
    git(&top.join("module"), &["init", "--quiet"]);
    git(&top.join("module"), &["add", "--all"]);
    git(&top.join("module"), &["commit", "--quiet", "--message", "one"]);
    git(&top.join("live"), &["init", "--quiet", ".."]);
    let add =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./module", "live/stacks/kiln/base/m"];
    git(&top, &["config", "remote.origin.url", &top.display().to_string()]);
    git(&top, &add);
    git(&top, &["add", "live"]);
    git(&top, &["commit", "--quiet", "--message", "one"]);
    room.write("live/file.txt", "new");
    room.write("live/stacks/kiln/base/m/main.tf", "# module, changed\n");
    git(&top, &["worktree", "add", "--quiet", "beside", "HEAD"]);
    let left = room.run_in(&format!("live/{LAYER}"), &[], &["infra", "diff"]);
    assert_eq!(left.status, 1, "{}", left.stderr);
    for words in ["-x = \"old\"\n", "+x = \"new\"\n", "-# module\n+# module, changed\n"] {
        assert!(left.stdout.contains(words), "{words}: {}", left.stdout);
    }
    let there = format!("beside/live/{LAYER}");
    room.write("beside/live/stacks/kiln/base/main.tf", "# beside\n");
    let left = room.run_in(&there, &[], &["infra", "diff"]);
    assert_eq!(left.status, 2, "the worktree has no submodule: {}", left.stderr);
    assert!(left.stderr.contains("`git submodule update` fetches it"), "{}", left.stderr);
}

#[test]
fn secrets_show_as_digests_and_closed_ones_are_compared_as_they_are() {
    let sealed: Value = {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks/enc_vectors.json");
        serde_json::from_str(&fs::read_to_string(path).expect("vectors")).expect("JSON")
    };
    let vectors = sealed.as_array().expect("vectors");
    let of = |at: usize| {
        let vector = &vectors[at];
        let text = |name: &str| vector[name].as_str().expect(name).to_owned();
        (text("envelope"), text("plaintext"))
    };
    let ((one, first), (two, second)) = (of(1), of(7));
    let room = tree();
    room.write(&format!("{LAYER}/s.tfvars"), &format!("password = \"{one}\"\n"));
    room.write("stacks/kiln/base/main.tf", "x = \"{{ var.password }}\"\n");
    commit(&room);
    room.write(&format!("{LAYER}/s.tfvars"), &format!("password = \"{two}\"\n"));
    let keys = key("corpus.pem");
    let left = room.run_in("", &[("STACKS_PRIVATE_KEY_PATH", &keys)], &["infra", "diff", LAYER]);
    assert_eq!(left.status, 1, "{}", left.stderr);
    assert!(!left.stdout.contains(&first) && !left.stdout.contains(&second[..6]), "{}", left.stdout);
    assert!(left.stdout.contains("-x = \"‹secret ") && left.stdout.contains("+x = \"‹secret "), "{}", left.stdout);
    let line = format!("{LAYER}: changed, 2 files; secrets differ in base_main.tf, zzz.auto.tfvars.json\n");
    assert!(left.stdout.contains(&line), "{}", left.stdout);
    // Without a key.
    let left = room.run(&["infra", "diff", LAYER]);
    assert_eq!(left.status, 1, "{}", left.stderr);
    for whose in ["of `HEAD`", "of the working tree"] {
        assert!(left.stderr.contains(&format!("a secret {whose} stays closed")), "{}", left.stderr);
    }
    assert!(!left.stdout.contains("ENC[") && left.stdout.contains("-x = \"‹secret "), "{}", left.stdout);
    commit(&room);
    assert_eq!(room.run(&["infra", "diff", LAYER]).status, 0);
}

#[test]
fn outputs_of_other_layers_are_read_once_for_both_sides() {
    let room = tree();
    let (program, log) = stand_in(&room);
    room.write("stacks/ferry/base/main.tf", "terraform {\n  backend \"local\" {}\n}\n");
    room.write("stacks/ferry/layers/harbor/l.tfvars", "");
    room.write("stacks/kiln/base/main.tf", "x = \"{{ output('word', stack='ferry') }}\"\n");
    commit(&room);
    let diff = || room.run_in("", &[("STACKS_TERRAFORM_PATH", &program)], &["infra", "diff", "stacks/kiln/layers/*"]);
    diff().is(0, "diff: 2 layers as in HEAD\n", "");
    assert_eq!(fs::read_to_string(&log).expect("a log"), "init\noutput\n");
    room.write("stacks/kiln/base/main.tf", "y = \"{{ output('word', stack='ferry') }}\"\n");
    let left = diff();
    assert!(
        left.status == 1 && left.stdout.contains("-x = \"clay\"\n+y = \"clay\"\n"),
        "{}{}",
        left.stdout,
        left.stderr
    );
    // One that only the revision has.
    fs::remove_dir_all(room.path().join("stacks/ferry")).expect("a stack");
    room.write("stacks/kiln/base/main.tf", "y = 1\n");
    let left = diff();
    assert!(left.status == 1 && left.stdout.contains("-x = \"clay\"\n+y = 1\n"), "{}{}", left.stdout, left.stderr);
}
