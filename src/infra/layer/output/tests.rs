use super::*;
use std::sync::Arc;

fn text(text: &str) -> Piece {
    Piece::Text { text: text.to_owned(), mode: 0o644, source: None }
}

fn pieces(pairs: &[(&str, &str)]) -> Pieces {
    pairs.iter().map(|(name, body)| (OsString::from(name), text(body))).collect()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

#[test]
fn what_terraform_left_moves_into_the_new_folder_and_the_rest_goes() {
    let room = tempfile::tempdir().expect("a folder");
    let out = room.path().join("out");
    fs::create_dir_all(out.join(".terraform/providers")).expect("a folder");
    fs::write(out.join(".terraform/providers/x"), "plugin").expect("a file");
    std::os::unix::fs::symlink("x", out.join(".terraform/providers/y")).expect("a link");
    for name in ["terraform.tfstate", "saved.plan", "old.tf", ".terraformrc"] {
        fs::write(out.join(name), name).expect("a file");
    }
    let mut plan = b"PK\x03\x04".to_vec();
    plan.resize(30, 0);
    plan.extend(b"tfplan and more");
    fs::write(out.join("odd-name"), plan).expect("a plan");
    fs::set_permissions(&out, fs::Permissions::from_mode(0o750)).expect("a mode");
    write(&out, "x", pieces(&[("new.tf", "new"), (".terraformrc", "own")])).expect("written");
    let want = [".terraform", ".terraformrc", "new.tf", "odd-name", "saved.plan", "terraform.tfstate"];
    assert_eq!(names(&out), want);
    assert_eq!(names(&out.join(".terraform/providers")), ["x", "y"]);
    assert_eq!(fs::read_to_string(out.join(".terraformrc")).expect("a file"), "own");
    assert_eq!(fs::metadata(&out).expect("a folder").mode() & 0o7777, 0o750);
    assert_eq!(names(room.path()), ["out"]);
}

#[test]
fn a_piece_that_cannot_be_copied_leaves_the_old_folder_alone() {
    let room = tempfile::tempdir().expect("a folder");
    let (out, base) = (room.path().join("out"), room.path().join("base"));
    fs::create_dir_all(&base).expect("a folder");
    std::os::unix::fs::symlink("nowhere", base.join("link")).expect("a link");
    write(&out, "x", pieces(&[("a.tf", "old")])).expect("written");
    let mut new = pieces(&[("a.tf", "new")]);
    new.insert("base".into(), Piece::Folder(base));
    let problems = write(&out, "x", new).expect_err("a dangling link");
    assert!(problems.iter().any(|p| p.what.ends_with("base/link` is a link to nothing")), "{problems:?}");
    assert_eq!(fs::read_to_string(out.join("a.tf")).expect("a file"), "old");
    assert_eq!(names(room.path()), ["base", "out"]);
}

#[test]
fn a_link_to_a_folder_that_it_stands_in_is_named() {
    let room = tempfile::tempdir().expect("a folder");
    let base = room.path().join("base");
    fs::create_dir_all(base.join("a")).expect("a folder");
    std::os::unix::fs::symlink("..", base.join("a/up")).expect("a link");
    let problems = write(&room.path().join("out"), "x", [("base".into(), Piece::Folder(base))].into_iter().collect())
        .expect_err("a loop");
    assert!(problems[0].what.ends_with("a/up` is a link to a folder that it stands in"), "{problems:?}");
}

#[test]
fn what_a_process_that_died_has_left_is_cleared_or_taken_back() {
    let room = tempfile::tempdir().expect("a folder");
    let (old, new) = (room.path().join(".out.suil-old"), room.path().join(".out.suil-new"));
    for (folder, state) in [(&old, "state"), (&new, "half")] {
        fs::create_dir(folder).expect("a folder");
        fs::write(folder.join("terraform.tfstate"), state).expect("a file");
    }
    let out = room.path().join("out");
    write(&out, "x", pieces(&[("a.tf", "new")])).expect("written");
    assert_eq!(names(room.path()), ["out"]);
    assert_eq!(fs::read_to_string(out.join("terraform.tfstate")).expect("a file"), "state");
}

#[test]
fn many_writers_at_once_leave_one_whole_folder() {
    let room = Arc::new(tempfile::tempdir().expect("a folder"));
    let writers: Vec<_> = (0..8)
        .map(|at| {
            let room = Arc::clone(&room);
            let body = at.to_string();
            std::thread::spawn(move || {
                write(&room.path().join("out"), "x", pieces(&[("a.tf", &body), ("b.tf", &body)])).expect("written");
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().expect("a writer"));
    let read = |name: &str| fs::read_to_string(room.path().join("out").join(name)).expect("a file");
    assert_eq!(read("a.tf"), read("b.tf"));
    assert_eq!(names(room.path()), ["out"]);
}

#[test]
fn a_folder_that_holds_all_already_is_left_where_it_is() {
    let room = tempfile::tempdir().expect("a folder");
    let (out, base) = (room.path().join("out"), room.path().join("base"));
    fs::create_dir_all(base.join("deep")).expect("a folder");
    fs::write(base.join("deep/a"), "1").expect("a file");
    let all = || {
        let mut all = pieces(&[("a.tf", "a")]);
        all.insert("base".into(), Piece::Folder(base.clone()));
        all
    };
    let place = || fs::metadata(&out).expect("a folder").ino();
    write(&out, "x", all()).expect("written");
    fs::write(out.join("terraform.tfstate"), "state").expect("a state");
    let before = place();
    write(&out, "x", all()).expect("written");
    assert_eq!(place(), before, "nothing differs");
    assert_eq!(names(&out), ["a.tf", "base", "terraform.tfstate"]);
    type Spoil = fn(&Path) -> std::io::Result<()>;
    let spoils: [Spoil; 5] = [
        |out| fs::write(out.join("a.tf"), "b"),
        |out| fs::write(out.join("more.tf"), ""),
        |out| fs::write(out.join("base/deep/more"), ""),
        |out| fs::set_permissions(out.join("a.tf"), fs::Permissions::from_mode(0o600)),
        |out| fs::remove_file(out.join("base/deep/a")),
    ];
    for spoil in spoils {
        let before = place();
        spoil(&out).expect("spoiled");
        write(&out, "x", all()).expect("written");
        assert_ne!(place(), before);
        assert_eq!(names(&out), ["a.tf", "base", "terraform.tfstate"]);
        assert_eq!(names(&out.join("base/deep")), ["a"]);
        assert_eq!(fs::metadata(out.join("a.tf")).expect("a file").mode() & 0o777, 0o644);
    }
    assert_eq!(names(room.path()), ["base", "out"]);
}

#[test]
fn a_state_that_comes_while_the_folder_is_swapped_is_not_lost() {
    let room = tempfile::tempdir().expect("a folder");
    let out = room.path().join("out");
    write(&out, "x", pieces(&[("a.tf", "old")])).expect("written");
    let place = Place::take(&out).expect("a place");
    let new = pieces(&[("a.tf", "new")]);
    fill(&place.aside, &new).expect("filled");
    fs::write(out.join("errored.tfstate"), "old").expect("a state");
    fs::write(out.join("terraform.tfstate.backup"), "old").expect("a state");
    fs::create_dir_all(out.join("terraform.tfstate.d/one")).expect("a folder");
    keep::carry(&place.folder, &place.aside, &new).expect("carried");
    // Terraform writes a state in place, another tool another file of that name; workspaces have a folder each.
    fs::write(out.join("terraform.tfstate"), "state").expect("a state");
    fs::write(out.join("errored.tfstate"), "in place").expect("a state");
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::write(out.join("x"), "renamed")
        .and_then(|()| fs::rename(out.join("x"), out.join("terraform.tfstate.backup")))
        .expect("a state");
    fs::write(out.join("terraform.tfstate.d/one/terraform.tfstate"), "of one").expect("a state");
    place.swap(&new).expect("swapped");
    for (name, wanted) in [
        ("terraform.tfstate", "state"),
        ("errored.tfstate", "in place"),
        ("terraform.tfstate.backup", "renamed"),
        ("terraform.tfstate.d/one/terraform.tfstate", "of one"),
    ] {
        assert_eq!(fs::read_to_string(out.join(name)).expect("a file"), wanted, "{name}");
    }
    assert_eq!(names(&out).len(), 5);
    assert_eq!(fs::read_to_string(out.join("a.tf")).expect("a file"), "new");
    assert_eq!(names(room.path()), ["out"]);
}

#[test]
fn a_folder_that_nobody_may_write_to_can_be_replaced() {
    let room = tempfile::tempdir().expect("a folder");
    let (out, base) = (room.path().join("out"), room.path().join("base"));
    fs::create_dir_all(&base).expect("a folder");
    fs::set_permissions(&base, fs::Permissions::from_mode(0o555)).expect("a mode");
    write(&out, "x", [("base".into(), Piece::Folder(base))].into_iter().collect()).expect("written");
    assert_eq!(fs::metadata(out.join("base")).expect("a folder").mode() & 0o777, 0o755);
}

#[test]
fn a_private_folder_is_filled_without_writing_through_links_and_no_state_comes_from_the_files() {
    let room = tempfile::tempdir().expect("a folder");
    let (tree, out) = (room.path().join("tree"), room.path().join("out"));
    fs::create_dir_all(tree.join("sub")).expect("a folder");
    fs::create_dir_all(out.join("old")).expect("a folder");
    for name in ["terraform.tfstate", "notes", "sub/x"] {
        fs::write(tree.join(name), "of the tree").expect("a file");
    }
    for name in ["terraform.tfstate", "notes", "sub"] {
        std::os::unix::fs::symlink(tree.join(name), out.join(name)).expect("a link");
    }
    fs::write(out.join("old/main.tf"), "").expect("a file");
    fs::write(out.join("base_gone.tf"), "").expect("a file");
    fs::write(out.join(".terraform.lock.hcl"), "kept").expect("a file");
    let file = |executable| super::super::files::File { bytes: b"of the revision".to_vec(), executable };
    let names_of = ["base_main.tf", "sub/x", "sub/run.sh", "terraform.tfstate"];
    let files = names_of.map(|name| (name.into(), file(name.ends_with(".sh")))).into();
    for _ in 0..2 {
        put(&out, &files).expect("put");
        assert_eq!(names(&out), [".terraform.lock.hcl", "base_main.tf", "notes", "sub", "terraform.tfstate"]);
        let read = |path: PathBuf| fs::read_to_string(path).expect("a file");
        assert_eq!(read(out.join("sub/x")), "of the revision");
        assert_eq!([read(tree.join("sub/x")), read(out.join("terraform.tfstate"))], ["of the tree", "of the tree"]);
        let mode = |name: &str| fs::metadata(out.join(name)).expect("a file").mode() & 0o777;
        assert_eq!((mode("base_main.tf"), mode("sub/run.sh")), (0o600, 0o700));
    }
}
