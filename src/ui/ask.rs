//! Questions. Without a terminal none is asked: the problem says which option answers it.

use crate::base::Problem;
use std::io::{BufRead, IsTerminal};
use zeroize::Zeroizing;

/// The terminal to ask on. `question` is what would have been asked, `instead` what answers it.
pub(super) fn terminal(question: &str, instead: &str) -> Result<console::Term, Problem> {
    let term = console::Term::stderr();
    if term.is_term() && std::io::stdin().is_terminal() {
        return Ok(term);
    }
    Err(Problem::usage(format!("there is no terminal to ask \"{question}\" on")).help(instead))
}

/// Checks that a question can be asked, before any work is done for it.
///
/// # Errors
/// There is no terminal; `instead` is the help.
pub fn possible(question: &str, instead: &str) -> Result<(), Problem> {
    terminal(question, instead).map(|_| ())
}

pub(super) fn broken(error: &std::io::Error) -> Problem {
    Problem::io("read from", std::path::Path::new("terminal"), error)
}

/// Asks a question that `y` or `yes` agrees to; anything else, the end of the input too, is a no.
///
/// # Errors
/// There is no terminal; `instead` is the help.
pub fn confirm(question: &str, instead: &str) -> Result<bool, Problem> {
    let term = terminal(question, instead)?;
    term.write_str(&format!("{question} [y/N] ")).map_err(|e| broken(&e))?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).map_err(|e| broken(&e))?;
    if !answer.ends_with('\n') {
        let _ = term.write_line("");
    }
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Asks for something that is not shown while it is typed.
///
/// # Errors
/// There is no terminal; `instead` is the help.
pub fn hidden(question: &str, instead: &str) -> Result<Zeroizing<String>, Problem> {
    let term = terminal(question, instead)?;
    term.write_str(&format!("{question}: ")).map_err(|e| broken(&e))?;
    term.read_secure_line().map(Zeroizing::new).map_err(|e| broken(&e))
}
