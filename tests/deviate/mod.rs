//! The right values where the Python suil is wrong: what `better:` of each case asks for.

use suil::base::Plain;

/// What a case must give.
pub enum Want {
    /// An error that names all of these.
    Error(&'static [&'static str]),
    /// The data of the first node, as JSON.
    Data(&'static str),
    /// Any answer, and a warning that names all of these.
    Warning(&'static [&'static str]),
    /// The names of the nodes and the data of the first one, as JSON.
    Nodes(&'static str, &'static str),
    /// The deployment of the first node, as JSON.
    Deployment(&'static str),
    /// The modules of the first node, as JSON.
    Modules(&'static str),
}

impl Want {
    pub fn judge(&self, found: Result<(&Plain, String), &Vec<suil::base::Problem>>, shown: &str) -> Result<(), String> {
        let named = |words: &[&str], text: &str| match words.iter().find(|word| !text.contains(**word)) {
            Some(word) => Err(format!("nothing names {word:?}")),
            None => Ok(()),
        };
        let (plain, warnings) = match (self, found) {
            (Want::Error(words), Err(_)) => return named(words, shown),
            (Want::Error(_), Ok(_)) => return Err("no error".to_owned()),
            (_, Err(_)) => return Err("an error".to_owned()),
            (_, Ok(found)) => found,
        };
        let nodes = plain.get("nodes").and_then(Plain::as_list).unwrap_or_default();
        let of_first = |key: &str| nodes.first().and_then(|node| node.get(key)).map(Plain::to_json_line);
        let same = |what: &str, found: Option<String>, want: &str| match found.as_deref() == Some(want) {
            true => Ok(()),
            false => Err(format!("{what}: want\n{want}\nfound\n{}", found.unwrap_or_default())),
        };
        match self {
            Want::Error(_) => Ok(()),
            Want::Data(want) => same("data", of_first("data"), want),
            Want::Deployment(want) => same("deployment", of_first("deployment"), want),
            Want::Modules(want) => same("modules", of_first("modules"), want),
            Want::Warning(words) => named(words, &warnings),
            Want::Nodes(names, data) => {
                let found: Vec<&str> = nodes.iter().filter_map(|node| node.get("name")?.as_str()).collect();
                same("nodes", Some(found.join(" ")), names)?;
                same("data", of_first("data"), data)
            }
        }
    }
}

pub const TABLE: &[(&str, Want)] =
    &[("013-hierarchy-unknown-variable", Want::Error(&["data/common.yaml", "{harbour}"]))];
