//! What is owed on a node: reactions that were asked for and not performed yet. It is kept twice, in `facts/` and on the
//! node itself, and what the node says counts: another control machine may have paid it, or have left it.

use super::bystander;
use super::facts::{Folder, Recorded};
use super::gather::Ready;
use super::lock;
use super::watch::Watch;
use super::{Options, Setup, Stop};
use crate::base::{Problem, Problems};
use crate::node::Reason;
use crate::plan::owed::{self, Change, Debts};
use crate::plan::{Facts, NodePlan, Operation};
use std::collections::{BTreeMap, BTreeSet};

/// Takes what the node says over what is recorded here. Returns a warning where the node could not say.
pub(super) fn found(node: &str, facts: &Facts, recorded: &mut BTreeMap<String, Recorded>) -> Option<Problem> {
    match owed::read(facts) {
        Ok(Some(mut debts)) => {
            for (module, recorded) in recorded {
                recorded.owed = debts.remove(module).unwrap_or_default();
            }
            None
        }
        Ok(None) => None,
        Err(words) => {
            let what = format!("node `{node}`: it is unknown which reactions it still owes");
            Some(Problem::warning(what).note(words).note("what facts/ says is believed"))
        }
    }
}

/// What is owed as an operation after the other is performed.
pub(super) struct Ledger {
    debts: Debts,
}

impl Ledger {
    pub fn of(ready: &Ready) -> Ledger {
        let debts = ready.recorded.iter().filter(|(_, recorded)| !recorded.owed.is_empty());
        Ledger { debts: debts.map(|(module, recorded)| (module.clone(), recorded.owed.clone())).collect() }
    }

    pub fn nothing() -> Ledger {
        Ledger { debts: Debts::new() }
    }

    /// What a module owes.
    pub fn module(&self, name: &str) -> BTreeMap<String, String> {
        self.debts.get(name).cloned().unwrap_or_default()
    }

    /// Adds the reactions that `operation` asks for, and records them in `facts/` before it is performed: a run that is
    /// killed right after it must not lose them. Returns what the node writes down before the operation, and after it.
    ///
    /// # Errors
    /// They cannot be recorded.
    pub fn owe(
        &mut self,
        setup: &Setup,
        ready: &mut Ready,
        plan: &NodePlan,
        operation: &Operation,
    ) -> Result<[Change; 2], Problem> {
        let mask = setup.vault.mask();
        let changes: BTreeSet<&str> = operation.resources.iter().map(String::as_str).collect();
        let mut before = Change::default();
        for told in bystander::tell(setup, &ready.node, &mut ready.bystanders, &changes, operation)? {
            before.owe(&told.module, &told.id, &mask.apply(&told.why));
        }
        let mut modules = BTreeSet::new();
        for later in plan.operations.iter().filter(|later| later.id > operation.id) {
            if later.triggered_by.iter().any(|id| changes.contains(id.as_str())) {
                let why = format!("`{}` was begun and `{}` was not performed after it", operation.title, later.title);
                let why = mask.apply(&why);
                let (debts, id) = (self.debts.entry(later.module.clone()).or_default(), later.resource());
                if debts.insert(id.clone(), why.clone()).is_none() {
                    before.owe(&later.module, &id, &why);
                    modules.insert(later.module.as_str());
                }
            }
        }
        let mut after = Change::default();
        let own = operation.resource();
        if self.debts.get(&operation.module).is_some_and(|debts| debts.contains_key(&own)) {
            after.pay(&operation.module, &own);
        }
        let folder = Folder::of(setup.workspace.root(), &ready.node);
        let reports = ready.intent.reports(&ready.facts, &ready.collected);
        for (part, report) in reports.filter(|(part, _)| modules.contains(part.name.as_str())) {
            folder.module(part, report, &self.recorded(ready, &part.name, None), mask)?;
        }
        Ok([before, after])
    }

    /// `operation` was performed: it owes no reaction any more.
    pub fn pay(&mut self, operation: &Operation) {
        if let Some(debts) = self.debts.get_mut(&operation.module) {
            debts.remove(&operation.resource());
        }
    }

    /// Every operation was performed, so nothing is owed any more: of resources that the modules no longer have neither.
    /// The node is only told where it still believes otherwise.
    pub async fn close(
        self,
        ready: &mut Ready,
        plan: &NodePlan,
        options: &Options,
        watch: &dyn Watch,
        stop: &Stop,
    ) -> Problems {
        let mut rest = Change::default();
        for (module, debts) in &self.debts {
            debts.keys().for_each(|id| rest.pay(module, id));
        }
        if rest.is_empty() {
            return Problems::new();
        }
        if plan.operations.is_empty() {
            match lock::take(ready, options, watch, stop).await {
                // Whoever changes it now will see to it.
                Err(failure) if failure.reason == Reason::Locked => return Problems::new(),
                Err(failure) => return vec![*failure.problem],
                Ok(()) => {}
            }
        }
        match ready.session.run("writing down that nothing is owed", &rest.script(), options.step_limit).await {
            Ok(_) => Problems::new(),
            Err(failure) => vec![*failure.problem],
        }
    }

    /// What `facts/` keeps beside the facts of a module. `signature`: of the module as it was applied.
    pub fn recorded(&self, ready: &Ready, module: &str, signature: Option<&str>) -> Recorded {
        let before = || ready.recorded.get(module).and_then(|recorded| recorded.signature.clone());
        Recorded { signature: signature.map(str::to_owned).or_else(before), owed: self.module(module) }
    }
}
