//! Keeps suil alive through steps that belong together.

use super::Stop;
use crate::base::{Problem, Result};
use tokio::signal::unix::{SignalKind, signal};

/// While one is raised, no signal but `KILL` ends suil between two steps; it is remembered instead.
#[derive(Debug)]
pub struct Shield {
    stop: Stop,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Shield {
    /// Raises one.
    ///
    /// # Errors
    /// Signals cannot be listened for.
    pub fn raise() -> Result<Shield, Problem> {
        let failed = |e: &std::io::Error| Problem::new(format!("cannot listen for signals: {e}"));
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|e| failed(&e))?;
        let stop = Stop::default();
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
        for kind in kinds {
            let guard = runtime.enter();
            let mut signals = signal(kind).map_err(|e| failed(&e))?;
            drop(guard);
            let stop = stop.clone();
            runtime.spawn(async move {
                while signals.recv().await.is_some() {
                    stop.ask();
                }
            });
        }
        Ok(Shield { stop, runtime: Some(runtime) })
    }

    /// The wish to end, for who waits meanwhile.
    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// True where suil was told to end since.
    pub fn struck(&self) -> bool {
        self.stop.asked()
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
