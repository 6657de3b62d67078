//! From a name and attributes to a resource, by the table of all kinds.

use super::attributes::{Attributes, suggest};
use super::{Change, Content, Resource};
use super::{authorized_key, block, command, cron, directory, file, line, link, sudoer};
use super::{group, hostname, package, repository, service, sysctl, timer, timezone, unit, user};
use super::{kernel_module, locale, mount};
use crate::base::{Place, Plain, Problem};
use std::sync::Arc;

/// One kind of resource.
#[derive(Clone, Copy)]
pub struct Kind {
    /// What module code calls it.
    pub name: &'static str,
    /// The attributes that it knows, beside [`SHARED`].
    pub attributes: &'static [&'static str],
    pub build: fn(&Attributes<'_>) -> Result<Arc<dyn Resource>, Problem>,
    /// Joins the changes of several resources of one [`Resource::batch`] into one, in the order given.
    pub join: Option<fn(&[Change]) -> Change>,
}

/// Attributes of every kind.
pub const SHARED: &[&str] = &["needs"];

/// Every kind, in the order in which documents list them. A new kind is one line here.
const TABLE: &[Kind] = &[
    file::KIND,
    directory::KIND,
    link::KIND,
    line::KIND,
    block::KIND,
    authorized_key::KIND,
    sudoer::KIND,
    cron::KIND,
    command::KIND,
    package::KIND,
    repository::KIND,
    service::KIND,
    unit::KIND,
    timer::KIND,
    user::KIND,
    group::KIND,
    sysctl::KIND,
    hostname::KIND,
    timezone::KIND,
    locale::KIND,
    kernel_module::KIND,
    mount::KIND,
];

/// The names of all kinds.
pub const KINDS: &[&str] = &names();

const fn names() -> [&'static str; TABLE.len()] {
    let mut names = [""; TABLE.len()];
    let mut i = 0;
    while i < TABLE.len() {
        names[i] = TABLE[i].name;
        i += 1;
    }
    names
}

/// Returns the kind of this name.
pub fn kind(name: &str) -> Option<&'static Kind> {
    TABLE.iter().find(|kind| kind.name == name)
}

