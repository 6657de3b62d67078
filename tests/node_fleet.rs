//! Sessions with real sshd nodes of the fleet. Run with `FLEET_DIR=… cargo test --test node_fleet -- --ignored`, after
//! `fleet up 1`.

use std::time::Duration;
use suil::node::{Access, Keep, Reason, Session, Sudo, Target, Transport};
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

/// The same body over both ssh clients.
macro_rules! over_both_clients {
    ($name:ident, $transport:ident, $body:block) => {
        #[tokio::test]
        #[ignore = "needs a fleet"]
        async fn $name() {
            for $transport in [Transport::Openssh, Transport::Russh] {
                $body
            }
        }
    };
}

/// A target for `user` over one of the clients.
fn over(transport: Transport, node: &str, user: &str) -> Target {
    Target { transport, ..target(node, user) }
}

over_both_clients!(every_login_user_acts_as_root, transport, {
    let password = std::fs::read_to_string(format!("{}/ops-password", fleet())).expect("password");
    let word = zeroize::Zeroizing::new(password.trim_end().to_owned());
    for user in ["root", "deploy", "ops"] {
        let asking = word.clone();
        for sudo in [Sudo::given(Some(word.clone())), Sudo::asking(move |_| Some(asking.clone()))] {
            let access = Access { sudo: sudo.into(), ..Access::default() };
            let mut session = match Session::open(&over(transport, "debian1", user), &access).await {
                Ok(session) => session,
                Err(failure) => panic!("{transport:?} {user}: {failure:?}"),
            };
            let probe = session.probe().expect("a probe");
            assert_eq!((probe.family.as_str(), probe.root), ("debian", true), "{user}");
            assert_eq!(session.perform("id", &Action::script("id -u"), STEP).await.expect("outcome").stdout, "0\n");
            session.close().await;
        }
    }
});

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

over_both_clients!(a_large_upload_is_verified_and_leaves_nothing, transport, {
    let mut session = open(&over(transport, "debian1", "deploy")).await;
    let bytes: Vec<u8> = (0..5_000_000_u32).map(|n| ((n * 31) >> 3) as u8).collect();
    let content = Content::Bytes(bytes.into());
    let uploads = vec![Upload { content: content.clone(), beside: Some("/var/tmp/big".into()) }];
    let script =
        "mv \"$1\" /var/tmp/big; sha256sum /var/tmp/big; rm /var/tmp/big; ls -a /var/tmp | grep -c '^.suil-' || true";
    let outcome = session
        .perform("upload", &Action { script: script.into(), uploads, layer: None }, STEP)
        .await
        .expect("outcome");
    assert_eq!(outcome.stdout, format!("{}  /var/tmp/big\n0\n", content.sha256()), "{}", outcome.stderr);
    let folder = session.run("look", "echo $suil_folder", STEP).await.expect("outcome").stdout;
    session.close().await;
    let mut session = open(&target("debian1", "root")).await;
    let look = session.run("look", &format!("ls -d {} | wc -l", folder.trim()), STEP).await.expect("outcome");
    assert_eq!(look.stdout, "0\n", "{}", look.stderr);
    session.close().await;
});

over_both_clients!(what_is_wrong_with_a_node_is_told_apart, transport, {
    let access = Access::default();
    let reason = async |target: &Target| match Session::open(target, &access).await {
        Ok(_) => panic!("opened"),
        Err(failure) => (failure.reason, format!("{:?}", failure.problem)),
    };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port that accepts and says nothing");
    let mut silent = over(transport, "debian1", "root");
    silent.host = "127.0.0.1".into();
    silent.port = Some(listener.local_addr().expect("address").port());
    silent.connect_timeout = Duration::from_secs(2);
    let (why, problem) = reason(&silent).await;
    assert!(why == Reason::Unreachable && problem.contains("no answer from 127.0.0.1:"), "{problem}");
    let mut closed = over(transport, "debian1", "root");
    closed.port = Some(9);
    let (why, problem) = reason(&closed).await;
    assert!(why == Reason::Unreachable && problem.contains("refuses connections"), "{problem}");
    let (why, problem) = reason(&over(transport, "debian1", "nobody-here")).await;
    assert!(why == Reason::Login && problem.contains("Permission denied"), "{problem}");
    let mut unknown = over(transport, "debian1", "root");
    unknown.options = vec!["UserKnownHostsFile=/dev/null".into()];
    let (why, problem) = reason(&unknown).await;
    assert!(why == Reason::UnknownHost, "{problem}");
    let mut nameless = over(transport, "debian1", "root");
    nameless.host = "no-such-name.invalid".into();
    let (why, problem) = reason(&nameless).await;
    assert!(why == Reason::Unreachable && problem.contains("no address for the name"), "{problem}");
});

