//! Finds the marks of a session in what comes out of a channel. Everything else is noise, or the data between marks.

/// A mark: only somebody who knows the nonce can write one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Mark {
    Begin(String),
    Errors(String),
    End(String, String),
    /// sudo did not let us in: `missing` or `refused`.
    Sudo(String),
    /// The reader of programs waits.
    Ready,
    /// sudo asks for the password.
    Prompt,
    /// A shell that reads commands from the channel has handed it over.
    Shell,
    Fatal(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Piece {
    Text(Vec<u8>),
    Mark(Mark),
}

/// Cuts a stream of bytes into text and marks.
pub(super) struct Scanner {
    words: Vec<(Vec<u8>, Word)>,
    nonce: String,
    buffer: Vec<u8>,
    start: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Begin,
    Errors,
    End,
    Sudo,
    Ready,
    Prompt,
    Shell,
    Fatal,
}

/// A mark is one line; anything longer is none.
const LONGEST: usize = 4096;

enum Found {
    Mark(Mark, usize),
    Short,
    Nothing,
}

impl Scanner {
    pub fn new(nonce: &str, prompt: &str) -> Scanner {
        let word = |text: String, word| (text.into_bytes(), word);
        let words = vec![
            word(format!("@@BEGIN {nonce}"), Word::Begin),
            word(format!("@@ERR {nonce}"), Word::Errors),
            word(format!("@@END {nonce}"), Word::End),
            word(format!("@@SUDO {nonce}"), Word::Sudo),
            word(format!("@@FATAL {nonce}"), Word::Fatal),
            word(format!("@@READY {prompt}"), Word::Ready),
            word(format!("@@PROMPT {prompt}@@"), Word::Prompt),
            word("@@SHELL".to_owned(), Word::Shell),
        ];
        Scanner { words, nonce: nonce.to_owned(), buffer: Vec::new(), start: 0 }
    }

    pub fn push(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next piece, or `None` where more bytes are needed to tell.
    pub fn next(&mut self) -> Option<Piece> {
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        if rest.is_empty() {
            return None;
        }
        let mut from = 0;
        while let Some(at) = find(rest, from) {
            match self.mark(rest.get(at..).unwrap_or_default()) {
                Found::Mark(mark, size) if at == 0 => {
                    self.start += size;
                    return Some(Piece::Mark(mark));
                }
                Found::Mark(..) | Found::Short => return self.text(at),
                Found::Nothing => from = at + 1,
            }
        }
        // A mark may begin with the last byte.
        let kept = usize::from(rest.last() == Some(&b'@'));
        self.text(rest.len() - kept)
    }

    /// What is left where nothing more comes.
    pub fn rest(&mut self) -> Vec<u8> {
        let rest = self.buffer.split_off(self.start.min(self.buffer.len()));
        self.buffer.clear();
        self.start = 0;
        rest
    }

    fn text(&mut self, size: usize) -> Option<Piece> {
        let text = self.buffer.get(self.start..self.start + size).filter(|text| !text.is_empty())?.to_vec();
        self.start += size;
        Some(Piece::Text(text))
    }

    fn mark(&self, rest: &[u8]) -> Found {
        let mut short = false;
        for (text, word) in &self.words {
            if rest.len() < text.len() {
                short |= text.starts_with(rest);
                continue;
            }
            if !rest.starts_with(text) {
                continue;
            }
            if *word == Word::Prompt {
                return Found::Mark(Mark::Prompt, text.len());
            }
            let tail = rest.get(text.len()..).unwrap_or_default();
            let Some(end) = tail.iter().position(|b| *b == b'\n') else {
                return if tail.len() < LONGEST { Found::Short } else { Found::Nothing };
            };
            let line = String::from_utf8_lossy(tail.get(..end).unwrap_or_default());
            let line = line.strip_suffix('\r').unwrap_or(&line);
            if !(line.is_empty() || line.starts_with(['.', ' '])) {
                return Found::Nothing;
            }
            let (token, more) = line.split_once(' ').unwrap_or((line, ""));
            let token = format!("{}{token}", self.nonce);
            let mark = match word {
                Word::Begin => Mark::Begin(token),
                Word::Errors => Mark::Errors(token),
                Word::End => Mark::End(token, more.to_owned()),
                Word::Sudo => Mark::Sudo(more.to_owned()),
                Word::Fatal => Mark::Fatal(more.to_owned()),
                Word::Shell => Mark::Shell,
                Word::Ready | Word::Prompt => Mark::Ready,
            };
            return Found::Mark(mark, text.len() + end + 1);
        }
        if short { Found::Short } else { Found::Nothing }
    }
}

fn find(bytes: &[u8], from: usize) -> Option<usize> {
    let tail = bytes.get(from..)?;
    tail.windows(2).position(|pair| pair == b"@@").map(|at| at + from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], step: usize) -> Vec<Piece> {
        let mut scanner = Scanner::new("7f3a", "p0");
        let mut pieces: Vec<Piece> = Vec::new();
        let mut add = |piece| match (pieces.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(more)) => last.extend(more),
            (_, piece) => pieces.push(piece),
        };
        for chunk in bytes.chunks(step) {
            scanner.push(chunk);
            while let Some(piece) = scanner.next() {
                add(piece);
            }
        }
        let rest = scanner.rest();
        if !rest.is_empty() {
            add(Piece::Text(rest));
        }
        pieces
    }

    #[test]
    fn marks_are_found_however_the_bytes_arrive() {
        let text = b"motd @@@BEGIN 7f3a.1\r\na@@b\n@@END 7f3b 0\n@\n@@END 7f3a.1 41\n@@PROMPT p0@@ @@";
        for step in 1..text.len() {
            let pieces = all(text, step);
            let want = vec![
                Piece::Text(b"motd @".to_vec()),
                Piece::Mark(Mark::Begin("7f3a.1".into())),
                Piece::Text(b"a@@b\n@@END 7f3b 0\n@\n".to_vec()),
                Piece::Mark(Mark::End("7f3a.1".into(), "41".into())),
                Piece::Mark(Mark::Prompt),
                Piece::Text(b" @@".to_vec()),
            ];
            assert_eq!(pieces, want, "in steps of {step}");
        }
    }

    #[test]
    fn a_nonce_that_goes_on_is_another_nonce() {
        assert_eq!(all(b"@@BEGIN 7f3abc\n", 99), vec![Piece::Text(b"@@BEGIN 7f3abc\n".to_vec())]);
    }
}
