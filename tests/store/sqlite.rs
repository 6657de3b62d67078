//! What is SQLite's own: the file.

use crate::{Room, keys, run};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use suil::base::problem::Kind;
use suil::infra::store::{self, Mode};

#[test]
fn the_file_is_for_its_owner_alone() {
    let room = Room::sqlite();
    let store = room.open();
    store.take(&run(Mode::Apply), &keys(&["a"]), "").expect("asked").or_refuse().expect("free");
    let mode = |path: &str| {
        let found = fs::metadata(room.root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        found.permissions().mode() & 0o777
    };
    assert_eq!(mode(".suil"), 0o700);
    for file in [".suil/infra.db", ".suil/infra.db-wal", ".suil/infra.db-shm"] {
        assert_eq!(mode(file), 0o600, "{file}");
    }
}

#[test]
fn a_connection_is_set_up_for_many_processes() {
    let room = Room::sqlite();
    drop(room.open());
    let connection = Connection::open(room.root().join(".suil/infra.db")).expect("a database");
    let get = |name: &str| {
        let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
        connection.query_row(&sql, [], |row| row.get::<_, String>(0)).expect("a setting")
    };
    assert_eq!((get("journal_mode"), get("user_version")), ("wal".to_owned(), "1".to_owned()));
}

#[test]
fn the_store_of_a_newer_suil_is_refused() {
    let room = Room::sqlite();
    drop(room.open());
    let connection = Connection::open(room.root().join(".suil/infra.db")).expect("a database");
    connection.execute_batch("PRAGMA user_version = 99").expect("set");
    let problem = store::open(None, &room.root()).err().expect("refused");
    assert_eq!(problem.kind, Kind::Refused);
    assert!(problem.what.ends_with(".suil/infra.db` was made by a newer suil"), "{problem:?}");
    assert!(problem.notes[0].text.starts_with("it has layout 99, and this suil knows layouts up to "), "{problem:?}");
}

#[test]
fn a_damaged_store_says_what_to_do() {
    let room = Room::sqlite();
    let store = room.open();
    for i in 0..200 {
        store.take(&run(Mode::Apply), &[format!("{i}")], &"x".repeat(100)).expect("asked").or_refuse().expect("free");
    }
    drop(store);
    let path = room.root().join(".suil/infra.db");
    let whole = fs::read(&path).expect("the file");
    assert!(whole.len() > 40_000);
    let middle = [&whole[..4096], &vec![0xa5; whole.len() - 4096]].concat();
    let half = whole[..whole.len() / 2].to_vec();
    for (name, bytes) in
        [("no database", b"not a database at all, but long enough".repeat(200)), ("spoilt", middle), ("cut", half)]
    {
        fs::write(&path, bytes).expect("spoilt");
        let problem = match store::open(None, &room.root()) {
            Err(problem) => problem,
            Ok(store) => store.locks().err().unwrap_or_else(|| panic!("{name}: nothing was seen")),
        };
        assert!(problem.what.contains(".suil/infra.db` is damaged: "), "{name}: {problem:?}");
        assert!(problem.help.is_some_and(|help| help.contains("infra.db.damaged")), "{name}");
    }
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let room = Room::sqlite();
    fs::create_dir(room.root().join(".suil")).expect("a folder");
    let path = room.root().join(".suil/infra.db");
    let connection = Connection::open(&path).expect("a database");
    connection.execute_batch("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)").expect("a table");
    let problem = store::open(None, &room.root()).err().expect("refused");
    assert!(problem.what.contains("is a database of another program"), "{problem:?}");
    let tables: i64 = connection.query_row("SELECT COUNT(*) FROM sqlite_schema", [], |row| row.get(0)).expect("read");
    assert_eq!(tables, 1);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let room = Room::sqlite();
    fs::write(room.root().join(".suil"), "a file").expect("a file");
    let problem = store::open(None, &room.root()).err().expect("no store");
    assert!(problem.what.contains("/.suil`"), "{problem:?}");
}
