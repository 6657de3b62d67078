//! What runs on the control machine around a batch: `before_batch` and `after_batch`.

use super::workspace::Workspace;
use crate::base::{Place, Problem, Problems, Result, nearest::nearest};
use crate::data::value::Resolved;
use crate::data::{Tagged, Value};
use std::time::Duration;

/// The keys of `data/common.yaml` and of role files that name a hook.
pub const KEYS: [&str; 2] = ["before_batch", "after_batch"];

/// A command of the control machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hook {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// It is ended when it takes longer.
    pub timeout: Duration,
    /// Where a person wrote it.
    pub place: Place,
}

/// The hooks of a role.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Hooks {
    pub before: Option<Hook>,
    pub after: Option<Hook>,
}

const TIMEOUT: Duration = Duration::from_secs(600);
const EXPECTED: &str = "expected a command such as `./drain.sh`, a list of its words, or `{run: …, timeout: 20m}`";

impl Hooks {
    /// True where there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }

    /// Reads the hooks of a file; those that it does not name are `base`'s.
    pub(super) fn read(file: &Tagged, base: Hooks) -> Result<Hooks> {
        let mut problems = Problems::new();
        let mut of = |key: &str, base: Option<Hook>| match file.get(key) {
            Some(member) => hook(key, &member.value).unwrap_or_else(|found| {
                problems.extend(found);
                None
            }),
            None => base,
        };
        let [before, after] = KEYS;
        let hooks = Hooks { before: of(before, base.before), after: of(after, base.after) };
        if problems.is_empty() { Ok(hooks) } else { Err(problems) }
    }
}

impl Workspace {
    /// The hooks around a batch of nodes of this role: the role's own win over those of `data/common.yaml`.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn hooks(&self, role: &str) -> Result<Hooks> {
        match self.role_layer_of(role)? {
            Some(layer) => Hooks::read(&layer.whole, self.common_hooks().clone()),
            None => Ok(self.common_hooks().clone()),
        }
    }
}

/// `None` for `false` and `[]`, which say that there is none.
fn hook(key: &str, value: &Tagged) -> Result<Option<Hook>> {
    let Some(value) = value.settle()? else { return Ok(None) };
    let mut timeout = TIMEOUT;
    let mut run = &value;
    if let Some(map) = value.map() {
        const OWN: [&str; 2] = ["run", "timeout"];
        let mut problems = Problems::new();
        for (name, entry) in map.iter().filter(|(name, _)| !OWN.contains(&&***name)) {
            let problem = Problem::new(format!("unknown key `{name}` in `{key}`")).at(entry.key);
            let problem = problem.expected("expected `run` and `timeout`");
            problems.push(match nearest(name, OWN) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem,
            });
        }
        if let Some(entry) = map.get("timeout") {
            match entry.value.scalar().and_then(|scalar| duration(&scalar.text)) {
                Some(limit) => timeout = limit,
                None => problems.push(
                    Problem::new(format!("`timeout` of `{key}` is no time"))
                        .at(entry.value.place)
                        .expected("expected a time such as `90s`, `20m` or `1h`"),
                ),
            }
        }
        match map.get("run") {
            Some(entry) => run = &entry.value,
            None => problems.push(Problem::new(format!("`{key}` has no `run`")).at(value.place).expected(EXPECTED)),
        }
        if !problems.is_empty() {
            return Err(problems);
        }
    }
    let wrong = |what: &str, place| Err(Problem::new(format!("`{key}` is {what}")).at(place).expected(EXPECTED).into());
    let words: Vec<String> = match (run.as_str(), run.list(), run.scalar().map(|scalar| &scalar.resolved)) {
        (Some(text), ..) if !text.trim().is_empty() => ["sh", "-c", text].map(str::to_owned).into(),
        (Some(_), ..) => return wrong("empty", run.place),
        (_, Some([]), _) | (_, _, Some(Resolved::Bool(false))) => return Ok(None),
        (_, Some(items), _) => {
            let word =
                |item: &Value| item.scalar().filter(|s| s.resolved != Resolved::Null).map(|s| s.text.to_string());
            match items.iter().find(|item| word(item).is_none()) {
                Some(item) => return wrong(&format!("a list that holds {}", item.type_name()), item.place),
                None => items.iter().filter_map(word).collect(),
            }
        }
        _ => return wrong(run.type_name(), run.place),
    };
    Ok(Some(Hook { words, timeout, place: run.place }))
}

/// `90`, `90s`, `20m`, `1h`.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = match text.char_indices().last()? {
        (at, 's') => (text.get(..at)?, 1),
        (at, 'm') => (text.get(..at)?, 60),
        (at, 'h') => (text.get(..at)?, 3600),
        _ => (text, 1),
    };
    let seconds: u64 = number.parse().ok().filter(|n| *n > 0)?;
    seconds.checked_mul(unit).filter(|seconds| *seconds <= 7 * 86_400).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::load;
    use std::path::Path;

    fn read(text: &str) -> Result<Hooks> {
        let file = load(Path::new("data/roles/web.yaml"), text.as_bytes()).expect("YAML").expect("a document");
        let common = load(Path::new("data/common.yaml"), b"before_batch: drain\nafter_batch: undrain").expect("YAML");
        Hooks::read(&file, Hooks::read(&common.expect("a document"), Hooks::default())?)
    }

    fn words(hook: Option<&Hook>) -> String {
        hook.map_or("none".to_owned(), |hook| format!("{} {}", hook.words.join(" "), hook.timeout.as_secs()))
    }

    #[test]
    fn a_roles_own_hook_wins_and_may_say_that_there_is_none() {
        let table = [
            ("modules: []", "sh -c drain 600", "sh -c undrain 600"),
            ("before_batch: ./own.sh $SUIL_NODES", "sh -c ./own.sh $SUIL_NODES 600", "sh -c undrain 600"),
            ("before_batch: [own.sh, -n, 3]", "own.sh -n 3 600", "sh -c undrain 600"),
            ("before_batch: {run: [a, b], timeout: 20m}", "a b 1200", "sh -c undrain 600"),
            ("before_batch: false\nafter_batch: []", "none", "none"),
        ];
        for (text, before, after) in table {
            let hooks = read(text).expect("hooks");
            assert_eq!((words(hooks.before.as_ref()), words(hooks.after.as_ref())), (before.into(), after.into()));
        }
    }

    #[test]
    fn what_is_no_command_is_told_with_its_place() {
        let table = [
            ("before_batch: true", "1:15: `before_batch` is a boolean"),
            ("before_batch: 3", "1:15: `before_batch` is a whole number"),
            ("before_batch: ''", "1:15: `before_batch` is empty"),
            ("after_batch: [a, [b]]", "1:18: `after_batch` is a list that holds a list"),
            ("after_batch: {runs: a}", "1:15: unknown key `runs` in `after_batch`"),
            ("after_batch: {timeout: 3m}", "1:14: `after_batch` has no `run`"),
            ("after_batch: {run: a, timeout: soon}", "1:32: `timeout` of `after_batch` is no time"),
            ("after_batch: {run: a, timeout: 0}", "1:32: `timeout` of `after_batch` is no time"),
            ("before_batch: !ENC[YWdlLWVuY3J5cHRpb24ub3JnL3YxCg==]", "1:15: `before_batch` is a secret"),
            ("before_batch: !LOOKUP {field: a.b}", "1:15: `before_batch` is a lookup"),
        ];
        for (text, want) in table {
            let problems = read(text).expect_err(text);
            let place = problems[0].place.expect("a place");
            assert_eq!(format!("{}:{}: {}", place.line, place.column, problems[0].what), want);
        }
    }
}
