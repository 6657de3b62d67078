//! From the login shell to the session's first word: a noisy way, with sudo on it.

use super::channel::Channel;
use super::probe::Greeting;
use super::program::{self, Mode, Nonces};
use super::scan::{Mark, Piece, Scanner};
use super::session::{Session, Text};
use super::{Access, Failure, Raise, Reason, Target, Transport, failure, sudo};
use crate::base::Problem;
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long the exit code of a channel that ended is waited for.
const GRACE: Duration = Duration::from_secs(5);

/// The transport behind a setting.
pub(super) fn transport(kind: Transport) -> Box<dyn super::link::Transport> {
    match kind {
        Transport::Local => Box::new(super::local::Local),
        Transport::Exec => Box::new(super::local::Exec),
        Transport::Openssh => Box::new(super::openssh::Openssh),
        Transport::Russh => Box::new(super::russh::Russh),
    }
}

/// Opens a channel and walks from the login shell to the session's first word.
pub(super) async fn login(target: &Target, access: &Access, early: Option<&Text<'_>>) -> Result<Session, Failure> {
    let mut until = Instant::now() + target.connect_timeout + access.limits.login;
    let local = |error: std::io::Error| Failure::start(target, "/dev/urandom", &error);
    let nonces = Nonces::new().map_err(local)?;
    let link = transport(target.transport).open(target, access).await?;
    let scanner = Scanner::new(&nonces.answer, &nonces.prompt);
    let mut channel = Channel::new(link, scanner);
    let known = access.sudo.known();
    let mode = match target.raise {
        Raise::No => Mode::No,
        Raise::Sudo if known.is_some() => Mode::Ask,
        Raise::Sudo | Raise::Doas => Mode::Quiet,
    };
    let first_job = early.map(|text| text(&format!("{}.1", nonces.answer)));
    let program = program::session(&nonces, first_job.as_deref());
    let mut start = program::login(&nonces, target.raise, mode);
    if mode != Mode::Ask {
        start.extend_from_slice(&program);
    }
    let mut waiting = target.transport == Transport::Exec;
    if !waiting {
        send(&mut channel, &start, until).await;
    }
    let mut noise: Vec<u8> = Vec::new();
    let mut greeting: Option<Vec<u8>> = None;
    let mut prompted = false;
    let first = format!("{}.0", nonces.answer);
    loop {
        let piece = match timeout_at(until, channel.piece()).await {
            Ok(Some(piece)) => piece,
            Ok(None) => {
                let status = timeout(GRACE, channel.exit.wait()).await.ok().flatten();
                let (words, noise) = said(&channel, access, &noise);
                return Err(match prompted {
                    true => sudo::refused(target, &noise),
                    // Before it asks: with `requiretty` it never comes to the question.
                    false if noise.contains("must have a tty") => sudo::failed(target, "refused", &noise),
                    false => Failure::before_greeting(target, status, &words, &noise),
                });
            }
            Err(_) => {
                let (words, noise) = said(&channel, access, &noise);
                let seconds = (target.connect_timeout + access.limits.login).as_secs();
                return Err(Failure::no_greeting(target, seconds, &words, &noise));
            }
        };
        match piece {
            Piece::Text(text) => match &mut greeting {
                Some(greeting) => greeting.extend(text),
                None => {
                    access.log.noise(&target.node, &access.mask.apply(&String::from_utf8_lossy(&text)));
                    noise.extend(text);
                    if noise.len() > 64 * 1024 {
                        noise.drain(..32 * 1024);
                    }
                    let text = String::from_utf8_lossy(&noise);
                    if failure::wants_a_new_password(&text) {
                        return Err(Failure::before_greeting(target, None, "", &text));
                    }
                }
            },
            Piece::Mark(Mark::Shell) if waiting => {
                waiting = false;
                send(&mut channel, &start, until).await;
            }
            Piece::Mark(Mark::Begin(token)) if token == first => greeting = Some(Vec::new()),
            Piece::Mark(Mark::End(token, _)) if token == first => {
                let greeting = Greeting::parse(&greeting.unwrap_or_default());
                channel.exit.spare();
                return Ok(Session::new(target, access, channel, nonces, greeting, early.is_some()));
            }
            Piece::Mark(Mark::Ready) => send(&mut channel, &program, until).await,
            Piece::Mark(Mark::Sudo(word)) => {
                let (_, text) = said(&channel, access, &noise);
                if word == "missing" || target.raise == Raise::Doas || !text.contains("password is required") {
                    return Err(sudo::failed(target, &word, &text));
                }
                let asked = Instant::now();
                if access.sudo.word(&target.node).await.is_none() {
                    return Err(sudo::no_password(target));
                }
                until += asked.elapsed();
                noise.clear();
                send(&mut channel, b"ask\n", until).await;
            }
            Piece::Mark(Mark::Prompt) => {
                let word = access.sudo.word(&target.node).await;
                word.iter().for_each(|word| access.mask.add(word));
                let (false, Some(word)) = (prompted, word) else {
                    let (_, text) = said(&channel, access, &noise);
                    return Err(sudo::refused(target, &text));
                };
                prompted = true;
                let line = zeroize::Zeroizing::new(format!("{}\n", word.as_str()));
                send(&mut channel, line.as_bytes(), until).await;
            }
            Piece::Mark(Mark::Fatal(words)) => {
                let what = format!("node `{}`: the session cannot begin: {words}", target.node);
                return Err(Failure::new(target, Reason::Local, Problem::new(what)));
            }
            Piece::Mark(_) => {}
        }
    }
}

/// Sends what may not be taken: a shell that is none ends, and its words are the better message.
async fn send(channel: &mut Channel, bytes: &[u8], until: Instant) {
    let _ = timeout_at(until, channel.send(bytes)).await;
}

fn said(channel: &Channel, access: &Access, noise: &[u8]) -> (String, String) {
    (channel.said(), access.mask.apply(&String::from_utf8_lossy(noise)))
}
