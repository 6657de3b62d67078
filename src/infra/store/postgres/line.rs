//! The thread that holds the connection, and the way to it.

use super::address::Address;
use super::session::{Answer, Remote, broken, given_up, refused, words};
use super::tls::Trust;
use crate::base::Problem;
use crate::infra::store::sql::{Fault, Field, Work};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, Error, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

/// What every connection is told: nobody waits for ever, and who vanishes in a transaction does not hold up the others.
const SETTINGS: &str = "SET lock_timeout = '30s'; SET statement_timeout = '45s'; \
                        SET idle_in_transaction_session_timeout = '60s'; SET client_min_messages = warning";
/// So long a statement may take before the connection counts as broken.
const STEP: Duration = Duration::from_secs(60);
/// So long a server that was there before is waited for: it may be starting anew.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1500),
    Duration::from_secs(3),
    Duration::from_secs(5),
];
/// So long the server is told good-bye.
const FAREWELL: Duration = Duration::from_secs(1);

/// What the thread is asked.
enum Request {
    /// Make a new connection in place of the one that there is.
    Connect,
    /// Run statements that give nothing back.
    Batch(String),
    Run {
        sql: String,
        fields: Vec<Field>,
        rows: bool,
    },
}

type Reply = Result<Answer, Fault>;

/// The way to the thread. One transaction has it at a time.
pub struct Line {
    requests: Sender<(Request, Sender<Reply>)>,
    /// The connection is there, as far as anybody knows.
    open: bool,
    /// It was there once.
    known: bool,
    /// A transaction is open.
    busy: bool,
}

impl Line {
    /// Starts the thread; nothing is connected yet.
    ///
    /// # Errors
    /// The system gives no thread, or the certificates of `address` cannot be read.
    pub fn new(address: Address) -> Result<Line, Problem> {
        let (requests, receiver) = channel();
        let failed = |e: std::io::Error| Problem::new(format!("cannot start the thread of the store: {e}"));
        let runtime = Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let mut wire = Wire { place: address.place.clone(), address, runtime, held: None };
        thread::Builder::new().name("store".to_owned()).spawn(move || wire.serve(receiver)).map_err(failed)?;
        Ok(Line { requests, open: false, known: false, busy: false })
    }

    /// Sees to it that there is a connection, in no transaction.
    ///
    /// # Errors
    /// The server cannot be reached.
    pub fn ready(&mut self) -> Result<(), Problem> {
        if self.open && !self.busy {
            return Ok(());
        }
        let pauses = if self.known { PAUSES.as_slice() } else { &[] };
        let mut pauses = pauses.iter();
        loop {
            match self.ask(Request::Connect) {
                Ok(_) => break,
                Err(Fault::Lost(problem)) => match pauses.next() {
                    Some(pause) => thread::sleep(*pause),
                    None => return Err(problem),
                },
                Err(fault) => return Err(fault.problem()),
            }
        }
        (self.open, self.known, self.busy) = (true, true, false);
        Ok(())
    }

    /// Runs a transaction once.
    ///
    /// # Errors
    /// As [`crate::infra::store::sql::Session::query`]; [`Fault::Unsure`] where the end of it was sent.
    pub fn once(&mut self, first: Option<&str>, work: &mut Work<'_>) -> Result<(), Fault> {
        self.ready()?;
        self.busy = true;
        let begun = self.batch("BEGIN").and_then(|()| match first {
            Some(sql) => self.batch(sql),
            None => Ok(()),
        });
        let done = begun.and_then(|()| work(&mut Remote { line: self }));
        if let Err(fault) = done {
            // Where this fails, too, the connection is made anew, and the server ends the transaction with the old one.
            self.busy = !self.open || self.batch("ROLLBACK").is_err();
            return Err(fault);
        }
        match self.batch("COMMIT") {
            Ok(()) => {
                self.busy = false;
                Ok(())
            }
            Err(Fault::Lost(problem)) => Err(Fault::Unsure(problem)),
            Err(fault) => Err(fault),
        }
    }

    fn batch(&mut self, sql: &str) -> Result<(), Fault> {
        self.ask(Request::Batch(sql.to_owned())).map(drop)
    }

    /// Runs one statement.
    ///
    /// # Errors
    /// As [`crate::infra::store::sql::Session::query`].
    pub fn run(&mut self, sql: &str, fields: &[Field], rows: bool) -> Reply {
        self.ask(Request::Run { sql: sql.to_owned(), fields: fields.to_vec(), rows })
    }

