//! The form in which a graph is kept: all of it, with what its JSON leaves out.

use crate::infra::graph::{Backend, Config, Edge, Env, Graph, Host, HostRead, Module, Policy, Stack, Warning};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A graph that is written.
#[derive(Serialize)]
pub struct Form<'a> {
    repo: &'a str,
    sha: &'a Option<String>,
    tree_hash: &'a str,
    stacks: Vec<Row>,
    modules: &'a [Module],
    nodes: &'a Option<Vec<Host>>,
    edges: &'a [Edge],
    warnings: &'a [Warning],
    policy: &'a Policy,
    closed: &'a BTreeMap<String, String>,
}

/// The same that was read.
#[derive(Deserialize)]
pub struct Whole {
    repo: String,
    sha: Option<String>,
    tree_hash: String,
    stacks: Vec<Row>,
    modules: Vec<Module>,
    nodes: Option<Vec<Host>>,
    edges: Vec<Edge>,
    warnings: Vec<Warning>,
    policy: Policy,
    closed: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
struct Row {
    key: String,
    path: String,
    instance: String,
    workspace: String,
    repo: String,
    backend: Option<(String, BTreeMap<String, String>)>,
    state: Option<String>,
    environment: String,
    tool: String,
    tool_version: String,
    plan_output: String,
    backend_config: Vec<String>,
    var_files: Vec<String>,
    env: BTreeMap<String, Env>,
    allowed_teams: Vec<String>,
    external: bool,
    watch_paths: Vec<String>,
    layer: Option<String>,
    unmapped: bool,
    watch_globs: Vec<String>,
    host_reads: Vec<HostRead>,
}

impl<'a> Form<'a> {
    pub fn of(graph: &'a Graph) -> Form<'a> {
        let Graph { repo, sha, tree_hash, stacks, modules, nodes, edges, warnings, policy, closed, links: _ } = graph;
        Form {
            repo,
            sha,
            tree_hash,
            stacks: stacks.iter().cloned().map(Row::from).collect(),
            modules,
            nodes,
            edges,
            warnings,
            policy,
            closed,
        }
    }
}

impl From<Whole> for Graph {
    fn from(whole: Whole) -> Graph {
        let Whole { repo, sha, tree_hash, stacks, modules, nodes, edges, warnings, policy, closed } = whole;
        Graph {
            repo,
            sha,
            tree_hash,
            stacks: stacks.into_iter().map(Stack::from).collect(),
            modules,
            nodes,
            edges,
            warnings,
            policy,
            closed,
            // They are looked for each time.
            links: Vec::new(),
        }
    }
}

macro_rules! between {
    ($($field:ident),*) => {
        impl From<Stack> for Row {
            fn from(stack: Stack) -> Row {
                let Stack { backend, config, $($field),* } = stack;
                let Config { backend_config, var_files, env, allowed_teams } = config;
                let backend = backend.map(|Backend { kind, settings }| (kind, settings));
                Row { backend, backend_config, var_files, env, allowed_teams, $($field),* }
            }
        }

        impl From<Row> for Stack {
            fn from(row: Row) -> Stack {
                let Row { backend, backend_config, var_files, env, allowed_teams, $($field),* } = row;
                let config = Config { backend_config, var_files, env, allowed_teams };
                let backend = backend.map(|(kind, settings)| Backend { kind, settings });
                Stack { backend, config, $($field),* }
            }
        }
    };
}

between!(
    key,
    path,
    instance,
    workspace,
    repo,
    state,
    environment,
    tool,
    tool_version,
    plan_output,
    external,
    watch_paths,
    layer,
    unmapped,
    watch_globs,
    host_reads
);
