//! What changed, as git knows it, through the command.

use crate::room::Room;
use std::fs;
use suil::base::Plain;

fn state(key: &str) -> String {
    format!("terraform {{\n  backend \"s3\" {{\n    bucket = \"b\"\n    key    = \"{key}\"\n  }}\n}}\n")
}

/// Three stacks in a chain `c -> b -> a`, committed on `main`.
fn tree(below: &str) -> Room {
    let room = Room::new();
    for (stack, needs) in [("a", "[]"), ("b", "[stacks/a]"), ("c", "[stacks/b]")] {
        room.write(&format!("{below}stacks/{stack}/main.tf"), &state(stack));
        room.write(&format!("{below}stacks/{stack}/.stackorder.yaml"), &format!("depends_on: {needs}\n"));
    }
    room.write(".gitignore", "*.log\n.suil/\n");
    git(&room, &["init", "-q"]);
    commit(&room);
    room
}

fn git(room: &Room, args: &[&str]) {
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
    let mut git = std::process::Command::new("git");
    let done = git.args(who).args(args).current_dir(room.path()).output().expect("git");
    assert!(done.status.success(), "{done:?}");
}

fn commit(room: &Room) {
    git(room, &["add", "--all"]);
    git(room, &["commit", "-q", "-m", "x"]);
}

/// The affected keys, and the rest of the answer.
fn ask(room: &Room, folder: &str, args: &[&str]) -> (String, Plain) {
    let left = room.run_in(folder, &[], &[&["infra", "affected", "--output", "json"], args].concat());
    let answer = Plain::from_json(&left.stdout).unwrap_or_else(|e| panic!("{e}: {left:?}"));
    let all = answer.get("affected").and_then(Plain::as_list).unwrap_or_else(|| panic!("{left:?}"));
    let keys: Vec<&str> = all.iter().filter_map(|one| one.get("key")?.as_str()).collect();
    assert_eq!(left.status, if keys.is_empty() { 0 } else { 2 }, "{left:?}");
    (keys.join(" "), answer)
}

fn words(answer: &Plain, key: &str) -> String {
    let list = answer.get(key).and_then(Plain::as_list).unwrap_or_default();
    list.iter().filter_map(|item| item.as_str().or_else(|| item.get("key")?.as_str())).collect::<Vec<_>>().join(" ")
}

#[test]
fn staged_changed_new_and_renamed_files_count_and_ignored_ones_do_not() {
    let room = tree("");
    assert_eq!(ask(&room, "", &[]).0, "");
    room.write("stacks/c/new.txt", "");
    room.write("stacks/a/x.log", "");
    let (keys, answer) = ask(&room, "stacks/a", &[]);
    assert_eq!((keys.as_str(), words(&answer, "changed").as_str()), ("stacks/c", "stacks/c/new.txt"));
    git(&room, &["add", "stacks/c/new.txt"]);
    assert_eq!(ask(&room, "", &[]).0, "stacks/c");
    commit(&room);
    git(&room, &["mv", "stacks/c/new.txt", "stacks/b/new.txt"]);
    let (keys, answer) = ask(&room, "", &[]);
    assert_eq!(keys, "stacks/b stacks/c");
    assert_eq!(words(&answer, "changed"), "stacks/b/new.txt stacks/c/new.txt");
}

#[test]
fn a_branch_is_compared_with_where_it_left_main_and_a_base_can_be_named() {
    let room = tree("");
    git(&room, &["checkout", "-q", "-b", "work"]);
    room.write("stacks/c/x.tf", "");
    commit(&room);
    git(&room, &["checkout", "-q", "main"]);
    room.write("stacks/a/x.tf", "");
    commit(&room);
    git(&room, &["checkout", "-q", "work"]);
    let (keys, answer) = ask(&room, "", &[]);
    assert_eq!((keys.as_str(), answer.get("base").and_then(Plain::as_str)), ("stacks/c", Some("main")));
    assert_eq!(ask(&room, "", &["--base", "HEAD"]).0, "");
    for (base, words) in [("nope", "git knows no commit `nope`"), ("--output=x", "git knows no commit `--output=x`")] {
        let left = room.run(&["infra", "affected", &format!("--base={base}")]);
        assert!(left.status == 1 && left.stderr.contains(words), "{left:?}");
    }
    assert!(!room.path().join("x").exists());
}

