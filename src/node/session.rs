//! A session with a node: one channel for the whole of a run.

use super::answer::Raw;
use super::link::{Link, Words};
use super::probe::{Greeting, Probe};
use super::program::{self, Mode, Nonces};
use super::scan::{Mark, Piece, Scanner};
use super::{Access, Failure, Raise, Reason, Target, Transport, failure, pace, upload};
use crate::base::Problem;
use crate::resource::Action;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout, timeout_at};

/// An open channel to the session program on a node. Dropping it ends the session; the node cleans up by itself.
pub struct Session {
    pub(super) target: Target,
    pub(super) access: Access,
    pub(super) channel: Channel,
    nonces: Nonces,
    count: u64,
    greeting: Greeting,
    /// A request was sent whose answer was not read to its end.
    unread: bool,
}

/// Writes the text of a job, given the token of its answer.
pub(super) type Text<'a> = dyn Fn(&str) -> String + Send + Sync + 'a;

/// What an action did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub status: i32,
    /// Masked, as are the words on stderr.
    pub stdout: String,
    pub stderr: String,
}

/// A channel that is held longer than this while others wait lets them go first: a slow login is no load.
const TURN: Duration = Duration::from_secs(15);
/// How long the session has for ending a job that went over its limit.
const GRACE: Duration = Duration::from_secs(10);
/// More than this in one answer is a runaway, not an answer.
const LARGEST: usize = 256 * 1024 * 1024;

/// The channel with the marks found in it.
pub(super) struct Channel {
    pub link: Link,
    scanner: Scanner,
    chunk: Vec<u8>,
    ended: bool,
}

impl Channel {
    pub async fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.link.input.write_all(bytes).await?;
        self.link.input.flush().await
    }

    /// The next piece; `None` at the end of the channel.
    async fn piece(&mut self) -> Option<Piece> {
        loop {
            if let Some(piece) = self.scanner.next() {
                return Some(piece);
            }
            if self.ended {
                let rest = self.scanner.rest();
                return (!rest.is_empty()).then_some(Piece::Text(rest));
            }
            match self.link.output.read(&mut self.chunk).await {
                Ok(n) if n > 0 => self.scanner.push(self.chunk.get(..n).unwrap_or_default()),
                _ => self.ended = true,
            }
        }
    }

    pub fn words(&self) -> &Words {
        &self.link.words
    }
}

impl Session {
    /// Connects to a node and becomes root there where that is wanted. A refusal of a busy server is tried again.
    ///
    /// # Errors
    /// Why the node cannot be worked with, in the words of ssh, of its shell or of sudo.
    pub async fn open(target: &Target, access: &Access) -> Result<Session, Failure> {
        Session::begin(target, access, None).await
    }

    pub(super) async fn begin(target: &Target, access: &Access, early: Option<&Text<'_>>) -> Result<Session, Failure> {
        let mut attempt = 0;
        loop {
            let mut turn = access.pace.turn().await;
            let mut login = std::pin::pin!(login(target, access, early));
            let opened = match timeout(TURN, &mut login).await {
                Ok(opened) => opened,
                Err(_) => {
                    turn = None;
                    login.await
                }
            };
            match opened {
                Err(failure) if failure.reason == Reason::Busy && attempt < pace::TRIES => {
                    attempt += 1;
                    access.pace.refused(turn);
                    tokio::time::sleep(pace::Pace::pause(attempt, &target.node)).await;
                }
                other => return other,
            }
        }
    }

    /// What the node is; it came with the session's first word.
    ///
    /// # Errors
    /// Its os-release is missing, says nothing, or names a system of no known family.
    pub fn probe(&self) -> Result<Probe, Problem> {
        self.greeting.probe(&self.target.node)
    }

    pub fn node(&self) -> &str {
        &self.target.node
    }

    /// The login user where the data names one.
    pub fn user(&self) -> Option<&str> {
        self.target.user.as_deref()
    }

