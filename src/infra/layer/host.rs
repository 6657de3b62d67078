//! What templates of a layer may ask for.

use super::site::Name;
use super::{Layer, Run};
use crate::infra::jinja::{Answer, Host, Lookup, Target};
use std::sync::Arc;

/// Answers the templates of one layer.
pub struct Asked {
    pub run: Arc<Run>,
    pub layer: Layer,
}

impl Asked {
    /// The layer that a template asks about.
    fn other(&self, target: &Target) -> Result<Layer, String> {
        let given = |part: &Option<String>| part.clone().filter(|part| !part.is_empty());
        let name = Name {
            environment: given(&target.environment).unwrap_or_else(|| self.layer.name.environment.clone()),
            subenvironment: given(&target.subenvironment),
            instance: given(&target.instance),
        };
        let layer = self.layer.beside(given(&target.stack).as_deref(), name, &self.run);
        layer.map_err(|problem| problem.what)
    }

    fn closed(&self, target: &Target) -> Result<Answer, String> {
        let other = self.other(target)?.label();
        Err(format!("suil does not read the state of `{other}` yet"))
    }
}

impl Host for Asked {
    fn file(&self, path: &str) -> Result<String, String> {
        self.run.file(&self.layer, path)
    }

    fn variable(&self, name: &str, target: &Target) -> Result<Answer, String> {
        let other = self.other(target)?;
        let variables = self.run.plain(&other).map_err(|problems| {
            let tell = |problem: &crate::base::Problem| match problem.place {
                Some(place) => format!("{place}: {}", problem.what),
                None => problem.what.clone(),
            };
            problems.iter().map(tell).collect::<Vec<_>>().join("; ")
        })?;
        Ok(match variables.0.get(name) {
            Some(variable) => Answer::Value(variable.value.clone()),
            None => Answer::Absent(format!("layer `{}` has no variable `{name}`", other.label())),
        })
    }

    fn output(&self, _name: &str, target: &Target) -> Result<Answer, String> {
        self.closed(target)
    }

    fn resource(&self, _address: &str, target: &Target) -> Result<Answer, String> {
        self.closed(target)
    }

    fn lookup(&self, _asked: &Lookup) -> Result<Answer, String> {
        Err("suil does not read the host data from a layer yet".to_owned())
    }
}
