//! How a run goes over its nodes: `--batch`, `--max-failures`.

use super::start::Start;
use crate::base::{Problems, problem};
use crate::catalogue::Sequence;
use crate::plan::{Roll, Share};
use std::collections::{BTreeMap, BTreeSet};

/// In which order nodes are come to, and when the rest is left alone.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Rolling {
    /// Go over the nodes in batches of N nodes, or of P percent of each role
    #[arg(long, value_name = "N|P%", help_heading = "Rolling", value_parser = batch, allow_hyphen_values = true)]
    pub batch: Option<Share>,
    /// Begin no further batch once more than N nodes, or P percent of all, have failed [default: 0 with --batch]
    #[arg(long, value_name = "N|P%", help_heading = "Rolling", value_parser = failures, allow_hyphen_values = true)]
    pub max_failures: Option<Share>,
}

fn batch(text: &str) -> Result<Share, String> {
    match Share::parse(text) {
        Some(Share::Nodes(0) | Share::Percent(0)) => Err("at least one node, such as `1` or `10%`".to_owned()),
        Some(share) => Ok(share),
        None => Err("a number of nodes such as `3`, or a share from `1%` to `100%`".to_owned()),
    }
}

fn failures(text: &str) -> Result<Share, String> {
    Share::parse(text).ok_or_else(|| "a number of nodes such as `0`, or a share from `0%` to `100%`".to_owned())
}

impl Start {
    /// The waves of the run.
    ///
    /// # Errors
    /// What is wrong with `after` and the hooks of the selected roles.
    pub fn roll(&self, rolling: &Rolling) -> Result<Roll, Problems> {
        let nodes = || self.catalogue.entries.iter().map(|entry| (&*entry.name, &*entry.role));
        let roles: BTreeSet<&str> = nodes().map(|(_, role)| role).collect();
        let mut problems = Problems::new();
        let sequence = self.workspace().sequence(roles.iter().copied()).unwrap_or_else(|found| {
            problems.extend(found);
            Sequence::default()
        });
        let mut hooks = BTreeMap::new();
        for role in roles {
            match self.workspace().hooks(role) {
                Ok(own) => drop(hooks.insert(role.to_owned(), own)),
                Err(found) => problems.extend(found),
            }
        }
        problem::sort(&mut problems);
        match problems.is_empty() {
            true => Ok(Roll::new(nodes(), &sequence, &hooks, rolling.batch, rolling.max_failures)),
            false => Err(problems),
        }
    }
}