    /// Performs one action. Its uploads are there, verified, before its script starts.
    ///
    /// # Errors
    /// The channel broke (the operation is in doubt), the limit passed (what it started was ended), or an upload
    /// could not be stored. A script that ends with another status than 0 is an [`Outcome`].
    pub async fn perform(&mut self, title: &str, action: &Action, limit: Duration) -> Result<Outcome, Failure> {
        self.ready(title)?;
        let names = upload::names(action, &self.nonces.name, self.count);
        self.unread = true;
        if let Err(failure) = upload::send(self, action, &names, title).await {
            self.unread = failure.reason != Reason::Local;
            return Err(failure);
        }
        let text = format!("{}{}", upload::arguments(&names), action.script);
        let raw = self.job("job", &text, title, limit).await?;
        if raw.status == "upload" {
            let words = self.masked(&raw.stderr);
            let what = format!("node `{}`: {title}: {}", self.target.node, words.trim());
            return Err(Failure::new(&self.target, Reason::Local, Problem::new(what)));
        }
        Ok(self.outcome(&raw))
    }

    /// Runs a script that changes no resource: `suil run`, a health check. Its output comes as it is printed, and its
    /// status is not judged.
    ///
    /// # Errors
    /// As [`Session::perform`].
    pub async fn run(&mut self, title: &str, script: &str, limit: Duration) -> Result<Outcome, Failure> {
        self.ready(title)?;
        let raw = self.job("ask", script, title, limit).await?;
        Ok(self.outcome(&raw))
    }

    /// Ends the session and waits until the node has cleaned up.
    pub async fn close(mut self) {
        if self.channel.send(b"quit 0 -\n").await.is_ok() {
            let _ = self.channel.link.input.shutdown().await;
            let end = async { while self.channel.piece().await.is_some() {} };
            let _ = timeout(Duration::from_secs(5), end).await;
        }
        let _ = timeout(Duration::from_secs(1), self.channel.link.exit.wait()).await;
    }

