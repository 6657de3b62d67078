//! What a graph is made of. Its JSON is that of `suil infra graph --output json`.

use crate::base::Place;
use crate::infra::secret;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The stacks and modules of one tree, and what each needs. Every list is sorted, so the same tree gives the same graph.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Graph {
    /// `owner/name` of the repository.
    pub repo: String,
    /// The commit that is checked out; `None` outside git.
    pub sha: Option<String>,
    /// The SHA-256 over the names and the contents of all files that make the graph.
    pub tree_hash: String,
    pub stacks: Vec<Stack>,
    pub modules: Vec<Module>,
    /// The nodes of the workspace that have an edge; `None` where nobody asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<Host>>,
    pub edges: Vec<Edge>,
    pub warnings: Vec<Warning>,
    #[serde(skip)]
    pub policy: Policy,
    /// The sources that have a password in them, by the keys of their modules: whoever asks there needs it, and no output
    /// has it.
    #[serde(skip)]
    pub closed: BTreeMap<String, String>,
    /// The links inside the tree, sorted.
    #[serde(skip)]
    pub links: Vec<super::Link>,
}

impl Graph {
    /// The same graph with nodes of the workspace around its tree, and what they and the stacks read of each other.
    #[must_use]
    pub fn with_nodes(mut self, nodes: Vec<Host>, edges: impl IntoIterator<Item = Edge>) -> Graph {
        self.nodes = Some(nodes);
        self.edges.extend(edges);
        self.edges.sort_by(|a, b| (&a.from, a.kind, &a.to).cmp(&(&b.from, b.kind, &b.to)));
        self
    }
}

/// What is planned and applied on its own: a folder of Terraform code, an instance of one, or a layer.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Stack {
    /// `path`, or `path:instance`.
    pub key: String,
    /// The folder below the root; of a layer that of its stack.
    pub path: String,
    /// Empty for none; of a layer its name.
    pub instance: String,
    pub workspace: String,
    /// `owner/name` of the repository that it stands in.
    pub repo: String,
    pub backend: Option<Backend>,
    /// Where the state is kept, as a URI such as `s3://bucket/object`; `None` where the code does not say it.
    pub state: Option<String>,
    pub environment: String,
    /// `terraform` or `tofu`.
    pub tool: String,
    pub tool_version: String,
    /// `full` or `summary`.
    pub plan_output: String,
    /// What Terraform is to be started with.
    pub config: Config,
    /// It stands in another repository, and is never run from here.
    pub external: bool,
    /// The files elsewhere that it reads.
    pub watch_paths: Vec<String>,
    /// The folder of the layer that this is; `None` for a stack of plain Terraform code.
    pub layer: Option<String>,
    /// The environment is `default` because nothing names one.
    #[serde(skip)]
    pub unmapped: bool,
    /// Patterns of what it would read if it were there; of a layer alone.
    #[serde(skip)]
    pub watch_globs: Vec<String>,
    /// What its templates ask of the host data; of a layer alone.
    #[serde(skip)]
    pub host_reads: Vec<HostRead>,
}

/// A question of a layer's template to the host data, as far as it says whom it is for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct HostRead {
    /// The dotted path.
    pub field: String,
    /// The pattern of the nodes' names.
    pub nodes: String,
    pub role: Option<String>,
    /// It is about what was last read from the nodes, not about their data.
    pub facts: bool,
    /// Where it is written, as far as a line tells.
    pub at: Option<At>,
}

/// Settings of a backend, as far as they are literal; what may be secret is left out.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Backend {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(flatten)]
    pub settings: BTreeMap<String, String>,
}

/// What Terraform is to be started with, in this order.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Config {
    /// `name=value`, or a file below the root. A secret is covered in every output.
    #[serde(serialize_with = "covered")]
    pub backend_config: Vec<String>,
    /// Files, seen from the stack's folder.
    pub var_files: Vec<String>,
    /// Variables of the environment. Their values may be anybody's, so they are in no output.
    #[serde(serialize_with = "names", skip_deserializing)]
    pub env: BTreeMap<String, Env>,
    pub allowed_teams: Vec<String>,
}

/// The value of a variable of the environment in each mode; unset where it is `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Env {
    pub plan: Option<String>,
    pub apply: Option<String>,
    /// That of `plan` where the file says nothing of `drift`.
    pub drift: Option<String>,
}

fn covered<S: serde::Serializer>(entries: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(entries.iter().map(|entry| secret::shown(entry)))
}