/// Users with the login shells and sudo rules of the scenarios N01 to N03, N06; made anew by every test run.
const USERS: &str = r#"
command -v fish >/dev/null && command -v tcsh >/dev/null || apt-get install -y -qq fish tcsh
mkdir -p /opt/vendor
printf '#!/bin/sh\necho "invalid option -- '"'c'"'" >&2\nexit 2\n' >/opt/vendor/cli
chmod 755 /opt/vendor/cli
user() {
    id "$1" >/dev/null 2>&1 || useradd -m -s "$2" "$1"
    mkdir -p "/home/$1/.ssh"
    cp /root/.ssh/authorized_keys "/home/$1/.ssh/"
    chown -R "$1" "/home/$1"
    rm -f "/etc/sudoers.d/$1"
    [ -z "$3" ] || printf '%b\n' "$3" >"/etc/sudoers.d/$1"
    [ -z "$3" ] || chmod 440 "/etc/sudoers.d/$1"
}
user fishy /usr/bin/fish 'fishy ALL=(ALL) NOPASSWD: ALL'
user seashell /bin/tcsh 'seashell ALL=(ALL) NOPASSWD: ALL'
user noone /usr/sbin/nologin ''
user vendor /opt/vendor/cli ''
user talker /bin/bash 'talker ALL=(ALL) NOPASSWD: ALL'
printf 'echo -e "\\033[33mwelcome\\033[0m"; echo @@BEGIN 0000; echo "{}"\n' >/home/talker/.bashrc
echo 'echo from rc' >/home/talker/.ssh/rc
user ttyless /bin/bash 'Defaults:ttyless requiretty\nttyless ALL=(ALL) NOPASSWD: ALL'
user ptyuser /bin/bash 'Defaults:ptyuser use_pty\nptyuser ALL=(ALL) NOPASSWD: ALL'
user narrow /bin/bash 'narrow ALL=(root) NOPASSWD: /bin/sh'
user narrower /bin/bash 'narrower ALL=(root) NOPASSWD: /usr/bin/apt-get'
user nosudo /bin/bash ''
user expired /bin/bash 'expired ALL=(ALL) NOPASSWD: ALL'
printf '%s:x\n' expired narrower nosudo | chpasswd
chage -d 0 expired
"#;