    /// Ends the session and begins a new one over a new login: after sshd was restarted, or the login user's groups
    /// changed.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub async fn renew(self) -> Result<Session, Failure> {
        let (target, access) = (self.target.clone(), self.access.clone());
        self.close().await;
        transport(target.transport).forget(&target).await;
        Session::open(&target, &access).await
    }

    pub(super) fn masked(&self, bytes: &[u8]) -> String {
        self.access.mask.apply(&String::from_utf8_lossy(bytes))
    }

    fn outcome(&self, raw: &Raw) -> Outcome {
        let status = raw.status.parse().unwrap_or(1);
        Outcome { status, stdout: self.masked(&raw.stdout), stderr: self.masked(&raw.stderr) }
    }

    /// A session whose last answer was not read cannot tell the next one apart from it.
    pub(super) fn ready(&self, title: &str) -> Result<(), Failure> {
        match self.unread {
            false => Ok(()),
            true => Err(Failure::lost(&self.target, title, &self.channel.words().text())),
        }
    }

    /// The token of the answer that is next.
    pub(super) fn token(&self) -> String {
        format!("{}.{}", self.nonces.answer, self.count)
    }

    async fn job(&mut self, verb: &str, text: &str, title: &str, limit: Duration) -> Result<Raw, Failure> {
        self.send_job(verb, |_| text.to_owned()).await;
        let (whole, _) = self.answer(title, limit, &[]).await?;
        Ok(whole)
    }

    /// Sends a job; where the channel is broken the reading of the answer says so.
    pub(super) async fn send_job(&mut self, verb: &str, text: impl FnOnce(&str) -> String) {
        self.count += 1;
        self.unread = true;
        let token = self.token();
        let request = program::request(verb, &token, &text(&token));
        let _ = timeout(self.access.limits.stall, self.channel.send(&request)).await;
    }

    /// Reads the answer of the request that was sent last. `steps` are the limits of its inner answers; a step that
    /// goes over its limit is skipped, the whole is ended.
    pub(super) async fn answer(
        &mut self,
        title: &str,
        limit: Duration,
        steps: &[Duration],
    ) -> Result<(Raw, Vec<Raw>), Failure> {
        let token = self.token();
        let whole_until = Instant::now() + limit;
        let mut reading = Reading::new(&token, steps.len());
        let mut step_until: Option<Instant> = None;
        let mut killed = false;
        while !reading.whole.ended {
            let until = step_until.map_or(whole_until, |until| until.min(whole_until));
            let until = if killed { Instant::now() + GRACE } else { until };
            match timeout_at(until, self.channel.piece()).await {
                Ok(Some(piece)) => {
                    let before = reading.current;
                    if let Some(fatal) = reading.take(piece) {
                        let what = format!("node `{}`: the session ended: {fatal}", self.target.node);
                        return Err(Failure::new(&self.target, Reason::Local, Problem::new(what)));
                    }
                    if reading.current != before {
                        step_until = reading.current.and_then(|i| steps.get(i)).map(|limit| Instant::now() + *limit);
                    }
                    if reading.size > LARGEST {
                        let what = format!("node `{}`: {title} prints without end", self.target.node);
                        let limit = LARGEST / 1024 / 1024;
                        return Err(Failure::new(
                            &self.target,
                            Reason::Limit,
                            Problem::new(what).expected(format!("expected at most {limit} MiB")),
                        ));
                    }
                }
                Ok(None) => {
                    return Err(Failure::lost(&self.target, title, &self.channel.words().text()));
                }
                Err(_) if killed => {
                    return Err(Failure::lost(&self.target, title, "it went over its limit and could not be ended"));
                }
                Err(_) if Instant::now() < whole_until => {
                    // One step hangs: end what it started, the job goes on with the next.
                    if let Some(step) = reading.current.and_then(|i| reading.inner.get_mut(i)) {
                        step.late = true;
                    }
                    step_until = Some(Instant::now() + GRACE);
                    let _ = self.channel.send(b"skip 0 -\n").await;
                }
                Err(_) => {
                    killed = true;
                    let _ = self.channel.send(format!("kill 0 {token}\n").as_bytes()).await;
                }
            }
        }
        self.unread = false;
        if killed {
            let what = format!("node `{}`: {title} took longer than {} s", self.target.node, limit.as_secs());
            let words = failure::last_line(&self.masked(&reading.whole.stderr));
            let problem = Problem::new(what).note("what it had started was ended on the node");
            let problem = words.into_iter().fold(problem, |problem, line| problem.note(format!("it said: {line}")));
            return Err(Failure::new(&self.target, Reason::Limit, problem));
        }
        Ok((reading.whole, reading.inner))
    }
}

/// An answer while it is read.
struct Reading<'a> {
    token: &'a str,
    whole: Raw,
    inner: Vec<Raw>,
    current: Option<usize>,
    begun: bool,
    errors: bool,
    size: usize,
}