#[test]
fn a_stack_is_named_as_its_folder_is_seen_from_here_and_a_worktree_is_no_change() {
    let room = tree("");
    for (folder, word) in
        [("", "stacks/c/"), ("", "./stacks/c"), ("stacks", "c"), ("stacks/c", "."), ("", "stacks/c:default")]
    {
        assert_eq!(ask(&room, folder, &["--stacks", word]).0, "stacks/c", "{word} in {folder}");
    }
    git(&room, &["worktree", "add", "-q", "-b", "work", "there"]);
    let (keys, answer) = ask(&room, "there", &["--repo-root", "."]);
    assert_eq!((keys.as_str(), words(&answer, "changed").as_str()), ("", ""));
}

#[test]
fn a_tree_below_the_top_of_its_repository_sees_its_own_files_alone() {
    let room = tree("infra/");
    room.write("other/x.tf", "");
    room.write("infra/stacks/b/x.tf", "");
    room.write("infra/stackorder.yaml", "version: 1\n");
    let (keys, answer) = ask(&room, "infra/stacks", &[]);
    assert_eq!(keys, "stacks/b stacks/c");
    assert_eq!(words(&answer, "changed"), "stackorder.yaml stacks/b/x.tf");
    assert_eq!(ask(&room, "", &["--repo-root", "infra"]).0, "stacks/b stacks/c");
}

#[test]
fn stacks_that_are_gone_are_named_with_their_states_those_first_that_nobody_needs() {
    let room = tree("");
    room.write("stacks/d/main.tf", &state("d"));
    room.write("stacks/d/.stackorder.yaml", "instances: [eu, us]\nbackend_config: ['key=d/{{ .Instance }}']\n");
    commit(&room);
    for stack in ["b", "c"] {
        fs::remove_dir_all(room.path().join("stacks").join(stack)).expect("removed");
    }
    room.write("stacks/d/.stackorder.yaml", "instances: [eu]\nbackend_config: ['key=d/{{ .Instance }}']\n");
    let (keys, answer) = ask(&room, "", &[]);
    assert_eq!(keys, "stacks/d:eu");
    assert_eq!(words(&answer, "removed"), "stacks/c stacks/b stacks/d:us");
    let removed = answer.get("removed").and_then(Plain::as_list).expect("a list");
    assert_eq!(removed[2].get("state").and_then(Plain::as_str), Some("s3://b/d/us"));
    let told: Vec<&str> = answer
        .get("warnings")
        .and_then(Plain::as_list)
        .into_iter()
        .flatten()
        .filter_map(|w| w.get("code")?.as_str())
        .collect();
    assert!(told.contains(&"unclaimed_path"), "{answer:?}");
    let left = room.run(&["infra", "affected"]);
    assert!(left.stdout.contains("removed: stacks/c; its state may be left in s3://b/c\n"), "{left:?}");
    assert!(!left.stderr.contains("is inside no stack"), "a person knows from the line above: {left:?}");
}

