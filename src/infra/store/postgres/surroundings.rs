//! What libpq's environment adds to an address: settings that it leaves open, and the password.

use super::address::wrong;
use super::passfile::{self, Asked, Passfile};
use crate::base::Problem;
use crate::infra::store::Server;
use std::path::Path;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::{ChannelBinding, Host, TargetSessionAttrs};
use zeroize::Zeroizing;

/// A server on this machine is `localhost` in a file of passwords, where its socket lies in one of the usual folders.
const SOCKETS: [&str; 3] = ["/tmp", "/var/run/postgresql", "/run/postgresql"];
/// libpq waits no shorter than this.
const SHORTEST: u64 = 2;

/// Sets what the address leaves open. `given` tells of a setting whether the address has it.
///
/// # Errors
/// A variable makes no sense.
pub fn fill(config: &mut Config, server: &Server, given: impl Fn(&str) -> bool) -> Result<(), Problem> {
    let odd = |name: &str, wanted: &str| Err(wrong(&format!("{name} is not {wanted}")));
    if config.get_hosts().is_empty() {
        let hosts = server.variable("PGHOST").into_iter().flat_map(|hosts| hosts.split(','));
        for host in hosts.filter(|host| !host.is_empty()) {
            config.host(host);
        }
    }
    if config.get_hostaddrs().is_empty() {
        for address in server.variable("PGHOSTADDR").into_iter().flat_map(|all| all.split(',')) {
            match address.trim().parse() {
                Ok(address) => _ = config.hostaddr(address),
                Err(_) => return odd("PGHOSTADDR", "an address of a host"),
            }
        }
    }
    // Ports of hosts in the address stand there by now.
    if config.get_ports().is_empty() {
        for port in server.variable("PGPORT").into_iter().flat_map(|all| all.split(',')) {
            match port.trim().parse() {
                Ok(port) => _ = config.port(port),
                Err(_) => return odd("PGPORT", "a port"),
            }
        }
    }
    if let (None, Some(user)) = (config.get_user(), server.variable("PGUSER")) {
        config.user(user);
    }
    if config.get_user().is_none()
        && let Ok(user) = whoami::username()
    {
        config.user(user);
    }
    if let (None, Some(database)) = (config.get_dbname(), server.variable("PGDATABASE")) {
        config.dbname(database);
    }
    if let (None, Some(options)) = (config.get_options(), server.variable("PGOPTIONS")) {
        config.options(options);
    }
    if let (None, Some(name)) = (config.get_application_name(), server.variable("PGAPPNAME")) {
        config.application_name(name);
    }
    if let Some(seconds) = server.variable("PGCONNECT_TIMEOUT").filter(|_| !given("connect_timeout")) {
        match seconds.trim().parse::<i64>().map(u64::try_from) {
            Ok(Ok(seconds @ 1..)) => _ = config.connect_timeout(Duration::from_secs(seconds.max(SHORTEST))),
            Ok(_) => {}
            Err(_) => return odd("PGCONNECT_TIMEOUT", "a number of seconds"),
        }
    }
    if let Some(word) = server.variable("PGTARGETSESSIONATTRS").filter(|_| !given("target_session_attrs")) {
        config.target_session_attrs(match word {
            "any" => TargetSessionAttrs::Any,
            "read-write" => TargetSessionAttrs::ReadWrite,
            "read-only" => TargetSessionAttrs::ReadOnly,
            _ => return odd("PGTARGETSESSIONATTRS", "one of `any`, `read-write`, `read-only`"),
        });
    }
    if let Some(word) = server.variable("PGCHANNELBINDING").filter(|_| !given("channel_binding")) {
        config.channel_binding(match word {
            "disable" => ChannelBinding::Disable,
            "prefer" => ChannelBinding::Prefer,
            "require" => ChannelBinding::Require,
            _ => return odd("PGCHANNELBINDING", "one of `disable`, `prefer`, `require`"),
        });
    }
    Ok(())
}

