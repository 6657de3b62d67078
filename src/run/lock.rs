//! The lock of a node: two operators cannot change one node at once.

use super::gather::Ready;
use super::watch::{Event, Watch};
use super::{Options, Stop};
use crate::node::lock::who;
use crate::node::{Failure, Reason, Session};
use std::time::Duration;

/// How often, and at which distance, a lock that somebody holds is asked for: a session whose suil was killed a moment
/// ago is just ending what it runs.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(500);

/// Takes the lock of a node before anything is changed on it; it is let go with the session.
///
/// # Errors
/// Somebody else holds it and goes on doing so, or the channel broke.
pub async fn take(ready: &mut Ready, options: &Options, watch: &dyn Watch, stop: &Stop) -> Result<(), Failure> {
    hold(&mut ready.session, &options.purpose, watch, stop).await
}

/// The same for a session. `purpose` says who works there, from where and what for.
///
/// # Errors
/// As [`take`].
pub async fn hold(session: &mut Session, purpose: &str, watch: &dyn Watch, stop: &Stop) -> Result<(), Failure> {
    let who = who(purpose);
    let mut tries = 1;
    loop {
        match session.lock(&who).await {
            Err(failure) if failure.reason == Reason::Locked && tries < TRIES && !stop.asked() => {
                watch.event(&Event::Phase { node: session.node(), phase: "waiting for another run" });
                tries += 1;
                tokio::time::sleep(PAUSE).await;
            }
            other => return other,
        }
    }
}