#[tokio::test]
#[ignore = "needs a fleet"]
async fn login_shells_and_sudo_rules_are_worked_with_or_named() {
    let mut root = open(&target("debian2", "root")).await;
    let made = root.run("make users", USERS, Duration::from_secs(300)).await.expect("outcome");
    assert_eq!(made.status, 0, "{made:?}");
    root.close().await;
    let script = r#"printf '%s\n' 'path = C:\\share\\x' 'it'\''s $HOME !ok "q"' "$(LC_ALL=C; (echo sub) && cat <<E
here $((1 + 1))
E
)"; id -u"#;
    for (user, shell) in [
        ("fishy", "/usr/bin/fish"),
        ("seashell", "/bin/tcsh"),
        ("talker", "/bin/bash"),
        ("ptyuser", "/bin/bash"),
        ("narrow", "/bin/bash"),
    ] {
        let mut session = open(&target("debian2", user)).await;
        assert_eq!(session.probe().expect("probe").shell, shell);
        let outcome = session.perform("write", &Action::script(script), STEP).await.expect("outcome");
        let want = "path = C:\\\\share\\\\x\nit's $HOME !ok \"q\"\nsub\nhere 2\n0\n";
        assert_eq!((outcome.stdout.as_str(), outcome.stderr.as_str()), (want, ""), "{user}");
        session.close().await;
    }
    for (user, reason, words) in [
        ("noone", Reason::Shell, "the login shell refused: This account is currently not available."),
        ("vendor", Reason::Shell, "the login shell refused: invalid option -- 'c'"),
        ("ttyless", Reason::Sudo, "`requiretty`"),
        ("narrower", Reason::Sudo, "sudo"),
        ("nosudo", Reason::Sudo, "sudo needs a password"),
        ("expired", Reason::Login, "must change the password first: "),
    ] {
        let failure = Session::open(&target("debian2", user), &Access::default()).await.err().expect(user);
        assert!(failure.reason == reason && failure.problem.what.contains(words), "{user}: {failure:?}");
    }
    let word = || Sudo::given(Some(zeroize::Zeroizing::new("x".to_owned())));
    let access = Access { sudo: word().into(), ..Access::default() };
    for user in ["narrower", "nosudo"] {
        let failure = Session::open(&target("debian2", user), &access).await.err().expect(user);
        let words = "sudo refused to run `/bin/sh` as root: ";
        assert!(failure.reason == Reason::Sudo && failure.problem.what.contains(words), "{user}: {failure:?}");
    }
}

over_both_clients!(unknown_host_keys_are_learned_and_added_and_a_changed_one_is_refused, transport, {
    use suil::node::hostkey;
    let folder = tempfile::tempdir().expect("folder");
    let file = folder.path().join("known_hosts");
    let access = Access::default();
    let mut target = over(transport, "debian1", "root");
    target.options = vec![format!("UserKnownHostsFile={}", file.display())];
    target.persist = Duration::ZERO;
    let failure = Session::open(&target, &access).await.err().expect("unknown");
    assert_eq!(failure.reason, Reason::UnknownHost, "{failure:?}");
    let keys = hostkey::learn(&[&target], &access).await;
    let key = keys.first().expect("one").clone().expect("a key");
    assert!(key.file == file && !file.exists() && key.fingerprint.starts_with("SHA256:"), "{key:?}");
    hostkey::accept(std::slice::from_ref(&key)).expect("added");
    open(&target).await.close().await;

    let line = std::fs::read_to_string(&file).expect("file");
    let other = "AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ";
    let changed = line.split_whitespace().next().map(|host| format!("# made by a test\n{host} ssh-ed25519 {other}\n"));
    std::fs::write(&file, changed.expect("a line")).expect("written");
    target.accept_unknown_hosts = true;
    let failure = Session::open(&target, &access).await.err().expect("changed");
    let text = format!("{failure:?}");
    assert_eq!(failure.reason, Reason::ChangedHost, "{text}");
    let known = "SHA256:";
    assert!(text.contains(&key.fingerprint) && text.contains(&format!("{}:2", file.display())), "{text}");
    assert!(text.matches(known).count() == 2, "{text}");

    std::fs::remove_file(&file).expect("removed");
    open(&target).await.close().await;
    assert!(file.exists(), "accept-new writes the key down");
});

