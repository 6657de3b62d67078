//! `stackorder.yaml`.

use super::super::glob::Glob;
use super::super::{Policy, key};
use super::own::{Variable, env};
use super::{Text, cron};
use crate::base::{Place, Problem, Problems, Result};
use crate::infra::reader::{self, Reader};
use std::path::Path;

/// What the root says about all stacks.
#[derive(Clone, Debug)]
pub struct Root {
    /// Folders that may be stacks.
    pub discover: Vec<Glob>,
    /// Folders that are stacks.
    pub include: Vec<Text>,
    /// Folders that are none.
    pub exclude: Vec<Glob>,
    /// Makes an instance of each file that matches, seen from the stack's folder.
    pub from_var_files: Option<Glob>,
    /// Every backend makes a stack, not `s3` alone.
    pub every_backend: bool,
    /// Folders of modules.
    pub modules: Vec<Glob>,
    pub tool: Option<String>,
    pub tool_version: String,
    pub environments: Vec<Selector>,
    pub backend_config: Vec<Text>,
    pub var_files: Vec<Text>,
    pub env: Vec<Variable>,
    pub allowed_teams: Vec<String>,
    pub plan_output: String,
    pub policy: Policy,
}

/// An entry of `environments`.
#[derive(Clone, Debug)]
pub struct Selector {
    /// Whole names of a path; empty for every one.
    pub prefix: String,
    /// Empty for every one.
    pub instance: String,
    pub environment: Text,
}

const KEYS: [&str; 13] = [
    "version",
    "stacks",
    "modules",
    "tool",
    "tool_version",
    "environments",
    "backend_config",
    "var_files",
    "env",
    "apply",
    "propagate",
    "drift",
    "plan_output",
];
const STACKS: [&str; 7] = ["discover", "include", "exclude", "ignore", "ignore_lockfile", "instances", "backends"];
const APPLY: [&str; 7] = [
    "mode",
    "require_approvals",
    "require_codeowner_review",
    "four_eyes",
    "allowed_teams",
    "from_plan",
    "max_parallel",
];

const LOCKFILE: &str = "**/.terraform.lock.hcl";

impl Default for Root {
    fn default() -> Root {
        Root {
            discover: globs(&["stacks/**"]),
            include: Vec::new(),
            exclude: Vec::new(),
            from_var_files: None,
            every_backend: true,
            modules: globs(&["modules/**"]),
            tool: None,
            tool_version: String::new(),
            environments: Vec::new(),
            backend_config: Vec::new(),
            var_files: Vec::new(),
            env: Vec::new(),
            allowed_teams: Vec::new(),
            plan_output: "full".to_owned(),
            policy: Policy::default(),
        }
    }
}

fn globs(patterns: &[&str]) -> Vec<Glob> {
    patterns.iter().filter_map(|pattern| Glob::new(pattern).ok()).collect()
}

impl Root {
    /// Reads the file.
    ///
    /// # Errors
    /// Everything that is wrong in it; an empty file has no version.
    pub fn read(shown: &Path, bytes: &[u8]) -> Result<Root> {
        let Some(value) = reader::whole(shown, bytes)? else {
            return Err(unversioned(reader::start(shown, bytes)).into());
        };
        let mut problems = Problems::new();
        let mut root = Root { every_backend: false, ..Root::default() };
        let mut reader = Reader::new(&value, super::ROOT, &KEYS, &mut problems);
        match reader.value("version") {
            None => reader.problems.push(unversioned(value.place)),
            Some(version) if version.scalar().is_some_and(|scalar| &*scalar.text == "1") => {}
            Some(version) => reader.wrong("version", version, "expected 1"),
        }
        reader.within("stacks", &STACKS, |reader| root.stacks(reader));
        let modules = reader.within("modules", &["paths"], |reader| patterns(reader, "paths"));
        if let Some(modules) = modules.flatten().filter(|globs| !globs.is_empty()) {
            root.modules = modules;
        }
        root.tool = reader.word("tool", &["terraform", "tofu"]);
        root.tool_version = reader.text("tool_version").map(|text| text.text).unwrap_or_default();
        root.environments = environments(&mut reader);
        root.backend_config = reader.templates("backend_config");
        root.var_files = reader.templates("var_files");
        root.env = env(&mut reader);
        reader.within("apply", &APPLY, |reader| root.apply(reader));
        reader.within("propagate", &["dependents", "cross_repo"], |reader| {
            root.policy.dependents = reader.bool("dependents", true);
            reader.word("cross_repo", &["off", "plan"]);
        });
        reader.within("drift", &["schedule", "open_issue"], |reader| {
            reader.bool("open_issue", false);
            if let Some(text) = reader.text("schedule").filter(|text| !text.text.is_empty()) {
                if !cron::is_schedule(&text.text)
                    && let Some(value) = reader.value("schedule")
                {
                    reader.wrong("schedule", value, "expected the five fields of cron, such as `0 6 * * 1-5`");
                }
                root.policy.drift_schedule = text.text;
            }
        });
        if let Some(word) = reader.word("plan_output", &["full", "summary"]) {
            root.plan_output = word;
        }
        if problems.is_empty() { Ok(root) } else { Err(problems) }
    }

