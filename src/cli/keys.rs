//! From settings to keys and recipients.

use super::Settings;
use crate::base::{FileId, Mask, Place, Problem, Problems};
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

/// The recipients of `data/common.yaml`: a list, or one of them; each a key, or a key with the name of whose it is.
fn listed(value: &Value) -> Result<Recipients, Problem> {
    const ORIGIN: &str = "data/common.yaml";
    let one = std::slice::from_ref(value);
    let items = value.list().unwrap_or(one);
    let mut recipients = Recipients::default();
    for item in items {
        let (word, name) = entry(item)?;
        if word.starts_with("AGE-SECRET-KEY-") {
            // The line is the secret half of a key: its place must do.
            let place = Place { file: FileId::new(ORIGIN, ""), ..item.place };
            return Err(Problem::new("a recipient is the secret half of a key")
                .at(place)
                .expected("expected the public half, `age1…`")
                .help("take it out of the file, and make a new key: this one has been seen"));
        }
        let before = recipients.len();
        recipients.add(word, name, ORIGIN).map_err(|problem| problem.at(item.place))?;
        if name.is_some() && recipients.len() == before {
            let problem = Problem::new("a recipient is listed twice").at(item.place);
            return Err(problem.expected("expected each key once").help("remove one of them"));
        }
        Recipients::parse(word, ORIGIN).map_err(|problem| problem.at(item.place))?;
    }
    recipients.some(ORIGIN).map_err(|problem| problem.at(value.place))
}

/// The key of an item, and the name that goes with it.
fn entry(item: &Value) -> Result<(&str, Option<&str>), Problem> {
    let wrong = |what: String, place| {
        Problem::new(what).at(place).expected("expected the public half of a key, `age1…`, or `{name: …, key: age1…}`")
    };
    let Some(map) = item.map() else {
        let word = item.as_str();
        return word
            .map(|word| (word, None))
            .ok_or_else(|| wrong(format!("a recipient is {}", item.type_name()), item.place));
    };
    if let Some((key, slot)) = map.iter().find(|(key, _)| !["name", "key"].contains(&&***key)) {
        return Err(wrong(format!("a recipient has an unknown key `{key}`"), slot.key));
    }
    let text = |key: &str| match map.get(key) {
        Some(slot) => slot.value.as_str().map(Some).ok_or_else(|| {
            wrong(format!("the `{key}` of a recipient is {}", slot.value.type_name()), slot.value.place)
        }),
        None => Ok(None),
    };
    let key = text("key")?.ok_or_else(|| wrong("a recipient has no `key`".to_owned(), item.place))?;
    if key.contains([',', ' ']) {
        return Err(wrong("the `key` of a recipient holds several".to_owned(), item.place));
    }
    Ok((key, text("name")?))
}

fn key_file(path: &Path) -> Result<Keys, Problem> {
    let text = std::fs::read_to_string(path).map(Zeroizing::new);
    let text = text.map_err(|e| Problem::io("read", path, &e).note("SUIL_AGE_KEY_FILE names this file"))?;
    Keys::parse(&text, &path.to_string_lossy())
}