over_both_clients!(every_kind_of_node_carries_a_session, transport, {
    for (node, users, family) in
        [("busybox1", &["root", "deploy"][..], "alpine"), ("redhat1", &["root", "deploy"], "redhat")]
    {
        for user in users {
            let mut session = open(&over(transport, node, user)).await;
            let probe = session.probe().expect("a probe");
            assert_eq!((probe.family.as_str(), probe.root), (family, true), "{node} {user}");
            let bytes: Vec<u8> = (0..5_000_000_u32).map(|n| ((n * 37) >> 3) as u8).collect();
            let name = "/tmp/it's \"a\"\n*name";
            let content = Content::Bytes(bytes.into());
            let uploads = vec![Upload { content: content.clone(), beside: Some(name.into()) }];
            let quoted = suil::base::shell::quote(name);
            let script = format!("mv \"$1\" {quoted}; sha256sum <{quoted}; rm {quoted}; umask; command -v sysctl");
            let outcome =
                session.perform("upload", &Action { script, uploads, layer: None }, STEP).await.expect("outcome");
            let mut lines = outcome.stdout.lines();
            assert!(lines.next().expect("sum").starts_with(&content.sha256()), "{node}: {outcome:?}");
            assert_eq!(lines.next(), Some("0022"), "{node}");
            assert!(lines.next().is_some_and(|path| path.ends_with("sysctl")), "{node}: {outcome:?}");
            session.close().await;
        }
    }
});

/// The fleet's processes that a test started, by a word in their arguments, as root on the node.
async fn alive(session: &mut Session, word: &str) -> String {
    let script = format!("grep -lza '{word}' /proc/[0-9]*/cmdline 2>/dev/null | grep -v \"/$$/\" | tr '\\n' ' '");
    session.run("look", &script, STEP).await.expect("outcome").stdout
}

over_both_clients!(a_cut_connection_ends_what_was_running_and_leaves_nothing, transport, {
    for user in ["root", "deploy"] {
        let mut target = over(transport, "debian1", user);
        target.persist = Duration::ZERO;
        let mut session = open(&target).await;
        let folder = session.run("look", "printf %s $suil_folder", STEP).await.expect("outcome").stdout;
        let uploads =
            vec![Upload { content: Content::Bytes(vec![7; 99].into()), beside: Some("/opt/cut-target".into()) }];
        let action = Action { script: "exec sleep 98765".into(), uploads, layer: None };
        let cut = tokio::time::timeout(Duration::from_secs(1), session.perform("hang", &action, STEP)).await;
        assert!(cut.is_err());
        drop(session);
        tokio::time::sleep(Duration::from_secs(3)).await;
        let mut look = open(&over(transport, "debian1", "root")).await;
        let left = format!("ls -d {folder} /opt/.suil-* 2>/dev/null; pgrep -f 'sleep 9876[5]' || true");
        let left = look.run("look", &left, STEP).await.expect("outcome").stdout;
        assert_eq!(left, "", "{transport:?} {user}");
        look.close().await;
    }
});

#[tokio::test]
#[ignore = "needs a fleet"]
async fn what_a_killed_session_left_is_removed_by_the_next() {
    let mut session = open(&target("debian1", "deploy")).await;
    let folder = session.run("look", "printf %s $suil_folder", STEP).await.expect("outcome").stdout;
    let uploads = vec![Upload { content: Content::Bytes(vec![7; 99].into()), beside: Some("/srv/kill-target".into()) }];
    let action = Action { script: "kill -9 $$; sleep 1; echo ended".into(), uploads, layer: None };
    // The job outlives the session program, and its answer still comes.
    let outcome = session.perform("break", &action, STEP).await.expect("outcome");
    assert!(outcome.stdout.contains("ended\n"), "{outcome:?}");
    let failure = session.perform("go on", &Action::script("true"), STEP).await.expect_err("lost");
    assert!(failure.reason == Reason::Lost && failure.problem.what.contains("in the middle of go on"), "{failure:?}");
    drop(session);
    tokio::time::sleep(Duration::from_secs(4)).await;
    let mut next = open(&target("debian1", "root")).await;
    let left = format!("ls -d {folder} /srv/.suil-* 2>/dev/null || true");
    assert_eq!(next.run("look", &left, STEP).await.expect("outcome").stdout, "");
    next.close().await;
}

