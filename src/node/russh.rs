//! The built-in ssh client: for fleets, and for machines with no ssh binary. It reads no ssh configuration.

use super::link::{Exit, Later, Link, Transport, Words};
use super::{Access, Failure, HostKey, Reason, Target, hostkey, program};
use crate::base::Problem;
use ::russh::client::{self, Handle};
use ::russh::keys::agent::AgentIdentity;
use ::russh::keys::agent::client::AgentClient;
use ::russh::keys::known_hosts::known_host_keys_path;
use ::russh::keys::ssh_key::{Algorithm, PublicKey};
use ::russh::keys::{PrivateKeyWithHashAlg, PublicKeyOrCertificate, load_secret_key};
use ::russh::{ChannelMsg, ChannelReadHalf, Disconnect};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

pub(super) struct Russh;

const ALIVE: Duration = Duration::from_secs(15);
/// How much output waits for its reader.
const BUFFER: usize = 256 * 1024;

impl Transport for Russh {
    fn open<'a>(&'a self, target: &'a Target, access: &'a Access) -> Later<'a, Result<Link, Failure>> {
        Box::pin(async move {
            let (mut handle, words) = connect(target, access).await?;
            login(&mut handle, target, access).await?;
            let lost = |error: ::russh::Error| refused(target, &error.to_string());
            let channel = handle.channel_open_session().await.map_err(lost)?;
            channel.exec(false, program::LINE).await.map_err(lost)?;
            let (reading, writing) = channel.split();
            let (output, sink) = tokio::io::duplex(BUFFER);
            let reader = tokio::spawn(pump(reading, sink, words.clone()));
            let input = Box::new(writing.make_writer());
            let exit = Box::new(Connection { handle, reader: Some(reader) });
            Ok(Link { input, output: Box::new(output), words, exit })
        })
    }

    fn host_key<'a>(&'a self, target: &'a Target, access: &'a Access) -> Later<'a, Result<HostKey, Problem>> {
        Box::pin(async move {
            let mut strict = target.clone();
            strict.accept_unknown_hosts = false;
            let seen = Seen::default();
            let words = Words::new(&target.node, access);
            let opened = dial(&strict, access, seen.clone(), words).await;
            match (seen.verdict(), opened) {
                (Some(Verdict::Unknown(key)), _) => unknown(target, access, &key),
                (_, Err(failure)) => Err(*failure.problem),
                (_, Ok(_)) => Err(Problem::new(format!("node `{}`: its host key is known", target.node))),
            }
        })
    }
}

/// Copies what the channel brings until it ends; returns the exit code.
async fn pump(mut reading: ChannelReadHalf, mut sink: tokio::io::DuplexStream, words: Words) -> Option<i32> {
    let mut status = None;
    while let Some(message) = reading.wait().await {
        match message {
            ChannelMsg::Data { data } => {
                let read = sink.write_all(&data).await;
                if read.is_err() {
                    break;
                }
            }
            ChannelMsg::ExtendedData { data, .. } => words.add(&data),
            ChannelMsg::ExitStatus { exit_status } => status = i32::try_from(exit_status).ok(),
            ChannelMsg::Close => break,
            _ => {}
        }
    }
    status
}

struct Connection {
    handle: Handle<Client>,
    reader: Option<tokio::task::JoinHandle<Option<i32>>>,
}

impl Exit for Connection {
    fn wait(&mut self) -> Later<'_, Option<i32>> {
        Box::pin(async move {
            let status = match self.reader.take() {
                Some(reader) => reader.await.ok().flatten(),
                None => None,
            };
            let _ = self.handle.disconnect(Disconnect::ByApplication, "", "en").await;
            status
        })
    }

    /// The connection ends with its handle; sshd then ends the channel, and the session cleans up.
    fn spare(&mut self) {}
}

/// What was thought of the server's key, carried out of the handler.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Option<Verdict>>>);

#[derive(Clone)]
enum Verdict {
    Known,
    Unknown(PublicKey),
    Changed { key: PublicKey, file: PathBuf, line: usize, known: PublicKey },
    Revoked(PublicKey, PathBuf),
    Unreadable(PathBuf, String),
}

impl Seen {
    fn verdict(&self) -> Option<Verdict> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
}

struct Client {
    host: String,
    port: u16,
    files: Vec<PathBuf>,
    /// Where an unknown key is written down; `None` refuses it.
    learn: Option<PathBuf>,
    seen: Seen,
    words: Words,
}

impl client::Handler for Client {
    type Error = ::russh::Error;

    async fn auth_banner(&mut self, banner: &str, _session: &mut client::Session) -> Result<(), Self::Error> {
        self.words.add(banner.as_bytes());
        Ok(())
    }

