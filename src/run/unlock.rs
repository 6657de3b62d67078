//! Looks at the locks of nodes, and takes them away.

use super::each::{Found, each};
use super::watch::Watch;
use super::{Setup, Stop};
use crate::node::{Failure, Held, Session, Target};
use std::sync::Arc;

/// The lock of one node, while the session that looked at it is kept.
pub struct Look {
    pub node: String,
    pub answer: Result<(Session, Option<Held>), Failure>,
}

/// How a lock was found or left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lock {
    Free,
    /// It was only looked at.
    Held(Held),
    Removed(Held),
    /// It belongs to somebody else than before, and was left.
    Changed(Held),
}

/// Looks at the locks of all `targets`.
pub async fn look(
    setup: &Arc<Setup>,
    targets: Vec<Target>,
    parallel: usize,
    watch: &Arc<dyn Watch>,
    stop: &Stop,
) -> Vec<Look> {
    let work = |mut session: Session| async move {
        let held = session.holder().await?;
        Ok((session, held))
    };
    let found = each(setup, targets, parallel, watch, stop, work).await;
    found.into_iter().map(|Found { node, answer, .. }| Look { node, answer }).collect()
}

/// Ends the sessions; with `by`, who does it and why, the locks are taken away before.
pub async fn unlock(looks: Vec<Look>, by: Option<&str>) -> Vec<(String, Result<Lock, Failure>)> {
    let mut tasks = Vec::with_capacity(looks.len());
    for Look { node, answer } in looks {
        let by = by.map(str::to_owned);
        tasks.push((node, tokio::spawn(async move { end(answer, by.as_deref()).await })));
    }
    let mut found = Vec::with_capacity(tasks.len());
    for (node, task) in tasks {
        if let Ok(lock) = task.await {
            found.push((node, lock));
        }
    }
    found
}

async fn end(look: Result<(Session, Option<Held>), Failure>, by: Option<&str>) -> Result<Lock, Failure> {
    let (mut session, held) = look?;
    let lock = match (held, by) {
        (None, _) => Ok(Lock::Free),
        (Some(held), None) => Ok(Lock::Held(held)),
        (Some(held), Some(by)) => match session.unlock(&held, by).await {
            Ok(true) => Ok(Lock::Removed(held)),
            Ok(false) => Ok(Lock::Changed(held)),
            Err(failure) => Err(failure),
        },
    };
    session.close().await;
    lock
}
