//! Layers that a node holds by its role: what of them becomes facts, and how their saved plans are applied.
//!
//! Enters: the config of the module `infra`, for one node. Leaves: per layer its outputs, sensitive ones as digests, and
//! what Terraform would change; a plan file for each layer that differs, until it is applied or suil ends.

mod facts;
mod ledger;
mod order;
mod plans;

pub use ledger::{Held, Ledger};

use crate::base::problem::Kind;
use crate::base::{Mask, Place, Plain, Problem, Problems, Result, nearest::nearest};
use crate::infra::graph::{self, Graph};
use crate::infra::layer::{self, Layer, Options, Run, Secrets};
use crate::infra::terraform::process::{Ended, Watch};
use crate::infra::terraform::{Stop, Tool};
use facts::Found;
use plans::{Plan, Plans};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What only the environment knows of a tree.
pub trait Ground: Send + Sync {
    /// Begins a run over the tree at `root`.
    ///
    /// # Errors
    /// A setting makes no sense.
    fn begin(&self, root: &Path) -> Result<Run>;

    /// The store that has the locks of the tree.
    ///
    /// # Errors
    /// It cannot be opened.
    fn ledger(&self, root: &Path) -> Result<Ledger>;

    /// The name of its repository.
    fn repo(&self, root: &Path) -> String;

    /// Why the layer `name` of `node` is not planned now: what its templates read of nodes may still change.
    fn held_back(&self, _node: &str, _name: &str) -> Option<Wait> {
        None
    }
}

/// A layer that is not planned now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wait {
    /// What it waits for, in words.
    pub why: String,
    /// It is not known yet whether it has to wait at all: nothing is read of it, and its facts have `open: true`.
    pub open: bool,
}

/// The trees of a workspace, as its nodes hold layers of them.
pub struct Desk {
    workspace: PathBuf,
    options: Options,
    ground: Box<dyn Ground>,
    mask: Mask,
    plans: Plans,
    stops: Stops,
    /// Something was applied: what is read from now on shows what came of it.
    applied: AtomicBool,
    /// The keys of each tree, by its root: they are asked for once.
    secrets: Mutex<BTreeMap<PathBuf, Secrets>>,
    /// Who holds each layer.
    holders: Mutex<BTreeMap<PathBuf, String>>,
    /// The output folders of layers that waited for another one.
    waited: Mutex<BTreeSet<PathBuf>>,
    /// The graph of each tree, by its root.
    graphs: Mutex<BTreeMap<PathBuf, Arc<Graph>>>,
    /// What was found last of each layer that was planned, by its output folder.
    found: Mutex<BTreeMap<PathBuf, Found>>,
}

/// Who interrupts Terraform where it only reads. A layer that is being applied is applied to its end.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    /// Until something was applied.
    pub before: Stop,
    /// From then on.
    pub after: Stop,
}

/// What the module's config says.
struct Wanted {
    root: PathBuf,
    layers: Vec<String>,
    tool: Option<String>,
}

/// Where a value of the config stands.
pub type Places<'a> = &'a dyn Fn(&[&str]) -> Option<Place>;

impl Desk {
    /// `ground` begins a run whenever layers are read: what was applied since is seen. What is secret is added to `mask`.
    pub fn new(workspace: &Path, options: Options, ground: impl Ground + 'static, mask: Mask, stops: Stops) -> Desk {
        Desk {
            plans: Plans::new(workspace),
            workspace: workspace.to_owned(),
            options,
            ground: Box::new(ground),
            mask,
            stops,
            applied: AtomicBool::new(false),
            secrets: Mutex::default(),
            holders: Mutex::default(),
            waited: Mutex::default(),
            graphs: Mutex::default(),
            found: Mutex::default(),
        }
    }

    /// Renders and plans the layers of `node`, those that others need before them.
    ///
    /// A layer that needs one which is still to be applied waits, and its facts say so: it would be planned on what is
    /// about to change. So does one that fails meanwhile, for it may need what a graph cannot tell.
    ///
    /// # Errors
    /// There is no such layer, another node holds it, it cannot be rendered, or Terraform cannot plan it.
    pub fn read(&self, node: &str, config: &Plain, places: Places<'_>, tell: &dyn Fn(&str)) -> Result<Plain> {
        self.read_with(node, config, places, tell, false)
    }

