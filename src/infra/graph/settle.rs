//! Which instances a folder has, and what each of them is started with.

use super::code::is_auto_loaded;
use super::config::{Own, Text, Variable, workspace_fault};
use super::discover::Place;
use super::template::{self, Fields};
use super::tree::{Found, Tree, below};
use super::{At, Code as Word, Config, Env, key};
use crate::base::Problem;
use crate::infra::hcl::{self, Literal, Settings};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A stack with its settings, everything rendered.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    pub key: String,
    pub path: String,
    pub instance: String,
    pub workspace: String,
    pub environment: String,
    pub unmapped: bool,
    pub tool: String,
    pub tool_version: String,
    pub plan_output: String,
    pub config: Config,
    /// The kind of its backend and the settings of that, what it is started with laid over the code; `None` for none.
    pub backend: Option<(String, Settings)>,
    pub depends_on: Vec<Text>,
    pub ignore_inferred: Vec<Text>,
    /// The files that it reads, below the root.
    pub reads: BTreeSet<String>,
}

/// An instance that a rule found.
struct Instance {
    name: String,
    own: Own,
    /// The file that it is made of.
    file: Option<String>,
}

/// The stacks of a folder.
pub fn settle(tree: &Tree, place: &Place, found: &mut Found) -> Vec<Settled> {
    let Some(instances) = instances(tree, place, found) else { return Vec::new() };
    instances.iter().filter_map(|instance| one(tree, place, instance, found)).collect()
}

/// The stack that a layer is: what its stack says, and over it what it says itself.
pub fn layer(tree: &Tree, place: &Place, name: &str, over: Own, found: &mut Found) -> Option<Settled> {
    for (first, _) in [&over, &place.own].into_iter().filter_map(|own| own.instances.as_ref()?.first()) {
        let what = format!("`{}` has layers, and its configuration names instances", place.path);
        found.fail(tree, what, Some(&first.at), "expected no `instances`: each layer is one stack");
    }
    let place = Place {
        path: place.path.clone(),
        code: place.code.clone(),
        own: Own {
            tool: over.tool.clone().or_else(|| place.own.tool.clone()),
            tool_version: over.tool_version.clone().or_else(|| place.own.tool_version.clone()),
            ..place.own.clone()
        },
    };
    one(tree, &place, &Instance { name: name.to_owned(), own: over, file: None }, found)
}

/// The first rule that names any: a list, a file each, the workspace, none.
fn instances(tree: &Tree, place: &Place, found: &mut Found) -> Option<Vec<Instance>> {
    let matched = matched(tree, place, found)?;
    if let Some(listed) = &place.own.instances {
        for (name, file) in matched.iter().filter(|(name, _)| !listed.iter().any(|(own, _)| own.text == **name)) {
            let message =
                format!("`{file}` makes no instance: `{name}` is not among the `instances` of `{}`", place.path);
            found.warn(Word::InstanceFileUnlisted, file, message, None);
        }
        let instance = |(name, own): &(Text, Own)| Instance {
            name: name.text.clone(),
            own: own.clone(),
            file: matched.get(&name.text).cloned(),
        };
        return Some(listed.iter().map(instance).collect());
    }
    if !matched.is_empty() {
        let instance = |(name, file)| Instance { name, own: Own::default(), file: Some(file) };
        return Some(matched.into_iter().map(instance).collect());
    }
    let name = match &place.own.workspace {
        Some(text) => workspace(tree, &fields(&place.path, "", &place.path), text, found)?,
        None => String::new(),
    };
    if let Some(expected) = key::instance_fault(&name).filter(|_| !name.is_empty()) {
        let at = place.own.workspace.as_ref().map(|text| &text.at);
        let what = format!("the workspace `{name}` of `{}` makes an instance that cannot be called so", place.path);
        found.fail(tree, what, at, expected);
        return None;
    }
    Some(vec![Instance { name, own: Own::default(), file: None }])
}

