//! `suil secrets`, `suil secrets list`.

use super::load::Loaded;
use super::{Context, Outcome, Selection};
use crate::base::problem;
use crate::base::{Plain, Problem, Problems};
use crate::catalogue::{Catalogue, Workspace};
use crate::data::secret::{self, Keys, Recipients};
use crate::data::yaml::spot::{Secret, Spot};
use crate::data::yaml::spots;
use crate::ui::text::count;
use crate::ui::{self, Exit, Paint, Table};
use clap::Subcommand;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// List the secrets of the data files, and who can read them
///
/// A ciphertext does not name its recipients: shown is for how many it is, and which of your own keys open it. Nothing
/// of a secret itself is shown.
#[derive(clap::Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: List,
}

#[derive(Subcommand, Debug)]
enum Command {
    List(List),
}

/// List the secrets of the data files, and who can read them
#[derive(clap::Args, Debug)]
struct List {
    #[command(flatten)]
    selection: Selection,
    /// Also list the nodes that have each secret
    #[arg(long = "nodes", id = "show_nodes")]
    nodes_too: bool,
}

/// One secret, as far as it may be shown.
struct Row {
    spot: Spot,
    /// For how many it is encrypted; `None` where that cannot be read.
    audience: Option<usize>,
    /// Which of the keys at hand open it; `None` where no key is set.
    readers: Option<Vec<String>>,
    /// False where it is surely for others than the present recipients.
    present: bool,
    nodes: Vec<String>,
}

/// A place in a file, as the loader and the finder tell it alike.
type At = (PathBuf, u32, u32);

pub fn run(args: Args, context: &Context) -> Outcome {
    let list = match args.command {
        Some(Command::List(list)) => list,
        None => args.list,
    };
    let loaded = context.load()?;
    let Loaded { workspace, settings, .. } = &loaded;
    let keys = settings.keys()?;
    let recipients = match (workspace.recipients().is_some(), &settings.age_recipient) {
        (false, None) => None,
        _ => Some(settings.recipients(Some(workspace))?),
    };
    let chosen = !list.selection.is_empty() || !list.selection.modules.is_empty();
    let nodes = if chosen || list.nodes_too { Some(nodes(&loaded, &list.selection)?) } else { None };
    let mut rows = Vec::new();
    for spot in all(workspace)? {
        let nodes = nodes.as_ref().and_then(|nodes| nodes.get(&at(&spot)).cloned());
        if chosen && nodes.is_none() {
            continue;
        }
        rows.extend(row(spot, keys.as_ref(), recipients.as_ref(), nodes.unwrap_or_default()));
    }
    show(&rows, &list, keys.as_ref(), recipients.as_ref(), context)?;
    Ok(Exit::Done)
}

