//! The store: one set of tests, run on SQLite and on PostgreSQL.

#![allow(clippy::disallowed_methods)]

#[path = "store/applies.rs"]
mod applies;
#[path = "store/commands.rs"]
mod commands;
#[path = "store/contend.rs"]
#[allow(clippy::print_stdout, reason = "a process tells the one that started it")]
mod contend;
#[path = "store/filled.rs"]
mod filled;
#[path = "store/postgres.rs"]
mod postgres;
#[path = "cli/room.rs"]
#[allow(dead_code, reason = "others need the rest")]
mod room;
#[path = "store/rows.rs"]
mod rows;
#[path = "store/server.rs"]
mod server;
#[path = "store/sqlite.rs"]
mod sqlite;

use chrono::{DateTime, TimeDelta, Utc};
use std::path::Path;
use std::sync::Arc;
use suil::infra::store::{self, Mode, Process, Run, RunStack, RunState, Server, StackState, Store, Trigger};
use tempfile::TempDir;

/// A place for a store, of one kind or the other.
pub enum Room {
    Sqlite(TempDir),
    Postgres(String),
}

impl Room {
    pub fn sqlite() -> Room {
        Room::Sqlite(tempfile::tempdir().expect("a folder"))
    }

    pub fn postgres() -> Room {
        let server = server::server();
        Room::Postgres(server.url(&server.database()))
    }

    /// Opens the store, as another process would.
    pub fn open(&self) -> Arc<dyn Store> {
        open(self.url(), &self.root())
    }

    /// Waits until the server has seen that its clients are gone: until then it goes on with their last statement.
    pub fn settle(&self) {
        let Room::Postgres(url) = self else { return };
        let database = url.rsplit_once('/').expect("a URL").1;
        let clients = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
                       AND application_name = 'suil'";
        while server::server().tell(database, clients) != "0" {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }

    pub fn url(&self) -> Option<&str> {
        match self {
            Room::Sqlite(_) => None,
            Room::Postgres(url) => Some(url),
        }
    }

    pub fn root(&self) -> std::path::PathBuf {
        match self {
            Room::Sqlite(folder) => folder.path().to_owned(),
            Room::Postgres(_) => "/nowhere".into(),
        }
    }
}

pub fn open(url: Option<&str>, root: &Path) -> Arc<dyn Store> {
    store::open(url.map(Server::new).as_ref(), root).unwrap_or_else(|problem| panic!("{problem:?}"))
}

/// Makes two tests of each function: `sqlite::name` and `postgres::name`.
#[macro_export]
macro_rules! both {
    ($($name:ident)*) => {
        mod on_sqlite {
            $(#[test] fn $name() { super::$name(&$crate::Room::sqlite()); })*
        }
        mod on_postgres {
            $(#[test] fn $name() { super::$name(&$crate::Room::postgres()); })*
        }
    };
}

/// A moment of the tests, so many seconds in.
pub fn at(seconds: i64) -> DateTime<Utc> {
    DateTime::from_timestamp(1_796_000_000, 0).expect("a moment") + TimeDelta::seconds(seconds)
}

/// A run of this process.
pub fn run(mode: Mode) -> Run {
    Run {
        id: store::new_id(),
        change: None,
        repo: "acme/infra".to_owned(),
        trigger: Trigger::Manual,
        mode,
        state: RunState::Pending,
        commit: Some("0123abc".to_owned()),
        tree: Some("feed".to_owned()),
        who: "anna@desk".to_owned(),
        reason: "müde\0 – \"quoted\" 'text' $1 ?1 🦀".to_owned(),
        process: Process::this("anna"),
        successor: None,
        started: at(0),
        ended: None,
    }
}

pub fn stack(run: &Run, key: &str, wave: u32) -> RunStack {
    RunStack {
        run: run.id.clone(),
        stack: key.to_owned(),
        wave,
        reasons: vec!["changed".to_owned(), "dependent".to_owned()],
        via: vec!["stacks/prod/vpc".to_owned()],
        environment: Some("prod".to_owned()),
        state: StackState::Pending,
        blocked_by: None,
        started: None,
        ended: None,
    }
}

pub fn keys(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|key| (*key).to_owned()).collect()
}
