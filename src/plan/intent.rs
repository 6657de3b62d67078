//! What a node is meant to be: its modules with their configs, resources and collectors. Built from the catalogue
//! before anything is asked of the node.

use super::{NodePlan, conflict, order, want::Want};
use crate::base::{Place, Plain, Problem, Problems, Result};
use crate::catalogue::Entry;
use crate::data::library::{self, Library};
use crate::data::{Cipher, Vault};
use crate::module::{Collector, Config, Files, Header, Module, Revealed, Stock, differences};
use crate::resource::{Answer, Facts, Request, Resource};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The modules of a run. Each is compiled once, whatever the number of nodes.
pub struct Modules {
    modules: BTreeMap<String, Module>,
}

impl Modules {
    /// Takes every module that the workspace or the binary has. Nothing is compiled before it is needed.
    pub fn open(library: &Library) -> Modules {
        let folders: BTreeMap<String, Arc<dyn Files>> =
            library::stock_modules().map(|dir| (dir.name.clone(), Arc::new(dir) as Arc<dyn Files>)).collect();
        let folders = Arc::new(folders);
        let stock: Stock = Arc::new(move |name| folders.get(name).cloned());
        let modules = library.iter().map(|dir| {
            let module = Module::load(&dir.name, Arc::new(dir.clone()), Some(stock.clone()));
            (dir.name.clone(), module)
        });
        Modules { modules: modules.collect() }
    }

