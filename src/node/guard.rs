//! Operations that could cut suil's own access: what they change is kept on the node beforehand, the access is proven
//! over a second connection, and the node itself takes them back where the first one is lost as well.

use super::session::Session;
use super::{Failure, Outcome, Reason, program};
use crate::base::Problem;
use std::time::Duration;

const STEP: Duration = Duration::from_secs(60);

impl Session {
    /// Keeps what is at `path` now, before an operation changes it: a file, a link, or nothing.
    ///
    /// # Errors
    /// It cannot be kept: then the operation must not run.
    pub async fn keep_path(&mut self, path: &str) -> Result<(), Failure> {
        let quoted = program::word(path);
        self.keep(&format!("suil_keep_path {quoted} {}", program::word(&quoted))).await
    }

    /// Names what is run after kept files were brought back: the reload of the service that reads them.
    ///
    /// # Errors
    /// The channel broke.
    pub async fn keep_script(&mut self, script: &str) -> Result<(), Failure> {
        self.keep(&format!("suil_keep_script {}", program::word(script))).await
    }

    /// Proves that the node can still be worked with: logs in anew, past every master connection, and becomes root.
    ///
    /// # Errors
    /// It cannot; the reason is that of the second login.
    pub async fn prove_access(&mut self) -> Result<(), Failure> {
        let mut target = self.target.clone();
        target.persist = Duration::ZERO;
        Session::open(&target, &self.access).await?.close().await;
        Ok(())
    }

    /// Takes back what was changed since the first [`Session::keep_path`], over this channel.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub async fn undo(&mut self) -> Result<Outcome, Failure> {
        let outcome = self.run("taking back", "suil_undo", STEP * 5).await?;
        self.settled().await?;
        Ok(outcome)
    }

    /// Ends the guard: the access is proven, or what was changed is taken back. Until then the loss of the channel
    /// takes it back.
    ///
    /// # Errors
    /// The channel broke.
    pub async fn settled(&mut self) -> Result<(), Failure> {
        self.keep("suil_settled").await
    }

    /// Evaluates a text in the session program itself.
    async fn keep(&mut self, text: &str) -> Result<(), Failure> {
        let title = "guarding the access";
        self.ready(title)?;
        self.send_job("do", |token| {
            format!("suil_open {token}; if {text} 2>\"$suil_folder/said\"; then suil_shut {token} 0; else suil_shut {token} 1; fi")
        })
        .await;
        let (raw, _) = self.answer(title, STEP, &[]).await?;
        self.channel.keep_alive();
        if raw.status == "0" {
            return Ok(());
        }
        let words = self.masked(&raw.stderr);
        let what = format!("node `{}`: {title}: {}", self.target.node, words.trim());
        Err(Failure::new(&self.target, Reason::Local, Problem::new(what)))
    }
}
