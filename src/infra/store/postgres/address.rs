//! The address of a server, and how it is shown: never with a password.

use super::surroundings;
use super::tls::Trust;
use crate::base::{Problem, nearest::nearest};
use crate::infra::store::Server;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use zeroize::Zeroizing;

/// So long a server may take to answer a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// So long sent bytes may stay unanswered by the other machine before the connection counts as broken.
const SILENCE: Duration = Duration::from_secs(30);

const MODES: [&str; 6] = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];

/// Where the server is, and how far it is trusted.
pub struct Address {
    /// How it is reached; of several the first that answers counts.
    pub configs: Vec<Config>,
    /// `None` where nothing is encrypted.
    pub trust: Option<Trust>,
    /// `postgres://host/database`
    pub place: String,
    /// Where the password comes from, or why there is none.
    pub note: Option<String>,
}

impl Address {
    /// Reads `postgres://user:password@host:port/database?sslmode=…`, and what the environment says where the address says
    /// nothing, as libpq does. `sslmode` means what it means there: `prefer` and `require` look at no certificate, `verify-ca`
    /// at who signed it, `verify-full` at the name as well. `sslrootcert` is a file of certificates; without one those of the
    /// system count. The source of the rules is <https://www.postgresql.org/docs/current/libpq-envars.html>.
    ///
    /// # Errors
    /// It makes no sense; no part of it that may be a password is told.
    pub fn parse(server: &Server) -> Result<Address, Problem> {
        let (head, pairs) = apart(&server.url)?;
        let mut mode = server.variable("PGSSLMODE").unwrap_or("prefer").to_owned();
        let mut roots = server.variable("PGSSLROOTCERT").filter(|file| *file != "system").map(PathBuf::from);
        let mut passwords = None;
        let mut others = Vec::new();
        for pair in pairs {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = value.to_owned(),
                Some(("sslrootcert", "system")) => roots = None,
                Some(("sslrootcert", file)) => roots = Some(PathBuf::from(plain(file))),
                Some(("passfile", file)) => passwords = Some(PathBuf::from(plain(file))),
                _ => others.push(pair),
            }
        }
        let head = with_port(head, server.variable("PGPORT").filter(|_| !names(&others, "port")));
        let rest = if others.is_empty() { head } else { Zeroizing::new(format!("{}?{}", *head, others.join("&"))) };
        let mut config: Config = rest.parse().map_err(|e| wrong(&super::session::words(&e)))?;
        // A bare `@` in a password would make its end a part of the host.
        if config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(name) if name.contains('@'))) {
            return Err(wrong("it has more than one `@`").help("write an `@` in a password as `%40`"));
        }
        surroundings::fill(&mut config, server, |option| names(&others, option))?;
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
        let (configs, note) = surroundings::with_passwords(config, server, passwords.as_deref());
        Ok(Address { configs, trust, place, note })
    }
}

/// True where one of the settings behind the address is `option`.
fn names(pairs: &[&str], option: &str) -> bool {
    pairs.iter().any(|pair| pair.split_once('=').is_some_and(|(name, _)| name == option))
}

