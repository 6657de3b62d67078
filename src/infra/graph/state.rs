//! Where a state is kept, and when two descriptions mean the same one.

use super::key;
use crate::base::mask::without_passwords;
use crate::infra::hcl::{Literal, Settings};

/// The place of one state. Two are the same state where they are equal.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// The kind of its backend; `cloud` and `remote` are one.
    pub kind: &'static str,
    /// What stands behind `://`.
    pub address: String,
}

impl State {
    /// As a URI: `s3://bucket/object`.
    pub fn uri(&self) -> String {
        match self.kind {
            "http" => self.address.clone(),
            kind => format!("{kind}://{}", self.address),
        }
    }
}

/// Why a backend does not say which state it means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unclear {
    /// This setting is computed.
    Computed(&'static str),
    /// This setting is needed, and is not there.
    Missing(&'static str),
    /// No state can be meant by such a backend, or suil does not know it.
    Unknown,
}

/// The backends whose states suil tells apart.
pub const KNOWN: [&str; 13] =
    ["s3", "gcs", "azurerm", "http", "pg", "local", "consul", "kubernetes", "remote", "cloud", "oss", "cos", "inmem"];

struct Given<'a>(&'a Settings);

impl Given<'_> {
    fn optional(&self, name: &'static str) -> Result<Option<&str>, Unclear> {
        match self.0.get(name) {
            None => Ok(None),
            Some(Literal::Text(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(Literal::Computed) => Err(Unclear::Computed(name)),
        }
    }

    fn needed(&self, name: &'static str) -> Result<&str, Unclear> {
        self.optional(name)?.ok_or(Unclear::Missing(name))
    }

    fn or<'a>(&'a self, name: &'static str, default: &'a str) -> Result<&'a str, Unclear> {
        Ok(self.optional(name)?.unwrap_or(default))
    }
}

/// The state of a backend in a workspace, empty for the one that is always there. `folder` is where the code stands, which
/// paths of `local` are seen from.
///
/// # Errors
/// The settings do not say which.
pub fn state(kind: &str, settings: &Settings, workspace: &str, folder: &str) -> Result<State, Unclear> {
    let given = Given(settings);
    let own = Some(workspace).filter(|name| !matches!(*name, "" | "default"));
    let name = own.unwrap_or("default");
    let (kind, address) = match kind {
        "s3" => {
            let (bucket, key) = (given.needed("bucket")?, given.needed("key")?);
            let object = match own {
                None => key.to_owned(),
                Some(own) => format!("{}/{own}/{key}", given.or("workspace_key_prefix", "env:")?),
            };
            ("s3", format!("{bucket}/{object}"))
        }
        "gcs" => {
            let object = join(&[given.or("prefix", "")?, &format!("{name}.tfstate")]);
            ("gcs", format!("{}/{object}", given.needed("bucket")?))
        }
        "azurerm" => {
            let (account, container) = (given.needed("storage_account_name")?, given.needed("container_name")?);
            let end = own.map(|own| format!("env:{own}")).unwrap_or_default();
            ("azurerm", format!("{account}/{container}/{}{end}", given.needed("key")?))
        }
        "http" => ("http", without_user(given.needed("address")?)),
        "pg" => {
            // Where both are missing, the environment says which database it is, and two may mean different ones.
            let address = given.optional("conn_str")?;
            let schema = match (address, given.optional("schema_name")?) {
                (None, None) => return Err(Unclear::Missing("conn_str")),
                (_, schema) => schema.unwrap_or("terraform_remote_state"),
            };
            ("pg", format!("{}/{schema}/{name}", address.map(database).unwrap_or_default()))
        }
        "local" => {
            let path = match own {
                None => given.or("path", "terraform.tfstate")?.to_owned(),
                Some(own) => {
                    format!("{}/{own}/terraform.tfstate", given.or("workspace_dir", "terraform.tfstate.d")?)
                }
            };
            // A path that leaves the tree is another one on every machine; it is still equal to itself.
            ("local", key::beside(folder, &path).unwrap_or(path))
        }
        "consul" => {
            let end = own.map(|own| format!("-env:{own}")).unwrap_or_default();
            ("consul", format!("{}/{}{end}", given.or("address", "")?, given.needed("path")?))
        }
        "kubernetes" => {
            let suffix = given.needed("secret_suffix")?;
            ("kubernetes", format!("{}/tfstate-{name}-{suffix}", given.or("namespace", "default")?))
        }
        "remote" | "cloud" => {
            let place = join(&[given.or("hostname", "app.terraform.io")?, given.needed("organization")?]);
            let workspace = match (given.optional("workspaces.name")?, given.optional("workspaces.prefix")?) {
                (Some(name), _) => name.to_owned(),
                (None, Some(prefix)) => format!("{prefix}{}", own.ok_or(Unclear::Missing("workspaces.name"))?),
                // Tags leave it to the selected workspace.
                (None, None) => own.ok_or(Unclear::Missing("workspaces.name"))?.to_owned(),
            };
            ("remote", format!("{place}/{workspace}"))
        }
        "oss" => {
            let names = [given.or("prefix", "env:")?, own.unwrap_or(""), given.or("key", "terraform.tfstate")?];
            ("oss", format!("{}/{}", given.needed("bucket")?, join(&names)))
        }
        "cos" => {
            let names = [given.or("prefix", "")?, own.unwrap_or(""), given.or("key", "terraform.tfstate")?];
            ("cos", format!("{}/{}", given.needed("bucket")?, join(&names)))
        }
        _ => return Err(Unclear::Unknown),
    };
    Ok(State { kind, address })
}