#[test]
fn a_layer_of_which_git_left_an_output_folder_is_gone_and_a_new_empty_one_is_not() {
    let room = Room::new();
    let out = "\n  {{ '' }}path = \"{{ var.stacks_root }}/state/{{ var.stacks_layer }}\"\n  ";
    for (path, text) in [
        (".gitignore", "stacks.out/\n.suil/\n"),
        ("environments/harbor/env.tfvars", ""),
        ("stacks/backend.tf", &format!("terraform {{\n  backend \"local\" {{{out}}}\n}}\n")),
        ("stacks/kiln/base/main.tf", ""),
        ("stacks/kiln/layers/harbor/l.tfvars", ""),
        ("stacks/kiln/layers/harbor_blue/l.tfvars", ""),
        ("stacks/ferry/base/main.tf", "x = \"{{ output('x', stack='kiln') }}\"\n"),
        ("stacks/ferry/layers/harbor/l.tfvars", ""),
    ] {
        room.write(path, text);
    }
    git(&room, &["init", "-q"]);
    commit(&room);
    for layer in ["kiln/layers/harbor", "kiln/layers/harbor_new", "ferry/layers/harbor"] {
        room.write(&format!("stacks/{layer}/stacks.out/main.tf"), "");
    }
    git(&room, &["rm", "-q", "-r", "stacks/kiln/layers/harbor"]);
    // Before it is committed, and after.
    for _ in 0..2 {
        let graph = room.run(&["infra", "graph", "--output", "json"]).stdout;
        let graph = Plain::from_json(&graph).expect("JSON");
        assert_eq!(words(&graph, "stacks"), "stacks/ferry:harbor stacks/kiln:harbor_blue stacks/kiln:harbor_new");
        assert_eq!(graph.get("edges").and_then(Plain::as_list).map(<[Plain]>::len), Some(0));
        let told = graph.get("warnings").and_then(Plain::as_list).unwrap_or_default();
        let subjects: Vec<_> = told.iter().filter_map(|warning| warning.get("subject")?.as_str()).collect();
        assert_eq!(subjects, ["stacks/ferry:harbor -> stacks/kiln:harbor"], "{told:?}");
        let (_, answer) = ask(&room, "", &["--base", "HEAD"]);
        let removed = answer.get("removed").and_then(Plain::as_list).expect("a list").to_vec();
        if let [one] = removed.as_slice() {
            assert_eq!(one.get("key").and_then(Plain::as_str), Some("stacks/kiln:harbor"));
            assert_eq!(one.get("state").and_then(Plain::as_str), Some("local://state/harbor"));
            let at = one.get("at").expect("a place");
            let file = at.get("file").and_then(Plain::as_str).unwrap_or_default();
            assert!(file.ends_with(":stacks/backend.tf"), "{at:?}");
            assert_eq!(room.run(&["infra", "affected", "--base", "HEAD"]).stderr, "");
            git(&room, &["commit", "-q", "-m", "x"]);
        } else {
            assert_eq!(removed.len(), 0, "compared with HEAD nothing is gone any more");
        }
    }
}

#[test]
fn without_a_commit_everything_is_new_and_without_git_the_paths_must_be_named() {
    let room = tree("");
    fs::remove_dir_all(room.path().join(".git")).expect("removed");
    let left = room.run(&["infra", "affected"]);
    assert!(left.status == 1 && left.stderr.contains("--changed-from"), "{left:?}");
    assert_eq!(room.run(&["infra", "why", "stacks/a"]).status, 0);
    fs::create_dir(room.path().join(".git")).expect("made");
    let left = room.run(&["infra", "affected"]);
    assert!(left.status == 1 && left.stderr.starts_with("suil: git cannot read the repository at `"), "{left:?}");
    fs::remove_dir(room.path().join(".git")).expect("removed");
    let room = room.input("stacks/b/x\r\n\nstacks/b/y\n");
    assert_eq!(ask(&room, "", &["--changed-from", "-"]).0, "stacks/b stacks/c");
    git(&room, &["init", "-q"]);
    assert_eq!(ask(&room, "", &[]).0, "stacks/a stacks/b stacks/c");
}

#[test]
fn a_matrix_is_one_line_and_a_drawing_is_whole() {
    let room = tree("");
    room.write("stacks/b/x.tf", "");
    let left = room.run(&["infra", "affected", "--matrix"]);
    let matrix = left.stdout.strip_prefix("matrix=").expect("a matrix");
    let cells = Plain::from_json(matrix).expect("JSON");
    assert_eq!((left.status, matrix.lines().count()), (2, 1));
    assert_eq!(cells.at(&["include", "1", "key"]).and_then(Plain::as_str), Some("stacks/c"));
    let dot = room.run(&["infra", "graph", "--output", "dot", "--affected"]).stdout;
    assert!(dot.starts_with("digraph stackorder {\n  rankdir=BT;\n") && dot.ends_with("}\n"), "{dot}");
    assert!(dot.contains("\"stack:stacks/b\" -> \"stack:stacks/a\" [label=\"depends_on\"];"), "{dot}");
    assert!(dot.contains("stacks/c\\nwave 1\", shape=box, style=filled"), "{dot}");
    let mermaid = room.run(&["infra", "graph", "--output=mermaid"]).stdout;
    assert!(
        mermaid.starts_with("flowchart BT\n  n0[\"stacks/a\"]\n") && mermaid.contains("  n1 --> n0\n"),
        "{mermaid}"
    );
}

