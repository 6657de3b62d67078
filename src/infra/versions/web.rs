//! One question to a server of the web, over TLS: a `GET`, and the body of the answer. Enough for registries, and nothing
//! more: no proxy, no cookie, no connection that is kept.

use crate::base::{Problem, clock};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{Error, ErrorKind, Read, Result as Io, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

/// How long a server may take to take a connection, and to say anything at all.
const CONNECT: Duration = Duration::from_secs(10);
const SILENCE: Duration = Duration::from_secs(20);
/// How long a whole answer may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// The longest head and the longest body of an answer.
const HEAD: usize = 64 * 1024;
const BODY: usize = 16 * 1024 * 1024;
/// A server that leads to a server that leads to a server …
const REDIRECTS: usize = 5;

/// An address: `https://host[:port]/path?query`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Url {
    /// `host`, or `host:port`.
    pub host: String,
    /// From the first slash.
    pub path: String,
}

impl Url {
    /// An address on a host.
    pub fn new(host: &str, path: &str) -> Url {
        Url { host: host.to_owned(), path: path.to_owned() }
    }

    /// What `target` means in an answer from here. `None` for another scheme, and for what is no address.
    pub fn join(&self, target: &str) -> Option<Url> {
        if target.contains(|c: char| c.is_ascii_control() || c == ' ') {
            return None;
        }
        let target = target.split('#').next().unwrap_or_default();
        let (host, path) = match target.strip_prefix("https://").or_else(|| target.strip_prefix("//")) {
            Some(rest) => match rest.find(['/', '?']) {
                Some(at) => (rest.get(..at)?.to_owned(), rest.get(at..)?.to_owned()),
                None => (rest.to_owned(), String::new()),
            },
            None if target.contains("://") => return None,
            None if target.starts_with('/') => (self.host.clone(), target.to_owned()),
            None => {
                let folder = self.path.split('?').next().unwrap_or_default();
                let folder = folder.rfind('/').and_then(|at| folder.get(..=at)).unwrap_or("/");
                (self.host.clone(), format!("{folder}{target}"))
            }
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '[' | ']' | '_');
        let path = if path.starts_with('/') { path } else { format!("/{path}") };
        (!host.is_empty() && host.chars().all(plain)).then_some(Url { host, path })
    }

    fn port(&self) -> Io<(&str, u16)> {
        let odd = || Error::new(ErrorKind::InvalidInput, "it has no such port");
        match self.host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')) {
            Some((host, port)) => Ok((host, port.parse().map_err(|_| odd())?)),
            None => Ok((self.host.as_str(), 443)),
        }
    }
}

impl std::fmt::Display for Url {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "https://{}{}", self.host, self.path)
    }
}

/// Asks servers whose certificates the system believes.
pub struct Web {
    config: Arc<ClientConfig>,
}

/// What a server said.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Answer {
    status: u16,
    location: Option<String>,
    body: Vec<u8>,
}

