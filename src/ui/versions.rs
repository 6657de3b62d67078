//! How far modules are behind, as people and programs read it.

use super::text::count;
use super::{Paint, Table};
use crate::base::Plain;
use crate::infra::graph::Origin;
use crate::infra::versions::{Lag, Named, Standing};

/// The table of modules, and a summary line.
pub fn render(lags: &[Lag], columns: Option<usize>, paint: Paint) -> String {
    let mut table = Table::new(["MODULE", "ASKED FOR", "NEWEST", "", "USED BY"]);
    for lag in lags {
        let pin = if lag.pin.is_empty() { "-" } else { &lag.pin };
        let standing = match lag.standing {
            Standing::Behind => format!("{} behind", lag.behind),
            _ => word(lag).to_owned(),
        };
        let used = match lag.used_by.as_slice() {
            [one] => one.clone(),
            several => count(several.len(), "folder"),
        };
        let latest = lag.latest.clone().unwrap_or_else(|| "-".to_owned());
        table.row([lag.module.clone(), pin.to_owned(), latest, standing, used]);
    }
    let mut out = if lags.is_empty() { String::new() } else { table.render(columns, paint) + "\n" };
    let mut parts = Vec::new();
    let standings = [
        Standing::Behind.word(),
        Standing::Current.word(),
        Standing::Unpinned.word(),
        Named::Tag.word(),
        Named::Branch.word(),
        Named::Commit.word(),
        Standing::Unknown.word(),
        Standing::NotLookedUp.word(),
        Standing::Failed.word(),
    ];
    for standing in standings {
        match lags.iter().filter(|lag| word(lag) == standing).count() {
            0 => {}
            n if parts.is_empty() => parts.push(format!("{} {standing}", count(n, "module"))),
            n => parts.push(format!("{n} {standing}")),
        }
    }
    if parts.is_empty() {
        parts.push("no modules from elsewhere".to_owned());
    }
    out.push_str(&format!("versions: {}\n", parts.join(", ")));
    out
}

/// How a module stands; of what is no version, what it is.
fn word(lag: &Lag) -> &'static str {
    match (lag.standing, lag.named) {
        (Standing::Unknown, Some(named)) => named.word(),
        (standing, _) => standing.word(),
    }
}

/// `{module, kind, pin, latest, behind, standing, named, used_by}`.
pub fn value(lag: &Lag) -> Plain {
    let kind = match lag.kind {
        Origin::Local => "local",
        Origin::Git => "git",
        Origin::Registry => "registry",
    };
    Plain::from_iter([
        ("module", Plain::from(&lag.module)),
        ("kind", Plain::from(kind)),
        ("pin", Plain::from(&lag.pin)),
        ("latest", Plain::from(lag.latest.clone())),
        ("behind", Plain::Int(i64::try_from(lag.behind).unwrap_or(i64::MAX))),
        ("standing", Plain::from(lag.standing.word().replace(' ', "_"))),
        ("named", Plain::from(lag.named.map(|named| named.word().to_owned()))),
        ("used_by", lag.used_by.iter().map(Plain::from).collect()),
    ])
}
