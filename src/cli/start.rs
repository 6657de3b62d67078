//! What `apply` and `facts` share: from the command line to sessions with nodes.

use super::load::Loaded;
use super::{Context, Outcome, Selection};
use crate::base::{Mask, Problem, Problems, problem::Kind};
use crate::catalogue::Catalogue;
use crate::node::{Access, Sudo};
use crate::run::{self, Gathered, NodeRecord, Options, Record, Setup, Stop, Watch};
use crate::ui;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

/// A run that is ready to connect.
pub struct Start {
    pub catalogue: Catalogue,
    pub options: Arc<Options>,
    pub stop: Stop,
    setup: Arc<Setup>,
    screen: Arc<ui::watch::Screen>,
    runtime: Option<Runtime>,
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
        let catalogue = Catalogue::build(&loaded.workspace, &selection.of_nodes())?;
        selection.check_modules(catalogue.entries.iter().flat_map(|e| e.modules.iter().map(|m| &**m)))?;
        let problems = catalogue.check_deployments();
        if !problems.is_empty() {
            return Err(problems);
        }
        let options = Options {
            only: selection.modules.iter().cloned().collect(),
            force,
            parallel: parallel.into(),
            step_limit: STEP,
        };
        let screen = Arc::new(ui::watch::Screen::default());
        let setup = Arc::new(setup(loaded, &screen));
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Problem::new(format!("cannot start the threads of a run: {e}")))?;
        let stop = Stop::default();
        runtime.spawn(listen(stop.clone()));
        Ok(Start { catalogue, options: Arc::new(options), stop, setup, screen, runtime: Some(runtime) })
    }

    pub fn mask(&self) -> Mask {
        self.setup.vault.mask().clone()
    }

    pub fn root(&self) -> &Path {
        self.setup.workspace.root()
    }

    /// Runs `work`; then leaves behind whatever still waits, a question or a login, instead of waiting for it.
    pub fn finish(mut self, work: impl FnOnce(&Start) -> Outcome) -> Outcome {
        let outcome = work(&self);
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_millis(100));
        }
        outcome
    }

    /// Connects to every node and plans it.
    pub fn gather(&self, title: &str) -> Gathered {
        self.screen.begin(title, self.catalogue.entries.len());
        let watch: Arc<dyn Watch> = self.screen.clone();
        let gathered = self.block(run::gather(&self.setup, &self.catalogue, &self.options, &watch, &self.stop));
        self.screen.end();
        gathered
    }

    /// Performs the plan; what happens goes to the screen and to the record.
    pub fn perform(&self, gathered: Gathered, record: &Arc<Record>) -> Vec<(String, run::Outcome)> {
        self.screen.begin("applying", self.catalogue.entries.len());
        let watch: Arc<dyn Watch> = Arc::new(run::Both(self.screen.clone(), record.clone()));
        let outcomes = self.block(run::perform(&self.setup, gathered, &self.options, &watch, &self.stop));
        self.screen.end();
        outcomes
    }

    /// What the record keeps of each node that was reached.
    pub fn records(&self, gathered: &Gathered) -> Vec<NodeRecord> {
        gathered.records(&self.setup.vault)
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
                answer = asked => answer.unwrap_or_else(|_| Ok(false)),
                () = stop.wished() => Err(Problem::new("interrupted, nothing was changed").kind(Kind::Interrupted)),
            }
        });
        Ok(answer?)
    }

    fn block<T>(&self, work: impl Future<Output = T>) -> T {
        match &self.runtime {
            Some(runtime) => runtime.block_on(work),
            None => unreachable!("the runtime is taken by `finish` alone"),
        }
    }
}

fn setup(loaded: Loaded, screen: &Arc<ui::watch::Screen>) -> Setup {
    let Loaded { workspace, settings, vault, mask, modules } = loaded;
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
        home: super::settings::variable("HOME").map(Into::into),
        agent: super::settings::variable("SSH_AUTH_SOCK").map(Into::into),
        ..Access::default()
    };
    Setup { workspace, modules, vault, access }
}

/// Each Ctrl-C asks for a stop: the first finishes what is in flight, the second leaves it.
async fn listen(stop: Stop) {
    while tokio::signal::ctrl_c().await.is_ok() {
        stop.ask();
    }
}
