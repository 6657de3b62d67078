//! Where the `source` of a `module` block leads.

use super::Origin;

/// A module that a source names, if it is of a kind that has a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A folder, seen from the one of the code.
    Local(String),
    Remote(Remote),
    /// An archive, a bucket, a form that is not known.
    Unsupported,
}

/// A module of another repository, or of a registry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remote {
    pub kind: Origin,
    /// The key without the version.
    pub path: String,
    /// The version that is asked for; empty for none.
    pub pin: String,
}

impl Remote {
    pub fn key(&self) -> String {
        match self.pin.as_str() {
            "" => self.path.clone(),
            pin => format!("{}@{pin}", self.path),
        }
    }
}

/// The hosts of public registries, which no key names.
const REGISTRIES: [&str; 2] = ["registry.terraform.io", "registry.opentofu.org"];

/// The host whose repositories are named without it.
const HOME: &str = "github.com";

/// Reads a source; `version` counts for registries alone.
pub fn read(source: &str, version: &str) -> Source {
    if source.starts_with("./") || source.starts_with("../") || matches!(source, "." | "..") {
        return Source::Local(source.to_owned());
    }
    git(source).or_else(|| registry(source, version)).map_or(Source::Unsupported, Source::Remote)
}

/// The source without the password or the token that an address may have.
pub fn shown(source: &str) -> String {
    let covered = || {
        let (head, rest) = source.split_once("://")?;
        let (who, place) = rest.get(..rest.find(['/', '?']).unwrap_or(rest.len()))?.rsplit_once('@')?;
        let who_is = match who.split_once(':') {
            Some((user, _)) => format!("{user}:***"),
            // A token stands alone before a host of the web; before others stands who one is.
            None if head.ends_with("http") || head.ends_with("https") => "***".to_owned(),
            None => return None,
        };
        Some(format!("{head}://{who_is}@{place}{}", rest.get(who.len() + 1 + place.len()..)?))
    };
    covered().unwrap_or_else(|| source.to_owned())
}

fn git(source: &str) -> Option<Remote> {
    let (source, query) = source.split_once('?').unwrap_or((source, ""));
    let pin = query.split('&').find_map(|pair| pair.strip_prefix("ref=")).unwrap_or_default().to_owned();
    let (host, path) = match source.strip_prefix("git::") {
        Some(address) => address_of(address)?,
        None if source.starts_with("git@") || ["ssh://", "git://"].iter().any(|s| source.starts_with(s)) => {
            address_of(source)?
        }
        None => {
            let (host, path) = source.split_once('/')?;
            ["github.com", "bitbucket.org"].iter().find(|known| known.eq_ignore_ascii_case(host))?;
            (host.to_owned(), shorthand(path)?)
        }
    };
    let (repository, below) = path.split_once("//").unwrap_or((&path, ""));
    let repository = repository.trim_matches('/');
    let repository = repository.strip_suffix(".git").unwrap_or(repository);
    let below = super::key::clean(below)?;
    if repository.is_empty() {
        return None;
    }
    let host = host.to_lowercase();
    let place = if host == HOME || host.is_empty() { repository.to_owned() } else { format!("{host}/{repository}") };
    let path = if below.is_empty() { place } else { format!("{place}//{below}") };
    Some(Remote { kind: Origin::Git, path, pin })
}

/// `owner/repo/sub` is `owner/repo//sub` where the form has no scheme.
fn shorthand(path: &str) -> Option<String> {
    if path.contains("//") {
        return Some(path.to_owned());
    }
    let mut names = path.splitn(3, '/');
    let (owner, name) = (names.next()?, names.next()?);
    Some(match names.next() {
        Some(below) => format!("{owner}/{name}//{below}"),
        None => format!("{owner}/{name}"),
    })
}

