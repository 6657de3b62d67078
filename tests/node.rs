//! Sessions with this machine: the session program under every shell that a node may have for `/bin/sh`.

use std::path::{Path, PathBuf};
use std::time::Duration;
use suil::base::Plain;
use suil::node::{Access, Collector, Keep, Limits, Raise, Reason, Session, Target, Transport};
use suil::resource::{Action, Content, Request, Upload};

const SHELLS: &[&[&str]] = &[&["dash"], &["bash"], &["busybox", "sh"]];
const STEP: Duration = Duration::from_secs(20);

fn target(shell: &[&str]) -> Target {
    let mut target = Target::new("here");
    target.transport = Transport::Local;
    target.exec = shell.iter().map(|word| (*word).to_owned()).collect();
    target.raise = Raise::No;
    target
}

async fn open(shell: &[&str]) -> Session {
    match Session::open(&target(shell), &Access::default()).await {
        Ok(session) => session,
        Err(failure) => panic!("{shell:?}: {failure:?}"),
    }
}

/// Runs `test` with a session under each shell.
macro_rules! under_every_shell {
    ($name:ident, $session:ident, $shell:ident, $body:block) => {
        #[tokio::test]
        async fn $name() {
            for $shell in SHELLS {
                #[allow(unused_mut)]
                let mut $session = open($shell).await;
                $body
            }
        }
    };
}

async fn said(session: &mut Session, script: &str) -> String {
    let outcome = session.perform("test", &Action::script(script), STEP).await.expect("an outcome");
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    outcome.stdout
}

async fn folder(session: &mut Session) -> PathBuf {
    PathBuf::from(said(session, "printf %s \"$suil_folder\"").await)
}

