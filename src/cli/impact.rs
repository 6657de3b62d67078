//! Compares two revisions of the workspace, for `suil diff` and `--affected`.

mod held;

use super::load::Loaded;
use held::Held;
pub use held::{Holding, holdings, with_layers};

use crate::base::{Problems, problem};
use crate::catalogue::impact::{Both, Impact};
use crate::catalogue::{Selection, Workspace};
use crate::data::library::Origin;
use crate::data::tree::{Repository, Tree, told};
use crate::plan::Modules;
use crate::plan::impact::{Code, NodeImpact, Revisions, Side, Unknown, resources};
use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::Arc;

/// A workspace as a revision has it.
pub struct Past {
    /// As a person typed it, or would.
    pub name: String,
    pub commit: String,
    pub workspace: Workspace,
    pub modules: Modules,
}

impl Past {
    /// Opens a revision of the workspace.
    ///
    /// # Errors
    /// There is no such revision, or what the whole workspace rests on is broken there.
    pub fn open(loaded: &Loaded, repository: &Repository, name: &str) -> Result<Past, Problems> {
        let revision = repository.revision(name)?;
        let (name, commit) = (revision.name().to_owned(), revision.commit().to_owned());
        let tree: Arc<dyn Tree> = Arc::new(revision);
        let workspace = loaded.workspace.beside(tree).map_err(|problems| told(problems, &name))?;
        let modules = Modules::open(workspace.library());
        Ok(Past { name, commit, workspace, modules })
    }
}

/// One of the two workspaces that are compared.
#[derive(Clone, Copy)]
pub struct Version<'a> {
    /// `None` for the working tree.
    pub name: Option<&'a str>,
    pub commit: Option<&'a str>,
    pub workspace: &'a Workspace,
    pub modules: &'a Modules,
}

impl Loaded {
    pub fn version(&self) -> Version<'_> {
        Version { name: None, commit: None, workspace: &self.workspace, modules: &self.modules }
    }
}

impl Past {
    pub fn version(&self) -> Version<'_> {
        Version {
            name: Some(&self.name),
            commit: Some(&self.commit),
            workspace: &self.workspace,
            modules: &self.modules,
        }
    }
}

/// Two versions, their entries, and the modules that are not the same in both.
pub struct Comparison<'a> {
    before: Version<'a>,
    after: Version<'a>,
    loaded: &'a Loaded,
    pub both: Both,
    held: Held,
    code: BTreeMap<String, Code>,
}

/// A node that differs: its data and the modules that are not the same.
pub struct Touched<'a> {
    pub impact: Impact<'a>,
    pub code: Vec<&'a Code>,
}

