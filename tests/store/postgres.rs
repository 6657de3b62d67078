//! What is PostgreSQL's own: the way to the server, and what is done when it breaks.

use crate::room;
use crate::server::{PASSWORD, USER, server};
use crate::{Room, keys, run, stack};
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use suil::base::Problem;
use suil::base::problem::Kind;
use suil::infra::store::{self, Mode, Server, Take};

fn fails(url: &str) -> Problem {
    let problem =
        store::open(Some(&Server::new(url)), "/nowhere".as_ref()).err().unwrap_or_else(|| panic!("{url} is opened"));
    assert!(!format!("{problem:?}").contains("sesame"), "{problem:?}");
    problem
}

fn name(room: &Room) -> String {
    room.url().and_then(|url| url.rsplit_once('/')).expect("a URL").1.to_owned()
}

#[test]
fn a_password_is_never_shown() {
    let port = server().port;
    let place = format!("postgres://127.0.0.1:{port}/postgres");
    let problem = fails(&format!("postgres://{USER}:sesame-wrong@127.0.0.1:{port}/postgres"));
    let wanted = format!("cannot reach the store `{place}`: password authentication failed for user \"{USER}\"");
    assert_eq!(problem.what, wanted);
    let problem = fails(&format!("postgres://{USER}:sesame@127.0.0.1:{port}/none?sslmode=disable"));
    assert!(
        problem.what.ends_with("database \"none\" does not exist") || problem.what.contains("password"),
        "{problem:?}"
    );
    let problem = fails(&format!("postgres://{USER}@127.0.0.1:{port}/postgres"));
    assert!(problem.what.contains("password missing"), "{problem:?}");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let problem = fails(&format!("postgres://{USER}:sesame@127.0.0.1:{free}/infra"));
    assert_eq!(
        problem.what,
        format!(
            "cannot reach the store `postgres://127.0.0.1:{free}/infra`: error connecting to server: Connection refused"
        )
    );
    assert_eq!(fails("mysql://anna:sesame@db/infra").kind, Kind::Usage);
}

