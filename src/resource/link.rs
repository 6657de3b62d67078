//! `link`: a symlink and where it points.

use super::access;
use super::path::{self, Found, Type, Want};
use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind = Kind { name: "link", attributes: &["target", "ensure"], build, join: None };

#[derive(Debug)]
struct Link {
    common: Common,
    /// `None`: absent.
    target: Option<String>,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let path = from.absolute("path", from.name)?;
    let target = match from.present()? {
        true => Some(from.required("target")?),
        false => None,
    };
    if target.as_deref() == Some("") || path == "/" {
        return Err(from.problem("the path or `target` is empty").expected("expected a path"));
    }
    Ok(Arc::new(Link { target, common: from.common(path)? }))
}

impl Resource for Link {
    common_methods!("link");

    fn requests(&self) -> Vec<Request> {
        let parent = path::request(path::parent(self.name()), Want::Nothing);
        // What stands there decides whether something may be put behind the link.
        let target = self.real().map(|real| path::request(&real, Want::Nothing));
        [self.request(), parent].into_iter().chain(target).collect()
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::map();
        wanted.set("path", self.name());
        wanted.set("ensure", if self.target.is_some() { "present" } else { "absent" });
        if let Some(target) = &self.target {
            wanted.set("target", target);
        }
        wanted
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let found = Found::read(facts, &self.request()).map_err(|words| path::unknown(self, &words))?;
        if !matches!(found.kind, Type::Missing | Type::Link) {
            return Err(path::in_the_way(self, &found.kind, &found.kind));
        }
        let Some(target) = &self.target else {
            let there = found.kind == Type::Link;
            return Ok(if there { vec![path::removal(self.name(), &found.kind)] } else { Vec::new() });
        };
        if found.target.as_ref() == Some(target) && !force {
            return Ok(Vec::new());
        }
        Ok(vec![Change {
            verb: if found.kind == Type::Missing { Verb::Create } else { Verb::Change },
            title: format!("link {} to {target}", self.name()),
            diff: Diff::default().attribute("target", found.target.clone(), Some(target.clone())),
            action: Action::script(format!("put_link {}\n", shell::join([target.as_str(), self.name()]))),
            judged_then: path::parent_is_there(self, self.name(), facts, ahead)?,
            brings: vec![Brought::Path(self.name().to_owned())],
            guards_access: access::guards(self.name()),
            undo: None,
        }])
    }

    fn claim(&self) -> Option<(&str, Claim)> {
        Some((self.name(), Claim::Whole))
    }

    fn settle(&self, facts: &mut Facts) {
        let Some(target) = &self.target else {
            path::settle(facts, self.name(), &self.request(), |fields| *fields = path::missing(fields));
            return;
        };
        let real = self.real().unwrap_or_default();
        let there = facts.iter().find(|(request, _)| request.kind == path::KIND && request.args.first() == Some(&real));
        let there = match there {
            Some((_, Answer::Known(fields))) => fields.clone(),
            _ => Fields::of([("type", "missing")]),
        };
        path::settle(facts, self.name(), &self.request(), |fields| {
            *fields = path::missing(fields);
            fields.set("type", "link");
            fields.set("target", target.as_str());
            fields.set("real", real.as_str());
            for name in ["type", "mode", "uid", "gid", "owner", "group", "size"] {
                if let Some(value) = there.bytes(name) {
                    fields.set(&format!("to_{name}"), value);
                }
            }
        });
    }
}

impl Link {
    /// Where the target is, seen from the root.
    fn real(&self) -> Option<String> {
        let target = self.target.as_ref()?;
        let folder = path::parent(self.name()).trim_end_matches('/');
        Some(if target.starts_with('/') { target.clone() } else { format!("{folder}/{target}") })
    }

    fn request(&self) -> Request {
        path::request(&self.common.name, Want::Nothing)
    }
}