/// Adds the password: that of the address, else that of PGPASSWORD, else that of the file. Hosts whose passwords differ are
/// reached one by one. Tells where the password comes from, or why there is none.
pub fn with_passwords(mut config: Config, server: &Server, named: Option<&Path>) -> (Vec<Config>, Option<String>) {
    if config.get_password().is_some_and(|password| !password.is_empty()) {
        return (vec![config], None);
    }
    if let Some(password) = server.variable("PGPASSWORD") {
        config.password(password);
        return (vec![config], Some("the password is that of PGPASSWORD".to_owned()));
    }
    let path = named.or_else(|| server.variable("PGPASSFILE").map(Path::new)).or(server.passwords.as_deref());
    let Some(path) = path else { return (vec![config], None) };
    let shown = path.display();
    let text = match Passfile::open(path) {
        Passfile::Absent => return (vec![config], None),
        Passfile::LeftOut(why) => {
            return (vec![config], Some(format!("the file of passwords `{shown}` was left out: {why}")));
        }
        Passfile::Read(text) => text,
    };
    let count = config.get_hosts().len().max(config.get_hostaddrs().len());
    let found: Vec<Option<Zeroizing<Vec<u8>>>> = (0..count).map(|at| ask(&config, at, &text)).collect();
    let note = match found.iter().any(Option::is_some) {
        true => format!("the password is that of `{shown}`"),
        false => format!("the file of passwords `{shown}` has no line for this server, database and user"),
    };
    let mut all = found.iter();
    match all.next() {
        Some(first) if all.all(|other| other == first) => {
            if let Some(password) = first {
                config.password(password.as_slice());
            }
            (vec![config], Some(note))
        }
        _ => {
            (found.iter().enumerate().map(|(at, password)| alone(&config, at, password.as_ref())).collect(), Some(note))
        }
    }
}

fn port(config: &Config, at: usize) -> u16 {
    let ports = config.get_ports();
    ports.get(at).or(ports.first()).copied().unwrap_or(5432)
}

/// The password of one host of several.
fn ask(config: &Config, at: usize, text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let host = match config.get_hosts().get(at) {
        Some(Host::Tcp(name)) => name.clone(),
        Some(Host::Unix(path)) if SOCKETS.iter().any(|usual| path.as_path() == Path::new(usual)) => {
            "localhost".to_owned()
        }
        Some(Host::Unix(path)) => path.display().to_string(),
        None => config.get_hostaddrs().get(at)?.to_string(),
    };
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    passfile::find(text, &Asked { host: &host, port: port(config, at), database, user })
}

/// The same for one host of several, with its password.
fn alone(config: &Config, at: usize, password: Option<&Zeroizing<Vec<u8>>>) -> Config {
    let mut one = Config::new();
    match config.get_hosts().get(at) {
        Some(Host::Tcp(name)) => _ = one.host(name),
        Some(Host::Unix(path)) => _ = one.host_path(path),
        None => {}
    }
    if let Some(address) = config.get_hostaddrs().get(at) {
        one.hostaddr(*address);
    }
    one.port(port(config, at)).ssl_mode(config.get_ssl_mode()).ssl_negotiation(config.get_ssl_negotiation());
    one.target_session_attrs(config.get_target_session_attrs()).channel_binding(config.get_channel_binding());
    one.keepalives(config.get_keepalives()).keepalives_idle(config.get_keepalives_idle());
    if let Some(interval) = config.get_keepalives_interval() {
        one.keepalives_interval(interval);
    }
    if let Some(retries) = config.get_keepalives_retries() {
        one.keepalives_retries(retries);
    }
    if let Some(limit) = config.get_connect_timeout() {
        one.connect_timeout(*limit);
    }
    if let Some(limit) = config.get_tcp_user_timeout() {
        one.tcp_user_timeout(*limit);
    }
    if let Some(user) = config.get_user() {
        one.user(user);
    }
    if let Some(database) = config.get_dbname() {
        one.dbname(database);
    }
    if let Some(options) = config.get_options() {
        one.options(options);
    }
    if let Some(name) = config.get_application_name() {
        one.application_name(name);
    }
    if let Some(password) = password {
        one.password(password.as_slice());
    }
    one
}
