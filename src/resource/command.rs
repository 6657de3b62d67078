//! `command`: sh that is run where a guard says that its work is not done, or when something else changed.

use super::path::{self, Found, Type, Want};
use super::*;
use crate::base::shell;
use crate::common_methods;

pub const KIND: Kind = Kind {
    name: "command",
    attributes: &["run", "cwd", "creates", "unless", "only_if", "triggered_by", "guards_access", "undo"],
    build,
    join: None,
};

/// The fact that a guard asks for.
pub const TEST: &str = "test";

#[derive(Debug)]
struct Command {
    common: Common,
    run: String,
    cwd: Option<String>,
    creates: Option<String>,
    unless: Option<String>,
    only_if: Option<String>,
    triggered_by: Vec<Id>,
    /// It could cut suil's own access; `undo` takes back what suil cannot keep by itself.
    guards_access: bool,
    undo: Option<String>,
}

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let run = match from.value("run") {
        Some(Plain::List(_)) => shell::join(from.list("run")?.unwrap_or_default().iter().map(String::as_str)),
        _ => from.required("run")?,
    };
    let path = |key: &str| match from.text(key)? {
        Some(path) => from.absolute(&format!("`{key}`"), &path).map(Some),
        None => Ok(None),
    };
    let command = Command {
        common: from.common(from.name)?,
        run,
        cwd: path("cwd")?,
        creates: path("creates")?,
        unless: from.text("unless")?,
        only_if: from.text("only_if")?,
        triggered_by: from.ids("triggered_by")?,
        guards_access: from.boolean("guards_access")?.unwrap_or(false),
        undo: from.text("undo")?,
    };
    if command.undo.is_some() && !command.guards_access {
        return Err(from
            .problem("`undo` is given, and nothing would ever run it")
            .expected("expected `guards_access = True` beside it"));
    }
    if command.run.trim().is_empty() {
        return Err(from.problem("`run` is empty").expected("expected a command"));
    }
    let guarded = command.creates.is_some() || command.unless.is_some() || command.only_if.is_some();
    if !guarded && command.triggered_by.is_empty() {
        return Err(from
            .problem("it would run every time")
            .expected("expected one of `creates`, `unless`, `only_if`, `triggered_by`"));
    }
    Ok(Arc::new(command))
}

/// What the guards say.
enum Verdict {
    Run,
    Done,
    /// A guard could not be asked yet: the operation asks it.
    Later(String),
}

impl Resource for Command {
    common_methods!("command");

    fn requests(&self) -> Vec<Request> {
        let tests = [&self.unless, &self.only_if].into_iter().flatten().map(|test| self.test(test));
        tests.chain(self.creates.iter().map(|path| path::request(path, Want::Nothing))).collect()
    }

    fn wanted(&self) -> Plain {
        let mut wanted = Plain::map();
        // The command may hold a secret.
        wanted.set("run", format!("sha256:{}", crate::base::digest::sha256(self.run.as_bytes())));
        for (name, value) in
            [("cwd", &self.cwd), ("creates", &self.creates), ("unless", &self.unless), ("only_if", &self.only_if)]
        {
            if let Some(value) = value {
                wanted.set(name, value);
            }
        }
        wanted
    }

    fn texts(&self) -> Vec<(String, String)> {
        vec![("run".to_owned(), self.run.clone())]
    }

    fn compare(&self, facts: &Facts, ahead: &Ahead, _force: bool) -> Result<Vec<Change>, Problem> {
        if !self.triggered_by.is_empty() {
            return Ok(Vec::new());
        }
        let asks = self.unless.is_some() || self.only_if.is_some();
        let verdict = match asks && self.common.needs.iter().any(|need| ahead.changed.contains(need)) {
            // What it needs changes first, and may turn the guard.
            true => Verdict::Later(self.guards()),
            false => self.judge(facts, ahead).map_err(|words| path::unknown(self, &words))?,
        };
        Ok(self.change(verdict).into_iter().collect())
    }

    fn triggers(&self) -> Vec<Trigger> {
        self.triggered_by.iter().map(|on| Trigger { on: on.clone(), fire: Fire::Run }).collect()
    }

