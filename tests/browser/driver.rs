//! A real browser, driven by the WebDriver protocol: HTTP with JSON.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What the browser is to look like.
#[derive(Clone, Copy, Default)]
pub struct Look {
    pub dark: bool,
    pub phone: bool,
}

/// A headless Chromium with a profile of its own, until it is dropped.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-color-profile=srgb",
];

impl Browser {
    pub fn start(look: Look) -> Browser {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
        let driver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts: it is in Debian's package chromium-driver");
        let profile = tempfile::tempdir().expect("a folder");
        let mut browser = Browser { driver, port, session: String::new(), _profile: profile };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(60), "chromedriver does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        let (width, height) = if look.phone { (390, 844) } else { (1440, 900) };
        let mut flags: Vec<String> = FLAGS.map(str::to_owned).into();
        flags.push(format!("--window-size={width},{height}"));
        flags.push(format!("--user-data-dir={}", browser._profile.path().display()));
        let mut options = json!({"args": flags});
        if look.phone {
            options["mobileEmulation"] =
                json!({"deviceMetrics": {"width": width, "height": height, "pixelRatio": 2, "touch": true}});
        }
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let started = browser.ask("POST", "/session", Some(wanted));
        browser.session = started["sessionId"].as_str().expect("a session").to_owned();
        let scheme = if look.dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        browser.at("POST", "/goog/cdp/execute", Some(json!({"cmd": "Emulation.setEmulatedMedia", "params": media})));
        // What the browser loads for its own first page is none of ours.
        browser.open("about:blank");
        browser.said();
        browser.asked();
        browser
    }

    fn at(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        self.ask(method, &format!("/session/{}{path}", self.session), body)
    }

    fn ask(&self, method: &str, path: &str, body: Option<Value>) -> Value {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        );
        let mut line = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        line.set_read_timeout(Some(Duration::from_secs(120))).expect("a limit");
        line.write_all(request.as_bytes()).expect("sent");
        // The driver keeps the connection, so the answer ends where it says.
        let mut bytes = Vec::new();
        let mut piece = [0; 65536];
        loop {
            let n = match line.read(&mut piece) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                read => read.expect("an answer"),
            };
            bytes.extend_from_slice(&piece[..n]);
            let head = bytes.windows(4).position(|end| end == b"\r\n\r\n");
            let whole = head.and_then(|head| {
                let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
                let length =
                    text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok())?;
                (bytes.len() >= head + 4 + length).then_some(head + 4)
            });
            if let Some(start) = whole.or((n == 0).then_some(0)) {
                let answer: Value = serde_json::from_slice(&bytes[start..]).expect("JSON");
                let value = answer["value"].clone();
                assert!(value.get("error").is_none_or(|error| !error.is_string()), "{method} {path}: {value}");
                return value;
            }
        }
    }

    pub fn open(&self, url: &str) {
        self.at("POST", "/url", Some(json!({"url": url})));
    }

    /// Runs a script in the page, and gives what it returns.
    pub fn run(&self, script: &str) -> Value {
        self.at("POST", "/execute/sync", Some(json!({"script": script, "args": []})))
    }

    /// Waits until a script gives something that is true, and gives it.
    #[track_caller]
    pub fn until(&self, script: &str) -> Value {
        let begun = Instant::now();
        loop {
            let value = self.run(script);
            if !matches!(value, Value::Null | Value::Bool(false)) && value != json!(0) && value != json!("") {
                return value;
            }
            assert!(begun.elapsed() < Duration::from_secs(30), "it never comes true: {script}\n{:?}", self.said());
            std::thread::sleep(Duration::from_millis(60));
        }
    }

    fn act(&self, actions: Value) {
        self.at("POST", "/actions", Some(json!({"actions": actions})));
        self.at("DELETE", "/actions", None);
    }

    /// Presses the mouse at a point of the window.
    pub fn press(&self, x: f64, y: f64) {
        self.drag((x, y), (x, y));
    }

    pub fn drag(&self, from: (f64, f64), to: (f64, f64)) {
        let point = |at: (f64, f64)| json!({"type": "pointerMove", "duration": 60, "x": at.0.round() as i64, "y": at.1.round() as i64});
        let mut steps = vec![point(from), json!({"type": "pointerDown", "button": 0})];
        if from != to {
            steps.push(point(((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0)));
            steps.push(point(to));
        }
        steps.push(json!({"type": "pointerUp", "button": 0}));
        self.act(json!([{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}]));
    }

    /// Turns the wheel over a point; below zero away from the hand.
    pub fn wheel(&self, x: f64, y: f64, turn: i64) {
        let step = json!({"type": "scroll", "x": x as i64, "y": y as i64, "deltaX": 0, "deltaY": turn, "duration": 0, "origin": "viewport"});
        self.act(json!([{"type": "wheel", "id": "wheel", "actions": [step]}]));
    }

    /// Two fingers that move apart, or together.
    pub fn pinch(&self, x: f64, y: f64, from: f64, to: f64) {
        let finger = |id: &str, side: f64| {
            let at = |apart: f64| json!({"type": "pointerMove", "duration": 80, "x": (x + side * apart) as i64, "y": y as i64});
            let steps = json!([at(from), {"type": "pointerDown", "button": 0}, at((from + to) / 2.0), at(to), {"type": "pointerUp", "button": 0}]);
            json!({"type": "pointer", "id": id, "parameters": {"pointerType": "touch"}, "actions": steps})
        };
        self.act(json!([finger("one", -1.0), finger("two", 1.0)]));
    }

    /// Types into whatever has the focus.
    pub fn keys(&self, text: &str) {
        let steps: Vec<Value> = text
            .chars()
            .flat_map(|c| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": c.to_string()})))
            .collect();
        self.act(json!([{"type": "key", "id": "keys", "actions": steps}]));
    }

    /// What is on the screen, as a PNG, written to a folder that nobody commits, for whoever wants to look.
    pub fn shot(&self, name: &str) -> Vec<u8> {
        use base64::prelude::{BASE64_STANDARD, Engine};
        let picture = self.at("GET", "/screenshot", None);
        let bytes = BASE64_STANDARD.decode(picture.as_str().expect("a picture")).expect("base64");
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join(format!("{name}.png")), &bytes).expect("a picture");
        bytes
    }

    /// What pages wrote to the console, and what the browser said of them.
    pub fn said(&self) -> Vec<String> {
        let log = self.at("POST", "/se/log", Some(json!({"type": "browser"})));
        log.as_array().into_iter().flatten().map(|line| line["message"].to_string()).collect()
    }

    /// Every address that pages asked since this was asked last; what the browser fetches from itself is left out.
    pub fn asked(&self) -> Vec<String> {
        let log = self.at("POST", "/se/log", Some(json!({"type": "performance"})));
        let events = log
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|line| serde_json::from_str::<Value>(line["message"].as_str()?).ok());
        let sent = events.filter(|event| event["message"]["method"] == "Network.requestWillBeSent");
        sent.filter_map(|event| {
            Some(event["message"]["params"]["request"]["url"].as_str()?.to_owned())
                .filter(|url| !url.starts_with("chrome:"))
        })
        .collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.at("DELETE", "", None);
        } else if let Ok(mut line) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ =
                write!(line, "GET /shutdown HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port);
            let _ = line.read(&mut [0; 256]);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