over_both_clients!(a_limit_ends_what_it_limits, transport, {
    let mut session = open(&over(transport, "debian1", "deploy")).await;
    let action = Action::script("sleep 87654 & trap '' TERM; sleep 87653; sleep 87652");
    let failure = session.perform("hang", &action, Duration::from_secs(1)).await.expect_err("limit");
    assert!(failure.reason == Reason::Limit && failure.problem.what.contains("longer than 1 s"), "{failure:?}");
    assert_eq!(alive(&mut session, "8765[234]").await, "");
    session.close().await;
});

#[tokio::test]
#[ignore = "needs a fleet"]
async fn a_new_login_has_the_new_groups() {
    let mut root = open(&target("debian2", "root")).await;
    let script = "id joiner >/dev/null 2>&1 || useradd -m -s /bin/sh joiner; gpasswd -d joiner newgroup >/dev/null 2>&1
        mkdir -p /home/joiner/.ssh && cp /root/.ssh/authorized_keys /home/joiner/.ssh/ && chown -R joiner /home/joiner
        printf '%s\n' 'joiner ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/joiner && chmod 440 /etc/sudoers.d/joiner";
    assert_eq!(root.run("user", script, STEP).await.expect("outcome").status, 0);
    root.close().await;
    let mut session = open(&target("debian2", "joiner")).await;
    let script = "groupadd -f newgroup; usermod -aG newgroup joiner";
    assert_eq!(session.run("add", script, STEP).await.expect("outcome").status, 0);
    let mut plain = target("debian2", "joiner");
    plain.raise = suil::node::Raise::No;
    let mut session = session.renew().await.map_err(|failure| failure.problem).expect("renewed");
    session.run("look", "true", STEP).await.expect("outcome");
    let mut own = open(&plain).await;
    assert!(own.run("id", "id -nG", STEP).await.expect("outcome").stdout.contains("newgroup"));
    own.close().await;
    session.close().await;
}

over_both_clients!(a_server_that_lets_few_in_is_worked_with, transport, {
    let folder = tempfile::tempdir().expect("folder");
    let mut root = open(&target("debian2", "root")).await;
    let port = if transport == Transport::Openssh { 2201 } else { 2202 };
    let serve = format!(
        "pkill -f 'sshd.*-p {port}' || true; mkdir -p /run/sshd
         /usr/sbin/sshd -p {port} -o MaxStartups=2:70:3 -o MaxSessions=1 -o PidFile=none; sleep 2"
    );
    assert_eq!(root.run("serve", &serve, STEP).await.expect("outcome").status, 0);
    let access = Access::default();
    let mut all = tokio::task::JoinSet::new();
    for n in 0..24 {
        let mut target = over(transport, "debian2", "deploy");
        target.node = format!("node-{n}");
        target.port = Some(port);
        target.options = vec![format!("UserKnownHostsFile={}/known-{n}", folder.path().display())];
        target.accept_unknown_hosts = true;
        target.persist = Duration::from_secs(if n % 2 == 0 { 0 } else { 5 });
        let access = access.clone();
        all.spawn(async move {
            let (mut session, _) =
                Session::open_with_survey(&target, &access, &[], &[]).await.map_err(|f| f.problem)?;
            let outcome = session.run("id", "id -u", STEP).await.map_err(|f| f.problem)?;
            session.close().await;
            Ok::<_, Box<suil::base::Problem>>(outcome.stdout)
        });
    }
    while let Some(result) = all.join_next().await {
        assert_eq!(result.expect("no panic"), Ok("0\n".to_owned()), "{transport:?}");
    }
    root.run("stop", &format!("pkill -f 'sshd.*-p {port}'"), STEP).await.expect("outcome");
    root.close().await;
});

