//! Modules, who uses them, and in which versions.

use super::answer::{Answer, Answered, Fault};
use super::lag::Found;
use super::listing::{Asked, Page, Path};
use super::shelf::Shelf;
use super::stacks::told;
use super::tree::Known;
use crate::base::{Plain, clock};
use crate::infra::graph::{Kind, Module};
use axum::extract::State;
use std::collections::HashMap;
use std::sync::Arc;

/// How many stacks and modules use each module directly.
fn uses(known: &Known) -> HashMap<&str, (usize, usize)> {
    let mut uses: HashMap<&str, (usize, usize)> = HashMap::new();
    for edge in known.graph.edges.iter().filter(|edge| edge.to.kind == Kind::Module) {
        let (stacks, modules) = uses.entry(edge.to.key.as_str()).or_default();
        match edge.from.kind {
            Kind::Stack => *stacks += 1,
            Kind::Module => *modules += 1,
            Kind::Node => {}
        }
    }
    uses
}

fn row(module: &Module, (stacks, modules): (usize, usize), versions: &Found) -> Plain {
    let mut row = told(module);
    let lag = versions.of(&module.path, &module.pin);
    let known = lag.filter(|lag| lag.latest.is_some());
    row.set("latest", lag.and_then(|lag| lag.latest.clone()));
    row.set("behind", known.map(|lag| lag.behind));
    row.set("standing", lag.map(|lag| lag.standing.word().replace(' ', "_")));
    row.set("stacks", stacks);
    row.set("modules", modules);
    row
}

pub async fn all(State(shelf): State<Arc<Shelf>>, asked: Asked) -> Answered {
    shelf
        .read(move |shelf| {
            let page = Page::of(&asked, &["q", "kind"])?;
            let known = shelf.known()?;
            let (uses, versions) = (uses(&known), shelf.versions(&known));
            let words = asked.get("q").map(|q| q.to_lowercase()).unwrap_or_default();
            let kind = asked.get("kind").filter(|text| !text.is_empty());
            let fits = |module: &&Module| {
                let text = format!("{}\n{}", module.key, module.source).to_lowercase();
                words.split_whitespace().all(|word| text.contains(word))
                    && kind.is_none_or(|kind| told(&module.kind).as_str() == Some(kind))
            };
            let mut found: Vec<&Module> = known.graph.modules.iter().filter(fits).collect();
            found.sort_by(|a, b| a.key.cmp(&b.key));
            let used = |module: &&Module| uses.get(module.key.as_str()).copied().unwrap_or_default();
            let listed = page.cut(found, |module| module.key.clone(), |module| row(module, used(module), &versions));
            let Answer(mut out) = listed.answer("modules")?;
            out.set("looked_up", versions.at.map(clock::stamp));
            out.set("problems", versions.problems.iter().map(|problem| Plain::from(&problem.what)).collect::<Plain>());
            Ok(Answer(out))
        })
        .await
}

/// A module with the edges from it and to it. Its id is its key.
pub async fn one(State(shelf): State<Arc<Shelf>>, Path(id): Path<String>) -> Answered {
    shelf
        .read(move |shelf| {
            let known = shelf.known()?;
            let found = known.graph.modules.iter().find(|module| module.key == id);
            let module = found.ok_or_else(|| Fault::not_found(format!("there is no module `{id}`")))?;
            let (needs, users) = known.edges(Kind::Module, &id);
            let versions = shelf.versions(&known);
            let mut out = row(module, uses(&known).get(id.as_str()).copied().unwrap_or_default(), &versions);
            out.set("uses", needs.iter().map(told).collect::<Plain>());
            out.set("used_by", users.iter().map(told).collect::<Plain>());
            Ok(Answer(out))
        })
        .await
}
