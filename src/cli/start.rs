//! What `apply` and `facts` share: from the command line to sessions with nodes.

use super::later::{Back, Blocked, Later};
use super::layers::Held;
use super::load::Loaded;
use super::settings::variable;
use super::{Context, Selection};
use crate::base::{Mask, Plain, Problem, Problems, clock, problem, problem::Kind};
use crate::catalogue::Catalogue;
use crate::infra::role::Stops;
use crate::node::hostkey::{self, HostKey};
use crate::node::{Access, Failure, Reason, Sudo, Target};
use crate::run::{
    self, About, Errand, Gathered, Look, NodeRecord, Options, Prepared, Record, Reply, Setup, Stop, Watch,
};
use crate::ui::{self, Paint};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// A run that is ready to connect.
pub struct Start {
    pub catalogue: Catalogue,
    pub options: Arc<Options>,
    pub stop: Stop,
    pub(super) later: Later,
    setup: Arc<Setup>,
    screen: Arc<ui::watch::Screen>,
    runtime: Runtime,
    begun: Instant,
}

/// One operation may take so long: a distribution upgrade of a slow machine does.
const STEP: Duration = Duration::from_secs(1800);

impl Start {
    /// Builds the catalogue of the selected nodes and everything that a run works with.
    ///
    /// # Errors
    /// All problems of the data, of the selection and of `deployment`.
    pub fn new(context: &Context, selection: &Selection, parallel: u16, force: bool) -> Result<Start, Problems> {
        let loaded = context.load()?;
        let selected = selection.of_nodes(&loaded)?;
        let catalogue = Catalogue::build(&loaded.workspace, &selected)?;
        let later = Later::layers(&loaded, selection, &selected)?;
        Start::over(selection, loaded, catalogue, later, parallel, force)
    }

    /// The same, where nodes whose data reads what the layers of other selected nodes bring come later; layers that
    /// earlier rounds were `blocked` from stay so.
    ///
    /// # Errors
    /// As [`Start::new`], of those that can be read at once. Nodes and layers wait for each other.
    pub fn parted(
        context: &Context,
        selection: &Selection,
        parallel: u16,
        force: bool,
        blocked: &[Blocked],
    ) -> Result<Start, Problems> {
        let loaded = context.load()?;
        let selected = selection.of_nodes(&loaded)?;
        let (first, later) = Later::part(&loaded, selection, selected, blocked)?;
        let built = Catalogue::build(&loaded.workspace, &first);
        let catalogue = built.map_err(|mut problems| {
            // All are told at once.
            problems.extend(later.problems(&loaded.workspace).1);
            problem::sort(&mut problems);
            problems
        })?;
        Start::over(selection, loaded, catalogue, later, parallel, force)
    }

    fn over(
        selection: &Selection,
        loaded: Loaded,
        catalogue: Catalogue,
        later: Later,
        parallel: u16,
        force: bool,
    ) -> Result<Start, Problems> {
        // The modules of nodes that come later are asked for as well, and known only then.
        if later.is_empty() {
            selection.check_modules(catalogue.entries.iter().flat_map(|e| e.modules.iter().map(|m| &**m)))?;
        }
        let problems = catalogue.check_deployments();
        if !problems.is_empty() {
            return Err(problems);
        }
        let options = Options {
            only: selection.modules.iter().cloned().collect(),
            force,
            parallel: parallel.into(),
            purpose: purpose(),
            step_limit: STEP,
        };
        Start::with(loaded, catalogue, options, later)
    }

    /// The same for what is done on nodes whatever their modules say: the catalogue has the `deployment` of the selected
    /// nodes and nothing else.
    ///
    /// # Errors
    /// All problems of the selection and of `deployment`.
    pub fn reach(context: &Context, selection: &Selection, parallel: u16) -> Result<Start, Problems> {
        if !selection.modules.is_empty() {
            let problem = Problem::usage("`--module` means nothing here: this is about whole nodes");
            return Err(problem.help("take the nodes of a role with `--role ROLE`").into());
        }
        let loaded = context.load()?;
        let selected = selection.of_nodes(&loaded)?;
        let catalogue = Catalogue::reach(&loaded.workspace, &selected)?;
        // A command may print what any module of these nodes brought there.
        Catalogue::open_secrets(&loaded.workspace, &selected, &loaded.vault);
        let problems = catalogue.check_deployments();
        if !problems.is_empty() {
            return Err(problems);
        }
        let options = Options {
            only: Default::default(),
            force: false,
            parallel: parallel.into(),
            purpose: purpose(),
            step_limit: STEP,
        };
        Start::with(loaded, catalogue, options, Later::default())
    }

