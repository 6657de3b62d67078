//! `hostname`: the name that the kernel has now and the one that the next boot gives.

use super::settle::settle;
use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind = Kind { name: "hostname", attributes: &[], build, join: None };

#[derive(Debug)]
struct Hostname {
    common: Common,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    if from.name.len() > 64 || !from.name.split('.').all(label) {
        return Err(from
            .problem("this is no hostname")
            .expected("expected letters, digits and `-`, parted by dots, at most 64 characters"));
    }
    Ok(Arc::new(Hostname { common: from.common(from.name)? }))
}

impl Resource for Hostname {
    common_methods!("hostname");

    fn requests(&self) -> Vec<Request> {
        vec![Request::new("hostname", [])]
    }

    fn wanted(&self) -> Plain {
        Plain::from_iter([("name", Plain::from(self.name()))])
    }

    fn compare(&self, facts: &Facts, _ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let fields = facts.known(&Request::new("hostname", [])).map_err(|words| path::unknown(self, &words))?;
        let mut diff = Diff::default();
        for name in ["now", "saved"] {
            let found = fields.text(name).filter(|found| !found.is_empty());
            if found.as_deref() != Some(self.name()) {
                diff = diff.attribute(name, found, Some(self.name().to_owned()));
            }
        }
        if diff.attributes.is_empty() && !force {
            return Ok(Vec::new());
        }
        Ok(vec![Change {
            title: format!("set the hostname to {}", self.name()),
            diff,
            action: Action::script(format!("hostname_set {}\n", shell::quote(self.name()))),
            brings: vec![Brought::Path("/etc/hostname".to_owned())],
            ..Change::default()
        }])
    }

    fn settle(&self, facts: &mut Facts) {
        settle(facts, &Request::new("hostname", []), &[], |fields| {
            fields.set("now", self.common.name.as_str());
            fields.set("saved", self.common.name.as_str());
        });
    }
}
