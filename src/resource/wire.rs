//! The fact protocol: requests become one sh text, and the node's tokens become answers.
//!
//! The text calls one function of `collector/` for each kind, `facts_<kind> ID ARG… ID ARG…`, where ID is the number
//! of the request. The answer is a stream of tokens, each ended by NUL, since NUL is the one byte that no name on a
//! node can hold:
//!
//! ```text
//! >ID  name=value  name:base64  name#hexadecimal  .
//! ```
//!
//! A token `error=words` makes the answer unknown. What stands between records is noise.

use super::fact::{Answer, Facts, Fields, Request};
use crate::base::shell;
use base64::Engine;
use std::collections::BTreeMap;
use std::fmt::Write;

/// One call for so many requests: an argument list of the kernel holds the paths of all of them.
const CHUNK: usize = 500;

/// How much noise is quoted where an answer is missing.
const QUOTED: usize = 200;

/// Returns the sh text that asks a node for `requests`.
pub fn script(requests: &[Request]) -> String {
    let mut groups: BTreeMap<(&str, usize), Vec<usize>> = BTreeMap::new();
    for (id, request) in requests.iter().enumerate() {
        // No shell can hold a NUL: such a request stays without an answer.
        if !request.args.iter().any(|arg| arg.contains('\0')) {
            groups.entry((request.kind, request.args.len())).or_default().push(id);
        }
    }
    let mut text = String::new();
    for ((kind, _), ids) in groups {
        for chunk in ids.chunks(CHUNK) {
            let _ = write!(text, "facts_{kind}");
            for &id in chunk {
                let _ = write!(text, " {id}");
                for arg in requests.get(id).map(|request| request.args.as_slice()).unwrap_or_default() {
                    let _ = write!(text, " {}", shell::quote(arg));
                }
            }
            text.push('\n');
        }
    }
    text
}

/// Reads what a node answered to [`script`] of the same requests. An answer that is missing, garbled or given twice
/// in two ways is unknown.
pub fn parse(requests: &[Request], output: &[u8]) -> Facts {
    let (mut answers, noise) = records(requests.len(), output);
    let mut facts = Facts::default();
    for (id, request) in requests.iter().enumerate() {
        let answer = match answers.remove(&id) {
            Some(Answer::Known(fields)) if request.kind == super::path::KIND => super::path::refine(fields),
            Some(answer) => answer,
            None => Answer::Unknown(missing(request, &noise)),
        };
        facts.insert(request.clone(), answer);
    }
    facts
}

fn missing(request: &Request, noise: &[u8]) -> String {
    let subject = request.args.first().map(String::as_str).unwrap_or_default();
    let said = String::from_utf8_lossy(noise);
    match said.trim() {
        "" => format!("the node gave no answer about {} `{subject}`", request.kind),
        said => format!("the node gave no answer about {} `{subject}`, but said: {}", request.kind, cut(said)),
    }
}

fn cut(text: &str) -> String {
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    flat.chars().take(QUOTED).collect()
}

/// A record that is being read.
struct Open {
    id: usize,
    fields: Result<Fields, String>,
}

fn records(count: usize, output: &[u8]) -> (BTreeMap<usize, Answer>, Vec<u8>) {
    let mut answers = BTreeMap::new();
    let mut noise = Vec::new();
    let mut open: Option<Open> = None;
    let mut tokens: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    // What follows the last NUL is no token: the answer may have been cut off inside it.
    noise.extend_from_slice(tokens.pop().unwrap_or_default());
    for token in tokens {
        if let Some((before, id)) = start(token, count) {
            noise.extend_from_slice(before);
            if let Some(cut_off) = open.replace(Open { id, fields: Ok(Fields::default()) }) {
                enter(&mut answers, cut_off.id, Answer::Unknown("the answer was cut off".to_owned()));
            }
        } else if let Some(record) = &mut open {
            if token == b"." {
                if let Some(record) = open.take() {
                    enter(&mut answers, record.id, close(record.fields));
                }
            } else if let Ok(fields) = &mut record.fields
                && let Err(words) = field(fields, token)
            {
                record.fields = Err(words);
            }
        } else {
            noise.extend_from_slice(token);
            noise.push(b' ');
        }
    }
    if let Some(cut_off) = open {
        enter(&mut answers, cut_off.id, Answer::Unknown("the answer was cut off".to_owned()));
    }
    (answers, noise)
}

/// `>12` with noise before it.
fn start(token: &[u8], count: usize) -> Option<(&[u8], usize)> {
    let at = token.iter().rposition(|byte| *byte == b'>')?;
    let (before, id) = token.split_at_checked(at)?;
    // A value may hold anything, so inside a token that has a name this is no start.
    if name_end(before).is_some() {
        return None;
    }
    let digits = std::str::from_utf8(id.get(1..)?).ok()?;
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let id: usize = digits.parse().ok().filter(|_| plain)?;
    (id < count).then_some((before, id))
}

/// Where the name of a field ends: at the first `=`, `:` or `#` after a word.
fn name_end(token: &[u8]) -> Option<usize> {
    let word = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_';
    let end = token.iter().position(|byte| !word(byte))?;
    (end > 0 && matches!(token.get(end), Some(b'=' | b':' | b'#'))).then_some(end)
}

