//! The order of roles: `after` in role files.

use super::files::keep;
use super::workspace::Workspace;
use crate::base::{Place, Problem, Problems, Result, nearest::nearest, problem};
use std::collections::{BTreeMap, BTreeSet};

/// For each role, all roles that come before it, near and far.
#[derive(Clone, Default, Debug)]
pub struct Sequence {
    before: BTreeMap<String, BTreeSet<String>>,
}

impl Sequence {
    /// The roles that come before `role`, near and far.
    pub fn before(&self, role: &str) -> impl Iterator<Item = &str> {
        self.before.get(role).into_iter().flatten().map(String::as_str)
    }
}

impl FromIterator<(String, BTreeSet<String>)> for Sequence {
    /// Takes for each role all that come before it, near and far.
    fn from_iter<T: IntoIterator<Item = (String, BTreeSet<String>)>>(before: T) -> Sequence {
        Sequence { before: before.into_iter().collect() }
    }
}

impl Workspace {
    /// The order of these roles. Roles that only stand between two of them count as well.
    ///
    /// # Errors
    /// Every `after` that names no role or the role itself, and every cycle.
    pub fn sequence<'a>(&self, roles: impl IntoIterator<Item = &'a str>) -> Result<Sequence> {
        let mut edges = Edges::new();
        let mut problems = Problems::new();
        let mut open: Vec<String> = roles.into_iter().map(str::to_owned).collect();
        while let Some(role) = open.pop() {
            if edges.contains_key(&role) {
                continue;
            }
            let found = keep(self.after(&role), &mut problems).unwrap_or_default();
            open.extend(found.iter().map(|(name, _)| name.clone()));
            edges.insert(role, found);
        }
        problems.extend(cycles(&edges));
        problem::sort(&mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(edges.keys().map(|role| (role.clone(), all_before(&edges, role))).collect())
    }

    /// What `after` of a role names, each a role of the workspace, with the place of the name.
    fn after(&self, role: &str) -> Result<Vec<(String, Place)>> {
        let Some(layer) = self.role_layer_of(role)? else { return Ok(Vec::new()) };
        let Some(member) = layer.whole.get("after") else { return Ok(Vec::new()) };
        let names = super::list::names("after", &member.value)?;
        let known: BTreeSet<&str> = self.role_names()?.collect();
        let mut problems = Problems::new();
        for (other, place) in &names {
            let problem = if other == role {
                Problem::new(format!("role `{role}` comes after itself"))
                    .expected("expected another role")
                    .help("remove it from `after`")
            } else if !known.contains(other.as_str()) {
                let what = format!("role `{role}` comes after `{other}`, which does not exist");
                let problem = Problem::new(what).expected("expected the name of a role");
                match nearest(other, known.iter().copied()) {
                    Some(near) => problem.help(format!("did you mean `{near}`?")),
                    None => problem.help("`suil roles` lists all"),
                }
            } else {
                continue;
            };
            problems.push(problem.at(*place));
        }
        if problems.is_empty() { Ok(names) } else { Err(problems) }
    }
}

/// What each role names in `after`.
type Edges = BTreeMap<String, Vec<(String, Place)>>;

fn all_before(edges: &Edges, role: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![role];
    while let Some(role) = open.pop() {
        for (name, _) in edges.get(role).into_iter().flatten() {
            if found.insert(name.clone()) {
                open.push(name);
            }
        }
    }
    found
}

/// Every cycle once, spelled out.
fn cycles(edges: &Edges) -> Problems {
    let mut problems = Problems::new();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for start in edges.keys() {
        let mut trail: Vec<(&str, usize)> = vec![(start, 0)];
        while let Some(top) = trail.last_mut() {
            let (role, next) = *top;
            top.1 += 1;
            let edge = if done.contains(role) { None } else { edges.get(role).and_then(|names| names.get(next)) };
            let Some((name, place)) = edge else {
                done.insert(role);
                trail.pop();
                continue;
            };
            match trail.iter().position(|(other, _)| other == name) {
                Some(from) => {
                    let roles = trail.iter().skip(from).map(|(role, _)| *role).chain([name.as_str()]);
                    let what =
                        format!("roles come after each other in a cycle: {}", roles.collect::<Vec<_>>().join(" -> "));
                    problems.push(Problem::new(what).at(*place).help("remove one of these from its `after`"));
                }
                None => trail.push((name, 0)),
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn workspace(roles: &[(&str, &str)]) -> (tempfile::TempDir, Workspace) {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = folder.path().join("data").join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
            fs::write(path, text).expect("a file");
        };
        write("common.yaml", "hierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n");
        for (role, after) in roles {
            write(&format!("roles/{role}.yaml"), &format!("modules: []\nafter: [{after}]\n"));
        }
        let workspace = Workspace::open(folder.path()).expect("a workspace");
        (folder, workspace)
    }

    fn words(problems: Problems) -> Vec<String> {
        problems.iter().map(|p| format!("{}: {}", p.place.expect("a place"), p.what)).collect()
    }

    #[test]
    fn a_role_that_is_not_selected_still_stands_between_two() {
        let (_folder, workspace) = workspace(&[("db", ""), ("app", "db"), ("web", "app"), ("log", "")]);
        let sequence = workspace.sequence(["web", "db", "log"]).expect("a sequence");
        assert_eq!(sequence.before("web").collect::<Vec<_>>(), ["app", "db"]);
        assert_eq!(sequence.before("log").count(), 0);
    }

    #[test]
    fn unknown_roles_the_role_itself_and_cycles_are_told_with_their_places() {
        let (_folder, workspace) = workspace(&[("a", "c"), ("b", "a"), ("c", "b"), ("me", "me"), ("x", "bb, zebra")]);
        let problems = workspace.sequence(["a", "me", "x"]).expect_err("problems");
        assert_eq!(problems[2].help.as_deref(), Some("did you mean `b`?"));
        let want = [
            "data/roles/b.yaml:2:9: roles come after each other in a cycle: a -> c -> b -> a",
            "data/roles/me.yaml:2:9: role `me` comes after itself",
            "data/roles/x.yaml:2:9: role `x` comes after `bb`, which does not exist",
            "data/roles/x.yaml:2:13: role `x` comes after `zebra`, which does not exist",
        ];
        assert_eq!(words(problems), want);
    }
}
