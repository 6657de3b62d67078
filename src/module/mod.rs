//! Loads a module, checks its config against its schema, evaluates its code.
//!
//! Enters: a module's folder, slices of data, facts. Leaves: configs, resources, queued operations. Never connects,
//! never decrypts by itself, never reads a file outside the module; code is compiled once and shared by all nodes.

mod collector;
mod config;
mod difference;
mod files;
mod influence;
mod origin;
mod schema;
mod signature;
mod star;
pub mod template;
#[cfg(test)]
mod tests;

pub use collector::{Collector, Language};
pub use config::{Config, Header, Private, Reveal, Revealed};
pub use difference::{Difference, differences};
pub use files::{Files, Stock};
pub use influence::{Effect, Influence, Influences};
pub use origin::{Line, Makings, Origin, Step, Way};
pub use star::Queued;

use crate::base::{Place, Plain, Problem, Problems, Result, nearest::nearest};
use crate::data::Value;
use crate::resource::{Content, Resource};
use schema::Schema;
use star::{Answer, Program, Texts, Wanted};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// Makes a resource of a kind, its name and its attributes.
type Build = fn(&str, &str, &Plain, Option<Content>, Option<Place>) -> Result<Arc<dyn Resource>, Problem>;

/// One module of a workspace. Cloning is cheap; all clones share what was compiled.
#[derive(Clone)]
pub struct Module {
    inner: Arc<Inner>,
}

/// What the parts of this room share about a module.
struct Inner {
    name: String,
    files: Arc<dyn Files>,
    stock: Option<Stock>,
    build: Build,
    texts: Arc<Texts>,
    schema: OnceLock<Result<Option<Arc<Schema>>>>,
    program: OnceLock<Result<Option<Arc<Program>>>>,
    templates: OnceLock<template::Templates>,
    contents: OnceLock<Result<signature::Contents, Problem>>,
}

impl Module {
    /// Takes a module's folder. Nothing is read or compiled before it is needed.
    pub fn load(name: &str, files: Arc<dyn Files>, stock: Option<Stock>) -> Module {
        Module::built(name, files, stock, crate::resource::build)
    }

    fn built(name: &str, files: Arc<dyn Files>, stock: Option<Stock>, build: Build) -> Module {
        let inner = Inner {
            name: name.to_owned(),
            files,
            stock,
            build,
            texts: Arc::default(),
            schema: OnceLock::new(),
            program: OnceLock::new(),
            templates: OnceLock::new(),
            contents: OnceLock::new(),
        };
        Module { inner: Arc::new(inner) }
    }

    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Compiles the schema and the code, for `suil validate`.
    ///
    /// # Errors
    /// All problems of both.
    pub fn compile(&self) -> Result<()> {
        let mut problems = Problems::new();
        problems.extend(self.inner.schema().err().unwrap_or_default());
        match self.inner.program() {
            Ok(Some(program)) => problems.extend(self.idle(&program)),
            Ok(None) => {}
            Err(found) => problems.extend(found),
        }
        problems.extend(self.inner.templates().check());
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// A `main.star` without any of the functions that suil calls does nothing, for a misspelt name more often than not.
    fn idle(&self, program: &Program) -> Option<Problem> {
        const CALLED: [&str; 4] = ["resources", "expected", "deploy", "check"];
        let names: Vec<&str> = program.frozen.names().map(|name| name.as_str()).collect();
        if names.iter().any(|name| CALLED.contains(name)) {
            return None;
        }
        let problem = Problem::new(format!("module `{}`: `{MAIN}` has no function that suil calls", self.name()))
            .expected("expected one of `resources(config)`, `expected(config)`, `deploy(config, facts, force)`, `check(config, facts)`");
        let guess = names.iter().find_map(|name| Some((name, nearest(name, CALLED)?)));
        Some(match guess {
            Some((name, near)) => problem.help(format!("did you mean `{near}` by `{name}`?")),
            None => problem,
        })
    }

    /// True where the module has `code/main.star`.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn has_code(&self) -> Result<bool> {
        Ok(self.inner.files.read(MAIN)?.is_some())
    }

    /// Checks the module's slice of one node's data. A module without a schema takes it as it is.
    ///
    /// # Errors
    /// Every key that is unknown, missing, of another type or out of range, and every secret that `reveal` refuses.
    pub fn config(&self, slice: Option<&Value>, header: &Header, reveal: &mut Reveal) -> Result<Config> {
        let schema = self.inner.schema()?;
        schema::check::config(&self.inner.name, schema.as_deref(), slice, header, reveal)
    }