    fn with(loaded: Loaded, catalogue: Catalogue, options: Options, later: Later) -> Result<Start, Problems> {
        let screen = Arc::new(ui::watch::Screen::default());
        let stop = Stop::default();
        let halt = Stops::default();
        let setup = Arc::new(setup(loaded, &screen, halt.clone(), later.back()));
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Problem::new(format!("cannot start the threads of a run: {e}")))?;
        runtime.spawn(listen(stop.clone()));
        runtime.spawn(hand_on(stop.clone(), halt));
        Ok(Start {
            catalogue,
            options: Arc::new(options),
            stop,
            later,
            setup,
            screen,
            runtime,
            begun: clock::instant(),
        })
    }

    pub fn mask(&self) -> Mask {
        self.setup.vault.mask().clone()
    }

    /// Takes only these modules of each node; none: all.
    pub fn restrict(&mut self, modules: &[String]) {
        Arc::make_mut(&mut self.options).only = modules.iter().cloned().collect();
    }

    /// What the run works with.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    pub fn workspace(&self) -> &crate::catalogue::Workspace {
        &self.setup.workspace
    }

    pub fn root(&self) -> &Path {
        self.setup.workspace.root()
    }

    /// Runs `work`; then leaves behind whatever still waits, a question or a login, instead of waiting for it.
    pub fn finish<T>(mut self, work: impl FnOnce(&mut Start) -> T) -> T {
        let outcome = work(&mut self);
        self.runtime.shutdown_timeout(Duration::from_millis(100));
        outcome
    }

    /// Connects to every node and plans it. Hosts that are not known are listed together and asked about once.
    ///
    /// # Errors
    /// The known-hosts file cannot be written, or the answer was Ctrl-C.
    pub fn gather(&self, prepared: Vec<Prepared>, title: &str) -> Result<Gathered, Problems> {
        let mut gathered = self.gather_all(prepared, title);
        let unknown = std::mem::take(&mut gathered.unknown);
        if unknown.is_empty() || self.stop.asked() {
            return Ok(gathered);
        }
        let targets: Vec<&Target> = unknown.iter().map(|prepared| &prepared.target).collect();
        if self.introduce(&targets)? {
            gathered.replace(self.gather_all(unknown, title));
        }
        Ok(gathered)
    }

    /// Lists the keys of hosts that are not known, and asks once about them. True where they are known now.
    fn introduce(&self, targets: &[&Target]) -> Result<bool, Problems> {
        let learned = self.block(hostkey::learn(targets, &self.setup.access));
        let keys: Vec<HostKey> = learned.into_iter().flatten().collect();
        if keys.is_empty() {
            return Ok(false);
        }
        ui::err(&ui::hosts::render(&keys, Paint::ON));
        if ui::ask::possible("", "").is_err() || !self.confirm("Are these their fingerprints? Add the keys?")? {
            return Ok(false);
        }
        hostkey::accept(&keys)?;
        Ok(true)
    }

    /// How the nodes of the catalogue are reached.
    ///
    /// # Errors
    /// All problems of all nodes.
    pub fn targets(&self) -> Result<Vec<Target>, Problems> {
        run::targets(&self.setup, &self.catalogue)
    }

    /// Does an errand on all `targets`. Hosts that are not known are listed together and asked about once.
    ///
    /// # Errors
    /// As [`Start::gather`].
    pub fn adhoc(&self, targets: Vec<Target>, errand: Errand, title: &str) -> Result<Vec<Reply>, Problems> {
        let errand = Arc::new(errand);
        let work = |targets| {
            let watch: Arc<dyn Watch> = self.screen.clone();
            self.block(run::adhoc(&self.setup, targets, &errand, &watch, &self.stop))
        };
        let mut replies = self.each(targets.clone(), title, work);
        for second in self.again(targets, replies.iter().map(|r| r.answer.as_ref().err()), title, work)? {
            if let Some(first) = replies.iter_mut().find(|reply| reply.node == second.node) {
                *first = second;
            }
        }
        Ok(replies)
    }

    /// Looks at the locks of all `targets`, as [`Start::adhoc`] works.
    ///
    /// # Errors
    /// As [`Start::gather`].
    pub fn look(&self, targets: Vec<Target>) -> Result<Vec<Look>, Problems> {
        let title = "looking at locks";
        let work = |targets| {
            let watch: Arc<dyn Watch> = self.screen.clone();
            self.block(run::unlock::look(&self.setup, targets, self.options.parallel, &watch, &self.stop))
        };
        let mut looks = self.each(targets.clone(), title, work);
        for second in self.again(targets, looks.iter().map(|look| look.answer.as_ref().err()), title, work)? {
            if let Some(first) = looks.iter_mut().find(|look| look.node == second.node) {
                *first = second;
            }
        }
        Ok(looks)
    }

    /// Ends the sessions of [`Start::look`]; where `take` is true, takes the locks away before.
    pub fn unlock(&self, looks: Vec<Look>, take: bool) -> Vec<(String, Result<run::Lock, Failure>)> {
        let by = self.options.purpose.as_str();
        self.block(run::unlock::unlock(looks, take.then_some(by)))
    }

    /// Does the work on targets under the eyes of whoever waits for it.
    fn each<T>(&self, targets: Vec<Target>, title: &str, work: impl Fn(Vec<Target>) -> Vec<T>) -> Vec<T> {
        self.screen.begin(title, targets.len());
        let found = work(targets);
        self.screen.end();
        found
    }

    /// Does the work again on those targets whose host key was not known and is now.
    fn again<'a, T>(
        &self,
        targets: Vec<Target>,
        failures: impl Iterator<Item = Option<&'a Failure>>,
        title: &str,
        work: impl Fn(Vec<Target>) -> Vec<T>,
    ) -> Result<Vec<T>, Problems> {
        let unknown = |failure: Option<&Failure>| failure.is_some_and(|f| f.reason == Reason::UnknownHost);
        let strangers = targets.into_iter().zip(failures).filter(|(_, failure)| unknown(*failure));
        let strangers: Vec<Target> = strangers.map(|(target, _)| target).collect();
        if strangers.is_empty() || self.stop.asked() || !self.introduce(&strangers.iter().collect::<Vec<_>>())? {
            return Ok(Vec::new());
        }
        Ok(self.each(strangers, title, work))
    }

    fn gather_all(&self, prepared: Vec<Prepared>, title: &str) -> Gathered {
        self.screen.begin(title, prepared.len());
        let watch: Arc<dyn Watch> = self.screen.clone();
        let gathered = self.block(run::gather(&self.setup, prepared, &self.options, &watch, &self.stop));
        self.screen.end();
        gathered
    }

    /// Reads the layers of these nodes that were held back, and plans the nodes anew.
    pub fn rest(&self, gathered: &mut Gathered, nodes: &BTreeSet<String>) {
        if nodes.is_empty() {
            return;
        }
        self.screen.begin("planning layers", nodes.len());
        let found = std::mem::take(gathered);
        *gathered = self.block(run::rest(&self.setup, found, nodes, &self.options, &*self.screen));
        self.screen.end();
    }

    /// Performs the plan; what happens goes to the screen and to the record.
    pub fn perform(&self, gathered: Gathered, record: &Arc<Record>) -> run::Rolled {
        self.screen.begin("applying", self.catalogue.entries.len());
        let watch: Arc<dyn Watch> = Arc::new(run::Both(self.screen.clone(), record.clone()));
        let rolled =
            self.block(run::perform(&self.setup, gathered, &self.options, &watch, &self.stop, record.folder()));
        self.screen.end();
        rolled
    }

    /// What the record says of the run as a whole.
    pub fn about(&self, selection: &Selection, dry_run: bool) -> About {
        let list = |names: &[String]| names.iter().map(Plain::from).collect::<Plain>();
        let selection = Plain::from_iter([
            ("roles", list(&selection.roles)),
            ("nodes", list(&selection.nodes)),
            ("modules", list(&selection.modules)),
            ("affected", Plain::from(selection.affected.clone())),
            ("failed", Plain::from(selection.failed)),
        ]);
        About { purpose: self.options.purpose.clone(), selection, dry_run, before: self.begun.elapsed() }
    }

    /// What the record keeps of each node that was reached.
    pub fn records(&self, gathered: &Gathered) -> Vec<NodeRecord> {
        gathered.records(&self.setup.vault)
    }

    /// How many seconds ago something was last read from a node.
    pub fn facts_age(&self, node: &str) -> Option<i64> {
        run::facts::read_at(self.root(), node).map(|at| (clock::now() - at).num_seconds())
    }

    /// Warns of every lookup that finds fewer nodes than in the last run.
    pub fn shrunken(&self) -> Problems {
        run::pool::shrunken(&self.setup.workspace, &self.catalogue.reads)
    }

    /// Records what the lookups find, for the next run.
    ///
    /// # Errors
    /// The record cannot be written.
    pub fn record_lookups(&self, record: &Record) -> Result<(), Problem> {
        run::pool::record(record.folder(), &self.setup.workspace, &self.catalogue.reads, &self.mask())
    }

    /// Removes the records that need not be kept any longer. Where that fails the run is as good as ever.
    pub fn prune(&self) {
        let pruned = run::prune::prune(self.root(), self.setup.workspace.keep(), clock::now(), false);
        ui::warn(
            &pruned.err().map(|problem| problem.kind(Kind::Warning)).into_iter().collect::<Problems>(),
            &self.mask(),
        );
    }

    /// Ends all sessions without having changed anything.
    pub fn leave(&self, gathered: Gathered) -> Vec<(String, run::Outcome)> {
        self.block(run::leave(gathered))
    }

    /// Asks a question that Ctrl-C may answer, too.
    ///
    /// # Errors
    /// There is no terminal, or the answer was Ctrl-C.
    pub fn confirm(&self, question: &'static str) -> Result<bool, Problems> {
        let stop = self.stop.clone();
        let answer = self.block(async move {
            let asked = tokio::task::spawn_blocking(move || {
                ui::ask::confirm(question, "apply without asking with `--confirm`")
            });
            tokio::select! {
                answer = asked => answer.unwrap_or(Ok(false)),
                () = stop.wished() => {
                    // The terminal shows `^C` behind the question.
                    ui::err("\n");
                    Err(Problem::new("interrupted, nothing was changed").kind(Kind::Interrupted))
                }
            }
        });
        Ok(answer?)
    }

    fn block<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}

