//! Layers that a node holds by its role: what of them becomes facts, and how their saved plans are applied.
//!
//! Enters: the config of the module `infra`, for one node. Leaves: per layer its outputs, sensitive ones as digests, and
//! what Terraform would change; a plan file for each layer that differs, until it is applied or suil ends.

mod facts;
mod plans;

use crate::base::problem::Kind;
use crate::base::{Mask, Place, Plain, Problem, Problems, Result, nearest::nearest};
use crate::infra::envelope::Keys;
use crate::infra::layer::{self, Layer, Options, Run};
use crate::infra::terraform::{self, Finished, Tool};
use plans::Plans;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The trees of a workspace, as its nodes hold layers of them.
pub struct Desk {
    workspace: PathBuf,
    options: Options,
    keys: Box<dyn Fn() -> Result<Keys> + Send + Sync>,
    mask: Mask,
    plans: Plans,
    /// By the root of the tree.
    runs: Mutex<BTreeMap<PathBuf, Arc<Run>>>,
    /// Who holds each layer.
    holders: Mutex<BTreeMap<PathBuf, String>>,
}

/// What the module's config says.
struct Wanted {
    root: PathBuf,
    layers: Vec<String>,
    tool: Tool,
}

/// Where a value of the config stands.
type Places<'a> = &'a dyn Fn(&[&str]) -> Option<Place>;

impl Desk {
    /// `keys` is asked for once per tree, for the envelopes of its layers; what is secret is added to `mask`.
    pub fn new(
        workspace: &Path,
        options: Options,
        keys: impl Fn() -> Result<Keys> + Send + Sync + 'static,
        mask: Mask,
    ) -> Desk {
        Desk {
            plans: Plans::new(workspace),
            workspace: workspace.to_owned(),
            options,
            keys: Box::new(keys),
            mask,
            runs: Mutex::default(),
            holders: Mutex::default(),
        }
    }

    /// Renders and plans the layers of `node`, in their order.
    ///
    /// A layer that fails while one before it is still to be applied may need what that one brings: it waits, and its
    /// facts say so.
    ///
    /// # Errors
    /// There is no such layer, another node holds it, it cannot be rendered, or Terraform cannot plan it.
    pub fn read(&self, node: &str, config: &Plain, places: Places<'_>, tell: &dyn Fn(&str)) -> Result<Plain> {
        let wanted = self.wanted(config);
        let layers = self.layers(node, &wanted, places)?;
        let Some((_, first)) = layers.first() else { return Ok(Plain::from_iter([("layers", Plain::map())])) };
        let run = self.run(&first.root)?;
        let (mut facts, mut states, mut problems) = (Plain::map(), Plain::map(), Problems::new());
        let mut pending: Option<&str> = None;
        for (name, layer) in &layers {
            match self.one(node, name, layer, &run, &wanted.tool, tell) {
                Ok(found) => {
                    if !found.clean {
                        pending = pending.or(Some(name));
                    }
                    facts.set(name, found.outputs);
                    states.set(name, found.state);
                }
                Err(found) => match (pending, problems.is_empty()) {
                    (Some(before), true) => {
                        states.set(name, facts::waits(&self.shown(layer), before, &found, &self.mask))
                    }
                    _ => problems.extend(found),
                },
            }
        }
        facts.set("layers", states);
        if problems.is_empty() { Ok(facts) } else { Err(problems) }
    }

    /// Applies the plan that was kept for the layer `name` of `node`. `digest` is of what it does, as it was shown.
    ///
    /// # Errors
    /// It is not kept any more, its layer has changed since, or Terraform failed.
    pub fn apply(&self, node: &str, name: &str, digest: &str) -> Result<String, Problem> {
        let Some(plan) = self.plans.take(node, name, digest) else {
            let what = format!("layer `{name}`: the plan that was shown is not kept any more");
            return Err(Problem::new(what)
                .kind(Kind::Refused)
                .help(format!("`suil apply --node {node}` plans it again")));
        };
        let file = plan.path().as_os_str();
        let words = ["apply".as_ref(), "-input=false".as_ref(), "-no-color".as_ref(), file];
        let Finished { status, stdout, stderr } = plan.tool.capture(&plan.folder, &words, &[])?;
        let (said, complaint) = (self.text(&stdout), self.text(&stderr));
        if status.success() {
            return Ok(said);
        }
        if complaint.contains("Saved plan is stale") {
            let what = format!("layer `{name}` has changed since its plan was made, and was left alone");
            return Err(Problem::new(what)
                .kind(Kind::Refused)
                .help(format!("`suil apply --node {node}` plans it again")));
        }
        let code = terraform::code(status);
        let problem = Problem::new(format!("layer `{name}`: `{} apply` failed", plan.tool.program.display()));
        let problem = facts::words(problem, &complaint, &said, code);
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
            tool: Tool::new(text("tool").unwrap_or(&self.options.terraform)),
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

    /// The run over the tree at `root`.
    fn run(&self, root: &Path) -> Result<Arc<Run>> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(run) = runs.get(root) {
            return Ok(Arc::clone(run));
        }
        let run = Arc::new(Run::new(root, self.options.clone(), (self.keys)()?, self.mask.clone()));
        runs.insert(root.to_owned(), Arc::clone(&run));
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
    ) -> Result<facts::Found> {
        tell(&format!("rendering {name}"));
        let rendered = layer::render(run, layer)?;
        if !rendered.refused.is_empty() {
            return Err(rendered.refused);
        }
        tell(&format!("planning {name}"));
        let plan = self.plans.room(node, name, &layer.output, tool)?;
        self.plan(name, layer, tool, plan.path())?;
        let shown = self.captured(name, layer, tool, &["show".as_ref(), "-json".as_ref(), plan.path().as_os_str()])?;
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
    fn plan(&self, name: &str, layer: &Layer, tool: &Tool, file: &Path) -> Result<(), Problem> {
        let mut out = std::ffi::OsString::from("-out=");
        out.push(file);
        let words = ["plan".as_ref(), "-input=false".as_ref(), "-no-color".as_ref(), out.as_os_str()];
        let first = tool.capture(&layer.output, &words, &[])?;
        if first.status.success() {
            return Ok(());
        }
        if !String::from_utf8_lossy(&first.stderr).contains("init") {
            return self.refused(name, tool, "plan", &first);
        }
        let init = ["init".as_ref(), "-input=false".as_ref(), "-no-color".as_ref()];
        self.captured(name, layer, tool, &init)?;
        self.captured(name, layer, tool, &words).map(drop)
    }

    fn captured(
        &self,
        name: &str,
        layer: &Layer,
        tool: &Tool,
        words: &[&std::ffi::OsStr],
    ) -> Result<Finished, Problem> {
        let finished = tool.capture(&layer.output, words, &[])?;
        if finished.status.success() {
            return Ok(finished);
        }
        let command = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        self.refused(name, tool, &command, &finished).map(|()| finished)
    }

    /// A command of Terraform that failed, in its own words.
    fn refused(&self, name: &str, tool: &Tool, command: &str, finished: &Finished) -> Result<(), Problem> {
        let problem = Problem::new(format!("layer `{name}`: `{} {command}` failed", tool.program.display()));
        let (said, complaint) = (self.text(&finished.stdout), self.text(&finished.stderr));
        Err(facts::words(problem, &complaint, &said, terraform::code(finished.status)))
    }
}
