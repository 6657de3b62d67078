//! A workspace: its hierarchy, its modules, its nodes and roles, and the files that were read so far.

use super::card::{Card, Cards};
use super::common::{COMMON, Common};
use super::files::{Files, Layer, keep};
use super::hierarchy::Hierarchy;
use super::hook::Hooks;
use super::inventory::{Inventory, check_name};
use super::keep::Keep;
use super::keys::Kind;
use super::order::Graph;
use super::pattern::{Known, Pattern};
use super::probe::Probe;
use super::requires;
use super::stack::Stacks;
use crate::base::problem::Kind as Severity;
use crate::base::{Place, Problem, Problems, Result, nearest::nearest};
use crate::data::Value;
use crate::data::library::{Library, ModuleDir};
use crate::data::tree::{Disk, Tree};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Everything that `data/`, `modules/` and the cached probes say, each file read once.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    tree: Arc<dyn Tree>,
    hierarchy: Hierarchy,
    library: Library,
    graph: Graph,
    files: Files,
    deployment: Option<Arc<Layer>>,
    recipients: Option<Value>,
    hooks: Hooks,
    keep: Keep,
    nodes: Inventory,
    roles: OnceLock<Inventory>,
    cards: Cards,
    stacks: Stacks,
    warnings: Problems,
}

/// Walks up from `start` to the first folder that is a workspace.
pub fn find(start: &Path) -> Option<PathBuf> {
    start.ancestors().find(|folder| folder.join(COMMON).is_file()).map(Path::to_owned)
}

impl Workspace {
    /// Reads what the whole workspace rests on: `data/common.yaml`, `modules.yaml`, and what modules require.
    ///
    /// # Errors
    /// All that is wrong in those.
    pub fn open(root: &Path) -> Result<Workspace> {
        Workspace::read(root, Arc::new(Disk::new(root)), None)
    }

    /// The same workspace as `tree` has it, a revision say. What is the same in both is parsed once. The cached probes
    /// and the facts that lookups read are those of the disk, whatever the revision: they tell of nodes, not of data. So
    /// are modules from elsewhere that the revision does not hold.
    ///
    /// # Errors
    /// As for [`Workspace::open`].
    pub fn beside(&self, tree: Arc<dyn Tree>) -> Result<Workspace> {
        Workspace::read(&self.root, tree, Some(self))
    }

    fn read(root: &Path, tree: Arc<dyn Tree>, beside: Option<&Workspace>) -> Result<Workspace> {
        let common = Common::read(&*tree)?;
        let mut problems = Problems::new();
        let hierarchy = keep(common.hierarchy(), &mut problems);
        let hooks = keep(common.hooks(), &mut problems);
        let mut library = keep(Library::read(&tree), &mut problems);
        if let (Some(library), Some(beside)) = (&mut library, beside) {
            library.borrow(&beside.library);
        }
        let runs = keep(common.keep(), &mut problems);
        let graph = library.as_ref().and_then(|library| keep(requires::read(library), &mut problems));
        let (Some(hierarchy), Some(hooks), Some(library), Some(graph), Some(runs)) =
            (hierarchy, hooks, library, graph, runs)
        else {
            return Err(problems);
        };
        let nodes = Inventory::list(&*tree, hierarchy.node())?;
        let mut warnings = common.warnings();
        warnings.extend(nodes.warnings.iter().cloned());
        Ok(Workspace {
            files: Files::new(tree.clone(), beside.map(|other| &other.files)),
            deployment: common.deployment(),
            recipients: common.value("recipients"),
            hooks,
            keep: runs,
            root: root.to_owned(),
            tree,
            hierarchy,
            library,
            graph,
            cards: Cards::new(nodes.names.iter()),
            nodes,
            roles: OnceLock::new(),
            stacks: Stacks::default(),
            warnings,
        })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn library(&self) -> &Library {
        &self.library
    }

    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Which records of runs are kept: `runs` of `data/common.yaml`.
    pub fn keep(&self) -> Keep {
        self.keep
    }

    /// `recipients` of `data/common.yaml`.
    pub fn recipients(&self) -> Option<&Value> {
        self.recipients.as_ref()
    }

    pub(super) fn common_hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// What is worth saying about the workspace as a whole.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }

    pub(super) fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    pub(super) fn deployment_layer(&self) -> Option<Arc<Layer>> {
        self.deployment.clone()
    }

    /// The names of all nodes, by code point.
    pub fn node_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.nodes.names.iter().map(String::as_str)
    }

    /// The names of all roles, by code point.
    ///
    /// # Errors
    /// A folder that is there and cannot be read.
    pub fn role_names(&self) -> Result<impl Iterator<Item = &str>, Problem> {
        if self.roles.get().is_none() {
            let roles = Inventory::list(&*self.tree, self.hierarchy.role())?;
            self.roles.get_or_init(|| roles);
        }
        Ok(self.roles.get().into_iter().flat_map(|roles| roles.names.iter().map(String::as_str)))
    }

    /// Every data file that is not hidden, by its path below `data/`, in the order of the paths.
    ///
    /// # Errors
    /// A folder that is there and cannot be read.
    pub fn data_files(&self) -> Result<Vec<String>, Problem> {
        let mut files = Vec::new();
        below(&*self.tree, "", 0, &mut files)?;
        Ok(files)
    }

