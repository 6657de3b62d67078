//! One run over a set of stacks: what its parts share, and what they write down.

use super::hold::Hold;
use super::provisional::Pending;
use super::schedule::{self, Fate, Pace, Verdict};
use super::session::{Failure, Session};
use super::{Card, Follow, Set, Site, Stand, Summary, artifact, restore};
use crate::base::{Problem, Problems, Result, clock};
use crate::infra::graph::Graph;
use crate::infra::store::{self, Mode, Outcome, Phase, Process, Run, RunStack, RunState, StackState, Store, Trigger};
use crate::infra::terraform::process::{self, Watch};
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A run over a set of stacks.
pub struct Work<'a> {
    pub site: &'a Site,
    pub graph: &'a Graph,
    pub set: &'a Set,
    pub store: Arc<dyn Store>,
    pub run: Run,
    pub follow: &'a dyn Follow,
    pub pace: Pace,
    pub(super) logs: PathBuf,
    pub(super) hold: Hold,
    stands: Mutex<Vec<Stand>>,
    /// What went wrong beside the stacks.
    problems: Mutex<Problems>,
}

/// What a run is begun with.
#[derive(Clone, Debug)]
pub struct Begin {
    pub mode: Mode,
    /// `anna@desk`.
    pub who: String,
    pub reason: String,
    /// The change that it is for, as [`Run::change`].
    pub change: Option<String>,
}

