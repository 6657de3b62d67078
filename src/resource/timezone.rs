//! `timezone`: where /etc/localtime points, and what /etc/timezone says where it is there.

use super::settle::settle;
use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind = Kind { name: "timezone", attributes: &[], build, join: None };

#[derive(Debug)]
struct Timezone {
    common: Common,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let good = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-_.".contains(&b))
    };
    if !from.name.split('/').all(good) {
        return Err(from.problem("this is no time zone").expected("expected a name such as `Europe/Berlin` or `UTC`"));
    }
    Ok(Arc::new(Timezone { common: from.common(from.name)? }))
}

impl Resource for Timezone {
    common_methods!("timezone");

    fn requests(&self) -> Vec<Request> {
        vec![self.request()]
    }

    fn wanted(&self) -> Plain {
        Plain::from_iter([("name", Plain::from(self.name()))])
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let fields = facts.known(&self.request()).map_err(|words| path::unknown(self, &words))?;
        let link = fields.text("link").unwrap_or_default();
        let found = link.rsplit_once("zoneinfo/").map(|(_, zone)| zone.to_owned());
        let mut diff = Diff::default();
        if found.as_deref() != Some(self.name()) {
            diff = diff.attribute("zone", found, Some(self.name().to_owned()));
        }
        if fields.text("has_text").as_deref() == Some("yes") && fields.text("text").as_deref() != Some(self.name()) {
            diff = diff.attribute("/etc/timezone", fields.text("text"), Some(self.name().to_owned()));
        }
        if diff.attributes.is_empty() && !force {
            return Ok(Vec::new());
        }
        let mut judged_then = None;
        if fields.text("zone").as_deref() != Some("yes") {
            if !ahead.any_package() {
                return Err(self.missing());
            }
            judged_then = Some(format!("/usr/share/zoneinfo/{} must come with a package", self.name()));
        }
        Ok(vec![Change {
            title: format!("set the time zone to {}", self.name()),
            diff,
            action: Action::script(format!("timezone_set {}\n", shell::quote(self.name()))),
            judged_then,
            ..Change::default()
        }])
    }

    fn settle(&self, facts: &mut Facts) {
        settle(facts, &self.request(), &[], |fields| {
            fields.set("link", format!("/usr/share/zoneinfo/{}", self.common.name));
            fields.set("text", self.common.name.as_str());
            fields.set("zone", "yes");
        });
    }
}

impl Timezone {
    fn request(&self) -> Request {
        Request::new("timezone", [self.common.name.as_str()])
    }

    fn missing(&self) -> Problem {
        let problem = Problem::new(format!("timezone `{0}`: the node has no /usr/share/zoneinfo/{0}", self.name()))
            .help("list the package `tzdata` before it, or correct the name");
        match self.common.place {
            Some(place) => problem.at(place),
            None => problem,
        }
    }
}