/// The files that make instances, by the names of those; `None` where they are wrong.
fn matched(tree: &Tree, place: &Place, found: &mut Found) -> Option<BTreeMap<String, String>> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    let Some(glob) = &tree.root.from_var_files else { return Some(names) };
    let mut good = true;
    let from = glob.fixed();
    let from = key::beside(&place.path, &from).unwrap_or_else(|| place.path.clone());
    let from = if tree.listing.is_folder(&from) { from } else { key::folder(&from).to_owned() };
    for (folder, entries) in tree.listing.below(&from) {
        for entry in &entries.files {
            let path = below(folder, &entry.name);
            let seen = path.strip_prefix(&place.path).map(|rest| rest.trim_start_matches('/')).unwrap_or_default();
            if seen.is_empty() || !glob.matches(seen) {
                continue;
            }
            if is_auto_loaded(&entry.name) && !seen.contains('/') {
                let message = format!("`{path}` makes an instance, and Terraform reads it for every one");
                found.warn(Word::InstanceFileAutoLoaded, &path, message, None);
            }
            let name = entry.name.split('.').next().unwrap_or_default();
            if let Some(expected) = key::instance_fault(name) {
                let what = format!("stack `{}`: `{path}` makes an instance that cannot be called `{name}`", place.path);
                found.fail(tree, what, None, "");
                if let Some(problem) = found.problems.last_mut() {
                    *problem = std::mem::take(problem).note(expected).help("rename the file");
                }
                good = false;
            } else if let Some(first) = names.get(name) {
                let what = format!("stack `{}`: `{first}` and `{path}` both make the instance `{name}`", place.path);
                found.problems.push(Problem::new(what).help("rename one of them, or list `instances`"));
                good = false;
            } else {
                names.insert(name.to_owned(), path);
            }
        }
    }
    good.then_some(names)
}

/// The name of a workspace; empty for the one that is always there.
fn workspace(tree: &Tree, fields: &Fields, text: &Text, found: &mut Found) -> Option<String> {
    let name = render(tree, fields, text, "workspace", found)?;
    if let Some(expected) = workspace_fault(&name) {
        found.fail(tree, format!("`workspace` of `{}` becomes `{name}`", fields.path), Some(&text.at), expected);
        return None;
    }
    Some(if name == "default" { String::new() } else { name })
}

fn fields<'a>(path: &'a str, instance: &'a str, key: &'a str) -> Fields<'a> {
    Fields { path, name: key::name(path), instance, key }
}

fn render(tree: &Tree, fields: &Fields, text: &Text, setting: &str, found: &mut Found) -> Option<String> {
    match template::render(&text.text, fields) {
        Ok(text) => Some(text),
        Err(words) => {
            let what = format!("`{setting}` of stack `{}` cannot be rendered: {words}", fields.key);
            found.fail(tree, what, Some(&text.at), "");
            None
        }
    }
}

fn one(tree: &Tree, place: &Place, instance: &Instance, found: &mut Found) -> Option<Settled> {
    let path = place.path.as_str();
    let key = key::key(path, &instance.name);
    let fields = fields(path, &instance.name, &key);
    let problems = found.problems.len();
    let (own, over, root) = (&place.own, &instance.own, &tree.root);
    let named = over.workspace.as_ref().or(own.workspace.as_ref());
    let workspace = match named {
        Some(text) => workspace(tree, &fields, text, found)?,
        None => String::new(),
    };
    let all = |setting: &str, texts: &mut dyn Iterator<Item = &Text>, found: &mut Found| {
        let one = |text: &Text| {
            let rendered = render(tree, &fields, text, setting, found)?;
            Some(Text { text: rendered, at: text.at.clone() })
        };
        texts.filter_map(one).filter(|text| !text.text.trim().is_empty()).collect::<Vec<Text>>()
    };
    let settings = all(
        "backend_config",
        &mut root.backend_config.iter().chain(&own.backend_config).chain(&over.backend_config),
        found,
    );
    let mut var_files = all("var_files", &mut root.var_files.iter().chain(&own.var_files), found);
    if let Some(file) = &instance.file {
        let seen = file.strip_prefix(path).map_or(file.as_str(), |rest| rest.trim_start_matches('/'));
        var_files.push(Text { text: seen.to_owned(), at: At::default() });
    }
    var_files.extend(all("var_files", &mut over.var_files.iter(), found));
    let depends_on = all("depends_on", &mut own.depends_on.iter().chain(&over.depends_on), found);
    let ignore_inferred = all("ignore_inferred", &mut own.ignore_inferred.iter().chain(&over.ignore_inferred), found);
    let chosen = [over.environment.as_ref(), own.environment.as_ref(), root.environment(path, &instance.name)];
    let environment = chosen
        .into_iter()
        .flatten()
        .find_map(|text| render(tree, &fields, text, "environment", found).filter(|name| !name.trim().is_empty()));
    let env = environ(tree, &fields, [&root.env, &own.env, &over.env], found);
    let mut settled = Settled {
        unmapped: environment.is_none() && instance.name.is_empty(),
        environment: environment.unwrap_or_else(|| match instance.name.as_str() {
            "" => "default".to_owned(),
            name => name.to_owned(),
        }),
        tool: tool(tree, own, place.code.tofu),
        tool_version: own.tool_version.clone().unwrap_or_else(|| root.tool_version.clone()),
        plan_output: [&over.plan_output, &own.plan_output]
            .into_iter()
            .flatten()
            .next()
            .unwrap_or(&root.plan_output)
            .clone(),
        config: Config {
            backend_config: settings.iter().map(|text| text.text.clone()).collect(),
            var_files: var_files.iter().map(|text| text.text.clone()).collect(),
            env,
            allowed_teams: [&over.allowed_teams, &own.allowed_teams, &root.allowed_teams]
                .into_iter()
                .find(|teams| !teams.is_empty())
                .cloned()
                .unwrap_or_default(),
        },
        backend: place.code.backend.as_ref().map(|kept| (kept.what.kind.clone(), kept.what.settings.clone())),
        key: key.clone(),
        path: path.to_owned(),
        instance: instance.name.clone(),
        workspace,
        depends_on,
        ignore_inferred,
        reads: BTreeSet::new(),
    };
    overlay(tree, &mut settled, &settings, found);
    var_reads(tree, &mut settled, &var_files, found);
    (found.problems.len() == problems).then_some(settled)
}