fn field(fields: &mut Fields, token: &[u8]) -> Result<(), String> {
    let garbled = || format!("the answer is garbled: {}", cut(&String::from_utf8_lossy(token)));
    let end = name_end(token).ok_or_else(garbled)?;
    let (name, rest) = token.split_at_checked(end).ok_or_else(garbled)?;
    let (form, value) = rest.split_first().ok_or_else(garbled)?;
    let name = std::str::from_utf8(name).map_err(|_| garbled())?;
    let squeezed = || value.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect::<Vec<u8>>();
    let value = match form {
        b'=' => value.to_vec(),
        b':' => base64::engine::general_purpose::STANDARD.decode(squeezed()).map_err(|_| garbled())?,
        _ => hexadecimal(&squeezed()).ok_or_else(garbled)?,
    };
    fields.set(name, value);
    Ok(())
}

fn hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|n| n as u8);
    let (pairs, rest) = digits.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

fn close(fields: Result<Fields, String>) -> Answer {
    match fields {
        Ok(fields) => match fields.text("error") {
            Some(words) => Answer::Unknown(words),
            None => Answer::Known(fields),
        },
        Err(words) => Answer::Unknown(words),
    }
}

fn enter(answers: &mut BTreeMap<usize, Answer>, id: usize, answer: Answer) {
    let answer = match answers.remove(&id) {
        Some(earlier) if earlier != answer => Answer::Unknown("the node gave two different answers".to_owned()),
        _ => answer,
    };
    answers.insert(id, answer);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(kind: &'static str, name: &str) -> Request {
        Request::new(kind, [name])
    }

    #[test]
    fn one_call_for_each_kind_with_every_word_quoted() {
        let requests = [ask("package", "nginx"), ask("user", "it's"), ask("package", "a b"), ask("user", "a\0b")];
        assert_eq!(script(&requests), "facts_package 0 nginx 2 'a b'\nfacts_user 1 'it'\\''s'\n");
    }

    #[test]
    fn many_requests_are_split_into_calls_that_fit_an_argument_list() {
        let requests: Vec<Request> = (0..1100).map(|n| ask("package", &format!("p{n}"))).collect();
        assert_eq!(script(&requests).lines().count(), 3);
    }

    #[test]
    fn values_of_any_bytes_come_back_whole() {
        let output = b">0\0a=x\ny=>1\0b:AP8K\nCg==\0c# 00 ff\0.\0";
        let facts = parse(&[ask("thing", "t")], output);
        let fields = facts.known(&ask("thing", "t")).expect("known");
        assert_eq!(fields.bytes("a"), Some(b"x\ny=>1".as_slice()));
        assert_eq!(fields.bytes("b"), Some(b"\0\xff\n\n".as_slice()));
        assert_eq!(fields.bytes("c"), Some(b"\0\xff".as_slice()));
    }

    /// Each line: what the node wrote, and the words that must be given for request 0.
    #[test]
    fn an_answer_that_is_missing_or_garbled_is_unknown_with_the_nodes_words() {
        for (output, words) in [
            ("", "no answer about thing `t`"),
            ("Last login: today\n", "but said: Last login: today"),
            (">0\0a=1\0", "cut off"),
            (">0\0a=1", "cut off"),
            (">0\0a=1\0>1\0b=1\0.\0", "cut off"),
            (">0\0warning: x\0.\0", "garbled"),
            (">0\0Warning x\na=1\0.\0", "garbled: Warning x a=1"),
            (">0\0b:!!\0.\0", "garbled"),
            (">0\0b#f\0.\0", "garbled"),
            (">0\0error=stat: no such option\0.\0", "stat: no such option"),
            (">0\0a=1\0.\0>0\0a=2\0.\0", "two different answers"),
            (">7\0a=1\0.\0", "no answer"),
        ] {
            let facts = parse(&[ask("thing", "t"), ask("thing", "u")], output.as_bytes());
            let said = facts.known(&ask("thing", "t")).expect_err(output);
            assert!(said.contains(words), "{output:?}: {said}");
        }
    }

    #[test]
    fn noise_around_records_is_ignored() {
        let output = b"motd\nhello >there\n>0\0a=1\0.\0noise>1\0a=2\0.\0bye";
        let facts = parse(&[ask("thing", "t"), ask("thing", "u")], output);
        assert_eq!(facts.known(&ask("thing", "t")), Ok(&Fields::of([("a", "1")])));
        assert_eq!(facts.known(&ask("thing", "u")), Ok(&Fields::of([("a", "2")])));
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_node_says_every_request_has_an_answer(
            tokens in proptest::collection::vec("(>[0-3]|a=.*|b:[A-Za-z0-9+/=]*|c#[0-9a-f ]*|\\.|.*|error=.*)", 0..20),
            cut in 0usize..400,
        ) {
            let requests = [ask("path", "/a"), ask("thing", "t"), ask("thing", "u")];
            let mut output: Vec<u8> = tokens.join("\0").into_bytes();
            output.truncate(cut);
            let facts = parse(&requests, &output);
            proptest::prop_assert_eq!(facts.iter().count(), requests.len());
        }
    }
}
