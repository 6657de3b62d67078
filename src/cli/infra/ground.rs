//! What commands over sets of stacks stand on: the tree, its graph, the store, the programs.

use super::nodes::Around;
use super::tree::{self, Changes, Since, Tree, Where};
use super::{begin, options};
use crate::base::{Mask, Problem, Problems, clock, problem::Kind};
use crate::cli::settings::{self, variable};
use crate::cli::{Context, start};
use crate::data::tree::Repository;
use crate::infra::engine::{
    self, Begin, Chosen, Layers, Redactor, Restored, Set, Site, StatePatience, Unit, circle, unknown,
};
use crate::infra::graph::{self, Affected, Graph, Query, Reason};
use crate::infra::store::{Mode, Phase, Seen, Store};
use crate::infra::terraform::{Stop, Tool, process};
use crate::ui;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A plan of another run holds the state for as long as it takes.
const STATE_PATIENCE: Duration = Duration::from_secs(60);

/// Which stacks are meant, and where the tree is.
#[derive(clap::Args, Debug, Default)]
pub struct Choice {
    #[command(flatten)]
    pub since: Since,
    /// Take these stacks, and no others
    #[arg(long = "stacks", visible_alias = "stack", value_name = "STACK", value_delimiter = ',')]
    pub stacks: Vec<String>,
    /// Take every stack of the tree
    #[arg(long, conflicts_with_all = ["base", "changed_from", "stacks"])]
    pub all: bool,
    #[command(flatten)]
    pub place: Where,
}

impl Choice {
    /// True where a change says which stacks are meant.
    fn follows_change(&self) -> bool {
        let since = self.since.base.is_some() || self.since.changed_from.is_some();
        since || !self.all && self.stacks.is_empty()
    }

    /// True where nothing says which stacks are meant.
    pub fn is_empty(&self) -> bool {
        !self.all && self.stacks.is_empty() && self.since.base.is_none() && self.since.changed_from.is_none()
    }
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
    /// What a change touches, where that was asked.
    affected: Option<Affected>,
}

impl Ground {
    /// Finds the tree, scans it, opens the store, and listens for Ctrl-C.
    ///
    /// # Errors
    /// The tree cannot be scanned, the store not opened, or a setting makes no sense.
    pub fn new(place: &Where, context: &Context) -> Result<Ground, Problems> {
        Ground::with(tree::open(place, None, context)?.0, None, context)
    }

    /// The same with what a change touches, where the choice asks for it.
    ///
    /// # Errors
    /// As [`Ground::new`], and where git cannot compare.
    pub fn of(choice: &Choice, context: &Context) -> Result<Ground, Problems> {
        let (tree, changes) = tree::open(&choice.place, choice.follows_change().then_some(&choice.since), context)?;
        let touched = |changes: Changes| {
            let requested = choice.stacks.iter().map(|word| tree.named(word.trim())).collect();
            let query = Query { changed: changes.paths(), requested };
            let around = Around::open(&tree, context);
            let data = around.map(|around| around.told(&tree, &changes)).transpose()?.unwrap_or_default();
            Ok::<_, Problems>(graph::affected_with(&tree.graph, &query, &data))
        };
        let affected = changes.map(touched).transpose()?;
        Ground::with(tree, affected, context)
    }

    fn with(tree: Tree, affected: Option<Affected>, context: &Context) -> Result<Ground, Problems> {
        let Tree { root, graph, .. } = tree;
        let root = root.canonicalize().map_err(|e| Problem::io("find", &root, &e))?;
        let store = super::root::store(&root, context)?;
        let mask = Mask::new();
        let redactor = Redactor::new(mask.clone());
        let environment = settings::all();
        redactor.add_environment(environment.iter().map(|(name, value)| (name.as_str(), value.as_str())));
        let stop = Stop::default();
        listen(stop.clone());
        let site = site(&root, &graph, redactor, stop, layers(&root, context, &mask)?);
        see(&*store, &graph)?;
        Ok(Ground { site, graph, store, mask, affected })
    }

