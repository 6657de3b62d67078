//! Plans every stack of a run, in order, so that each knows what those before it leave unknown.

use super::hook::{self, When};
use super::provisional::{self, Open};
use super::schedule::Verdict;
use super::session::{Failure, Planned, Session};
use super::unit::Purpose;
use super::work::{Told, Work, card, only_follows};
use super::{Artifact, Card, Stand};
use crate::base::problem::Kind;
use crate::base::{Problem, clock};
use crate::infra::store::{Mode, Phase, RunState, StackState};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A plan that lies in its files.
pub(super) struct Made {
    pub planned: Planned,
    pub card: Card,
    /// The stack was removed, has no state, and was never applied as far as the store knows.
    pub absent: Option<Problem>,
}

impl Work<'_> {
    /// Plans all stacks. Those that failed, and those after them, say so where they stand.
    ///
    /// # Errors
    /// The store cannot be written, or the run was superseded meanwhile: refused.
    pub fn plan(&mut self) -> Result<(), Problem> {
        self.advance(RunState::Planning)?;
        let planned = |at: &usize| matches!(self.stand(*at).state(), StackState::Planned | StackState::Noop);
        let done: BTreeSet<usize> = (0..self.set.len()).filter(planned).collect();
        self.each(&done, |at| self.plan_one(at));
        let well = self.stands().iter().all(Stand::is_planned);
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
            Ok(Made { absent: Some(problem), .. }) => {
                self.change(at, |stand| stand.problems.push(problem));
                self.put(at, Phase::Plan, StackState::Skipped, Told::since(started));
                Verdict::Done
            }
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
        let Made { planned, card, .. } = made;
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

    /// The files of a stack's plan, where every run finds them.
    pub(super) fn artifact(&self, at: usize) -> Artifact {
        Artifact::new(&self.plans(), self.set.key(at), self.sha())
    }

    /// Those that are this run's alone: another run over the stack may put its plan in place of the one that was shown here.
    /// A run that only plans needs none.
    pub(super) fn own(&self, at: usize) -> Artifact {
        match self.run.mode {
            Mode::Plan => self.artifact(at),
            _ => Artifact::of_run(&self.plans(), self.set.key(at), &self.run.id),
        }
    }

    /// What is known of a stack's plan, and the files that it stands in: this run's, else those of all.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub(super) fn found(&self, at: usize) -> Result<Option<(Artifact, Card)>, Problem> {
        let own = self.own(at);
        if let Some(card) = own.read()? {
            return Ok(Some((own, card)));
        }
        let shared = self.artifact(at);
        Ok(shared.read()?.map(|card| (shared, card)))
    }

    /// Removes the plan of a stack; where all find theirs, unless another one was made after `until`.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(super) fn discard(&self, at: usize, until: chrono::DateTime<chrono::Utc>) -> Result<(), Problem> {
        let shared = self.artifact(at);
        // Made in the same second, it may be of before.
        if shared.read().ok().flatten().is_none_or(|card| card.made <= clock::stamp(until)) {
            shared.remove()?;
        }
        self.own(at).remove()
    }

    fn plans(&self) -> PathBuf {
        match self.run.mode {
            Mode::Destroy => self.site.plans.join("destroy"),
            _ => self.site.plans.clone(),
        }
    }

    /// Makes a plan with all that belongs to it: hooks, the render of a layer, `init`, the files.
    pub(super) fn make(&self, at: usize) -> Result<Made, Failure> {
        let artifact = self.own(at);
        artifact.prepare()?;
        let made = self.try_make(at, &artifact);
        match &made {
            Ok(made) if made.absent.is_some() => self.discard(at, clock::now())?,
            Ok(made) if self.run.mode != Mode::Plan => artifact.put(&self.artifact(at), &made.card)?,
            // What was planned before is not what would be planned now.
            Err(failure) if !failure.interrupted => self.discard(at, clock::now())?,
            _ => {}
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
                return Ok(Made { planned: Planned::default(), card, absent: None });
            }
            let (planned, open, tree) = self.open_plan(at, session, artifact)?;
            if let Some(problem) = self.stateless(session, &planned)? {
                let card = card(self, at, tree, true);
                return Ok(Made { planned: Planned::default(), card, absent: Some(problem) });
            }
            let mut card = card(self, at, tree, self.run.mode == Mode::Destroy);
            card.unknown = open.values.into_iter().collect();
            card.summary = planned.summary.clone();
            let json = serde_json::to_vec(&planned.shown)
                .map_err(|e| Problem::new(format!("cannot write down the plan of `{}`: {e}", session.unit.key())))?;
            artifact.settle(&mut card, &json)?;
            hook::run(session, &self.run.id, When::PostPlan, Some(artifact))?;
            Ok(Made { planned, card, absent: None })
        })?
    }

    /// What there is to say of a stack that was removed and has no state at all: an empty plan of it says nothing.
    fn stateless(&self, session: &Session<'_>, planned: &Planned) -> Result<Option<Problem>, Failure> {
        let Some(past) = &session.unit.past else { return Ok(None) };
        if !planned.summary.is_empty() || session.has_state()? {
            return Ok(None);
        }
        let key = session.unit.key();
        let mut problem = Problem::new(format!("stack `{key}`: there is no state, so nothing of it can be destroyed"));
        if let Some(state) = &session.unit.stack.state {
            problem = problem.note(format!("it was looked for in {}", self.site.redactor.text(state)));
        }
        problem = problem.note(format!("commit {} is the last one that has its code", past.revision.name()));
        match self.store.last(&self.run.repo, key, Phase::Apply)? {
            Some(_) => Err(problem
                .note("it was applied, as the store knows")
                .help("bring the state back to its place, or name the other stacks with `--stacks`")
                .kind(Kind::Refused)
                .into()),
            None => Ok(Some(problem.note("nobody applied it, as far as the store knows").kind(Kind::Warning))),
        }
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
            // What a stack that is destroyed asks for is not applied before it.
            Err(failure) if unit.past.is_some() => Err(failure),
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
