//! Revisions and repositories: which there are, what is left of them untouched.

use crate::room::Room;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const SITE: &str = "modules: [page]\npage:\n  title: Site\n";

/// Every file below a folder with its content and when it was changed.
fn all(folder: &Path, found: &mut BTreeMap<String, (Vec<u8>, i64, i64)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => all(&path, found),
            false => {
                let meta = fs::metadata(&path).expect("a file");
                let content = fs::read(&path).expect("a file");
                found.insert(path.display().to_string(), (content, meta.mtime(), meta.mtime_nsec()));
            }
        }
    }
}

#[test]
fn nothing_in_the_repository_is_touched() {
    let room = Room::new();
    room.write("data/roles/web.yaml", SITE);
    room.git(&["add", "--all"]);
    room.write("data/roles/db.yaml", SITE);
    room.write("data/nodes/new.yaml", "role: web\n");
    // Git would write the index anew for it, if it were let.
    let stale = fs::File::options().append(true).open(room.path().join("data/common.yaml")).expect("a file");
    stale.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("a time");
    let look = || {
        let mut found = BTreeMap::new();
        all(&room.repository(), &mut found);
        found
    };
    let before = look();
    let ran = room.diff(&["HEAD"]);
    room.suil(&["config", "--affected", "HEAD"]).expect(0);
    assert_eq!(look(), before);
    // Staged, unstaged and untracked: the working tree is what lies there.
    assert_eq!(ran.nodes(), ["db-1", "db-2", "new", "web-1", "web-2"]);
    assert_eq!(
        room.git(&["status", "--porcelain=v1"]),
        " M data/roles/db.yaml\nM  data/roles/web.yaml\n?? data/nodes/new.yaml\n"
    );
}

#[test]
fn a_revision_goes_by_every_name_that_git_knows() {
    let room = Room::new();
    room.git(&["tag", "--annotate", "--message", "first", "v1"]);
    room.write("data/roles/web.yaml", SITE);
    room.commit("two");
    room.git(&["branch", "side"]);
    let first = room.git(&["rev-parse", "v1^{commit}"]).trim().to_owned();
    for name in ["HEAD~1", "v1", "main^", "side~1", &first, &first[..10], ":/one"] {
        let ran = room.diff(&[name]);
        assert_eq!(ran.nodes(), ["web-1", "web-2"], "{name}");
        assert_eq!(ran.json()["from"], json!({"revision": name, "commit": first}), "{name}");
        assert_eq!(ran.json()["to"], json!({"revision": null, "commit": null}));
    }
    room.write("data/roles/web.yaml", "modules: [page]\npage:\n  title: Third\n");
    let two = room.diff(&["v1", "side"]);
    assert_eq!(
        two.json()["nodes"][0]["values"][0]["after"],
        json!({"value": "Site", "file": "side:data/roles/web.yaml", "line": 3, "column": 10})
    );
    assert_eq!(room.diff(&["v1..side"]).json()["nodes"], two.json()["nodes"]);
    assert_eq!(room.suil(&["diff", "v1..side", "--detailed-exitcode"]).status, 2);
    assert_eq!(room.suil(&["diff", "side..side", "--detailed-exitcode"]).status, 0);
}

#[test]
fn three_dots_compare_with_where_a_branch_began() {
    let room = Room::new();
    room.git(&["switch", "--quiet", "--create", "topic"]);
    room.write("data/roles/web.yaml", SITE);
    room.commit("mine");
    room.git(&["switch", "--quiet", "main"]);
    room.write("data/roles/db.yaml", SITE);
    room.commit("theirs");
    room.git(&["switch", "--quiet", "topic"]);
    assert_eq!(room.diff(&["main"]).nodes().len(), 4);
    assert_eq!(room.diff(&["main..."]).nodes(), ["web-1", "web-2"]);
    assert_eq!(room.diff(&["main...topic"]).nodes(), ["web-1", "web-2"]);
    let config = room.suil(&["config", "--affected", "main...", "--output", "json"]).expect(0);
    assert_eq!(config.nodes(), ["web-1", "web-2"]);
}

