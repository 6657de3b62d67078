//! `suil infra runs`, `locks`, `unlock` and `audit`, from the outside: whole outputs.

use crate::filled::fill;
use crate::open;
use crate::room::{Left, Room};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// A tree with a store of a few days, and the ids of its runs, the oldest first.
fn filled() -> (Room, Vec<String>) {
    let room = Room::with(&[("stackorder.yaml", "version: 1\n")]);
    let ids = fill(&*open(None, &room.path()));
    (room, ids)
}

/// What a command prints, with names in place of what is another one each time.
fn told(text: &str, ids: &[String]) -> String {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for (id, name) in ids.iter().zip(["PLAN", "FAILED", "MINE", "AWAY"]) {
        names.insert(id.clone(), format!("<{name}>"));
        names.insert(id[..13].to_owned(), format!("<{name}>{}", " ".repeat(11 - name.len())));
    }
    names.insert(std::process::id().to_string(), "<pid>".to_owned());
    names.insert(rustix::system::uname().nodename().to_string_lossy().into_owned(), "<host>".to_owned());
    let mut text = text.to_owned();
    // The longest first: a whole id begins with its short form.
    let mut all: Vec<(&String, &String)> = names.iter().collect();
    all.sort_by_key(|(found, _)| std::cmp::Reverse(found.len()));
    for (found, name) in all {
        text = text.replace(found.as_str(), name);
    }
    let stamp = regex::Regex::new(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ(, \d+ s ago)?").expect("a pattern");
    stamp.replace_all(&text, "<moment>").into_owned()
}

#[track_caller]
fn says(left: &Left, ids: &[String], status: i32, wanted: &str) {
    let found = told(&format!("{}{}", left.stdout, left.stderr), ids);
    assert_eq!(found, wanted, "{found}");
    assert_eq!(left.status, status);
}

#[test]
fn a_tree_without_a_store_has_no_runs_and_gets_no_store() {
    let room = Room::new();
    says(&room.run(&["infra", "runs"]), &[], 0, "no runs\n");
    says(&room.run(&["infra", "locks"]), &[], 0, "no locks\n");
    says(&room.run(&["infra", "audit"]), &[], 0, "nothing was done yet\n");
    says(&room.run(&["infra", "runs", "prune"]), &[], 0, "nothing to remove\n");
    let none = "suil: there are no runs yet\nhelp: `suil infra plan` begins one\n";
    says(&room.run(&["infra", "runs", "show"]), &[], 1, none);
    assert!(!room.path().join(".suil").exists());
}

/// Somebody who is not root: for root no file is closed.
const NOBODY: u32 = 65534;

/// Runs suil in the room as a user for whom modes count.
fn run_as_user(room: &Room, args: &[&str]) -> (i32, String) {
    let mut suil = std::path::PathBuf::from(env!("CARGO_BIN_EXE_suil"));
    let root = rustix::process::geteuid().is_root();
    if root {
        // The folder of what is built may be root's alone.
        let copy = room.path().join("../suil");
        if !copy.exists() {
            fs::copy(&suil, &copy).expect("a copy");
        }
        suil = copy;
    }
    let mut command = Command::new(suil);
    command.args(args).current_dir(room.path()).env_clear().env("PATH", "/usr/bin:/bin").env("COLUMNS", "80");
    command.env("HOME", room.path().join("../home"));
    if root {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().expect("suil");
    let said = [output.stdout, output.stderr].concat();
    let room = room.path().parent().expect("a folder").display().to_string();
    (output.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).replace(&room, "[ROOM]"))
}

fn give(path: &Path) {
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("given");
        if path.is_dir() {
            fs::read_dir(path).expect("a folder").for_each(|entry| give(&entry.expect("an entry").path()));
        }
    }
}

