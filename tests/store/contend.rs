//! Several processes at one store, and processes that die.

use crate::{Room, keys, open, run, stack};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use suil::infra::store::{Life, Lock, Mode, Outcome, Phase, RunStack, RunState, StackState, Store, Summary, Take};

crate::both! {
    two_processes_contend_and_one_wins_whole
    a_process_that_is_killed_leaves_whole_rows
    the_lock_of_a_process_that_died_is_seen_as_left_over
}

const ROUNDS: usize = 200;
const ROOT: &str = "SUIL_TEST_ROOT";
const URL: &str = "SUIL_TEST_URL";
const HOST: &str = "SUIL_TEST_HOST";
const PART: &str = "SUIL_TEST_PART";

/// What another process does; the tests start it.
#[test]
#[ignore = "a part that the tests of this file start"]
fn part() {
    let get = |name: &str| std::env::var(name).unwrap_or_default();
    let url = get(URL);
    let store = open(Some(url.as_str()).filter(|url| !url.is_empty()), get(ROOT).as_ref());
    match get(PART).as_str() {
        "contender" => contend(&*store, &get(HOST)),
        "worker" => work(&*store),
        "holder" => {
            let mut run = run(Mode::Apply);
            run.reason = String::new();
            store.begin(&run, &[]).expect("begun");
            store.take(&run, &keys(&["a"]), "it dies").expect("asked").or_refuse().expect("free");
            println!("holds");
            std::thread::sleep(Duration::from_secs(60));
        }
        other => panic!("no part `{other}`: the tests set {PART}"),
    }
}

fn start(room: &Room, part: &str, host: &str) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "contend::part", "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(ROOT, room.root()).env(URL, room.url().unwrap_or_default()).env(HOST, host).env(PART, part);
    command.stdout(Stdio::piped()).spawn().expect("another process")
}

/// The lines that a part says for the tests.
fn told(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let lines = BufReader::new(child.stdout.take().expect("its stdout")).lines().map_while(Result::ok);
    // The harness begins the first line.
    lines.filter_map(|line| Some(line.split_once("told: ")?.1.to_owned()))
}

/// Takes overlapping sets and lets them go. Each time either all are its own, or none and the holder is named.
fn contend(store: &dyn Store, host: &str) {
    let (mut won, mut refused) = (0, 0);
    for round in 0..ROUNDS {
        let mut run = run(Mode::Apply);
        run.who = format!("somebody@{host}");
        run.process.host = host.to_owned();
        // Both sets hold `shared`, and each names it at another end.
        let mut set = vec![format!("{host}/{round}"), "shared".to_owned(), format!("z/{}", round % 3)];
        if host == "forge" {
            set.reverse();
        }
        let own = |locks: &[Lock]| locks.iter().filter(|lock| lock.run == run.id).count();
        match store.take(&run, &set, "contends").expect("asked") {
            Take::Taken { new } => {
                won += 1;
                assert_eq!(new, 3);
                let locks = store.locks().expect("read");
                assert_eq!((own(&locks), locks.len()), (3, 3), "{locks:?}");
                std::thread::sleep(Duration::from_micros(300));
                assert_eq!(store.release(&run.id, None, &run.who, "").expect("released").len(), 3);
            }
            taken => {
                refused += 1;
                let problem = taken.or_refuse().expect_err("refused");
                let other = if host == "forge" { "somebody@desk" } else { "somebody@forge" };
                assert!(problem.notes.iter().all(|note| note.text.contains(other)), "{problem:?}");
                assert_eq!(own(&store.locks().expect("read")), 0);
            }
        }
        // Nobody queues for locks: who asks again at once would keep the other out.
        std::thread::sleep(Duration::from_millis(1 + round as u64 % 3));
    }
    println!("told: {won} {refused}");
}

fn two_processes_contend_and_one_wins_whole(room: &Room) {
    drop(room.open());
    let begun = Instant::now();
    let mut children = ["desk", "forge"].map(|host| start(room, "contender", host));
    let counts: Vec<(usize, usize)> = children
        .iter_mut()
        .map(|child| {
            let line = told(child).last().expect("what it counted");
            let (won, refused) = line.split_once(' ').expect("two numbers");
            (won.parse().expect("a number"), refused.parse().expect("a number"))
        })
        .collect();
    for child in &mut children {
        assert!(child.wait().expect("its end").success());
    }
    assert!(counts.iter().all(|(won, refused)| won + refused == ROUNDS && *won > 0), "{counts:?}");
    assert!(counts.iter().any(|(_, refused)| *refused > 0), "they never met: {counts:?}");
    assert!(begun.elapsed() < Duration::from_secs(120), "{:?}", begun.elapsed());
    let store = room.open();
    assert_eq!(store.locks().expect("read"), []);
    let taken: usize = counts.iter().map(|(won, _)| won).sum();
    assert_eq!(store.audit(None, None, 10_000).expect("read").len(), taken * 6, "each take and each release is told");
}