impl<'a> Comparison<'a> {
    /// Builds both catalogues of the selected nodes.
    ///
    /// # Errors
    /// What is wrong in one of them; where it is only wrong in a revision, the problem says so.
    pub fn new(
        loaded: &'a Loaded,
        before: Version<'a>,
        after: Version<'a>,
        selection: &Selection,
    ) -> Result<Comparison<'a>, Problems> {
        let both = Both::build(before.workspace, after.workspace, selection).map_err(|(now, then)| {
            let mut problems = in_version(now, after);
            problems.extend(in_version(then, before));
            problems
        })?;
        let held = Held::compare(loaded, before, after)?;
        let mut comparison = Comparison { before, after, loaded, both, held, code: BTreeMap::new() };
        comparison.code = comparison.modules()?;
        Ok(comparison)
    }

    /// The modules of both that some node has and whose files, or whose version, differ.
    fn modules(&self) -> Result<BTreeMap<String, Code>, Problems> {
        let used = self.both.after.entries.iter().flat_map(|entry| entry.modules.iter());
        let mut found = BTreeMap::new();
        for name in used.collect::<std::collections::BTreeSet<_>>() {
            let origin = |version: Version<'a>| version.workspace.library().get(name).map(|dir| &dir.origin);
            let (Some(before), Some(after)) = (origin(self.before), origin(self.after)) else { continue };
            if *before == Origin::Stock && *after == Origin::Stock {
                continue;
            }
            let (Some(old), Some(new)) = (self.before.modules.get(name), self.after.modules.get(name)) else {
                continue;
            };
            let mut files = new.differing(old)?;
            // A module from elsewhere may not be in the revision, but its version is.
            let declared = |origin: &Origin| matches!(origin, Origin::Remote { .. });
            if before != after && declared(before) && declared(after) && files.is_empty() {
                files.push("modules.yaml".to_owned());
            }
            if !files.is_empty() {
                let code = Code {
                    module: name.clone(),
                    signature_before: old.signature()?,
                    signature_after: new.signature()?,
                    files,
                };
                found.insert(name.clone(), code);
            }
        }
        Ok(found)
    }

    /// The nodes that differ, by name.
    pub fn touched(&self) -> impl Iterator<Item = Touched<'_>> {
        self.both.impacts(&self.loaded.vault).filter_map(|impact| {
            let code: Vec<&Code> = impact.kept().filter_map(|name| self.code.get(name)).collect();
            let any = impact.is_any() || !code.is_empty() || self.held.touches(&impact.node);
            any.then_some(Touched { impact, code })
        })
    }

    /// The same with what it does to the resources of each, found in parallel: module code depends on its config alone.
    pub fn impacts(&self, only: &(dyn Fn(&str) -> bool + Sync)) -> Vec<NodeImpact> {
        let touched: Vec<Touched> = self.touched().collect();
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        let share = touched.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let work = |part: &[Touched]| part.iter().filter_map(|node| self.impact(node, only)).collect::<Vec<_>>();
            let chunks: Vec<_> = touched.chunks(share).map(|part| scope.spawn(move || work(part))).collect();
            chunks.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        })
    }

    /// `None` where only other modules than those asked for differ.
    fn impact(&self, touched: &Touched, only: &dyn Fn(&str) -> bool) -> Option<NodeImpact> {
        let Touched { impact, code } = touched;
        let side = |version: Version<'a>, entry| Side { entry, modules: version.modules };
        let before = impact.before.map(|entry| side(self.before, entry));
        let after = impact.after.map(|entry| side(self.after, entry));
        let mut found = Vec::new();
        if let (Some(before), Some(after)) = (before, after) {
            for module in self.moved(touched).into_iter().filter(|module| only(module)) {
                let (was, is) = (impact.modules_before(), impact.modules_after());
                let before = was.contains(&module).then_some(before);
                let after = is.contains(&module).then_some(after);
                match resources(&module, before, after, &self.loaded.vault) {
                    Ok(changed) if changed.is_empty() => {}
                    result => found.push((module, result)),
                }
            }
        }
        let modules = |names: &[String]| names.iter().filter(|name| only(name)).cloned().collect::<Vec<_>>();
        let values = impact.values.iter().filter(|value| value.path.first().is_some_and(|key| only(key)));
        let node = NodeImpact {
            node: impact.node.clone(),
            role_before: impact.before.map(|entry| entry.role.to_string()),
            role_after: impact.after.map(|entry| entry.role.to_string()),
            modules_before: modules(impact.modules_before()),
            modules_after: modules(impact.modules_after()),
            code: code.iter().filter(|code| only(&code.module)).map(|code| (*code).clone()).collect(),
            values: values.cloned().collect(),
            unseen: impact.unseen.to_vec(),
            resources: found,
            layers: self.held.layers(&impact.node, only),
            reads: self.held.reads(&impact.node, only),
        };
        // `deployment` is none of the modules that may be asked for.
        (only("deployment") || node.is_any()).then_some(node)
    }

    pub fn revisions(&self) -> Revisions {
        let name = |version: Version| version.name.map(str::to_owned);
        Revisions { before: name(self.before), after: name(self.after) }
    }

    /// What is wrong with modules of these nodes now, and, to be warned of, what was wrong with them before.
    pub fn broken(&self, nodes: &[NodeImpact]) -> (Problems, Problems) {
        let (mut now, mut then) = (Problems::new(), Problems::new());
        for why in nodes.iter().flat_map(|node| &node.resources).filter_map(|(_, found)| found.as_ref().err()) {
            match why {
                Unknown::Broken { before: false, problems } => now.extend(in_version(problems.clone(), self.after)),
                Unknown::Broken { before: true, problems } => then.extend(in_version(problems.clone(), self.before)),
                Unknown::Provisional | Unknown::Sealed => {}
            }
        }
        (now, then.into_iter().map(|problem| problem.kind(problem::Kind::Warning)).collect())
    }

    /// The modules of a node whose resources may differ: by their code, by what they are told, or as they come and go.
    fn moved(&self, touched: &Touched) -> Vec<String> {
        let Touched { impact, code } = touched;
        let told = |path: &[String]| path.first().map(String::as_str) == Some("deployment");
        // Every config carries the role, and the user of the connection.
        let header = impact.before.map(|entry| &entry.role) != impact.after.map(|entry| &entry.role)
            || impact.values.iter().any(|value| told(&value.path));
        let (was, is) = (impact.modules_before(), impact.modules_after());
        let gone = was.iter().filter(|name| !is.contains(name));
        let moved = |name: &&String| {
            header
                || !was.contains(name)
                || code.iter().any(|code| code.module == **name)
                || impact.values.iter().any(|value| value.path.first() == Some(*name))
        };
        is.iter().filter(moved).chain(gone).cloned().collect()
    }
}

fn in_version(problems: Problems, version: Version) -> Problems {
    match version.name {
        Some(name) => told(problems, name),
        None => problems,
    }
}
