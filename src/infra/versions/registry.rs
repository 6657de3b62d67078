//! The versions of modules in registries, by the protocol that Terraform has for them.

use super::web::{Url, Web};
use crate::base::Problem;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Where modules are that name no host.
const PUBLIC: &str = "registry.terraform.io";

/// Gives the token for a host, where there is one.
pub type Tokens<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// Registries, each asked once where it lists modules.
pub struct Registries<'a> {
    tokens: Tokens<'a>,
    web: OnceLock<Result<Web, Problem>>,
    hosts: Mutex<HashMap<String, Url>>,
}

impl<'a> Registries<'a> {
    pub fn new(tokens: Tokens<'a>) -> Registries<'a> {
        Registries { tokens, web: OnceLock::new(), hosts: Mutex::default() }
    }

    /// The versions of the module that a `source` names.
    ///
    /// # Errors
    /// The registry gives no answer, or none that makes sense.
    pub fn versions(&self, source: &str) -> Result<Vec<String>, Problem> {
        let place = source.split_once("//").map_or(source, |(place, _)| place);
        let (host, module) = match place.split('/').count() {
            4 => place.split_once('/').unwrap_or((PUBLIC, place)),
            _ => (PUBLIC, place),
        };
        let list = self.list(host)?;
        let odd = || Problem::new(format!("the registry `{host}` gives no address of modules"));
        let url = list.join(&format!("{}/{module}/versions", list.path.trim_end_matches('/'))).ok_or_else(odd)?;
        let told = self.json(&url)?;
        let all = told.get("modules").and_then(Value::as_array).into_iter().flatten();
        let all = all.filter_map(|module| module.get("versions").and_then(Value::as_array)).flatten();
        Ok(all.filter_map(|one| one.get("version")?.as_str()).map(str::to_owned).collect())
    }

    /// Where a host lists modules.
    fn list(&self, host: &str) -> Result<Url, Problem> {
        if let Some(known) = self.hosts.lock().unwrap_or_else(PoisonError::into_inner).get(host) {
            return Ok(known.clone());
        }
        let here = Url::new(host, "/.well-known/terraform.json");
        let told = self.json(&here)?;
        let target = told.get("modules.v1").and_then(Value::as_str);
        let url = target.and_then(|target| here.join(target));
        let url =
            url.ok_or_else(|| Problem::new(format!("`{host}` is no registry of modules: `{here}` names none")))?;
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner).insert(host.to_owned(), url.clone());
        Ok(url)
    }

    fn json(&self, url: &Url) -> Result<Value, Problem> {
        let web = self.web.get_or_init(Web::new).as_ref().map_err(Problem::clone)?;
        let (at, body) = web.get(url, (self.tokens)(&url.host).as_deref())?;
        serde_json::from_slice(&body).map_err(|e| Problem::new(format!("`{at}` answers with no JSON: {e}")))
    }
}
