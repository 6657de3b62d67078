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
            let words = match value.list() {
                Some(items) => items.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
                None => value.as_str().map(|word| vec![word]),
            };
            let wrong = || {
                let problem = Problem::new(format!("`recipients` is {}", value.type_name()));
                problem.at(value.place).expected("expected a list of age recipients, `age1…`")
            };
            let words = words.ok_or_else(wrong)?;
            return Recipients::parse(&words.join(","), "data/common.yaml").map_err(|problem| problem.at(value.place));
        }
        match &self.age_recipient {
            Some(text) => Recipients::parse(text, "SUIL_AGE_RECIPIENT"),
            None => Err(Problem::new("there is nobody to encrypt for")
                .help("list `recipients` in data/common.yaml, or set SUIL_AGE_RECIPIENT to the `age1…` of your key")),
        }
    }
}

fn key_file(path: &Path) -> Result<Keys, Problem> {
    let text = std::fs::read_to_string(path).map(Zeroizing::new);
    let text = text.map_err(|e| Problem::io("read", path, &e).note("SUIL_AGE_KEY_FILE names this file"))?;
    Keys::parse(&text, &path.to_string_lossy())
}
