//! Which nodes and modules a command is about.

use super::failed;
use super::load::Loaded;
use crate::base::{Problem, Problems, nearest::nearest};
use crate::catalogue;
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
}

impl Selection {
    /// True where no node was asked for.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty() && self.nodes.is_empty() && !self.failed
    }

    /// The nodes, as the catalogue selects them.
    ///
    /// # Errors
    /// As for [`failed::narrow`], where that was asked for.
    pub fn of_nodes(&self, loaded: &Loaded) -> Result<catalogue::Selection, Problems> {
        match self.failed {
            true => failed::narrow(self, loaded),
            false => Ok(catalogue::Selection { roles: self.roles.clone(), nodes: self.nodes.clone() }),
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