/// The address with a port for each host that names none; `ports` is one for all, or one for each with commas between.
fn with_port(head: &str, ports: Option<&str>) -> Zeroizing<String> {
    let whole = || Zeroizing::new(head.to_owned());
    let Some(ports) = ports else { return whole() };
    let start = head.find('@').map(|at| at + 1).or_else(|| head.find("://").map(|at| at + 3)).unwrap_or(0);
    let (before, rest) = head.split_at(start);
    let (hosts, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if hosts.is_empty() {
        return whole();
    }
    let ports: Vec<&str> = ports.split(',').collect();
    let with = |(at, host): (usize, &str)| {
        let has = host.rsplit_once(']').map_or(host, |(_, behind)| behind).contains(':');
        let port = if let [one] = ports.as_slice() { Some(one) } else { ports.get(at) };
        match port.filter(|port| !has && !port.trim().is_empty()) {
            Some(port) => format!("{host}:{}", port.trim()),
            None => host.to_owned(),
        }
    };
    let hosts: Vec<String> = hosts.split(',').enumerate().map(with).collect();
    Zeroizing::new(format!("{before}{}{path}", hosts.join(",")))
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

pub fn wrong(why: &str) -> Problem {
    Problem::usage(format!("the address of the store makes no sense: {why}"))
        .note("it stands in SUIL_STORE, and in libpq's variables, and is not shown, since it may hold a password")
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
        match Address::parse(&Server::new(url)) {
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

    #[test]
    fn the_environment_says_what_the_address_leaves_open() {
        let told = |url: &str, variables: &[(&'static str, &str)]| {
            let mut server = Server::new(url);
            server.variables =
                variables.iter().map(|(name, value)| (*name, Zeroizing::new((*value).to_owned()))).collect();
            match Address::parse(&server) {
                Ok(Address { configs, trust, .. }) => {
                    let one = &configs[0];
                    let hosts: Vec<String> = one.get_hosts().iter().map(|host| format!("{host:?}")).collect();
                    let name = |name: Option<&str>| name.unwrap_or("-").to_owned();
                    format!(
                        "{} {:?} {}/{} {} {trust:?}",
                        hosts.join(","),
                        one.get_ports(),
                        name(one.get_user()),
                        name(one.get_dbname()),
                        String::from_utf8_lossy(one.get_password().unwrap_or(b"-"))
                    )
                }
                Err(problem) => problem.what,
            }
        };
        let all = [
            ("PGHOST", "other"),
            ("PGPORT", "6432"),
            ("PGUSER", "ben"),
            ("PGDATABASE", "main"),
            ("PGPASSWORD", "p:@/"),
            ("PGSSLMODE", "verify-full"),
            ("PGSSLROOTCERT", "/ca"),
        ];
        for (url, wanted) in [
            ("postgres://", r#"Tcp("other") [6432] ben/main p:@/ Some(Named(Some("/ca")))"#),
            ("postgres://anna:x@db:1/infra?sslmode=disable", r#"Tcp("db") [1] anna/infra x None"#),
            ("postgres://db", r#"Tcp("db") [6432] ben/main p:@/ Some(Named(Some("/ca")))"#),
            (
                "postgres://anna@db,[::1],c:7/",
                r#"Tcp("db"),Tcp("::1"),Tcp("c") [6432, 6432, 7] anna/main p:@/ Some(Named(Some("/ca")))"#,
            ),
            ("postgres:///infra?host=/run/pg&port=9", r#"Unix("/run/pg") [9] ben/infra p:@/ None"#),
            ("postgres:///infra?user=cleo&host=/run/pg", r#"Unix("/run/pg") [6432] cleo/infra p:@/ None"#),
            ("postgres://db/?sslrootcert=system&sslmode=require", r#"Tcp("db") [6432] ben/main p:@/ Some(Anybody)"#),
        ] {
            assert_eq!(told(url, &all), wanted, "{url}");
        }
        let of = |name, value| told("postgres://db,c/infra?user=anna", &[(name, value)]);
        let plain = r#"Tcp("db"),Tcp("c") [5432, 5432] anna/infra - Some(Anybody)"#;
        for (name, value, wanted) in [
            ("PGPORT", "1,2", r#"Tcp("db"),Tcp("c") [1, 2] anna/infra - Some(Anybody)"#),
            ("PGPORT", "", plain),
            ("PGUSER", "ben", plain),
            ("PGCONNECT_TIMEOUT", "0", plain),
            ("PGCONNECT_TIMEOUT", "soon", "PGCONNECT_TIMEOUT is not a number of seconds"),
            ("PGPORT", "many", "invalid value for option `port`"),
            ("PGHOSTADDR", "db", "PGHOSTADDR is not an address of a host"),
            ("PGTARGETSESSIONATTRS", "primary", "PGTARGETSESSIONATTRS is not one of"),
            ("PGCHANNELBINDING", "yes", "PGCHANNELBINDING is not one of"),
            ("PGSSLMODE", "off", "`sslmode` is one of"),
        ] {
            let found = of(name, value);
            assert!(found.contains(wanted), "{name}={value}: {found}");
        }
    }

    #[test]
    fn hosts_with_passwords_of_their_own_are_reached_one_by_one() {
        let room = tempfile::tempdir().expect("a folder");
        let path = room.path().join("pgpass");
        crate::base::file::write(&path, b"a:*:*:*:one\nb:7:*:anna:two\nlocalhost:*:*:*:here\n", 0o600)
            .expect("written");
        let of = |url: &str, named: bool| {
            let url = if named { format!("{url}passfile={}", path.display()) } else { url.to_owned() };
            let server = Server { passwords: Some(path.clone()), ..Server::new(&url) };
            let address = Address::parse(&server).unwrap_or_else(|problem| panic!("{problem:?}"));
            let one = |config: &Config| {
                let password = config.get_password().map(|password| String::from_utf8_lossy(password).into_owned());
                (config.get_hosts().len(), config.get_ports().to_vec(), password.unwrap_or_default())
            };
            let note = address.note.unwrap_or_default().replace(&*path.to_string_lossy(), "FILE");
            (address.configs.iter().map(one).collect::<Vec<_>>(), note)
        };
        let from = "the password is that of `FILE`".to_owned();
        let two = vec![(1, vec![5432], "one".to_owned()), (1, vec![7], "two".to_owned())];
        assert_eq!(of("postgres://anna@a,b:7/infra?connect_timeout=3&", true), (two, from.clone()));
        assert_eq!(of("postgres://anna@a,a/infra", false).0, [(2, vec![5432, 5432], "one".to_owned())]);
        assert_eq!(
            of("postgres:///infra?user=anna&host=/var/run/postgresql", false),
            (vec![(1, vec![], "here".to_owned())], from)
        );
        let none = of("postgres://anna@c/infra", false);
        assert_eq!(none.1, "the file of passwords `FILE` has no line for this server, database and user");
        assert_eq!(of("postgres://anna:x@a/infra", false), (vec![(1, vec![5432], "x".to_owned())], String::new()));
    }
}
