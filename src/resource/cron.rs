//! `cron`: one job, as a file of its own in `/etc/cron.d`.

use super::access::Access;
use super::file::File;
use super::*;

pub const KIND: Kind = Kind {
    name: "cron",
    attributes: &["schedule", "command", "user", "environment", "content", "source", "template", "ensure"],
    build,
    join: None,
};

fn build(from: &Attributes<'_>) -> Result<Arc<dyn Resource>, Problem> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !from.name.chars().all(plain) {
        return Err(from
            .problem("cron does not read a file of this name")
            .expected("expected letters, digits, `-` and `_`"));
    }
    let present = from.present()?;
    let content = match &from.content {
        _ if !present => None,
        Some(content) => Some(content.clone()),
        None => Some(Content::Bytes(text(from)?.into_bytes().into())),
    };
    Ok(Arc::new(File {
        kind: "cron",
        path: format!("/etc/cron.d/{}", from.name),
        sha256: content.as_ref().map(Content::sha256),
        content,
        // cron passes over files that others may write.
        access: Access::root(0o644),
        present,
        validate: None,
        shown: true,
        common: from.common(from.name)?,
    }))
}

fn text(from: &Attributes<'_>) -> Result<String, Problem> {
    let missing = |key: &str| from.problem(&format!("`{key}` is missing"));
    let schedule = from.line("schedule")?.ok_or_else(|| {
        missing("schedule").expected("expected five fields such as `30 3 * * *`, or a word such as `@daily`")
    })?;
    let words = schedule.split_whitespace().count();
    if !(words == 5 && !schedule.starts_with('@') || words == 1 && schedule.starts_with('@')) {
        return Err(from
            .problem(&format!("`schedule` is `{schedule}`"))
            .expected("expected five fields such as `30 3 * * *`, or a word such as `@daily`"));
    }
    let command = from.line("command")?.ok_or_else(|| missing("command").expected("expected one line of sh"))?;
    let user = from.account("user")?.unwrap_or_else(|| "root".to_owned());
    let mut text = String::new();
    for setting in from.list("environment")?.unwrap_or_default() {
        if setting.contains('\n') || setting.split_once('=').is_none_or(|(name, _)| name.is_empty()) {
            return Err(from
                .problem(&format!("`environment` holds `{}`", setting.escape_debug()))
                .expected("expected NAME=value"));
        }
        text.push_str(&format!("{setting}\n"));
    }
    text.push_str(&format!("{} {user} {}\n", schedule.trim(), percent(&command)));
    Ok(text)
}

/// cron ends a command at a bare `%`, which nobody who writes `date +%F` wants.
fn percent(command: &str) -> String {
    let mut out = String::with_capacity(command.len());
    let mut escaped = false;
    for c in command.chars() {
        if c == '%' && !escaped {
            out.push('\\');
        }
        escaped = c == '\\' && !escaped;
        out.push(c);
    }
    out
}
