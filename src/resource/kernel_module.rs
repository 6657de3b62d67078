//! `kernel_module`: in the running kernel, and loaded at every boot by a file of /etc/modules-load.d.

use super::settle::settle;
use super::*;
use crate::common_methods;

pub const KIND: Kind = Kind { name: "kernel_module", attributes: &["ensure", "now"], build, join: None };

#[derive(Debug)]
struct KernelModule {
    common: Common,
    present: bool,
    /// Whether the running kernel follows.
    now: bool,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    if from.name.starts_with('-') || !from.name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)) {
        return Err(from
            .problem("this is no name of a kernel module")
            .expected("expected letters, digits, `_` and `-`"));
    }
    Ok(Arc::new(KernelModule {
        common: from.common(from.name)?,
        present: from.present()?,
        now: from.boolean("now")?.unwrap_or(true),
    }))
}

impl Resource for KernelModule {
    common_methods!("kernel_module");

    fn requests(&self) -> Vec<Request> {
        vec![self.request()]
    }

    fn wanted(&self) -> Plain {
        let ensure = if self.present { "present" } else { "absent" };
        Plain::from_iter([("name", Plain::from(self.name())), ("ensure", Plain::from(ensure))])
    }

    fn compare(&self, facts: &Facts, _ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let fields = facts.known(&self.request()).map_err(|words| path::unknown(self, &words))?;
        let wanted = if self.present { "yes" } else { "no" };
        let mut diff = Diff::default();
        for name in ["loaded", "saved"] {
            let found = fields.text(name).unwrap_or_else(|| "no".to_owned());
            if found != wanted && (name == "saved" || self.now) {
                diff = diff.attribute(name, Some(found), Some(wanted.to_owned()));
            }
        }
        if diff.attributes.is_empty() && !(force && self.present) {
            return Ok(Vec::new());
        }
        let (verb, word) = if self.present { (Verb::Change, "load") } else { (Verb::Remove, "unload") };
        let now = if self.now { "now" } else { "later" };
        Ok(vec![Change {
            verb,
            title: format!("{word} the kernel module {}", self.name()),
            diff,
            action: Action::script(format!("kernel_module_{word} {} {now}\n", self.name())),
            ..Change::default()
        }])
    }

    fn settle(&self, facts: &mut Facts) {
        settle(facts, &self.request(), &[("loaded", "no"), ("saved", "no")], |fields| {
            let wanted = if self.present { "yes" } else { "no" };
            fields.set("saved", wanted);
            if self.now {
                fields.set("loaded", wanted);
            }
        });
    }
}

impl KernelModule {
    fn request(&self) -> Request {
        Request::new("kernel_module", [self.common.name.as_str()])
    }
}