    async fn check_server_key(&mut self, shown: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        let key = match shown {
            PublicKeyOrCertificate::PublicKey { key, .. } => key.clone(),
            // Never asked for: certificates of hosts need the authorities of an ssh configuration.
            PublicKeyOrCertificate::Certificate(_) => return Ok(false),
        };
        let verdict = judge(&self.host, self.port, &key, &self.files);
        let learned = match (&verdict, &self.learn) {
            (Verdict::Unknown(key), Some(file)) => {
                let line = line(&self.host, self.port, key);
                let parts = line.map(|line| hostkey::append(file, &line).is_ok());
                parts.unwrap_or(false)
            }
            _ => false,
        };
        let good = learned || matches!(verdict, Verdict::Known);
        *self.seen.0.lock().unwrap_or_else(|e| e.into_inner()) = Some(verdict);
        Ok(good)
    }
}

/// Judges a key by all known-hosts files: a revoked key is never good, one equal line makes it known.
fn judge(host: &str, port: u16, key: &PublicKey, files: &[PathBuf]) -> Verdict {
    let mut changed = None;
    let mut known = false;
    for file in files.iter().filter(|file| file.exists()) {
        if revoked(file, key) {
            return Verdict::Revoked(key.clone(), file.clone());
        }
        match known_host_keys_path(host, port, file) {
            Ok(lines) => {
                known |= lines.iter().any(|(_, other)| other.key_data() == key.key_data());
                let other = lines.into_iter().find(|(_, other)| other.algorithm() == key.algorithm());
                changed = changed.or(other.map(|(_, other)| (file.clone(), line_of(file, &other), other)));
            }
            Err(error) => return Verdict::Unreadable(file.clone(), error.to_string()),
        }
    }
    match (known, changed) {
        (true, _) => Verdict::Known,
        (false, Some((file, line, known))) => Verdict::Changed { key: key.clone(), file, line, known },
        (false, None) => Verdict::Unknown(key.clone()),
    }
}

/// The number of the first line with this key; russh leaves comments out of its own count.
fn line_of(file: &Path, key: &PublicKey) -> usize {
    let openssh = key.to_openssh().unwrap_or_default();
    let base64 = openssh.split_whitespace().nth(1).unwrap_or_default();
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().position(|line| line.split_whitespace().any(|word| word == base64)).map_or(0, |at| at + 1)
}

/// True where the file marks this key `@revoked`, for whatever host.
fn revoked(file: &Path, key: &PublicKey) -> bool {
    let Ok(openssh) = key.to_openssh() else { return true };
    let base64 = openssh.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| {
        line.split_whitespace().next() == Some("@revoked") && line.split_whitespace().any(|word| word == base64)
    })
}

/// The line of a known-hosts file.
fn line(host: &str, port: u16, key: &PublicKey) -> Option<String> {
    let key = key.to_openssh().ok()?;
    let key: Vec<&str> = key.split_whitespace().take(2).collect();
    let host = if port == 22 { host.to_owned() } else { format!("[{host}]:{port}") };
    Some(format!("{host} {}", key.join(" ")))
}

/// The known-hosts files: the person's first, to which unknown keys are added.
fn files(target: &Target, access: &Access) -> Vec<PathBuf> {
    let own = target.options.iter().find_map(|option| value(option, "UserKnownHostsFile"));
    let home = access.home.as_ref().map(|home| home.join(".ssh/known_hosts"));
    let own = own.map(|path| expand(path, access)).or(home);
    own.into_iter().chain([PathBuf::from("/etc/ssh/ssh_known_hosts")]).collect()
}

fn value<'a>(option: &'a str, name: &str) -> Option<&'a str> {
    let (key, value) = option.split_once(['=', ' '])?;
    key.trim().eq_ignore_ascii_case(name).then(|| value.trim())
}

