//! Statements and their answers, and what the errors of a server mean.

use super::line::Line;
use crate::base::Problem;
use crate::infra::store::sql::{Fault, Field, Row, Session};
use std::error::Error as _;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Error};

/// An open transaction, or none for reading.
pub struct Remote<'a> {
    pub line: &'a mut Line,
}

impl Session for Remote<'_> {
    fn query(&mut self, sql: &str, fields: &[Field]) -> Result<Vec<Row>, Fault> {
        Ok(self.line.run(sql, fields, true)?.rows)
    }

    fn execute(&mut self, sql: &str, fields: &[Field]) -> Result<u64, Fault> {
        Ok(self.line.run(sql, fields, false)?.changed)
    }
}

/// What a statement gave.
#[derive(Default)]
pub struct Answer {
    pub rows: Vec<Row>,
    pub changed: u64,
}

impl Answer {
    /// Runs a statement. The types of its values are told, so that it takes one round trip and leaves nothing prepared.
    pub async fn of(client: &Client, sql: &str, fields: &[Field], rows: bool) -> Result<Answer, Error> {
        let typed: Vec<(&(dyn ToSql + Sync), Type)> = fields
            .iter()
            .map(|field| {
                let kind = match field {
                    Field::Int(_) => Type::INT8,
                    Field::Text(_) => Type::TEXT,
                };
                (field as &(dyn ToSql + Sync), kind)
            })
            .collect();
        if !rows {
            return Ok(Answer { rows: Vec::new(), changed: client.execute_typed(sql, &typed).await? });
        }
        let found = client.query_typed(sql, &typed).await?;
        let rows = found.iter().map(row).collect::<Result<Vec<_>, Error>>()?;
        Ok(Answer { rows, changed: 0 })
    }
}

fn row(row: &tokio_postgres::Row) -> Result<Row, Error> {
    let fields = row.columns().iter().enumerate().map(|(at, column)| {
        Ok(match *column.type_() {
            Type::INT8 => Field::Int(row.try_get(at)?),
            Type::TEXT => Field::Text(row.try_get(at)?),
            // A function that gives nothing.
            _ => Field::Text(None),
        })
    });
    Ok(Row(fields.collect::<Result<_, Error>>()?))
}

impl ToSql for Field {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self {
            Field::Int(value) => value.to_sql(kind, out),
            Field::Text(value) => value.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::TEXT)
    }

    to_sql_checked!();
}

/// What an error says, with its causes, in one line. A server's own words hold no password.
pub fn words(error: &Error) -> String {
    if let Some(told) = error.as_db_error() {
        return told.message().replace('\n', " ");
    }
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(one) = cause {
        let text = one.to_string();
        let text = text.split(" (os error").next().unwrap_or_default();
        if !words.contains(text) {
            words = format!("{words}: {text}");
        }
        cause = one.source();
    }
    words
}

/// True where the connection is gone with the statement: the server ends, or ended the session.
pub fn broken(error: &Error) -> bool {
    let code = error.code().map(|code| code.code());
    code.is_some_and(|code| code.starts_with("57P") || code.starts_with("08") || code == "25P03")
}

/// True where the server gave the transaction up for another one: nothing of it happened.
pub fn given_up(error: &Error) -> bool {
    matches!(error.code().map(|code| code.code()), Some("40001" | "40P01"))
}

/// The problem of a statement that the server refuses.
pub fn refused(place: &str, error: &Error) -> Problem {
    match error.code().map(|code| code.code()) {
        Some("55P03" | "57014") => {
            Problem::new(format!("the store `{place}` is busy: another process has held it for 30 s"))
                .help("look for a suil that hangs, and try again")
        }
        Some("42501") => Problem::new(format!("the store `{place}` refuses: {}", words(error)))
            .help("the user of SUIL_STORE needs a schema `suil` of its own: `CREATE SCHEMA suil AUTHORIZATION <user>`"),
        _ => Problem::new(format!("cannot use the store `{place}`: {}", words(error))),
    }
}