    /// What is wrong with the slice of a node that was never probed: the OS layer may still bring what is missing, but
    /// nothing can mend an unknown key.
    ///
    /// # Errors
    /// The schema does not compile.
    pub fn misfits(&self, slice: Option<&Value>, header: &Header, reveal: &mut Reveal) -> Result<Problems> {
        let schema = self.inner.schema()?;
        Ok(schema::check::misfits(&self.inner.name, schema.as_deref(), slice, header, reveal))
    }

    /// The same for plain data, where a string stands for a secret too; for module tests.
    ///
    /// # Errors
    /// As [`Module::config`].
    pub fn test_config(&self, slice: Option<&Value>, header: &Header) -> Result<Config> {
        let schema = self.inner.schema()?;
        schema::check::test_config(&self.inner.name, schema.as_deref(), slice, header)
    }

    /// The schema as JSON Schema; `None` where the module has none.
    ///
    /// # Errors
    /// The schema does not compile.
    pub fn json_schema(&self) -> Result<Option<Plain>> {
        Ok(self.inner.schema()?.map(|schema| schema.to_json()))
    }

    /// The schema of the module's slice in a data file; `None` where the module has none.
    ///
    /// # Errors
    /// The schema does not compile.
    pub fn layer_schema(&self) -> Result<Option<Plain>> {
        Ok(self.inner.schema()?.map(|schema| schema.to_layer()))
    }

    /// Where the schema says what a key of the config is; `None` where it has no such key, or there is no schema.
    ///
    /// # Errors
    /// The schema does not compile.
    pub fn rule(&self, path: &[&str]) -> Result<Option<Place>> {
        Ok(self.inner.schema()?.and_then(|schema| schema.rule(path)))
    }

    /// The resources that the node must have, in order. Empty for a module without code.
    ///
    /// # Errors
    /// What the module's code, a template or an attribute of a resource is wrong about.
    pub fn resources(&self, config: &Arc<Config>) -> Result<Vec<Arc<dyn Resource>>> {
        match self.call("resources", config, &[], Wanted::Resources, false)? {
            Some(star::Called { answer: Answer::Resources(list), .. }) => Ok(list),
            _ => Ok(Vec::new()),
        }
    }

    /// The custom facts that must hold; an empty mapping where the module has no `expected()`.
    ///
    /// # Errors
    /// As [`Module::resources`].
    pub fn expected(&self, config: &Arc<Config>) -> Result<Plain> {
        match self.plain("expected", config, &[])? {
            Plain::Null => Ok(Plain::map()),
            map @ Plain::Map(_) => Ok(map),
            other => Err(self.wrong("expected", &other, "a dict").into()),
        }
    }

    /// The operations that `deploy()` queues.
    ///
    /// # Errors
    /// As [`Module::resources`].
    pub fn deploy(&self, config: &Arc<Config>, facts: &Plain, force: bool) -> Result<Vec<Queued>> {
        let given = [facts.clone(), Plain::Bool(force)];
        Ok(self.call("deploy", config, &given, Wanted::Plain, false)?.map(|called| called.queued).unwrap_or_default())
    }

    /// The problems that `check()` finds; empty where all is well.
    ///
    /// # Errors
    /// As [`Module::resources`].
    pub fn check(&self, config: &Arc<Config>, facts: &Plain) -> Result<Problems> {
        let found = match self.plain("check", config, std::slice::from_ref(facts))? {
            Plain::Null | Plain::Bool(true) => Vec::new(),
            Plain::List(items) => items,
            text @ Plain::Str(_) => vec![text],
            other => return Err(self.wrong("check", &other, "a list of problems").into()),
        };
        let problem = |item: &Plain| match item {
            Plain::Str(text) => Ok(Problem::new(format!("module `{}`: {text}", self.inner.name))
                .note(format!("found by `check()` on node `{}`", config.node()))),
            other => Err(Problems::from(self.wrong("check", other, "a list of strings"))),
        };
        let problems: Problems = found.iter().map(problem).collect::<Result<_>>()?;
        Ok(masked(problems, config))
    }

    /// `sha256:` and the digest of everything that decides what the module does.
    ///
    /// # Errors
    /// A file of the module cannot be read.
    pub fn signature(&self) -> Result<String, Problem> {
        self.contents().map(signature::signature)
    }

