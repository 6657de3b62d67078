//! What a node answers about a thing that is not there.

use crate::resource::path::parent;
use crate::resource::{Answer, Facts, Fields, Request, Resource};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Answers every request of the resources as a node of this family would where none of them is there yet. The
/// folders that they stand in are there, unless they are resources themselves.
pub fn answer(facts: &mut Facts, resources: &[Arc<dyn Resource>]) {
    // A resource asks about its own path first, whatever its name is.
    let own: BTreeSet<String> = resources.iter().filter_map(|resource| path(resource.requests().first()?)).collect();
    let requests: Vec<Request> = resources.iter().flat_map(|resource| resource.requests()).collect();
    let around: BTreeSet<String> = requests.iter().filter_map(path).map(|path| parent(&path).to_owned()).collect();
    for request in requests {
        if facts.get(&request).is_none() {
            let stands = path(&request).is_some_and(|path| around.contains(&path) && !own.contains(&path));
            let fields = if stands { folder() } else { fields(&request, &facts.family) };
            facts.insert(request, Answer::Known(fields));
        }
    }
}

fn path(request: &Request) -> Option<String> {
    request.args.first().filter(|_| request.kind == "path").cloned()
}

fn folder() -> Fields {
    let access = [("mode", "0755"), ("uid", "0"), ("gid", "0"), ("owner", "root"), ("group", "root")];
    let mut fields = Fields::of(access);
    for (name, value) in [("type", "directory"), ("me_uid", "0"), ("me_gid", "0")] {
        fields.set(name, value);
    }
    fields
}

fn fields(request: &Request, family: &str) -> Fields {
    let tool = match family {
        "redhat" => "rpm",
        "alpine" => "apk",
        _ => "apt",
    };
    match request.kind {
        "path" => Fields::of([("type", "missing"), ("me_uid", "0"), ("me_gid", "0")]),
        "package" => Fields::of([("tool", tool), ("lines", "")]),
        "service" => Fields::of([("load", "not-found"), ("active", "inactive"), ("sub", "dead"), ("enabled", "")]),
        "timezone" => Fields::of([("zone", "yes")]),
        "test" => Fields::of([("status", "1")]),
        "sysctl" => Fields::of([("state", "present"), ("value", ""), ("lines", "")]),
        _ => Fields::of([("state", "absent")]),
    }
}
