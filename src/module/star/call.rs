//! Calls a function of a module's code for one node.

#![allow(unsafe_code, reason = "the interpreter's derive implements an unsafe marker trait; none is written here")]

use super::compile::{Program, safe};
use super::deploy::Queued;
use super::error::{Texts, problems};
use super::limit::{caught, limit};
use super::story::{Rendered, Story};
use super::thing::Thing;
use super::value::{alloc, to_plain, type_name};
use crate::base::{Place, Plain, Problem, Problems};
use crate::module::{Build, Config, Inner};
use crate::resource::{Content, Resource};
use starlark::any::ProvidesStaticType;
use starlark::environment::Module;
use starlark::eval::Evaluator;
use starlark::values::list::ListRef;
use starlark::values::tuple::TupleRef;
use starlark::values::{Value, ValueLike};
use std::cell::RefCell;
use std::sync::Arc;

/// A file of the module that is larger is streamed from disk.
const HELD: usize = 1 << 20;

/// What the functions of the host need to know while a function of the module runs.
#[derive(ProvidesStaticType)]
pub struct Context {
    inner: Arc<Inner>,
    texts: Arc<Texts>,
    config: Arc<Config>,
    build: Build,
    /// True inside `deploy()`.
    pub queues: bool,
    pub queued: RefCell<Vec<Queued>>,
    /// What was made and how, where somebody asks for it.
    pub story: Option<RefCell<Story>>,
}