/// Builds a resource. `content` is what the module resolved from `content`, `source` or `template`; where it is given
/// those attributes are not looked at. Other resources (`needs`, `restart_on`, …) stand as lists of ids.
///
/// # Errors
/// An unknown kind or attribute, a value of the wrong type, or a combination that makes no sense.
pub fn build(
    name_of_kind: &str,
    name: &str,
    attributes: &Plain,
    content: Option<Content>,
    place: Option<Place>,
) -> Result<Arc<dyn Resource>, Problem> {
    let at = |problem: Problem| match place {
        Some(place) => problem.at(place),
        None => problem,
    };
    let Some(kind) = kind(name_of_kind) else {
        let problem = Problem::new(format!("unknown kind of resource `{name_of_kind}`"))
            .expected(format!("expected one of {}", KINDS.join(", ")));
        return Err(at(suggest(problem, name_of_kind, KINDS)));
    };
    let attributes = Attributes { kind: kind.name, name, values: attributes, content, place };
    if name.is_empty() || name.contains('\0') {
        return Err(attributes.problem("the name is empty or holds a NUL byte").expected("expected a name"));
    }
    let known: Vec<&str> = kind.attributes.iter().chain(SHARED).copied().collect();
    let given = attributes.values.as_map().into_iter().flat_map(|map| map.keys());
    if let Some(unknown) = given.into_iter().find(|key| !known.contains(&key.as_str())) {
        let problem = attributes
            .problem(&format!("unknown attribute `{unknown}`"))
            .expected(format!("expected one of {}", known.join(", ")));
        return Err(suggest(problem, unknown, &known));
    }
    (kind.build)(&attributes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(kind: &str, name: &str, yaml: &str) -> Result<Arc<dyn Resource>, Problem> {
        let attributes = Plain::from_yaml(yaml).expect("yaml");
        build(kind, name, &attributes, None, None)
    }

    /// Each line: kind, name, attributes, and the words of the problem.
    #[test]
    fn what_makes_no_sense_is_refused_with_what_was_expected() {
        for (kind, name, attributes, words) in [
            ("fil", "/f", "{}", "unknown kind of resource `fil`|did you mean `file`?"),
            ("file", "/f", "contents: x", "unknown attribute `contents`|did you mean `content`?"),
            ("file", "", "{}", "the name is empty"),
            ("file", "f", "{}", "path `f` is not a clean path|expected an absolute path"),
            ("file", "/a/../f", "{}", "not a clean path"),
            ("file", "/a//f", "{}", "not a clean path"),
            ("file", "/f", "content: 5", "`content` is a whole number|expected a string"),
            ("file", "/f", "mode: 644", "`mode` is the bare number 644|in quotes with a leading zero"),
            ("file", "/f", "mode: '0999'", "`mode` is `0999`, which is not octal"),
            ("file", "/f", "mode: 'u=rw,g=r'", "which is not octal"),
            ("file", "/f", "mode: [1]", "`mode` is a list"),
            ("file", "/f", "owner: 'a:b'", "`owner` is `a:b`"),
            ("file", "/f", "owner: '-x'", "`owner` is `-x`"),
            ("file", "/f", "ensure: gone", "`ensure` is `gone`|expected one of `present`, `absent`"),
            ("file", "/f", "ensure: abesnt", "did you mean `absent`?"),
            ("file", "/f", "{ensure: absent, content: x}", "it is absent and has a content"),
            ("file", "/f", "{content: x, validate: visudo}", "`validate` does not name the staged file"),
            ("file", "/f", "source: x", "`source` was not found"),
            ("file", "/f", "needs: [nginx]", "`needs` names `nginx`"),
            ("directory", "/d", "purge: true", "`purge` goes with `ensure = \"absent\"` only"),
            ("directory", "/etc", "ensure: absent", "never removed"),
            ("link", "/l", "{}", "`target` is missing"),
            ("line", "/f", "{}", "`line` is missing"),
            ("line", "/f", "line: \"a\\nb\"", "`line` holds a line break"),
            ("line", "/f", "{line: x, match: '('}", "`match` is no regular expression: unclosed group"),
            ("line", "/f", "{line: x, at: top}", "expected one of `end`, `start`"),
            ("block", "/f", "{}", "`content` is missing"),
            ("block", "/f", "content: '# END suil'", "its content holds its own marker"),
            ("command", "c", "run: x", "it would run every time|expected one of `creates`"),
            ("command", "c", "creates: /x", "`run` is missing"),
            ("command", "c", "{run: x, creates: x}", "`creates` `x` is not a clean path"),
            ("sudoer", "a.b", "rule: x", "sudo does not read a file of this name"),
            ("sudoer", "a", "{}", "`rule` is missing"),
            ("cron", "a.b", "{}", "cron does not read a file of this name"),
            ("cron", "a", "{schedule: '* * *', command: x}", "`schedule` is `* * *`"),
            ("cron", "a", "{schedule: '@daily'}", "`command` is missing"),
            ("cron", "a", "{schedule: '@daily', command: x, environment: [PATH]}", "expected NAME=value"),
            ("authorized_key", "jane", "key: ssh-ed25519", "`key` is no public key"),
            ("authorized_key", "a:b", "key: x", "this is no user"),
        ] {
            let problem = built(kind, name, attributes).expect_err(attributes);
            let said = [Some(problem.what), problem.expected, problem.help].into_iter().flatten();
            let said = said.collect::<Vec<_>>().join("|");
            for word in words.split('|') {
                assert!(said.contains(word), "{kind} {attributes}: {said}");
            }
        }
    }

    /// D03: a mode means octal however it is written.
    #[test]
    fn a_mode_is_the_same_however_it_is_written() {
        for mode in ["0644", "644", "0o644"] {
            let file = built("file", "/f", &format!("mode: '{mode}'")).expect(mode);
            assert_eq!(file.wanted().get("mode").and_then(Plain::as_str), Some("0644"));
        }
        let file = built("file", "/f", "mode: '2775'").expect("built");
        assert_eq!(file.wanted().get("mode").and_then(Plain::as_str), Some("02775"));
    }

    #[test]
    fn a_value_of_none_counts_as_not_given() {
        assert!(built("file", "/f", "{owner: null, mode: null, content: x}").is_ok());
    }

    /// Nothing that is printed or recorded holds a content.
    #[test]
    fn a_content_stands_as_its_digest() {
        for (kind, name, attributes) in [
            ("file", "/f", "content: s3cret"),
            ("block", "/f", "content: s3cret"),
            ("command", "c", "{run: login s3cret, creates: /x}"),
        ] {
            let resource = built(kind, name, attributes).expect("built");
            assert!(!resource.wanted().to_json().contains("s3cret"), "{kind}");
        }
    }
}