fn expand(path: &str, access: &Access) -> PathBuf {
    match (path.strip_prefix("~/"), &access.home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

async fn connect(target: &Target, access: &Access) -> Result<(Handle<Client>, Words), Failure> {
    const KNOWN: &[&str] = &["UserKnownHostsFile"];
    if let Some(option) = target.options.iter().find(|option| KNOWN.iter().all(|name| value(option, name).is_none())) {
        let what = format!("node `{}`: the transport `russh` does not know the option `{option}`", target.node);
        let help = "take `transport: openssh`: it reads every option and `~/.ssh/config`";
        return Err(Failure::new(target, Reason::Local, Problem::new(what).help(help)));
    }
    let seen = Seen::default();
    let words = Words::new(&target.node, access);
    let opened = dial(target, access, seen.clone(), words.clone()).await;
    match seen.verdict() {
        Some(Verdict::Unknown(key)) if opened.is_err() => {
            let print = described(&key).map_or_else(String::new, |(kind, print)| format!("it shows {kind} {print}"));
            let mut failure = Failure::before_greeting(target, Some(255), "Host key verification failed.", "");
            *failure.problem = failure.problem.note(print);
            Err(failure)
        }
        Some(Verdict::Changed { key, file, line, known }) => Err(changed(target, &key, &file, line, &known)),
        Some(Verdict::Revoked(key, file)) => {
            let print = described(&key).map(|(_, print)| print).unwrap_or_default();
            let what = format!("node `{}`: the host key of {} is revoked", target.node, target.address());
            let problem = Problem::new(what).note(format!("{print} is revoked in {}", file.display()));
            Err(Failure::new(target, Reason::ChangedHost, problem))
        }
        Some(Verdict::Unreadable(file, words)) => {
            let what = format!("node `{}`: cannot read the known hosts in `{}`: {words}", target.node, file.display());
            Err(Failure::new(target, Reason::Local, Problem::new(what)))
        }
        _ => opened.map(|handle| (handle, words)),
    }
}

fn changed(target: &Target, key: &PublicKey, file: &Path, line: usize, known: &PublicKey) -> Failure {
    let print = |key: &PublicKey| described(key).map(|(_, print)| print).unwrap_or_default();
    let words =
        format!("REMOTE HOST IDENTIFICATION HAS CHANGED\n{}\nOffending key in {}:{line}\n", print(key), file.display());
    let mut failure = Failure::before_greeting(target, Some(255), &words, "");
    if !failure.problem.notes.iter().any(|note| note.text.contains(&print(known))) {
        *failure.problem = failure.problem.note(format!("{} is known", print(known)));
    }
    failure
}

fn described(key: &PublicKey) -> Option<(String, String)> {
    hostkey::described(&line("host", 22, key)?)
}

fn unknown(target: &Target, access: &Access, key: &PublicKey) -> Result<HostKey, Problem> {
    let port = target.port.unwrap_or(22);
    let made = line(&target.host, port, key).and_then(|line| {
        let (kind, fingerprint) = hostkey::described(&line)?;
        let file = files(target, access).into_iter().next()?;
        Some(HostKey { node: target.node.clone(), address: target.address(), kind, fingerprint, line, file })
    });
    made.ok_or_else(|| Problem::new(format!("node `{}`: its host key cannot be written down", target.node)))
}

/// Connects and exchanges keys.
async fn dial(target: &Target, access: &Access, seen: Seen, words: Words) -> Result<Handle<Client>, Failure> {
    let port = target.port.unwrap_or(22);
    let files = files(target, access);
    let mut config = client::Config {
        keepalive_interval: Some(ALIVE),
        keepalive_max: 3,
        nodelay: true,
        ..client::Config::default()
    };
    prefer_known(&mut config, &target.host, port, &files);
    let learn = if target.accept_unknown_hosts { files.first().cloned() } else { None };
    let host = target.host.clone();
    let handler = Client { host, port, files, learn, seen, words };
    let work = async {
        let stream = TcpStream::connect((target.host.as_str(), port)).await.map_err(::russh::Error::IO)?;
        let _ = stream.set_nodelay(true);
        client::connect_stream(Arc::new(config), stream, handler).await
    };
    match timeout(target.connect_timeout, work).await {
        Ok(Ok(handle)) => Ok(handle),
        Ok(Err(::russh::Error::IO(error))) => Err(refused(target, &io_words(&error))),
        Ok(Err(error)) => Err(refused(target, &format!("kex_exchange_identification: {error}"))),
        Err(_) => Err(refused(target, "Connection timed out")),
    }
}

/// The words that ssh has for the same.
fn io_words(error: &std::io::Error) -> String {
    use std::io::ErrorKind::*;
    match error.kind() {
        ConnectionRefused => "Connection refused".to_owned(),
        TimedOut => "Connection timed out".to_owned(),
        HostUnreachable | NetworkUnreachable => "No route to host".to_owned(),
        ConnectionReset | UnexpectedEof | BrokenPipe => format!("Connection reset by the server: {error}"),
        _ if error.to_string().contains("lookup") => "Could not resolve hostname".to_owned(),
        _ => error.to_string(),
    }
}

fn refused(target: &Target, words: &str) -> Failure {
    Failure::before_greeting(target, Some(255), words, "")
}

/// Asks the server for a key of a kind that is known of it, so that another kind is not taken for a stranger.
fn prefer_known(config: &mut client::Config, host: &str, port: u16, files: &[PathBuf]) {
    let known: Vec<Algorithm> = files
        .iter()
        .filter_map(|file| known_host_keys_path(host, port, file).ok())
        .flatten()
        .map(|(_, key)| key.algorithm())
        .collect();
    let kind = |algorithm: &Algorithm| match algorithm {
        Algorithm::Rsa { .. } => Algorithm::Rsa { hash: None },
        other => other.clone(),
    };
    let mut order = config.preferred.key.to_vec();
    order.sort_by_key(|algorithm| !known.iter().any(|known| kind(known) == kind(algorithm)));
    config.preferred.key = order.into();
}

/// Tries the key of the data, else the agent's keys and then the person's own files.
async fn login(handle: &mut Handle<Client>, target: &Target, access: &Access) -> Result<(), Failure> {
    let user = match &target.user {
        Some(user) => user.clone(),
        None => {
            own_name().ok_or_else(|| refused(target, "Permission denied: no `ssh_user`, and no name of one's own"))?
        }
    };
    let mut tried = Vec::new();
    if let Some(key) = &target.key
        && file(handle, target, &user, &expand(key, access), &mut tried).await?
    {
        return Ok(());
    }
    if let Some(agent) = &access.agent
        && by_agent(handle, target, &user, agent, &mut tried).await?
    {
        return Ok(());
    }
    if let (None, Some(home)) = (&target.key, &access.home) {
        for name in ["id_ed25519", "id_ecdsa", "id_rsa"] {
            let path = home.join(".ssh").join(name);
            if path.exists() && file(handle, target, &user, &path, &mut tried).await? {
                return Ok(());
            }
        }
    }
    let mut failure = refused(target, "Permission denied (publickey).");
    let notes = if tried.is_empty() { vec!["no key was there to try".to_owned()] } else { tried };
    for note in notes {
        *failure.problem = failure.problem.note(note);
    }
    Err(failure)
}

/// Tries a key file. One that cannot be read is noted, and the login goes on with the next.
async fn file(
    handle: &mut Handle<Client>,
    target: &Target,
    user: &str,
    path: &Path,
    tried: &mut Vec<String>,
) -> Result<bool, Failure> {
    let shown = path.display();
    let key = match load_secret_key(path, None) {
        Ok(key) => key,
        Err(_) if is_rsa(path) => {
            tried.push(format!("{shown}: {RSA}"));
            return Ok(false);
        }
        Err(::russh::keys::Error::KeyIsEncrypted) => {
            tried.push(format!("{shown} is locked with a passphrase: add it to the agent, `ssh-add {shown}`"));
            return Ok(false);
        }
        Err(error) => {
            tried.push(format!("{shown} cannot be used: {error}"));
            return Ok(false);
        }
    };
    if matches!(key.algorithm(), Algorithm::Rsa { .. }) {
        tried.push(format!("{shown}: {RSA}"));
        return Ok(false);
    }
    let key = PrivateKeyWithHashAlg::new(Arc::new(key), None);
    let result = handle.authenticate_publickey(user, key).await;
    tried.push(format!("{shown} was not accepted"));
    result.map(|result| result.success()).map_err(|error| refused(target, &error.to_string()))
}

/// The lock file allows no implementation of RSA that is free of an open advisory.
const RSA: &str = "the built-in client does not sign with RSA key files; use an ed25519 key, or `transport: openssh`";

fn is_rsa(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let public = std::fs::read_to_string(path.with_extension("pub")).unwrap_or_default();
    text.contains("BEGIN RSA PRIVATE KEY") || public.starts_with("ssh-rsa ")
}

async fn by_agent(
    handle: &mut Handle<Client>,
    target: &Target,
    user: &str,
    socket: &Path,
    tried: &mut Vec<String>,
) -> Result<bool, Failure> {
    let mut agent = match AgentClient::connect_uds(socket).await {
        Ok(agent) => agent,
        Err(error) => {
            tried.push(format!("the agent at {} does not answer: {error}", socket.display()));
            return Ok(false);
        }
    };
    let identities = agent.request_identities().await.unwrap_or_default();
    for identity in identities {
        let AgentIdentity::PublicKey { key, comment } = identity else { continue };
        let hash = match key.algorithm() {
            Algorithm::Rsa { .. } => handle.best_supported_rsa_hash().await.ok().flatten().flatten(),
            _ => None,
        };
        match handle.authenticate_publickey_with(user, key, hash, &mut agent).await {
            Ok(result) if result.success() => return Ok(true),
            Ok(_) => tried.push(format!("`{comment}` of the agent was not accepted")),
            Err(_) if handle.is_closed() => return Err(refused(target, "Too many authentication failures")),
            Err(error) => tried.push(format!("`{comment}` of the agent did not sign: {error}")),
        }
    }
    Ok(false)
}

/// The name of whoever runs suil, from /etc/passwd.
fn own_name() -> Option<String> {
    let own = rustix::process::getuid().as_raw().to_string();
    let text = std::fs::read_to_string("/etc/passwd").ok()?;
    let line = text.lines().find(|line| line.split(':').nth(2) == Some(own.as_str()))?;
    line.split(':').next().map(str::to_owned)
}