impl Context {
    pub fn texts(&self) -> &Texts {
        &self.texts
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    pub fn build(
        &self,
        kind: &str,
        name: &str,
        attributes: &Plain,
        content: Option<Content>,
        place: Option<Place>,
    ) -> Result<Arc<dyn Resource>, Problem> {
        (self.build)(kind, name, attributes, content, place)
    }

    /// A file under `files/`.
    pub fn source(&self, path: &str) -> Result<Content, Problem> {
        let inner = &self.inner;
        let wrong = |text: String| Problem::new(format!("module `{}`: {text}", inner.name));
        safe(path).ok_or_else(|| {
            wrong(format!("source `{path}` leaves the module")).expected("expected a path inside `files/`")
        })?;
        let path = format!("files/{path}");
        if let Some(real) = inner.files.real_path(&path)
            && let Ok(meta) = std::fs::metadata(&real)
            && meta.is_file()
            && meta.len() > HELD as u64
        {
            let file = std::fs::File::open(&real).map_err(|e| Problem::io("read", &inner.files.shown(&path), &e))?;
            let (size, sha256) =
                crate::base::digest::sha256_of(file).map_err(|e| Problem::io("read", &inner.files.shown(&path), &e))?;
            return Ok(Content::File { path: real, size, sha256 });
        }
        match inner.files.read(&path)? {
            Some(bytes) => Ok(Content::Bytes(bytes)),
            None => {
                let known = inner.files.walk("files")?;
                let problem = wrong(format!("there is no file `{}`", inner.files.shown(&path).display()));
                Err(match crate::base::nearest::nearest(&path, known.iter().map(String::as_str)) {
                    Some(near) => problem.help(format!("did you mean `{}`?", near.trim_start_matches("files/"))),
                    None => problem,
                })
            }
        }
    }

    /// Renders a template of the module; `suil` is in reach whatever `vars` are.
    pub fn render(&self, name: &str, mut vars: Plain) -> Result<String, Problem> {
        if vars.get("suil").is_none()
            && let Some(header) = self.config.plain.get("suil")
        {
            vars.set("suil", header.clone());
        }
        let text = self.inner.render(name, &vars)?;
        if let Some(story) = &self.story {
            let pieces = self.inner.templates().origin(name, &vars, &text);
            story.borrow_mut().rendered.push(Rendered { template: name.to_owned(), text: text.clone().into(), pieces });
        }
        Ok(text)
    }
}

/// What a call gave.
pub struct Called {
    pub answer: Answer,
    pub queued: Vec<Queued>,
    /// Empty unless it was asked for.
    pub story: Story,
}

pub enum Answer {
    /// The resources in a list, lists inside lists flattened.
    Resources(Vec<Arc<dyn Resource>>),
    Plain(Plain),
}

/// What a function is expected to return.
#[derive(Clone, Copy, PartialEq)]
pub enum Wanted {
    Resources,
    Plain,
}

/// Calls `function` with the config and `more`; `None` where the module has no such function.
pub fn call(
    inner: &Arc<Inner>,
    program: &Program,
    function: &str,
    config: &Arc<Config>,
    more: &[Plain],
    wanted: Wanted,
    told: bool,
) -> Result<Option<Called>, Problems> {
    let Ok(Some(code)) = program.frozen.get_option(function) else { return Ok(None) };
    let result = caught(&inner.name, || {
        Module::with_temp_heap(|module| {
            let heap = module.heap();
            let context = Context {
                inner: Arc::clone(inner),
                texts: Arc::clone(&program.texts),
                config: Arc::clone(config),
                build: inner.build,
                queues: function == "deploy",
                queued: RefCell::default(),
                story: told.then(RefCell::default),
            };
            let mut given = vec![alloc(&config.plain, heap)];
            given.extend(more.iter().map(|plain| alloc(plain, heap)));
            let code = heap.access_owned_frozen_value(&code);
            let answer = {
                let mut eval = Evaluator::new(&module);
                limit(&mut eval);
                eval.extra = Some(&context);
                let value =
                    eval.eval_function(code, &given, &[]).map_err(|e| problems(&inner.name, &program.texts, &e))?;
                read(inner, function, value, wanted)?
            };
            let story = context.story.map(RefCell::into_inner).unwrap_or_default();
            Ok(Some(Called { answer, queued: context.queued.take(), story }))
        })
    });
    let result = result.unwrap_or_else(|panic| Err(panic.into()));
    result.map_err(|mut problems: Problems| {
        // What no statement stands for (a limit, the value returned) is shown at the function itself.
        let main = inner.files.shown(crate::module::MAIN).display().to_string();
        for problem in problems.iter_mut().filter(|problem| problem.place.is_none()) {
            problem.place = program.texts.definition(&main, function);
        }
        inner.told(problems, function, config)
    })
}

fn read(inner: &Inner, function: &str, value: Value, wanted: Wanted) -> Result<Answer, Problem> {
    let wrong = |found: String, expected: &str| {
        Problem::new(format!("module `{}`: `{function}()` returns {found}", inner.name))
            .expected(format!("expected {expected}"))
    };
    match wanted {
        Wanted::Plain => match to_plain(value) {
            Ok(plain) => Ok(Answer::Plain(plain)),
            Err(found) => Err(wrong(found, "plain values")),
        },
        Wanted::Resources => {
            let mut out = Vec::new();
            if value.is_none() {
                return Err(wrong("nothing".to_owned(), "a list of resources; is a `return` missing?"));
            }
            flatten(value, 8, &mut out).map_err(|found| wrong(found, "a list of resources"))?;
            Ok(Answer::Resources(out))
        }
    }
}

fn flatten(value: Value, depth: usize, out: &mut Vec<Arc<dyn Resource>>) -> Result<(), String> {
    if let Some(thing) = value.downcast_ref::<Thing>() {
        out.push(Arc::clone(&thing.resource));
        return Ok(());
    }
    let items: Option<Vec<Value>> = ListRef::from_value(value)
        .map(|list| list.iter().collect())
        .or_else(|| TupleRef::from_value(value).map(|tuple| tuple.iter().collect()));
    match items {
        Some(items) if depth > 0 => items.into_iter().try_for_each(|item| flatten(item, depth - 1, out)),
        // `x if condition else None` inside the list.
        _ if value.is_none() => Ok(()),
        _ => Err(type_name(value)),
    }
}