fn setup(loaded: Loaded, screen: &Arc<ui::watch::Screen>, halt: Stops, back: Back) -> Setup {
    let Loaded { context, workspace, settings, vault, mask, modules } = loaded;
    let sudo = match settings.sudo_password {
        Some(word) => {
            mask.add(&word);
            Sudo::given(Some(word))
        }
        None if ui::ask::possible("", "").is_ok() => {
            let screen = screen.clone();
            Sudo::asking(move |node| {
                let ask = || ui::ask::hidden(&format!("sudo password (first for {node})"), "set SUIL_SUDO_PASSWORD");
                let word = screen.pause(ask).ok()?;
                mask.add(&word);
                Some(word)
            })
        }
        None => Sudo::given(None),
    };
    let access = Access {
        sudo: Arc::new(sudo),
        mask: vault.mask().clone(),
        home: variable("HOME").map(Into::into),
        agent: variable("SSH_AUTH_SOCK").map(Into::into),
        ..Access::default()
    };
    let layers = Arc::new(Held::new(&context, workspace.root(), vault.mask(), halt, back));
    Setup { workspace, modules, vault, access, layers }
}

/// Each Ctrl-C, and each SIGTERM, asks for a stop: the first finishes what is in flight, the second leaves it. SIGHUP
/// stays what it was: under nohup it must do nothing.
pub(super) async fn listen(stop: Stop) {
    use tokio::signal::unix::{SignalKind, signal};
    let asked = async |kind| {
        let Ok(mut signals) = signal(kind) else { return };
        while signals.recv().await.is_some() {
            stop.ask();
        }
    };
    tokio::join!(asked(SignalKind::interrupt()), asked(SignalKind::terminate()));
}

