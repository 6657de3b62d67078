//! A saved plan while it is applied: read, and proven to hold.

use super::super::start::Start;
use super::super::{Context, Outcome, Selection, apply};
use crate::base::{Plain, Problem, Problems, file, problem::Kind};
use crate::catalogue::{self, Workspace};
use crate::plan::saved::{Chosen, Made, Saved, moved};
use crate::run::saved::{self, Connections};
use crate::run::{Gathered, Prepared};
use crate::ui::{self, Exit};
use std::collections::BTreeSet;
use std::path::Path;

/// A plan from a file, while it is applied.
pub struct Applied {
    path: String,
    saved: Saved,
    /// The digest of the file.
    sha256: String,
}

/// Reads a plan, and sees that it is about the nodes that its selection means today.
///
/// # Errors
/// The file cannot be read or is no plan, and every node that came or went.
pub fn open(path: &Path, context: &Context) -> Result<Applied, Problems> {
    let text = file::read_text(path).map_err(|e| Problem::io("read", path, &e))?;
    let path = path.display().to_string();
    let (saved, sha256) = Saved::read(&path, &text)?;
    let applied = Applied { path, saved, sha256 };
    if applied.is_empty() {
        return Ok(applied);
    }
    let workspace = context.open()?;
    let selected = selected(&workspace, &applied.saved.chosen);
    let exists = |node: &str| workspace.node_names().any(|name| name == node);
    applied.stale(moved::nodes(&applied.saved, &selected, &exists))?;
    Ok(applied)
}

/// The nodes that a plan's selection means today. Each role and each node that it names is looked for alone: one that
/// is not there any more selects nothing, and takes no other with it.
fn selected(workspace: &Workspace, chosen: &Chosen) -> BTreeSet<String> {
    let alone = |names: &[String]| -> Vec<Vec<String>> {
        if names.is_empty() { vec![Vec::new()] } else { names.iter().map(|name| vec![name.clone()]).collect() }
    };
    let nodes = alone(&chosen.nodes);
    let pairs =
        alone(&chosen.roles).into_iter().flat_map(|roles| nodes.iter().map(move |n| (roles.clone(), n.clone())));
    let selections = pairs.map(|(roles, nodes)| catalogue::Selection { roles, nodes });
    selections.filter_map(|selection| catalogue::selected(workspace, &selection).ok()).flatten().collect()
}

impl Applied {
    /// True where there was no node to plan.
    pub fn is_empty(&self) -> bool {
        self.saved.nodes.is_empty() && self.saved.left_out.is_empty()
    }

    /// What is said where there is nothing to do.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn nothing(&self, context: &Context) -> Outcome {
        let nodes = ("nodes", Plain::List(Vec::new()));
        let value = || Plain::from_iter([("version", Plain::Int(1)), nodes, ("plan", self.card())]);
        ui::show(context.output, || "Nothing to apply.\n".to_owned(), value)?;
        Ok(Exit::Done)
    }

    /// The arguments that the plan was made with, in place of those that were not given.
    pub fn args(&self, args: apply::Args) -> apply::Args {
        let nodes = self.saved.nodes.iter().map(|node| node.name.clone()).collect();
        let selection = Selection { nodes, ..Selection::default() };
        apply::Args { selection, force: self.saved.chosen.force, ..args }
    }

    /// The modules that the plan was asked for; none: all of each node.
    pub fn modules(&self) -> &[String] {
        &self.saved.chosen.modules
    }

    /// What the record and the results say of the plan.
    pub fn card(&self) -> Plain {
        Plain::from_iter([
            ("sha256", Plain::from(&self.sha256)),
            ("made", Plain::from(&self.saved.made.at)),
            ("by", Plain::from(&self.saved.made.by)),
        ])
    }

    /// Says which of the nodes that were selected the plan is not about.
    pub fn left_out(&self) -> Problems {
        let left_out = self.saved.left_out.iter();
        left_out
            .map(|(node, why)| {
                Problem::warning(format!("node `{node}` could not be planned and has no part in this plan")).note(why)
            })
            .collect()
    }

    /// Compares what can be known before anything connects.
    ///
    /// # Errors
    /// The plan is stale.
    pub fn check_before(
        &self,
        start: &Start,
        prepared: &[Prepared],
        connections: &Connections,
    ) -> Result<(), Problems> {
        let names = self.saved.modules.keys().map(String::as_str);
        let code = start.setup().code(names)?;
        let expected = saved::expected(prepared, connections);
        let entries = &start.catalogue.entries;
        let places = |node: &str, module: &str, path: &[String]| saved::place(entries, node, module, path);
        self.stale(moved::before(&self.saved, &expected, &code, &places))
    }

    /// Compares what the nodes say and what is planned now.
    ///
    /// # Errors
    /// The plan is stale.
    pub fn check_after(&self, start: &Start, gathered: &Gathered, connections: &Connections) -> Result<(), Problems> {
        let found = gathered.found(connections, &start.options, &start.mask());
        let places = |node: &str, module: &str, path: &[String]| saved::place(gathered.entries(), node, module, path);
        self.stale(moved::after(&self.saved, &found, &places))
    }

    fn stale(&self, checked: Result<(), Problems>) -> Result<(), Problems> {
        let Err(moved) = checked else { return Ok(()) };
        let Made { at, by } = &self.saved.made;
        let end = Problem::new(format!("the plan in `{}` is stale, and nothing was changed", self.path))
            .kind(Kind::Refused)
            .note(format!("it was made at {at} by {by}"))
            .help("look at what moved, then make a new plan with `suil plan --out FILE`");
        Err(moved.into_iter().chain([end]).collect())
    }
}
