//! SQLite: one file in the tree, for one machine.

use super::schema;
use super::sql::{Database, Fault, Field, Row, Session, Work, Write};
use crate::base::{Problem, file};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// So long a statement waits for another process that writes.
const BUSY: Duration = Duration::from_secs(30);
/// Says in the file that it is a store of suil: `suil` in ASCII.
const APPLICATION: i64 = 0x7375_696c;
/// The first switch to a write-ahead log needs the file for itself, and SQLite does not wait for that.
const TRIES: u32 = 600;
const PAUSE: Duration = Duration::from_millis(50);

/// The store of a tree.
pub struct Sqlite {
    /// As it is shown.
    place: String,
    connection: Mutex<Connection>,
}

/// The file of the store of the tree at `root`.
pub fn path(root: &Path) -> PathBuf {
    root.join(".suil/infra.db")
}

impl Sqlite {
    /// Opens the store of the tree at `root`, and makes it where there is none: the folder for its owner alone, and the
    /// file too.
    ///
    /// # Errors
    /// It cannot be made or read, is damaged, is no store, or is one of a newer suil (refused).
    pub fn open(root: &Path) -> Result<Sqlite, Problem> {
        let path = path(root);
        file::own_folder(root)?;
        // SQLite gives the files beside it the mode of this one.
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(|e| Problem::io("open the store", &path, &e))?;
        let place = path.display().to_string();
        let told = |e: rusqlite::Error| told(&place, &e).problem();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(told)?;
        connection.busy_timeout(BUSY).map_err(told)?;
        connection.set_prepared_statement_cache_capacity(64);
        log(&connection).map_err(told)?;
        connection.execute_batch("PRAGMA synchronous = NORMAL").map_err(told)?;
        let version = pragma(&connection, "user_version").map_err(told)?;
        let store = Sqlite { place, connection: Mutex::new(connection) };
        if version != schema::version() {
            store.migrate()?;
        }
        Ok(store)
    }

    fn migrate(&self) -> Result<(), Problem> {
        self.transaction(&mut |connection| {
            let told = |e: rusqlite::Error| told(&self.place, &e);
            // Another process may have done it meanwhile.
            let version = pragma(connection, "user_version").map_err(told)?;
            if version > schema::version() {
                return Err(schema::newer(&self.place, version).into());
            }
            if version == 0 && pragma(connection, "schema_version").map_err(told)? != 0 {
                let problem = Problem::new(format!("`{}` is a database of another program, and no store", self.place));
                return Err(problem.help("move it away, and the next command begins a store").into());
            }
            schema::migrate(&mut Lite { place: &self.place, connection }, version)?;
            let marks = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {}", schema::version());
            connection.execute_batch(&marks).map_err(told)
        })
    }

    fn transaction(&self, work: &mut dyn FnMut(&Connection) -> Result<(), Fault>) -> Result<(), Problem> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let told = |e: rusqlite::Error| told(&self.place, &e).problem();
        // A transaction that begins by writing never has to give way half done.
        connection.execute_batch("BEGIN IMMEDIATE").map_err(told)?;
        let ended =
            work(&connection).map_err(Fault::problem).and_then(|()| connection.execute_batch("COMMIT").map_err(told));
        if ended.is_err() && !connection.is_autocommit() {
            // Where this fails, too, the transaction ends with the connection.
            let _ = connection.execute_batch("ROLLBACK");
        }
        ended
    }
}

/// Sets the write-ahead log, which readers and the writer do not hinder each other in.
fn log(connection: &Connection) -> rusqlite::Result<()> {
    let mut tries = 0;
    loop {
        let set = connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
        match set {
            Err(e) if busy(&e) && tries < TRIES => {
                tries += 1;
                std::thread::sleep(PAUSE);
            }
            other => return other,
        }
    }
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0))
}

fn busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The problem behind an error of SQLite.
fn told(place: &str, error: &rusqlite::Error) -> Fault {
    let words = error.to_string();
    let problem = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Problem::new(format!("the store `{place}` is damaged: {words}"))
                .note("it holds the locks and the runs; the states of Terraform are elsewhere and are not touched")
                .help(format!(
                    "see that nobody applies, move it away (`mv {place} {place}.damaged`, and `{place}-wal` with it), \
                     and the next command begins a new one"
                ))
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Problem::new(format!(
            "the store `{place}` is busy: another process has been writing for {} s",
            BUSY.as_secs()
        ))
        .help("look for a suil that hangs, and try again"),
        _ => Problem::new(format!("cannot use the store `{place}`: {words}")),
    };
    Fault::Failed(problem)
}

impl Database for Sqlite {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn read(&self, work: &mut Work<'_>) -> Result<(), Problem> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut Lite { place: &self.place, connection: &connection }).map_err(Fault::problem)
    }

    fn write(&self, _: Write, work: &mut Work<'_>) -> Result<(), Problem> {
        // One process writes at a time, so locks need nothing of their own.
        self.transaction(&mut |connection| work(&mut Lite { place: &self.place, connection }))
    }
}

struct Lite<'a> {
    place: &'a str,
    connection: &'a Connection,
}

impl Lite<'_> {
    /// SQLite has no schemas, and numbers its values by `?1`.
    fn dialect(sql: &str) -> String {
        sql.replace("suil.", "").replace('$', "?")
    }
}

impl Session for Lite<'_> {
    fn query(&mut self, sql: &str, fields: &[Field]) -> Result<Vec<Row>, Fault> {
        let told = |e: rusqlite::Error| told(self.place, &e);
        let mut statement = self.connection.prepare_cached(&Lite::dialect(sql)).map_err(told)?;
        let columns = statement.column_count();
        let mut rows = statement.query(params_from_iter(fields)).map_err(told)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(told)? {
            let fields: rusqlite::Result<Vec<Field>> = (0..columns).map(|at| row.get_ref(at).map(field)).collect();
            found.push(Row(fields.map_err(told)?));
        }
        Ok(found)
    }

    fn execute(&mut self, sql: &str, fields: &[Field]) -> Result<u64, Fault> {
        let told = |e: rusqlite::Error| told(self.place, &e);
        let mut statement = self.connection.prepare_cached(&Lite::dialect(sql)).map_err(told)?;
        let changed = statement.execute(params_from_iter(fields)).map_err(told)?;
        Ok(changed as u64)
    }
}

impl ToSql for Field {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Field::Int(Some(value)) => ToSqlOutput::Owned(Value::Integer(*value)),
            Field::Text(Some(text)) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
            Field::Int(None) | Field::Text(None) => ToSqlOutput::Owned(Value::Null),
        })
    }
}

fn field(value: ValueRef<'_>) -> Field {
    match value {
        ValueRef::Null => Field::Text(None),
        ValueRef::Integer(value) => Field::Int(Some(value)),
        ValueRef::Real(value) => Field::Text(Some(value.to_string())),
        ValueRef::Text(text) | ValueRef::Blob(text) => Field::Text(Some(String::from_utf8_lossy(text).into_owned())),
    }
}
