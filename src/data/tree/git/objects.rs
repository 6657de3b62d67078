//! The contents of objects, by their ids, from one `git cat-file --batch` that is kept open.

use std::io::{BufRead, BufReader, Error, Read, Result, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The object store. Its process starts when the first object is asked for.
pub struct Objects {
    command: Command,
    running: Option<Running>,
}

struct Running {
    child: Child,
    ask: ChildStdin,
    answer: BufReader<ChildStdout>,
}

impl Objects {
    pub fn new(command: Command) -> Objects {
        Objects { command, running: None }
    }

    /// The content of the object `id`.
    ///
    /// # Errors
    /// The store does not have it, or git ended.
    pub fn get(&mut self, id: &str) -> Result<Vec<u8>> {
        let found = match self.running()?.get(id) {
            Ok(found) => found,
            Err(error) => {
                // What git would answer next is not known any more.
                self.running = None;
                return Err(Error::other(format!("git gave no answer about the object {id}: {error}")));
            }
        };
        found.ok_or_else(|| Error::other(format!("git's object store has no object {id}; `git fsck` says more")))
    }

    fn running(&mut self) -> Result<&mut Running> {
        if self.running.is_none() {
            let command = self.command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
            let mut child = command.spawn()?;
            let (Some(ask), Some(answer)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(Error::other("git has no pipes"));
            };
            self.running = Some(Running { child, ask, answer: BufReader::with_capacity(64 * 1024, answer) });
        }
        self.running.as_mut().ok_or_else(|| Error::other("git did not start"))
    }
}

impl Running {
    /// Asks for one object. The answer is `<id> <type> <size>`, that many bytes and a line end; or `<id> missing`.
    fn get(&mut self, id: &str) -> Result<Option<Vec<u8>>> {
        self.ask.write_all(format!("{id}\n").as_bytes())?;
        self.ask.flush()?;
        let mut head = String::new();
        self.answer.read_line(&mut head)?;
        let words: Vec<&str> = head.split_whitespace().collect();
        let size = match words.as_slice() {
            [_, "missing"] => return Ok(None),
            [_, "blob", size] => size.parse::<u64>().map_err(Error::other)?,
            _ => return Err(Error::other(format!("it says `{}`", head.trim()))),
        };
        let mut content = Vec::new();
        (&mut self.answer).take(size).read_to_end(&mut content)?;
        let mut end = [0];
        self.answer.read_exact(&mut end)?;
        match content.len() as u64 == size && end == *b"\n" {
            true => Ok(Some(content)),
            false => Err(Error::other("it was cut short")),
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        if let Some(Running { mut child, ask, answer }) = self.running.take() {
            // Without questions git ends by itself.
            drop((ask, answer));
            let _ = child.wait();
        }
    }
}
