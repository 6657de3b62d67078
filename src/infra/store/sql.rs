//! What SQLite and PostgreSQL have in common: statements, values, rows, transactions.
//!
//! Statements are written as PostgreSQL reads them (`$1`, tables in the schema `suil`), with nothing that SQLite would
//! read otherwise.

use crate::base::Problem;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A value of a column: whole numbers of 64 bits and texts are all that the store needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Field {
    Int(Option<i64>),
    Text(Option<String>),
}

/// A row that was found.
#[derive(Clone, Debug, Default)]
pub struct Row(pub Vec<Field>);

/// Why a statement did not come back.
#[derive(Debug)]
pub enum Fault {
    /// The connection broke, or the server gave the transaction up: nothing of it happened.
    Lost(Problem),
    /// The connection broke while the transaction ended: nobody knows whether it happened.
    Unsure(Problem),
    Failed(Problem),
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Fault {
        Fault::Failed(problem)
    }
}

impl Fault {
    pub fn problem(self) -> Problem {
        match self {
            Fault::Lost(problem) | Fault::Unsure(problem) | Fault::Failed(problem) => problem,
        }
    }
}

/// An open transaction.
pub trait Session {
    /// Runs a statement and gives its rows.
    ///
    /// # Errors
    /// The database refuses it, or is gone.
    fn query(&mut self, sql: &str, fields: &[Field]) -> Result<Vec<Row>, Fault>;

    /// Runs a statement and counts the rows that it changed.
    ///
    /// # Errors
    /// As [`Session::query`].
    fn execute(&mut self, sql: &str, fields: &[Field]) -> Result<u64, Fault>;
}

/// How a transaction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Write {
    /// Doing it twice comes to the same as once, so it is done again where nobody knows whether it happened.
    Again,
    /// The same, and no other transaction takes or moves locks meanwhile.
    Locking,
    /// As [`Write::Locking`], but never done twice.
    Once,
}

/// The body of a transaction. It may be run again after the connection broke.
pub type Work<'a> = dyn FnMut(&mut dyn Session) -> Result<(), Fault> + 'a;

/// A database: SQLite or PostgreSQL.
pub trait Database: Send + Sync {
    /// What people know it by, without a password.
    fn place(&self) -> String;

    /// Runs statements that only read.
    ///
    /// # Errors
    /// The database cannot be reached or read, or `work` failed.
    fn read(&self, work: &mut Work<'_>) -> Result<(), Problem>;

    /// Runs a transaction that happens whole or not at all.
    ///
    /// # Errors
    /// As [`Database::read`]; nothing happened then, except where the problem says that nobody knows.
    fn write(&self, write: Write, work: &mut Work<'_>) -> Result<(), Problem>;
}

impl From<i64> for Field {
    fn from(value: i64) -> Field {
        Field::Int(Some(value))
    }
}

impl From<u32> for Field {
    fn from(value: u32) -> Field {
        Field::Int(Some(value.into()))
    }
}

impl From<&str> for Field {
    fn from(value: &str) -> Field {
        Field::Text(Some(storable(value)))
    }
}

impl From<&String> for Field {
    fn from(value: &String) -> Field {
        Field::from(value.as_str())
    }
}

impl From<&Option<String>> for Field {
    fn from(value: &Option<String>) -> Field {
        Field::Text(value.as_deref().map(storable))
    }
}

impl From<DateTime<Utc>> for Field {
    fn from(value: DateTime<Utc>) -> Field {
        Field::Int(Some(value.timestamp_millis()))
    }
}

impl From<Option<DateTime<Utc>>> for Field {
    fn from(value: Option<DateTime<Utc>>) -> Field {
        Field::Int(value.map(|at| at.timestamp_millis()))
    }
}

/// PostgreSQL has no text with a NUL in it, so none is stored in either.
fn storable(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.to_owned() }
}

/// A list or a record as JSON.
pub fn json(value: &impl Serialize) -> Field {
    Field::Text(Some(serde_json::to_string(value).unwrap_or_default()))
}

impl Row {
    fn field(&self, at: usize) -> Result<&Field, Problem> {
        self.0.get(at).ok_or_else(|| broken(at, "nothing"))
    }

