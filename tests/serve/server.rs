//! A server that runs, and plain requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use suil::base::Plain;

/// `suil serve`, until it is dropped.
pub struct Server {
    child: Child,
    /// `127.0.0.1:40123`
    pub address: String,
}

/// What came back.
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Reply {
    /// The first header of this name, whatever its case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub fn json(&self) -> Plain {
        Plain::from_json(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

/// `suil serve` with these arguments in a sealed environment.
pub fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_suil"));
    command.arg("serve").args(args).current_dir(folder).env_clear();
    command.env("HOME", folder).env("PATH", "/usr/bin:/bin").env("TZ", "UTC");
    command
}

impl Server {
    /// Starts it on a free port.
    pub fn start(folder: &Path, args: &[&str]) -> Server {
        Server::of(command(folder, &[&["--listen", "127.0.0.1:0", "--output", "json"], args].concat()))
    }

    pub fn of(mut command: Command) -> Server {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("suil starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("a line");
        let told = Plain::from_json(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let url = told.get("url").and_then(Plain::as_str).expect("a URL").to_owned();
        let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Server { child, address }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    pub fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, &[], "")
    }

    /// A request with these headers beside `Host`, which they may replace.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Reply {
        let host = headers.iter().find(|(name, _)| *name == "Host").map_or(self.address.as_str(), |(_, host)| host);
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
        for (name, value) in headers.iter().filter(|(name, _)| *name != "Host") {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        self.raw(&format!("{text}\r\n{body}"))
    }

    /// Sends these bytes and reads to the end.
    pub fn raw(&self, text: &str) -> Reply {
        let mut line = TcpStream::connect(&self.address).expect("a connection");
        line.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        // A server that turns a request away need not read all of it.
        let _ = line.write_all(text.as_bytes());
        let mut bytes = Vec::new();
        let _ = line.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
        Reply { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Sends a signal and gives the exit code; fails where it does not end in time.
    pub fn end(mut self, signal: &str) -> Option<i32> {
        let pid = self.child.id().to_string();
        Command::new("/bin/sh").args(["-c", "kill -$0 $1", signal, &pid]).status().expect("kill");
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("asked") {
                return status.code();
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "it does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
