//! Host keys that nobody accepted yet, listed together.

use super::text::count;
use super::{Paint, Table, columns};
use crate::node::hostkey::HostKey;

/// A line for each host: the node, its address, and the key's kind and fingerprint as ssh prints them.
pub fn render(keys: &[HostKey], paint: Paint) -> String {
    let mut table = Table::new(["NODE", "ADDRESS", "KEY", "FINGERPRINT"]);
    for key in keys {
        table.row([&key.node, &key.address, &key.kind, &key.fingerprint]);
    }
    let title = format!("{} not known yet", count(keys.len(), "host key"));
    format!("{}\n{}", paint.heading(&title), table.render(columns(), paint))
}
