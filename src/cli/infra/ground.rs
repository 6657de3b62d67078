//! What commands over sets of stacks stand on: the tree, its graph, the store, the programs.

use super::{begin, options};
use crate::base::{Mask, Problem, Problems, problem::Kind};
use crate::cli::settings::{self, variable};
use crate::cli::{Context, start};
use crate::data::tree::Repository;
use crate::infra::engine::{Begin, Chosen, Layers, Redactor, Set, Site, unknown};
use crate::infra::graph::{self, Graph, Reason};
use crate::infra::store::{Mode, Store};
use crate::infra::terraform::{Stop, Tool, process};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which stacks are meant, and where the tree is.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Choice {
    /// Take the stacks that a change since this revision touches, what is not committed included
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Take these stacks; with --base, only those of them that it touches keep their reasons
    #[arg(long = "stacks", visible_alias = "stack", value_name = "KEY", value_delimiter = ',')]
    pub stacks: Vec<String>,
    /// Take every stack of the tree
    #[arg(long, conflicts_with_all = ["base", "stacks"])]
    pub all: bool,
    #[command(flatten)]
    pub place: Place,
}

/// Where the tree is, and what it is called.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Place {
    /// The root of the tree [default: found by walking up from here]
    #[arg(long, value_name = "DIR")]
    pub repo_root: Option<PathBuf>,
    /// The name of the repository [default: that of its remote `origin`]
    #[arg(long, value_name = "OWNER/NAME")]
    pub repo: Option<String>,
}

/// How a run goes on.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Speed {
    /// Work on this many stacks at once [default: `apply.max_parallel` of the tree, or 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub parallel: Option<u16>,
    /// Begin a wave only when the one before it is over, and nothing in it failed
    #[arg(long)]
    pub barrier: bool,
}

/// The ground of a command.
pub struct Ground {
    pub site: Site,
    pub graph: Graph,
    pub store: Arc<dyn Store>,
    pub mask: Mask,
}

