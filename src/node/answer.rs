//! The JSON that a module's collector prints.

use crate::base::{Mask, Plain};

/// One framed answer of a node.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Raw {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// A number, or a word of the session: `upload`.
    pub status: String,
    /// The end mark was seen.
    pub ended: bool,
    /// It went over its limit and was ended.
    pub late: bool,
}

/// Reads the one JSON document of an answer.
///
/// # Errors
/// Words for a person: the status, the odd line, that there are two documents, or none.
pub(super) fn document(raw: &Raw, mask: &Mask) -> Result<Plain, String> {
    let stderr = mask.apply(&String::from_utf8_lossy(&raw.stderr));
    if !raw.ended {
        return Err("connection closed in the middle of the answer".to_owned());
    }
    if raw.status != "0" {
        let last = super::failure::last_line(&stderr).map(|line| format!(": {line}")).unwrap_or_default();
        return Err(format!("ended with status {}{last}", raw.status));
    }
    let text = std::str::from_utf8(&raw.stdout).map_err(|_| "printed bytes that are no UTF-8".to_owned())?;
    if text.trim().is_empty() {
        return Err("printed nothing, expected a JSON document".to_owned());
    }
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<Plain>();
    let first = documents.next();
    let Some(Ok(mut value)) = first else {
        let reason = first.and_then(Result::err).map(|error| error.to_string()).unwrap_or_default();
        let odd = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let odd: String = odd.chars().take(200).collect();
        return Err(format!("printed no JSON: {}; it begins `{}`", reason, mask.apply(&odd)));
    };
    let rest = text.get(documents.byte_offset()..).unwrap_or_default().trim();
    if !rest.is_empty() {
        return Err(match serde_json::from_str::<Plain>(rest) {
            Ok(_) => "printed more than one document".to_owned(),
            Err(_) => {
                let odd: String = rest.lines().next().unwrap_or_default().chars().take(200).collect();
                format!("printed more than one document: `{}`", mask.apply(&odd))
            }
        });
    }
    cover(&mut value, mask);
    Ok(value)
}

/// Masks every string of a value.
fn cover(value: &mut Plain, mask: &Mask) {
    match value {
        Plain::Str(text) => *text = mask.apply(text),
        Plain::List(list) => list.iter_mut().for_each(|item| cover(item, mask)),
        Plain::Map(map) => map.values_mut().for_each(|item| cover(item, mask)),
        _ => {}
    }
}
