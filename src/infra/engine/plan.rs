//! Plans every stack of a run, in order, so that each knows what those before it leave unknown.

use super::hook::{self, When};
use super::provisional::{self, Open};
use super::schedule::Verdict;
use super::session::{Failure, Planned, Session};
use super::unit::Purpose;
use super::work::{Told, Work, card, only_follows};
use super::{Artifact, Card};
use crate::base::{Problem, clock};
use crate::infra::store::{Mode, Phase, RunState, StackState};
use std::collections::BTreeSet;

/// A plan that lies in its files.
pub(super) struct Made {
    pub planned: Planned,
    pub card: Card,
}

impl Work<'_> {
    /// Plans all stacks. Those that failed, and those after them, say so where they stand.
    ///
    /// # Errors
    /// The store cannot be written, or the run was superseded meanwhile: refused.
    pub fn plan(&mut self) -> Result<(), Problem> {
        self.advance(RunState::Planning)?;
        self.shows = true;
        let planned = |at: &usize| matches!(self.stand(*at).state(), StackState::Planned | StackState::Noop);
        let done: BTreeSet<usize> = (0..self.set.len()).filter(planned).collect();
        self.each(&done, |at| self.plan_one(at));
        let well = self.stands().iter().all(|stand| matches!(stand.state(), StackState::Planned | StackState::Noop));
        let last = self.run.mode == Mode::Plan;
        match (well, last) {
            (true, _) => self.advance(RunState::Planned)?,
            (false, true) => self.advance(RunState::Failed)?,
            (false, false) => {}
        }
        if last {
            self.sweep();
        }
        Ok(())
    }

    fn plan_one(&self, at: usize) -> Verdict {
        let started = clock::now();
        if let Err(problem) = self.set_state(at, StackState::Planning) {
            self.fail(at, Phase::Plan, started, problem.into());
            return Verdict::Failed;
        }
        self.follow.phase(self.set.key(at), "planning");
        match self.make(at) {
            Ok(made) => {
                self.planned(at, started, &made, None);
                Verdict::Done
            }
            Err(failure) => {
                self.fail(at, Phase::Plan, started, failure);
                Verdict::Failed
            }
        }
    }

    /// Writes down a plan that was made; the stack then stands as planned, or in the state that is given.
    pub(super) fn planned(
        &self,
        at: usize,
        started: chrono::DateTime<chrono::Utc>,
        made: &Made,
        state: Option<StackState>,
    ) {
        let Made { planned, card } = made;
        let file = self.site.shown(&self.artifact(at).plan());
        let quiet = planned.summary.is_empty() && !card.is_provisional() && only_follows(&self.stand(at).row);
        self.mind_version(at, planned);
        let told = Told {
            summary: card.shown(),
            unknown: &card.unknown,
            digest: Some(card.plan.as_str()).filter(|digest| !digest.is_empty()),
            file: Some(file.as_str()).filter(|_| !card.is_provisional()),
            text: Some(self.text_of(at, planned)).filter(|_| card.planned),
            ..Told::since(started)
        };
        let state = state.unwrap_or(if quiet { StackState::Noop } else { StackState::Planned });
        self.put(at, Phase::Plan, state, told);
    }

    /// The tree asks for one version of the program, and another one made the plan.
    fn mind_version(&self, at: usize, planned: &Planned) {
        let Some(unit) = self.set.units.get(at) else { return };
        let wanted = unit.stack.tool_version.trim_start_matches('v');
        // A constraint is the program's to check.
        let exact = wanted.split('.').count() == 3 && wanted.starts_with(|c: char| c.is_ascii_digit());
        if exact && !planned.version.is_empty() && planned.version != wanted {
            let what =
                format!("stack `{}` asks for version {wanted}, and is planned by {}", unit.key(), planned.version);
            let problem = Problem::warning(what).note("`tool_version` says so").help(format!(
                "install it, or name it by {}",
                if unit.stack.tool == "tofu" { "SUIL_TOFU_BIN" } else { "SUIL_TERRAFORM_BIN" }
            ));
            self.change(at, |stand| stand.problems.push(problem));
        }
    }

    fn text_of<'b>(&self, at: usize, planned: &'b Planned) -> &'b str {
        let counts = self.set.units.get(at).is_some_and(|unit| unit.stack.plan_output == "summary");
        if counts { "" } else { &planned.text }
    }

    /// The files of a stack's plan in this run.
    pub(super) fn artifact(&self, at: usize) -> Artifact {
        let folder = match self.run.mode {
            Mode::Destroy => self.site.plans.join("destroy"),
            _ => self.site.plans.clone(),
        };
        Artifact::new(&folder, self.set.key(at), self.sha())
    }

    /// Makes a plan with all that belongs to it: hooks, the render of a layer, `init`, the files.
    pub(super) fn make(&self, at: usize) -> Result<Made, Failure> {
        let artifact = self.artifact(at);
        artifact.prepare()?;
        let made = self.try_make(at, &artifact);
        if made.as_ref().is_err_and(|failure| !failure.interrupted) {
            // What was planned before is not what would be planned now.
            artifact.remove()?;
        }
        made
    }

    fn try_make(&self, at: usize, artifact: &Artifact) -> Result<Made, Failure> {
        self.with_session(at, |session| {
            hook::run(session, &self.run.id, When::PrePlan, None)?;
            let closed = self.unrendered(at, session)?;
            if !closed.is_empty() {
                let mut card = card(self, at, String::new(), false);
                (card.unknown, card.planned) = (closed.into_iter().collect(), false);
                artifact.settle(&mut card, b"{}")?;
                return Ok(Made { planned: Planned::default(), card });
            }
            let (planned, open, tree) = self.open_plan(at, session, artifact)?;
            let mut card = card(self, at, tree, self.run.mode == Mode::Destroy);
            card.unknown = open.values.into_iter().collect();
            card.summary = planned.summary.clone();
            let json = serde_json::to_vec(&planned.shown)
                .map_err(|e| Problem::new(format!("cannot write down the plan of `{}`: {e}", session.unit.key())))?;
            artifact.settle(&mut card, &json)?;
            hook::run(session, &self.run.id, When::PostPlan, Some(artifact))?;
            Ok(Made { planned, card })
        })?
    }

    /// Renders a layer. Gives the outputs of others that it asks for and that are not there yet: without them there is
    /// nothing to plan.
    fn unrendered(&self, at: usize, session: &Session<'_>) -> Result<BTreeSet<String>, Failure> {
        let unit = session.unit;
        if unit.layer.is_none() {
            return Ok(BTreeSet::new());
        }
        let reads = |key: &str| {
            let mut edges = self.graph.edges.iter();
            edges.any(|edge| edge.is_of_template() && edge.from.key == unit.key() && edge.to.key == key)
        };
        let pending = self.pending(at).into_iter().filter(|(key, _)| reads(key));
        let pending: BTreeSet<String> = pending
            .flat_map(|(key, outputs)| outputs.into_iter().map(move |output| format!("{key}: {output}")))
            .collect();
        if !pending.is_empty() {
            return Ok(pending);
        }
        match session.render() {
            Ok(()) => Ok(BTreeSet::new()),
            Err(failure) => {
                let absent = provisional::absent(self.graph, &failure);
                if absent.is_empty() { Err(failure) } else { Ok(absent) }
            }
        }
    }

    /// Plans; with inputs left unknown where they are not there yet.
    fn open_plan(
        &self,
        at: usize,
        session: &Session<'_>,
        artifact: &Artifact,
    ) -> Result<(Planned, Open, String), Failure> {
        let purpose = if self.run.mode == Mode::Destroy { Purpose::Destroy } else { Purpose::Plan };
        let needs = session.ready(purpose, false)?;
        let tree = session.content()?;
        let file = artifact.aside();
        let open = match purpose {
            Purpose::Destroy => Open::default(),
            _ => Open::of(self.site, self.graph, session.unit, &needs, &self.pending(at)),
        };
        if !open.is_empty() {
            let planned = provisional::plan(session, &open, purpose, &file)?;
            return Ok((planned, open, tree));
        }
        match session.plan(purpose, &file) {
            Err(failure) if !failure.interrupted && failure.text.contains("terraform_remote_state") => {
                let open = Open::told(self.site, self.graph, session.unit, &needs, &failure.text);
                if open.is_empty() {
                    return Err(failure);
                }
                // What Terraform said first is what is wrong, if the values do not help either.
                let planned = provisional::plan(session, &open, purpose, &file).map_err(|_| failure)?;
                Ok((planned, open, tree))
            }
            planned => Ok((planned?, open, tree)),
        }
    }
}