    /// Reads the layers of `node` again of which some were held back: what was found of the others stands.
    ///
    /// # Errors
    /// As [`Desk::read`].
    pub fn read_rest(&self, node: &str, config: &Plain, places: Places<'_>, tell: &dyn Fn(&str)) -> Result<Plain> {
        self.read_with(node, config, places, tell, true)
    }

    fn read_with(
        &self,
        node: &str,
        config: &Plain,
        places: Places<'_>,
        tell: &dyn Fn(&str),
        rest: bool,
    ) -> Result<Plain> {
        let wanted = self.wanted(config);
        let layers = self.layers(node, &wanted, places)?;
        let Some((_, first)) = layers.first() else { return Ok(Plain::from_iter([("layers", Plain::map())])) };
        let run = Arc::new(self.run(&first.root)?);
        let tool = Tool::new(wanted.tool.unwrap_or_else(|| run.options.terraform.clone()));
        let (mut facts, mut states, mut problems) = (Plain::map(), Plain::map(), Problems::new());
        // Those that are still to be applied, each with whether it is still open that it is.
        let mut pending: BTreeMap<usize, (&str, bool)> = BTreeMap::new();
        for (at, needs) in self.order(&first.root, &layers)? {
            let Some((name, layer)) = layers.get(at) else { continue };
            let waiting = |wait: Wait| Ok(self.waiting(node, name, layer, &run, &tool, wait));
            let needed = needs.iter().find_map(|need| pending.get(need)).map(|(before, open)| Wait {
                why: format!("it reads `{before}`, which is to be applied first"),
                open: *open,
            });
            let held = needed.or_else(|| self.ground.held_back(node, name));
            let open = held.as_ref().is_some_and(|wait| wait.open);
            let known = if rest { self.found(layer) } else { None };
            let found = match (held, known) {
                (Some(wait), _) => waiting(wait),
                (None, Some(known)) => Ok(known),
                (None, None) => {
                    let one = self.one(node, name, layer, &run, &tool, tell);
                    one.inspect(|found| self.find(layer, found)).or_else(|found| match pending.values().next() {
                        Some((before, open)) if problems.is_empty() => {
                            let why = format!("`{before}` is to be applied first, and {}", facts::first(&found));
                            waiting(Wait { why, open: *open })
                        }
                        _ => Err(found),
                    })
                }
            };
            match found {
                Ok(mut found) => {
                    if !found.clean {
                        pending.insert(at, (name, open));
                        if found.plan.is_some() && self.waited(layer, false) {
                            found.state.set("waited", true);
                        }
                    }
                    facts.set(name, found.outputs);
                    states.set(name, found.state);
                }
                Err(found) => problems.extend(found),
            }
        }
        facts.set("layers", states);
        if problems.is_empty() { Ok(facts) } else { Err(problems) }
    }

    /// The places of the layers in the order in which they are applied, each with those that it needs.
    fn order(&self, root: &Path, layers: &[(String, Layer)]) -> Result<Vec<(usize, BTreeSet<usize>)>> {
        let keys: Vec<String> = layers.iter().map(|(_, layer)| layer.key()).collect();
        if keys.len() < 2 {
            return Ok(order::order(&Graph::default(), &keys));
        }
        let mut graphs = self.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(graph) = graphs.get(root) {
            return Ok(order::order(graph, &keys));
        }
        let begun = graph::Begun::now(root);
        let listing = graph::list(root, &self.options, false)?;
        let graph = graph::open(root, &self.ground.repo(root), &self.options, &listing, begun)?.graph;
        let graph = Arc::new(graph);
        graphs.insert(root.to_owned(), Arc::clone(&graph));
        Ok(order::order(&graph, &keys))
    }