    /// A number that may be missing.
    pub fn maybe_int(&self, at: usize) -> Result<Option<i64>, Problem> {
        match self.field(at)? {
            Field::Int(value) => Ok(*value),
            Field::Text(None) => Ok(None),
            Field::Text(Some(_)) => Err(broken(at, "a text")),
        }
    }

    pub fn int(&self, at: usize) -> Result<i64, Problem> {
        self.maybe_int(at)?.ok_or_else(|| broken(at, "nothing"))
    }

    /// A text that may be missing.
    pub fn maybe_text(&self, at: usize) -> Result<Option<String>, Problem> {
        match self.field(at)? {
            Field::Text(value) => Ok(value.clone()),
            Field::Int(None) => Ok(None),
            Field::Int(Some(_)) => Err(broken(at, "a number")),
        }
    }

    pub fn text(&self, at: usize) -> Result<String, Problem> {
        self.maybe_text(at)?.ok_or_else(|| broken(at, "nothing"))
    }

    /// A moment, kept in milliseconds.
    pub fn maybe_time(&self, at: usize) -> Result<Option<DateTime<Utc>>, Problem> {
        let Some(value) = self.maybe_int(at)? else { return Ok(None) };
        DateTime::from_timestamp_millis(value).map(Some).ok_or_else(|| broken(at, &value.to_string()))
    }

    pub fn time(&self, at: usize) -> Result<DateTime<Utc>, Problem> {
        self.maybe_time(at)?.ok_or_else(|| broken(at, "nothing"))
    }

    pub fn unsigned(&self, at: usize) -> Result<u32, Problem> {
        let value = self.int(at)?;
        u32::try_from(value).map_err(|_| broken(at, &value.to_string()))
    }

    /// A word of an enumeration.
    pub fn word<T>(&self, at: usize, of: fn(&str) -> Option<T>) -> Result<T, Problem> {
        let word = self.text(at)?;
        of(&word).ok_or_else(|| broken(at, &format!("`{word}`")))
    }

    pub fn json<T: DeserializeOwned>(&self, at: usize) -> Result<T, Problem> {
        let text = self.text(at)?;
        serde_json::from_str(&text).map_err(|e| broken(at, &format!("JSON that cannot be read ({e})")))
    }
}

fn broken(at: usize, found: &str) -> Problem {
    Problem::new(format!("a row of the store makes no sense: column {} holds {found}", at + 1))
        .help("another program, or a newer suil, has written to the store")
}

/// Inserts rows, many with one statement. `tail` is what stands behind the values, such as `ON CONFLICT DO NOTHING`.
///
/// # Errors
/// As [`Session::execute`].
pub fn insert(
    session: &mut dyn Session,
    table: &str,
    columns: &[&str],
    tail: &str,
    rows: &[Vec<Field>],
) -> Result<u64, Fault> {
    let mut changed = 0;
    // Both databases allow tens of thousands of values in a statement.
    for chunk in rows.chunks((8000 / columns.len().max(1)).max(1)) {
        let mut sql = format!("INSERT INTO suil.{table} ({}) VALUES ", columns.join(", "));
        let mut n = 0;
        for i in 0..chunk.len() {
            sql.push_str(if i == 0 { "(" } else { ", (" });
            for column in 0..columns.len() {
                n += 1;
                sql.push_str(if column == 0 { "$" } else { ", $" });
                sql.push_str(&n.to_string());
            }
            sql.push(')');
        }
        sql.push(' ');
        sql.push_str(tail);
        let fields: Vec<Field> = chunk.iter().flatten().cloned().collect();
        changed += session.execute(&sql, &fields)?;
    }
    Ok(changed)
}

/// `column IN ($3, $4, …)` for pieces of a list of texts; `first` is the number of its first value.
pub fn among<'a>(
    column: &'a str,
    values: &'a [String],
    first: usize,
) -> impl Iterator<Item = (String, Vec<Field>)> + 'a {
    values.chunks(4000).map(move |chunk| {
        let marks: Vec<String> = (first..first + chunk.len()).map(|n| format!("${n}")).collect();
        (format!("{column} IN ({})", marks.join(", ")), chunk.iter().map(Field::from).collect())
    })
}
