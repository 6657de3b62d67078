//! `locale`: the system's LANG, generated where the node's libc needs that.

use super::settle::settle;
use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind = Kind { name: "locale", attributes: &[], build, join: None };

#[derive(Debug)]
struct Locale {
    common: Common,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    if from.name.starts_with('-') || !from.name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.@".contains(&b)) {
        return Err(from.problem("this is no locale").expected("expected a name such as `en_US.UTF-8`"));
    }
    Ok(Arc::new(Locale { common: from.common(from.name)? }))
}

impl Resource for Locale {
    common_methods!("locale");

    fn requests(&self) -> Vec<Request> {
        vec![self.request()]
    }

    fn wanted(&self) -> Plain {
        Plain::from_iter([("name", Plain::from(self.name()))])
    }

    fn compare(&self, facts: &Facts, _ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let file = match facts.family.as_str() {
            "debian" => "/etc/default/locale",
            "redhat" | "suse" | "arch" => "/etc/locale.conf",
            family => {
                let what = format!("locale `{}`: locales are not supported yet on family `{family}`", self.name());
                let problem = Problem::new(what);
                return Err(match self.common.place {
                    Some(place) => problem.at(place),
                    None => problem,
                });
            }
        };
        let fields = facts.known(&self.request()).map_err(|words| path::unknown(self, &words))?;
        let found = fields.text("lang").map(|lang| lang.trim_matches('"').to_owned()).filter(|lang| !lang.is_empty());
        let have = fields.text("have").unwrap_or_default();
        let there = have.lines().any(|known| plain(known) == plain(self.name()));
        let mut diff = Diff::default();
        if !there {
            diff = diff.attribute("generated", Some("no".to_owned()), Some("yes".to_owned()));
        }
        if found.as_deref() != Some(self.name()) {
            diff = diff.attribute("LANG", found, Some(self.name().to_owned()));
        }
        if diff.attributes.is_empty() && !force {
            return Ok(Vec::new());
        }
        Ok(vec![Change {
            title: format!("set the locale to {}", self.name()),
            diff,
            action: Action::script(format!("locale_set {} {file}\n", shell::quote(self.name()))),
            brings: vec![Brought::Path(file.to_owned())],
            ..Change::default()
        }])
    }

    fn settle(&self, facts: &mut Facts) {
        settle(facts, &self.request(), &[], |fields| {
            fields.set("lang", self.common.name.as_str());
            fields.set("have", self.common.name.as_str());
        });
    }
}

impl Locale {
    fn request(&self) -> Request {
        Request::new("locale", [self.common.name.as_str()])
    }
}

/// `locale -a` writes `en_US.utf8` for `en_US.UTF-8`.
fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "")
}