    fn stacks(&mut self, reader: &mut Reader) {
        if let Some(globs) = patterns(reader, "discover").filter(|globs| !globs.is_empty()) {
            self.discover = globs;
        }
        self.exclude = patterns(reader, "exclude").unwrap_or_default();
        let include = reader.texts("include").unwrap_or_default();
        let list = reader.value("include").and_then(|value| value.list()).unwrap_or_default();
        for (text, value) in include.into_iter().zip(list) {
            match key::clean(&text.text) {
                Some(path) => self.include.push(Text { text: path, ..text }),
                None => reader.wrong("include", value, "expected a folder below the root"),
            }
        }
        // A glob that cannot be read drops nothing; the scan warns about it.
        if let Some(ignore) = reader.texts("ignore") {
            self.policy.ignore = ignore.into_iter().map(|text| text.text).collect();
        }
        if reader.bool("ignore_lockfile", false) {
            self.policy.ignore.push(LOCKFILE.to_owned());
        }
        reader.within("instances", &["from_var_files"], |reader| {
            let text = reader.text("from_var_files").filter(|text| !text.text.is_empty());
            let (Some(text), Some(value)) = (text, reader.value("from_var_files")) else { return };
            match (Glob::new(&text.text), below(&text.text)) {
                (Ok(glob), true) => self.from_var_files = Some(glob),
                (Err(words), _) => reader.fault(
                    "from_var_files",
                    format!("is no pattern: {words}"),
                    value.place,
                    "expected one such as `env/*.tfvars`",
                ),
                (_, false) => reader.wrong("from_var_files", value, "expected a pattern below the stack's folder"),
            }
        });
        self.every_backend = reader.word("backends", &["s3", "all"]).is_some_and(|word| word == "all");
    }

    fn apply(&mut self, reader: &mut Reader) {
        let policy = &mut self.policy;
        if let Some(mode) = reader.word("mode", &["before_merge", "on_merge"]) {
            policy.mode = mode;
        }
        policy.require_approvals = reader.number("require_approvals", 0, 0);
        policy.require_codeowner_review = reader.bool("require_codeowner_review", false);
        policy.four_eyes = reader.bool("four_eyes", false);
        policy.from_plan = reader.bool("from_plan", true);
        policy.max_parallel = reader.number("max_parallel", 1, policy.max_parallel);
        self.allowed_teams = reader.texts("allowed_teams").unwrap_or_default().into_iter().map(|t| t.text).collect();
    }

    /// The entry of `environments` that fits best: one with an instance before one without, then the longest prefix.
    pub fn environment(&self, path: &str, instance: &str) -> Option<&Text> {
        let fits = |selector: &&Selector| {
            let within = selector.prefix.is_empty() || key::ancestors(path).any(|above| above == selector.prefix);
            within && (selector.instance.is_empty() || selector.instance == instance)
        };
        let best = |selector: &&Selector| (!selector.instance.is_empty(), selector.prefix.len());
        self.environments.iter().filter(fits).max_by_key(best).map(|selector| &selector.environment)
    }
}

fn unversioned(place: Place) -> Problem {
    Problem::new(format!("`{}` has no `version`", super::ROOT)).at(place).expected("expected `version: 1`")
}

/// True for a path that stays below the folder that it is seen from.
fn below(path: &str) -> bool {
    !path.starts_with('/') && path.split('/').all(|name| name != "..")
}

fn patterns(reader: &mut Reader, key: &str) -> Option<Vec<Glob>> {
    let texts = reader.texts(key)?;
    let list = reader.value(key).and_then(|value| value.list()).unwrap_or_default();
    let mut globs = Vec::new();
    for (text, value) in texts.iter().zip(list) {
        match Glob::new(text.text.trim_start_matches("./")) {
            _ if !below(&text.text) => reader.wrong(key, value, "expected a pattern below the root"),
            Ok(glob) => globs.push(glob),
            Err(words) => {
                let what = format!("has `{}`, which is no pattern: {words}", text.text);
                reader.fault(key, what, value.place, "expected one such as `stacks/**`");
            }
        }
    }
    Some(globs)
}

fn environments(reader: &mut Reader) -> Vec<Selector> {
    let mut found: Vec<(Selector, Place)> = Vec::new();
    for (name, place, value) in reader.entries("environments") {
        let (path, instance) = key::split(name);
        let (Some(prefix), instance) = (key::clean(path), instance.to_owned()) else {
            reader.fault("environments", format!("names `{name}`"), place, "expected a folder below the root");
            continue;
        };
        let expected = "expected the name of an environment";
        let Some(environment) = reader.template_of("environments", value, expected) else { continue };
        if let Some((_, first)) = found.iter().find(|(own, _)| own.prefix == prefix && own.instance == instance) {
            let what = format!("`environments` names `{}` twice", key::key(&prefix, &instance));
            let problem = Problem::new(what).at(place).expected("expected each selector once");
            reader.problems.push(problem.note_at("first at", *first));
            continue;
        }
        found.push((Selector { prefix, instance, environment }, place));
    }
    found.into_iter().map(|(selector, _)| selector).collect()
}
