//! One stack as it is run: its folder, its program, its arguments.

use super::artifact::Artifact;
use super::{Site, StatePatience};
use crate::base::{Problem, Result};
use crate::data::tree::Revision;
use crate::infra::graph::key::slug;
use crate::infra::graph::{Env, Graph, Kind, Need, Stack};
use crate::infra::layer::{Layer, Run};
use crate::infra::terraform::Tool;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A stack with everything that Terraform is started with.
#[derive(Clone, Debug)]
pub struct Unit {
    pub stack: Stack,
    /// Where Terraform runs, absolute. The output folder of a layer.
    pub folder: PathBuf,
    pub tool: Tool,
    /// The layer that is rendered before each start.
    pub layer: Option<Layer>,
    /// The values of `-backend-config`.
    backend: Vec<String>,
    /// The values of `-var-file`.
    variables: Vec<PathBuf>,
    /// Folders and files that a plan is made of, absolute.
    pub parts: Vec<PathBuf>,
    /// Folders below them that belong to other stacks.
    pub foreign: BTreeSet<PathBuf>,
    /// Where its code comes from, where the tree has the stack no more.
    pub past: Option<Past>,
}

/// Where the code of a stack that was removed comes from.
#[derive(Clone, Debug)]
pub struct Past {
    /// The revision in which it stood last.
    pub revision: Arc<Revision>,
    /// A private picture of the tree, with its code in its place.
    pub top: PathBuf,
}

/// What Terraform is started for; environments differ by it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    Plan,
    /// A plan that destroys everything.
    Destroy,
    /// A plan that only looks for what moved.
    Drift,
    Apply,
}

impl Unit {
    /// Makes a stack of `graph` ready.
    ///
    /// # Errors
    /// It stands in another repository, its layer cannot be found, or its program is none that suil knows.
    pub fn new(site: &Site, graph: &Graph, stack: &Stack) -> Result<Unit, Problem> {
        let layer = stack.layer.as_ref().map(|folder| Layer::at(&site.root.join(folder), &site.layers.options));
        Unit::with(site, graph, stack, layer.transpose()?, None)
    }

    /// The same for a stack that was removed; `run` reads the revision that it is from, and `graph` is that of it.
    ///
    /// # Errors
    /// As [`Unit::new`].
    pub fn removed(site: &Site, graph: &Graph, stack: &Stack, run: &Run, past: &Past) -> Result<Unit, Problem> {
        let layer = stack.layer.as_ref().map(|folder| Layer::of(run, &site.root.join(folder)));
        Unit::with(site, graph, stack, layer.transpose()?, Some(past.clone()))
    }

    fn with(
        site: &Site,
        graph: &Graph,
        stack: &Stack,
        layer: Option<Layer>,
        past: Option<Past>,
    ) -> Result<Unit, Problem> {
        if stack.external {
            return Err(Problem::new(format!("stack `{}` stands in another repository", stack.key)));
        }
        let root = past.as_ref().map_or(&site.root, |past| &past.top);
        let folder = match &layer {
            Some(layer) => match layer.output.strip_prefix(&site.root) {
                Ok(output) => root.join(output),
                // An output folder elsewhere has no place in a picture of the tree.
                Err(_) if past.is_some() => root.join(".suil").join(slug(&stack.key)),
                Err(_) => layer.output.clone(),
            },
            None => root.join(&stack.path),
        };
        let tool = match site.tool.as_deref().unwrap_or(&stack.tool) {
            "" | "terraform" => site.terraform.clone(),
            "tofu" => site.tofu.clone(),
            other => {
                return Err(Problem::new(format!("stack `{}` is run by `{other}`", stack.key))
                    .expected("expected `terraform` or `tofu`"));
            }
        };
        let backend = stack.config.backend_config.iter().chain(&site.backend_config);
        let backend = backend.map(|entry| match entry.contains('=') {
            true => entry.clone(),
            false => root.join(entry).display().to_string(),
        });
        let variables: Vec<PathBuf> = stack.config.var_files.iter().map(|file| plain(&folder.join(file))).collect();
        let mut parts = vec![folder.clone()];
        parts.extend(modules(graph, &stack.key).into_iter().map(|path| root.join(path)));
        parts.extend(stack.watch_paths.iter().map(|path| root.join(path)));
        parts.extend(variables.iter().cloned());
        let others = graph.stacks.iter().filter(|other| !other.external && other.path != stack.path);
        let foreign = others.map(|other| root.join(&other.path)).filter(|path| path.starts_with(&folder));
        Ok(Unit {
            foreign: foreign.collect(),
            backend: backend.collect(),
            stack: stack.clone(),
            folder,
            tool,
            layer,
            variables,
            parts,
            past,
        })
    }

    /// The root of the tree as the stack sees it: that of the site, or a picture of it.
    pub fn root<'a>(&'a self, site: &'a Site) -> &'a Path {
        self.past.as_ref().map_or(&site.root, |past| &past.top)
    }

