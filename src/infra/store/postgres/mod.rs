//! PostgreSQL: one store for several machines.
//!
//! A thread of its own holds the connection and its runtime, so that callers may be threads or sit inside another runtime.
//! A connection that broke is made anew. A transaction whose end nobody knows is done again where that comes to the same.

mod address;
mod line;
mod passfile;
mod session;
mod surroundings;
mod tls;

use super::Server;
use super::schema;
use super::sql::{Database, Fault, Session, Work, Write};
use crate::base::Problem;
use address::Address;
use line::Line;
use session::Remote;
use std::sync::{Mutex, PoisonError};

/// No other transaction takes or moves locks meanwhile; readers are not held up.
const LOCKS: &str = "LOCK TABLE suil.locks IN SHARE ROW EXCLUSIVE MODE";
/// Held by whoever makes the tables: `suil` in ASCII.
const TURN: &str = "SELECT pg_advisory_xact_lock(1937074540)";
/// So often a transaction is tried whose connection broke or that the server gave up for another one.
const TRIES: u32 = 5;

/// A store that several machines share.
pub struct Postgres {
    place: String,
    line: Mutex<Line>,
}

impl Postgres {
    /// Connects, and makes the tables where there are none.
    ///
    /// # Errors
    /// The address makes no sense (usage), the server cannot be reached or refuses, or a newer suil has made the tables
    /// (refused).
    pub fn open(server: &Server) -> Result<Postgres, Problem> {
        let address = Address::parse(server)?;
        let place = address.place.clone();
        let store = Postgres { place, line: Mutex::new(Line::new(address)?) };
        if store.version()? != Some(schema::version()) {
            store.migrate()?;
        }
        Ok(store)
    }

    /// The version of the tables, where there are any.
    fn version(&self) -> Result<Option<i64>, Problem> {
        let mut found = None;
        self.read(&mut |session| {
            found = version(session)?;
            Ok(())
        })?;
        match found {
            Some(version) if version > schema::version() => Err(schema::newer(&self.place, version)),
            other => Ok(other),
        }
    }

    fn migrate(&self) -> Result<(), Problem> {
        self.transaction(None, true, &mut |session| {
            session.query(TURN, &[])?;
            // Asked first: to make one takes a right that who has one need not have.
            if !there(session, "SELECT CAST(to_regnamespace('suil') AS TEXT)")? {
                session.execute("CREATE SCHEMA suil", &[])?;
            }
            session.execute("CREATE TABLE IF NOT EXISTS suil.layout (version BIGINT NOT NULL)", &[])?;
            let found = version(session)?.unwrap_or(0);
            if found > schema::version() {
                return Err(schema::newer(&self.place, found).into());
            }
            schema::migrate(session, found)?;
            session.execute("DELETE FROM suil.layout", &[])?;
            session.execute("INSERT INTO suil.layout (version) VALUES ($1)", &[schema::version().into()])?;
            Ok(())
        })
    }

    fn transaction(&self, first: Option<&str>, again: bool, work: &mut Work<'_>) -> Result<(), Problem> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tries = 1;
        loop {
            match line.once(first, work) {
                Ok(()) => return Ok(()),
                Err(Fault::Unsure(problem)) if !again => {
                    let problem = Problem::new(format!("nobody knows whether it happened: {}", problem.what));
                    return Err(problem.help("look with `suil infra locks` before you do it again"));
                }
                Err(Fault::Lost(_) | Fault::Unsure(_)) if tries < TRIES => tries += 1,
                Err(other) => return Err(other.problem()),
            }
        }
    }
}

fn there(session: &mut dyn Session, sql: &str) -> Result<bool, Fault> {
    Ok(session.query(sql, &[])?.first().map(|row| row.maybe_text(0)).transpose()?.flatten().is_some())
}

fn version(session: &mut dyn Session) -> Result<Option<i64>, Fault> {
    if !there(session, "SELECT CAST(to_regclass('suil.layout') AS TEXT)")? {
        return Ok(None);
    }
    let rows = session.query("SELECT version FROM suil.layout", &[])?;
    Ok(rows.first().map(|row| row.int(0)).transpose()?)
}

impl Database for Postgres {
    fn place(&self) -> String {
        self.place.clone()
    }

    fn read(&self, work: &mut Work<'_>) -> Result<(), Problem> {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tries = 1;
        loop {
            line.ready()?;
            match work(&mut Remote { line: &mut line }) {
                Err(Fault::Lost(_)) if tries < TRIES => tries += 1,
                other => return other.map_err(Fault::problem),
            }
        }
    }

    fn write(&self, write: Write, work: &mut Work<'_>) -> Result<(), Problem> {
        let first = (write != Write::Again).then_some(LOCKS);
        self.transaction(first, write != Write::Once, work)
    }
}
