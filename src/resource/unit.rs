//! `unit`: a unit file of systemd under /etc/systemd/system, read again by systemd whenever it changed.

use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind =
    Kind { name: "unit", attributes: &["content", "source", "template", "ensure", "mode"], build, join: None };

const FOLDER: &str = "/etc/systemd/system";

#[derive(Debug)]
struct Unit {
    common: Common,
    /// The unit that the file belongs to: its own name, or the one before `.d/` of a drop-in.
    unit: String,
    present: bool,
    file: Arc<dyn Resource>,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let (unit, drop_in) = match from.name.split_once(".d/") {
        Some((unit, file)) => (unit, Some(file)),
        None => (from.name, None),
    };
    let named = Attributes { kind: "unit", name: unit, values: from.values, content: None, place: from.place };
    if service::unit_name(&named)? != unit {
        return Err(from.problem("this unit has no suffix").expected("expected a name such as `app.service`"));
    }
    if drop_in.is_some_and(|file| !file.ends_with(".conf") || file.contains('/') || file.starts_with('.')) {
        return Err(from.problem("this is no drop-in").expected("expected a name such as `app.service.d/limits.conf`"));
    }
    let present = from.present()?;
    if present && from.content.is_none() && from.value("content").is_none() {
        return Err(from.problem("it has no content").expected("expected one of `content`, `source` and `template`"));
    }
    Ok(Arc::new(Unit {
        file: file_of(from, &format!("{FOLDER}/{}", from.name), from.content.clone(), from.values)?,
        unit: unit.to_owned(),
        present,
        common: from.common(from.name)?,
    }))
}

/// The `file` that a resource of another kind consists of, owned by root.
///
/// # Errors
/// What the file says of its attributes.
pub fn file_of(
    from: &Attributes<'_>,
    path: &str,
    content: Option<Content>,
    values: &Plain,
) -> Result<Arc<dyn Resource>, Problem> {
    let mut inner = Plain::from_iter([("owner", Plain::from("root")), ("group", Plain::from("root"))]);
    for key in ["content", "source", "template", "ensure", "mode"] {
        if let Some(value) = values.get(key) {
            inner.set(key, value.clone());
        }
    }
    build::build("file", path, &inner, content, from.place)
}

/// Stages the upload of an action beside its target only when the action runs, for a folder that may not be there
/// before: the action makes it.
pub fn staged_there(mut action: Action) -> Action {
    if let [upload] = action.uploads.as_mut_slice()
        && let Some(target) = upload.beside.take()
    {
        let staged = shell::quote(&format!("{target}.suil-new"));
        let folder = shell::quote(path::parent(&target));
        action.script = format!("mkdir -p -- {folder}\ncp -- \"$1\" {staged}\nset -- {staged}\n{}", action.script);
    }
    action
}

impl Resource for Unit {
    common_methods!("unit");

    fn requests(&self) -> Vec<Request> {
        let mut requests = self.file.requests();
        requests.push(service::request(&self.unit));
        requests
    }

    fn wanted(&self) -> Plain {
        self.file.wanted()
    }

    fn texts(&self) -> Vec<(String, String)> {
        self.file.texts()
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, force: bool) -> Result<Vec<Change>, Problem> {
        let found = service::Found::read(facts, &self.unit).map_err(|words| path::unknown(self, &words))?;
        let mut ahead = ahead.clone();
        let is_drop_in = self.unit != self.name();
        if is_drop_in {
            // Made by the operation itself: nothing else owns such a folder.
            ahead.brought.insert(Brought::Path(self.folder()));
        }
        let mut changes = self.file.compare(facts, &ahead, force)?;
        for change in &mut changes {
            let mut action = std::mem::take(&mut change.action);
            if is_drop_in {
                action = staged_there(action);
            } else if !self.present {
                let unit = shell::quote(&self.unit);
                action.script = format!("systemctl disable --now -- {unit} 2>/dev/null || :\n{}", action.script);
            }
            action.script.push_str("systemctl daemon-reload\n");
            change.action = action;
            // Not the path: a file there would have systemd read again by whoever comes next, and here it has been.
            change.brings.clear();
            if self.present {
                change.brings.push(Brought::Unit(self.unit.clone()));
                change.brings.extend(is_drop_in.then(|| Brought::Path(self.folder())));
            }
        }
        if changes.is_empty() && found.need_reload {
            changes.push(Change {
                verb: Verb::Run,
                title: format!("reload systemd's unit files for {}", self.unit),
                action: Action::script("systemctl daemon-reload\n"),
                ..Change::default()
            });
        }
        Ok(changes)
    }

    fn claim(&self) -> Option<(&str, Claim)> {
        self.file.claim()
    }

    fn settle(&self, facts: &mut Facts) {
        self.file.settle(facts);
        let fresh = [("active", "inactive"), ("enabled", "disabled")];
        settle::settle(facts, &service::request(&self.unit), &fresh, |fields| {
            fields.set("need_reload", "no");
            if self.unit == self.common.name {
                let missing = fields.text("load").is_none_or(|load| load == "not-found");
                match self.present {
                    true if missing => fields.set("load", "loaded"),
                    true => {}
                    false => *fields = Fields::of([("load", "not-found"), ("active", "inactive")]),
                }
            }
        });
    }
}

impl Unit {
    fn folder(&self) -> String {
        format!("{FOLDER}/{}.d", self.unit)
    }
}
