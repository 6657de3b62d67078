//! `suil explain --resource`.

use super::{Args, default, layer, story as layers};
use crate::base::{Plain, Problem, Problems};
use crate::catalogue::{self, Catalogue, Explanation, Selection};
use crate::cli::load::{Closed, Loaded};
use crate::cli::{Context, Outcome};
use crate::plan::origin::{self, From, Source, Story};
use crate::ui::{self, Exit, Paint, Table};

/// Said where module code stumbles over the text that stands for a secret.
const PRETENDED: &str = "no key is set: a text stands for every secret, which the module may refuse";

pub fn run(args: &Args, context: &Context) -> Outcome {
    let loaded = context.load()?;
    let catalogue = Catalogue::build(&loaded.workspace, &Selection::node(&args.node))?;
    let [entry] = catalogue.entries.as_slice() else {
        let what = format!("`{}` names {} nodes", args.node, catalogue.entries.len());
        return Err(Problem::usage(what).help("explain one node at a time").into());
    };
    let mut config = |module: &_| loaded.config(entry, module, Closed::Pretend);
    let mut parts = origin::Parts::of(entry, &loaded.modules, &mut config);
    if !loaded.vault.has_keys() {
        parts.note(PRETENDED);
    }
    let Some(query) = &args.key else { return list(context, &loaded, &entry.name, &parts) };
    let (query, line) = match (args.line, parts.find(query, &loaded.mask), query.rsplit_once(':')) {
        (None, Err(_), Some((path, line))) if line.parse::<u32>().is_ok_and(|line| line > 0) => {
            (path, line.parse().ok())
        }
        (line, ..) => (query.as_str(), line),
    };
    let id = parts.find(query, &loaded.mask)?;
    let story = parts.story(&id, &loaded.mask)?;
    let line = line.map(|line| line as usize - 1);
    if let Some(line) = line
        && line >= story.origin.lines.len()
    {
        let what = match story.origin.lines.len() {
            0 => format!("`{}` has no lines that can be told apart", story.resource),
            count => format!("`{}` has no line {}: it has {count}", story.resource, line + 1),
        };
        return Err(Problem::usage(what).into());
    }
    let text = || {
        let mut out = ui::origin::render(&story, line, ui::columns(), Paint::ON);
        out.push_str(&chains(&story, line, &loaded, context));
        out
    };
    let value = || {
        story.to_plain(line, &mut |source| {
            let touches = told(source, &story, &loaded, context).map(|found| found.touches).unwrap_or_default();
            touches.iter().map(layer).collect()
        })
    };
    ui::show(context.output, text, value).map_err(Problems::from)?;
    Ok(Exit::Done)
}

/// Every layer of the values of one line.
fn chains(story: &Story, line: Option<usize>, loaded: &Loaded, context: &Context) -> String {
    let Some(line) = line else { return String::new() };
    let found = story.at_line(line).filter_map(|(source, _)| told(source, story, loaded, context));
    found.map(|found| format!("\n{}", layers(&found))).collect()
}

/// The layers behind a value; `None` for what no layer says.
fn told(source: &Source, story: &Story, loaded: &Loaded, context: &Context) -> Option<Explanation> {
    let key = match source.key.as_str() {
        "suil.role" => "role",
        "suil.ssh_user" => "deployment.ssh_user",
        _ if source.from == From::Node => return None,
        key => key,
    };
    let mut rule = |entry: &_, path: &[&str]| default(context, entry, path);
    catalogue::explain(&loaded.workspace, &story.node, key, &mut rule).ok()
}

fn list(context: &Context, loaded: &Loaded, node: &str, parts: &origin::Parts) -> Outcome {
    let rows = parts.list(&loaded.mask)?;
    let text = || {
        let mut table = Table::new(["RESOURCE", "MODULE", "MADE AT"]);
        for (id, module, place) in &rows {
            table.row([id.clone(), module.clone(), place.map(|at| at.to_string()).unwrap_or_default()]);
        }
        table.render(ui::columns(), Paint::ON)
    };
    let value = || {
        let row = |(id, module, place): &(String, String, Option<crate::base::Place>)| {
            Plain::from_iter([
                ("resource", Plain::from(id)),
                ("module", Plain::from(module)),
                ("place", origin::place(*place)),
            ])
        };
        Plain::from_iter([
            ("version", Plain::Int(origin::VERSION)),
            ("node", Plain::from(node)),
            ("resources", rows.iter().map(row).collect()),
        ])
    };
    ui::show(context.output, text, value).map_err(Problems::from)?;
    Ok(Exit::Done)
}