/// The tool: what is written, else the one that the code is for.
pub fn tool(tree: &Tree, own: &Own, tofu: bool) -> String {
    let written = own.tool.clone().or_else(|| tree.root.tool.clone());
    written.unwrap_or_else(|| if tofu { "tofu" } else { "terraform" }.to_owned())
}

/// The variables of the environment: for each name the most specific file's value counts, whole.
fn environ(tree: &Tree, fields: &Fields, levels: [&Vec<Variable>; 3], found: &mut Found) -> BTreeMap<String, Env> {
    let mut env = BTreeMap::new();
    for variable in levels.into_iter().flatten() {
        env.insert(variable.name.as_str(), variable);
    }
    let mut out = BTreeMap::new();
    for (name, variable) in env {
        let mut of = |text: &Option<Text>| text.as_ref().and_then(|text| render(tree, fields, text, "env", found));
        let env = Env { plan: of(&variable.plan), apply: of(&variable.apply), drift: of(&variable.drift) };
        out.insert(name.to_owned(), env);
    }
    out
}

/// Lays what `backend_config` says over the code's own settings.
fn overlay(tree: &Tree, settled: &mut Settled, entries: &[Text], found: &mut Found) {
    for entry in entries {
        let (name, value) = match entry.text.split_once('=') {
            Some((name, value)) => (name.trim(), value.trim()),
            None => {
                file(tree, settled, entry, found);
                continue;
            }
        };
        if let Some((_, settings)) = &mut settled.backend {
            settings.insert(name.to_owned(), Literal::Text(value.to_owned()));
        }
    }
}

/// Reads a file of settings of a backend.
fn file(tree: &Tree, settled: &mut Settled, entry: &Text, found: &mut Found) {
    let Some(path) = key::clean(&entry.text).filter(|path| !path.is_empty()) else {
        let what = format!("`backend_config` of stack `{}` names `{}`", settled.key, entry.text);
        return found.fail(tree, what, Some(&entry.at), "expected a file below the root, or `name=value`");
    };
    settled.reads.insert(path.clone());
    let read = tree.config(&path).map_err(|problem| vec![problem]).and_then(|bytes| {
        let text: Arc<str> = Arc::from(String::from_utf8_lossy(&bytes).into_owned());
        hcl::settings(&tree.files.shown(&path), text)
    });
    match read {
        Ok(more) => {
            for (name, value) in more {
                if value == Literal::Computed {
                    let message = format!("`{name}` of `{path}` is computed, so nobody knows it here");
                    found.warn(Word::BackendDynamic, format!("{path}: {name}"), message, None);
                } else if let Some((_, settings)) = &mut settled.backend {
                    settings.insert(name, value);
                }
            }
        }
        Err(_) if tree.files.mark(&path).is_none() && tree.listing.file(&path).is_none() => {
            let what = format!("`backend_config` of stack `{}` names `{path}`, and there is no such file", settled.key);
            found.fail(tree, what, Some(&entry.at), "expected a file below the root, or `name=value`");
        }
        Err(problems) => found.problems.extend(problems),
    }
}

/// Finds the files of values that a stack names.
fn var_reads(tree: &Tree, settled: &mut Settled, files: &[Text], found: &mut Found) {
    for text in files {
        let at = Some(text.at.clone()).filter(|at| !at.file.is_empty());
        let Some(path) = key::beside(&settled.path, &text.text) else {
            let message =
                format!("`{}` of stack `{}` is outside the tree; a change of it is not seen", text.text, settled.key);
            found.warn(Word::VarFileOutside, &text.text, message, at);
            continue;
        };
        if tree.memo.enter(&tree.files, tree.listing, &path).is_err() {
            let message = format!("stack `{}` names the file `{path}`, and there is none", settled.key);
            found.warn(Word::VarFileMissing, &path, message, at.clone());
        }
        settled.reads.insert(path);
    }
}