    fn fire(&self, what: Fire, _facts: &Facts, own_changes: &[Change]) -> Option<Change> {
        if what != Fire::Run || !own_changes.is_empty() {
            return None;
        }
        // What triggers it comes earlier in the plan and may turn the guards, so the operation itself asks them.
        let guarded = self.creates.is_some() || self.unless.is_some() || self.only_if.is_some();
        self.change(if guarded { Verdict::Later(self.guards()) } else { Verdict::Run })
    }

    fn settle(&self, facts: &mut Facts) {
        if let Some(creates) = &self.creates {
            let asked = path::request(creates, Want::Nothing);
            path::settle(facts, creates, &asked, |fields| {
                if fields.bytes("type") == Some(b"missing") {
                    fields.set("type", "file");
                }
            });
        }
        for (test, status) in [(&self.unless, "0"), (&self.only_if, "1")] {
            if let Some(test) = test {
                facts.insert(self.test(test), Answer::Known(Fields::of([("status", status)])));
            }
        }
    }
}

impl Command {
    fn test(&self, test: &str) -> Request {
        Request::new(TEST, [self.within(test).as_str()])
    }

    /// The command in its folder.
    fn within(&self, command: &str) -> String {
        match &self.cwd {
            Some(cwd) => format!("cd {} || exit 126\n{command}", shell::quote(cwd)),
            None => command.to_owned(),
        }
    }

    fn judge(&self, facts: &Facts, ahead: &Ahead) -> Result<Verdict, String> {
        let mut later = false;
        if let Some(creates) = &self.creates {
            let found = Found::read(facts, &path::request(creates, Want::Nothing))?;
            if found.kind != Type::Missing {
                return Ok(Verdict::Done);
            }
        }
        for (test, done_at_success) in [(&self.unless, true), (&self.only_if, false)] {
            let Some(test) = test else { continue };
            let answer = facts.known(&self.test(test))?;
            let said = answer.text("said").unwrap_or_default();
            match answer.text("status").as_deref() {
                // The tool is missing now; an earlier operation may bring it.
                Some("126" | "127") if !ahead.changed.is_empty() => later = true,
                Some("126" | "127") => return Err(format!("`{test}` cannot be run: {said}")),
                Some("0") if done_at_success => return Ok(Verdict::Done),
                Some("0") => {}
                Some(_) if done_at_success => {}
                Some(_) => return Ok(Verdict::Done),
                None => return Err(format!("`{test}` ended without a status")),
            }
        }
        Ok(if later { Verdict::Later(self.guards()) } else { Verdict::Run })
    }

    fn guards(&self) -> String {
        let guards = [
            self.creates.as_ref().map(|path| format!("`{path}` is missing")),
            self.unless.as_ref().map(|test| format!("`{test}` fails")),
            self.only_if.as_ref().map(|test| format!("`{test}` succeeds")),
        ];
        format!("it runs only if {}", guards.into_iter().flatten().collect::<Vec<_>>().join(" and "))
    }

    fn change(&self, verdict: Verdict) -> Option<Change> {
        let mut script = String::new();
        let judged_then = match verdict {
            Verdict::Done => return None,
            Verdict::Run => None,
            Verdict::Later(words) => {
                if let Some(creates) = &self.creates {
                    script.push_str(&format!("[ ! -e {} ] || exit 0\n", shell::quote(creates)));
                }
                if let Some(test) = &self.unless {
                    script.push_str(&format!(
                        "if (\nset +eu\n{}\n) >/dev/null 2>&1; then exit 0; fi\n",
                        self.within(test)
                    ));
                }
                if let Some(test) = &self.only_if {
                    script.push_str(&format!("(\nset +eu\n{}\n) >/dev/null 2>&1 || exit 0\n", self.within(test)));
                }
                Some(words)
            }
        };
        // A subshell and no `sh -c`: the command may hold a secret, and arguments can be read by everybody. `set -e`
        // stays, so a command of several lines ends at the first that fails.
        script.push_str(&format!("(\nset +u\n{}\n)\n", self.within(&self.run)));
        Some(Change {
            verb: Verb::Run,
            title: format!("run {}", self.name()),
            action: Action::script(script),
            judged_then,
            guards_access: self.guards_access,
            undo: self.undo.clone(),
            brings: self.creates.iter().map(|path| Brought::Path(path.clone())).collect(),
            ..Change::default()
        })
    }
}
