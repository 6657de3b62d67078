//! `suil test`: the modules' own tests, without a node.

mod case;
mod nothing;
mod trial;

use super::schema::unknown;
use super::{Context, Outcome};
use crate::base::{Mask, Plain, Problem, Problems};
use crate::data::library::{ModuleDir, Origin};
use crate::module::Module;
use crate::ui::text::count;
use crate::ui::{self, Exit, Paint, Table};
use case::Case;
use std::path::Path;

/// Run the tests of the modules, without a node
#[derive(clap::Args, Debug)]
#[command(after_help = "\
A test file says what a module makes of a config:
  config: {who: world}                     the module's slice of the data
  node: {family: debian, release: 12}      also name, role, ssh_user; may be left out
  facts: [{file /etc/motd: {content: x}}]  what is on the node already; all else is not there
  collected: {version: 3}                  what the module's own collector reports
  force: true                              as with --force
  resources: [package nginx]               what resources() must return, with any of their attributes
  operations: [install nginx]              the titles of the plan, in order
  check: [the site is down]                what check() must find
  fails: unknown key                       instead: words of the error
After each test suil plans again on what the operations leave (or on `after`, written like `facts`): nothing may be left
to do.")]
pub struct Args {
    /// Test this module alone
    #[arg(value_name = "MODULE")]
    module: Option<String>,
    /// Test the stock modules, too
    #[arg(long, conflicts_with = "module")]
    all: bool,
}

/// How one test went.
struct Done {
    module: String,
    test: String,
    problems: Problems,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let loaded = context.load()?;
    if let Some(name) = args.module.as_ref().filter(|name| loaded.modules.get(name).is_none()) {
        return Err(unknown(name, &loaded.modules).into());
    }
    let mut done = Vec::new();
    for dir in loaded.workspace.library().iter() {
        let Some(module) = loaded.modules.get(&dir.name) else { continue };
        let asked = match &args.module {
            Some(name) => *name == dir.name,
            None => args.all || dir.origin != Origin::Stock,
        };
        if asked {
            done.extend(of_module(dir, module)?);
        }
    }
    if done.is_empty() {
        let problem = match &args.module {
            Some(name) => Problem::new(format!("module `{name}` has no test")),
            None => Problem::new("no module has a test"),
        };
        return Err(problem.help("`suil test --help` shows what a test looks like").into());
    }
    let failed = done.iter().filter(|done| !done.problems.is_empty()).count();
    let text = || {
        let mut table = Table::new(["MODULE", "TEST", "OUTCOME"]);
        for done in &done {
            let outcome = if done.problems.is_empty() { "ok" } else { "failed" };
            table.row([&*done.module, &*done.test, outcome]);
        }
        format!("{}{}, {failed} failed\n", table.render(ui::columns(), Paint::ON), count(done.len(), "test"))
    };
    let value = || {
        let tests = done
            .iter()
            .map(|done| {
                Plain::from_iter([
                    ("module", Plain::from(&done.module)),
                    ("test", Plain::from(&done.test)),
                    ("ok", Plain::from(done.problems.is_empty())),
                    ("problems", done.problems.iter().map(|p| Plain::from(&p.what)).collect()),
                ])
            })
            .collect();
        Plain::from_iter([("tests", tests)])
    };
    ui::show(context.output, text, value).map_err(Problems::from)?;
    let problems: Problems = done.iter().flat_map(|done| done.problems.iter().cloned()).collect();
    ui::warn(&problems, &Mask::new());
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

/// Runs the tests of one module, by name.
fn of_module(dir: &ModuleDir, module: &Module) -> Result<Vec<Done>, Problem> {
    let mut done = Vec::new();
    for file in dir.list("tests")?.iter().filter(|name| name.ends_with(".yaml")) {
        let path = format!("tests/{file}");
        let test = Path::new(file).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let bytes = dir.read(&path)?.unwrap_or_default();
        let problems = match Case::read(&dir.name, &test, &dir.shown(&path), &bytes) {
            Ok(case) => trial::judge(module, &case),
            Err(problems) => problems,
        };
        done.push(Done { module: dir.name.clone(), test, problems });
    }
    Ok(done)
}