/// Lets Terraform hear of each wish to stop.
async fn hand_on(stop: Stop, halt: Stops) {
    stop.wished().await;
    halt.before.ask();
    stop.demanded().await;
    halt.before.ask();
    halt.after.ask();
}

/// `anna@desk: suil apply --role web`, or with a reason `anna@desk: new kernel (suil apply --role web)`. Arguments of
/// suil never hold a secret of the workspace.
pub(super) fn purpose() -> String {
    let words: Vec<String> = std::env::args().skip(1).collect();
    format!("{}: {}", who(), work(&words))
}

/// `anna@desk`
pub(super) fn who() -> String {
    format!("{}@{}", user(), rustix::system::uname().nodename().to_string_lossy())
}

/// The login name of who runs suil.
pub(super) fn user() -> String {
    variable("USER").or_else(|| variable("LOGNAME")).unwrap_or_else(|| "someone".to_owned())
}

/// The command line as it stands in a lock, the reason before it.
fn work(words: &[String]) -> String {
    let mut command = Vec::new();
    let mut reason = None;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.strip_prefix("--reason") {
            // Behind `--` stands the command of `suil run`.
            _ if word == "--" => {
                command.push(word);
                command.extend(rest.by_ref());
            }
            Some("") => reason = rest.next().map(String::as_str),
            Some(value) if value.starts_with('=') => reason = value.strip_prefix('='),
            _ => command.push(word),
        }
    }
    let command = format!("suil {}", crate::base::shell::join(command.into_iter().map(String::as_str)));
    reason.map_or(command.clone(), |reason| format!("{reason} ({command})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_stands_before_the_command() {
        let work = |line: &str| work(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(work("apply --role web --reason kernel --confirm"), "kernel (suil apply --role web --confirm)");
        assert_eq!(work("apply --reason=kernel"), "kernel (suil apply)");
        assert_eq!(work("run --node a -- x --reason y"), "suil run --node a -- x --reason y");
    }
}
