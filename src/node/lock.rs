//! The lock of a node, as the session program keeps it: taken, looked at, taken away.

use super::session::Session;
use super::{Failure, Reason, program};
use crate::base::{Problem, clock, problem::Kind};
use std::time::Duration;

/// So long each of these may take.
const STEP: Duration = Duration::from_secs(30);

/// A lock that was found on a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Held {
    /// What its holder said: who, from where, what for, since when.
    pub who: String,
    /// The session that took it is there; otherwise it counts for nothing, and the next run takes it.
    pub alive: bool,
    /// Number and start of the process that took it.
    owner: String,
}

impl Held {
    /// What its holder said, and how long ago that was.
    pub fn told(&self) -> String {
        told(&self.who)
    }

    /// Who and what for.
    pub fn purpose(&self) -> &str {
        self.who.rsplit_once(SINCE).map_or(&self.who, |(purpose, _)| purpose)
    }

    /// When it was taken: `2026-11-30T08:20:11Z`, by the clock of the machine that suil ran on.
    pub fn since(&self) -> Option<&str> {
        self.who.rsplit_once(SINCE).map(|(_, since)| since)
    }
}

const SINCE: &str = ", since ";

/// How a holder says who it is.
pub fn who(purpose: &str) -> String {
    format!("{}{SINCE}{}", purpose.replace('\n', " "), clock::stamp(clock::now()))
}

fn told(who: &str) -> String {
    let ago = who.rsplit_once(SINCE).and_then(|(_, since)| clock::ago(since));
    ago.map_or(who.to_owned(), |ago| format!("{who}, {ago}"))
}

impl Session {
    /// Holds the lock of the node, so that nobody else changes it meanwhile. `who` says in one line who holds it,
    /// from where, what for and since when, as [`who`] writes it. It is let go when the session ends, however it ends;
    /// one that is left over from a session that is gone counts for nothing.
    ///
    /// # Errors
    /// Somebody else holds it: [`Kind::Refused`], with what they said about themselves.
    pub async fn lock(&mut self, who: &str) -> Result<(), Failure> {
        let title = "taking the lock";
        self.ready(title)?;
        self.send_job("do", |token| format!("suil_lock {token} {}", program::word(&who.replace('\n', " ")))).await;
        let (raw, _) = self.answer(title, STEP, &[]).await?;
        if raw.status == "0" {
            return Ok(());
        }
        let node = self.node();
        let holder = told(self.masked(&raw.stdout).trim());
        let problem = Problem::new(format!("node `{node}` is being changed by somebody else: {holder}"))
            .help(format!(
                "wait until that run ends, then `suil apply --node {node}`; if it never does, `suil unlock {node}`"
            ))
            .kind(Kind::Refused);
        Err(Failure::new(&self.target, Reason::Locked, problem))
    }

    /// Who holds the lock of the node.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub async fn holder(&mut self) -> Result<Option<Held>, Failure> {
        let outcome = self.run("looking at the lock", LOOK, STEP).await?;
        let mut lines = outcome.stdout.lines();
        let (state, owner) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let who = lines.next().unwrap_or_default().to_owned();
        Ok((!state.is_empty()).then(|| Held { who, alive: state == "alive", owner: owner.to_owned() }))
    }

    /// Takes the lock away from whoever was found to hold it. A session that is alive is told by whom, and performs no
    /// further operation. False where the lock has changed hands meanwhile.
    ///
    /// # Errors
    /// As [`Session::run`].
    pub async fn unlock(&mut self, held: &Held, by: &str) -> Result<bool, Failure> {
        let by = by.replace('\n', " ");
        let script = format!("suil_line={} suil_who={}\n{TAKE}", program::word(&held.owner), program::word(&by));
        Ok(self.run("taking the lock away", &script, STEP).await?.status == 0)
    }

    /// An operation that was not performed, since the lock is gone: `words` say who took it.
    pub(super) fn unlocked(&self, title: &str, words: &str) -> Failure {
        let node = self.node();
        let problem = Problem::new(format!("node `{node}`: the lock was taken away by {}", words.trim()))
            .note(format!("`{title}` was not begun, nor anything after it"))
            .help(format!("find out why, then `suil apply --node {node}` continues"))
            .kind(Kind::Refused);
        Failure::new(&self.target, Reason::Locked, problem)
    }
}

/// Prints `alive` or `stale`, the process that took the lock, and who that was; nothing where there is no lock.
const LOOK: &str = r#"suil_locus
[ -d "$suil_place" ] || exit 0
if suil_lives "$suil_place/owner"; then echo alive; else echo stale; fi
suil_line=' ' suil_who='somebody who has not said who'
{ IFS= read -r suil_line; IFS= read -r suil_who; } 2>/dev/null <"$suil_place/owner"
printf '%s\n%s\n' "$suil_line" "$suil_who"
"#;

/// Removes the lock of `suil_line`; `suil_who` does it.
const TAKE: &str = r#"suil_owner=$suil_line suil_line=' ' suil_then=
suil_locus
{ IFS= read -r suil_line; read -r suil_to; IFS= read -r suil_to; } 2>/dev/null <"$suil_place/owner"
[ "$suil_line" = "$suil_owner" ] || exit 1
case $suil_to in
*/suil-*) [ ! -w "$suil_to/owner" ] || printf '%s\n' "$suil_who" >"$suil_to/unlocked" ;;
esac
suil_break "$suil_owner"
"#;
