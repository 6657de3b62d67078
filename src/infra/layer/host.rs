//! What templates of a layer may ask for.

use super::remote::{Chain, Failure, Found, State, words};
use super::site::{Name, stands};
use super::{Layer, Looked, Run};
use crate::base::Problem;
use crate::infra::Value;
use crate::infra::jinja::{Answer, Host, Lookup, Target};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a template is told where no state may be read.
pub const NOT_READ: &str = "states of other layers are not read here";

/// Answers the templates of one layer.
pub struct Asked {
    pub run: Arc<Run>,
    pub layer: Layer,
    /// The layers that are built because of each other, this one last.
    pub chain: Chain,
    pub asking: Arc<Asking>,
}

/// What is to be known of the questions of a layer's templates, beside the answers.
#[derive(Default)]
pub struct Asking(Mutex<Told>);

/// The same of one template.
#[derive(Default)]
pub struct Told {
    /// An answer held a secret.
    pub secret: bool,
    /// What there is to say below the problem of the template.
    pub notes: Vec<String>,
    /// Layers that read each other; that is true of the layer, not of one template.
    cycle: Option<Vec<String>>,
}

impl Asking {
    /// What was asked since the last call.
    pub fn take(&self) -> Told {
        let mut told = self.told();
        let cycle = told.cycle.clone();
        std::mem::replace(&mut *told, Told { cycle, ..Told::default() })
    }

    /// The labels of layers that read each other, where one of the templates was on the way.
    pub fn cycle(&self) -> Option<Vec<String>> {
        self.told().cycle.clone()
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// The layer that a template asks about.
    pub(super) fn other(&self, target: &Target) -> Result<Layer, String> {
        let given = |part: &Option<String>| part.clone().filter(|part| !part.is_empty());
        let name = Name {
            environment: given(&target.environment).unwrap_or_else(|| self.layer.name.environment.clone()),
            subenvironment: given(&target.subenvironment),
            instance: given(&target.instance),
        };
        let layer = self.layer.beside(given(&target.stack).as_deref(), name, &self.run);
        layer.map_err(|problem| problem.what)
    }

    /// What `find` finds in the state of the layer that a template asks about.
    fn stored(&self, target: &Target, find: impl FnOnce(&State) -> Result<Found, Failure>) -> Result<Answer, String> {
        let other = self.other(target)?;
        if !self.run.reads {
            return Err(NOT_READ.to_owned());
        }
        // A layer that is gone from the working tree may still have a state.
        let here = |run: &&Arc<Run>| stands(run, &other.path) || !self.run.sources.is_folder(&other.path);
        let run = self.run.present.as_ref().filter(here).unwrap_or(&self.run);
        let found = self.run.states.get(run, &other, &self.chain).and_then(|state| find(&state));
        match found {
            Ok(Found::Value { value, secrets }) => Ok(self.answer(value, &secrets)),
            Ok(Found::Absent(words)) => Ok(Answer::Absent(words)),
            Err(Failure::Cycle(labels)) => {
                self.asking.told().cycle = Some(labels.clone());
                Err(format!("layers read each other: `{}`", labels.join("` -> `")))
            }
            Err(Failure::Said(what, notes)) => {
                self.asking.told().notes.extend(notes);
                Err(what)
            }
        }
    }

    /// The first line of what was in the way; the others stand below the problem of the template.
    fn told(&self, problems: &[Problem]) -> String {
        let mut lines = problems.iter().flat_map(words::problem);
        let what = lines.next().unwrap_or_default();
        self.asking.told().notes.extend(lines);
        what
    }

    fn answer(&self, value: Value, secrets: &[Value]) -> Answer {
        if !secrets.is_empty() {
            self.run.secrets.learn(secrets);
            self.asking.told().secret = true;
        }
        Answer::Value(value)
    }
}

impl Host for Asked {
    fn file(&self, path: &str) -> Result<String, String> {
        self.run.file(&self.layer, path)
    }

    fn variable(&self, name: &str, target: &Target) -> Result<Answer, String> {
        let other = self.other(target)?;
        let (variables, opened) = self.run.plain(&other).map_err(|problems| self.told(&problems))?;
        self.asking.told().secret |= opened;
        Ok(match variables.0.get(name) {
            Some(variable) => Answer::Value(variable.value.clone()),
            None => Answer::Absent(format!("layer `{}` has no variable `{name}`", other.label())),
        })
    }

    fn output(&self, name: &str, target: &Target) -> Result<Answer, String> {
        self.stored(target, |state| state.output(name))
    }

    fn resource(&self, address: &str, target: &Target) -> Result<Answer, String> {
        self.stored(target, |state| state.resource(address))
    }

    fn lookup(&self, asked: &Lookup) -> Result<Answer, String> {
        let Some(hosts) = &self.run.hosts else {
            self.asking
                .told()
                .notes
                .push("host data stands in `data/` of the root, or of a folder above it".to_owned());
            return Err("there is no host data".to_owned());
        };
        match hosts.lookup(asked) {
            Ok(Looked { value, secrets }) => Ok(self.answer(value, &secrets)),
            Err(problems) => Err(self.told(&problems)),
        }
    }
}
