//! Which nodes and modules a command is about.

use clap::Args;

/// The nodes and modules of a run. Without any of these, a command that only reads takes all nodes.
#[derive(Args, Clone, Debug, Default)]
pub struct Selection {
    /// Select the nodes of this role, or of roles that match this glob
    #[arg(short, long = "role", value_name = "ROLE", num_args = 1.., help_heading = "Selection")]
    pub roles: Vec<String>,
    /// Select this node, or the nodes that match this glob
    #[arg(short, long = "node", value_name = "NODE", num_args = 1.., help_heading = "Selection")]
    pub nodes: Vec<String>,
    /// Take only this module of each node
    #[arg(short, long = "module", value_name = "MODULE", num_args = 1.., help_heading = "Selection")]
    pub modules: Vec<String>,
}

impl Selection {
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty() && self.nodes.is_empty()
    }
}
