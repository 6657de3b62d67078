//! From a name and attributes to a resource, by the table of all kinds.

use super::attributes::{Attributes, suggest};
use super::{Change, Content, Resource};
use super::{authorized_key, block, command, cron, directory, file, line, link, sudoer};
use super::{group, hostname, package, repository, service, sysctl, timer, timezone, unit, user};
use crate::base::{Place, Plain, Problem};
use std::sync::Arc;

/// One kind of resource.
#[derive(Clone, Copy)]
pub struct Kind {
    /// What module code calls it.
    pub name: &'static str,
    /// The attributes that it knows, beside [`SHARED`].
    pub attributes: &'static [&'static str],
    pub build: fn(&Attributes<'_>) -> Result<Arc<dyn Resource>, Problem>,
    /// Joins the changes of several resources of one [`Resource::batch`] into one, in the order given.
    pub join: Option<fn(&[Change]) -> Change>,
}

/// Attributes of every kind.
pub const SHARED: &[&str] = &["needs"];

/// Every kind, in the order in which documents list them. A new kind is one line here.
const TABLE: &[Kind] = &[
    file::KIND,
    directory::KIND,
    link::KIND,
    line::KIND,
    block::KIND,
    authorized_key::KIND,
    sudoer::KIND,
    cron::KIND,
    command::KIND,
    package::KIND,
    repository::KIND,
    service::KIND,
    unit::KIND,
    timer::KIND,
    user::KIND,
    group::KIND,
    sysctl::KIND,
    hostname::KIND,
    timezone::KIND,
];

/// The names of all kinds.
pub const KINDS: &[&str] = &names();

const fn names() -> [&'static str; TABLE.len()] {
    let mut names = [""; TABLE.len()];
    let mut i = 0;
    while i < TABLE.len() {
        names[i] = TABLE[i].name;
        i += 1;
    }
    names
}

/// Returns the kind of this name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    TABLE.iter().find(|kind| kind.name == name)
}

/// The attribute that the second positional argument of a kind stands for: `line("/etc/hosts", "127.0.0.1 here")`.
pub fn second(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "file" | "block" => "content",
        "link" => "target",
        "line" => "line",
        "authorized_key" => "key",
        "sudoer" => "rule",
        "command" => "run",
        "sysctl" => "value",
        "package" => "version",
        _ => return None,
    })
}

/// Builds a resource. `content` is what the module resolved from `content`, `source` or `template`; where it is given
/// those attributes are not looked at. Other resources (`needs`, `restart_on`, …) stand as lists of ids.
///
/// # Errors
/// An unknown kind or attribute, a value of the wrong type, or a combination that makes no sense.
pub fn build(
    name_of_kind: &str,
    name: &str,
    attributes: &Plain,
    content: Option<Content>,
    place: Option<Place>,
) -> Result<Arc<dyn Resource>, Problem> {
    let at = |problem: Problem| match place {
        Some(place) => problem.at(place),
        None => problem,
    };
    let Some(kind) = kind(name_of_kind) else {
        let problem = Problem::new(format!("unknown kind of resource `{name_of_kind}`"))
            .expected(format!("expected one of {}", KINDS.join(", ")));
        return Err(at(suggest(problem, name_of_kind, KINDS)));
    };
    let attributes = Attributes { kind: kind.name, name, values: attributes, content, place };
    if name.is_empty() || name.contains('\0') {
        return Err(attributes.problem("the name is empty or holds a NUL byte").expected("expected a name"));
    }
    let known: Vec<&str> = kind.attributes.iter().chain(SHARED).copied().collect();
    let given = attributes.values.as_map().into_iter().flat_map(|map| map.keys());
    if let Some(unknown) = given.into_iter().find(|key| !known.contains(&key.as_str())) {
        let problem = attributes
            .problem(&format!("unknown attribute `{unknown}`"))
            .expected(format!("expected one of {}", known.join(", ")));
        return Err(suggest(problem, unknown, &known));
    }
    (kind.build)(&attributes)
}
