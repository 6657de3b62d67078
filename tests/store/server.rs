//! A PostgreSQL server of the tests' own: made in a temporary folder, gone with the process that started it.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The user of the server, with all rights; it has a password so that none is shown.
pub const USER: &str = "suil";
pub const PASSWORD: &str = "sesame-of-the-tests";

pub struct Server {
    pub folder: PathBuf,
    pub port: u16,
    binaries: PathBuf,
    /// The shell that ends the server reads the stdin that this holds; it is closed with the process, however that ends.
    _leash: Child,
}

/// Starts the server, ends it when nobody holds the other end of stdin any more, and removes its folder.
const LEASH: &str = r#"
postgres=$1 folder=$2 port=$3
"$postgres" -D "$folder/data" -k "$folder" -p "$port" -c listen_addresses=127.0.0.1 -c fsync=off \
    -c full_page_writes=off -c synchronous_commit=off -c shared_buffers=16MB -c max_connections=60 -c ssl=on \
    -c ssl_cert_file="$folder/server.pem" -c ssl_key_file="$folder/server.key" </dev/null >"$folder/log" 2>&1 &
read -r _
kill -QUIT $!
wait $!
rm -rf "$folder"
"#;

/// The server of this process.
pub fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(Server::start)
}

impl Server {
    fn start() -> Server {
        let binaries = binaries();
        let folder = tempfile::Builder::new().prefix("suil-pg-").tempdir().expect("a folder").keep();
        let owner = owner();
        if let Some((uid, gid)) = owner {
            chown(&folder, Some(uid), Some(gid)).expect("its owner");
        }
        let run = |program: &str, args: &[&str]| {
            let mut command = Command::new(program);
            command.args(args).current_dir(&folder);
            if let Some((uid, gid)) = owner {
                command.uid(uid).gid(gid);
            }
            let output = command.output().unwrap_or_else(|e| panic!("{program}: {e}"));
            assert!(output.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        fs::write(folder.join("password"), PASSWORD).expect("a password");
        fs::set_permissions(folder.join("password"), fs::Permissions::from_mode(0o644)).expect("its mode");
        let initdb = binaries.join("initdb").display().to_string();
        let auth = "--auth=scram-sha-256";
        let made = ["-D", "data", "-U", USER, "--pwfile=password", auth, "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"];
        run(&initdb, &made);
        certificates(&run);
        let port = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
        let mut leash = Command::new("sh");
        leash.args(["-c", LEASH, "leash"]).arg(binaries.join("postgres")).arg(&folder).arg(port.to_string());
        leash.current_dir(&folder).stdin(Stdio::piped()).process_group(0);
        if let Some((uid, gid)) = owner {
            leash.uid(uid).gid(gid);
        }
        let _leash = leash.spawn().expect("a shell");
        let server = Server { folder, port, binaries, _leash };
        let begun = Instant::now();
        while !server.psql("postgres", "SELECT 1").status.success() {
            let mut log = String::new();
            if let Ok(mut file) = fs::File::open(server.folder.join("log")) {
                file.read_to_string(&mut log).expect("the log");
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "PostgreSQL does not start: {log}");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    /// Runs statements as the superuser.
    pub fn psql(&self, database: &str, sql: &str) -> Output {
        let port = self.port.to_string();
        let mut command = Command::new(self.binaries.join("psql"));
        command.args(["-X", "-A", "-t", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-U", USER, "-p", &port, "-d", database]);
        command.arg("-h").arg(&self.folder).args(["-c", sql]).env("PGPASSWORD", PASSWORD);
        command.output().expect("psql")
    }

    /// What a statement gives.
    #[track_caller]
    pub fn tell(&self, database: &str, sql: &str) -> String {
        let output = self.psql(database, sql);
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    }

    /// A new database.
    pub fn database(&self) -> String {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let name = format!("room_{}", LAST.fetch_add(1, Ordering::Relaxed));
        self.tell("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{database}", self.port)
    }
}

/// The newest of those that Debian has.
fn binaries() -> PathBuf {
    let mut found: Vec<PathBuf> = fs::read_dir("/usr/lib/postgresql")
        .map(|versions| versions.flatten().map(|version| version.path().join("bin")).collect())
        .unwrap_or_default();
    found.retain(|path| path.join("postgres").exists());
    found.sort_by_key(|path| path.parent().and_then(Path::file_name)?.to_str()?.parse::<u32>().ok());
    found.pop().expect("PostgreSQL is not installed: apt-get install postgresql")
}

/// PostgreSQL refuses to run as root.
fn owner() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").expect("users");
    let of = |name: &str| {
        let line = users.lines().find(|line| line.starts_with(&format!("{name}:")))?;
        let mut words = line.split(':').skip(2).map(str::parse::<u32>);
        Some((words.next()?.ok()?, words.next()?.ok()?))
    };
    Some(of("postgres").or_else(|| of("nobody")).expect("a user that is not root"))
}

/// Somebody who signs, and a certificate for `localhost` alone, so that 127.0.0.1 has a wrong name.
fn certificates(run: &dyn Fn(&str, &[&str])) {
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    let ca = ["req", "-x509", "-subj", "/CN=ca of the tests", "-keyout", "ca.key", "-out", "ca.pem"];
    run("openssl", &[&ca[..], &key].concat());
    let other = ["req", "-x509", "-subj", "/CN=somebody else", "-keyout", "other.key", "-out", "other.pem"];
    run("openssl", &[&other[..], &key].concat());
    let server = ["req", "-x509", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    let signed = ["-addext", "basicConstraints=critical,CA:FALSE", "-CA", "ca.pem", "-CAkey", "ca.key"];
    let files = ["-keyout", "server.key", "-out", "server.pem"];
    run("openssl", &[&server[..], &signed, &files, &key].concat());
}