    /// Where its folder is in the tree itself, though it may be gone.
    pub fn place(&self, site: &Site) -> PathBuf {
        match self.folder.strip_prefix(self.root(site)) {
            Ok(below) => site.root.join(below),
            Err(_) => self.folder.clone(),
        }
    }

    pub fn key(&self) -> &str {
        &self.stack.key
    }

    /// A name for files of this stack that no other stack has.
    pub fn slug(&self) -> String {
        slug(&self.stack.key)
    }

    /// The files of its plan at the commit that is checked out.
    pub fn artifact(&self, site: &Site) -> Artifact {
        Artifact::new(&site.plans, &self.stack.key, site.sha())
    }

    /// Where Terraform keeps what `init` makes. Instances of one folder must not share it.
    pub fn data(&self) -> PathBuf {
        let plain = self.folder.join(".terraform");
        match self.shares_folder() {
            true => plain.join("suil").join(&self.stack.instance),
            false => plain,
        }
    }

    fn shares_folder(&self) -> bool {
        self.layer.is_none() && !self.stack.instance.is_empty()
    }

    /// The variables of the environment for a start.
    pub fn environment(&self, site: &Site, purpose: Purpose) -> Vec<(OsString, Option<OsString>)> {
        let mut all = own(&self.stack.config.env, purpose);
        if self.shares_folder() {
            all.push(("TF_DATA_DIR".into(), Some(self.data().into())));
        }
        if let Some(plugins) = &site.plugins {
            all.push(("TF_PLUGIN_CACHE_DIR".into(), Some(plugins.into())));
        }
        all
    }

    /// The words of `init`.
    pub fn init(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = ["init", "-input=false", "-no-color"].map(OsString::from).into();
        if !self.backend.is_empty() {
            words.push("-reconfigure".into());
        }
        words.extend(self.backend.iter().map(|entry| format!("-backend-config={entry}").into()));
        words
    }

    /// What of its own settings an `init` depends on.
    pub fn backend(&self) -> &[String] {
        &self.backend
    }

    /// The words of a plan that is written to `file`.
    pub fn plan(&self, site: &Site, purpose: Purpose, file: &Path) -> Vec<OsString> {
        let words = ["plan", "-input=false", "-no-color", "-detailed-exitcode"];
        let mut words: Vec<OsString> = words.map(OsString::from).into();
        match purpose {
            Purpose::Destroy => words.push("-destroy".into()),
            // It only looks: whoever applies meanwhile is not to wait for it.
            Purpose::Drift => words.extend(["-refresh-only", "-lock=false"].map(OsString::from)),
            Purpose::Plan | Purpose::Apply => {}
        }
        if purpose != Purpose::Drift {
            words.extend(StatePatience::word(site.state_patience.plan));
        }
        words.push(joined("-out=", file));
        words.extend(self.variables.iter().map(|file| joined("-var-file=", file)));
        words
    }

    /// The variable files that are not there.
    pub fn missing(&self, site: &Site) -> Vec<Problem> {
        let absent = self.variables.iter().filter(|file| !file.is_file());
        let shown = |file: &Path| file.strip_prefix(self.root(site)).unwrap_or(file).display().to_string();
        let told = |file: &PathBuf| {
            Problem::new(format!("stack `{}`: there is no variable file `{}`", self.key(), shown(file)))
                .help("make it, or take it out of `var_files`")
        };
        absent.map(told).collect()
    }
}

/// Variables of one purpose; an absent mode takes the variable away.
fn own(env: &BTreeMap<String, Env>, purpose: Purpose) -> Vec<(OsString, Option<OsString>)> {
    let value = |env: &Env| match purpose {
        Purpose::Plan | Purpose::Destroy => env.plan.clone(),
        Purpose::Drift => env.drift.clone(),
        Purpose::Apply => env.apply.clone(),
    };
    env.iter().map(|(name, env)| (name.into(), value(env).map(OsString::from))).collect()
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

/// A path without `.` and `..`, as the words stand.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// The folders of the local modules that a stack uses, directly or through others.
fn modules(graph: &Graph, key: &str) -> BTreeSet<String> {
    let paths: BTreeMap<&str, &str> =
        graph.modules.iter().map(|module| (module.key.as_str(), module.path.as_str())).collect();
    let local = |key: &str| {
        graph.modules.iter().any(|module| module.key == key && module.kind == crate::infra::graph::Origin::Local)
    };
    let mut found = BTreeSet::new();
    let mut open = vec![(Kind::Stack, key)];
    while let Some((kind, key)) = open.pop() {
        let uses = graph.edges.iter().filter(|edge| edge.kind == Need::UsesModule);
        for edge in uses.filter(|edge| edge.from.kind == kind && edge.from.key == key) {
            let next = edge.to.key.as_str();
            if local(next) && found.insert(paths.get(next).copied().unwrap_or_default().to_owned()) {
                open.push((Kind::Module, next));
            }
        }
    }
    found
}
