//! Operations that could cut suil's own access: what they change is kept on the node beforehand, the access is proven
//! over a second connection, and the node itself takes them back where the first one is lost as well.

use super::login::transport;
use super::session::Session;
use super::{Failure, Outcome, Reason, Target, program};
use crate::base::{Problem, clock};
use std::time::Duration;

const PROGRAM: &str = include_str!("../../collector/guard.sh");
const STEP: Duration = Duration::from_secs(60);
/// As long as a node may need until it has noticed that its link is gone (twice `suil_arm`), and has taken back what
/// was changed.
const REGAIN: Duration = Duration::from_secs(180);
const PAUSE: Duration = Duration::from_secs(2);

/// What an operation could change of the access.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Keep {
    /// Files, links and folders, or that nothing is there.
    pub paths: Vec<String>,
    /// Users, groups and passwords.
    pub accounts: bool,
    /// The keys that this user may log in with.
    pub keys_of: Option<String>,
    /// Whether a unit of systemd runs and is enabled.
    pub unit: Option<String>,
    /// The rules of the firewall, links, addresses and routes.
    pub net: bool,
    /// What takes back the rest.
    pub script: Option<String>,
}

impl Keep {
    fn render(&self) -> String {
        let mut steps = Vec::new();
        for path in &self.paths {
            let quoted = program::word(path);
            steps.push(format!("suil_keep_path {quoted} {}", program::word(&quoted)));
        }
        steps.extend(self.accounts.then(|| "suil_keep_accounts".to_owned()));
        steps.extend(self.keys_of.as_ref().map(|user| format!("suil_keep_keys {}", program::word(user))));
        steps.extend(self.net.then(|| "suil_keep_net".to_owned()));
        steps.extend(self.unit.as_ref().map(|unit| format!("suil_keep_unit {}", program::word(unit))));
        steps.extend(self.script.as_ref().map(|script| format!("suil_keep_script {}", program::word(script))));
        steps.push("suil_arm".to_owned());
        steps.join(" && ")
    }
}

/// What a node says of a session that ended by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Regained {
    /// It took back what was kept.
    Taken,
    /// It tried to, and not everything went well.
    Partly,
    /// The node can be reached, and says nothing about it.
    Silent,
}

impl Session {
    /// Keeps what an operation could change, before it does. From now on the node takes it back by itself where this
    /// session ends, or hears nothing for a while, before [`Session::settled`].
    ///
    /// # Errors
    /// It cannot be kept: then the operation must not run.
    pub async fn keep(&mut self, keep: &Keep) -> Result<(), Failure> {
        let load = if self.guarded { String::new() } else { program::bare(PROGRAM) };
        self.inside(&format!("{load}\n{}", keep.render())).await?;
        self.guarded = true;
        self.armed = true;
        Ok(())
    }

    /// True between [`Session::keep`] and [`Session::settled`].
    pub fn armed(&self) -> bool {
        self.armed
    }

    /// Proves that the node can still be worked with: logs in anew, past every master connection, and becomes root;
    /// then that this session is still there and has taken nothing back.
    ///
    /// # Errors
    /// It cannot; the reason is that of the second login, or [`Reason::Lost`].
    pub async fn prove_access(&mut self) -> Result<(), Failure> {
        let mut target = self.target.clone();
        target.persist = Duration::ZERO;
        let second = Session::open(&target, &self.access).await?;
        self.regained = second.took_back(self.name());
        second.close().await;
        match self.regained {
            // The link was cut, and the node was faster than this login.
            Some(_) => Err(Failure::lost(&self.target, "guarding the access", &self.channel.said())),
            None => self.inside("true").await,
        }
    }

    /// Takes back what was changed since the first [`Session::keep`], over this channel.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub async fn undo(&mut self) -> Result<Outcome, Failure> {
        let outcome = self.run("taking back", "suil_undo", STEP).await?;
        self.settled().await?;
        Ok(outcome)
    }

    /// Ends the guard: the access is proven, or what was changed is taken back.
    ///
    /// # Errors
    /// The channel broke.
    pub async fn settled(&mut self) -> Result<(), Failure> {
        self.inside("suil_settled").await?;
        self.armed = false;
        Ok(())
    }

    /// Gives this session up without a word, so that the node takes back what was kept, and waits until the node can be
    /// reached again. The new session stands in the place of this one.
    ///
    /// # Errors
    /// The node cannot be reached for as long as it may need.
    pub async fn regain(&mut self) -> Result<Regained, Failure> {
        let begun = clock::instant();
        self.channel.cut().await;
        transport(self.target.transport).forget(&self.target).await;
        let mut target: Target = self.target.clone();
        // A login that hangs would use up the whole time.
        target.connect_timeout = target.connect_timeout.min(Duration::from_secs(5));
        loop {
            let late = begun.elapsed() >= REGAIN;
            match Session::open(&target, &self.access).await {
                Ok(mut fresh) => {
                    let word = self.regained.or_else(|| fresh.took_back(self.name()));
                    if word.is_some() || late {
                        fresh.target = self.target.clone();
                        *self = fresh;
                        return Ok(word.unwrap_or(Regained::Silent));
                    }
                    fresh.close().await;
                }
                Err(failure) if late => return Err(failure),
                Err(_) => {}
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Evaluates a text in the session program itself.
    async fn inside(&mut self, text: &str) -> Result<(), Failure> {
        let title = "guarding the access";
        self.ready(title)?;
        let request = |token: &str| {
            format!(
                "suil_open {token}; {{ {text}\n}} 2>\"$suil_folder/said\" && suil_shut {token} 0 || suil_shut {token} 1"
            )
        };
        self.send_job("do", request).await;
        let (raw, _) = self.answer(title, STEP, &[]).await?;
        if raw.status == "0" {
            return Ok(());
        }
        let words = self.masked(&raw.stderr);
        let what = format!("node `{}`: {title}: {}", self.target.node, words.trim());
        Err(Failure::new(&self.target, Reason::Local, Problem::new(what)))
    }
}