#[test]
fn a_store_that_may_only_be_read_is_read_and_one_that_may_not_says_so() {
    let (room, ids) = filled();
    room.write("stacks/a/main.tf", "terraform {\n  backend \"s3\" {\n    bucket = \"b\"\n    key = \"k\"\n  }\n}\n");
    room.write("changed", "stacks/a/main.tf\n");
    give(room.path().parent().expect("a folder"));
    let mode = |path: &str, mode: u32| {
        fs::set_permissions(room.path().join(path), fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let affected = ["infra", "affected", "--changed-from", "changed"];
    mode(".suil/infra.db", 0o400);
    for folder in [0o700, 0o500] {
        mode(".suil", folder);
        let (status, said) = run_as_user(&room, &["infra", "runs"]);
        assert!(status == 0 && said.contains(&ids[3][..13]), "{said}");
        let (status, said) = run_as_user(&room, &["infra", "locks"]);
        assert!(status == 0 && said.contains("stacks/prod/vpc"), "{said}");
        let (status, said) = run_as_user(&room, &affected);
        assert!(status == 2 && !said.contains("suil: "), "{said}");
        let (status, said) = run_as_user(&room, &["infra", "runs", "prune"]);
        assert!(status == 1 && said.contains("or keep the store elsewhere: `SUIL_STORE="), "{said}");
    }
    let help =
        "help: run suil as the owner of `[ROOM]/work/.suil`, or keep the store elsewhere: `SUIL_STORE=postgres://…`\n";
    let closed = "suil: cannot read the store `[ROOM]/work/.suil/infra.db`: permission denied\n";
    let want = (1, format!("{closed}{help}"));
    mode(".suil", 0o000);
    assert_eq!(run_as_user(&room, &["infra", "locks"]), want);
    mode(".suil", 0o700);
    mode(".suil/infra.db", 0o000);
    assert_eq!(run_as_user(&room, &["infra", "locks"]), want);
    let (status, said) = run_as_user(&room, &affected);
    let warned =
        format!("{}note: who holds locks is not known here\n{help}", closed.replace("suil: ", "suil: warning: "));
    assert!(status == 2 && said.contains("stacks/a") && said.contains(&warned), "{said}");
}

#[test]
fn a_folder_that_holds_everything_is_no_tree_unless_it_is_named() {
    let room = Room::new();
    let told = |folder: &str| {
        let shown = folder.replace(&room.path().parent().expect("a folder").display().to_string(), "[ROOM]");
        format!(
            "suil: there is no tree of stacks at `{shown}`\n\
             note: a tree has a `stackorder.yaml`, folders of layers, a `.git` or a `data/common.yaml` at its root\n\
             help: go to the tree, or name it: `--repo-root DIR`\n"
        )
    };
    let home = room.path().join("../home").canonicalize().expect("a home").display().to_string();
    for folder in ["/", home.as_str()] {
        for command in ["runs", "graph"] {
            room.run_in(folder, &[], &["infra", command]).is(1, "", &told(folder));
        }
    }
    room.run_in(&home, &[], &["infra", "runs", "--repo-root", "."]).is(0, "no runs\n", "");
    room.write("../home/stackorder.yaml", "version: 1\n");
    room.run_in(&home, &[], &["infra", "runs"]).is(0, "no runs\n", "");
}

#[test]
fn runs_are_listed_from_any_folder_of_the_tree() {
    let (room, ids) = filled();
    let wanted = "\
RUN            AGE     TOOK        MODE     STATE
<AWAY>         now                 destroy  applying
    1 applying; ci@runner-7: job 81
<MINE>         now                 apply    applying
    1 applying; anna@desk
<FAILED>       50 min  1 min 12 s  apply    failed
    1 applied, 1 failed, 2 blocked; anna@desk: bigger subnets
<PLAN>         26 h                plan     planned
    4 planned; anna@desk: a look
";
    says(&room.run(&["infra", "runs"]), &ids, 0, wanted);
    room.write("stacks/prod/vpc/main.tf", "");
    says(&room.run_in("stacks/prod/vpc", &[], &["infra", "runs"]), &ids, 0, wanted);
    let root = room.path().display().to_string();
    says(&room.run_in("/", &[], &["infra", "runs", "--repo-root", &root]), &ids, 0, wanted);
    let few = ["infra", "runs", "--mode", "apply", "--stack", "./stacks/dev/vpc:default", "--state", "applying"];
    says(
        &room.run(&few),
        &ids,
        0,
        "\
RUN            AGE  TOOK  MODE   STATE
<MINE>         now        apply  applying
    1 applying; anna@desk
",
    );
    says(
        &room.run(&["infra", "runs", "--limit", "3", "show"]),
        &ids,
        64,
        "\
suil: `--limit` before the word behind it is of the list of runs
help: put it behind that word, or leave it out
",
    );
}

#[test]
fn a_run_is_shown_with_what_failed() {
    let (room, ids) = filled();
    let wanted = "\
run <FAILED>
  when     <moment> (50 min ago)
  who      anna@desk, process 4711 on <host>
  why      bigger subnets
  mode     apply
  state    failed
  commit   9f3c2ab417d04e3bb0ba6a4c2c1bb1d9a1f0c7de
  took     1 min 12 s

WAVE  STATE    TOOK  PLAN                  STACK
0     applied  12 s  +2 ±1                 stacks/prod/vpc
1     failed   12 s  +2 ~1 -1 ±1 <1 >1 =1  stacks/prod/db
2     blocked        +2 ±1                 stacks/prod/web:blue
2     blocked        +2 ±1                 stacks/prod/web:green

`stacks/prod/db` blocks 2 stacks

`stacks/prod/db`: check `cost`: warn: 40 more a month

`stacks/prod/db` failed in apply
    Error: creating the database

      on main.tf line 12, in resource \"terraform_data\" \"c\":
      12: resource \"terraform_data\" \"c\" {

    the quota is used up
";
    for word in ["-2", &ids[1], &ids[1][..20]] {
        says(&room.run(&["infra", "runs", "show", word]), &ids, 0, wanted);
    }
    let one = room.run(&["infra", "runs", "show", "-3", "--stack", "stacks/prod/db"]);
    let tail = "Terraform will perform the following actions:\n\n  # terraform_data.a will be created\n";
    assert!(one.stdout.ends_with(tail) && !one.stdout.contains("vpc"), "{}", one.stdout);
    for (args, wanted) in [
        (&["x"][..], "suil: there is no run `x`\nhelp: `suil infra runs` lists them; see `--limit`\n"),
        (&["-7"], "suil: there is no run `-7`: 4 runs recorded\nhelp: `suil infra runs` lists them\n"),
        (
            &["-2", "--stack", "stacks/prod/bd"],
            "suil: run `<FAILED>` has no stack `stacks/prod/bd`\nhelp: did you mean `stacks/prod/db`?\n",
        ),
    ] {
        says(&room.run(&[&["infra", "runs", "show"], args].concat()), &ids, 1, wanted);
    }
    let many = room.run(&["infra", "runs", "show", "0"]);
    assert!(many.stderr.starts_with("suil: more than one run begins with `0`\nnote: such as `0"), "{}", many.stderr);
}

#[test]
fn locks_are_taken_away_from_who_is_gone_and_from_others_by_force() {
    let (room, ids) = filled();
    says(
        &room.run(&["infra", "locks"]),
        &ids,
        0,
        "\
RUN            AGE  PROCESS  STACK
<FAILED>       now  gone     stacks/prod/db
<FAILED>       now  gone     stacks/prod/vpc
<FAILED>       now  gone     stacks/prod/web:blue
<FAILED>       now  gone     stacks/prod/web:green
    anna@desk, process 4711 on <host>: bigger subnets
<MINE>         now  alive    stacks/dev/vpc
    anna@desk, process <pid> on <host>
<AWAY>         now  unknown  stacks/old/queue
    ci@runner-7, process 33 on runner-7: job 81
",
    );
    let unlock = |keys: &[&str]| room.run(&[&["infra", "unlock", "--reason", "it hangs"], keys].concat());
    says(
        &unlock(&["stacks/prod/vpc", "stacks/dev/vpc"]),
        &ids,
        3,
        "\
suil: the process that holds `stacks/dev/vpc` is still there
note: `stacks/dev/vpc` is held by run `<MINE>`: anna@desk, process <pid> on <host>, since <moment>
help: wait, or end it; `--force` takes the locks away all the same
",
    );
    says(
        &unlock(&["stacks/prod/vcp", "x"]),
        &ids,
        1,
        "\
suil: `stacks/prod/vcp` is not locked
help: did you mean `stacks/prod/vpc`?

suil: `x` is not locked
help: `suil infra locks` lists all that are
",
    );
    says(
        &unlock(&["stacks/prod/web:blue", "acme/infra//stacks/old/queue/", "--force-state"]),
        &ids,
        0,
        "\
released `stacks/prod/web:blue`, held by run `<FAILED>` of anna@desk
released `stacks/old/queue`, held by run `<AWAY>` of ci@runner-7

Terraform's own lock of a state is not touched. Where one is left over, its refusal shows an
id, and this takes it away:
  terraform -chdir=stacks/prod/web force-unlock LOCK_ID
  terraform -chdir=stacks/old/queue force-unlock LOCK_ID
",
    );
    says(
        &unlock(&["stacks/dev/vpc", "--force"]),
        &ids,
        0,
        "\
released `stacks/dev/vpc`, held by run `<MINE>` of anna@desk
run `<MINE>` goes on: it ends what it has begun, and begins no other stack
",
    );
    let audit = room.set("USER", "ben").run(&["infra", "audit", "--limit", "2"]);
    says(
        &audit,
        &ids,
        0,
        "\
WHEN                  ACTION  RUN            STACK
<moment>  unlock  <MINE>         stacks/dev/vpc
    someone@<host>: it hangs
<moment>  unlock  <AWAY>         stacks/old/queue
    someone@<host>: it hangs (the lock of the state as well)
",
    );
}

#[test]
fn an_unlock_says_why() {
    let (room, ids) = filled();
    let left = room.run(&["infra", "unlock", "stacks/prod/vpc", "--reason", " "]);
    says(&left, &ids, 64, "suil: the reason says nothing\nhelp: say why with `--reason TEXT`\n");
    assert_eq!(room.run(&["infra", "unlock", "stacks/prod/vpc"]).status, 64);
}

#[test]
fn the_store_of_the_environment_goes_before_the_one_of_the_tree() {
    let (room, _) = filled();
    let room = room.set("SUIL_STORE", "postgres://anna:sesame@127.0.0.1:1/infra");
    says(
        &room.run(&["infra", "runs"]),
        &[],
        1,
        "\
suil: cannot reach the store `postgres://127.0.0.1:1/infra`: error connecting to server: Connection refused
help: see that the server runs and that SUIL_STORE names it
",
    );
    let room = room.set("SUIL_STORE", &crate::server::server().url(&crate::server::server().database()));
    says(&room.run(&["infra", "runs"]), &[], 0, "no runs\n");
}

#[test]
fn runs_and_locked_stacks_are_completed() {
    let (room, ids) = filled();
    let ask = |words: &[&str]| {
        let index = (words.len() - 1).to_string();
        let shell = [("SUIL_COMPLETE", "bash"), ("_CLAP_COMPLETE_INDEX", &*index), ("_CLAP_IFS", "\n")];
        let left = room.run_in("", &shell, &[&["--"], words].concat());
        left.stdout.lines().filter(|word| !word.starts_with('-')).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut found = ask(&["suil", "infra", "runs", "show", "0"]);
    found.reverse();
    assert_eq!(found, ids);
    assert_eq!(ask(&["suil", "infra", "unlock", "stacks/prod/w"]), ["stacks/prod/web:blue", "stacks/prod/web:green"]);
}

#[test]
fn commands_are_about_the_repository_of_the_tree_where_others_share_the_store() {
    let server = crate::server::server();
    let url = server.url(&server.database());
    let ids = fill(&*open(Some(&url), "/nowhere".as_ref()));
    let room = Room::with(&[("stackorder.yaml", "version: 1\n")]).set("SUIL_STORE", &url);
    let asked = |args: &[&str]| room.run(&[&["infra"], args].concat());
    says(&asked(&["runs"]), &ids, 0, "no runs\n");
    says(&asked(&["locks"]), &ids, 0, "no locks\n");
    says(
        &asked(&["unlock", "stacks/prod/vpc", "--reason", "x"]),
        &ids,
        1,
        "\
suil: `stacks/prod/vpc` is not locked
help: another repository has locked it: `acme/infra//stacks/prod/vpc`
",
    );
    assert_eq!(asked(&["runs", "--repo", "ACME/infra"]).stdout.lines().count(), 9);
    assert_eq!(asked(&["runs", "show", "-2", "--repo", "acme/infra"]).status, 0);
    says(
        &asked(&["unlock", "acme/infra//stacks/old/queue", "--reason", "x"]),
        &ids,
        0,
        "\
released `stacks/old/queue`, held by run `<AWAY>` of ci@runner-7
",
    );
    assert_eq!(asked(&["locks", "--repo", "acme/infra"]).stdout.lines().count(), 8);
}
