//! What `apply` and `facts` share: from the command line to sessions with nodes.

use super::load::Loaded;
use super::settings::variable;
use super::{Context, Outcome, Selection};
use crate::base::{Mask, Problem, Problems, problem::Kind};
use crate::catalogue::Catalogue;
use crate::node::hostkey::{self, HostKey};
use crate::node::{Access, Sudo, Target};
use crate::run::{self, Gathered, NodeRecord, Options, Prepared, Record, Setup, Stop, Watch};
use crate::ui::{self, Paint};
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
    runtime: Runtime,
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
        let catalogue = Catalogue::build(&loaded.workspace, &selection.of_nodes(&loaded)?)?;
        selection.check_modules(catalogue.entries.iter().flat_map(|e| e.modules.iter().map(|m| &**m)))?;
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
        let screen = Arc::new(ui::watch::Screen::default());
        let setup = Arc::new(setup(loaded, &screen));
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Problem::new(format!("cannot start the threads of a run: {e}")))?;
        let stop = Stop::default();
        runtime.spawn(listen(stop.clone()));
        Ok(Start { catalogue, options: Arc::new(options), stop, setup, screen, runtime })
    }

    pub fn mask(&self) -> Mask {
        self.setup.vault.mask().clone()
    }

    pub fn root(&self) -> &Path {
        self.setup.workspace.root()
    }

    /// Runs `work`; then leaves behind whatever still waits, a question or a login, instead of waiting for it.
    pub fn finish(self, work: impl FnOnce(&Start) -> Outcome) -> Outcome {
        let outcome = work(&self);
        self.runtime.shutdown_timeout(Duration::from_millis(100));
        outcome
    }

    /// Prepares every selected node.
    ///
    /// # Errors
    /// All problems that can be known before anything connects.
    pub fn prepare(&self) -> Result<Vec<Prepared>, Problems> {
        run::prepare(&self.setup, &self.catalogue, &self.options)
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
        let learned = self.block(hostkey::learn(&targets, &self.setup.access));
        let keys: Vec<HostKey> = learned.into_iter().flatten().collect();
        if keys.is_empty() {
            return Ok(gathered);
        }
        ui::err(&ui::hosts::render(&keys, Paint::ON));
        if ui::ask::possible("", "").is_err() || !self.confirm("Are these their fingerprints? Add the keys?")? {
            return Ok(gathered);
        }
        hostkey::accept(&keys)?;
        gathered.replace(self.gather_all(unknown, title));
        Ok(gathered)
    }

    fn gather_all(&self, prepared: Vec<Prepared>, title: &str) -> Gathered {
        self.screen.begin(title, prepared.len());
        let watch: Arc<dyn Watch> = self.screen.clone();
        let gathered = self.block(run::gather(&self.setup, prepared, &self.options, &watch, &self.stop));
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
        home: variable("HOME").map(Into::into),
        agent: variable("SSH_AUTH_SOCK").map(Into::into),
        ..Access::default()
    };
    Setup { workspace, modules, vault, access }
}

/// Each Ctrl-C, and each SIGTERM, asks for a stop: the first finishes what is in flight, the second leaves it. SIGHUP
/// stays what it was: under nohup it must do nothing.
async fn listen(stop: Stop) {
    use tokio::signal::unix::{SignalKind, signal};
    let asked = async |kind| {
        let Ok(mut signals) = signal(kind) else { return };
        while signals.recv().await.is_some() {
            stop.ask();
        }
    };
    tokio::join!(asked(SignalKind::interrupt()), asked(SignalKind::terminate()));
}

/// `anna@desk: suil apply --role web`. Arguments of suil never hold a secret of the workspace.
fn purpose() -> String {
    let user = variable("USER").or_else(|| variable("LOGNAME")).unwrap_or_else(|| "someone".to_owned());
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let words: Vec<String> = std::env::args().skip(1).collect();
    format!("{user}@{host}: suil {}", crate::base::shell::join(words.iter().map(String::as_str)))
}
