//! The stacks that a change touches: a pure function of a graph and a list of paths.

use super::glob::Glob;
use super::links;
use super::net::Net;
use super::order::Order;
use super::{Affected, Cell, Code, Graph, Kind, Loose, Matrix, Need, Origin, Reason, Stack, Touched, Warning, key};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What is asked of a graph.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Changed paths, seen from the root; a rename is two.
    pub changed: Vec<String>,
    /// Only these stacks are run; no restriction where all are blank.
    pub requested: Vec<String>,
}

/// Finds the stacks that a change touches, why, and their waves.
pub fn affected(graph: &Graph, query: &Query) -> Affected {
    affected_with(graph, query, &[])
}

/// The same, where host data differs that the templates of some layers read; `told` are their keys.
pub fn affected_with(graph: &Graph, query: &Query, told: &[String]) -> Affected {
    let order = Order::new(graph);
    marked(graph, &order, &query.changed, told).scheduled(&order, &query.requested)
}

/// Steps 1 to 3.
fn marked<'a>(graph: &'a Graph, order: &Order, changed: &[String], told: &[String]) -> Marks<'a> {
    let mut marks = Marks::new(graph);
    marks.paths(changed);
    let told: HashSet<&str> = told.iter().map(String::as_str).collect();
    for (number, _) in graph.stacks.iter().enumerate().filter(|(_, stack)| told.contains(stack.key.as_str())) {
        marks.mark(number, Reason::HostData);
    }
    marks.modules();
    if graph.policy.dependents {
        marks.dependents(order);
    }
    marks
}

/// The first path that touches each stack and each module itself, by key.
pub(super) fn touched_by(graph: &Graph, changed: &[String]) -> HashMap<String, String> {
    let mut marks = Marks::new(graph);
    marks.paths(changed);
    marks.touched_by.into_iter().map(|(key, path)| (key.to_owned(), path)).collect()
}

/// What is found out, by the numbers of stacks.
struct Marks<'a> {
    graph: &'a Graph,
    reasons: Vec<BTreeSet<Reason>>,
    via: Vec<BTreeSet<&'a str>>,
    /// The keys of the local modules with a change in them.
    changed: BTreeSet<&'a str>,
    /// The first path that touches a stack or a module itself, by key.
    touched_by: HashMap<&'a str, String>,
    warnings: Vec<Warning>,
}

