//! The order of modules: a dependency before its dependant, otherwise as listed.

use crate::base::{Place, Problem, Problems, nearest::nearest};
use std::collections::{BTreeMap, HashSet};

/// Which modules each module requires, with the place of every name.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    requires: BTreeMap<String, Vec<(String, Place)>>,
}

impl Graph {
    /// Adds a module and what its `requires.yaml` names, in that order.
    pub fn add(&mut self, module: impl Into<String>, requires: Vec<(String, Place)>) {
        self.requires.insert(module.into(), requires);
    }

    pub fn has(&self, module: &str) -> bool {
        self.requires.contains_key(module)
    }

    /// The names of all modules, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.requires.keys().map(String::as_str)
    }

    /// What `module` requires, as listed.
    pub fn requires(&self, module: &str) -> impl Iterator<Item = &str> {
        self.edges(module).iter().map(|(name, _)| name.as_str())
    }

    fn edges(&self, module: &str) -> &[(String, Place)] {
        self.requires.get(module).map_or(&[], Vec::as_slice)
    }

    /// Finds names that are no module, and every cycle once.
    pub fn problems(&self) -> Problems {
        let mut problems = Vec::new();
        for (module, requires) in &self.requires {
            for (name, place) in requires.iter().filter(|(name, _)| !self.has(name)) {
                let problem = Problem::new(format!("module `{module}` requires `{name}`, which does not exist"));
                problems.push(self.guess(problem, name).at(*place).expected("expected the name of a module"));
            }
        }
        let mut done = HashSet::new();
        for module in self.requires.keys() {
            problems.extend(self.cycles_from(module, &mut done));
        }
        problems
    }

    /// Adds "did you mean" where a module has nearly this name.
    pub fn guess(&self, problem: Problem, name: &str) -> Problem {
        match nearest(name, self.names()) {
            Some(near) => {
                problem.help(format!("did you mean `{near}`? `suil modules` lists all {}", self.requires.len()))
            }
            None => problem.help(format!("`suil modules` lists all {}", self.requires.len())),
        }
    }

    fn cycles_from<'a>(&'a self, start: &'a str, done: &mut HashSet<&'a str>) -> Problems {
        let mut problems = Vec::new();
        let mut trail: Vec<(&str, usize)> = vec![(start, 0)];
        while let Some(top) = trail.last_mut() {
            let (module, next) = *top;
            top.1 += 1;
            if done.contains(module) {
                trail.pop();
                continue;
            }
            let Some((name, place)) = self.edges(module).get(next) else {
                done.insert(module);
                trail.pop();
                continue;
            };
            if let Some(from) = trail.iter().position(|(other, _)| other == name) {
                let path: Vec<&str> = trail.iter().skip(from).map(|(other, _)| *other).chain([name.as_str()]).collect();
                let what = format!("modules require each other in a cycle: {}", path.join(" -> "));
                problems.push(Problem::new(what).at(*place).help("remove one of these from its `requires`"));
            } else if let Some((name, _)) = self.requires.get_key_value(name) {
                trail.push((name, 0));
            }
        }
        problems
    }

    /// Returns `listed` and all that they require, each once, a dependency before its dependant. Names that are no
    /// module keep their position; a cycle, which [`Graph::problems`] reports, is cut where it closes.
    pub fn order(&self, listed: &[String]) -> Vec<String> {
        let mut order = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        for module in listed {
            let mut trail: Vec<(&str, usize)> = Vec::new();
            if seen.insert(module) {
                trail.push((module, 0));
            }
            while let Some(top) = trail.last_mut() {
                let (module, next) = *top;
                top.1 += 1;
                match self.edges(module).get(next) {
                    Some((name, _)) if seen.insert(name) => trail.push((name, 0)),
                    Some(_) => {}
                    None => {
                        order.push(module.to_owned());
                        trail.pop();
                    }
                }
            }
        }
        order
    }
}

/// Returns `listed` with each name once, at its first mention.
pub fn once(listed: &[String]) -> Vec<String> {
    let mut seen = HashSet::new();
    listed.iter().filter(|name| seen.insert(name.as_str())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::FileId;

    fn graph(edges: &[(&str, &[&str])]) -> Graph {
        let place = Place::start(FileId::new("modules/x/requires.yaml", ""));
        let mut graph = Graph::default();
        for (module, requires) in edges {
            graph.add(*module, requires.iter().map(|name| ((*name).to_owned(), place)).collect());
        }
        graph
    }

    fn order(graph: &Graph, listed: &[&str]) -> String {
        graph.order(&listed.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).join(" ")
    }

    #[test]
    fn a_dependency_comes_before_its_dependant_and_lists_keep_their_order() {
        let graph = graph(&[("web", &["tls", "net"]), ("tls", &["time"]), ("db", &["net", "disk"])]);
        assert_eq!(order(&graph, &["web", "db"]), "time tls net web disk db");
        assert_eq!(order(&graph, &["db", "web", "db"]), "net disk db time tls web");
    }

    #[test]
    fn a_cycle_is_spelled_once_and_closed() {
        let found: Vec<String> = graph(&[("a", &["c"]), ("b", &["c"]), ("c", &["b"]), ("d", &["d"])])
            .problems()
            .into_iter()
            .map(|p| p.what)
            .collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].ends_with(": c -> b -> c") && found[1].ends_with(": d -> d"), "{found:?}");
    }

    #[test]
    fn a_long_chain_and_a_cycle_do_not_end_in_the_stack() {
        let names: Vec<String> = (0..100_000).map(|n| n.to_string()).collect();
        let place = Place::start(FileId::new("x", ""));
        let mut graph = Graph::default();
        for (n, name) in names.iter().enumerate() {
            graph.add(name, names.get(n + 1).map(|next| (next.clone(), place)).into_iter().collect());
        }
        assert_eq!(graph.order(&names[..1]).len(), names.len());
    }
}
