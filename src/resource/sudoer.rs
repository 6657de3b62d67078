//! `sudoer`: a file of rules in `/etc/sudoers.d`, which sudo itself checks before it is put there.

use super::access::Access;
use super::file::File;
use super::*;

pub const KIND: Kind =
    Kind { name: "sudoer", attributes: &["rule", "content", "source", "template", "ensure"], build, join: None };

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    // sudo passes over files with a dot or a tilde in their names, so a rule there would silently not hold.
    if from.name.contains(['.', '~', '/']) || from.name.starts_with('-') || from.name.contains(char::is_control) {
        return Err(from
            .problem("sudo does not read a file of this name")
            .expected("expected a name without `.`, `~` and `/`"));
    }
    let present = from.present()?;
    let rules = from.list("rule")?;
    let content = match (present, rules) {
        (true, None) if from.content.is_some() => from.content.clone(),
        (true, Some(rules)) => {
            let text: String = rules.iter().map(|rule| format!("{}\n", rule.trim_end())).collect();
            Some(Content::Bytes(text.into_bytes().into()))
        }
        (true, None) => {
            return Err(from
                .problem("`rule` is missing")
                .expected("expected a rule such as `deploy ALL=(ALL:ALL) NOPASSWD: ALL`"));
        }
        (false, _) => None,
    };
    Ok(Arc::new(File {
        kind: "sudoer",
        path: format!("/etc/sudoers.d/{}", from.name),
        sha256: content.as_ref().map(Content::sha256),
        content,
        access: Access::root(0o440),
        present,
        validate: present.then(|| "visudo -c -q -f %s".to_owned()),
        shown: true,
        common: from.common(from.name)?,
    }))
}