impl<'a> Work<'a> {
    /// A new run. Nothing of it is written down before [`Work::enroll`].
    pub fn new(
        site: &'a Site,
        graph: &'a Graph,
        set: &'a Set,
        store: Arc<dyn Store>,
        pace: Pace,
        follow: &'a dyn Follow,
        begin: Begin,
    ) -> Work<'a> {
        let run = Run {
            id: store::new_id(),
            repo: site.repo.clone(),
            trigger: Trigger::Manual,
            mode: begin.mode,
            state: RunState::Pending,
            commit: site.sha.clone(),
            tree: Some(graph.tree_hash.clone()),
            who: begin.who,
            reason: begin.reason,
            change: begin.change,
            process: Process::this(&site.user),
            successor: None,
            started: clock::now(),
            ended: None,
        };
        let rows: Vec<RunStack> = (0..set.len()).map(|at| row(set, at, &run.id)).collect();
        Work::with(site, graph, set, store, pace, follow, run, rows)
    }

    /// Writes the run down.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn enroll(&self) -> Result<(), Problem> {
        process::sweep(&self.site.work().join("logs"));
        artifact::prune(&self.site.plans);
        restore::sweep(self.site);
        artifact::prune(&self.site.plans.join("destroy"));
        let rows: Vec<RunStack> = self.stands().into_iter().map(|stand| stand.row).collect();
        self.store.begin(&self.run, &rows)
    }

    /// A run that the store knows, with its stacks in the order of the set.
    #[allow(clippy::too_many_arguments, reason = "each is a part of the run")]
    pub fn with(
        site: &'a Site,
        graph: &'a Graph,
        set: &'a Set,
        store: Arc<dyn Store>,
        pace: Pace,
        follow: &'a dyn Follow,
        run: Run,
        rows: Vec<RunStack>,
    ) -> Work<'a> {
        let logs = Session::logs(site, &run.id);
        let stands = Mutex::new(rows.into_iter().map(Stand::new).collect());
        Work {
            site,
            graph,
            set,
            store,
            run,
            follow,
            pace,
            logs,
            hold: Hold::default(),
            stands,
            problems: Mutex::default(),
        }
    }

    /// Where every stack stands.
    pub fn stands(&self) -> Vec<Stand> {
        self.stands.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What went wrong: with stacks, in their order, and beside them.
    pub fn problems(&self) -> Problems {
        let mut all: Problems = self.stands().into_iter().flat_map(|stand| stand.problems).collect();
        all.extend(self.problems.lock().unwrap_or_else(PoisonError::into_inner).clone());
        all
    }

    pub(super) fn fault(&self, problem: Problem) {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).push(problem);
    }

    pub(super) fn stand(&self, at: usize) -> Stand {
        let stands = self.stands.lock().unwrap_or_else(PoisonError::into_inner);
        stands.get(at).cloned().unwrap_or_else(|| Stand::new(row(self.set, at, &self.run.id)))
    }

    /// Changes where a stack stands, and gives what it then is.
    pub(super) fn change(&self, at: usize, change: impl FnOnce(&mut Stand)) -> Stand {
        let mut stands = self.stands.lock().unwrap_or_else(PoisonError::into_inner);
        match stands.get_mut(at) {
            Some(stand) => {
                change(stand);
                stand.clone()
            }
            None => Stand::new(row(self.set, at, &self.run.id)),
        }
    }

    /// Brings a stack to a state and writes it down.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(super) fn set_state(&self, at: usize, state: StackState) -> Result<(), Problem> {
        self.store.put_stacks(&[self.come_to(at, state)])
    }

    /// Brings a stack to a state; nothing is written down yet.
    pub(super) fn come_to(&self, at: usize, state: StackState) -> RunStack {
        let stand = self.change(at, |stand| {
            stand.row.state = state;
            if state != StackState::Blocked {
                stand.row.blocked_by = None;
            }
            match state.is_settled() {
                true => stand.row.ended = Some(clock::now()),
                false => {
                    stand.row.started.get_or_insert_with(clock::now);
                    stand.row.ended = None;
                }
            }
        });
        stand.row
    }

    /// Writes what came of a phase, and the state of the stack.
    pub(super) fn put(&self, at: usize, phase: Phase, state: StackState, result: Told<'_>) {
        let now = clock::now();
        let stand = self.change(at, |stand| {
            stand.row.state = state;
            stand.row.ended = Some(now);
            if let Some(summary) = result.summary {
                stand.summary = Some(summary.clone());
            }
            stand.unknown = result.unknown.to_vec();
            if result.text.is_some() {
                stand.text = result.text.map(str::to_owned);
            }
        });
        let outcome = result.outcome(&self.run.id, &stand.row.stack, phase);
        if let Err(problem) = self.store.put_outcome(&stand.row, &outcome) {
            self.change(at, |stand| stand.problems.push(problem));
        }
    }

    /// A stack failed: in this phase, with these words.
    pub(super) fn fail(&self, at: usize, phase: Phase, started: DateTime<Utc>, failure: Failure) {
        self.change(at, |stand| {
            stand.problems.push(*failure.problem);
            stand.left = failure.left;
        });
        if failure.left {
            // It stays `applying`: whoever resumes the run waits for it.
            return;
        }
        let stand = self.stand(at);
        let told = Told {
            summary: stand.summary.as_ref(),
            unknown: &stand.unknown,
            error: Some(&failure.text),
            ..Told::since(started)
        };
        self.put(at, phase, StackState::Failed, told);
    }

    /// Does `work` for each stack in order, but those that are settled as done.
    pub(super) fn each(&self, settled: &BTreeSet<usize>, work: impl Fn(usize) -> Verdict + Sync) {
        let work = |at| {
            self.follow.begun(self.set.key(at));
            let verdict = work(at);
            self.follow.ended(&self.stand(at));
            verdict
        };
        let stop = || self.site.stop.asked() || self.hold.is_over();
        let blocked = |at, by| {
            self.block(at, by);
            self.follow.ended(&self.stand(at));
        };
        let fates = schedule::run(&self.set.order, settled, self.pace, &stop, &work, &blocked);
        for (at, fate) in fates.into_iter().enumerate() {
            if let Fate::Blocked(by) = fate
                && self.stand(at).row.blocked_by.as_deref() != Some(self.set.key(by))
            {
                self.block(at, by);
            }
        }
    }

    fn block(&self, at: usize, by: usize) {
        self.change(at, |stand| stand.row.blocked_by = Some(self.set.key(by).to_owned()));
        if let Err(problem) = self.set_state(at, StackState::Blocked) {
            self.fault(problem);
        }
    }

    /// Calls `work` with Terraform in the folder of a stack.
    pub(super) fn with_session<T>(&self, at: usize, work: impl FnOnce(&Session<'_>) -> T) -> Result<T, Failure> {
        let Some(unit) = self.set.units.get(at) else {
            return Err(Problem::new("suil lost a stack; this is a fault of suil").into());
        };
        let watch = Lines { work: self, key: unit.key() };
        Ok(work(&Session { site: self.site, unit, logs: &self.logs, watch: &watch }))
    }

    /// What those directly before a stack leave unknown, as far as they are not applied.
    pub(super) fn pending(&self, at: usize) -> Pending {
        let mut pending = Pending::new();
        for before in self.set.order.before(at) {
            let stand = self.stand(*before);
            let open = matches!(stand.state(), StackState::Planned);
            let outputs = stand.pending();
            if open && !outputs.is_empty() {
                pending.insert(stand.row.stack.clone(), outputs.into_iter().collect());
            }
        }
        pending
    }

    /// Brings the run to a state.
    ///
    /// # Errors
    /// The store cannot be written, or the run was superseded meanwhile: refused.
    pub fn advance(&mut self, state: RunState) -> Result<(), Problem> {
        self.store.advance(&self.run.id, state)?;
        self.run.state = state;
        Ok(())
    }

    /// Takes the locks of all stacks that are not done, or none.
    ///
    /// # Errors
    /// Another run holds one: refused.
    pub fn lock(&mut self) -> Result<(), Problem> {
        let stacks = self.open();
        self.store.take(&self.run, &stacks, &self.run.reason)?.or_refuse()?;
        self.hold = Hold::new(stacks);
        Ok(())
    }

    /// Lets all locks of the run go.
    pub fn unlock(&self) {
        // Terraform may still change a stack that nobody waits for: its lock stays.
        let left: Vec<String> = self.stands().into_iter().filter(|stand| stand.left).map(|s| s.row.stack).collect();
        let held: Vec<String> =
            self.stands().into_iter().map(|s| s.row.stack).filter(|key| !left.contains(key)).collect();
        let which = if left.is_empty() { None } else { Some(held.as_slice()) };
        match self.store.release(&self.run.id, which, &self.run.who, "the run ended") {
            Ok(released) => self.mind_missing(&released, &left),
            Err(problem) => self.fault(problem),
        }
    }

    /// The keys of the stacks that are not done.
    pub fn open(&self) -> Vec<String> {
        let done = |state| matches!(state, StackState::Applied | StackState::Noop | StackState::Skipped);
        self.stands().into_iter().filter(|stand| !done(stand.state())).map(|stand| stand.row.stack).collect()
    }

    /// The problems of a stack that others hold locked, as a warning: a plan goes on all the same.
    pub fn locked(&self) -> Problems {
        let locks = match self.store.locks() {
            Ok(locks) => locks,
            Err(problem) => return vec![problem],
        };
        let ours = |lock: &store::Lock| {
            lock.run != self.run.id
                && lock.repo.eq_ignore_ascii_case(&self.run.repo)
                && self.set.chosen.iter().any(|chosen| chosen.key == lock.stack)
        };
        let locks: Vec<store::Lock> = locks.into_iter().filter(ours).collect();
        if locks.is_empty() { Problems::new() } else { vec![store::lock::refusal(&locks)] }
    }

    /// Removes what is left of the logs of the run. Those of a program that nobody waited for stay.
    pub(super) fn sweep(&self) {
        if !self.stands().iter().any(|stand| stand.left) {
            let _ = std::fs::remove_dir_all(&self.logs);
        }
    }
}