/// The names of an object, without empty ones.
fn join(names: &[&str]) -> String {
    let names = names.iter().map(|name| name.trim_matches('/')).filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join("/")
}

/// An address without what may be a password.
fn without_user(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    match address.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
        }
        None => address.to_owned(),
    }
}

/// The host and the name of a database, out of `postgres://user:word@host/name` or `host=… dbname=…`.
fn database(text: &str) -> String {
    if text.contains("://") {
        let plain = without_user(text);
        return plain.split_once("://").map_or(plain.clone(), |(_, rest)| rest.to_owned());
    }
    let get = |name: &str| {
        text.split_whitespace().filter_map(|pair| pair.split_once('=')).find(|(own, _)| *own == name).map(|(_, v)| v)
    };
    join(&[get("host").unwrap_or(""), get("dbname").unwrap_or("")])
}

/// The settings that may be shown: those that say where a state is, and nothing that may be a secret.
pub fn shown(kind: &str, settings: &Settings) -> std::collections::BTreeMap<String, String> {
    const SHOWN: [&str; 21] = [
        "bucket",
        "key",
        "region",
        "dynamodb_table",
        "use_lockfile",
        "workspace_key_prefix",
        "prefix",
        "storage_account_name",
        "container_name",
        "resource_group_name",
        "path",
        "workspace_dir",
        "schema_name",
        "secret_suffix",
        "namespace",
        "hostname",
        "organization",
        "workspaces.name",
        "workspaces.prefix",
        "address",
        "workspaces.project",
    ];
    let known = settings.iter().filter(|(name, _)| SHOWN.contains(&name.as_str()));
    known
        .filter_map(|(name, value)| match value {
            Literal::Text(text) if name == "address" && kind == "http" => Some((name.clone(), without_user(text))),
            Literal::Text(text) => Some((name.clone(), without_passwords(text).into_owned())),
            Literal::Computed => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: &str, pairs: &[(&str, &str)], workspace: &str) -> Result<String, Unclear> {
        let value = |text: &str| if text == "?" { Literal::Computed } else { Literal::Text(text.to_owned()) };
        let settings = pairs.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect();
        state(kind, &settings, workspace, "stacks/a").map(|state| state.uri())
    }

    #[test]
    fn every_backend_says_where_its_state_is() {
        type Row = (&'static str, &'static [(&'static str, &'static str)], &'static str, &'static str);
        let rows: &[Row] = &[
            ("s3", &[("bucket", "b"), ("key", "k")], "", "s3://b/k"),
            ("s3", &[("bucket", "b"), ("key", "k")], "eu", "s3://b/env:/eu/k"),
            ("s3", &[("bucket", "b"), ("key", "k"), ("workspace_key_prefix", "w")], "eu", "s3://b/w/eu/k"),
            ("gcs", &[("bucket", "b"), ("prefix", "p/")], "", "gcs://b/p/default.tfstate"),
            (
                "azurerm",
                &[("storage_account_name", "a"), ("container_name", "c"), ("key", "k")],
                "eu",
                "azurerm://a/c/kenv:eu",
            ),
            ("http", &[("address", "https://user:word@h/s?token=x")], "", "https://h/s"),
            (
                "pg",
                &[("conn_str", "postgres://u:p@h/d?sslmode=disable")],
                "",
                "pg://h/d/terraform_remote_state/default",
            ),
            ("pg", &[("conn_str", "host=h dbname=d password=p"), ("schema_name", "s")], "eu", "pg://h/d/s/eu"),
            ("local", &[], "", "local://stacks/a/terraform.tfstate"),
            ("local", &[("path", "../x.tfstate")], "", "local://stacks/x.tfstate"),
            ("local", &[("path", "/var/x")], "", "local:///var/x"),
            ("local", &[], "eu", "local://stacks/a/terraform.tfstate.d/eu/terraform.tfstate"),
            ("consul", &[("path", "p")], "eu", "consul:///p-env:eu"),
            ("kubernetes", &[("secret_suffix", "s")], "", "kubernetes://default/tfstate-default-s"),
            ("cloud", &[("organization", "o"), ("workspaces.name", "w")], "", "remote://app.terraform.io/o/w"),
            ("remote", &[("organization", "o"), ("workspaces.prefix", "w-")], "eu", "remote://app.terraform.io/o/w-eu"),
            ("oss", &[("bucket", "b")], "", "oss://b/env:/terraform.tfstate"),
            ("cos", &[("bucket", "b"), ("prefix", "p")], "eu", "cos://b/p/eu/terraform.tfstate"),
        ];
        for (kind, pairs, workspace, want) in rows {
            assert_eq!(of(kind, pairs, workspace).as_deref(), Ok(*want), "{kind} {pairs:?}");
        }
    }

    #[test]
    fn what_is_computed_or_missing_is_no_state() {
        assert_eq!(of("s3", &[("bucket", "?"), ("key", "k")], ""), Err(Unclear::Computed("bucket")));
        assert_eq!(of("s3", &[("bucket", "b")], ""), Err(Unclear::Missing("key")));
        assert_eq!(of("pg", &[], ""), Err(Unclear::Missing("conn_str")));
        assert_eq!(of("inmem", &[], ""), Err(Unclear::Unknown));
        assert_eq!(of("cloud", &[("organization", "o")], ""), Err(Unclear::Missing("workspaces.name")));
    }
}