async fn gone(path: &Path) -> bool {
    for _ in 0..100 {
        if !path.exists() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

under_every_shell!(an_outcome_has_both_streams_and_the_status, session, shell, {
    let action = Action::script("printf 'a\\n@@END x 0\\n\\n'; echo words >&2; exit 41");
    let outcome = session.perform("test", &action, STEP).await.expect("an outcome");
    assert_eq!((outcome.status, outcome.stdout.as_str()), (41, "a\n@@END x 0\n\n"), "{shell:?}");
    assert_eq!(outcome.stderr, "words\n", "{shell:?}");
    let stopped = session.perform("test", &Action::script("false; echo on"), STEP).await.expect("an outcome");
    assert_eq!((stopped.status, stopped.stdout.as_str()), (1, ""), "{shell:?}: a script stops at its first failure");
    session.close().await;
});

under_every_shell!(scripts_find_one_environment, session, shell, {
    let text = said(
        &mut session,
        "echo \"$LC_ALL $(umask) ${suil_nonce-none}\"; cat; case $PATH in */sbin*) echo sbin;; esac",
    )
    .await;
    assert_eq!(text, "C 0022 none\nsbin\n", "{shell:?}");
    session.close().await;
});

under_every_shell!(a_script_of_any_size_arrives_whole, session, shell, {
    let lines: String = (0..40_000).map(|n| format!("x=$(({n} + 1))\n")).collect();
    assert_eq!(
        said(&mut session, &format!("{lines}printf %s \"$x ünï 'q' \\\\\"")).await,
        "40000 ünï 'q' \\",
        "{shell:?}"
    );
    session.close().await;
});

under_every_shell!(uploads_arrive_byte_for_byte, session, shell, {
    let place = tempfile::tempdir().expect("folder");
    for size in [0, 1, 65_535, 65_536, 65_537, 5 * 1024 * 1024 + 17] {
        let bytes: Vec<u8> = (0..size).map(|n: usize| (n * 31 % 256) as u8 ^ (n / 256 % 256) as u8).collect();
        let path = place.path().join("it's a \"$x\"\n*name");
        let quoted = suil::base::shell::quote(path.to_str().expect("text"));
        let content = Content::Bytes(bytes.clone().into());
        let beside = Some(path.to_str().expect("text").to_owned());
        let uploads = vec![Upload { content: content.clone(), beside }, Upload { content, beside: None }];
        let script = format!("cmp \"$1\" \"$2\"; mv -- \"$1\" {quoted}; echo done");
        let outcome =
            session.perform("upload", &Action { script, uploads, layer: None }, STEP).await.expect("an outcome");
        assert_eq!((outcome.status, outcome.stdout.as_str()), (0, "done\n"), "{shell:?} {size}: {}", outcome.stderr);
        assert!(std::fs::read(&path).expect("the file") == bytes, "{shell:?} {size}");
        assert_eq!(std::fs::read_dir(place.path()).expect("folder").count(), 1, "{shell:?}: only the file is left");
    }
    session.close().await;
});

under_every_shell!(an_upload_that_cannot_be_stored_fails_and_the_session_goes_on, session, shell, {
    let upload =
        |beside: &str| Upload { content: Content::Bytes(vec![7; 300_000].into()), beside: Some(beside.to_owned()) };
    let action = Action { script: "echo ran".into(), uploads: vec![upload("/no/such/folder/file")], layer: None };
    let failure = session.perform("write /no/such", &action, STEP).await.expect_err("a failure");
    assert!(failure.problem.what.contains("cannot store an upload"), "{shell:?}: {failure:?}");
    assert_eq!(said(&mut session, "echo on").await, "on\n", "{shell:?}");
    session.close().await;
});

under_every_shell!(a_script_that_goes_over_its_limit_is_ended, session, shell, {
    let script = "sleep 1000 & echo $!; echo $! >&2; sleep 1001; echo never";
    let failure =
        session.perform("wait", &Action::script(script), Duration::from_secs(1)).await.expect_err("a failure");
    assert_eq!(failure.reason, Reason::Limit, "{shell:?}");
    assert_eq!(said(&mut session, "echo on").await, "on\n", "{shell:?}");
    session.close().await;
});

/// The shell between the session and a job, killed by hand or by the kernel, was waited for until the limit of the job.
#[tokio::test]
async fn a_job_whose_shell_was_killed_is_missed_at_the_next_ping() {
    let limits = Limits { ping: Duration::from_millis(200), ..Limits::default() };
    for shell in SHELLS {
        let access = Access { limits, ..Access::default() };
        let mut session = Session::open(&target(shell), &access).await.map_err(|f| f.problem).expect("a session");
        // Pings in the middle of a job that is well, and after one, mean nothing.
        assert_eq!(said(&mut session, "sleep 0.7; echo on").await, "on\n", "{shell:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert_eq!(said(&mut session, "echo on").await, "on\n", "{shell:?}");
        let script = "sleep 0.3; read -r job _ <\"$suil_folder/job\"; kill -9 \"$job\"; echo killed; sleep 1";
        for asked in [false, true] {
            let begun = tokio::time::Instant::now();
            let ended = match asked {
                false => session.perform("wait", &Action::script(script), STEP).await.map(drop),
                true => session.run("wait", script, STEP).await.map(drop),
            };
            let failure = ended.expect_err("a failure");
            assert_eq!(failure.reason, Reason::Lost, "{shell:?}: {failure:?}");
            assert!(failure.problem.what.contains("was killed on the node"), "{shell:?}: {failure:?}");
            assert!(begun.elapsed() < STEP, "{shell:?}: {:?}", begun.elapsed());
            // Nothing more is performed beside what may still run.
            assert!(session.run("more", "true", STEP).await.is_err(), "{shell:?}");
            session.close().await;
            session = Session::open(&target(shell), &access).await.map_err(|f| f.problem).expect("a session");
        }
        session.close().await;
    }
}

under_every_shell!(a_killed_child_is_an_outcome, session, shell, {
    let outcome = session.perform("die", &Action::script("kill -9 $$ & sh -c 'kill -9 $PPID'; sleep 5"), STEP).await;
    // `$$` is the session itself in a subshell: then the session is lost, and says so.
    if let Ok(outcome) = outcome {
        assert_eq!(outcome.status, 137, "{shell:?}");
    }
});

under_every_shell!(nothing_is_left_when_the_session_ends, session, shell, {
    let first = folder(&mut session).await;
    assert!(first.exists());
    session.close().await;
    assert!(gone(&first).await, "{shell:?}: after close");

    let mut session = open(shell).await;
    let second = folder(&mut session).await;
    let place = tempfile::tempdir().expect("folder");
    let beside = place.path().join("target").to_str().map(str::to_owned);
    let uploads = vec![Upload { content: Content::Bytes(vec![1; 9].into()), beside }];
    let pid = place.path().join("pid");
    let script = format!("echo $$ >{0}.new; mv {0}.new {0}; sleep 1000", pid.display());
    let action = Action { script, uploads, layer: None };
    let cut = tokio::time::timeout(Duration::from_millis(700), session.perform("hang", &action, STEP)).await;
    assert!(cut.is_err() && pid.exists(), "{shell:?}: it was running");
    drop(session);
    assert!(gone(&second).await, "{shell:?}: after a cut");
    std::fs::remove_file(&pid).expect("pid");
    assert_eq!(std::fs::read_dir(place.path()).expect("folder").count(), 0, "{shell:?}: staged files are gone");
});

under_every_shell!(facts_and_collectors_come_in_one_round_trip, session, shell, {
    let collector = |module: &str, file: &str, text: &str| Collector {
        module: module.to_owned(),
        file: file.to_owned(),
        text: text.to_owned(),
        config: Plain::from_json(r#"{"a": [{"b": "it's"}]}"#).expect("json"),
    };
    let facter = "from suil.sdk import Facter\nclass A(Facter):\n    def collect(self) -> dict:\n        \
                  print('noise')\n        return {'b': self.config.a[0]['b']}\n";
    let collectors = [
        collector("sh", "collector", "#!/bin/sh\ncat\n"),
        collector("python", "collector.py", "#!/usr/bin/env python3\nprint('{\"n\": 1.5}')\n"),
        collector("facter", "collector.py", facter),
        collector("broken", "collector.sh", "#!/bin/sh\necho '{}'; echo sorry >&2; exit 3\n"),
        collector("missing", "collector", "#!/no/such/interpreter\n"),
        collector("noisy", "collector", "echo warning; echo '{}'\n"),
    ];
    let requests = [Request::new("path", ["/etc/passwd", "-"])];
    let survey = session.survey(&requests, &collectors).await.expect("a survey");
    assert!(survey.facts.known(&requests[0]).is_ok(), "{shell:?}: {:?}", survey.facts);
    let got = |module: &str| survey.collected.get(module).expect("an answer").clone();
    assert_eq!(got("sh").expect("sh").at(&["a", "0", "b"]), Some(&Plain::from("it's")), "{shell:?}");
    assert_eq!(got("python").expect("python").get("n"), Some(&Plain::Float(1.5)), "{shell:?}");
    assert_eq!(got("facter").expect("facter").get("b"), Some(&Plain::from("it's")), "{shell:?}");
    assert_eq!(got("broken").expect_err("broken"), "ended with status 3: sorry", "{shell:?}");
    assert!(got("missing").expect_err("missing").contains("/no/such/interpreter"), "{shell:?}");
    assert!(got("noisy").expect_err("noisy").contains("warning"), "{shell:?}");
    session.close().await;
});

#[tokio::test]
async fn a_collector_that_hangs_spoils_only_its_own_facts() {
    for shell in SHELLS {
        let access =
            Access { limits: Limits { collector: Duration::from_secs(1), ..Limits::default() }, ..Access::default() };
        let collector = |module: &str, text: &str| Collector {
            module: module.to_owned(),
            file: "collector".to_owned(),
            text: text.to_owned(),
            config: Plain::map(),
        };
        let collectors = [collector("hangs", "sleep 1000\n"), collector("works", "echo '{\"x\": 1}'\n")];
        let (session, survey) =
            Session::open_with_survey(&target(shell), &access, &[], &collectors).await.expect("a survey");
        assert!(survey.collected["hangs"].as_ref().expect_err("late").contains("longer than 1 s"), "{shell:?}");
        assert_eq!(
            survey.collected["works"].as_ref().map(Plain::to_json_line),
            Ok("{\"x\":1}".to_owned()),
            "{shell:?}"
        );
        session.close().await;
    }
}

#[tokio::test]
async fn a_large_file_is_streamed_and_arrives_verified() {
    let place = tempfile::tempdir().expect("folder");
    let source = place.path().join("source");
    let mut file = std::fs::File::create(&source).expect("file");
    for n in 0..32_u8 {
        std::io::Write::write_all(&mut file, &[n; 1_000_003]).expect("written");
    }
    let (size, sha256) = suil::base::digest::sha256_of(std::fs::File::open(&source).expect("file")).expect("digest");
    let mut session = open(&[]).await;
    let to = place.path().join("to");
    let content = Content::File { path: source, size, sha256: sha256.clone() };
    let uploads = vec![Upload { content, beside: to.to_str().map(str::to_owned) }];
    let action = Action { script: format!("mv \"$1\" {}", to.display()), uploads, layer: None };
    let outcome = session.perform("write it", &action, Duration::from_secs(120)).await.expect("an outcome");
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let found = suil::base::digest::sha256_of(std::fs::File::open(&to).expect("file")).expect("digest");
    assert_eq!(found, (size, sha256));
    session.close().await;
}

/// A shell that reads its commands from stdin in blocks must not swallow the session's first bytes.
#[tokio::test]
async fn any_command_that_gives_a_shell_carries_a_session() {
    for shell in [&["dash"][..], &["bash"], &["busybox", "sh"], &["sh", "-c", "echo motd; exec sh"]] {
        let mut target = target(shell);
        target.transport = Transport::Exec;
        let mut session = Session::open(&target, &Access::default()).await.expect("a session");
        assert_eq!(said(&mut session, "echo on").await, "on\n", "{shell:?}");
        session.close().await;
    }
}

#[tokio::test]
async fn a_shell_that_is_none_is_named_with_its_words() {
    let mut target = target(&["sh", "-c", "echo 'This account is currently not available.'; exit 1"]);
    target.transport = Transport::Exec;
    let failure = Session::open(&target, &Access::default()).await.err().expect("a failure");
    assert_eq!(failure.reason, Reason::Shell);
    assert!(failure.problem.what.ends_with("refused: This account is currently not available."), "{failure:?}");

    target.exec = ["sh", "-c", "echo 'vendor> '; exec sleep 100"].map(str::to_owned).to_vec();
    target.connect_timeout = Duration::from_secs(1);
    let access = Access { limits: Limits { login: Duration::from_secs(1), ..Limits::default() }, ..Access::default() };
    let failure = Session::open(&target, &access).await.err().expect("a failure");
    assert_eq!(failure.reason, Reason::Limit);
    assert!(failure.problem.notes.iter().any(|note| note.text.contains("vendor>")), "{failure:?}");
}

#[tokio::test]
async fn secrets_are_covered_in_what_a_node_says() {
    let access = Access::default();
    access.mask.add("s3cret-word");
    let mut session = Session::open(&target(&[]), &access).await.expect("a session");
    let outcome = session.run("look", "echo s3cret-word; echo s3cret-word >&2", STEP).await.expect("an outcome");
    assert!(!outcome.stdout.contains("s3cret") && !outcome.stderr.contains("s3cret"));
    session.close().await;
}

under_every_shell!(a_node_is_changed_by_one_session_at_a_time, session, shell, {
    // The lock is the machine's: the shells of this test take turns.
    session.lock("anna@desk since noon: suil apply --role web").await.map_err(|f| f.problem).expect("the lock");
    session.lock("anna again").await.map_err(|f| f.problem).expect("a lock that is held is held");
    let mut other = open(shell).await;
    let failure = other.lock("ben@desk").await.expect_err("held");
    assert_eq!((failure.reason, failure.problem.kind), (Reason::Locked, suil::base::problem::Kind::Refused));
    assert!(failure.problem.what.contains("anna@desk since noon: suil apply --role web"), "{shell:?}: {failure:?}");
    session.close().await;
    other.lock("ben@desk").await.map_err(|f| f.problem).expect("the lock is free");
    let pid = said(&mut other, "printf %s $$").await;
    // Killed hard, it cannot let go of the lock: the next one sees that nobody holds it.
    said(&mut other, &format!("kill -9 {pid}")).await;
    drop(other);
    let mut next = open(shell).await;
    next.lock("cleo@desk").await.map_err(|f| f.problem).expect("a lock that nobody holds");
    next.close().await;
    // Where the disk was full, nobody's name came to stand in it.
    let mut last = open(shell).await;
    said(&mut last, "suil_locus; mkdir \"$suil_place\"; : >\"$suil_place/owner\"").await;
    last.lock("dora@desk").await.map_err(|f| f.problem).expect("a lock that nobody can hold");
    last.close().await;
});

/// The shell has a `mkdir` that makes nothing, so no folder has to be spoilt for it.
#[tokio::test]
async fn a_node_with_no_place_to_write_is_told_which_were_tried() {
    let script = "read -r line; mkdir() { return 1; }; echo @@SHELL; read -r n; \
                  p=$(dd bs=$n count=1 iflag=fullblock 2>/dev/null); eval \"$p\"";
    let mut target = target(&["sh", "-c", script]);
    target.transport = Transport::Exec;
    let failure = Session::open(&target, &Access::default()).await.err().expect("no place");
    assert!(failure.problem.what.contains("no place for a private folder, tried: "), "{failure:?}");
    assert!(failure.problem.what.contains("/var/lib") && failure.problem.what.contains("/tmp"), "{failure:?}");
}

under_every_shell!(what_could_cut_the_access_is_taken_back, session, shell, {
    let place = tempfile::tempdir().expect("folder");
    let path = |name: &str| place.path().join(name).to_str().expect("text").to_owned();
    let (old, new, seen) = (path("it's old"), path("new"), path("seen"));
    std::fs::write(&old, "before").expect("written");
    let change =
        format!("echo after >{}; echo after >{}", suil::base::shell::quote(&old), suil::base::shell::quote(&new));
    let again = format!("cat {} >{seen}", suil::base::shell::quote(&old));
    let read = |path: &str| std::fs::read_to_string(path).ok();
    let guard = async |session: &mut Session| {
        let keep = Keep { paths: vec![old.clone(), new.clone()], script: Some(again.clone()), ..Keep::default() };
        session.keep(&keep).await.map_err(|f| f.problem).expect("kept");
        said(session, &change).await;
        assert_eq!((read(&old), read(&new)), (Some("after\n".into()), Some("after\n".into())), "{shell:?}");
    };
    guard(&mut session).await;
    session.prove_access().await.map_err(|f| f.problem).expect("access");
    let undone = session.undo().await.map_err(|f| f.problem).expect("undone");
    assert_eq!((read(&old), read(&new), undone.status), (Some("before".into()), None, 0), "{shell:?} {undone:?}");
    assert_eq!(read(&seen), Some("before".into()), "{shell:?}: what reads the file has read it again");

    guard(&mut session).await;
    session.settled().await.map_err(|f| f.problem).expect("settled");
    session.close().await;
    assert_eq!(read(&old), Some("after\n".into()), "{shell:?}: what is proven stays");

    let mut session = open(shell).await;
    std::fs::write(&old, "before").expect("written");
    std::fs::remove_file(&new).expect("removed");
    guard(&mut session).await;
    let folder = folder(&mut session).await;
    drop(session);
    for _ in 0..500 {
        if read(&new).is_none() && read(&old) == Some("before".into()) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!((read(&old), read(&new)), (Some("before".into()), None), "{shell:?}: a lost channel takes it back");
    tokio::time::sleep(Duration::from_millis(200)).await;
    // As root it leaves a word about that for the next session, which removes it.
    open(shell).await.close().await;
    assert!(gone(&folder).await, "{shell:?}");
});