    /// The files that decide what the module does and that are not the same in `other`, by their paths.
    ///
    /// # Errors
    /// A file of one of the two cannot be read.
    pub fn differing(&self, other: &Module) -> Result<Vec<String>, Problem> {
        let (own, others) = (self.contents()?, other.contents()?);
        let paths: BTreeSet<&String> = own.keys().chain(others.keys()).collect();
        Ok(paths.into_iter().filter(|path| own.get(*path) != others.get(*path)).cloned().collect())
    }

    fn contents(&self) -> Result<&signature::Contents, Problem> {
        self.inner.contents.get_or_init(|| signature::contents(&*self.inner.files)).as_ref().map_err(Problem::clone)
    }

    /// Path in the module and SHA-256 of every file that the signature counts.
    ///
    /// # Errors
    /// A file of the module cannot be read.
    pub fn digests(&self) -> Result<BTreeMap<String, String>, Problem> {
        let contents = self.contents()?;
        Ok(contents.iter().map(|(path, (_, sha256))| (path.clone(), sha256.clone())).collect())
    }

    /// The module's own collector, where it has one.
    ///
    /// # Errors
    /// There are several, or it names no interpreter.
    pub fn collector(&self) -> Result<Option<Collector>, Problem> {
        collector::find(&self.inner.name, &*self.inner.files)
    }

    fn plain(&self, function: &str, config: &Arc<Config>, more: &[Plain]) -> Result<Plain> {
        match self.call(function, config, more, Wanted::Plain, false)? {
            Some(star::Called { answer: Answer::Plain(plain), .. }) => Ok(plain),
            _ => Ok(Plain::Null),
        }
    }

    fn wrong(&self, function: &str, found: &Plain, expected: &str) -> Problem {
        Problem::new(format!("module `{}`: `{function}()` returns {}", self.inner.name, found.type_name()))
            .expected(format!("expected {expected}"))
    }

    fn call(
        &self,
        function: &str,
        config: &Arc<Config>,
        more: &[Plain],
        wanted: Wanted,
        told: bool,
    ) -> Result<Option<star::Called>> {
        let Some(program) = self.inner.program()? else { return Ok(None) };
        if !config.revealed {
            let text = format!("module `{}`: the secrets of its config are not revealed", self.inner.name);
            return Err(Problem::new(text).help("set `SUIL_AGE_KEY` or `SUIL_AGE_KEY_FILE`").into());
        }
        star::call(&self.inner, &program, function, config, more, wanted, told)
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Module({})", self.inner.name)
    }
}

const MAIN: &str = "code/main.star";
const SCHEMA: &str = "code/config.star";

impl Inner {
    fn schema(&self) -> Result<Option<Arc<Schema>>> {
        let compile = || {
            if self.files.read(SCHEMA)?.is_none() {
                return Ok(None);
            }
            let program = star::compile(&self.name, &self.files, self.stock.as_ref(), &self.texts, SCHEMA)?;
            schema::star::read(&self.name, &program).map(Some)
        };
        self.schema.get_or_init(compile).clone()
    }

    fn program(&self) -> Result<Option<Arc<Program>>> {
        let compile = || {
            if self.files.read(MAIN)?.is_none() {
                return Ok(None);
            }
            star::compile(&self.name, &self.files, self.stock.as_ref(), &self.texts, MAIN).map(|p| Some(Arc::new(p)))
        };
        self.program.get_or_init(compile).clone()
    }

    fn templates(&self) -> &template::Templates {
        self.templates.get_or_init(|| template::Templates::new(&self.name, Arc::clone(&self.files)))
    }

    fn render(&self, name: &str, vars: &Plain) -> Result<String, Problem> {
        self.templates().render(name, vars)
    }

    /// Says for which node a function failed, and covers the secrets of the config.
    fn told(&self, problems: Problems, function: &str, config: &Config) -> Problems {
        let problems = problems
            .into_iter()
            .map(|problem| problem.note(format!("in `{function}()` of `{}` for node `{}`", self.name, config.node())))
            .collect();
        masked(problems, config)
    }
}

/// Covers the plaintexts of the config in every text of the problems.
fn masked(mut problems: Problems, config: &Config) -> Problems {
    if config.mask.is_empty() {
        return problems;
    }
    for problem in &mut problems {
        problem.what = config.mask.apply(&problem.what);
        problem.expected = problem.expected.as_deref().map(|text| config.mask.apply(text));
        problem.help = problem.help.as_deref().map(|text| config.mask.apply(text));
        for note in &mut problem.notes {
            note.text = config.mask.apply(&note.text);
        }
    }
    problems
}