impl Drop for Work<'_> {
    /// The plan files that are this run's alone go with it; those of all stay. A Terraform that was left may still read its.
    fn drop(&mut self) {
        if self.run.mode != Mode::Plan && !self.stands().iter().any(|stand| stand.left) {
            (0..self.set.len()).for_each(|at| drop(self.own(at).remove()));
        }
    }
}

/// What is written down of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Told<'a> {
    pub summary: Option<&'a Summary>,
    pub unknown: &'a [String],
    pub digest: Option<&'a str>,
    pub file: Option<&'a str>,
    pub text: Option<&'a str>,
    pub error: Option<&'a str>,
    pub started: DateTime<Utc>,
}

impl Told<'_> {
    pub fn since(started: DateTime<Utc>) -> Told<'static> {
        Told { summary: None, unknown: &[], digest: None, file: None, text: None, error: None, started }
    }

    /// As the store keeps it, ended now.
    pub fn outcome(&self, run: &str, stack: &str, phase: Phase) -> Outcome {
        let kept = self.summary.map(|summary| (summary.counts(), summary.addresses.clone()));
        let (summary, addresses) = kept.unwrap_or_default();
        Outcome {
            run: run.to_owned(),
            stack: stack.to_owned(),
            phase,
            summary,
            addresses,
            digest: self.digest.map(str::to_owned),
            file: self.file.map(str::to_owned),
            text: self.text.map(str::to_owned),
            error: self.error.map(str::to_owned),
            unknown: self.unknown.to_vec(),
            started: self.started,
            ended: clock::now(),
        }
    }
}

