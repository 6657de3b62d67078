//! What a run leaves, written into facts.

use super::{Answer, Facts, Fields, Request};

/// Applies `change` to the answer of `request`; where there is none, or an unknown one, to `blank`.
pub fn settle(facts: &mut Facts, request: &Request, blank: &[(&str, &str)], change: impl FnOnce(&mut Fields)) {
    let mut fields = match facts.get(request) {
        Some(Answer::Known(fields)) => fields.clone(),
        _ => Fields::of(blank.iter().copied()),
    };
    change(&mut fields);
    facts.insert(request.clone(), Answer::Known(fields));
}