const STACKS: usize = 40;

/// Begins runs, takes locks, writes outcomes, until it is killed.
fn work(store: &dyn Store) {
    loop {
        let mut run = run(Mode::Apply);
        run.reason = String::new();
        let mut stacks: Vec<RunStack> = (0..STACKS).map(|i| stack(&run, &format!("{}/{i}", run.id), 0)).collect();
        store.begin(&run, &stacks).expect("begun");
        let all: Vec<String> = stacks.iter().map(|stack| stack.stack.clone()).collect();
        store.take(&run, &all, "").expect("asked").or_refuse().expect("free");
        println!("told: {}", run.id);
        for stack in stacks.iter_mut().take(8) {
            stack.state = StackState::Applied;
            stack.ended = Some(run.started);
            let outcome = Outcome {
                run: run.id.clone(),
                stack: stack.stack.clone(),
                phase: Phase::Apply,
                summary: Summary::default(),
                addresses: Default::default(),
                digest: None,
                file: None,
                text: Some("the plan\n".repeat(200)),
                error: None,
                unknown: Vec::new(),
                started: run.started,
                ended: run.started,
            };
            store.put_outcome(stack, &outcome).expect("written");
        }
        store.release(&run.id, None, "", "").expect("released");
        store.advance(&run.id, RunState::Applied).expect("forward");
    }
}

fn a_process_that_is_killed_leaves_whole_rows(room: &Room) {
    drop(room.open());
    for round in 0..10 {
        let mut child = start(room, "worker", "");
        let mut lines = told(&mut child);
        let first = lines.next().expect("a run");
        std::thread::sleep(Duration::from_millis(3 + round * 17));
        child.kill().expect("killed");
        child.wait().expect("its end");
        room.settle();
        let store = room.open();
        assert!(store.run(&first).expect("read").is_some(), "what was told is there");
        let locks = store.locks().expect("read");
        for run in store.runs(&Default::default()).expect("read") {
            let stacks = store.stacks(&run.id).expect("read");
            assert_eq!(stacks.len(), STACKS, "{run:?}");
            let outcomes = store.outcomes(&run.id).expect("read");
            let applied = stacks.iter().filter(|stack| stack.state == StackState::Applied).count();
            assert_eq!(outcomes.len(), applied, "a state and its outcome are one");
            for outcome in &outcomes {
                assert!(store.plan_text(&run.id, &outcome.stack, Phase::Apply).expect("read").is_some());
            }
            let held = locks.iter().filter(|lock| lock.run == run.id).count();
            assert!(held == 0 || held == STACKS, "{held} locks of {STACKS}");
            assert!(run.state != RunState::Applied || held == 0, "{run:?}");
        }
        store.unlock(&locks, "tests", "the next round").expect("unlocked");
    }
}

fn the_lock_of_a_process_that_died_is_seen_as_left_over(room: &Room) {
    let mut child = start(room, "holder", "");
    let mut lines = BufReader::new(child.stdout.take().expect("its stdout")).lines();
    assert!(lines.any(|line| line.expect("a line").ends_with("holds")));
    let store = room.open();
    let lock = &store.locks().expect("read")[0];
    assert_eq!(lock.life(), Life::Alive);
    child.kill().expect("killed");
    while lock.life() == Life::Alive {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Nobody has asked how it ended yet: it is gone all the same.
    assert_eq!(lock.life(), Life::Gone);
    child.wait().expect("its end");
    assert_eq!(lock.life(), Life::Gone);
    let problem = store.take(&run(Mode::Apply), &keys(&["a"]), "").expect("asked").or_refuse().expect_err("held");
    assert!(problem.notes[0].text.contains(" that is gone, since "), "{problem:?}");
    let help = problem.help.unwrap_or_default();
    assert!(help.starts_with(&format!("`suil infra resume {}`", lock.run)), "{help}");
}
