//! How far modules are behind, as people and programs read it.

use super::text::count;
use super::{Paint, Table};
use crate::base::Plain;
use crate::infra::graph::Origin;
use crate::infra::versions::{Lag, Standing};

/// The table of modules, and a summary line.
pub fn render(lags: &[Lag], columns: Option<usize>, paint: Paint) -> String {
    let mut table = Table::new(["MODULE", "ASKED FOR", "NEWEST", "", "USED BY"]);
    for lag in lags {
        let pin = if lag.pin.is_empty() { "-" } else { &lag.pin };
        let standing = match lag.standing {
            Standing::Behind => format!("{} behind", lag.behind),
            standing => standing.word().to_owned(),
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
    for standing in [
        Standing::Behind,
        Standing::Current,
        Standing::Unpinned,
        Standing::Unknown,
        Standing::NotLookedUp,
        Standing::Failed,
    ] {
        match lags.iter().filter(|lag| lag.standing == standing).count() {
            0 => {}
            n if parts.is_empty() => parts.push(format!("{} {}", count(n, "module"), standing.word())),
            n => parts.push(format!("{n} {}", standing.word())),
        }
    }
    if parts.is_empty() {
        parts.push("no modules from elsewhere".to_owned());
    }
    out.push_str(&format!("versions: {}\n", parts.join(", ")));
    out
}

/// `{module, kind, pin, latest, behind, standing, used_by}`.
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
        ("used_by", lag.used_by.iter().map(Plain::from).collect()),
    ])
}
