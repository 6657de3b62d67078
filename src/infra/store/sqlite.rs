//! SQLite: one file in the tree, for one machine.

use super::ledger::Ledger;
use super::sql::{Database, Fault, Field, Row, Session, Work, Write};
use super::{Known, schema};
use crate::base::{Problem, file};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql, params_from_iter};
use rustix::fs::Access;
use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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

/// Opens the store of the tree at `root` where there is one, for writing where that may be, else for reading.
///
/// # Errors
/// As [`Sqlite::open`].
pub fn known(root: &Path) -> Result<Known, Problem> {
    let path = path(root);
    let closed = |e: &std::io::Error| Known::Closed(advised(Problem::io("read the store", &path, e), &path));
    // Who may not look into the folder is not told whether it is there.
    match path.symlink_metadata() {
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(Known::None),
        Err(e) if is_denied(&e) => return Ok(closed(&e)),
        _ => {}
    }
    if let Err(e) = File::open(&path)
        && is_denied(&e)
    {
        return Ok(closed(&e));
    }
    match is_writable(&path) {
        true => Ok(Known::Open(Arc::new(Ledger(Sqlite::open(root)?)))),
        false => Sqlite::read_only(&path),
    }
}

/// True where this user may write the file and make others beside it, in a folder that is their own.
fn is_writable(path: &Path) -> bool {
    let may = |path: &Path, access| rustix::fs::access(path, access).is_ok();
    let Some(folder) = path.parent() else { return false };
    let user = rustix::process::geteuid();
    let is_own = user.is_root() || folder.metadata().is_ok_and(|found| found.uid() == user.as_raw());
    is_own && may(folder, Access::WRITE_OK | Access::EXEC_OK) && may(path, Access::WRITE_OK | Access::READ_OK)
}

fn is_denied(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// What helps whoever may not use a store.
fn advised(problem: Problem, path: &Path) -> Problem {
    if problem.help.is_some() {
        return problem;
    }
    let folder = path.parent().unwrap_or(path);
    problem.help(format!(
        "run suil as the owner of `{}`, or keep the store elsewhere: `SUIL_STORE=postgres://…`",
        folder.display()
    ))
}

/// A file that SQLite keeps beside the one at `path`.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Opens a database for reading, and reads of it: before that nothing is known of whether it can be read.
fn looked(path: &Path, more: &str) -> rusqlite::Result<Connection> {
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => address.push(char::from(*byte)),
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address.push_str("?mode=ro");
    address.push_str(more);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(address, flags)?;
    set_up(&connection)?;
    pragma(&connection, "schema_version")?;
    Ok(connection)
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(64);
    connection.busy_timeout(BUSY)
}

fn denied(error: &rusqlite::Error) -> bool {
    let codes = [ErrorCode::CannotOpen, ErrorCode::ReadOnly, ErrorCode::PermissionDenied];
    error.sqlite_error_code().is_some_and(|code| codes.contains(&code))
}

impl Sqlite {
    /// Opens the store of the tree at `root`, and makes it where there is none: the folder for its owner alone, and the
    /// file too.
    ///
    /// # Errors
    /// It cannot be made or read, is damaged, is no store, or is one of a newer suil (refused).
    pub fn open(root: &Path) -> Result<Sqlite, Problem> {
        let path = path(root);
        let advised = |problem| advised(problem, &path);
        file::own_folder(root).map_err(advised)?;
        // SQLite gives the files beside it the mode of this one.
        OpenOptions::new()
            .create(true)
            .append(true)
            .mode(0o600)
            .open(&path)
            .map_err(|e| advised(Problem::io("open the store", &path, &e)))?;
        let place = path.display().to_string();
        let told = |e: rusqlite::Error| told(&place, &e).problem();
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(told)?;
        set_up(&connection).map_err(told)?;
        log(&connection).map_err(told)?;
        connection.execute_batch("PRAGMA synchronous = NORMAL").map_err(told)?;
        let version = pragma(&connection, "user_version").map_err(told)?;
        let store = Sqlite { place, connection: Mutex::new(connection) };
        if version != schema::version() {
            store.migrate()?;
        }
        Ok(store)
    }

    /// Opens it for reading alone; nothing in its folder is touched.
    fn read_only(path: &Path) -> Result<Known, Problem> {
        let place = path.display().to_string();
        let told = |e: rusqlite::Error| told(&place, &e).problem();
        let connection = match looked(path, "") {
            // With no log beside it nobody has it open, and all is in the file; SQLite would want to make a log.
            Err(e) if denied(&e) && !beside(path, "-wal").exists() => looked(path, "&immutable=1"),
            opened => opened,
        };
        let connection = match connection {
            Err(e) if denied(&e) => return Ok(Known::Closed(told(e))),
            opened => opened.map_err(told)?,
        };
        match pragma(&connection, "user_version").map_err(told)? {
            version if version > schema::version() => Err(schema::newer(&place, version)),
            version if version < schema::version() => {
                let problem = Problem::new(format!("the store `{place}` is none that this suil can only read"));
                Err(advised(problem, path))
            }
            _ => Ok(Known::Open(Arc::new(Ledger(Sqlite { place, connection: Mutex::new(connection) })))),
        }
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
        _ if denied(error) => {
            advised(Problem::new(format!("cannot use the store `{place}`: {words}")), Path::new(place))
        }
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