#[test]
fn what_is_no_revision_is_told_clearly() {
    let room = Room::new();
    room.git(&["tag", "release"]);
    for (args, words) in [
        (&["releese"][..], "git knows no commit `releese`\nhelp: did you mean `release`?"),
        (&["HEAD~7"], "git knows no commit `HEAD~7`\nhelp: `git log --oneline` lists commits"),
        (&["--", "--all"], "git knows no commit `--all`"),
        (&["--", "-x"], "git knows no commit `-x`"),
        (&["HEAD:data"], "git knows no commit `HEAD:data`"),
        (&[""], "git knows no commit ``"),
    ] {
        let ran = room.suil(&[&["diff"], args].concat()).expect(1);
        assert!(ran.stderr.contains(words), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn a_folder_that_is_in_no_repository_says_so() {
    let room = Room::new();
    fs::remove_dir_all(room.repository().join(".git")).expect("a folder");
    let ran = room.suil(&["diff", "HEAD"]).expect(1);
    assert_eq!(
        ran.stderr,
        "suil: the workspace is in no git repository, so it has no revisions\nhelp: `git init` makes one\n"
    );
}

#[test]
fn a_broken_revision_is_told_with_its_name() {
    let room = Room::new();
    room.write("data/roles/web.yaml", "modules: [page]\npage: !replcae {title: Web}\n");
    room.write("data/nodes/db-1.yaml", "role: dbb\n");
    room.commit("broken");
    room.write("data/roles/web.yaml", SITE);
    room.write("data/nodes/db-1.yaml", "role: db\n");
    room.commit("mended");
    let ran = room.suil(&["diff", "HEAD~1"]).expect(1);
    assert!(ran.stderr.contains("--> HEAD~1:data/roles/web.yaml:2:7"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--> HEAD~1:data/nodes/db-1.yaml:1:7"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
    // Nodes that are sound in both can still be compared.
    assert_eq!(room.diff(&["HEAD~1", "--node", "db-2"]).nodes(), [""; 0]);
    assert_eq!(room.diff(&["HEAD~2"]).nodes(), ["web-1", "web-2"]);
    room.write("data/roles/web.yaml", "modules: [page\n");
    let now = room.suil(&["diff", "HEAD~2"]).expect(1);
    assert!(now.stderr.contains("--> data/roles/web.yaml:"), "{}", now.stderr);
}

#[test]
fn a_workspace_may_be_a_folder_of_the_repository_and_younger_than_it() {
    let room = Room::below("hosts/site a");
    room.write("data/roles/web.yaml", SITE);
    assert_eq!(room.diff(&["HEAD"]).nodes(), ["web-1", "web-2"]);
    assert_eq!(room.diff(&["HEAD"]).json()["nodes"][0]["values"][0]["before"]["file"], "HEAD:data/roles/web.yaml");
    let from = room
        .suil_in(&room.repository(), &["--workspace", "hosts/site a", "diff", "HEAD", "--output", "json"])
        .expect(0);
    assert_eq!(from.nodes(), ["web-1", "web-2"]);
    room.commit("two");
    room.git(&["switch", "--quiet", "--orphan", "empty"]);
    room.git(&["commit", "--quiet", "--allow-empty", "--message", "empty"]);
    room.git(&["switch", "--quiet", "main"]);
    let younger = room.suil(&["diff", "empty"]).expect(1);
    assert!(younger.stderr.contains("`empty` has no folder `hosts/site a`"), "{}", younger.stderr);
    assert!(younger.stderr.contains("the workspace is younger than this revision"), "{}", younger.stderr);
}

#[test]
fn links_are_followed_in_a_revision_as_on_the_disk() {
    let room = Room::new();
    fs::rename(room.path().join("modules/page"), room.path().join("modules/sheet")).expect("a folder");
    std::os::unix::fs::symlink("sheet", room.path().join("modules/page")).expect("a link");
    fs::rename(room.path().join("data/roles/web.yaml"), room.path().join("shared.yaml")).expect("a file");
    std::os::unix::fs::symlink("../../shared.yaml", room.path().join("data/roles/web.yaml")).expect("a link");
    assert_eq!(room.diff(&["HEAD"]).json()["nodes"], json!([]));
    room.commit("linked");
    assert_eq!(room.diff(&["HEAD"]).json()["nodes"], json!([]));
    room.write("shared.yaml", SITE);
    assert_eq!(room.diff(&["HEAD"]).nodes(), ["web-1", "web-2"]);
}

/// Worktrees, packed and shared stores, sha256: what `git` reads, suil reads.
#[test]
fn every_kind_of_store_is_read() {
    let room = Room::new();
    room.write("data/roles/web.yaml", SITE);
    room.commit("two");
    room.git(&["gc", "--quiet"]);
    assert_eq!(room.diff(&["HEAD~1"]).nodes(), ["web-1", "web-2"]);
    room.git(&["worktree", "add", "--quiet", "../tree", "HEAD"]);
    room.git(&["clone", "--quiet", "--shared", ".", "../shared"]);
    room.git(&["clone", "--quiet", "--depth=1", &format!("file://{}", room.repository().display()), "../shallow"]);
    let beside = room.repository().parent().expect("a folder").to_owned();
    for folder in ["tree", "shared"] {
        let ran = room.suil_in(&beside.join(folder), &["diff", "HEAD~1", "--output", "json"]).expect(0);
        assert_eq!(ran.nodes(), ["web-1", "web-2"], "{folder}");
    }
    let shallow = room.suil_in(&beside.join("shallow"), &["diff", "HEAD~1"]).expect(1);
    assert!(shallow.stderr.contains("shallow clone") && shallow.stderr.contains("--unshallow"), "{}", shallow.stderr);
}

#[test]
fn a_repository_with_long_ids_is_read() {
    let room = Room::new();
    fs::remove_dir_all(room.repository().join(".git")).expect("a folder");
    room.git(&["init", "--quiet", "--object-format=sha256"]);
    room.commit("one");
    room.write("data/roles/web.yaml", SITE);
    assert_eq!(room.diff(&["HEAD"]).nodes(), ["web-1", "web-2"]);
    assert_eq!(room.diff(&["HEAD"]).json()["from"]["commit"].as_str().map(str::len), Some(64));
}

/// Its files are read from its own repository, in the commit that belongs to the revision.
#[test]
fn a_submodule_is_read_where_it_is_here() {
    let room = Room::new();
    let page = room.path().join("modules/page");
    let apart = room.repository().parent().expect("a folder").join("page");
    fs::rename(&page, &apart).expect("a folder");
    let commit = |message| {
        room.git(&["-C", "../page", "add", "--all"]);
        room.git(&["-C", "../page", "commit", "--quiet", "--allow-empty", "--message", message]);
    };
    room.git(&["init", "--quiet", "../page"]);
    commit("one");
    room.git(&["rm", "--quiet", "-r", "--cached", "modules/page"]);
    room.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../page", "modules/page"]);
    room.commit("two");
    assert_eq!(room.diff(&["HEAD"]).json()["nodes"], json!([]));
    fs::write(apart.join("templates/page.j2"), "another page\n").expect("a file");
    commit("two");
    room.git(&["-C", "modules/page", "-c", "protocol.file.allow=always", "pull", "--quiet"]);
    let ran = room.diff(&["HEAD"]);
    assert_eq!(ran.nodes().len(), 4);
    assert_eq!(ran.json()["nodes"][0]["code"][0]["files"], json!(["templates/page.j2"]));
    room.git(&["clone", "--quiet", ".", "../bare of it"]);
    let bare = room.repository().parent().expect("a folder").join("bare of it");
    let ran = room.suil_in(&bare, &["diff", "HEAD"]).expect(1);
    let words = "cannot read `HEAD:modules/page/requires.yaml`: it is in a submodule that is not here";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
}

/// A hook runs with the repository in its environment, by a path that holds in its own folder only.
#[test]
fn a_hook_does_not_lead_astray() {
    let mut room = Room::below("hosts");
    room.write("data/roles/web.yaml", SITE);
    room.variables.push(("GIT_DIR".to_owned(), ".git".to_owned()));
    room.variables.push(("GIT_INDEX_FILE".to_owned(), ".git/index".to_owned()));
    assert_eq!(room.diff(&["HEAD"]).nodes(), ["web-1", "web-2"]);
}

/// A file that git keeps otherwise than it lies here is no difference, whatever the index says of it.
#[test]
fn a_file_that_a_filter_changes_is_the_same() {
    let room = Room::new();
    room.write(".gitattributes", "modules/page/templates/* text eol=crlf\n");
    let template = "modules/page/templates/page.j2";
    let text = fs::read_to_string(room.path().join(template)).expect("a file");
    room.write(template, &text.replace('\n', "\r\n"));
    room.commit("two");
    assert!(!room.git(&["cat-file", "-p", &format!("HEAD:{template}")]).contains('\r'), "the filter is at work");
    assert_eq!(room.diff(&["HEAD"]).json()["nodes"], json!([]));
    // The index is told to look away, and suil is not.
    room.git(&["update-index", "--assume-unchanged", "data/roles/web.yaml"]);
    room.write("data/roles/web.yaml", SITE);
    assert_eq!(room.git(&["status", "--porcelain"]), "");
    assert_eq!(room.diff(&["HEAD"]).nodes(), ["web-1", "web-2"]);
}
