//! The wish to stop: once to finish what is in flight, twice to stop at once.

use std::sync::Arc;
use tokio::sync::watch;

/// Shared by all tasks of a run; cloning is cheap.
#[derive(Clone, Debug)]
pub struct Stop {
    sender: Arc<watch::Sender<u8>>,
}

impl Default for Stop {
    fn default() -> Stop {
        Stop { sender: Arc::new(watch::channel(0).0) }
    }
}

impl Stop {
    /// Asks for a stop, or asks again.
    pub fn ask(&self) {
        self.sender.send_modify(|times| *times = times.saturating_add(1));
    }

    /// True once a stop was asked for: nothing new begins.
    pub fn asked(&self) -> bool {
        *self.sender.borrow() > 0
    }

    /// Returns when a stop was asked for.
    pub async fn wished(&self) {
        self.times(1).await;
    }

    /// Returns when a stop was asked for twice: what is in flight is left.
    pub async fn demanded(&self) {
        self.times(2).await;
    }

    async fn times(&self, wanted: u8) {
        let mut receiver = self.sender.subscribe();
        if receiver.wait_for(|times| *times >= wanted).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
