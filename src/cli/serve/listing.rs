//! Lists in pages: fifty items, or as many as are asked for, and a cursor to the next.

use super::answer::{Answer, Answered, Fault};
use crate::base::Plain;
use axum::extract::{self, FromRequestParts};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::ops::Deref;

/// So many items stand on a page where nobody says how many.
const USUAL: usize = 50;
/// The most that may be asked for.
const MOST: usize = 500;

/// What stands behind `?` in a request.
pub struct Asked(HashMap<String, String>);

impl Deref for Asked {
    type Target = HashMap<String, String>;

    fn deref(&self) -> &HashMap<String, String> {
        &self.0
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Asked {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Asked, Fault> {
        let query = extract::Query::from_request_parts(parts, state).await;
        query
            .map(|extract::Query(found)| Asked(found))
            .map_err(|_| Fault::invalid("what stands behind `?` is no query"))
    }
}

/// The names in the path of a request.
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Path<T>, Fault> {
        let path = extract::Path::from_request_parts(parts, state).await;
        path.map(|extract::Path(found)| Path(found)).map_err(|_| Fault::invalid("a name in the path is not UTF-8"))
    }
}

/// Which page is meant.
#[derive(Debug)]
pub struct Page {
    pub limit: usize,
    /// The name of the last item of the page before.
    pub after: Option<String>,
}

impl Page {
    /// Reads `limit` and `cursor`, beside the fields that the list knows.
    ///
    /// # Errors
    /// There is another field, or the limit is no number from 1 to 500.
    pub fn of(asked: &Asked, fields: &[&str]) -> Result<Page, Fault> {
        known(asked, &[fields, &["limit", "cursor"]].concat())?;
        let limit = match asked.get("limit") {
            None => USUAL,
            Some(text) => text
                .parse()
                .ok()
                .filter(|limit| (1..=MOST).contains(limit))
                .ok_or_else(|| Fault::invalid(format!("`limit` is no whole number from 1 to {MOST}")))?,
        };
        Ok(Page { limit, after: asked.get("cursor").filter(|cursor| !cursor.is_empty()).cloned() })
    }

    /// The page of a list that is sorted by name: what comes behind the cursor.
    pub fn cut<T>(&self, sorted: Vec<T>, name: impl Fn(&T) -> String, told: impl FnMut(&T) -> Plain) -> Listed {
        let all = sorted.len();
        let rest = sorted.into_iter().filter(|item| self.after.as_ref().is_none_or(|after| name(item) > *after));
        let mut items: Vec<T> = rest.take(self.limit + 1).collect();
        let more = items.len() > self.limit;
        items.truncate(self.limit);
        let next = items.last().filter(|_| more).map(name);
        Listed { items: items.iter().map(told).collect(), next, total: Some(all) }
    }
}

/// Refuses fields that nobody reads: a misspelt filter must not give the whole list.
///
/// # Errors
/// There is one.
pub fn known(asked: &Asked, fields: &[&str]) -> Result<(), Fault> {
    let mut strange: Vec<&str> = asked.keys().map(String::as_str).filter(|name| !fields.contains(name)).collect();
    strange.sort_unstable();
    match strange.first() {
        None => Ok(()),
        Some(name) => Err(Fault::invalid(format!("unknown field `{name}`: this list knows {}", fields.join(", ")))),
    }
}

/// The items of a page.
pub struct Listed {
    pub items: Vec<Plain>,
    pub next: Option<String>,
    pub total: Option<usize>,
}

impl Listed {
    /// `{KEY: items, next, total}`; `total` where it is known.
    pub fn answer(self, key: &str) -> Answered {
        let mut out = Plain::from_iter([(key, Plain::List(self.items)), ("next", Plain::from(self.next))]);
        if let Some(total) = self.total {
            out.set("total", total);
        }
        Ok(Answer(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(pairs: &[(&str, &str)]) -> Asked {
        Asked(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn pages_follow_each_other_without_a_gap_and_end() {
        let names: Vec<String> = (0..7).map(|n| n.to_string()).collect();
        let (mut seen, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let page = Page::of(&asked(&[("limit", "3"), ("cursor", &cursor)]), &[]).expect("a page");
            let listed = page.cut(names.clone(), |name| name.clone(), |name| Plain::from(name.as_str()));
            seen.extend(listed.items.iter().filter_map(|item| item.as_str().map(str::to_owned)));
            pages += 1;
            match listed.next {
                Some(next) => cursor = next,
                None => break,
            }
        }
        assert_eq!((seen, pages), (names, 3));
    }

    #[test]
    fn a_limit_out_of_range_and_a_strange_field_are_refused() {
        for limit in ["0", "501", "-1", "x", ""] {
            Page::of(&asked(&[("limit", limit)]), &[]).expect_err(limit);
        }
        assert_eq!(Page::of(&asked(&[("limit", "500")]), &[]).expect("a page").limit, 500);
        assert_eq!(Page::of(&asked(&[]), &[]).expect("a page").limit, 50);
        Page::of(&asked(&[("sate", "failed")]), &["state"]).expect_err("misspelt");
    }
}