#[tokio::test]
#[ignore = "needs a fleet"]
async fn two_sessions_fit_on_a_server_of_one_session_a_connection() {
    let folder = tempfile::tempdir().expect("folder");
    let mut root = open(&target("debian2", "root")).await;
    let serve = "pkill -f 'sshd.*-p 2203' || true; /usr/sbin/sshd -p 2203 -o MaxSessions=1 -o PidFile=none; sleep 2";
    assert_eq!(root.run("serve", serve, STEP).await.expect("outcome").status, 0);
    let mut target = target("debian2", "deploy");
    target.port = Some(2203);
    target.options = vec![format!("UserKnownHostsFile={}/known", folder.path().display())];
    target.accept_unknown_hosts = true;
    let mut first = open(&target).await;
    let mut second = open(&target).await;
    for session in [&mut first, &mut second] {
        assert_eq!(session.run("id", "id -u", STEP).await.expect("outcome").stdout, "0\n");
    }
    first.close().await;
    second.close().await;
    root.run("stop", "pkill -f 'sshd.*-p 2203'", STEP).await.expect("outcome");
    root.close().await;
}

#[tokio::test]
#[ignore = "needs a fleet"]
async fn a_node_without_a_place_to_execute_in_is_worked_with() {
    let mut root = open(&target("debian2", "root")).await;
    let mount = "for d in /tmp /var/tmp /dev/shm /run; do mount --bind $d $d && mount -o remount,bind,noexec,nosuid,nodev $d; done";
    let mounted = root.run("mount", mount, STEP).await.expect("outcome");
    let collector = |module: &str, file: &str, text: &str| suil::node::Collector {
        module: module.to_owned(),
        file: file.to_owned(),
        text: text.to_owned(),
        config: suil::base::Plain::map(),
    };
    let collectors = [collector("sh", "collector", "#!/bin/sh\necho '{\"x\": 1}'\n")];
    let opened = Session::open_with_survey(&target("debian2", "deploy"), &Access::default(), &[], &collectors).await;
    let umount = "for d in /tmp /var/tmp /dev/shm /run; do umount -l $d; done";
    root.run("umount", umount, STEP).await.expect("outcome");
    root.close().await;
    assert_eq!(mounted.status, 0, "{mounted:?}");
    let (session, survey) = opened.map_err(|failure| failure.problem).expect("a survey");
    assert_eq!(survey.collected["sh"].as_ref().map(|v| v.to_json_line()), Ok("{\"x\":1}".to_owned()));
    session.close().await;
}

#[tokio::test]
#[ignore = "needs a fleet"]
#[allow(clippy::disallowed_methods)]
async fn the_built_in_client_signs_through_the_agent_and_names_rsa_keys() {
    let folder = tempfile::tempdir().expect("folder");
    let socket = folder.path().join("agent");
    let mut agent = std::process::Command::new("ssh-agent").args(["-D", "-a"]).arg(&socket).spawn().expect("an agent");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let add = |key: &str| {
        let status = std::process::Command::new("ssh-add").arg(key).env("SSH_AUTH_SOCK", &socket).status();
        assert!(status.expect("ssh-add").success());
    };
    add(&format!("{}/key", fleet()));
    let access = Access { agent: Some(socket.clone()), ..Access::default() };
    let mut plain = over(Transport::Russh, "debian1", "root");
    plain.key = None;
    let opened = Session::open(&plain, &access).await;
    agent.kill().expect("killed");
    agent.wait().expect("ended");
    opened.map_err(|failure| failure.problem).expect("a session").close().await;

    let rsa = folder.path().join("id_rsa");
    let made = std::process::Command::new("ssh-keygen").args(["-q", "-t", "rsa", "-N", "", "-f"]).arg(&rsa).status();
    assert!(made.expect("ssh-keygen").success());
    plain.key = rsa.to_str().map(str::to_owned);
    let failure = Session::open(&plain, &Access::default()).await.err().expect("no key");
    let text = format!("{failure:?}");
    assert!(failure.reason == Reason::Login && text.contains("transport: openssh"), "{text}");
}