#[test]
fn why_shows_the_way_of_a_change_and_completions_know_the_stacks() {
    let room = tree("");
    room.write("stacks/a/x.tf", "");
    let told = room.run(&["infra", "why", "stacks/c"]).stdout;
    for line in [
        "  affected     wave 2: dependent\n",
        "stacks/a/x.tf changed: stacks/a\n",
        "-> stacks/c, which depends on it (stacks/c/.stackorder.yaml:1)",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let left = room.run(&["infra", "why", "stacks/cc"]);
    assert!(left.status == 1 && left.stderr.contains("did you mean `stacks/"), "{left:?}");
    let variables = [("SUIL_COMPLETE", "fish")];
    let offered = room.run_in("", &variables, &["--", "suil", "infra", "why", "stacks/"]).stdout;
    assert_eq!(offered.lines().filter(|line| line.starts_with("stacks/")).count(), 3, "{offered}");
}

#[test]
fn what_links_lead_to_and_what_submodules_hold_touches_who_reads_it() {
    let other = tree("");
    for stack in ["b", "c"] {
        fs::remove_file(other.path().join(format!("stacks/{stack}/.stackorder.yaml"))).expect("removed");
    }
    commit(&other);
    let mut room = tree("");
    room.write("common/providers.tf", "");
    room.write("common/files/motd", "");
    room.write("lib/net/main.tf", "");
    room.write("stacks/a/links.tf", "module \"net\" {\n  source = \"./net\"\n}\n");
    let root = room.path().to_owned();
    let link = |target: &str, path: &str| std::os::unix::fs::symlink(target, root.join(path)).expect("a link");
    link("../../common/providers.tf", "stacks/c/providers.tf");
    link("../../common/files", "stacks/b/files");
    link("../../lib/net", "stacks/a/net");
    link("../common", "common/again");
    let from = other.path().display().to_string();
    git(&room, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &from, "stacks/sub"]);
    commit(&room);
    for _ in ["a new scan", "the cache"] {
        for (path, want) in [
            ("common/providers.tf", "stacks/c"),
            ("common/files/motd", "stacks/b stacks/c"),
            ("lib/net/main.tf", "stacks/a stacks/b stacks/c"),
            ("stacks/sub", "stacks/sub/stacks/a stacks/sub/stacks/b stacks/sub/stacks/c"),
            ("\"stacks/c/\\303\\274\"", "stacks/c"),
        ] {
            room = room.input(&format!("{path}\n"));
            assert_eq!(ask(&room, "", &["--changed-from", "-"]).0, want, "{path}");
        }
        std::thread::sleep(std::time::Duration::from_millis(80));
    }
    // A link that leads elsewhere now.
    fs::remove_file(root.join("stacks/b/files")).expect("removed");
    link("../../lib", "stacks/b/files");
    let room = room.input("common/files/motd\n");
    assert_eq!(ask(&room, "", &["--changed-from", "-"]).0, "");
}

/// A CI that fetches one branch alone would otherwise compare it with itself, and run nothing.
#[test]
fn where_the_main_branch_was_not_fetched_somebody_must_name_a_base() {
    let room = tree("");
    git(&room, &["branch", "-m", "work"]);
    assert_eq!(ask(&room, "", &[]).0, "", "a repository of one's own has nothing else to compare with");
    git(&room, &["remote", "add", "origin", "https://example.com/o/r.git"]);
    let left = room.run(&["infra", "affected"]);
    assert!(left.status == 1 && left.stderr.contains("--base origin/BRANCH"), "{left:?}");
    assert_eq!(ask(&room, "", &["--base", "HEAD"]).0, "");
}
