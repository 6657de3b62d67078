//! From settings to keys and recipients.

use super::Settings;
use crate::base::{Mask, Problem, Problems};
use crate::catalogue::Workspace;
use crate::data::Value;
use crate::data::secret::{Keys, Recipients, Vault};
use std::path::Path;
use zeroize::Zeroizing;

impl Settings {
    /// The identities of `SUIL_AGE_KEY`, then those of `SUIL_AGE_KEY_FILE`; `None` where neither is set.
    ///
    /// # Errors
    /// The file cannot be read, or what is set is no identity.
    pub fn keys(&self) -> Result<Option<Keys>, Problem> {
        let direct = self.age_key.as_ref().map(|text| Keys::parse(text, "SUIL_AGE_KEY")).transpose()?;
        let file = self.age_key_file.as_deref().map(key_file).transpose()?;
        Ok(match (direct, file) {
            (Some(direct), Some(file)) => Some(direct.join(file)),
            (direct, file) => direct.or(file),
        })
    }

    /// The vault of a run; `mask` learns every plaintext that it opens.
    ///
    /// # Errors
    /// As [`Settings::keys`].
    pub fn vault(&self, mask: &Mask) -> Result<Vault, Problems> {
        Ok(Vault::new(self.keys()?, mask.clone()))
    }

    /// Whom to encrypt for: the `recipients` of `data/common.yaml`, else `SUIL_AGE_RECIPIENT`.
    ///
    /// # Errors
    /// Neither is there, or one of them is no recipient.
    pub fn recipients(&self, workspace: Option<&Workspace>) -> Result<Recipients, Problem> {
        if let Some(value) = workspace.and_then(Workspace::recipients) {
            return listed(value);
        }
        match &self.age_recipient {
            Some(text) => Recipients::parse(text, "SUIL_AGE_RECIPIENT"),
            None => Err(Problem::new("there is nobody to encrypt for")
                .help("list `recipients` in data/common.yaml, or set SUIL_AGE_RECIPIENT to the `age1…` of your key")),
        }
    }
}

/// The recipients of `data/common.yaml`: a list, or one of them.
fn listed(value: &Value) -> Result<Recipients, Problem> {
    let one = std::slice::from_ref(value);
    let items = value.list().unwrap_or(one);
    let mut words = Vec::with_capacity(items.len());
    for item in items {
        let word = item.as_str().ok_or_else(|| {
            let problem = Problem::new(format!("a recipient is {}", item.type_name()));
            problem.at(item.place).expected("expected the public half of a key, `age1…`")
        })?;
        Recipients::parse(word, "data/common.yaml").map_err(|problem| problem.at(item.place))?;
        words.push(word);
    }
    Recipients::parse(&words.join(","), "data/common.yaml").map_err(|problem| problem.at(value.place))
}

fn key_file(path: &Path) -> Result<Keys, Problem> {
    let text = std::fs::read_to_string(path).map(Zeroizing::new);
    let text = text.map_err(|e| Problem::io("read", path, &e).note("SUIL_AGE_KEY_FILE names this file"))?;
    Keys::parse(&text, &path.to_string_lossy())
}