impl Web {
    /// # Errors
    /// The system has no certificates of those who sign.
    pub fn new() -> Result<Web, Problem> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(Problem::new("this system has no certificates of those who sign")
                .help("install the package ca-certificates"));
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|e| Problem::new(format!("cannot set up TLS: {e}")))?;
        Ok(Web { config: Arc::new(builder.with_root_certificates(roots).with_no_client_auth()) })
    }

    /// The body of what is at `url`, and where it was in the end. `token` is told to the host of `url` alone.
    ///
    /// # Errors
    /// There is no answer, or it is no success.
    pub fn get(&self, url: &Url, token: Option<&str>) -> Result<(Url, Vec<u8>), Problem> {
        let mut here = url.clone();
        for _ in 0..=REDIRECTS {
            let token = token.filter(|_| here.host == url.host);
            let answer = self.ask(&here, token);
            let answer = answer.map_err(|e| Problem::new(format!("`{here}` gives no answer: {}", words(&e))))?;
            match (answer.status, answer.location) {
                (200, _) => return Ok((here, answer.body)),
                (301 | 302 | 303 | 307 | 308, Some(target)) => {
                    let odd = || Problem::new(format!("`{here}` leads to what is no address of TLS"));
                    here = here.join(&target).ok_or_else(odd)?;
                }
                (status @ (401 | 403), _) => {
                    return Err(Problem::new(format!("`{here}` refuses with status {status}"))
                        .help("a token for it stands in TF_TOKEN_<host>, with `_` for each `.`"));
                }
                (status, _) => return Err(Problem::new(format!("`{here}` answers with status {status}"))),
            }
        }
        Err(Problem::new(format!("`{url}` leads from one address to the next")))
    }

    fn ask(&self, url: &Url, token: Option<&str>) -> Io<Answer> {
        let (host, port) = url.port()?;
        let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned()).map_err(Error::other)?;
        let client = ClientConnection::new(Arc::clone(&self.config), name).map_err(Error::other)?;
        let mut stream = StreamOwned::new(client, connect(host.trim_matches(['[', ']']), port)?);
        let mut request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: suil/{}\r\nAccept: application/json\r\nConnection: close\r\n",
            url.path,
            url.host,
            env!("CARGO_PKG_VERSION")
        );
        if let Some(token) = token.filter(|token| !token.contains(|c: char| c.is_control())) {
            request.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        request.push_str("\r\n");
        stream.write_all(request.as_bytes())?;
        stream.flush()?;
        read(&mut stream)
    }
}

fn connect(host: &str, port: u16) -> Io<TcpStream> {
    let mut failed = Error::new(ErrorKind::NotFound, "its name leads nowhere");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => {
                stream.set_read_timeout(Some(SILENCE))?;
                stream.set_write_timeout(Some(SILENCE))?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Reads a whole answer: as long as its head says, in chunks, or up to the end.
fn read(stream: &mut impl Read) -> Io<Answer> {
    let mut input = Input { stream, held: Vec::new(), begun: clock::instant() };
    let head = input.until(b"\r\n\r\n", HEAD)?;
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.split("\r\n");
    let odd = || Error::new(ErrorKind::InvalidData, "it does not speak HTTP");
    let first = lines.next().filter(|line| line.starts_with("HTTP/1.")).ok_or_else(odd)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(odd)?;
    let headers: Vec<(String, &str)> =
        lines.filter_map(|line| line.split_once(':')).map(|(k, v)| (k.to_ascii_lowercase(), v.trim())).collect();
    let header = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
    let body = match (header("transfer-encoding"), header("content-length")) {
        (Some(how), _) if how.eq_ignore_ascii_case("chunked") => input.chunks()?,
        (Some(_), _) => return Err(odd()),
        (None, Some(length)) => input.exactly(length.parse().map_err(|_| odd())?)?,
        (None, None) => input.all()?,
    };
    Ok(Answer { status, location: header("location").map(str::to_owned), body })
}

struct Input<'a, R> {
    stream: &'a mut R,
    held: Vec<u8>,
    begun: std::time::Instant,
}

impl<R: Read> Input<'_, R> {
    /// Reads more; false at the end.
    fn more(&mut self) -> Io<bool> {
        if self.begun.elapsed() > PATIENCE {
            return Err(Error::new(ErrorKind::TimedOut, "it takes too long"));
        }
        let mut buffer = [0; 16 * 1024];
        let n = loop {
            match self.stream.read(&mut buffer) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.held.extend_from_slice(buffer.get(..n).unwrap_or_default());
        Ok(n > 0)
    }

    /// What stands before `end`, which is taken away with it.
    fn until(&mut self, end: &[u8], most: usize) -> Io<Vec<u8>> {
        let mut from = 0;
        loop {
            let rest = self.held.get(from..).unwrap_or_default();
            if let Some(at) = rest.windows(end.len()).position(|window| window == end).map(|at| from + at) {
                let after = self.held.split_off(at + end.len());
                let mut before = std::mem::replace(&mut self.held, after);
                before.truncate(at);
                return Ok(before);
            }
            from = self.held.len().saturating_sub(end.len());
            if self.held.len() > most {
                return Err(long());
            }
            if !self.more()? {
                return Err(cut());
            }
        }
    }

    fn exactly(&mut self, length: usize) -> Io<Vec<u8>> {
        if length > BODY {
            return Err(long());
        }
        while self.held.len() < length {
            if !self.more()? {
                return Err(cut());
            }
        }
        let after = self.held.split_off(length);
        Ok(std::mem::replace(&mut self.held, after))
    }

    fn chunks(&mut self) -> Io<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.until(b"\r\n", HEAD)?;
            let size = String::from_utf8_lossy(&line).split(';').next().unwrap_or_default().trim().to_owned();
            let size = usize::from_str_radix(&size, 16);
            let size = size.map_err(|_| Error::new(ErrorKind::InvalidData, "it does not speak HTTP"))?;
            if size == 0 {
                return Ok(body);
            }
            if size > BODY.saturating_sub(body.len()) {
                return Err(long());
            }
            body.extend(self.exactly(size)?);
            self.until(b"\r\n", 2)?;
        }
    }

    fn all(&mut self) -> Io<Vec<u8>> {
        while self.more()? {
            if self.held.len() > BODY {
                return Err(long());
            }
        }
        Ok(std::mem::take(&mut self.held))
    }
}

