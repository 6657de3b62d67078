//! Compiles the files of a module, each once, following `load()`.

use super::builtin::Builtin;
use super::error::{Texts, carry, problems};
use super::limit::{caught, limit};
use super::{deploy, json, render, thing};
use crate::base::{Problem, Problems};
use crate::module::files::{Files, Stock};
use crate::module::schema::star as types;
use starlark::environment::{FrozenModule, Globals, GlobalsBuilder, LibraryExtension, Module};
use starlark::eval::{Evaluator, FileLoader};
use starlark::syntax::{AstModule, Dialect};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Compiled code. It is shared by all nodes and threads.
pub struct Program {
    pub frozen: FrozenModule,
    pub texts: Arc<Texts>,
}

/// What every module finds in its namespace, beside the language itself.
fn globals() -> &'static Globals {
    static GLOBALS: OnceLock<Globals> = OnceLock::new();
    GLOBALS.get_or_init(|| {
        let mut builder = GlobalsBuilder::extended_by(&[
            LibraryExtension::StructType,
            LibraryExtension::SetType,
            LibraryExtension::Map,
            LibraryExtension::Filter,
            LibraryExtension::Partial,
        ]);
        for kind in crate::resource::KINDS {
            builder.set(kind, Builtin { name: kind, body: thing::declare });
        }
        types::add(&mut builder);
        render::add(&mut builder);
        deploy::add(&mut builder);
        json::add(&mut builder);
        builder.build()
    })
}

fn dialect() -> Dialect {
    Dialect {
        enable_keyword_only_arguments: true,
        enable_positional_only_arguments: true,
        enable_top_level_stmt: true,
        enable_f_strings: true,
        ..Dialect::Standard
    }
}

/// The interpreter reads nested code by recursion; a thread's usual stack is too small for what [`super::depth`] lets
/// through. Only what is used of it takes memory.
const STACK: usize = 256 << 20;

/// Compiles `path` of the module `name` and what it loads.
pub fn compile(
    name: &str,
    files: &Arc<dyn Files>,
    stock: Option<&Stock>,
    texts: &Arc<Texts>,
    path: &str,
) -> Result<Program, Problems> {
    let load = || {
        let loader = Loader {
            name,
            stock,
            texts,
            done: RefCell::default(),
            open: RefCell::default(),
            here: RefCell::new(vec![Arc::clone(files)]),
        };
        caught(name, || loader.file(files, path))?
    };
    let failed = || Problem::new(format!("module `{name}`: no thread can be started to compile it"));
    let frozen = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, load);
        thread.map_err(|_| Problems::from(failed()))?.join().map_err(|_| Problems::from(failed()))?
    })?;
    Ok(Program { frozen, texts: Arc::clone(texts) })
}

struct Loader<'a> {
    name: &'a str,
    stock: Option<&'a Stock>,
    texts: &'a Arc<Texts>,
    done: RefCell<BTreeMap<String, FrozenModule>>,
    /// The files that are being loaded, outermost first, to tell a cycle.
    open: RefCell<Vec<String>>,
    /// Whose folder the innermost of them is in.
    here: RefCell<Vec<Arc<dyn Files>>>,
}

impl Loader<'_> {
    fn file(&self, files: &Arc<dyn Files>, path: &str) -> Result<FrozenModule, Problems> {
        let shown = files.shown(path).display().to_string();
        let Some(bytes) = files.read(path)? else {
            return Err(Problem::new(format!("module `{}`: there is no file `{shown}`", self.name))
                .expected("expected a file of this module, or `@stock//<module>/code/<file>.star`")
                .into());
        };
        let Ok(text) = std::str::from_utf8(&bytes) else {
            return Err(Problem::new(format!("`{shown}` is not UTF-8 text")).into());
        };
        self.texts.add(&shown, text);
        super::depth::check(self.name, &shown, text, self.texts)?;
        let failed = |error: starlark::Error| problems(self.name, self.texts, &error);
        let ast = AstModule::parse(&shown, text.to_owned(), &dialect()).map_err(failed)?;
        self.open.borrow_mut().push(shown.clone());
        self.here.borrow_mut().push(Arc::clone(files));
        let result = Module::with_temp_heap(|module| {
            {
                let mut eval = Evaluator::new(&module);
                limit(&mut eval);
                eval.extra = Some(&**self.texts);
                eval.set_loader(self);
                eval.eval_module(ast, globals()).map_err(failed)?;
            }
            module
                .freeze()
                .map_err(|e| Problems::from(Problem::new(format!("module `{}`: `{shown}`: {e:?}", self.name))))
        });
        self.here.borrow_mut().pop();
        self.open.borrow_mut().pop();
        result
    }

    fn found(&self, key: &str) -> Result<(Arc<dyn Files>, String), Problem> {
        let wrong = |text: String| {
            Problem::new(format!("module `{}`: {text}", self.name))
                .expected("expected a file of this module (`lib.star`), or `@stock//<module>/code/<file>.star`")
        };
        if let Some(rest) = key.strip_prefix("@stock//") {
            let (module, path) = rest.split_once('/').ok_or_else(|| wrong(format!("`{key}` names no file")))?;
            safe(path).ok_or_else(|| wrong(format!("`{key}` leaves its module")))?;
            let stock = self.stock.and_then(|stock| stock(module));
            let files = stock.ok_or_else(|| wrong(format!("there is no stock module `{module}`")))?;
            return Ok((files, path.to_owned()));
        }
        let files = self.here.borrow().last().cloned().ok_or_else(|| wrong("nothing is being loaded".to_owned()))?;
        let path = key.strip_prefix("//").or_else(|| key.strip_prefix(':')).unwrap_or(key);
        safe(path).ok_or_else(|| wrong(format!("`{key}` is outside the module")))?;
        // A bare name is a neighbour of main.star; a path with folders is read from the module's own folder.
        let path = if path.contains('/') { path.to_owned() } else { format!("code/{path}") };
        Ok((files, path))
    }
}

/// `None` where a path could leave its folder.
pub fn safe(path: &str) -> Option<()> {
    let fine = |part: &str| !part.is_empty() && part != ".." && part != "." && !part.contains('\0');
    path.split('/').all(fine).then_some(())
}

impl FileLoader for Loader<'_> {
    fn load(&self, key: &str) -> starlark::Result<FrozenModule> {
        let (files, path) = self.found(key).map_err(carry)?;
        let shown = files.shown(&path).display().to_string();
        if let Some(done) = self.done.borrow().get(&shown) {
            return Ok(done.clone());
        }
        if self.open.borrow().contains(&shown) {
            let chain = self.open.borrow().join("` loads `");
            let text = format!("module `{}`: its files load each other: `{chain}` loads `{shown}`", self.name);
            return Err(carry(Problem::new(text)));
        }
        let frozen = self.file(&files, &path).map_err(carry)?;
        self.done.borrow_mut().insert(shown, frozen.clone());
        Ok(frozen)
    }
}