#[tokio::test]
#[ignore = "needs a fleet"]
async fn doas_works_where_it_asks_nothing() {
    let mut root = open(&target("debian2", "root")).await;
    let make = "command -v doas >/dev/null || apt-get install -y -qq doas; id doer >/dev/null 2>&1 || useradd -m doer
        mkdir -p /home/doer/.ssh; cp /root/.ssh/authorized_keys /home/doer/.ssh/; chown -R doer /home/doer";
    root.run("make", make, Duration::from_secs(120)).await.expect("outcome");
    let mut target = target("debian2", "doer");
    target.raise = suil::node::Raise::Doas;
    for (rule, works) in [("permit nopass doer as root", true), ("permit doer as root", false), ("", false)] {
        let conf = format!("echo '{rule}' >/etc/doas.conf; chmod 600 /etc/doas.conf");
        assert_eq!(root.run("configure", &conf, STEP).await.expect("outcome").status, 0);
        match Session::open(&target, &Access::default()).await {
            Ok(session) => {
                assert!(works && session.probe().expect("a probe").root, "{rule}");
                session.close().await;
            }
            Err(failure) => {
                assert!(!works && failure.reason == Reason::Sudo, "{rule}: {failure:?}");
                assert!(failure.problem.help.as_ref().is_some_and(|help| help.contains("nopass")), "{failure:?}");
            }
        }
    }
    root.close().await;
}

/// The one change that every administrator fears: sshd lets nobody in any more.
#[tokio::test]
#[ignore = "needs a fleet"]
async fn a_change_that_shuts_the_door_is_seen_and_taken_back() {
    let mut session = open(&target("debian2", "deploy")).await;
    let conf = "/etc/ssh/sshd_config.d/00-shut.conf";
    let keep = Keep { paths: vec![conf.to_owned()], unit: Some("ssh.service".to_owned()), ..Keep::default() };
    session.keep(&keep).await.map_err(|f| f.problem).expect("kept");
    let shut = format!("echo 'AllowUsers nobody-at-all' >{conf}; systemctl reload ssh; sleep 1");
    assert_eq!(session.run("shut the door", &shut, STEP).await.expect("outcome").status, 0);
    let failure = session.prove_access().await.expect_err("the door is shut");
    let undone = session.undo().await;
    assert_eq!(failure.reason, Reason::Login, "{failure:?}");
    assert_eq!(undone.map_err(|f| f.problem).expect("undone").status, 0);
    tokio::time::sleep(Duration::from_secs(1)).await;
    session.prove_access().await.map_err(|f| f.problem).expect("the door is open");
    session.close().await;
}

#[tokio::test]
#[ignore = "needs a fleet"]
async fn a_node_behind_another_is_reached_through_it() {
    let mut target = target("debian2", "deploy");
    let jump = over(Transport::Openssh, "debian1", "root").host;
    target.options.push(format!(
        "ProxyCommand=ssh -i {0}/key -o UserKnownHostsFile={0}/known_hosts -o BatchMode=yes -W %h:%p root@{jump}",
        fleet()
    ));
    let mut session = open(&target).await;
    assert_eq!(session.run("where", "hostname", STEP).await.expect("outcome").stdout, "debian2\n");
    session.close().await;
}

#[tokio::test]
#[ignore = "needs a fleet"]
async fn a_login_that_never_ends_is_given_up_with_a_hint() {
    let mut root = open(&target("debian2", "root")).await;
    let make = "id slow >/dev/null 2>&1 || useradd -m -s /bin/bash slow
        mkdir -p /home/slow/.ssh; cp /root/.ssh/authorized_keys /home/slow/.ssh/
        echo 'echo asking the directory; sleep 300' >/home/slow/.bashrc; chown -R slow /home/slow";
    root.run("make", make, STEP).await.expect("outcome");
    root.close().await;
    let mut access = Access::default();
    access.limits.login = Duration::from_secs(2);
    let mut target = target("debian2", "slow");
    target.connect_timeout = Duration::from_secs(3);
    let failure = Session::open(&target, &access).await.err().expect("a limit");
    let text = format!("{failure:?}");
    assert!(failure.reason == Reason::Limit && text.contains("no session after 5 s"), "{text}");
    assert!(text.contains("asking the directory") && text.contains("raise the login limit"), "{text}");
}
