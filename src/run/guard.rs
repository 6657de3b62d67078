//! Operations that could cut suil's own access: what they change is kept on the node, the access is proven over a
//! second connection, and where that fails everything is taken back.

use super::gather::Ready;
use crate::base::{Problem, clock};
use crate::node::Failure;
use crate::plan::{NodePlan, Operation};
use std::time::Duration;

/// Keeps what the operation changes. A session that ends before the access was proven takes it back by itself, for a
/// link that is cut cannot ask for that any more.
pub async fn keep(ready: &mut Ready, operation: &Operation) -> Result<(), Failure> {
    let beside = operation.action.uploads.iter().filter_map(|upload| upload.beside.clone());
    let mut paths: Vec<String> = beside.chain(path(&operation.resource)).collect();
    paths.sort();
    paths.dedup();
    for path in paths {
        ready.session.keep_path(&path).await?;
    }
    if operation.resource.starts_with("service ") {
        // With the files as they were, the service has to read them again.
        ready.session.keep_script(&operation.action.script).await?;
    }
    Ok(())
}

/// Logs in a second time; where that fails, takes back what was kept.
///
/// # Errors
/// That the operation shut suil out, and what was done about it.
pub async fn prove(ready: &mut Ready, operation: &Operation, planned: usize) -> Result<(), Problem> {
    let Err(failure) = proven(ready).await else { return Ok(()) };
    let node = &ready.node;
    let what = format!("node `{node}`: operation {} of {planned}, `{}`, shut suil out", operation.id, operation.title);
    let mut problem = Problem::new(what).note(failure.problem.what);
    if let Some(place) = operation.place {
        problem = problem.at(place);
    }
    let undone = ready.session.undo().await;
    let taken_back = matches!(&undone, Ok(outcome) if outcome.status == 0);
    Err(problem.note(match taken_back {
        true => "what this run changed of the access was taken back".to_owned(),
        false => format!("taking it back failed: see to `{node}` over another way now"),
    }))
}

/// A daemon that reloads refuses connections for a moment: that is no lost access.
async fn proven(ready: &mut Ready) -> Result<(), Failure> {
    let begun = clock::instant();
    loop {
        match ready.session.prove_access().await {
            Err(_) if begun.elapsed() < RELOAD => tokio::time::sleep(PAUSE).await,
            proven => return proven,
        }
    }
}

const RELOAD: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(500);

/// Ends the guard once the last operation that could cut the access is proven: a link that breaks in a later one must
/// not take back what is good.
///
/// # Errors
/// The channel broke.
pub async fn release(ready: &mut Ready, operation: &Operation, plan: &NodePlan) -> Result<(), Failure> {
    let more = plan.operations.iter().any(|later| later.id > operation.id && later.guards_access);
    match operation.guards_access && !more {
        true => ready.session.settled().await,
        false => Ok(()),
    }
}

/// The path that a resource is at; only files, folders and links can be kept.
fn path(resource: &str) -> Option<String> {
    let (kind, name) = resource.split_once(' ')?;
    match kind {
        "file" | "directory" | "link" => Some(name.to_owned()),
        "line" | "block" => name.split_once(": ").map(|(path, _)| path.to_owned()),
        "sudoer" => Some(format!("/etc/sudoers.d/{name}")),
        _ => None,
    }
}
