//! Operations that could cut suil's own access: what they change is kept on the node, the access is proven over a
//! second connection, and where that fails everything is taken back; by the node itself, where the link is cut too.

use super::gather::Ready;
use super::watch::{Event, Watch};
use crate::base::{Problem, clock};
use crate::node::{Failure, Keep, Reason, Regained};
use crate::plan::{NodePlan, Operation};
use std::time::Duration;

/// An operation that shut suil out.
pub struct Shut {
    pub problem: Problem,
    /// Whether it was taken back is not known.
    pub in_doubt: bool,
}

/// Keeps what the operation could change. A session that ends before the access was proven takes it back by itself, for
/// a link that is cut cannot ask for that any more.
pub async fn keep(ready: &mut Ready, operation: &Operation) -> Result<(), Failure> {
    let user = ready.session.user().to_owned();
    ready.session.keep(&what(operation, &user)).await
}

/// What the operation could change of the access.
fn what(operation: &Operation, user: &str) -> Keep {
    let beside = operation.action.uploads.iter().filter_map(|upload| upload.beside.clone());
    let mut keep = Keep { script: operation.undo.clone(), ..Keep::default() };
    let mut paths: Vec<String> = beside.collect();
    for resource in &operation.resources {
        let (kind, name) = resource.split_once(' ').unwrap_or((resource.as_str(), ""));
        match kind {
            "file" | "directory" | "link" | "download" => paths.push(name.to_owned()),
            "line" | "block" => paths.extend(name.split_once(": ").map(|(path, _)| path.to_owned())),
            "sudoer" => paths.push(format!("/etc/sudoers.d/{name}")),
            "user" | "group" => keep.accounts = true,
            "authorized_key" => {
                // `authorize USER …`: the resource may have another name.
                let named = operation.action.script.split_whitespace().nth(1).unwrap_or(user);
                keep.keys_of = Some(named.to_owned());
            }
            "service" | "timer" => {
                let unit = if name.contains('.') { name.to_owned() } else { format!("{name}.service") };
                (keep.net, keep.unit) = (true, Some(unit));
            }
            // Anything may be in a package, a command or what a module queued.
            _ => (keep.net, keep.accounts) = (true, true),
        }
    }
    paths.sort();
    paths.dedup();
    keep.paths = paths;
    keep
}

/// Logs in a second time; where that fails, takes back what was kept. The guard ends once the last operation that could
/// cut the access is proven: a link that breaks in a later one must not take back what is good.
///
/// # Errors
/// That the operation shut suil out, and what was done about it.
pub async fn prove(ready: &mut Ready, operation: &Operation, plan: &NodePlan, watch: &dyn Watch) -> Result<(), Shut> {
    let planned = plan.operations.len();
    let more = plan.operations.iter().any(|later| later.id > operation.id && later.guards_access);
    let failure = match proven(ready).await {
        Ok(()) if more => return Ok(()),
        Ok(()) => match ready.session.settled().await {
            Ok(()) => return Ok(()),
            Err(failure) => failure,
        },
        Err(failure) => failure,
    };
    let problem = shut(&ready.node, operation, planned, &failure);
    if failure.reason == Reason::Lost {
        return Err(regain(ready, problem, watch).await);
    }
    watch.event(&Event::Phase { node: &ready.node, phase: "taking back" });
    match ready.session.undo().await {
        Ok(outcome) if outcome.status == 0 => Err(Shut { problem: problem.note(TAKEN), in_doubt: false }),
        Ok(outcome) => {
            let node = &ready.node;
            let words = outcome.stderr.trim().lines().last().unwrap_or("it said nothing").to_owned();
            let problem = problem.note(format!("taking it back failed: see to `{node}` over another way now"));
            Err(Shut { problem: problem.note(format!("{node}: {words}")), in_doubt: true })
        }
        Err(_) => Err(regain(ready, problem, watch).await),
    }
}

const TAKEN: &str = "what this run changed of the access was taken back";

/// The link broke while the access was not proven: the node takes back by itself what was kept, which is waited for.
pub async fn lost(
    ready: &mut Ready,
    operation: &Operation,
    planned: usize,
    failure: &Failure,
    watch: &dyn Watch,
) -> Shut {
    let problem = shut(&ready.node, operation, planned, failure);
    regain(ready, problem, watch).await
}

fn shut(node: &str, operation: &Operation, planned: usize, failure: &Failure) -> Problem {
    let what = format!("node `{node}`: operation {} of {planned}, `{}`, shut suil out", operation.id, operation.title);
    let problem = Problem::new(what)
        .note(failure.problem.what.clone())
        .help(format!("mend what it wants, then `suil apply --node {node}`"));
    match operation.place {
        Some(place) => problem.at(place),
        None => problem,
    }
}

async fn regain(ready: &mut Ready, problem: Problem, watch: &dyn Watch) -> Shut {
    watch.event(&Event::Phase { node: &ready.node, phase: "cut off: waiting until the node takes it back" });
    let (node, regained) = (ready.node.clone(), ready.session.regain().await);
    let (note, in_doubt) = match regained {
        Ok(Regained::Taken) => (format!("{TAKEN}, by the node itself"), false),
        Ok(Regained::Partly) => (format!("not all of it could be taken back: look at `{node}` now"), true),
        Ok(Regained::Silent) => {
            (format!("`{node}` can be reached again, but does not say whether it took it back"), true)
        }
        Err(failure) => {
            let what = failure.problem.what;
            (format!("it was not taken back within three minutes: see to `{node}` over another way now ({what})"), true)
        }
    };
    Shut { problem: problem.note(note), in_doubt }
}

/// A daemon that reloads refuses connections for a moment: that is no lost access.
async fn proven(ready: &mut Ready) -> Result<(), Failure> {
    let begun = clock::instant();
    loop {
        match ready.session.prove_access().await {
            Err(failure) if failure.reason != Reason::Lost && begun.elapsed() < RELOAD => {
                tokio::time::sleep(PAUSE).await;
            }
            proven => return proven,
        }
    }
}

const RELOAD: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Action, Diff, Verb};

    fn operation(resource: &str, script: &str) -> Operation {
        Operation {
            id: 1,
            module: String::new(),
            resources: vec![resource.to_owned()],
            verb: Verb::Run,
            title: String::new(),
            diff: Diff::default(),
            action: Action::script(script),
            triggered_by: Vec::new(),
            judged_then: None,
            owed: None,
            guards_access: true,
            undo: None,
            place: None,
        }
    }

    #[test]
    fn what_is_kept_is_what_the_resource_could_change() {
        let keep = |resource, script| what(&operation(resource, script), "deploy");
        assert_eq!(keep("file /etc/ssh/sshd_config", "").paths, ["/etc/ssh/sshd_config"]);
        assert_eq!(keep("file /etc/ssh/sshd_config.d/a, b", "").paths, ["/etc/ssh/sshd_config.d/a, b"]);
        assert_eq!(keep("line /etc/sudoers: deploy", "").paths, ["/etc/sudoers"]);
        assert!(keep("user deploy", "").accounts && !keep("user deploy", "").net);
        assert_eq!(keep("authorized_key laptop", "authorize deploy AAAA ''\n").keys_of.as_deref(), Some("deploy"));
        let service = keep("service nftables", "");
        assert!(service.net && service.unit.as_deref() == Some("nftables.service"));
        assert!(keep("command rules", "").net && keep("deploy", "").accounts);
    }
}
