//! The modules that are built into the binary, from the repository's `modules/`.

use rust_embed::Embed;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Embed)]
#[folder = "modules/"]
struct Stock;

/// The names of all stock modules. A file beside them is none.
pub fn names() -> BTreeSet<String> {
    Stock::iter().filter_map(|path| path.split_once('/').map(|(module, _)| module.to_owned())).collect()
}

/// The content of a file of a stock module.
pub fn read(module: &str, rel: &str) -> Option<Arc<[u8]>> {
    Stock::get(&format!("{module}/{rel}")).map(|file| Arc::from(&*file.data))
}

pub fn has(module: &str, rel: &str) -> bool {
    Stock::get(&format!("{module}/{rel}")).is_some()
}

/// The names of the files or of the folders directly in `dir` of a stock module, sorted.
pub fn children(module: &str, dir: &str, folders: bool) -> Vec<String> {
    let prefix = match dir.trim_matches('/') {
        "" => format!("{module}/"),
        dir => format!("{module}/{dir}/"),
    };
    let names: BTreeSet<String> = Stock::iter()
        .filter_map(|path| {
            let below = path.strip_prefix(&prefix)?;
            match (below.split_once('/'), folders) {
                (None, false) => Some(below.to_owned()),
                (Some((folder, _)), true) => Some(folder.to_owned()),
                _ => None,
            }
        })
        .collect();
    names.into_iter().collect()
}