    /// The text of a data file, by its path below `data/`.
    pub(super) fn data_file(&self, path: &str) -> Option<Vec<u8>> {
        self.tree.read(&format!("data/{path}")).ok()
    }

    /// A layer by its path below `data/`.
    pub(super) fn layer(&self, path: &str, kind: Kind) -> Result<Option<Arc<Layer>>> {
        self.files.layer(&format!("data/{path}"), kind, &self.library)
    }

    /// The data files of a module, lowest first.
    pub(super) fn module_layers(&self, module: &ModuleDir, os: Option<(&String, &String)>) -> Result<Vec<Arc<Layer>>> {
        let mut problems = Problems::new();
        let mut names: Vec<String> = module.list("data")?;
        names.retain(|name| name.ends_with(".yaml"));
        let own = names.into_iter().map(|name| format!("data/{name}"));
        let os = os.map(|(family, release)| format!("data/os/{family}/{release}.yaml"));
        let mut layers = Vec::new();
        for rel in own.chain(os) {
            layers.extend(keep(self.module_file(module, &rel), &mut problems).flatten());
        }
        if problems.is_empty() { Ok(layers) } else { Err(problems) }
    }

    pub(super) fn module_file(&self, module: &ModuleDir, rel: &str) -> Result<Option<Arc<Layer>>> {
        self.files.module_layer(module, rel, &self.library)
    }

    /// What the file of a node says about it.
    ///
    /// # Errors
    /// All that is wrong in that file, and a name that has none.
    pub fn card(&self, node: &str) -> Result<Arc<Card>> {
        self.cards.get(self, node)
    }

    /// The file of the role that a node names; `None` for an empty one.
    pub(super) fn role_layer(&self, role: &str, named: Place) -> Result<Option<Arc<Layer>>> {
        let expected =
            |problem: Problem| problem.kind(Severity::Failed).at(named).expected("expected the name of a role");
        check_name("role", role).map_err(expected)?;
        match self.role_layer_of(role)? {
            None if !self.files.exists(&format!("data/{}", path_of(self.hierarchy.role(), role))) => {
                Err(expected(self.no_such_role(role)?).into())
            }
            layer => Ok(layer),
        }
    }

    /// The file of a role of the inventory.
    pub(super) fn role_layer_of(&self, role: &str) -> Result<Option<Arc<Layer>>> {
        self.layer(&path_of(self.hierarchy.role(), role), Kind::Role)
    }

    /// The file of a node; `None` for an empty one.
    pub(super) fn node_layer(&self, node: &str) -> Result<Option<Arc<Layer>>> {
        check_name("node", node)?;
        let path = path_of(self.hierarchy.node(), node);
        match self.layer(&path, Kind::Node)? {
            None if !self.files.exists(&format!("data/{path}")) => Err(self.no_such_node(node).into()),
            layer => Ok(layer),
        }
    }

    /// True where the file of a node can be read and says which role it has.
    pub(super) fn names_role(&self, node: &str) -> bool {
        match self.layer(&path_of(self.hierarchy.node(), node), Kind::Node) {
            Ok(Some(layer)) => layer.whole.get("role").is_some(),
            Ok(None) => false,
            Err(_) => true,
        }
    }

    /// The role that the file of a node seems to name, where the file is broken: by its text alone, and only good for
    /// finding what else is wrong.
    pub fn seeming_role(&self, node: &str) -> Option<String> {
        let bytes = self.tree.read(&format!("data/{}", path_of(self.hierarchy.node(), node))).ok()?;
        let text = String::from_utf8_lossy(&bytes);
        let line = text.lines().find_map(|line| line.strip_prefix("role:"))?;
        let name = line.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
        check_name("role", name).is_ok().then(|| name.to_owned())
    }

    pub(super) fn no_such_node(&self, node: &str) -> Problem {
        let path = path_of(self.hierarchy.node(), node);
        let problem = Problem::new(format!("node `{node}` has no file `data/{path}`"));
        match nearest(node, self.node_names()) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help("`suil nodes` lists all"),
        }
    }

    pub(super) fn no_such_role(&self, role: &str) -> Result<Problem, Problem> {
        let path = path_of(self.hierarchy.role(), role);
        let problem = Problem::new(format!("role `{role}` has no file `data/{path}`"));
        Ok(match nearest(role, self.role_names()?) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => problem.help("`suil roles` lists all"),
        })
    }

    /// The cached probe of a node.
    pub fn probe(&self, node: &str) -> Result<Probe, Problem> {
        self.cards.probe(self, node)
    }
}

fn below(tree: &dyn Tree, folder: &str, depth: usize, files: &mut Vec<String>) -> Result<(), Problem> {
    if depth > 32 {
        return Ok(());
    }
    let path = if folder.is_empty() { "data".to_owned() } else { format!("data/{folder}") };
    let entries = tree.entries(&path).map_err(|error| Problem::io("read the folder", &tree.shown(&path), &error))?;
    for (name, is_folder) in entries.into_iter().filter(|(name, _)| !name.starts_with('.')) {
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        if is_folder {
            below(tree, &path, depth + 1, files)?;
        } else if path.ends_with(".yaml") {
            files.push(path);
        }
    }
    Ok(())
}

fn path_of(pattern: &Pattern, name: &str) -> String {
    pattern.path(Known { node: Some(name), role: Some(name), ..Known::default() }).unwrap_or_default()
}