fn long() -> Error {
    Error::new(ErrorKind::InvalidData, "its answer is too long")
}

fn cut() -> Error {
    Error::new(ErrorKind::UnexpectedEof, "its answer is cut short")
}

/// The words of an error, without the number of the system.
fn words(error: &Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "it takes too long".to_owned(),
        _ => {
            let text = error.to_string();
            text.find(" (os error").and_then(|at| text.get(..at)).unwrap_or(&text).to_lowercase()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that gives a byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> Io<usize> {
            match (self.0.split_first(), buffer.first_mut()) {
                (Some((byte, rest)), Some(slot)) => {
                    (*slot, self.0) = (*byte, rest);
                    Ok(1)
                }
                _ => Ok(0),
            }
        }
    }

    fn of(text: &str) -> Result<(u16, String), String> {
        let answer = read(&mut Slow(text.as_bytes())).map_err(|e| e.to_string())?;
        Ok((answer.status, String::from_utf8(answer.body).expect("UTF-8")))
    }

    #[test]
    fn an_answer_ends_where_its_head_says() {
        let ok = |body: &str| Ok((200, body.to_owned()));
        assert_eq!(of("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbodyrest"), ok("body"));
        assert_eq!(of("HTTP/1.0 200\r\n\r\nall of it"), ok("all of it"));
        let chunked =
            "HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: chunked\r\n\r\n4;x=1\r\nbody\r\nA\r\n 123456789\r\n0\r\n\r\n";
        assert_eq!(of(chunked), ok("body 123456789"));
        assert_eq!(of("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), Ok((404, String::new())));
    }

    #[test]
    fn what_is_cut_or_odd_or_too_long_is_an_error() {
        for (text, words) in [
            ("", "cut short"),
            ("HTTP/1.1 200 OK\r\nContent-Len", "cut short"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbody", "cut short"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nbody", "cut short"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n", "too long"),
            ("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", "too long"),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP"),
            ("SSH-2.0\r\n\r\n", "HTTP"),
            ("HTTP/1.1 x\r\n\r\n", "HTTP"),
        ] {
            assert!(of(text).is_err_and(|error| error.contains(words)), "{text}: {:?}", of(text));
        }
        let long = format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(HEAD + 1));
        assert!(of(&long).is_err_and(|error| error.contains("too long")));
    }

    #[test]
    fn a_target_is_an_address_of_tls_or_none() {
        let here = Url::new("a.example:8443", "/v1/modules/");
        let of = |target: &str| here.join(target).map(|url| url.to_string());
        for (target, want) in [
            ("/v2", Some("https://a.example:8443/v2")),
            ("x/y?z", Some("https://a.example:8443/v1/modules/x/y?z")),
            ("https://b.example", Some("https://b.example/")),
            ("https://b.example?x", Some("https://b.example/?x")),
            ("//b.example/x#y", Some("https://b.example/x")),
            ("http://b.example/x", None),
            ("file:///etc/passwd", None),
            ("https:///x", None),
            ("https://me@b.example/x", None),
            ("/x\r\nHost: other", None),
        ] {
            assert_eq!(of(target).as_deref(), want, "{target}");
        }
    }
}