impl Ground {
    /// Finds the tree, scans it, opens the store, and listens for Ctrl-C.
    ///
    /// # Errors
    /// The tree cannot be scanned, the store not opened, or a setting makes no sense.
    pub fn new(place: &Place, context: &Context) -> Result<Ground, Problems> {
        let root = super::root::root(place.repo_root.as_deref(), context)?;
        let root = root.canonicalize().map_err(|e| Problem::io("find", &root, &e))?;
        let repo = named(&root, place);
        let graph = graph::scan(&root, &repo)?;
        let store = super::root::store(&root, context)?;
        let mask = Mask::new();
        let redactor = Redactor::new(mask.clone());
        let environment = settings::all();
        redactor.add_environment(environment.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let stop = Stop::default();
        listen(stop.clone());
        let site = site(&root, &graph, redactor, stop, layers(&root, context, &mask)?);
        Ok(Ground { site, graph, store, mask })
    }

    /// The set of a choice. Nothing chosen: what a change of the working tree touches.
    ///
    /// # Errors
    /// A stack is not known, or the stacks depend on each other in a circle.
    pub fn set(&self, choice: &Choice, backwards: bool) -> Result<Set, Problems> {
        let mut problems = Problems::new();
        let mut chosen: Vec<Chosen> = Vec::new();
        let own = self.graph.stacks.iter().filter(|stack| !stack.external);
        if choice.all {
            chosen.extend(own.map(|stack| requested(&stack.key)));
        } else if choice.base.is_none() && !choice.stacks.is_empty() {
            for key in &choice.stacks {
                let key = key.strip_suffix(":default").unwrap_or(key);
                match self.graph.stacks.iter().find(|stack| stack.key == key && !stack.external) {
                    Some(stack) => chosen.push(requested(&stack.key)),
                    None => problems.push(unknown(&self.graph, key)),
                }
            }
        } else {
            return Err(Problem::usage("no stacks are named").into());
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        Set::new(&self.site, &self.graph, chosen, backwards)
    }

    /// How the run goes on, as the command line or the tree says.
    pub fn pace(&self, speed: &Speed) -> crate::infra::engine::schedule::Pace {
        let parallel = speed.parallel.map_or(self.graph.policy.max_parallel, usize::from);
        crate::infra::engine::schedule::Pace { parallel, barrier: speed.barrier }
    }

    /// What a run of this command is begun with.
    pub fn begin(&self, mode: Mode, reason: Option<&str>) -> Begin {
        Begin { mode, who: start::who(), reason: reason.unwrap_or_default().to_owned() }
    }
}

fn requested(key: &str) -> Chosen {
    Chosen { key: key.to_owned(), reasons: vec![Reason::Requested], via: Vec::new() }
}

/// A variable by suil's name, else by the name that others use.
pub fn either(name: &str) -> Option<String> {
    variable(&format!("SUIL_{name}")).or_else(|| variable(&format!("STACKORDER_{name}")))
}

fn site(root: &Path, graph: &Graph, redactor: Redactor, stop: Stop, layers: Option<Layers>) -> Site {
    let here = |path: String| root.join(path);
    let terraform = either("TERRAFORM_BIN").or_else(|| variable("STACKS_TERRAFORM_PATH"));
    Site {
        root: root.to_owned(),
        repo: graph.repo.clone(),
        sha: graph.sha.clone().or_else(|| Repository::find(root).ok().and_then(|repository| repository.head())),
        plans: either("PLAN_DIR").map_or_else(|| root.join(".suil/plans"), here),
        plugins: plugins(root),
        terraform: Tool::new(terraform.unwrap_or_else(|| "terraform".to_owned())),
        tofu: Tool::new(either("TOFU_BIN").unwrap_or_else(|| "tofu".to_owned())),
        tool: either("TOOL"),
        backend_config: either("BACKEND_CONFIG").map(|text| entries(&text)).unwrap_or_default(),
        layers,
        redactor,
        stop,
        patience: process::PATIENCE,
        user: start::user(),
    }
}

/// The entries of one variable, one a line or separated by commas.
fn entries(text: &str) -> Vec<String> {
    text.split(['\n', ',']).map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}

/// Where providers are kept between inits; whoever has a cache of their own keeps it.
fn plugins(root: &Path) -> Option<PathBuf> {
    let config = variable("TF_CLI_CONFIG_FILE").map_or_else(|| settings::home("~/.terraformrc"), PathBuf::from);
    let has = std::fs::read_to_string(config).is_ok_and(|text| text.contains("plugin_cache_dir"));
    (variable("TF_PLUGIN_CACHE_DIR").is_none() && !has).then(|| root.join(".suil/plugins"))
}

/// How the layers of the tree are rendered, where it may have some.
fn layers(root: &Path, context: &Context, mask: &Mask) -> Result<Option<Layers>, Problems> {
    let options = options::of_tree(options::read(false)?, root)?;
    if !root.join(&options.stacks).is_dir() || !root.join(&options.environments).is_dir() {
        return Ok(None);
    }
    let (root, mask, of) = (root.to_owned(), mask.clone(), options.clone());
    let context = Context { workspace: context.workspace.clone(), output: context.output };
    let begin = move || begin::run(&context, &root, of.clone(), &mask);
    Ok(Some(Layers { options, begin: Arc::new(begin) }))
}

/// Hears Ctrl-C and the wish of the system to end, on a thread of its own.
fn listen(stop: Stop) {
    let heard = std::thread::Builder::new().name("signals".to_owned());
    // Where no thread can be had, Ctrl-C ends suil as it ends any program.
    let _ = heard.spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let asked = async |kind| {
                let Ok(mut signals) = signal(kind) else { return };
                while signals.recv().await.is_some() {
                    stop.ask();
                }
            };
            tokio::join!(asked(SignalKind::interrupt()), asked(SignalKind::terminate()));
        });
    });
}

/// What is said of an interrupted command.
pub fn interrupted(note: &str) -> Problem {
    Problem::new("interrupted").note(note).help("`suil infra resume` goes on").kind(Kind::Interrupted)
}

/// The name of the repository at `root`, as far as it is known.
pub fn named(_root: &Path, place: &Place) -> String {
    place.repo.clone().unwrap_or_default()
}