    /// The set of a choice. Nothing chosen: what a change of the working tree touches.
    ///
    /// # Errors
    /// A stack is not known, or the stacks depend on each other in a circle.
    pub fn set(&self, choice: &Choice, backwards: bool) -> Result<Set, Problems> {
        let mut problems = Problems::new();
        let mut chosen: Vec<Chosen> = Vec::new();
        let own = self.graph.stacks.iter().filter(|stack| !stack.external);
        for word in choice.stacks.iter().map(|word| word.trim()).filter(|word| !word.is_empty()) {
            let key = plain(&tree::stack_of(&self.site.root, &self.graph, word));
            let of = |stack: &&graph::Stack| stack.key == key || stack.layer.as_deref() == Some(&key);
            match self.graph.stacks.iter().filter(|stack| !stack.external).find(of) {
                Some(stack) => chosen.push(requested(&stack.key)),
                None => problems.push(self.unknown(&key)?),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        if choice.all {
            chosen = own.map(|stack| requested(&stack.key)).collect();
        } else if let Some(affected) = &self.affected {
            let touched = affected.affected.iter();
            chosen = touched
                .map(|one| Chosen { key: one.key.clone(), reasons: one.reasons.clone(), via: one.via.clone() })
                .collect();
            if !affected.cycles.is_empty() {
                return Err(affected.cycles.iter().map(|cycle| circle(cycle)).collect());
            }
        }
        Set::new(&self.site, &self.graph, chosen, backwards)
    }

    /// There is no such stack; one that the tree had may be destroyed.
    fn unknown(&self, key: &str) -> Result<Problem, Problem> {
        let removed = engine::removed(&*self.store, &self.site.repo)?.iter().any(|seen| seen.key == key);
        let problem = unknown(&self.graph, key);
        Ok(match removed {
            true => Problem { expected: None, ..problem }
                .note("the tree had it, and its state may be left")
                .help(format!("`suil infra destroy --removed --stacks {key}` destroys what it left")),
            false => problem,
        })
    }

    /// The set of these stacks.
    ///
    /// # Errors
    /// As [`Ground::set`].
    pub fn named(&self, keys: Vec<String>, backwards: bool) -> Result<Set, Problems> {
        Set::new(&self.site, &self.graph, keys.iter().map(|key| requested(key)).collect(), backwards)
    }

    /// Restores the removed stacks among `keys`, all where none are named; nothing where there is no removed stack.
    ///
    /// # Errors
    /// One of `keys` was not removed, or the code of one cannot be restored.
    pub fn restored(&self, keys: &[String]) -> Result<Option<(Restored, Vec<String>)>, Problems> {
        let known: Vec<String> =
            engine::removed(&*self.store, &self.site.repo)?.into_iter().map(|seen| seen.key).collect();
        let wanted: Vec<String> = keys.iter().map(|key| plain(key)).collect();
        let strange = wanted.iter().filter(|key| !known.contains(key));
        let problems: Problems = strange
            .map(|key| {
                let problem = Problem::usage(format!("`{key}` is no removed stack"));
                match known.as_slice() {
                    [] => problem.note("no stack was removed, or those that were are destroyed"),
                    known => problem.expected(format!("expected one of `{}`", known.join("`, `"))),
                }
            })
            .collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut others = Vec::new();
        for key in known.iter().filter(|key| !wanted.is_empty() && !wanted.contains(key)) {
            // One that nobody applied has nothing that could depend on anything.
            others.extend(self.store.last(&self.site.repo, key, Phase::Apply)?.map(|_| key.clone()));
        }
        let keys = if wanted.is_empty() { self.of_history(known)? } else { wanted };
        if keys.is_empty() {
            return Ok(None);
        }
        Ok(Some((engine::restore(&self.site, &self.graph, &keys, &others)?, keys)))
    }

    /// Those of removed stacks that the history of HEAD had: the others belong to another branch, and are only warned of.
    fn of_history(&self, keys: Vec<String>) -> Result<Vec<String>, Problems> {
        // Outside git nothing can be restored, and the restore says so.
        let Ok(git) = Repository::find(&self.site.root) else { return Ok(keys) };
        let (mut own, mut strange) = (Vec::new(), Problems::new());
        for key in keys {
            match engine::last_commit(&self.site, &git, &key)? {
                Some(_) => own.push(key),
                None => strange.push(
                    Problem::warning(format!("stack `{key}` is left out: the history of HEAD never had it"))
                        .note("another branch may have it still"),
                ),
            }
        }
        ui::warn(&strange, &self.mask);
        Ok(own)
    }

    /// The set of these stacks, some of them removed and restored.
    ///
    /// # Errors
    /// As [`Ground::set`].
    pub fn with_restored(&self, restored: &Restored, chosen: Vec<Chosen>, backwards: bool) -> Result<Set, Problems> {
        Set::with(&restored.graph, chosen, backwards, |stack| match restored.unit(&stack.key) {
            Some(unit) => Ok(unit.clone()),
            None => Unit::new(&self.site, &self.graph, stack),
        })
    }

    /// How the run goes on, as the command line or the tree says.
    pub fn pace(&self, speed: &Speed) -> crate::infra::engine::schedule::Pace {
        let parallel = speed.parallel.map_or(self.graph.policy.max_parallel, usize::from);
        crate::infra::engine::schedule::Pace { parallel, barrier: speed.barrier }
    }

    /// What a run of this command is begun with.
    pub fn begin(&self, mode: Mode, reason: Option<&str>) -> Begin {
        let change = variable("SUIL_CHANGE").filter(|change| !change.is_empty());
        Begin { mode, who: start::who(), reason: reason.unwrap_or_default().to_owned(), change }
    }
}

/// A stack that somebody named.
pub fn requested(key: &str) -> Chosen {
    Chosen { key: key.to_owned(), reasons: vec![Reason::Requested], via: Vec::new() }
}

/// A key as the graph has it: its path cleaned, no word for no instance.
pub fn plain(key: &str) -> String {
    let (path, instance) = graph::key::split(key.trim());
    graph::key::key(&graph::key::clean(path).unwrap_or_else(|| path.to_owned()), instance)
}

/// Writes down which stacks the tree has: one that is gone later can still be destroyed.
fn see(store: &dyn Store, graph: &Graph) -> Result<(), Problem> {
    let now = clock::now();
    let seen = graph.stacks.iter().filter(|stack| !stack.external).map(|stack| Seen {
        id: String::new(),
        repo: graph.repo.clone(),
        key: stack.key.clone(),
        backend: stack.backend.as_ref().map(|backend| backend.kind.clone()),
        state: stack.state.clone(),
        commit: graph.sha.clone(),
        first: now,
        last: now,
        removed: None,
    });
    store.see(&graph.repo, &seen.collect::<Vec<Seen>>(), true)
}

/// A variable by suil's name, else by the name that others use.
pub fn either(name: &str) -> Option<String> {
    variable(&format!("SUIL_{name}")).or_else(|| variable(&format!("STACKORDER_{name}")))
}

fn site(root: &Path, graph: &Graph, redactor: Redactor, stop: Stop, layers: Layers) -> Site {
    let here = |path: String| root.join(path);
    let terraform = either("TERRAFORM_BIN").or_else(|| variable("STACKS_TERRAFORM_PATH"));
    Site {
        root: root.to_owned(),
        repo: graph.repo.clone(),
        sha: graph.sha.clone(),
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
        state_patience: state_patience(),
        user: start::user(),
    }
}

/// The entries of one variable, one a line or separated by commas.
fn entries(text: &str) -> Vec<String> {
    text.split(['\n', ',']).map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
}

/// How long Terraform waits for the lock of a state, where the user has not told it themselves.
fn state_patience() -> StatePatience {
    let told = |name| variable(name).is_some_and(|words| words.contains("-lock"));
    let of = |name| (!told("TF_CLI_ARGS") && !told(name)).then_some(STATE_PATIENCE);
    StatePatience { plan: of("TF_CLI_ARGS_plan"), apply: of("TF_CLI_ARGS_apply") }
}

/// Where providers are kept between inits; whoever has a cache of their own keeps it.
fn plugins(root: &Path) -> Option<PathBuf> {
    let config = variable("TF_CLI_CONFIG_FILE").map_or_else(|| settings::home("~/.terraformrc"), PathBuf::from);
    let has = std::fs::read_to_string(config).is_ok_and(|text| text.contains("plugin_cache_dir"));
    (variable("TF_PLUGIN_CACHE_DIR").is_none() && !has).then(|| root.join(".suil/plugins"))
}

/// How the layers of the tree are rendered, those with it that it has no more.
fn layers(root: &Path, context: &Context, mask: &Mask) -> Result<Layers, Problems> {
    let options = options::of_tree(options::read(false)?, root)?;
    let (root, mask, of) = (root.to_owned(), mask.clone(), options.clone());
    let context = Context { workspace: context.workspace.clone(), output: context.output };
    let begin = move || begin::run(&context, &root, of.clone(), &mask);
    Ok(Layers { options, begin: Arc::new(begin) })
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
