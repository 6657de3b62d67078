//! A session with a node: one channel for the whole of a run.

use super::answer::Raw;
use super::channel::Channel;
use super::login::{login, transport};
use super::probe::{Greeting, Probe};
use super::program::{self, Nonces};
use super::reading::Reading;
use super::{Access, Failure, Pace, Reason, Regained, Target, failure, pace, upload};
use crate::base::Problem;
use crate::resource::Action;
use std::time::Duration;
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
    /// The node has the program of the guard.
    pub(super) guarded: bool,
    /// What could cut the access is kept and not proven yet.
    pub(super) armed: bool,
    /// What the node said about this session, where it ended by itself.
    pub(super) regained: Option<Regained>,
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

impl Session {
    /// `asked`: the answer of a first job is under way.
    pub(super) fn new(
        target: &Target,
        access: &Access,
        channel: Channel,
        nonces: Nonces,
        greeting: Greeting,
        asked: bool,
    ) -> Session {
        let (target, access) = (target.clone(), access.clone());
        Session {
            target,
            access,
            channel,
            nonces,
            count: asked.into(),
            greeting,
            unread: asked,
            guarded: false,
            armed: false,
            regained: None,
        }
    }

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
                    tokio::time::sleep(Pace::pause(attempt, &target.node)).await;
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

    /// The address that was connected to.
    pub fn host(&self) -> &str {
        &self.target.host
    }

    /// The name of its private folder, by which the node knows it later.
    pub(super) fn name(&self) -> &str {
        &self.nonces.name
    }

    /// What the session `name` did about the access when it ended by itself, where this one was the first to come after.
    pub(super) fn took_back(&self, name: &str) -> Option<Regained> {
        let (taken, _) = self.greeting.taken.iter().find(|(_, known)| known == name)?;
        Some(if *taken { Regained::Taken } else { Regained::Partly })
    }

    /// The user that logged in.
    pub fn user(&self) -> &str {
        &self.greeting.user
    }

    /// Performs one action. Its uploads are there, verified, before its script starts.
    ///
    /// # Errors
    /// The channel broke (the operation is in doubt), the limit passed (what it started was ended), or an upload
    /// could not be stored. A script that ends with another status than 0 is an [`Outcome`].
    pub async fn perform(&mut self, title: &str, action: &Action, limit: Duration) -> Result<Outcome, Failure> {
        self.perform_between(title, ["", ""], action, limit).await
    }

    /// The same, in one round trip, with a text that runs before the script, and one that runs after it if it ended well.
    ///
    /// # Errors
    /// As [`Session::perform`].
    pub async fn perform_between(
        &mut self,
        title: &str,
        [before, after]: [&str; 2],
        action: &Action,
        limit: Duration,
    ) -> Result<Outcome, Failure> {
        self.ready(title)?;
        let names = upload::names(action, &self.nonces.name, self.count);
        self.unread = true;
        if let Err(failure) = upload::send(self, action, &names, title).await {
            self.unread = failure.reason != Reason::Local;
            return Err(failure);
        }
        let script = &action.script;
        let text = match before.is_empty() && after.is_empty() {
            true => format!("{}{script}", upload::arguments(&names)),
            // The script may end by itself.
            false => format!("{before}{}(\n{script}\n)\n{after}", upload::arguments(&names)),
        };
        let raw = self.job("job", &text, title, limit).await?;
        if raw.status == "unlocked" {
            return Err(self.unlocked(title, &self.masked(&raw.stderr)));
        }
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
        let _ = timeout(Duration::from_secs(1), self.channel.finish()).await;
        let end = async { while self.channel.piece().await.is_some() {} };
        let _ = timeout(Duration::from_secs(5), end).await;
        let _ = timeout(Duration::from_secs(1), self.channel.exit.wait()).await;
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
            true => Err(Failure::lost(&self.target, title, &self.channel.said())),
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
        let _awaited = self.channel.wait_for(&token, self.access.limits.ping).await;
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
                    return Err(Failure::lost(&self.target, title, &self.channel.said()));
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
        if reading.whole.status == "gone" {
            return Err(Failure::gone(&self.target, title));
        }
        self.unread = false;
        if killed {
            let what = format!("node `{}`: {title} took longer than {} s", self.target.node, limit.as_secs());
            let said = [&reading.whole.stderr, &reading.whole.stdout];
            let words = said.into_iter().find_map(|bytes| failure::last_line(&self.masked(bytes)));
            let problem = Problem::new(what).note("what it had started was ended on the node");
            let problem = words.into_iter().fold(problem, |problem, line| problem.note(format!("it said: {line}")));
            return Err(Failure::new(&self.target, Reason::Limit, problem));
        }
        Ok((reading.whole, reading.inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Raise, Transport};

    async fn open() -> Session {
        let mut target = Target::new("here");
        (target.transport, target.raise) = (Transport::Local, Raise::No);
        Session::open(&target, &Access::default()).await.map_err(|f| f.problem).expect("a session")
    }

    /// A cut connection must not turn `rm -rf /srv/old` into `rm -rf /srv`.
    #[tokio::test]
    async fn a_text_that_was_cut_is_never_run() {
        let folder = tempfile::tempdir().expect("folder");
        let mark = folder.path().join("mark");
        for text in [format!("touch {}\nsleep 0\n", mark.display()), format!("touch {}\n#other", mark.display())] {
            let mut session = open().await;
            let request = format!("job {} t\n{text}", text.len() + 20);
            session.channel.send_part(request.as_bytes(), true).await.expect("sent");
            session.close().await;
            assert!(!mark.exists());
        }
        let mut session = open().await;
        let request = program::request("job", "t", &format!("touch {}", mark.display()));
        session.channel.send(&request).await.expect("sent");
        for _ in 0..500 {
            if mark.exists() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("a whole text is run");
    }

    /// The number of a job that has ended may be another process's before the session ends.
    #[tokio::test]
    async fn a_process_that_has_the_number_of_an_ended_job_is_left_alone() {
        let folder = tempfile::tempdir().expect("folder");
        let mark = folder.path().join("mark");
        let mut session = open().await;
        session.run("test", "true", Duration::from_secs(20)).await.map_err(|f| f.problem).expect("an end");
        // The kernel counts starts in hundredths of a second: the other process has to be younger than that.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let text = format!("(sleep 1; echo on >{}) >/dev/null & suil_job=$!", mark.display());
        session.channel.send(&program::request("do", "t", &text)).await.expect("sent");
        session.channel.send(b"skip 0 -\n").await.expect("sent");
        session.close().await;
        for _ in 0..500 {
            if mark.exists() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("it was ended");
    }
}
