//! What every transport gives: bytes in, bytes out, an exit code.

use super::access::Log;
use super::{Access, Failure, HostKey, Target};
use crate::base::{Mask, Problem};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncWrite};

pub(super) type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// An open channel to a program on a node. Dropping it ends the channel.
pub(super) struct Link {
    pub input: Box<dyn AsyncWrite + Send + Unpin>,
    pub output: Box<dyn AsyncRead + Send + Unpin>,
    /// What the transport and the node said aside.
    pub words: Words,
    pub exit: Box<dyn Exit>,
}

/// The end of the program at the other side.
pub(super) trait Exit: Send {
    /// Waits for it; `None` where it was ended by a signal or the channel was lost.
    fn wait(&mut self) -> Later<'_, Option<i32>>;

    /// From now on the end of the channel is enough to end the other side: nothing is killed.
    fn spare(&mut self);
}

/// One way to reach a node.
pub(super) trait Transport: Send + Sync {
    /// Opens a channel to a shell that has been given [`super::program::LINE`].
    fn open<'a>(&'a self, target: &'a Target, access: &'a Access) -> Later<'a, Result<Link, Failure>>;

    /// Learns the key that the host shows, without logging in and without writing anything.
    fn host_key<'a>(&'a self, target: &'a Target, _access: &'a Access) -> Later<'a, Result<HostKey, Problem>> {
        Box::pin(async { Err(no_host_key(target)) })
    }

    /// Forgets what is kept between sessions, so that the next one is a new login.
    fn forget<'a>(&'a self, _target: &'a Target) -> Later<'a, ()> {
        Box::pin(async {})
    }
}

/// A transport that checks no host keys has none to learn.
pub(super) fn no_host_key(target: &Target) -> Problem {
    Problem::new(format!("node `{}` is not reached through SSH: it has no host key", target.node))
}

/// The last of what was said on stderr, kept for the message of a failure.
#[derive(Clone)]
pub(super) struct Words {
    node: Arc<str>,
    log: Log,
    mask: Mask,
    said: Arc<Mutex<Vec<u8>>>,
}

const KEPT: usize = 16 * 1024;

impl Words {
    pub fn new(node: &str, access: &Access) -> Words {
        Words { node: Arc::from(node), log: access.log.clone(), mask: access.mask.clone(), said: Arc::default() }
    }

    pub fn add(&self, bytes: &[u8]) {
        self.log.noise(&self.node, &self.mask.apply(&String::from_utf8_lossy(bytes)));
        let mut said = self.said.lock().unwrap_or_else(|e| e.into_inner());
        said.extend_from_slice(bytes);
        if said.len() > KEPT {
            let cut = said.len() - KEPT;
            said.drain(..cut);
        }
    }

    pub fn text(&self) -> String {
        let said = self.said.lock().unwrap_or_else(|e| e.into_inner());
        self.mask.apply(&String::from_utf8_lossy(&said))
    }
}
