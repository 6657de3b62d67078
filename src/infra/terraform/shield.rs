//! Keeps suil alive through steps that belong together.

use crate::base::{Problem, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::signal::unix::{SignalKind, signal};

/// While one is raised, no signal but `KILL` ends suil between two steps; it is remembered instead. Programs that are
/// started [`aside`](std::os::unix::process::CommandExt::process_group) are not told of a Ctrl-C either.
#[derive(Debug)]
pub struct Shield {
    struck: Arc<AtomicBool>,
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
        let struck = Arc::new(AtomicBool::new(false));
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup(), SignalKind::quit()];
        for kind in kinds {
            let guard = runtime.enter();
            let mut signals = signal(kind).map_err(|e| failed(&e))?;
            drop(guard);
            let struck = Arc::clone(&struck);
            runtime.spawn(async move {
                while signals.recv().await.is_some() {
                    struck.store(true, Ordering::SeqCst);
                }
            });
        }
        Ok(Shield { struck, runtime: Some(runtime) })
    }

    /// True where suil was told to end since.
    pub fn struck(&self) -> bool {
        self.struck.load(Ordering::SeqCst)
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
