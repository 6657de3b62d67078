//! `suil schema`.

use super::{Context, Outcome};
use crate::base::{Plain, Problem, Problems, nearest::nearest};
use crate::module::Module;
use crate::plan::Modules;
use crate::ui::{self, Exit};

/// Print the JSON Schema of the data files
///
/// Editors complete and check data files with it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
In VS Code (YAML extension), after `suil schema > .suil/schema.json`:
  \"yaml.schemas\": {\".suil/schema.json\": [\"data/roles/*.yaml\", \"data/nodes/*.yaml\"]}")]
pub struct Args {
    /// Print the schema of this module alone
    #[arg(value_name = "MODULE")]
    module: Option<String>,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let loaded = context.load()?;
    let schema = match &args.module {
        Some(name) => {
            let module = loaded.modules.get(name).ok_or_else(|| unknown(name, &loaded.modules))?;
            module.json_schema()?.ok_or_else(|| {
                Problem::new(format!("module `{name}` has no schema")).help("declare one in its code/config.star")
            })?
        }
        None => all(&loaded)?,
    };
    ui::document(context.output, &schema).map_err(Problems::from)?;
    Ok(Exit::Done)
}

/// The schema of a data file: every module's slice, and the keys that suil itself reads.
fn all(loaded: &super::load::Loaded) -> Result<Plain, Problems> {
    let string = || Plain::from_iter([("type", Plain::from("string"))]);
    let mut slots = Plain::map();
    slots.set("role", string());
    slots.set("modules", Plain::from_iter([("type", Plain::from("array")), ("items", string())]));
    slots.set("deployment", Plain::from_iter([("type", Plain::from("object"))]));
    let mut problems = Problems::new();
    for module in loaded.modules.iter() {
        let name = module.name();
        match module.json_schema() {
            Ok(Some(schema)) => slots.set(name, lenient(schema)),
            Ok(None) => slots.set(name, Plain::map()),
            Err(found) => problems.extend(found),
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(Plain::from_iter([
        ("$schema", Plain::from("https://json-schema.org/draft/2020-12/schema")),
        ("title", Plain::from("a data file of suil")),
        ("type", Plain::from("object")),
        ("properties", slots),
    ]))
}

/// One layer need not hold every key: what is required of the whole is not required of a part.
fn lenient(schema: Plain) -> Plain {
    match schema {
        Plain::Map(map) => map
            .into_iter()
            .filter(|(key, value)| !(key == "required" && matches!(value, Plain::List(_))))
            .filter(|(key, _)| key != "$schema")
            .map(|(key, value)| (key, lenient(value)))
            .collect(),
        Plain::List(list) => list.into_iter().map(lenient).collect(),
        other => other,
    }
}

/// The problem of a module that is not there.
pub(super) fn unknown(name: &str, modules: &Modules) -> Problem {
    let known: Vec<&str> = modules.iter().map(Module::name).collect();
    let problem = Problem::new(format!("unknown module `{name}`"));
    match nearest(name, known.iter().copied()) {
        Some(guess) => problem.help(format!("did you mean `{guess}`? `suil modules` lists all {}", known.len())),
        None => problem.help(format!("`suil modules` lists all {}", known.len())),
    }
}
