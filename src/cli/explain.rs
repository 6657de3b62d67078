//! `suil explain`.

mod resource;

use super::load::Closed;
use super::{Context, Outcome};
use crate::base::{Place, Plain, Problems};
use crate::catalogue::{self, Entry, Explanation, Touch};
use crate::data::Value;
use crate::ui::{self, Exit, Paint, text};

/// Show where a value comes from
///
/// Every layer that touched the key, lowest first: its place, what it did, and the value after it. With `--resource`:
/// which module, template line and data line made a resource.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  suil explain web-01.example.com nginx.workers
  suil explain --resource web-01.example.com /etc/nginx/nginx.conf
  suil explain --resource web-01.example.com /etc/nginx/nginx.conf:3
  suil explain --resource web-01.example.com 'package nginx'")]
pub struct Args {
    /// The node
    #[arg(value_name = "NODE")]
    node: String,
    /// The key, with dots between its parts: nginx.workers
    #[arg(value_name = "KEY", required_unless_present = "resource")]
    key: Option<String>,
    /// Tell where this resource comes from, instead of a key: a path, a name, or an id as a plan prints it; without
    /// one, list those of the node
    #[arg(long)]
    resource: bool,
    /// Tell only about this line of the content, with every layer of its values; `PATH:N` is the same
    #[arg(long, value_name = "N", requires = "resource", value_parser = clap::value_parser!(u32).range(1..))]
    line: Option<u32>,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    if args.resource {
        return resource::run(&args, context);
    }
    let workspace = context.open()?;
    let key = args.key.unwrap_or_default();
    let found = catalogue::explain(&workspace, &args.node, &key, &mut |entry, path| default(context, entry, path))?;
    let text = || story(&found);
    let value = || {
        Plain::from_iter([
            ("node", Plain::from(&found.node)),
            ("provisional", Plain::from(found.provisional)),
            ("key", Plain::from(&found.key)),
            ("value", Plain::from(found.value.as_ref().map(plain))),
            ("layers", found.touches.iter().map(layer).collect()),
        ])
    };
    ui::show(context.output, text, value).map_err(Problems::from)?;
    Ok(Exit::Done)
}

/// The value, and below it every layer that touched the key.
fn story(found: &Explanation) -> String {
    let mut out = String::new();
    let title = format!("{} on {}", found.key, found.node);
    match &found.value {
        Some(value) => out.push_str(&entry(&Paint::ON.heading(&title), &plain(value))),
        None => out.push_str(&format!("{}: no value\n", Paint::ON.heading(&title))),
    }
    let width = found.touches.iter().map(|t| text::width(&t.place.to_string())).max().unwrap_or(0);
    for touch in &found.touches {
        out.push_str(&line(touch, width));
    }
    if found.provisional {
        out.push_str("  provisional: the node was never probed, no OS layer is read\n");
    }
    out
}

/// What the schema of a module gives where no layer has the key, and where it says so.
fn default(context: &Context, entry: &Entry, path: &[&str]) -> Result<Option<(Place, Plain)>, Problems> {
    let Some((name, below)) = path.split_first() else { return Ok(None) };
    if !entry.modules.iter().any(|module| module == name) {
        return Ok(None);
    }
    let loaded = context.load()?;
    let Some(module) = loaded.modules.get(name) else { return Ok(None) };
    let Some(place) = module.rule(below)? else { return Ok(None) };
    let config = loaded.config(entry, module, Closed::Mark)?;
    Ok(config.public.at(below).filter(|value| !value.is_null()).map(|value| (place, value.clone())))
}

/// One layer: where, how, and the value after it.
fn line(touch: &Touch, width: usize) -> String {
    let place = touch.place.to_string();
    let gap = " ".repeat(width.saturating_sub(text::width(&place)) + 2);
    let head = format!("  {place}{gap}{}", Paint::ON.quiet(touch.strategy));
    match &touch.after {
        Some(value) => entry(&head, &plain(value)),
        None => format!("{head}: no value\n"),
    }
}

/// `<head>: <value>`; what needs more room stands below.
fn entry(head: &str, value: &Plain) -> String {
    let line = match value {
        Plain::List(_) | Plain::Map(_) => text::clean(&value.to_json_line()),
        value => text::clean(value.to_yaml().trim_end()),
    };
    if text::width(head) + 2 + text::width(&line) <= ui::columns().unwrap_or(80) {
        return format!("{head}: {line}\n");
    }
    let yaml = value.to_yaml();
    let lines: String = yaml.trim_end().lines().map(|line| format!("      {}\n", text::clean(line))).collect();
    format!("{head}:\n{lines}")
}

fn layer(touch: &Touch) -> Plain {
    Plain::from_iter([
        ("file", Plain::from(touch.place.path().display().to_string())),
        ("line", Plain::from(touch.place.line)),
        ("column", Plain::from(touch.place.column)),
        ("layer", Plain::from(&touch.layer)),
        ("strategy", Plain::from(touch.strategy)),
        ("after", Plain::from(touch.after.as_ref().map(plain))),
    ])
}

/// A value for the eye: a secret is only named, for telling where it comes from needs no key.
fn plain(value: &Value) -> Plain {
    value.to_plain(&mut |_, _| Plain::from("secret"))
}