    pub fn get(&self, name: &str) -> Option<&Module> {
        self.modules.get(name)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Module> {
        self.modules.values()
    }
}

/// What one node is meant to be.
pub struct Intent {
    pub node: String,
    pub family: Option<String>,
    pub ssh_user: String,
    /// In run order.
    pub parts: Vec<Part>,
}

/// What one module means a node to be.
pub struct Part {
    pub name: String,
    module: Module,
    pub config: Arc<Config>,
    pub resources: Vec<Arc<dyn Resource>>,
    triggering: Vec<Arc<dyn Resource>>,
    expected: Plain,
    pub collector: Option<Collector>,
    pub signature: String,
}

/// What the modules' own collectors reported: per module, the facts or why they are unknown.
pub type Collected = BTreeMap<String, Result<Plain, String>>;

/// Which modules a run is about; empty: all of a node.
pub type Only = BTreeSet<String>;

impl Intent {
    /// Checks the configs of a node's modules and evaluates `resources()` and `expected()`.
    ///
    /// # Errors
    /// All problems of all modules of the node.
    pub fn of(entry: &Entry, modules: &Modules, vault: &Vault, ssh_user: &str, only: &Only) -> Result<Intent> {
        let mut problems = Problems::new();
        let mut parts = Vec::new();
        for name in entry.modules.iter().filter(|name| only.is_empty() || only.contains(*name)) {
            let Some(module) = modules.get(name) else { continue };
            match Part::of(entry, module, vault, ssh_user) {
                Ok(part) => parts.push(part),
                Err(found) => problems.extend(found),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut wants: Vec<Want> = parts
            .iter_mut()
            .map(|part| Want {
                module: part.name.clone(),
                resources: std::mem::take(&mut part.resources),
                ..Want::default()
            })
            .collect();
        conflict::settle(&entry.name, &mut wants)?;
        for (part, want) in parts.iter_mut().zip(wants) {
            part.resources = want.resources;
            part.triggering = want.triggering;
        }
        Ok(Intent {
            node: entry.name.to_string(),
            family: entry.family().map(str::to_owned),
            ssh_user: ssh_user.to_owned(),
            parts,
        })
    }

    /// What is wrong with the data of a node that was never probed, and that no OS layer can mend.
    ///
    /// # Errors
    /// A schema does not compile.
    pub fn misfits(entry: &Entry, modules: &Modules, vault: &Vault, ssh_user: &str, only: &Only) -> Result<Problems> {
        let mut problems = Problems::new();
        for name in entry.modules.iter().filter(|name| only.is_empty() || only.contains(*name)) {
            let Some(module) = modules.get(name) else { continue };
            let slice = entry.slice(name);
            problems.extend(module.misfits(slice.as_ref(), &header(entry, ssh_user), &mut revealer(vault))?);
        }
        Ok(problems)
    }

    /// Every question that comparing needs an answer to, without repeats.
    pub fn requests(&self) -> Vec<Request> {
        requests(self.parts.iter())
    }

    /// The same for some modules only.
    pub fn only(&self, modules: &BTreeSet<String>) -> Vec<Request> {
        requests(self.parts.iter().filter(|part| modules.contains(&part.name)))
    }

    /// Compares the whole node with its facts and asks the modules' `deploy()` for operations.
    pub fn plan(&self, facts: &Facts, collected: &Collected, past: &dyn Fn(&Part) -> Past) -> NodePlan {
        let mut problems = Problems::new();
        let mut warnings = Problems::new();
        let mut wants = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let Past { force, owed } = past(part);
            let mut want = Want { owed, ..part.want(force == Force::Asked) };
            match collected.get(&part.name) {
                Some(Err(words)) => warnings.push(part.unknown(&self.node, words)),
                found => {
                    let facts = part.facts(facts, found.and_then(|f| f.as_ref().ok()));
                    match part.module.deploy(&part.config, &facts, force != Force::No) {
                        Ok(queued) => want.queued = queued.into_iter().map(|q| q.change).collect(),
                        Err(found) => problems.extend(found),
                    }
                }
            }
            wants.push(want);
        }
        let mut plan = order::node(&self.node, &wants, facts);
        plan.warnings = warnings;
        if !problems.is_empty() {
            plan.problems.extend(problems);
            plan.operations.clear();
        }
        plan
    }

    /// What is still not as wanted after a run: differences that remain, and what `check()` finds. `changed` are
    /// the modules that queued operations; only they are compared again.
    pub fn check(&self, facts: &Facts, collected: &Collected, plan: &NodePlan) -> Problems {
        let changed = plan.modules();
        let wants: Vec<Want> =
            self.parts.iter().filter(|p| changed.contains(&p.name)).map(|part| part.want(false)).collect();
        let after = order::node(&self.node, &wants, facts);
        let mut problems = after.problems.clone();
        problems.extend(after.operations.iter().map(|rest| super::check::drift(&self.node, plan, rest)));
        for part in &self.parts {
            let found = match collected.get(&part.name) {
                Some(Err(words)) => {
                    problems.push(part.unknown(&self.node, words));
                    continue;
                }
                found => found.and_then(|f| f.as_ref().ok()),
            };
            let facts = part.facts(facts, found);
            for difference in differences(&part.expected, &facts) {
                problems.push(super::check::fact(&self.node, &part.name, &difference));
            }
            match part.module.check(&part.config, &facts) {
                Ok(found) | Err(found) => problems.extend(found.into_iter().map(|mut problem| {
                    if !problem.what.contains(&self.node) {
                        problem.what = format!("node `{}`: {}", self.node, problem.what);
                    }
                    problem
                })),
            }
        }
        problems
    }

    /// What `facts/<node>/<module>.yaml` says under `facts`, for each module.
    pub fn reports<'a>(
        &'a self,
        facts: &'a Facts,
        collected: &'a Collected,
    ) -> impl Iterator<Item = (&'a Part, Plain)> {
        self.parts.iter().map(move |part| {
            let found = collected.get(&part.name).and_then(|f| f.as_ref().ok());
            let mut report = part.facts(facts, found);
            let rest = part.others(facts);
            if rest.as_map().is_some_and(|map| !map.is_empty()) {
                report.set("resources", rest);
            }
            (part, report)
        })
    }
}

/// What earlier runs left for a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Past {
    pub force: Force,
    /// Reactions that were asked for and not performed: the id of the resource, and why.
    pub owed: BTreeMap<String, String>,
}

/// Why a module is told to assert everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Force {
    No,
    /// The module's signature differs from the one that was recorded: `deploy()` is told.
    Changed,
    /// `--force`: every resource is asserted, too.
    Asked,
}