impl<'a> Reading<'a> {
    fn new(token: &'a str, steps: usize) -> Reading<'a> {
        Reading {
            token,
            whole: Raw::default(),
            inner: vec![Raw::default(); steps],
            current: None,
            begun: false,
            errors: false,
            size: 0,
        }
    }

    /// Takes a piece; returns the words of a session that cannot go on.
    fn take(&mut self, piece: Piece) -> Option<String> {
        match piece {
            Piece::Text(text) if self.begun => {
                self.size += text.len();
                let raw = self.current.and_then(|i| self.inner.get_mut(i)).unwrap_or(&mut self.whole);
                if self.errors { raw.stderr.extend(text) } else { raw.stdout.extend(text) }
            }
            Piece::Mark(Mark::Fatal(words)) => return Some(words),
            Piece::Mark(Mark::Begin(token)) => match self.step(&token) {
                Some(step) => {
                    self.current = Some(step);
                    self.errors = false;
                }
                None if token == self.token => (self.begun, self.errors) = (true, false),
                None => {}
            },
            Piece::Mark(Mark::Errors(token)) if token == self.token || self.step(&token).is_some() => {
                if token == self.token {
                    self.current = None;
                }
                self.errors = true;
            }
            Piece::Mark(Mark::End(token, status)) => match self.step(&token) {
                Some(step) => {
                    if let Some(raw) = self.inner.get_mut(step) {
                        (raw.status, raw.ended) = (status, true);
                    }
                    self.current = None;
                    self.errors = false;
                }
                None if token == self.token && self.begun => (self.whole.status, self.whole.ended) = (status, true),
                None => {}
            },
            _ => {}
        }
        None
    }

    fn step(&self, token: &str) -> Option<usize> {
        let step = token.strip_prefix(self.token)?.strip_prefix('.')?.parse().ok()?;
        (step < self.inner.len()).then_some(step)
    }
}

/// The transport behind a setting.
pub(super) fn transport(kind: Transport) -> Box<dyn super::link::Transport> {
    match kind {
        Transport::Local => Box::new(super::local::Local),
        Transport::Exec => Box::new(super::local::Exec),
        Transport::Openssh => Box::new(super::openssh::Openssh),
        Transport::Russh => Box::new(super::russh::Russh),
    }
}

/// Opens a channel and walks from the login shell to the session's first word.
async fn login(target: &Target, access: &Access, early: Option<&Text<'_>>) -> Result<Session, Failure> {
    let mut until = Instant::now() + target.connect_timeout + access.limits.login;
    let local = |error: std::io::Error| Failure::start(target, "/dev/urandom", &error);
    let nonces = Nonces::new().map_err(local)?;
    let link = transport(target.transport).open(target, access).await?;
    let scanner = Scanner::new(&nonces.answer, &nonces.prompt);
    let mut channel = Channel { link, scanner, chunk: vec![0; 64 * 1024], ended: false };
    let known = access.sudo.known();
    let mode = match target.raise {
        Raise::No => Mode::No,
        Raise::Sudo if known.is_some() => Mode::Ask,
        Raise::Sudo | Raise::Doas => Mode::Quiet,
    };
    let first_job = early.map(|text| text(&format!("{}.1", nonces.answer)));
    let program = program::session(&nonces, first_job.as_deref());
    let mut start = program::login(&nonces, target.raise, mode);
    if mode != Mode::Ask {
        start.extend_from_slice(&program);
    }
    let mut waiting = target.transport == Transport::Exec;
    if !waiting {
        send(&mut channel, &start, until).await;
    }
    let mut noise: Vec<u8> = Vec::new();
    let mut greeting: Option<Vec<u8>> = None;
    let mut prompted = false;
    let first = format!("{}.0", nonces.answer);
    loop {
        let piece = match timeout_at(until, channel.piece()).await {
            Ok(Some(piece)) => piece,
            Ok(None) => {
                let status = timeout(GRACE, channel.link.exit.wait()).await.ok().flatten();
                let (words, noise) = said(&channel, access, &noise);
                return Err(match prompted {
                    true => sudo_refused(target, &noise),
                    false => Failure::before_greeting(target, status, &words, &noise),
                });
            }
            Err(_) => {
                let (words, noise) = said(&channel, access, &noise);
                let seconds = (target.connect_timeout + access.limits.login).as_secs();
                return Err(Failure::no_greeting(target, seconds, &words, &noise));
            }
        };
        match piece {
            Piece::Text(text) => match &mut greeting {
                Some(greeting) => greeting.extend(text),
                None => {
                    access.log.noise(&target.node, &access.mask.apply(&String::from_utf8_lossy(&text)));
                    noise.extend(text);
                    if noise.len() > 64 * 1024 {
                        noise.drain(..32 * 1024);
                    }
                    let text = String::from_utf8_lossy(&noise);
                    if failure::wants_a_new_password(&text) {
                        return Err(Failure::before_greeting(target, None, "", &text));
                    }
                }
            },
            Piece::Mark(Mark::Shell) if waiting => {
                waiting = false;
                send(&mut channel, &start, until).await;
            }
            Piece::Mark(Mark::Begin(token)) if token == first => greeting = Some(Vec::new()),
            Piece::Mark(Mark::End(token, _)) if token == first => {
                let greeting = Greeting::parse(&greeting.unwrap_or_default());
                channel.link.exit.spare();
                let count = u64::from(early.is_some());
                let unread = early.is_some();
                return Ok(Session {
                    target: target.clone(),
                    access: access.clone(),
                    channel,
                    nonces,
                    count,
                    greeting,
                    unread,
                });
            }
            Piece::Mark(Mark::Ready) => send(&mut channel, &program, until).await,
            Piece::Mark(Mark::Sudo(word)) => {
                let (_, text) = said(&channel, access, &noise);
                if word == "missing" || target.raise == Raise::Doas || !text.contains("password is required") {
                    return Err(sudo_failed(target, &word, &text));
                }
                let asked = Instant::now();
                if access.sudo.word(&target.node).await.is_none() {
                    return Err(no_password(target));
                }
                until += asked.elapsed();
                noise.clear();
                send(&mut channel, b"ask\n", until).await;
            }
            Piece::Mark(Mark::Prompt) => {
                let word = access.sudo.word(&target.node).await;
                word.iter().for_each(|word| access.mask.add(word));
                let (false, Some(word)) = (prompted, word) else {
                    let (_, text) = said(&channel, access, &noise);
                    return Err(sudo_refused(target, &text));
                };
                prompted = true;
                let line = zeroize::Zeroizing::new(format!("{}\n", word.as_str()));
                send(&mut channel, line.as_bytes(), until).await;
            }
            Piece::Mark(Mark::Fatal(words)) => {
                let what = format!("node `{}`: the session cannot begin: {words}", target.node);
                return Err(Failure::new(target, Reason::Local, Problem::new(what)));
            }
            Piece::Mark(_) => {}
        }
    }
}

/// Sends what may not be taken: a shell that is none ends, and its words are the better message.
async fn send(channel: &mut Channel, bytes: &[u8], until: Instant) {
    let _ = timeout_at(until, channel.send(bytes)).await;
}

fn said(channel: &Channel, access: &Access, noise: &[u8]) -> (String, String) {
    (channel.words().text(), access.mask.apply(&String::from_utf8_lossy(noise)))
}

fn no_password(target: &Target) -> Failure {
    let problem = Problem::new(format!("node `{}`: sudo needs a password", target.node))
        .expected("expected one from a person or from the environment")
        .help("set SUIL_SUDO_PASSWORD, or run suil on a terminal and it asks");
    Failure::new(target, Reason::Sudo, problem)
}

fn sudo_refused(target: &Target, noise: &str) -> Failure {
    if noise.contains("not in the sudoers file") || noise.contains("not allowed to") || noise.contains("may not run") {
        return sudo_failed(target, "refused", noise);
    }
    let problem = Problem::new(format!("node `{}`: sudo refused the password", target.node))
        .note("it was tried once, so that no account is locked")
        .help("give the right one in SUIL_SUDO_PASSWORD or on the terminal");
    Failure::new(target, Reason::Sudo, problem)
}

fn sudo_failed(target: &Target, word: &str, noise: &str) -> Failure {
    let node = &target.node;
    let tool = if target.raise == Raise::Doas { "doas" } else { "sudo" };
    let line = failure::last_line(noise).unwrap_or_else(|| "it said nothing".to_owned());
    let rights = "suil needs `/bin/sh` as root: `<user> ALL=(root) NOPASSWD: /bin/sh` is the least right in sudoers";
    let problem = if word == "missing" {
        let problem = Problem::new(format!("node `{node}`: there is no `{tool}` to become root with"));
        match tool {
            "sudo" => problem.help("log in as root, install sudo, or set `sudo: doas` or `sudo: false`"),
            _ => problem.help("log in as root, or set `sudo: true` or `sudo: false`"),
        }
    } else if noise.contains("must have a tty") {
        Problem::new(format!("node `{node}`: sudo wants a terminal (`requiretty`)"))
            .note(format!("it said: {line}"))
            .help("add `Defaults:<user> !requiretty` to its sudoers; suil never opens a terminal")
    } else if tool == "doas" {
        Problem::new(format!("node `{node}`: doas refused: {line}"))
            .help("suil cannot answer doas: permit the user with `nopass` in doas.conf")
    } else {
        Problem::new(format!("node `{node}`: sudo refused to run `/bin/sh` as root: {line}")).help(rights)
    };
    Failure::new(target, Reason::Sudo, problem)
}
