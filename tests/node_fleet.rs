//! Sessions with real sshd nodes of the fleet. Run with `FLEET_DIR=… cargo test --test node_fleet -- --ignored`, after
//! `fleet up 1`.

use std::time::Duration;
use suil::node::{Access, Reason, Session, Sudo, Target};
use suil::resource::{Action, Content, Upload};

const STEP: Duration = Duration::from_secs(60);

#[allow(clippy::disallowed_methods)]
fn fleet() -> String {
    std::env::var("FLEET_DIR").unwrap_or_else(|_| "/var/tmp/fleet".to_owned())
}

/// A target for `user` on the node of this name, its address from the fleet's ssh_config.
fn target(node: &str, user: &str) -> Target {
    let config = std::fs::read_to_string(format!("{}/ssh_config", fleet())).expect("a fleet");
    let mut lines = config.lines().skip_while(|line| *line != format!("Host {node}"));
    let host = lines.nth(1).and_then(|line| line.trim().strip_prefix("HostName ")).expect("the node");
    let mut target = Target::new(node);
    target.host = host.to_owned();
    target.user = Some(user.to_owned());
    target.key = Some(format!("{}/key", fleet()));
    target.options = vec![format!("UserKnownHostsFile={}/known_hosts", fleet())];
    target
}

async fn open(target: &Target) -> Session {
    match Session::open(target, &Access::default()).await {
        Ok(session) => session,
        Err(failure) => panic!("{failure:?}"),
    }
}

#[tokio::test]
#[ignore = "needs a fleet"]
async fn every_login_user_acts_as_root() {
    let password = std::fs::read_to_string(format!("{}/ops-password", fleet())).expect("password");
    let word = zeroize::Zeroizing::new(password.trim_end().to_owned());
    for user in ["root", "deploy", "ops"] {
        let asking = word.clone();
        for sudo in [Sudo::given(Some(word.clone())), Sudo::asking(move |_| Some(asking.clone()))] {
            let access = Access { sudo: sudo.into(), ..Access::default() };
            let mut session = match Session::open(&target("debian1", user), &access).await {
                Ok(session) => session,
                Err(failure) => panic!("{user}: {failure:?}"),
            };
            let probe = session.probe().expect("a probe");
            assert_eq!((probe.family.as_str(), probe.root), ("debian", true), "{user}");
            assert_eq!(session.perform("id", &Action::script("id -u"), STEP).await.expect("outcome").stdout, "0\n");
            session.close().await;
        }
    }
}

#[tokio::test]
#[ignore = "needs a fleet"]
async fn sudo_refusals_are_told_apart() {
    let failure = Session::open(&target("debian1", "ops"), &Access::default()).await.err().expect("a failure");
    assert!(failure.problem.what.contains("sudo needs a password"), "{failure:?}");
    let wrong = Sudo::given(Some(zeroize::Zeroizing::new("a'b\"c$d;e f\\\\g%h".to_owned())));
    let access = Access { sudo: wrong.into(), ..Access::default() };
    let failure = Session::open(&target("debian1", "ops"), &access).await.err().expect("a failure");
    assert!(failure.reason == Reason::Sudo && failure.problem.what.contains("refused the password"), "{failure:?}");
}

#[tokio::test]
#[ignore = "needs a fleet"]
async fn a_large_upload_is_verified_and_leaves_nothing() {
    let mut session = open(&target("debian1", "deploy")).await;
    let bytes: Vec<u8> = (0..5_000_000_u32).map(|n| (n * 31 >> 3) as u8).collect();
    let content = Content::Bytes(bytes.into());
    let uploads = vec![Upload { content: content.clone(), beside: Some("/root/big".into()) }];
    let script = "mv \"$1\" /root/big; sha256sum /root/big; rm /root/big; ls -a /root | grep -c suil- || true";
    let outcome = session.perform("upload", &Action { script: script.into(), uploads }, STEP).await.expect("outcome");
    assert_eq!(outcome.stdout, format!("{}  /root/big\n0\n", content.sha256()), "{}", outcome.stderr);
    let folder = session.run("look", "echo $suil_folder", STEP).await.expect("outcome").stdout;
    session.close().await;
    let mut session = open(&target("debian1", "root")).await;
    let look = session.run("look", &format!("ls -d {} | wc -l", folder.trim()), STEP).await.expect("outcome");
    assert_eq!(look.stdout, "0\n", "{}", look.stderr);
    session.close().await;
}

#[tokio::test]
#[ignore = "needs a fleet"]
async fn what_is_wrong_with_a_node_is_told_apart() {
    let access = Access::default();
    let reason = async |target: &Target| match Session::open(target, &access).await {
        Ok(_) => panic!("opened"),
        Err(failure) => (failure.reason, format!("{:?}", failure.problem)),
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port that accepts and says nothing");
    let mut silent = target("debian1", "root");
    silent.host = "127.0.0.1".into();
    silent.port = Some(listener.local_addr().expect("address").port());
    silent.connect_timeout = Duration::from_secs(2);
    let (why, problem) = reason(&silent).await;
    assert!(why == Reason::Unreachable && problem.contains("no answer from 127.0.0.1:"), "{problem}");
    let mut closed = target("debian1", "root");
    closed.port = Some(9);
    let (why, problem) = reason(&closed).await;
    assert!(why == Reason::Unreachable && problem.contains("refuses connections"), "{problem}");
    let (why, problem) = reason(&target("debian1", "nobody-here")).await;
    assert!(why == Reason::Login && problem.contains("Permission denied"), "{problem}");
    let mut unknown = target("debian1", "root");
    unknown.options = vec!["UserKnownHostsFile=/dev/null".into(), "GlobalKnownHostsFile=/dev/null".into()];
    let (why, problem) = reason(&unknown).await;
    assert!(why == Reason::UnknownHost, "{problem}");
    let mut nameless = target("debian1", "root");
    nameless.host = "no-such-name.invalid".into();
    let (why, problem) = reason(&nameless).await;
    assert!(why == Reason::Unreachable && problem.contains("no address for the name"), "{problem}");
}