/// The secrets of all data files.
fn all(workspace: &Workspace) -> Result<Vec<Spot>, Problems> {
    let mut found = Vec::new();
    let mut problems = Problems::new();
    for (source, bytes) in workspace.secret_sources(&mut problems)? {
        match spots(&source.shown, &bytes) {
            Ok(spots) => found.extend(spots),
            Err(more) => problems.extend(more),
        }
    }
    problem::sort(&mut problems);
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

/// The nodes of the selection that have each secret.
fn nodes(loaded: &Loaded, selection: &Selection) -> Result<BTreeMap<At, Vec<String>>, Problems> {
    let catalogue = Catalogue::build(&loaded.workspace, &selection.of_nodes(loaded)?)?;
    selection.check_modules(catalogue.entries.iter().flat_map(|e| e.modules.iter().map(|m| &**m)))?;
    let mut nodes: BTreeMap<At, Vec<String>> = BTreeMap::new();
    for entry in &catalogue.entries {
        let secrets = entry.secrets().into_iter().filter(|(key, _)| selection.has_module(key));
        let mut places: Vec<At> = secrets.map(|(_, at)| (at.path(), at.line, at.column)).collect();
        places.sort();
        places.dedup();
        for place in places {
            nodes.entry(place).or_default().push(entry.name.to_string());
        }
    }
    Ok(nodes)
}

fn at(spot: &Spot) -> At {
    (spot.place.path(), spot.place.line, spot.place.column)
}

fn row(spot: Spot, keys: Option<&Keys>, recipients: Option<&Recipients>, nodes: Vec<String>) -> Option<Row> {
    let Secret::Sealed(cipher) = &spot.secret else { return None };
    let audience = secret::audience(cipher);
    let readers = keys.map(|keys| secret::readers(cipher, keys).unwrap_or_default());
    // A key of a present recipient must open what is for the present recipients.
    let closed = |name: &String| recipients.is_some_and(|all| all.names().contains(name));
    let mine = keys.map(|keys| keys.recipients().names()).unwrap_or_default();
    let opens = readers.iter().flatten().all(closed) && {
        let readers = readers.as_deref().unwrap_or_default();
        mine.iter().filter(|name| closed(name)).all(|name| readers.contains(name))
    };
    let present = recipients.is_none_or(|all| audience == Some(all.len()) && opens);
    Some(Row { spot, audience, readers, present, nodes })
}

fn show(
    rows: &[Row],
    list: &List,
    keys: Option<&Keys>,
    recipients: Option<&Recipients>,
    context: &Context,
) -> Result<(), Problem> {
    let name = |key: &String| recipients.and_then(|all| all.name_of(key)).map_or_else(|| key.clone(), str::to_owned);
    let due = rows.iter().filter(|row| !row.present).count();
    let text = || {
        let mut headings = vec!["SECRET", "WHERE", "FOR", "OPENED BY"];
        headings.extend(list.nodes_too.then_some("NODES"));
        let mut table = Table::new(headings);
        for row in rows {
            let readers = match &row.readers {
                None => "no key is set".to_owned(),
                Some(readers) if readers.is_empty() => "none of your keys".to_owned(),
                Some(readers) => readers.iter().map(name).map(|name| short(&name)).collect::<Vec<_>>().join(", "),
            };
            let audience = row.audience.map_or_else(|| "damaged".to_owned(), |n| n.to_string());
            let mark = if row.present { "" } else { " *" };
            let place = row.spot.place.to_string();
            let mut cells = vec![row.spot.key.clone(), place, audience + mark, readers];
            cells.extend(list.nodes_too.then(|| row.nodes.join(", ")));
            table.row(cells);
        }
        let mut out = if table.is_empty() { String::new() } else { table.render(ui::columns(), Paint::ON) };
        out.push_str(&format!("{}\n", count(rows.len(), "secret")));
        if due > 0 {
            let all = recipients.map_or(0, Recipients::len);
            let (secrets, are) = (count(due, "secret"), if due == 1 { "is" } else { "are" });
            let whom = count(all, "present recipient");
            out.push_str(&format!("* {secrets} {are} not for the {whom}: `suil rekey` is due\n"));
        }
        out
    };
    let value = || {
        let person = |key: String| {
            let name = recipients.and_then(|all| all.name_of(&key)).map(str::to_owned);
            Plain::from_iter([("key", Plain::from(key)), ("name", Plain::from(name))])
        };
        let keys_of = |keys: Vec<String>| keys.into_iter().map(person).collect::<Plain>();
        let row = |row: &Row| {
            let mut value = Plain::from_iter([
                ("key", Plain::from(&row.spot.key)),
                ("file", Plain::from(row.spot.place.path().display().to_string())),
                ("line", Plain::Int(row.spot.place.line.into())),
                ("column", Plain::Int(row.spot.place.column.into())),
                ("recipients", row.audience.map_or(Plain::Null, |n| Plain::Int(n as i64))),
                ("opened_by", row.readers.clone().map_or(Plain::Null, keys_of)),
                ("rekey_due", Plain::from(!row.present)),
            ]);
            if list.nodes_too {
                value.set("nodes", row.nodes.iter().map(Plain::from).collect::<Plain>());
            }
            value
        };
        Plain::from_iter([
            ("recipients", recipients.map_or(Plain::Null, |all| keys_of(all.names()))),
            ("keys", keys.map_or(Plain::Null, |keys| keys_of(keys.recipients().names()))),
            ("secrets", rows.iter().map(row).collect()),
        ])
    };
    ui::show(context.output, text, value)
}

/// A public key, cut to what tells two of them apart.
fn short(name: &str) -> String {
    match name.strip_prefix("age1").and_then(|rest| rest.get(..8)) {
        Some(start) => format!("age1{start}…"),
        None => name.to_owned(),
    }
}
