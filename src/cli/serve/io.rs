//! Connections: so many at a time, and none that says nothing for ever.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// So many connections at a time; the next wait.
const MOST: usize = 256;
/// So long a connection may go without a byte.
const IDLE: Duration = Duration::from_secs(60);

/// Listens for connections that do not wait for ever.
pub struct Patient {
    listener: TcpListener,
    free: Arc<Semaphore>,
}

impl Patient {
    pub fn new(listener: TcpListener) -> Patient {
        Patient { listener, free: Arc::new(Semaphore::new(MOST)) }
    }
}

impl axum::serve::Listener for Patient {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        loop {
            // The semaphore is never closed.
            let Ok(permit) = self.free.clone().acquire_owned().await else { std::future::pending().await };
            match self.listener.accept().await {
                Ok((stream, address)) => {
                    return (Line { stream, idle: Box::pin(sleep(IDLE)), _permit: permit }, address);
                }
                // Out of descriptors, or gone before it was taken: the next may do.
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection.
pub struct Line {
    stream: TcpStream,
    idle: Pin<Box<Sleep>>,
    _permit: OwnedSemaphorePermit,
}

impl Line {
    /// Something came or went: the time begins anew. Nothing did: the time runs.
    fn watched<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.idle.as_mut().reset(Instant::now() + IDLE);
            return polled;
        }
        ready!(self.idle.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Line {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.watched(cx, polled)
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.watched(cx, polled)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

use std::future::Future;