impl<'a> Marks<'a> {
    fn new(graph: &'a Graph) -> Marks<'a> {
        let count = graph.stacks.len();
        Marks {
            graph,
            reasons: vec![BTreeSet::new(); count],
            via: vec![BTreeSet::new(); count],
            changed: BTreeSet::new(),
            touched_by: HashMap::new(),
            warnings: Vec::new(),
        }
    }

    fn mark(&mut self, stack: usize, reason: Reason) {
        if let Some(reasons) = self.reasons.get_mut(stack) {
            reasons.insert(reason);
        }
    }

    fn came_by(&mut self, stack: usize, key: &'a str) {
        if let Some(via) = self.via.get_mut(stack) {
            via.insert(key);
        }
    }

    fn is_marked(&self, stack: usize) -> bool {
        self.reasons.get(stack).is_some_and(|reasons| !reasons.is_empty())
    }

    fn warn(&mut self, code: Code, subject: &str, message: String) {
        self.warnings.push(Warning { code, subject: subject.to_owned(), message, at: None });
    }

    /// Step 1: what the paths touch themselves.
    fn paths(&mut self, changed: &[String]) {
        let graph = self.graph;
        let ignored: Vec<Glob> = graph.policy.ignore.iter().filter_map(|pattern| Glob::new(pattern).ok()).collect();
        let own = |stack: &&(usize, &Stack)| !stack.1.external;
        let numbered: Vec<(usize, &Stack)> = graph.stacks.iter().enumerate().collect();
        let mut folders: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut watched: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let names = links::Names::new(&graph.links);
        for (number, stack) in numbered.iter().filter(own) {
            // What stands in the folder of a layer is that layer's alone; the rest of its stack is every layer's.
            if let Some(own) = &stack.layer {
                folders.entry(own).or_default().push(*number);
                // A layer that is gone leaves nothing to the others.
                folders.entry(key::folder(own)).or_default();
            }
            folders.entry(stack.path.as_str()).or_default().push(*number);
            stack.watch_paths.iter().for_each(|path| watched.entry(path.as_str()).or_default().push(*number));
        }
        let locals = graph.modules.iter().filter(|module| module.kind == Origin::Local);
        let modules: BTreeMap<&str, &str> = locals.map(|module| (module.path.as_str(), module.key.as_str())).collect();
        let waiting = Waiting::new(graph);
        let mut told = HashSet::new();
        for path in changed {
            let Some(clean) = key::clean(path) else {
                if told.insert(path.clone()) {
                    self.unclaimed(path);
                }
                continue;
            };
            let dropped = clean.is_empty()
                || clean.split('/').any(|name| name == ".terraform")
                || ignored.iter().any(|glob| glob.matches(&clean));
            if dropped || !told.insert(clean.clone()) {
                continue;
            }
            let mut claimed = false;
            let others = names.of(&clean).into_iter().filter(|name| !ignored.iter().any(|glob| glob.matches(name)));
            for name in std::iter::once(clean.clone()).chain(others) {
                let stacks = key::ancestors(&name).find_map(|folder| folders.get(folder)).filter(|all| !all.is_empty());
                self.mark_all(stacks.into_iter().flatten().copied(), Reason::Changed, &clean);
                let readers = watched.get(name.as_str()).into_iter().flatten().copied();
                let readers: BTreeSet<usize> = readers.chain(waiting.of(&name)).collect();
                claimed |= stacks.is_some() || !readers.is_empty();
                self.mark_all(readers, Reason::WatchPath, &clean);
                let module = key::ancestors(&name).find_map(|folder| modules.get(folder)).or_else(|| modules.get(""));
                claimed |= module.is_some();
                self.changed.extend(module);
                self.touch(module.copied(), &clean);
            }
            if claimed {
                continue;
            }
            // A folder that is listed as one is a submodule: all that stands in it may differ.
            let stacks: Vec<usize> = links::inside(&folders, &clean).into_iter().flatten().copied().collect();
            let within: Vec<&str> = links::inside(&modules, &clean).into_iter().copied().collect();
            let readers: Vec<usize> = links::inside(&watched, &clean).into_iter().flatten().copied().collect();
            if stacks.is_empty() && within.is_empty() && readers.is_empty() {
                self.unclaimed(&clean);
            }
            self.mark_all(stacks, Reason::Changed, &clean);
            self.mark_all(readers, Reason::WatchPath, &clean);
            within.iter().for_each(|key| self.touch(Some(key), &clean));
            self.changed.extend(within);
        }
    }

    /// Marks stacks that `path` touches.
    fn mark_all(&mut self, stacks: impl IntoIterator<Item = usize>, reason: Reason, path: &str) {
        let graph = self.graph;
        for number in stacks {
            self.mark(number, reason);
            self.touch(graph.stacks.get(number).map(|stack| stack.key.as_str()), path);
        }
    }

    fn touch(&mut self, key: Option<&'a str>, path: &str) {
        if let Some(key) = key {
            self.touched_by.entry(key).or_insert_with(|| path.to_owned());
        }
    }

    fn unclaimed(&mut self, path: &str) {
        self.warn(Code::UnclaimedPath, path, format!("changed path `{path}` is inside no stack or module"));
    }

    /// Step 2: the stacks that reach a changed module.
    fn modules(&mut self) {
        if self.changed.is_empty() {
            return;
        }
        let graph = self.graph;
        let mut users: HashMap<&str, Vec<&super::Node>> = HashMap::new();
        for edge in graph.edges.iter().filter(|edge| edge.kind == Need::UsesModule) {
            users.entry(&edge.to.key).or_default().push(&edge.from);
        }
        let numbers: HashMap<&str, usize> =
            graph.stacks.iter().enumerate().map(|(number, stack)| (stack.key.as_str(), number)).collect();
        // Every module from which a changed one is reached.
        let mut reached: BTreeSet<&str> = self.changed.clone();
        let mut open: Vec<&str> = reached.iter().copied().collect();
        let mut touched = BTreeSet::new();
        while let Some(module) = open.pop() {
            for user in users.get(module).into_iter().flatten() {
                match user.kind {
                    Kind::Module => {
                        if reached.insert(&user.key) {
                            open.push(&user.key);
                        }
                    }
                    Kind::Stack => touched.extend(numbers.get(user.key.as_str())),
                    Kind::Node => {}
                }
            }
        }
        // On the ways of a stack lie those of them that it reaches through them.
        let uses = self.uses(&reached);
        let mut below: HashMap<&str, BTreeSet<&'a str>> = HashMap::new();
        for number in touched {
            let Some(stack) = graph.stacks.get(number) else { continue };
            self.mark(number, Reason::Module);
            let first = uses.get(stack.key.as_str()).cloned().unwrap_or_default();
            for module in first {
                let ways = below.entry(module).or_insert_with(|| closure(module, &uses));
                for key in ways.clone() {
                    self.came_by(number, key);
                }
            }
        }
    }

    /// Who uses which of `reached`, by key.
    fn uses(&self, reached: &BTreeSet<&str>) -> HashMap<&'a str, Vec<&'a str>> {
        let mut uses: HashMap<&str, Vec<&str>> = HashMap::new();
        for edge in self.graph.edges.iter().filter(|edge| edge.kind == Need::UsesModule) {
            if reached.contains(edge.to.key.as_str()) {
                uses.entry(&edge.from.key).or_default().push(&edge.to.key);
            }
        }
        uses
    }

    /// Step 3: what depends on anything that is marked.
    fn dependents(&mut self, order: &Order) {
        let graph = self.graph;
        let external = |number: usize| graph.stacks.get(number).is_none_or(|stack| stack.external);
        let needed = order.net.turned();
        let mut open: Vec<usize> =
            (0..graph.stacks.len()).filter(|number| self.is_marked(*number) && !external(*number)).collect();
        let mut seen: HashSet<usize> = open.iter().copied().collect();
        while let Some(to) = open.pop() {
            for &from in needed.needs(to).iter().filter(|from| !external(**from)) {
                for need in order.needs.get(&(from, to)).into_iter().flatten() {
                    match need {
                        Need::ReadsState => self.mark(from, Reason::ReadsState),
                        _ => self.mark(from, Reason::Dependent),
                    }
                }
                if let Some(stack) = graph.stacks.get(to) {
                    self.came_by(from, &stack.key);
                }
                if seen.insert(from) {
                    open.push(from);
                }
            }
        }
    }

    /// Step 4: what is run, and in which order.
    fn scheduled(mut self, order: &Order, requested: &[String]) -> Affected {
        let graph = self.graph;
        let wanted = self.wanted(order, requested);
        let marked: Vec<bool> = (0..graph.stacks.len()).map(|number| self.is_marked(number)).collect();
        if let Some(wanted) = &wanted {
            for number in wanted.iter().filter(|number| !marked.get(**number).copied().unwrap_or(false)) {
                self.mark(*number, Reason::Requested);
            }
        }
        let chosen: BTreeSet<usize> = match &wanted {
            Some(wanted) => wanted.clone(),
            None => (0..graph.stacks.len()).filter(|number| self.is_marked(*number)).collect(),
        };
        // What is left out but affected still carries the order; what is not affected does not.
        let net = order.net.only(|number| self.is_marked(number));
        let cycles = order.named(&net.cycles());
        let levels = match cycles.is_empty() {
            true => net.levels(|number| chosen.contains(&number)),
            false => vec![0; graph.stacks.len()],
        };
        let mut touched: Vec<Touched> = chosen
            .iter()
            .filter_map(|number| {
                let stack = graph.stacks.get(*number)?;
                Some(self.touched(stack, *number, levels.get(*number).copied().unwrap_or(0)))
            })
            .collect();
        touched.sort_by(|a, b| (a.wave, &a.key).cmp(&(b.wave, &b.key)));
        let loose = if cycles.is_empty() { loose(order, &net, &chosen) } else { Vec::new() };
        for number in &chosen {
            if let Some(stack) = graph.stacks.get(*number).filter(|stack| stack.unmapped) {
                let message =
                    format!("stack {} has no environment mapping; it runs under environment \"default\"", stack.key);
                self.warn(Code::UnmappedEnvironment, &stack.key, message);
            }
        }
        self.warnings.sort();
        let (waves, include) = match cycles.is_empty() {
            true => (waves(&touched), touched.iter().map(|touched| cell(graph, touched)).collect()),
            false => (Vec::new(), Vec::new()),
        };
        Affected {
            external: self.external(order, &chosen),
            affected: touched,
            waves,
            matrix: Matrix { include },
            warnings: self.warnings,
            cycles,
            removed: Vec::new(),
            loose,
            cached: false,
        }
    }

    /// The numbers of the requested stacks; `None` for no restriction.
    fn wanted(&mut self, order: &Order, requested: &[String]) -> Option<BTreeSet<usize>> {
        let named: Vec<&str> = requested.iter().map(|name| name.trim()).filter(|name| !name.is_empty()).collect();
        if named.is_empty() {
            return None;
        }
        let mut wanted = BTreeSet::new();
        for name in named {
            let key = self.named(name);
            let number = order.number(&key).or_else(|| order.number(name));
            match number.and_then(|number| Some((number, self.graph.stacks.get(number)?))) {
                Some((_, stack)) if stack.external => {
                    let message =
                        format!("requested stack `{}` stands in another repository; it is not run", stack.key);
                    self.warn(Code::RequestedExternal, &stack.key, message);
                }
                Some((number, _)) => {
                    wanted.insert(number);
                }
                None => self.warn(Code::RequestedUnknown, &key, format!("there is no stack `{key}`")),
            }
        }
        Some(wanted)
    }

    /// A key as the graph has it.
    fn named(&self, name: &str) -> String {
        let own = |repo: &str| key::same_repo(repo, &self.graph.repo);
        let (repo, rest) = match key::qualified(name) {
            Some((repo, rest)) if !own(repo) => (Some(repo), rest),
            Some((_, rest)) => (None, rest),
            None => (None, name),
        };
        let (path, instance) = key::split(rest);
        let key = key::key(&key::clean(path).unwrap_or_else(|| path.to_owned()), instance);
        repo.map_or(key.clone(), |repo| format!("{repo}//{key}"))
    }

    fn touched(&self, stack: &Stack, number: usize, wave: usize) -> Touched {
        Touched {
            key: stack.key.clone(),
            path: stack.path.clone(),
            instance: stack.instance.clone(),
            workspace: stack.workspace.clone(),
            wave,
            reasons: self.reasons.get(number).into_iter().flatten().copied().collect(),
            environment: stack.environment.clone(),
            tool: stack.tool.clone(),
            tool_version: stack.tool_version.clone(),
            plan_output: stack.plan_output.clone(),
            via: self.via.get(number).into_iter().flatten().map(|key| (*key).to_owned()).collect(),
            locked_by: None,
        }
    }

    /// Stacks of other repositories that need one that is run.
    fn external(&self, order: &Order, chosen: &BTreeSet<usize>) -> Vec<String> {
        let strangers = self.graph.stacks.iter().enumerate().filter(|(_, stack)| stack.external);
        let needs = |number: usize| order.net.needs(number).iter().any(|to| chosen.contains(to));
        strangers.filter(|(number, _)| needs(*number)).map(|(_, stack)| stack.key.clone()).collect()
    }
}

/// The patterns of files that layers would read if they were there, each asked once for all layers that have it.
struct Waiting(Vec<(Glob, BTreeSet<usize>)>);

impl Waiting {
    fn new(graph: &Graph) -> Waiting {
        let mut all: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for (number, stack) in graph.stacks.iter().enumerate() {
            stack.watch_globs.iter().for_each(|glob| {
                all.entry(glob).or_default().insert(number);
            });
        }
        let globs = all.into_iter().filter_map(|(glob, stacks)| Some((Glob::new(glob).ok()?, stacks)));
        Waiting(globs.collect())
    }