#[test]
fn the_password_may_stand_in_the_environment_or_in_a_file_and_is_never_shown() {
    let server = server();
    let database = server.database();
    let place = format!("127.0.0.1:{}", server.port);
    let room = room::Room::with(&[("stackorder.yaml", "version: 1\n"), (".pgpass", "")]);
    let room = room.set("SUIL_STORE", "postgres://");
    let (host, port) = place.split_once(':').expect("a port");
    let room = room.set("PGHOST", host).set("PGPORT", port).set("PGUSER", USER).set("PGDATABASE", &database);
    let file = room.path().join("passwords");
    let write = |text: &str, mode: u32| {
        fs::write(&file, text).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let path = file.display().to_string();
    let run = |variables: &[(&str, &str)]| {
        let left = room.run_in("", variables, &["infra", "runs"]);
        let said = format!("{}{}", left.stdout, left.stderr);
        assert!(!said.contains("sesame"), "{said}");
        (left.status, said)
    };
    let well = (0, "no runs\n".to_owned());
    assert_eq!(run(&[("PGPASSWORD", PASSWORD)]), well);
    write(&format!("# {place}:*:*:sesame\n{place}:other:*:sesame\n{place}:{database}:{USER}:{PASSWORD}\n"), 0o600);
    assert_eq!(run(&[("PGPASSFILE", &path)]), well);
    assert_eq!(run(&[("PGPASSFILE", "/nowhere"), ("PGPASSWORD", PASSWORD)]), well);
    fs::rename(&file, room.path().with_file_name("home").join(".pgpass")).expect("moved");
    assert_eq!(run(&[]), well, "that of the home folder");
    let home = room.path().with_file_name("home").join(".pgpass").display().to_string();
    assert_eq!(run(&[("SUIL_STORE", &format!("postgres:///?passfile={home}")), ("HOME", "/nowhere")]), well);
    fs::remove_file(room.path().with_file_name("home").join(".pgpass")).expect("gone");

    let reach = format!("suil: cannot reach the store `postgres://{place}/{database}`: ");
    let wrong = format!("{reach}password authentication failed for user \"{USER}\"\n");
    let missing = format!("{reach}invalid configuration: password missing\n");
    let see = "help: see what SUIL_STORE says\n";
    let write_it = "help: the password may stand in SUIL_STORE, in PGPASSWORD, or in ~/.pgpass (mode 0600)\n";
    let of = |(status, said): (i32, String)| (status, said.replace("[ROOM]/work/passwords", "FILE"));
    let found = run(&[("PGPASSWORD", "sesame-wrong")]);
    assert_eq!(found, (1, format!("{wrong}note: the password is that of PGPASSWORD\n{see}")));
    write("*:*:*:*:sesame-wrong\n", 0o600);
    let found = of(run(&[("PGPASSFILE", &path)]));
    assert_eq!(found, (1, format!("{wrong}note: the password is that of `FILE`\n{see}")));
    write(&format!("*:*:*:*:{PASSWORD}\n"), 0o640);
    let found = of(run(&[("PGPASSFILE", &path)]));
    let note = "note: the file of passwords `FILE` was left out: others may open it\n";
    assert_eq!(found, (1, format!("{missing}{note}{write_it}")));
    write("other:*:*:*:sesame\n", 0o600);
    let found = of(run(&[("PGPASSFILE", &path)]));
    let note = "note: the file of passwords `FILE` has no line for this server, database and user\n";
    assert_eq!(found, (1, format!("{missing}{note}{write_it}")));
    assert_eq!(run(&[]), (1, format!("{missing}{write_it}")));
}

#[test]
fn of_several_hosts_each_has_its_own_password() {
    let server = server();
    let (port, database) = (server.port, server.database());
    let free = TcpListener::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("passwords");
    let lines = format!("127.0.0.1:{free}:*:*:sesame\nlocalhost:{port}:{database}:*:{PASSWORD}\n");
    fs::write(&file, lines).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    let url = format!("postgres://{USER}@127.0.0.1:{free},localhost:{port}/{database}?passfile={}", file.display());
    let store =
        store::open(Some(&Server::new(&url)), "/nowhere".as_ref()).unwrap_or_else(|problem| panic!("{problem:?}"));
    assert_eq!(store.locks().expect("read"), []);
}

#[test]
fn certificates_are_looked_at_as_far_as_the_address_says() {
    let server = server();
    let database = server.database();
    let (right, other) = (server.folder.join("ca.pem"), server.folder.join("other.pem"));
    let url = |host: &str, mode: &str, roots: Option<&std::path::Path>| {
        let roots = roots.map(|path| format!("&sslrootcert={}", path.display())).unwrap_or_default();
        format!("postgres://{USER}:{PASSWORD}@{host}:{}/{database}?sslmode={mode}{roots}", server.port)
    };
    let encrypted = "SELECT string_agg(DISTINCT CAST(ssl AS TEXT), ' ') FROM pg_stat_ssl s \
                     JOIN pg_stat_activity a ON a.pid = s.pid WHERE application_name = 'suil' AND datname = current_database()";
    for (host, mode, roots, wanted) in [
        ("127.0.0.1", "disable", None, "false"),
        ("127.0.0.1", "prefer", None, "true"),
        ("127.0.0.1", "require", None, "true"),
        ("127.0.0.1", "require", Some(&right), "true"),
        ("127.0.0.1", "verify-ca", Some(&right), "true"),
        ("localhost", "verify-full", Some(&right), "true"),
        ("127.0.0.1", "require", Some(&other), "UnknownIssuer"),
        ("127.0.0.1", "verify-ca", Some(&other), "UnknownIssuer"),
        ("127.0.0.1", "verify-full", Some(&right), "certificate not valid for name"),
        ("localhost", "verify-full", Some(&other), "UnknownIssuer"),
    ] {
        let url = url(host, mode, roots.map(|path| path.as_path()));
        match store::open(Some(&Server::new(&url)), "/nowhere".as_ref()) {
            Ok(store) => {
                store.locks().expect("read");
                assert_eq!(server.tell(&database, encrypted), wanted, "{host} {mode}");
                drop(store);
                while !server.tell(&database, encrypted).is_empty() {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                }
            }
            Err(problem) => assert!(problem.what.contains(wanted), "{host} {mode}: {problem:?}"),
        }
    }
    let problem = fails(&url("127.0.0.1", "verify-ca", Some(&server.folder.join("password"))));
    assert!(problem.what.ends_with("it holds none"), "{problem:?}");
}

#[test]
fn a_socket_is_a_host_as_well() {
    let server = server();
    let folder = server.folder.display();
    let url =
        format!("postgres:///{}?host={folder}&port={}&user={USER}&password={PASSWORD}", server.database(), server.port);
    let store =
        store::open(Some(&Server::new(&url)), "/nowhere".as_ref()).unwrap_or_else(|problem| panic!("{problem:?}"));
    assert_eq!(store.locks().expect("read"), []);
    assert!(store.place().starts_with("postgres:///room_") && store.place().ends_with(&format!("?host={folder}")));
}

#[test]
fn tables_of_a_newer_suil_are_refused() {
    let room = Room::postgres();
    drop(room.open());
    server().tell(&name(&room), "UPDATE suil.layout SET version = 99");
    let problem = fails(room.url().expect("a URL"));
    assert_eq!(problem.kind, Kind::Refused);
    assert!(problem.what.ends_with("was made by a newer suil"), "{problem:?}");
}

#[test]
fn a_user_without_rights_is_told_what_is_needed() {
    let server = server();
    let database = server.database();
    server.tell(&database, "CREATE ROLE guest LOGIN PASSWORD 'sesame'; REVOKE CREATE ON DATABASE postgres FROM PUBLIC");
    let url = format!("postgres://guest:sesame@127.0.0.1:{}/{database}", server.port);
    let problem = fails(&url);
    assert!(problem.what.contains("permission denied for database"), "{problem:?}");
    assert!(
        problem.help.as_deref().is_some_and(|help| help.contains("CREATE SCHEMA suil AUTHORIZATION")),
        "{problem:?}"
    );
    server.tell(&database, "CREATE SCHEMA suil AUTHORIZATION guest");
    let store =
        store::open(Some(&Server::new(&url)), "/nowhere".as_ref()).unwrap_or_else(|problem| panic!("{problem:?}"));
    assert_eq!(store.locks().expect("read"), []);
}

const END_ALL: &str = "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity \
                       WHERE datname = current_database() AND application_name = 'suil'";

#[test]
fn a_connection_that_breaks_is_made_anew() {
    let room = Room::postgres();
    let store = room.open();
    let mine = run(Mode::Apply);
    store.begin(&mine, &[stack(&mine, "a", 0)]).expect("begun");
    for _ in 0..3 {
        assert_eq!(server().tell(&name(&room), END_ALL), "1");
        assert_eq!(store.stacks(&mine.id).expect("read").len(), 1);
        assert_eq!(server().tell(&name(&room), END_ALL), "1");
        let taken = store.take(&mine, &keys(&["a"]), "").expect("asked");
        assert!(matches!(taken, Take::Taken { .. }));
    }
    assert_eq!(store.audit(Some("a"), None, 10).expect("read").len(), 1, "it was taken once");
}

/// Hands bytes on between a client and the server. The next time that the client sends `COMMIT`, the server gets it, and
/// the client gets no answer: the connection breaks.
struct Breaker {
    port: u16,
    armed: Arc<AtomicBool>,
    broken: Arc<AtomicU32>,
}

impl Breaker {
    fn start() -> Breaker {
        let socket = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = socket.local_addr().expect("an address").port();
        let breaker = Breaker { port, armed: Arc::new(AtomicBool::new(false)), broken: Arc::new(AtomicU32::new(0)) };
        let (armed, broken) = (breaker.armed.clone(), breaker.broken.clone());
        std::thread::spawn(move || {
            for client in socket.incoming().flatten() {
                let near = TcpStream::connect(("127.0.0.1", server().port)).expect("the server");
                let (mut from, mut to) = (near.try_clone().expect("a socket"), client.try_clone().expect("a socket"));
                std::thread::spawn(move || std::io::copy(&mut from, &mut to));
                let (armed, broken) = (armed.clone(), broken.clone());
                std::thread::spawn(move || forward(client, near, &armed, &broken));
            }
        });
        breaker
    }
}

fn forward(mut client: TcpStream, mut server: TcpStream, armed: &AtomicBool, broken: &AtomicU32) {
    let mut buffer = [0; 65_536];
    while let Ok(n @ 1..) = client.read(&mut buffer) {
        let bytes = &buffer[..n];
        let ends = bytes.windows(6).any(|window| window == b"COMMIT");
        if ends && armed.swap(false, Ordering::SeqCst) {
            broken.fetch_add(1, Ordering::SeqCst);
            let _ = client.shutdown(Shutdown::Both);
            let _ = server.write_all(bytes);
            return;
        }
        if server.write_all(bytes).is_err() {
            return;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}

#[test]
fn what_nobody_knows_to_have_happened_is_done_again_only_where_that_is_the_same() {
    let breaker = Breaker::start();
    let database = server().database();
    let url = format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{database}?sslmode=disable", breaker.port);
    let store =
        store::open(Some(&Server::new(&url)), "/nowhere".as_ref()).unwrap_or_else(|problem| panic!("{problem:?}"));
    let arm = || breaker.armed.store(true, Ordering::SeqCst);
    let broken = || breaker.broken.load(Ordering::SeqCst);
    let mine = run(Mode::Apply);
    arm();
    store.begin(&mine, &[stack(&mine, "a", 0)]).expect("begun");
    arm();
    store.take(&mine, &keys(&["a", "b"]), "").expect("asked").or_refuse().expect("they are its own");
    arm();
    assert!(
        store.adopt(&mine.id, &mine.process, &suil::infra::store::Process::this("ben"), "ben@desk").expect("asked")
    );
    assert_eq!(broken(), 3);
    let locks = store.locks().expect("read");
    assert_eq!(locks.len(), 2);
    assert_eq!(store.audit(None, None, 100).expect("read").len(), 4, "two were taken and moved, each told once");
    arm();
    let problem = store.unlock(&locks, "anna@desk", "it hangs").expect_err("nobody knows");
    assert!(
        problem.what.starts_with("nobody knows whether it happened: lost the store `postgres://127.0.0.1:"),
        "{problem:?}"
    );
    assert!(problem.help.is_some_and(|help| help.contains("suil infra locks")));
    assert_eq!(store.locks().expect("read"), [], "here it did");
    assert_eq!(broken(), 4);
}