fn row(set: &Set, at: usize, run: &str) -> RunStack {
    let chosen = set.chosen.get(at);
    let environment = set.units.get(at).map(|unit| unit.stack.environment.clone());
    RunStack {
        run: run.to_owned(),
        stack: set.key(at).to_owned(),
        wave: u32::try_from(set.order.wave(at)).unwrap_or(u32::MAX),
        reasons: chosen.into_iter().flat_map(|one| &one.reasons).map(|reason| reason.name().to_owned()).collect(),
        via: chosen.map(|one| one.via.clone()).unwrap_or_default(),
        environment: environment.filter(|name| !name.is_empty()),
        state: StackState::Pending,
        blocked_by: None,
        started: None,
        ended: None,
    }
}

/// True where every reason of a stack is that another one changes.
pub(super) fn only_follows(row: &RunStack) -> bool {
    !row.reasons.is_empty() && row.reasons.iter().all(|reason| matches!(reason.as_str(), "dependent" | "reads_state"))
}

/// What Terraform says, on its way to who follows the run.
struct Lines<'a> {
    work: &'a Work<'a>,
    key: &'a str,
}

impl Watch for Lines<'_> {
    fn line(&self, line: &str) {
        if !self.work.follow.is_watched() {
            return;
        }
        // What is indented belongs to a block, of which a line alone does not show whether it is secret.
        let inside = line.starts_with([' ', '\t']);
        let line = line.trim();
        if !line.is_empty() && !inside {
            self.work.follow.phase(self.key, &self.work.site.redactor.text(line));
        }
    }
}

/// The card of a plan that was made now.
pub(super) fn card(work: &Work<'_>, at: usize, tree: String, destroys: bool) -> Card {
    Card {
        version: 1,
        stack: work.set.key(at).to_owned(),
        sha: work.sha().to_owned(),
        tree,
        plan: String::new(),
        run: work.run.id.clone(),
        made: clock::stamp(clock::now()),
        destroys,
        unknown: Vec::new(),
        planned: true,
        summary: Summary::default(),
    }
}

impl Work<'_> {
    /// The word for the commit of the run in the names of plan files.
    pub(super) fn sha(&self) -> &str {
        self.run.commit.as_deref().unwrap_or(artifact::LOCAL)
    }
}
