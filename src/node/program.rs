//! The texts that run on a node.

use super::Raise;
use crate::base::{digest, shell};
use std::io::Read;

const LOGIN: &str = include_str!("../../collector/login.sh");
const SESSION: &str = include_str!("../../collector/session.sh");
/// The functions that every script on a node has in reach.
const LIBRARY: &[&str] = &[
    include_str!("../../collector/lib.sh"),
    include_str!("../../collector/lib-system.sh"),
    include_str!("../../collector/facts.sh"),
    include_str!("../../collector/facts-system.sh"),
];

/// Reads a line with a size and as many bytes, no byte more, and runs them. `sh -s` would not do: dash reads its
/// program in blocks and takes what follows it. The first dd refuses an unknown flag before it reads anything.
pub(super) const READER: &str = r#"read -r n && p=$(dd bs="$n" count=1 iflag=fullblock 2>/dev/null || dd bs=1 count="$n" 2>/dev/null) && eval "$p""#;

/// The only thing that a login shell ever sees: sh, bash, zsh, fish, csh and tcsh read it alike. It is
/// [`READER`] in plain quotes.
pub(super) const LINE: &str = r#"exec /bin/sh -c 'read -r n && p=$(dd bs="$n" count=1 iflag=fullblock 2>/dev/null || dd bs=1 count="$n" 2>/dev/null) && eval "$p"'"#;

/// The same for a shell that reads its commands from the channel: says `@@SHELL` once the channel is its own.
pub(super) const WAITING_LINE: &str = r#"exec /bin/sh -c 'echo @@SHELL; read -r n && p=$(dd bs="$n" count=1 iflag=fullblock 2>/dev/null || dd bs=1 count="$n" 2>/dev/null) && eval "$p"'"#;

/// The words of one session that nobody else can know: they mark its answers.
pub(super) struct Nonces {
    pub answer: String,
    /// Given to sudo in its arguments, so it is not the one that marks answers.
    pub prompt: String,
    pub name: String,
}

impl Nonces {
    pub fn new() -> std::io::Result<Nonces> {
        let mut bytes = [0; 40];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        let hex = digest::hex(&bytes);
        let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
        Ok(Nonces { answer: part(0, 32), prompt: part(32, 64), name: part(64, 80) })
    }
}

/// How the session becomes root.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    No,
    /// Without a question; the session program is sent along.
    Quiet,
    /// With a question; the session program waits for it.
    Ask,
}

/// The text that becomes root.
pub(super) fn login(nonces: &Nonces, raise: Raise, mode: Mode) -> Vec<u8> {
    let tool = if raise == Raise::Doas { "doas" } else { "sudo" };
    let mode = match mode {
        Mode::No => "no",
        Mode::Quiet => "quiet",
        Mode::Ask => "ask",
    };
    let (nonce, prompt) = (&nonces.answer, &nonces.prompt);
    framed(&format!("suil_nonce={nonce} suil_prompt={prompt} suil_raise={mode} suil_sudo={tool}\n{LOGIN}"))
}

/// The session program. `early` is the text of a first job, so that it costs no round trip of its own.
pub(super) fn session(nonces: &Nonces, early: Option<&str>) -> Vec<u8> {
    let early = format!("'{}'", early.unwrap_or_default().replace('\'', r"'\''"));
    let head = format!("suil_nonce={} suil_name={}\nsuil_early={early}\n", nonces.answer, nonces.name);
    let mut text = head;
    for part in LIBRARY {
        text.push_str(&bare(part));
    }
    text.push_str(&bare(SESSION));
    framed(&text)
}

fn framed(text: &str) -> Vec<u8> {
    let text = text.trim_end();
    format!("{}\n{text}\n", text.len() + 1).into_bytes()
}

/// Without the lines that hold a comment alone: they are for those who read the source.
pub(super) fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.trim_start().starts_with("# ") && !line.trim().is_empty()) {
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Takes functions and arguments of the session away again, so that a person's script finds none but its own. It ends
/// in the line where that begins, so that the shell counts its lines right.
pub(super) fn forget() -> String {
    let defined = |line: &'static str| line.strip_suffix("() {").filter(|name| !name.contains(' '));
    let texts = LIBRARY.iter().copied().chain([SESSION]);
    let names: Vec<&str> = texts.flat_map(str::lines).filter_map(defined).collect();
    format!("unset -f {}; set --; ", names.join(" "))
}

/// A request: `VERB SIZE TOKEN` and the text. Its last line is a comment with the token: without it the channel was
/// cut in the middle, and nothing of it runs.
pub(super) fn request(verb: &str, token: &str, text: &str) -> Vec<u8> {
    let text = format!("{}\n#{token}", text.trim_end_matches('\n'));
    format!("{verb} {} {token}\n{text}", text.len()).into_bytes()
}

/// Writes a word so that the session reads it as one, whatever it holds.
pub(super) fn word(text: &str) -> String {
    shell::quote(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_login_shell_sees_nothing_that_a_shell_could_take_differently() {
        assert_eq!(LINE, format!("exec /bin/sh -c '{READER}'"));
        assert_eq!(WAITING_LINE, format!("exec /bin/sh -c 'echo @@SHELL; {READER}'"));
        // fish and csh treat these otherwise than sh, even in single quotes.
        assert!(!READER.contains(['\\', '\'', '!', '\n']));
        assert!(LOGIN.contains(&format!("suil_reader='{READER}'")));
    }

    #[test]
    fn two_sessions_share_no_word() {
        let (a, b) = (Nonces::new().expect("nonces"), Nonces::new().expect("nonces"));
        assert!(a.answer != b.answer && a.answer != a.prompt && a.answer.len() == 32 && a.name.len() == 16);
    }
}
