//! `directory`: owner, group and mode of a folder. The folders above it are made where they are missing.

use super::access::{self, Access};
use super::path::{self, Found, Type, Want};
use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind =
    Kind { name: "directory", attributes: &["owner", "group", "mode", "ensure", "purge"], build, join: None };

#[derive(Debug)]
struct Directory {
    common: Common,
    access: Access,
    present: bool,
    /// An absent directory goes with all that is in it; else only when it is empty.
    purge: bool,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let path = from.absolute("path", from.name)?;
    let present = from.present()?;
    let purge = from.boolean("purge")?.unwrap_or(false);
    if purge && present {
        return Err(from
            .problem("`purge` goes with `ensure = \"absent\"` only")
            .expected("expected an absent directory"));
    }
    if !present && path.matches('/').count() < 2 {
        return Err(from.problem("a folder at the top of a node is never removed").expected("expected a deeper path"));
    }
    Ok(Arc::new(Directory { access: Access::read(from, 0o755, false)?, present, purge, common: from.common(path)? }))
}

impl Resource for Directory {
    common_methods!("directory");

    fn requests(&self) -> Vec<Request> {
        vec![self.request()]
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::map();
        wanted.set("path", self.name());
        wanted.set("ensure", if self.present { "present" } else { "absent" });
        if self.present {
            self.access.wanted(&mut wanted);
        } else {
            wanted.set("purge", self.purge);
        }
        wanted
    }

    fn compare(&self, facts: &Facts, _ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let found = Found::read(facts, &self.request()).map_err(|words| path::unknown(self, &words))?;
        if !self.present {
            return self.remove(&found);
        }
        let (kind, there) = found.followed();
        let path = shell::quote(self.name());
        let words = self.access.words(&found, (*kind == Type::Directory).then_some(there));
        let change = match kind {
            // A symlink that leads nowhere is in the way.
            Type::Missing if found.kind == Type::Missing => Change {
                verb: Verb::Create,
                title: format!("make directory {}", self.name()),
                diff: Diff { attributes: self.access.fresh(&found), text: None },
                action: Action::script(format!("make_directory {path} {words}\n")),
                ..Change::default()
            },
            Type::Directory => {
                let attributes = self.access.differs(&found, there);
                if attributes.is_empty() && !force {
                    return Ok(Vec::new());
                }
                Change {
                    title: format!("set {} of {}", super::file::names(&attributes), self.name()),
                    diff: Diff { attributes, text: None },
                    action: Action::script(format!("set_access {path} {words}\n")),
                    ..Change::default()
                }
            }
            other => return Err(path::in_the_way(self, &found.kind, other)),
        };
        let brings = vec![Brought::Path(self.name().to_owned())];
        Ok(vec![Change { guards_access: access::guards(self.name()), brings, ..change }])
    }

    fn claim(&self) -> Option<(&str, Claim)> {
        Some((self.name(), Claim::Whole))
    }

    fn settle(&self, facts: &mut Facts) {
        let above = self.above().into_iter().filter(|_| self.present);
        for folder in above {
            facts.update(path::KIND, folder, |_, answer| {
                if let Answer::Known(fields) = answer
                    && path::is_missing(fields)
                {
                    fields.set("type", "directory");
                    Access { owner: None, group: None, mode: None, default_mode: 0o755, whole: true }
                        .settle(fields, "", true);
                }
            });
        }
        path::settle(facts, self.name(), &self.request(), |fields| {
            if self.present {
                let made = path::is_missing(fields);
                let prefix = path::settle_type(fields, "directory");
                self.access.settle(fields, prefix, made);
            } else {
                *fields = path::missing(fields);
            }
        });
    }
}

impl Directory {
    fn request(&self) -> Request {
        path::request(&self.common.name, Want::Nothing)
    }

    /// The folders that are made with this one where they are missing.
    fn above(&self) -> Vec<&str> {
        std::iter::successors(Some(path::parent(self.name())), |at| Some(path::parent(at)))
            .take_while(|at| *at != "/")
            .collect()
    }

    fn remove(&self, found: &Found) -> Result<Vec<Change>, Problem> {
        match found.kind {
            Type::Missing => return Ok(Vec::new()),
            Type::Directory => {}
            ref other => return Err(path::in_the_way(self, &found.kind, other)),
        }
        let path = shell::quote(self.name());
        let mut change = path::removal(self.name(), &found.kind);
        change.title = format!("remove directory {}", self.name());
        if self.purge {
            change.title.push_str(" and all that is in it");
            change.action = Action::script(format!("rm -rf -- {path}\n"));
        } else {
            change.judged_then = Some("it is removed only if it is empty".to_owned());
            change.action = Action::script(format!("rmdir -- {path}\n"));
        }
        Ok(vec![change])
    }
}
