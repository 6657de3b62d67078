//! Whether a wanted state can be reached from what was found, and the problem where it cannot.

use super::{Found, Type, Want, parent, request};
use crate::base::{Problem, shell};
use crate::resource::{Action, Ahead, Brought, Change, Diff, Facts, Resource, Verb};

/// A problem at the place of `resource`.
pub fn placed(resource: &dyn Resource, problem: Problem) -> Problem {
    match resource.place() {
        Some(place) => problem.at(place),
        None => problem,
    }
}

/// A fact is unknown, so nothing is decided on it.
pub fn unknown(resource: &dyn Resource, words: &str) -> Problem {
    placed(resource, Problem::new(format!("{} `{}`: its state is unknown", resource.kind(), resource.name())))
        .note(format!("the node said: {words}"))
}

/// Something of another type stands at the path. It is never removed for the sake of the new.
pub fn in_the_way(resource: &dyn Resource, here: &Type, there: &Type) -> Problem {
    let what = match here {
        Type::Link => format!("is a symlink to {}", there.noun()),
        here => format!("is {}", here.noun()),
    };
    placed(resource, Problem::new(format!("{} `{}`: the path {what}", resource.kind(), resource.name())))
        .expected(format!("expected a {} or nothing there", resource.kind()))
        .help("suil removes nothing of another type: move it away on the node, or name another path")
}

/// The path that is written when `path` is: the end of its links.
///
/// # Errors
/// A link leads nowhere, into a folder that is missing or in a circle.
pub fn written<'a>(resource: &dyn Resource, path: &'a str, found: &'a Found) -> Result<&'a str, Problem> {
    match (&found.kind, &found.real) {
        (Type::Link, Some(real)) => Ok(real),
        (Type::Link, None) => {
            let target = found.target.as_deref().unwrap_or_default();
            let what = format!("{} `{}`: the path is a symlink that leads nowhere", resource.kind(), resource.name());
            Err(placed(resource, Problem::new(what)).note(format!("it points to `{target}`")))
        }
        _ => Ok(path),
    }
}

/// Checks that the folder of a path is there, or that something earlier brings it. Returns what can only be judged
/// when the operation runs.
///
/// # Errors
/// The folder is missing, or something else stands there.
pub fn parent_is_there(
    resource: &dyn Resource,
    path: &str,
    facts: &Facts,
    ahead: &Ahead,
) -> Result<Option<String>, Problem> {
    let folder = parent(path);
    let found = Found::read(facts, &request(folder, Want::Nothing)).map_err(|words| unknown(resource, &words))?;
    match found.followed().0 {
        Type::Directory => Ok(None),
        _ if ahead.has(&Brought::Path(folder.to_owned())) => Ok(None),
        Type::Missing if ahead.any_package() => Ok(Some(format!("{folder} must come with a package"))),
        Type::Missing => {
            let what = format!("{} `{}`: `{folder}` does not exist", resource.kind(), resource.name());
            Err(placed(resource, Problem::new(what)).help(format!("declare directory(\"{folder}\") before it")))
        }
        other => {
            let what = format!("{} `{}`: `{folder}` is {}", resource.kind(), resource.name(), other.noun());
            Err(placed(resource, Problem::new(what)).expected("expected a directory there"))
        }
    }
}

/// The change that removes a file or a symlink.
pub fn removal(path: &str, kind: &Type) -> Change {
    Change {
        verb: Verb::Remove,
        title: format!("remove {path}"),
        diff: Diff::default().attribute("ensure", Some(kind.noun()), Some("absent".to_owned())),
        action: Action::script(format!("rm -f -- {}\n", shell::quote(path))),
        guards_access: crate::resource::access::guards(path),
        ..Change::default()
    }
}