    fn found(&self, layer: &Layer) -> Option<Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).get(&layer.output).cloned()
    }

    fn find(&self, layer: &Layer, found: &Found) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).insert(layer.output.clone(), found.clone());
    }

    /// A layer that has no plan yet: its present outputs, as far as they can be read, and why.
    fn waiting(&self, node: &str, name: &str, layer: &Layer, run: &Arc<Run>, tool: &Tool, wait: Wait) -> Found {
        let Wait { why, open } = wait;
        if open {
            // It is asked for again.
            let mut found = facts::waits(&self.shown(layer), &self.mask.apply(&why), facts::Outputs::default());
            found.state.set("open", true);
            return found;
        }
        self.waited(layer, true);
        // Where it never was rendered, or cannot be now, there is nothing to read.
        let _ = layer::render(run, layer);
        let words = ["output".as_ref(), "-json".as_ref(), "-no-color".as_ref()];
        let read = || {
            let plan = self.plans.room(node, name, layer, tool).ok()?;
            let mut ended = plan.run(&words, self.stop(), &()).ok()?;
            if wants_init(&ended) {
                self.done(name, &plan, &INIT.map(OsStr::new)).ok()?;
                ended = plan.run(&words, self.stop(), &()).ok()?;
            }
            facts::outputs(Some(ended).filter(Ended::is_well)?.stdout.as_slice(), &self.mask)
        };
        let outputs = if layer.output.is_dir() { read() } else { None };
        facts::waits(&self.shown(layer), &self.mask.apply(&why), outputs.unwrap_or_default())
    }

    /// Finds what is wrong with the config of `node` before anything is rendered.
    ///
    /// # Errors
    /// There is no such layer, or another node holds it, too.
    pub fn check(&self, node: &str, config: &Plain, places: Places<'_>) -> Result<()> {
        self.layers(node, &self.wanted(config), places).map(drop)
    }

    /// True where the layer waited for another one since suil began; `now`: it does.
    fn waited(&self, layer: &Layer, now: bool) -> bool {
        let mut waited = self.waited.lock().unwrap_or_else(PoisonError::into_inner);
        if now { !waited.insert(layer.output.clone()) } else { waited.contains(&layer.output) }
    }

    /// Applies the plan that was kept for the layer `name` of `node`. `digest` is of what it does, as it was shown; `tell`
    /// hears what Terraform says meanwhile.
    ///
    /// # Errors
    /// It is not kept any more, its layer has changed since, somebody else holds its lock, or Terraform failed.
    pub fn apply(&self, node: &str, name: &str, digest: &str, tell: &dyn Fn(&str)) -> Result<String, Problem> {
        let Some(plan) = self.plans.take(node, name, digest) else {
            let what = format!("layer `{name}`: the plan that was shown is not kept any more");
            let problem = Problem::new(what).kind(Kind::Refused);
            return Err(problem.help(format!("`suil apply --node {node}` plans it again")));
        };
        let ledger =
            self.ground.ledger(&plan.root).map_err(|problems| problems.into_iter().next().unwrap_or_default())?;
        let held = self.lock(&ledger, &plan.stack)?;
        self.applied.store(true, Ordering::SeqCst);
        let applied = self.perform(node, name, &plan, tell);
        let ended = held.end(applied.is_ok());
        applied.and_then(|said| ended.map(|()| said))
    }

    fn stop(&self) -> &Stop {
        if self.applied.load(Ordering::SeqCst) { &self.stops.after } else { &self.stops.before }
    }

    /// Takes the lock of a stack; that of a role's run which broke off is taken over once its Terraform has ended, too.
    fn lock<'a>(&self, ledger: &'a Ledger, stack: &str) -> Result<Held<'a>, Problem> {
        match ledger.take(stack) {
            Err(problem) if problem.kind == Kind::Refused => {
                if self.plans.is_left_running() {
                    return Err(problem.note("a Terraform that an earlier suil left alone is still at work"));
                }
                if ledger.free(stack)? { ledger.take(stack) } else { Err(problem) }
            }
            taken => taken,
        }
    }

    fn perform(&self, node: &str, name: &str, plan: &Plan, tell: &dyn Fn(&str)) -> Result<String, Problem> {
        let words = ["apply".as_ref(), "-input=false".as_ref(), "-no-color".as_ref(), plan.path().as_os_str()];
        let told = Told { tell, mask: &self.mask };
        let ended = plan.run(&words, &Stop::default(), &told)?;
        let (said, complaint) = (self.text(&ended.stdout), self.text(&ended.stderr));
        if ended.is_well() {
            return Ok(said);
        }
        if complaint.contains("Saved plan is stale") {
            let what = format!("layer `{name}` has changed since its plan was made, and was left alone");
            let problem = Problem::new(what).kind(Kind::Refused);
            return Err(problem.help(format!("`suil apply --node {node}` plans it again")));
        }
        let problem = Problem::new(format!("layer `{name}`: `{} apply` failed", plan.tool.program.display()));
        let problem = facts::words(problem, &complaint, &said, ended.code);
        Err(problem.help(format!("mend the cause, then `suil apply --node {node}` continues")))
    }

    fn text(&self, bytes: &[u8]) -> String {
        self.mask.apply(&String::from_utf8_lossy(bytes))
    }

    fn wanted(&self, config: &Plain) -> Wanted {
        let text = |key: &str| config.get(key).and_then(Plain::as_str);
        let layers = config.get("layers").and_then(Plain::as_list).unwrap_or_default();
        Wanted {
            root: self.workspace.join(text("root").unwrap_or("infra")),
            layers: layers.iter().filter_map(Plain::as_str).map(str::to_owned).collect(),
            tool: text("tool").map(str::to_owned),
        }
    }

    /// The layers by their names, each of them this node's alone.
    fn layers(&self, node: &str, wanted: &Wanted, places: Places<'_>) -> Result<Vec<(String, Layer)>> {
        let mut problems = Problems::new();
        let mut layers = Vec::new();
        for (at, name) in wanted.layers.iter().enumerate() {
            match self.layer(node, name, &wanted.root) {
                Ok(layer) => layers.push((name.clone(), layer)),
                Err(mut problem) => {
                    problem.place = problem.place.or_else(|| places(&["layers", &at.to_string()]));
                    problems.push(problem);
                }
            }
        }
        if problems.is_empty() { Ok(layers) } else { Err(problems) }
    }

    fn layer(&self, node: &str, name: &str, root: &Path) -> Result<Layer, Problem> {
        let odd = Path::new(name).components().any(|part| !matches!(part, Component::Normal(_)));
        let parts = name.split_once('/').filter(|(_, layer)| !odd && !layer.contains('/'));
        let Some((stack, layer)) = parts else {
            return Err(Problem::new(format!("`{name}` names no layer")).expected("expected `<stack>/<layer>`"));
        };
        let folder = root.join(&self.options.stacks).join(stack).join(&self.options.layers).join(layer);
        if !folder.is_dir() {
            let shown = root.strip_prefix(&self.workspace).unwrap_or(root);
            let problem = Problem::new(format!("there is no layer `{name}` in `{}`", shown.display()));
            let known = self.known(root);
            return Err(match nearest(name, known.iter().map(String::as_str)) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None if known.is_empty() => problem.help("`root` of the module `infra` names the tree of layers"),
                None => problem.help("`suil infra render --all` renders all that there are"),
            });
        }
        let found = Layer::at(&folder, &self.options)?;
        let mut holders = self.holders.lock().unwrap_or_else(PoisonError::into_inner);
        match holders.entry(found.path.clone()).or_insert_with(|| node.to_owned()) {
            holder if holder == node => Ok(found),
            holder => Err(Problem::new(format!("layer `{name}` is held by two nodes, `{holder}` and `{node}`"))
                .help("leave it to one of them: others read its outputs from the facts of that one")),
        }
    }

    /// The names of all layers of a tree, for guesses.
    fn known(&self, root: &Path) -> Vec<String> {
        let folders = |path: PathBuf| {
            let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect::<Vec<_>>()
        };
        let stacks = root.join(&self.options.stacks);
        let of = |stack: String| {
            let layers = folders(stacks.join(&stack).join(&self.options.layers));
            layers.into_iter().map(move |layer| format!("{stack}/{layer}"))
        };
        folders(stacks.clone()).into_iter().flat_map(of).collect()
    }

    /// A new run over the tree at `root`, with the keys of the first.
    fn run(&self, root: &Path) -> Result<Run> {
        let mut run = self.ground.begin(root)?;
        let mut secrets = self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        match secrets.get(root) {
            Some(known) => run.secrets = known.again(),
            None => drop(secrets.insert(root.to_owned(), run.secrets.again())),
        }
        Ok(run)
    }

    /// The output folder as a person types it at the workspace.
    fn shown(&self, layer: &Layer) -> String {
        layer.output.strip_prefix(&self.workspace).unwrap_or(&layer.output).display().to_string()
    }

    fn one(
        &self,
        node: &str,
        name: &str,
        layer: &Layer,
        run: &Arc<Run>,
        tool: &Tool,
        tell: &dyn Fn(&str),
    ) -> Result<Found> {
        tell(&format!("rendering {name}"));
        let rendered = layer::render(run, layer)?;
        if !rendered.refused.is_empty() {
            return Err(rendered.refused);
        }
        tell(&format!("planning {name}"));
        let plan = self.plans.room(node, name, layer, tool)?;
        self.plan(name, &plan)?;
        let shown = self.done(name, &plan, &["show".as_ref(), "-json".as_ref(), plan.path().as_os_str()])?;
        let found = facts::read(&shown.stdout, &self.shown(layer), &self.mask).map_err(|words| {
            Problem::new(format!("layer `{name}`: `{} show -json` says what suil cannot read", tool.program.display()))
                .note(words)
        })?;
        if let Some(digest) = &found.plan {
            self.plans.keep(plan, digest);
        }
        Ok(found)
    }

    /// Plans, after an `init` where Terraform asks for one.
    fn plan(&self, name: &str, plan: &Plan) -> Result<(), Problem> {
        let mut out = OsString::from("-out=");
        out.push(plan.path());
        let words = ["plan".as_ref(), "-input=false".as_ref(), "-no-color".as_ref(), out.as_os_str()];
        let first = plan.run(&words, self.stop(), &())?;
        if first.is_well() {
            return Ok(());
        }
        if !wants_init(&first) {
            return Err(self.refused(name, plan, "plan", &first));
        }
        self.done(name, plan, &INIT.map(OsStr::new))?;
        self.done(name, plan, &words).map(drop)
    }

    /// Runs a command that has to end well.
    fn done(&self, name: &str, plan: &Plan, words: &[&OsStr]) -> Result<Ended, Problem> {
        let ended = plan.run(words, self.stop(), &())?;
        if ended.is_well() {
            return Ok(ended);
        }
        let command = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        Err(self.refused(name, plan, &command, &ended))
    }

    /// A command of Terraform that failed, in its own words.
    fn refused(&self, name: &str, plan: &Plan, command: &str, ended: &Ended) -> Problem {
        let program = plan.tool.program.display();
        if ended.interrupted {
            return Problem::new(format!("layer `{name}`: `{program} {command}` was interrupted"))
                .kind(Kind::Interrupted);
        }
        let problem = Problem::new(format!("layer `{name}`: `{program} {command}` failed"));
        facts::words(problem, &self.text(&ended.stderr), &self.text(&ended.stdout), ended.code)
    }
}

const INIT: [&str; 3] = ["init", "-input=false", "-no-color"];

/// True where a command failed for want of an `init`.
fn wants_init(ended: &Ended) -> bool {
    let said = String::from_utf8_lossy(&ended.stderr);
    !ended.is_well() && !ended.interrupted && (said.contains("terraform init") || said.contains("tofu init"))
}

/// Hands on what Terraform says while it applies.
struct Told<'a> {
    tell: &'a dyn Fn(&str),
    mask: &'a Mask,
}

impl Watch for Told<'_> {
    fn line(&self, line: &str) {
        // `aws_instance.web: Still creating... [10s elapsed]`, and no text of an output.
        if line.contains(": ") && line.contains("...") {
            (self.tell)(&self.mask.apply(line));
        }
    }
}
