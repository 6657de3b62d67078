//! Uploads: bulk content through the session's channel, a piece at a time, verified on the node before use.

use super::session::Session;
use super::{Failure, Reason, program};
use crate::base::{Problem, shell};
use crate::resource::{Action, Content, Upload};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

/// Where an upload is stored on the node.
pub(super) struct Name {
    /// The path as sh would write it.
    quoted: String,
}

const PIECE: usize = 128 * 1024;

/// The names of the uploads of action number `count`: beside their path, else in the session's private folder.
pub(super) fn names(action: &Action, secret: &str, count: u64) -> Vec<Name> {
    let name = |(i, upload): (usize, &Upload)| match &upload.beside {
        Some(path) => {
            let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
            Name { quoted: shell::quote(&format!("{folder}/.suil-{secret}-{count}-{i}")) }
        }
        None => Name { quoted: format!("\"$suil_folder/upload-{count}-{i}\"") },
    };
    action.uploads.iter().enumerate().map(name).collect()
}

/// The line that gives a script its uploads as `$1`, `$2`, …
pub(super) fn arguments(names: &[Name]) -> String {
    if names.is_empty() {
        return "set --\n".to_owned();
    }
    let words: Vec<&str> = names.iter().map(|name| name.quoted.as_str()).collect();
    format!("set -- {}\n", words.join(" "))
}

/// Sends the uploads of an action. Nothing is awaited: what went wrong is said by the job that follows.
///
/// # Errors
/// [`Reason::Local`] where a file of this machine cannot be read and nothing was sent; else the channel broke.
pub(super) async fn send(session: &mut Session, action: &Action, names: &[Name], title: &str) -> Result<(), Failure> {
    let mut files = Vec::new();
    for upload in &action.uploads {
        files.push(match &upload.content {
            Content::Bytes(_) => None,
            Content::File { path, .. } => Some(
                tokio::fs::File::open(path)
                    .await
                    .map_err(|error| Failure::new(&session.target, Reason::Local, Problem::io("read", path, &error)))?,
            ),
        });
    }
    for (i, ((upload, name), file)) in action.uploads.iter().zip(names).zip(files).enumerate() {
        let quoted = &name.quoted;
        let fresh = if i == 0 { "suil_fresh; " } else { "" };
        let (size, digest) = (upload.content.size(), upload.content.sha256());
        let text = format!("{fresh}suil_receive {size} {digest} {quoted} {}", program::word(quoted));
        let request = program::request("do", &session.token(), &text);
        piece(session, &request, size > 0, title).await?;
        match (&upload.content, file) {
            (Content::Bytes(bytes), _) => {
                let mut left = bytes.len();
                for part in bytes.chunks(PIECE) {
                    left -= part.len();
                    piece(session, part, left > 0, title).await?;
                }
            }
            (Content::File { .. }, Some(file)) => stream(session, file, size, title).await?,
            (Content::File { .. }, None) => {}
        }
    }
    Ok(())
}

/// Sends exactly `size` bytes: a file that shrank meanwhile is filled up, and its sha256 will not be right.
async fn stream(session: &mut Session, mut file: tokio::fs::File, size: u64, title: &str) -> Result<(), Failure> {
    let mut left = size;
    let mut buffer = vec![0; PIECE];
    while left > 0 {
        let want = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        let Some(part) = buffer.get_mut(..want) else { break };
        let n = match file.read(part).await {
            Ok(n) if n > 0 => n,
            _ => {
                part.fill(0);
                want
            }
        };
        left -= n as u64;
        piece(session, buffer.get(..n).unwrap_or_default(), left > 0, title).await?;
    }
    Ok(())
}

async fn piece(session: &mut Session, bytes: &[u8], more: bool, title: &str) -> Result<(), Failure> {
    let limit = session.access.limits.stall;
    match timeout(limit, session.channel.send_part(bytes, more)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Failure::lost(&session.target, title, &session.channel.said())),
        Err(_) => {
            let what = format!(
                "node `{}`: {title}: no byte of an upload was taken for {} s",
                session.target.node,
                limit.as_secs()
            );
            Err(Failure::new(&session.target, Reason::Limit, Problem::new(what)))
        }
    }
}
