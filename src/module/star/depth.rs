//! Refuses code that nests so deep that reading it would take more stack than there is.
//!
//! The interpreter reads nested code by recursion and has no limit of its own, so the depth is estimated beforehand
//! from brackets, operators and indentation. The estimate is never below the real depth.

use super::error::Texts;
use crate::base::{Place, Problem};

/// Code of people stays below a tenth of this.
const DEEPEST: usize = 500;
/// The largest file, in bytes.
const LARGEST: usize = 1 << 20;

/// Words that nest what follows them, or what stands before.
const WORDS: [&str; 9] = ["not", "and", "or", "if", "else", "for", "in", "lambda", "elif"];

/// Checks the text of a file.
pub fn check(module: &str, shown: &str, text: &str, texts: &Texts) -> Result<(), Problem> {
    let at = |line: usize, what: &str| {
        Problem::new(format!("module `{module}`: {what}")).at(Place {
            file: texts.add(shown, text),
            line: line as u32,
            column: 1,
            width: 0,
        })
    };
    if text.len() > LARGEST {
        return Err(at(1, "its code is too large").expected("expected at most 1 MiB in one file"));
    }
    match deep(text) {
        Some(line) => {
            Err(at(line, "its code is nested too deep").expected(format!("expected at most {DEEPEST} levels")))
        }
        None => Ok(()),
    }
}

/// The first line that is too deep.
fn deep(text: &str) -> Option<usize> {
    let mut line = 1;
    // How many operators stand before this point, for each open bracket.
    let mut chains: Vec<usize> = vec![0];
    let mut sum = 0;
    let mut elifs = 0;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word: &str = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let step = match c {
            '\n' => {
                line += 1;
                let indent = rest.get(1..).unwrap_or_default().chars().take_while(|c| *c == ' ' || *c == '\t').count();
                if chains.len() == 1 {
                    sum = elifs.max(indent);
                    chains = vec![0];
                }
                1
            }
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => {
                let length = quoted(rest, c);
                line += rest.get(..length).unwrap_or_default().matches('\n').count();
                length
            }
            '(' | '[' | '{' => {
                chains.push(0);
                sum += 1;
                1
            }
            ')' | ']' | '}' => {
                // What was called or indexed is one level deeper than before.
                let inner = chains.pop().unwrap_or(0);
                sum = sum.saturating_sub(inner + 1) + 1;
                match chains.last_mut() {
                    Some(chain) => *chain += 1,
                    None => chains.push(1),
                }
                1
            }
            ',' => {
                if let Some(chain) = chains.last_mut() {
                    sum = sum.saturating_sub(*chain);
                    *chain = 0;
                }
                1
            }
            '+' | '-' | '*' | '/' | '%' | '|' | '&' | '^' | '~' | '.' | '<' | '>' | '=' | '!' | ':' => {
                sum += 1;
                if let Some(chain) = chains.last_mut() {
                    *chain += 1;
                }
                1
            }
            _ if !word.is_empty() => {
                elifs += usize::from(word == "elif");
                if WORDS.contains(&word) {
                    sum += 1;
                    if let Some(chain) = chains.last_mut() {
                        *chain += 1;
                    }
                }
                word.len()
            }
            c => c.len_utf8(),
        };
        if sum > DEEPEST {
            return Some(line);
        }
        rest = rest.get(step..).unwrap_or_default();
    }
    None
}

/// The length of the string that `text` starts with.
fn quoted(text: &str, quote: char) -> usize {
    let triple: String = [quote; 3].iter().collect();
    let end = if text.starts_with(&triple) { triple.as_str() } else { triple.get(..1).unwrap_or_default() };
    let mut at = end.len();
    while let Some(rest) = text.get(at..) {
        match rest.chars().next() {
            None => break,
            Some('\\') => at += 1 + rest.get(1..).and_then(|r| r.chars().next()).map_or(0, char::len_utf8),
            Some('\n') if end.len() == 1 => return at,
            Some(_) if rest.starts_with(end) => return at + end.len(),
            Some(c) => at += c.len_utf8(),
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::deep;

    #[test]
    fn chains_and_brackets_count_and_lists_of_any_length_do_not() {
        let n = 600;
        for text in [
            format!("x = {}1{}", "[".repeat(n), "]".repeat(n)),
            format!("x = {}1", "- ".repeat(n)),
            format!("\nx = 1{}", " + 1".repeat(n)),
            format!("x = f{}", "()".repeat(n)),
            format!("x = a{}", ".b".repeat(n)),
            format!("if a: pass\n{}", "elif a: pass\n".repeat(n)),
            format!("x = {}1", "lambda: ".repeat(n)),
            format!("x = [{}", "(a".repeat(n)),
        ] {
            assert!(deep(&text).is_some(), "{}", &text[..20]);
        }
        for text in [
            format!("x = [{}]", "f(a.b, c = 1 + 2),\n".repeat(n)),
            "x = f(a).b\n".repeat(n),
            format!("x = \"{}\" # {}", "(".repeat(n), "(".repeat(n)),
            format!("x = '''{}'''", "[\n".repeat(n)),
            "def f(a, b): return [a for a in b if a]\n".repeat(n),
        ] {
            assert_eq!(deep(&text), None, "{}", &text[..20]);
        }
    }
}