impl Part {
    fn of(entry: &Entry, module: &Module, vault: &Vault, ssh_user: &str) -> Result<Part> {
        let header = header(entry, ssh_user);
        let slice = entry.slice(module.name());
        let config = Arc::new(module.config(slice.as_ref(), &header, &mut revealer(vault))?);
        Ok(Part {
            name: module.name().to_owned(),
            resources: module.resources(&config)?,
            triggering: Vec::new(),
            expected: module.expected(&config)?,
            collector: module.collector()?,
            signature: module.signature()?,
            module: module.clone(),
            config,
        })
    }

    fn want(&self, force: bool) -> Want {
        Want {
            module: self.name.clone(),
            resources: self.resources.clone(),
            triggering: self.triggering.clone(),
            queued: Vec::new(),
            owed: BTreeMap::new(),
            force,
        }
    }

    fn facts(&self, facts: &Facts, collected: Option<&Plain>) -> Plain {
        seen(&self.resources, facts, collected)
    }

    /// The answers about everything that is no file: `kind name: {field: value}`; contents are left out.
    fn others(&self, facts: &Facts) -> Plain {
        let mut all = Plain::map();
        for resource in self.resources.iter().filter(|r| r.kind() != "file") {
            for request in resource.requests() {
                if let Some(Answer::Known(fields)) = facts.get(&request) {
                    let fields = fields.0.iter().filter(|(name, _)| !PRIVATE.contains(&name.as_str()));
                    let fields = fields
                        .map(|(name, value)| (name.clone(), Plain::Str(String::from_utf8_lossy(value).into_owned())));
                    all.set(resource.id().0, fields.collect::<Plain>());
                }
            }
        }
        all
    }

    fn unknown(&self, node: &str, words: &str) -> Problem {
        let path = self.collector.as_ref().map_or("its collector", |c| c.path.as_str());
        Problem::new(format!("node `{node}`: module `{}`: `{path}` failed, its facts are unknown", self.name))
            .note(words)
    }
}

/// The questions of these parts, each once.
fn requests<'a>(parts: impl Iterator<Item = &'a Part>) -> Vec<Request> {
    let resources = parts.flat_map(|part| part.resources.iter().chain(&part.triggering));
    resources.flat_map(|resource| resource.requests()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Opens the secrets of a config with the keys of the run.
fn revealer(vault: &Vault) -> impl FnMut(&Cipher, Place, &str) -> Result<Revealed, Problem> {
    |cipher, place, key| {
        let plaintext = vault.reveal(cipher, key, place)?;
        let text = plaintext.as_str().ok_or_else(|| {
            Problem::new(format!("the secret `{key}` is no text")).at(place).expected("expected UTF-8")
        })?;
        Ok(Revealed::Plaintext(text.to_owned().into()))
    }
}

/// Fields that are no state, or that may hold a secret: contents and password hashes.
const PRIVATE: &[&str] = &["content", "password", "hash", "keys", "stderr", "stdout"];

/// What `config.suil` carries.
pub fn header(entry: &Entry, ssh_user: &str) -> Header {
    Header {
        node: entry.name.to_string(),
        role: entry.role.to_string(),
        family: entry.family().map(str::to_owned),
        release: entry.probe.release.clone().unwrap_or_default(),
        ssh_user: ssh_user.to_owned(),
    }
}

/// The facts that module code sees: what its collector reported, and under `files` the sha256 of each file it
/// manages, null where there is none.
pub fn seen(resources: &[Arc<dyn Resource>], facts: &Facts, collected: Option<&Plain>) -> Plain {
    let mut all = collected.cloned().unwrap_or_else(Plain::map);
    let mut files = Plain::map();
    for resource in resources.iter().filter(|r| r.kind() == "file") {
        for request in resource.requests().iter().filter(|r| r.kind == "path" && is_about(r, &**resource)) {
            if let Some(Answer::Known(fields)) = facts.get(request) {
                files.set(resource.name(), Plain::from(fields.text("sha256").map(Plain::from)));
            }
        }
    }
    if files.as_map().is_some_and(|map| !map.is_empty()) {
        all.set("files", files);
    }
    all
}

/// A file asks about its folder, too.
fn is_about(request: &Request, resource: &dyn Resource) -> bool {
    request.args.first().is_some_and(|path| path == resource.name())
}
