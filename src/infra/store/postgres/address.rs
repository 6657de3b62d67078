//! The address of a server, and how it is shown: never with a password.

use super::tls::Trust;
use crate::base::{Problem, nearest::nearest};
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// So long a server may take to answer a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// So long sent bytes may stay unanswered by the other machine before the connection counts as broken.
const SILENCE: Duration = Duration::from_secs(30);

const MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/// Where the server is, and how far it is trusted.
pub struct Address {
    pub config: Config,
    /// `None` where nothing is encrypted.
    pub trust: Option<Trust>,
    /// `postgres://host/database`
    pub place: String,
}

impl Address {
    /// Reads `postgres://user:password@host:port/database?sslmode=…`. `sslmode` means what it means to libpq:
    /// `prefer` and `require` look at no certificate, `verify-ca` at who signed it, `verify-full` at the name as well.
    /// `sslrootcert` is a file of certificates; without one those of the system count.
    ///
    /// # Errors
    /// It makes no sense; no part of it that may be a password is told.
    pub fn parse(url: &str) -> Result<Address, Problem> {
        let (head, pairs) = apart(url)?;
        let mut mode = "prefer".to_owned();
        let mut roots = None;
        let mut others = Vec::new();
        for pair in pairs {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = value.to_owned(),
                Some(("sslrootcert", "system")) => roots = None,
                Some(("sslrootcert", file)) => roots = Some(PathBuf::from(plain(file))),
                _ => others.push(pair),
            }
        }
        let rest = if others.is_empty() { head.to_owned() } else { format!("{head}?{}", others.join("&")) };
        let mut config: Config = rest.parse().map_err(|e| wrong(&super::session::words(&e)))?;
        // A bare `@` in a password would make its end a part of the host.
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
            return Err(wrong("it has more than one `@`").help("write an `@` in a password as `%40`"));
        }
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(wrong("it names no host"));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("suil");
        }
        config.tcp_user_timeout(SILENCE);
        config.keepalives_idle(SILENCE);
        let local = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
        let local = local && !config.get_hosts().is_empty();
        let trust = trust(&mode, roots)?.filter(|_| !local);
        config.ssl_mode(match (&trust, mode.as_str()) {
            (None, _) => SslMode::Disable,
            (_, "allow" | "prefer") => SslMode::Prefer,
            _ => SslMode::Require,
        });
        let place = place(&config);
        Ok(Address { config, trust, place })
    }
}

/// Everything before the question mark, and the settings behind it. A password may hold one, too.
fn apart(url: &str) -> Result<(&str, Vec<&str>), Problem> {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    if !matches!(scheme, Some("postgres" | "postgresql")) {
        let found = match scheme {
            Some(scheme) if scheme.len() < 20 && scheme.chars().all(char::is_alphanumeric) => {
                format!("it begins with `{scheme}://`")
            }
            _ => "it is no URL".to_owned(),
        };
        return Err(wrong(&found));
    }
    let start = url.find('@').unwrap_or(0);
    let question = url.get(start..).and_then(|rest| rest.find('?')).map(|at| start + at);
    let Some(question) = question else { return Ok((url, Vec::new())) };
    let (head, tail) = url.split_at(question);
    Ok((head, tail.trim_start_matches('?').split('&').filter(|pair| !pair.is_empty()).collect()))
}

fn trust(mode: &str, roots: Option<PathBuf>) -> Result<Option<Trust>, Problem> {
    Ok(match mode {
        "disable" => None,
        // As libpq: where the certificates are named, `require` looks at them, too.
        "require" if roots.is_some() => Some(Trust::Signed(roots)),
        "allow" | "prefer" | "require" => Some(Trust::Anybody),
        "verify-ca" => Some(Trust::Signed(roots)),
        "verify-full" => Some(Trust::Named(roots)),
        other => {
            let problem = wrong(&format!("`sslmode` is one of `{}`", MODES.join("`, `")));
            return Err(match nearest(other, MODES) {
                Some(near) => problem.help(format!("did you mean `{near}`?")),
                None => problem,
            });
        }
    })
}

fn wrong(why: &str) -> Problem {
    Problem::usage(format!("the address of the store makes no sense: {why}"))
        .note("it stands in SUIL_STORE and is not shown, since it may hold a password")
        .help("write it as `postgres://user:password@host:5432/database?sslmode=verify-full`")
}

fn place(config: &Config) -> String {
    let mut hosts = Vec::new();
    let mut folder = None;
    let ports = config.get_ports();
    for (at, host) in config.get_hosts().iter().enumerate() {
        let port = ports.get(at).or(ports.first()).copied().filter(|port| *port != 5432);
        let port = port.map(|port| format!(":{port}")).unwrap_or_default();
        match host {
            Host::Tcp(name) if name.contains(':') => hosts.push(format!("[{name}]{port}")),
            Host::Tcp(name) => hosts.push(format!("{name}{port}")),
            Host::Unix(path) => folder = Some(path.display().to_string()),
        }
    }
    if hosts.is_empty() {
        hosts.extend(config.get_hostaddrs().iter().map(ToString::to_string));
    }
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    let folder = folder.filter(|_| hosts.is_empty()).map(|path| format!("?host={path}")).unwrap_or_default();
    format!("postgres://{}/{database}{folder}", hosts.join(","))
}

/// Takes `%2F` and the like out of a value.
fn plain(value: &str) -> String {
    let bytes = value.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = value.get(at + 1..at + 3).filter(|_| *byte == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str) -> String {
        match Address::parse(url) {
            Ok(address) => format!("{} {:?}", address.place, address.trust),
            Err(problem) => format!("{problem:?}"),
        }
    }

    #[test]
    fn an_address_is_shown_without_user_and_password_however_wrong_it_is() {
        for (url, wanted) in [
            ("postgres://anna:sesame@db.example.com/infra", "postgres://db.example.com/infra Some(Anybody)"),
            ("postgresql://anna:sesa%3Fme@db:6432/infra?sslmode=disable", "postgres://db:6432/infra None"),
            ("postgres://anna:sesa?me/@db/infra?sslmode=verify-full", "postgres://db/infra Some(Named(None))"),
            ("postgres://anna:sesame@[::1]/", "postgres://[::1]/anna Some(Anybody)"),
            ("postgres:///infra?host=/run/pg&password=sesame&user=anna", "postgres:///infra?host=/run/pg None"),
            ("postgres://db/infra?sslmode=verify-ca&sslrootcert=%2Fetc%2Fca", "Signed(Some(\"/etc/ca\"))"),
            ("postgres://anna:se@same@db/infra", "more than one `@`"),
            ("postgres://anna:se@sa:me@db/infra", "invalid"),
            ("postgres://anna:sesame@db/infra?sslmode=verify-fulll", "did you mean `verify-full`?"),
            ("postgres://anna:sesame@db/infra?x=sesame", "unknown option `x`"),
            ("postgres://anna:sesame@db/infra?sesame", "unterminated parameter"),
            ("mysql://anna:sesame@db", "it begins with `mysql://`"),
            ("anna:sesame@db", "it is no URL"),
            ("", "it is no URL"),
            ("postgres:///infra", "it names no host"),
        ] {
            let shown = shown(url);
            assert!(shown.contains(wanted), "{url}: {shown}");
            assert!(!shown.contains("sesa") && !shown.contains("same") && !shown.contains("me@"), "{url}: {shown}");
        }
    }
}
