//! The channel of a session, with the marks found in it.

use super::link::{Exit, Link, Words};
use super::scan::{Piece, Scanner};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

pub(super) struct Channel {
    input: Arc<Mutex<Input>>,
    output: Box<dyn AsyncRead + Send + Unpin>,
    words: Words,
    pub exit: Box<dyn Exit>,
    scanner: Scanner,
    chunk: Vec<u8>,
    ended: bool,
    pings: Option<JoinHandle<()>>,
}

struct Input {
    /// `None` once it is closed.
    bytes: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    /// Something was begun and not sent to its end, so that nothing may follow it.
    open: bool,
    /// The token of the answer that is waited for; gone with whoever waits.
    awaited: Weak<str>,
}

impl Channel {
    pub fn new(link: Link, scanner: Scanner) -> Channel {
        Channel {
            input: Arc::new(Mutex::new(Input { bytes: Some(link.input), open: false, awaited: none() })),
            output: link.output,
            words: link.words,
            exit: link.exit,
            scanner,
            chunk: vec![0; 64 * 1024],
            ended: false,
            pings: None,
        }
    }

    /// Sends one request, or what follows it.
    pub async fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.send_part(bytes, false).await
    }

    /// Sends a part of a request; where `more` follows, nothing else may come between.
    pub async fn send_part(&mut self, bytes: &[u8], more: bool) -> std::io::Result<()> {
        let mut input = self.input.lock().await;
        input.open = true;
        let Some(out) = &mut input.bytes else { return Err(std::io::ErrorKind::BrokenPipe.into()) };
        out.write_all(bytes).await?;
        out.flush().await?;
        input.open = more;
        Ok(())
    }

    /// The next piece; `None` at the end of the channel.
    pub async fn piece(&mut self) -> Option<Piece> {
        loop {
            if let Some(piece) = self.scanner.next() {
                return Some(piece);
            }
            if self.ended {
                let rest = self.scanner.rest();
                return (!rest.is_empty()).then_some(Piece::Text(rest));
            }
            match self.output.read(&mut self.chunk).await {
                Ok(n) if n > 0 => self.scanner.push(self.chunk.get(..n).unwrap_or_default()),
                _ => self.ended = true,
            }
        }
    }

    /// Says from now on, every `pause`, that this side is alive, and which answer it waits for as long as what is
    /// returned is kept: the request of that answer has been sent.
    pub async fn wait_for(&mut self, token: &str, pause: Duration) -> Arc<str> {
        let awaited: Arc<str> = token.into();
        self.input.lock().await.awaited = Arc::downgrade(&awaited);
        let input = Arc::downgrade(&self.input);
        let pings = async move {
            loop {
                tokio::time::sleep(pause).await;
                let Some(input) = input.upgrade() else { return };
                let mut input = input.lock().await;
                let awaited = input.awaited.upgrade();
                let (false, Some(out)) = (input.open, &mut input.bytes) else { continue };
                let line = format!("ping 0 {}\n", awaited.as_deref().unwrap_or("-"));
                if out.write_all(line.as_bytes()).await.is_err() || out.flush().await.is_err() {
                    return;
                }
            }
        };
        self.pings.get_or_insert_with(|| tokio::spawn(pings));
        awaited
    }

    /// Ends the requests. The end of input is enough where something was left unsent.
    pub async fn finish(&mut self) {
        let mut input = self.input.lock().await;
        let unfinished = input.open;
        if let Some(mut out) = input.bytes.take() {
            if !unfinished {
                let _ = out.write_all(b"quit 0 -\n").await;
            }
            let _ = out.shutdown().await;
        }
    }

    /// Ends the input without a word, so that the session does what it does when it is cut off.
    pub async fn cut(&mut self) {
        if let Some(pings) = self.pings.take() {
            pings.abort();
        }
        if let Some(mut out) = self.input.lock().await.bytes.take() {
            // Nobody may be there who takes it.
            let _ = tokio::time::timeout(Duration::from_secs(1), out.shutdown()).await;
        }
    }

    /// What was said on stderr.
    pub fn said(&self) -> String {
        self.words.text()
    }
}

fn none() -> Weak<str> {
    Arc::downgrade(&Arc::<str>::from(""))
}

impl Drop for Channel {
    fn drop(&mut self) {
        if let Some(pings) = self.pings.take() {
            pings.abort();
        }
    }
}