fn names<S: serde::Serializer>(env: &BTreeMap<String, Env>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(env.keys())
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Module {
    pub key: String,
    pub kind: Origin,
    /// The folder below the root of a local module; the source without its version of another.
    pub path: String,
    /// The source as the code writes it, a password covered; empty for a local one.
    pub source: String,
    /// The version that is asked for; empty for none.
    #[serde(rename = "ref")]
    pub pin: String,
}

/// A node of the workspace: a host.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub key: String,
    pub role: String,
}

/// Where a module comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    Local,
    Git,
    Registry,
}

/// One end of an edge.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Node {
    pub kind: Kind,
    pub key: String,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Module,
    Stack,
    /// A host.
    Node,
}

/// What `from` needs of `to`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edge {
    pub from: Node,
    pub to: Node,
    #[serde(rename = "type")]
    pub kind: Need,
    /// It was found in the code, and nobody wrote it down as one.
    pub inferred: bool,
    /// `ref` and `source` of a module; `state`, of one in s3 `bucket` and `key`, and `by: template` where templates ask for it;
    /// `fields` of what is read of a node or of a layer, with blanks between them.
    pub meta: BTreeMap<String, String>,
    /// Where it is written; `None` where no line says it.
    pub at: Option<At>,
}

/// The kinds of edges.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    DependsOn,
    ReadsState,
    UsesModule,
    /// The data of a node reads an output of a layer.
    ReadsOutput,
    /// The templates of a layer read what is known of a node.
    ReadsHostData,
}

impl Need {
    /// The word for it in every output.
    pub fn name(self) -> &'static str {
        match self {
            Need::DependsOn => "depends_on",
            Need::ReadsState => "reads_state",
            Need::UsesModule => "uses_module",
            Need::ReadsOutput => "reads_output",
            Need::ReadsHostData => "reads_host_data",
        }
    }

    /// True between stacks of which `to` is applied before `from`.
    pub fn orders(self) -> bool {
        matches!(self, Need::DependsOn | Need::ReadsState)
    }
}

/// A place in a file of the tree. Unlike [`crate::base::Place`] it can be kept in a cache.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct At {
    /// The path below the root.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl From<Place> for At {
    fn from(place: Place) -> At {
        At { file: place.path().display().to_string(), line: place.line, column: place.column }
    }
}

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Something to know about a tree, or about a question that was asked of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Warning {
    pub code: Code,
    /// What it is about: a folder, a key, `from -> to`.
    pub subject: String,
    /// The words for people.
    pub message: String,
    pub at: Option<At>,
}

/// What a warning says.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    BackendDynamic,
    BackendNotS3,
    BackendTwice,
    DependencyCycle,
    DuplicateKey,
    EnvFile,
    GitModuleIsLocal,
    HclSyntax,
    IgnoreGlob,
    IncludeExcluded,
    IncludeMissing,
    IncludeNoBackend,
    InferredSuppressed,
    InstanceFileAutoLoaded,
    InstanceFileUnlisted,
    LayerUnrendered,
    LinkOutside,
    ModuleCycle,
    ModuleDynamic,
    ModuleMissing,
    ModuleOutsideRepo,
    ModuleSelf,
    ModuleUnsupported,
    NotText,
    RemoteStateDynamic,
    RequestedExternal,
    RequestedUnknown,
    RootStack,
    SelfDependency,
    SharedStateObject,
    UnclaimedPath,
    UnknownDependency,
    /// `ignore_inferred` names a stack that there is not.
    UnknownIgnored,
    UnmappedEnvironment,
    VarFileMissing,
    VarFileOutside,
}

/// What the root configuration says about runs; the same for every stack of a tree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Policy {
    /// Changed paths that count for nothing: globs over the whole path.
    pub ignore: Vec<String>,
    /// `propagate.dependents`.
    pub dependents: bool,
    /// `apply.mode`: `before_merge` or `on_merge`.
    pub mode: String,
    /// `apply.from_plan`.
    pub from_plan: bool,
    /// `apply.max_parallel`, at least 1.
    pub max_parallel: usize,
    /// `apply.require_approvals`.
    pub require_approvals: usize,
    /// `apply.require_codeowner_review`.
    pub require_codeowner_review: bool,
    /// `apply.four_eyes`.
    pub four_eyes: bool,
    /// `drift.schedule`: five fields of cron, or empty.
    pub drift_schedule: String,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            ignore: ["**/*.md", "**/README*"].map(str::to_owned).into(),
            dependents: true,
            mode: "before_merge".to_owned(),
            from_plan: true,
            max_parallel: 6,
            require_approvals: 0,
            require_codeowner_review: false,
            four_eyes: false,
            drift_schedule: String::new(),
        }
    }
}
