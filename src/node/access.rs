//! What a run knows and allows: the sudo password, limits, the mask, where sockets and keys lie.

use super::Pace;
use crate::base::Mask;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use zeroize::Zeroizing;

/// Shared by all sessions of a run; cloning is cheap.
#[derive(Clone)]
pub struct Access {
    pub sudo: Arc<Sudo>,
    pub mask: Mask,
    pub limits: Limits,
    pub pace: Pace,
    pub log: Log,
    /// The home folder of the person, for `~/.ssh` of the built-in client.
    pub home: Option<PathBuf>,
    /// The socket of the ssh agent, for the built-in client.
    pub agent: Option<PathBuf>,
}

impl Default for Access {
    fn default() -> Access {
        Access {
            sudo: Arc::new(Sudo::given(None)),
            mask: Mask::new(),
            limits: Limits::default(),
            pace: Pace::default(),
            log: Log::default(),
            home: None,
            agent: None,
        }
    }
}

/// How long each stage may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// From the connection to the session's first word: a directory service may be slow, sudo may look up names.
    pub login: Duration,
    /// All built-in facts of a node.
    pub facts: Duration,
    /// One module's collector.
    pub collector: Duration,
    /// One operation.
    pub step: Duration,
    /// No byte of an upload was taken for so long.
    pub stall: Duration,
    /// How often this side says that it is alive, and asks whether what it waits for is still under way. A session that
    /// changes its node waits for 30 s or more.
    pub ping: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            login: Duration::from_secs(120),
            facts: Duration::from_secs(120),
            collector: Duration::from_secs(60),
            step: Duration::from_secs(1800),
            stall: Duration::from_secs(60),
            ping: Duration::from_secs(10),
        }
    }
}

/// The sudo password of a run: given, or asked for once, when the first node needs it.
pub struct Sudo {
    word: OnceCell<Option<Zeroizing<String>>>,
    ask: Option<Ask>,
}

type Ask = Arc<dyn Fn(&str) -> Option<Zeroizing<String>> + Send + Sync>;

impl Sudo {
    /// A password that is known (from `SUIL_SUDO_PASSWORD`), or none at all and nobody to ask.
    pub fn given(word: Option<Zeroizing<String>>) -> Sudo {
        Sudo { word: OnceCell::new_with(Some(word)), ask: None }
    }

    /// Asks a person through `ask`, which gets the name of the first node that needs it and may block.
    pub fn asking(ask: impl Fn(&str) -> Option<Zeroizing<String>> + Send + Sync + 'static) -> Sudo {
        Sudo { word: OnceCell::new(), ask: Some(Arc::new(ask)) }
    }

    /// The password, where it is known already.
    pub(super) fn known(&self) -> Option<Zeroizing<String>> {
        self.word.get().cloned().flatten()
    }

    /// The password, asked for where it must be. Everybody who waits gets the one answer.
    pub(super) async fn word(&self, node: &str) -> Option<Zeroizing<String>> {
        let asked = self.word.get_or_init(|| async {
            let ask = self.ask.clone()?;
            let node = node.to_owned();
            tokio::task::spawn_blocking(move || ask(&node)).await.ok().flatten()
        });
        asked.await.clone()
    }
}

/// Where the noise goes: banners, warnings of ssh, what shells print before the session. For `--debug`.
#[derive(Clone, Default)]
pub struct Log(Option<Arc<Sink>>);

type Sink = dyn Fn(&str, &str) + Send + Sync;

impl Log {
    /// Hands every piece of noise to `sink`, as node and text, masked.
    pub fn new(sink: impl Fn(&str, &str) + Send + Sync + 'static) -> Log {
        Log(Some(Arc::new(sink)))
    }

    pub(super) fn noise(&self, node: &str, text: &str) {
        if let Some(sink) = &self.0
            && !text.trim().is_empty()
        {
            sink(node, text);
        }
    }
}