    fn of(&self, path: &str) -> impl Iterator<Item = usize> {
        self.0.iter().filter(|(glob, _)| glob.matches(path)).flat_map(|(_, stacks)| stacks.iter().copied())
    }
}

/// What is reached from `start`, itself included.
fn closure<'a>(start: &'a str, uses: &HashMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::from([start]);
    let mut open = vec![start];
    while let Some(module) = open.pop() {
        for to in uses.get(module).into_iter().flatten() {
            if seen.insert(*to) {
                open.push(to);
            }
        }
    }
    seen
}

fn waves(touched: &[Touched]) -> Vec<Vec<String>> {
    let mut waves: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for one in touched {
        waves.entry(one.wave).or_default().push(one.key.clone());
    }
    waves.into_values().collect()
}

fn cell(graph: &Graph, touched: &Touched) -> Cell {
    Cell {
        stack: touched.path.clone(),
        key: touched.key.clone(),
        instance: touched.instance.clone(),
        workspace: touched.workspace.clone(),
        environment: touched.environment.clone(),
        wave: touched.wave,
        tool: touched.tool.clone(),
        tool_version: touched.tool_version.clone(),
        plan_output: touched.plan_output.clone(),
        sha: graph.sha.clone().unwrap_or_else(|| "local".to_owned()),
    }
}

/// The pairs that the whole graph orders, and the scheduled part of it does not.
fn loose(order: &Order, net: &Net, chosen: &BTreeSet<usize>) -> Vec<Loose> {
    let within = |number: usize| chosen.contains(&number);
    let (all, kept) = (order.net.nearest(within), net.nearest(within));
    let kept =
        Net::new(order.net.size(), kept.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |to| (from, *to))));
    let mut found = Vec::new();
    for from in chosen {
        let near = all.get(*from).into_iter().flatten();
        let lost: Vec<usize> = near.copied().filter(|to| kept.needs(*from).binary_search(to).is_err()).collect();
        if lost.is_empty() {
            continue;
        }
        let beyond = kept.beyond(*from);
        let lost = lost.into_iter().filter(|to| !beyond.contains(to));
        found.extend(lost.map(|to| Loose { from: order.key(*from).to_owned(), to: order.key(to).to_owned() }));
    }
    found.sort();
    found
}