    fn ask(&mut self, request: Request) -> Reply {
        let (reply, answer) = channel();
        let gone = || Fault::Failed(Problem::new("the thread of the store has ended"));
        self.requests.send((request, reply)).map_err(|_| gone())?;
        let answer = answer.recv().map_err(|_| gone())?;
        if matches!(answer, Err(Fault::Lost(_))) {
            self.open = false;
        }
        answer
    }
}

/// Connects to one server.
async fn open(config: &Config, connector: Option<MakeRustlsConnect>) -> Result<(Client, JoinHandle<()>), Error> {
    let (client, task) = match connector {
        None => {
            let (client, connection) = config.connect(NoTls).await?;
            (client, tokio::spawn(async move { drop(connection.await) }))
        }
        Some(connector) => {
            let (client, connection) = config.connect(connector).await?;
            (client, tokio::spawn(async move { drop(connection.await) }))
        }
    };
    client.batch_execute(SETTINGS).await?;
    Ok((client, task))
}

/// What the thread has.
struct Wire {
    place: String,
    address: Address,
    runtime: Runtime,
    held: Option<(Client, JoinHandle<()>)>,
}

impl Wire {
    /// Answers until the store is dropped.
    fn serve(&mut self, requests: Receiver<(Request, Sender<Reply>)>) {
        for (request, reply) in requests {
            let answer = match request {
                Request::Connect => self.connect().map(|()| Answer::default()),
                Request::Batch(sql) => {
                    self.statement(async |client| client.batch_execute(&sql).await.map(|()| Answer::default()))
                }
                Request::Run { sql, fields, rows } => {
                    self.statement(async |client| Answer::of(client, &sql, &fields, rows).await)
                }
            };
            // Who asked may be gone.
            let _ = reply.send(answer);
        }
        self.leave();
    }

    fn connect(&mut self) -> Result<(), Fault> {
        self.held = None;
        let connector = self.address.trust.as_ref().map(Trust::connector).transpose()?;
        let mut held = None;
        for config in &self.address.configs {
            held = Some(self.runtime.block_on(open(config, connector.clone())));
            // Who was reached and refuses is not asked in another place.
            if held.as_ref().is_some_and(|held| held.as_ref().map_or_else(|error| error.code().is_some(), |_| true)) {
                break;
            }
        }
        let held = held.ok_or_else(|| Problem::new(format!("the store `{}` has no host", self.place)))?;
        self.held = Some(held.map_err(|error: Error| self.unreachable(&error))?);
        Ok(())
    }

    fn unreachable(&self, error: &Error) -> Fault {
        let problem = Problem::new(format!("cannot reach the store `{}`: {}", self.place, words(error)));
        // What the server itself refuses does not pass by waiting, unless it is just starting.
        match error.code().map(|code| code.code()) {
            None if words(error).contains("password missing") => Fault::Failed(
                self.noted(problem)
                    .help("the password may stand in SUIL_STORE, in PGPASSWORD, or in ~/.pgpass (mode 0600)"),
            ),
            None => Fault::Lost(problem.help("see that the server runs and that SUIL_STORE names it")),
            Some(code) if code.starts_with("57P") || code == "53300" => Fault::Lost(problem),
            Some(_) => Fault::Failed(self.noted(problem).help("see what SUIL_STORE says")),
        }
    }

    /// With where the password comes from.
    fn noted(&self, problem: Problem) -> Problem {
        match &self.address.note {
            Some(note) => problem.note(note.clone()),
            None => problem,
        }
    }

    fn statement(&mut self, run: impl AsyncFnOnce(&Client) -> Result<Answer, Error>) -> Reply {
        let lost = |why: &str| Fault::Lost(Problem::new(format!("lost the store `{}`: {why}", self.place)));
        let Some((client, _)) = &self.held else { return Err(lost("there is no connection")) };
        let ended = self.runtime.block_on(async { tokio::time::timeout(STEP, run(client)).await });
        let fault = match ended {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) if client.is_closed() || broken(&error) => lost(&words(&error)),
            Ok(Err(error)) if given_up(&error) => return Err(Fault::Lost(refused(&self.place, &error))),
            Ok(Err(error)) => return Err(Fault::Failed(refused(&self.place, &error))),
            Err(_) => lost(&format!("it did not answer within {} s", STEP.as_secs())),
        };
        self.held = None;
        Err(fault)
    }

    fn leave(&mut self) {
        if let Some((client, task)) = self.held.take() {
            drop(client);
            let _ = self.runtime.block_on(async { tokio::time::timeout(FAREWELL, task).await });
        }
    }
}