/// The host and the path of `https://user@host:port/path`, `ssh://…`, `user@host:path`.
fn address_of(address: &str) -> Option<(String, String)> {
    if let Some((scheme, rest)) = address.split_once("://") {
        if scheme == "file" {
            return None;
        }
        let (host, path) = rest.split_once('/')?;
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let host = host.strip_suffix(":22").filter(|_| scheme == "ssh").unwrap_or(host);
        return Some((host.to_owned(), path.to_owned()));
    }
    let (host, path) = match address.split_once('@') {
        Some((_, rest)) => rest.split_once(':')?,
        None => address.split_once('/').filter(|(host, _)| host.contains('.') && !host.starts_with('.'))?,
    };
    Some((host.to_owned(), path.trim_start_matches('/').to_owned()))
}

fn registry(source: &str, version: &str) -> Option<Remote> {
    let (address, below) = source.split_once("//").unwrap_or((source, ""));
    let word =
        |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let names: Vec<&str> = address.split('/').collect();
    let place = match names.as_slice() {
        [namespace, name, provider] if [namespace, name, provider].iter().all(|n| word(n)) => address.to_owned(),
        [host, rest @ ..] if rest.len() == 3 && rest.iter().all(word) && is_host(host) => {
            match REGISTRIES.iter().any(|known| known.eq_ignore_ascii_case(host)) {
                true => rest.join("/"),
                false => format!("{}/{}", host.to_lowercase(), rest.join("/")),
            }
        }
        _ => return None,
    };
    let below = super::key::clean(below)?;
    let path = if below.is_empty() { format!("registry:{place}") } else { format!("registry:{place}//{below}") };
    Some(Remote { kind: Origin::Registry, path, pin: version.to_owned() })
}

fn is_host(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':');
    (name.contains('.') || name.contains(':')) && !name.starts_with('.') && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_address_opens_with_is_not_shown() {
        for (source, want) in [
            ("git::https://u:p@h/a/b.git?ref=v1", "git::https://u:***@h/a/b.git?ref=v1"),
            ("git::https://u:p@h", "git::https://u:***@h"),
            ("git::https://token@h/a/b", "git::https://***@h/a/b"),
            ("git::ssh://git@h/a/b", "git::ssh://git@h/a/b"),
            ("git@h:a/b.git", "git@h:a/b.git"),
            ("https://h/a@b/c", "https://h/a@b/c"),
            ("a/b/c", "a/b/c"),
        ] {
            assert_eq!(shown(source), want);
        }
    }

    #[test]
    fn sources_of_every_form_lead_to_one_key() {
        let of = |source: &str, version: &str| match read(source, version) {
            Source::Local(path) => format!("local {path}"),
            Source::Remote(remote) => remote.key(),
            Source::Unsupported => "unsupported".to_owned(),
        };
        for (source, version, want) in [
            ("./parts/queue", "", "local ./parts/queue"),
            ("git::https://github.com/a/b.git//fifo?ref=v2", "9", "a/b//fifo@v2"),
            ("git::https://user:word@github.com/a/b.git?depth=1&ref=v2", "", "a/b@v2"),
            ("git@github.com:a/b.git", "", "a/b"),
            ("git::ssh://git@git.Example.net/plat/db.git?ref=v0.3.0", "", "git.example.net/plat/db@v0.3.0"),
            ("ssh://git@git.example.net:22/plat/db", "", "git.example.net/plat/db"),
            ("github.com/a/b/parts/log?ref=main", "", "a/b//parts/log@main"),
            ("bitbucket.org/a/b", "", "bitbucket.org/a/b"),
            ("a/b/aws", "~> 5.1", "registry:a/b/aws@~> 5.1"),
            ("registry.terraform.io/a/b/aws", "0.1.0", "registry:a/b/aws@0.1.0"),
            ("app.example.org/a/b/aws//modules/x", "1", "registry:app.example.org/a/b/aws//modules/x@1"),
            ("gitlab.com/a/b", "", "unsupported"),
            ("a/b", "", "unsupported"),
            ("/abs/path", "", "unsupported"),
            ("s3::https://s3.amazonaws.com/x/web.zip", "", "unsupported"),
            ("https://example.com/x.zip", "", "unsupported"),
            ("git::file:///x/y", "", "unsupported"),
            ("hg::http://example.com/x", "", "unsupported"),
        ] {
            assert_eq!(of(source, version), want, "{source}");
        }
    }
}
