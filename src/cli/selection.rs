//! Which nodes and modules a command is about.

use super::failed;
use super::impact::{Comparison, Past};
use super::load::Loaded;
use crate::base::{Problem, Problems, nearest::nearest};
use crate::catalogue;
use crate::data::tree::Repository;
use crate::ui;
use clap::Args;

/// The nodes and modules of a run. Where neither role nor node is named, a command that only reads takes all nodes.
#[derive(Args, Clone, Debug, Default)]
pub struct Selection {
    /// Take the nodes of this role; a glob takes all roles that match
    #[arg(short, long = "role", value_name = "ROLE", num_args = 1.., help_heading = "Selection")]
    pub roles: Vec<String>,
    /// Take this node; a glob takes all nodes that match
    #[arg(short, long = "node", value_name = "NODE", num_args = 1.., help_heading = "Selection")]
    pub nodes: Vec<String>,
    /// Take only this module of each node
    #[arg(short, long = "module", value_name = "MODULE", num_args = 1.., help_heading = "Selection")]
    pub modules: Vec<String>,
    /// Take the nodes that the last apply left failed, in doubt or not reached
    #[arg(long, help_heading = "Selection")]
    pub failed: bool,
    /// Take the nodes that differ from this git revision, as `suil diff` tells
    #[arg(long, value_name = "REV", help_heading = "Selection")]
    pub affected: Option<String>,
}

impl Selection {
    /// True where no node was asked for.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty() && self.nodes.is_empty() && !self.failed && self.affected.is_none()
    }

    /// The nodes, as the catalogue selects them.
    ///
    /// # Errors
    /// As for [`failed::narrow`], where that was asked for. A revision that there is not, or one of the two workspaces
    /// that is broken. Where no node is affected the one problem is a warning, so that suil says it and exits 0.
    pub fn of_nodes(&self, loaded: &Loaded) -> Result<catalogue::Selection, Problems> {
        let named = match self.failed {
            true => failed::narrow(self, loaded)?,
            false => catalogue::Selection { roles: self.roles.clone(), nodes: self.nodes.clone() },
        };
        match &self.affected {
            None => Ok(named),
            Some(revision) => affected(loaded, revision, &named),
        }
    }

    /// True where the module is asked for.
    pub fn has_module(&self, name: &str) -> bool {
        self.modules.is_empty() || self.modules.iter().any(|m| m == name)
    }

    /// Every module asked for must be on one of the selected nodes: nobody should believe that a module was applied
    /// because its name was misspelt.
    ///
    /// # Errors
    /// One problem for each module that is on none.
    pub fn check_modules<'a>(&self, on_nodes: impl IntoIterator<Item = &'a str> + Clone) -> Result<(), Problems> {
        let missing = |name: &&String| !on_nodes.clone().into_iter().any(|m| m == name.as_str());
        let problem = |name: &String| {
            let problem = Problem::new(format!("no selected node has the module `{name}`"));
            match nearest(name, on_nodes.clone()) {
                Some(guess) => problem.help(format!("did you mean `{guess}`?")),
                None => problem.help("`suil roles` lists the modules of each role"),
            }
        };
        let problems: Problems = self.modules.iter().filter(missing).map(problem).collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// The nodes among `named` that differ from a revision and are still there.
fn affected(loaded: &Loaded, revision: &str, named: &catalogue::Selection) -> Result<catalogue::Selection, Problems> {
    let repository = Repository::find(loaded.workspace.root())?;
    let past = Past::open(loaded, &repository, revision)?;
    let comparison = Comparison::new(loaded, past.version(), loaded.version(), named)?;
    let (there, gone): (Vec<_>, Vec<_>) = comparison.touched().partition(|node| node.impact.after.is_some());
    if !gone.is_empty() {
        let names: Vec<String> = gone.iter().map(|node| format!("`{}`", node.impact.node)).collect();
        let what = format!(
            "{} gone since `{revision}`: {}",
            if gone.len() == 1 { "a node is" } else { "nodes are" },
            names.join(", ")
        );
        ui::warn(&[Problem::warning(what).note("what is not in the data any more cannot be selected")], &loaded.mask);
    }
    if there.is_empty() {
        return Err(Problem::warning(format!("nothing affected since `{revision}`")).into());
    }
    Ok(catalogue::Selection::names(there.iter().map(|node| node.impact.node.as_str())))
}
