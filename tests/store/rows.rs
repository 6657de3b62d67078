//! What is written comes back, whole, and as often as it is asked.

use crate::{Room, at, keys, run, stack};
use suil::base::problem::Kind;
use suil::infra::store::{
    self, Action, Addresses, Check, CheckState, Drift, DriftState, Entry, Filter, Life, Lock, Mode, Outcome, Phase,
    Process, Pruned, Run, RunStack, RunState, Seen, StackState, Summary, Take,
};

crate::both! {
    a_run_comes_back_as_it_was_written
    a_run_begun_twice_is_one_run
    a_newer_run_of_the_same_set_takes_the_place_of_one_that_waits
    a_run_goes_forward_only
    an_outcome_written_again_replaces_the_first
    long_texts_are_cut_and_say_so
    locks_are_taken_whole_or_not_at_all
    a_refusal_names_every_holder
    a_run_is_taken_up_by_one_process_only
    a_lock_is_taken_away_only_as_it_was_seen
    a_stack_is_begun_only_under_all_locks_of_its_run
    the_latest_check_of_a_name_counts
    drift_remembers_since_when
    a_stack_that_is_gone_is_still_known
    runs_are_found_by_what_they_are
    what_is_old_goes_and_the_latest_stays
    ten_thousand_rows_are_one_transaction
    many_open_a_new_store_at_once
    the_steps_of_the_corpus_end_as_it_says
    locks_of_the_same_change_are_not_taken_from_who_is_alive
}

fn outcome(run: &Run, key: &str, phase: Phase) -> Outcome {
    Outcome {
        run: run.id.clone(),
        stack: key.to_owned(),
        phase,
        summary: Summary { adds: 1, changes: 2, destroys: 3, replaces: 4, imports: 5, moves: 6, output_changes: 7 },
        addresses: Addresses {
            adds: keys(&["terraform_data.a[\"x y\"]"]),
            moves: keys(&["b"]),
            ..Addresses::default()
        },
        digest: Some("abcd".to_owned()),
        file: Some(".suil/plans/x.tfplan".to_owned()),
        text: Some("the plan".to_owned()),
        error: None,
        unknown: keys(&["vpc.id"]),
        started: at(1),
        ended: at(2),
    }
}

fn a_run_comes_back_as_it_was_written(room: &Room) {
    let mut run = run(Mode::Apply);
    let stacks = [stack(&run, "stacks/b", 1), stack(&run, "stacks/a", 1), stack(&run, "stacks/z", 0)];
    room.open().begin(&run, &stacks).expect("begun");
    let store = room.open();
    run.reason = run.reason.replace('\0', "\u{fffd}");
    assert_eq!(store.run(&run.id).expect("read"), Some(run.clone()));
    assert_eq!(store.stacks(&run.id).expect("read"), [stacks[2].clone(), stacks[1].clone(), stacks[0].clone()]);
    assert_eq!(store.run("no such").expect("read"), None);
    let now = RunStack {
        state: StackState::Blocked,
        blocked_by: Some("stacks/z".to_owned()),
        started: Some(at(5)),
        ended: Some(at(6)),
        environment: None,
        via: Vec::new(),
        ..stacks[0].clone()
    };
    // The last of two in one call counts.
    store.put_stacks(&[stacks[0].clone(), now.clone()]).expect("written");
    assert_eq!(store.stacks(&run.id).expect("read")[2], now);
}

fn a_run_begun_twice_is_one_run(room: &Room) {
    let store = room.open();
    let run = run(Mode::Plan);
    store.begin(&run, &[stack(&run, "a", 0)]).expect("begun");
    store.advance(&run.id, RunState::Planning).expect("forward");
    store.begin(&run, &[stack(&run, "a", 7)]).expect("begun again");
    assert_eq!(store.run(&run.id).expect("read").expect("there").state, RunState::Planning);
    assert_eq!(store.stacks(&run.id).expect("read"), [stack(&run, "a", 0)]);
}

fn a_newer_run_of_the_same_set_takes_the_place_of_one_that_waits(room: &Room) {
    let store = room.open();
    let begin = |mode, keys: &[&str], process: &Process, state| {
        let mut run = run(mode);
        run.process = process.clone();
        run.state = state;
        let stacks: Vec<RunStack> = keys.iter().map(|key| stack(&run, key, 0)).collect();
        store.begin(&run, &stacks).expect("begun");
        std::thread::sleep(std::time::Duration::from_millis(2));
        run
    };
    let alive = Process::this("anna");
    let gone = Process { start: format!("{}9", alive.start), ..alive.clone() };
    assert_eq!(gone.life(), Life::Gone);
    let waits = begin(Mode::Plan, &["a", "b"], &alive, RunState::Planned);
    let works = begin(Mode::Plan, &["a", "b"], &alive, RunState::Planning);
    let left = begin(Mode::Plan, &["b", "a"], &gone, RunState::Planning);
    let applies = begin(Mode::Apply, &["a", "b"], &gone, RunState::Applying);
    let asks = begin(Mode::Apply, &["a", "b"], &alive, RunState::Planned);
    let smaller = begin(Mode::Plan, &["a"], &gone, RunState::Planned);
    let newer = begin(Mode::Plan, &["b", "a"], &alive, RunState::Pending);
    let last = begin(Mode::Apply, &["b", "a"], &alive, RunState::Pending);
    let state = |run: &Run| store.run(&run.id).expect("read").map(|run| (run.state, run.successor));
    // One that works on the same set took the place of the one that waits before the newest did.
    assert_eq!(state(&waits), Some((RunState::Superseded, Some(works.id.clone()))));
    assert_eq!(state(&left), Some((RunState::Superseded, Some(newer.id.clone()))));
    for (run, stays) in [
        (&works, RunState::Planning),
        (&applies, RunState::Applying),
        (&asks, RunState::Planned),
        (&smaller, RunState::Planned),
        (&newer, RunState::Pending),
        (&last, RunState::Pending),
    ] {
        assert_eq!(state(run), Some((stays, None)));
    }
    let refused = store.advance(&left.id, RunState::Planned).expect_err("superseded");
    assert_eq!(refused.kind, Kind::Refused);
    assert!(refused.notes[0].text.contains(&newer.id), "{refused:?}");
}

fn a_run_goes_forward_only(room: &Room) {
    let store = room.open();
    let run = run(Mode::Apply);
    store.begin(&run, &[]).expect("begun");
    let ended = || store.run(&run.id).expect("read").expect("there").ended.is_some();
    use RunState::{Applied, Applying, Failed, Pending, Planned, Planning};
    for (state, ends) in [(Planning, false), (Planned, true), (Applying, false), (Failed, true), (Applying, false)] {
        store.advance(&run.id, state).unwrap_or_else(|problem| panic!("{state}: {problem:?}"));
        store.advance(&run.id, state).expect("the same again");
        assert_eq!(ended(), ends, "{state}");
    }
    store.advance(&run.id, Applied).expect("applied");
    for state in [Pending, Planning, Applying, Failed] {
        let problem = store.advance(&run.id, state).expect_err("an end is an end");
        assert_eq!(problem.what, format!("run `{}` is applied and cannot become {state}", run.id));
    }
    assert!(store.advance("none", Failed).expect_err("none").what.contains("no run `none`"));
}

fn an_outcome_written_again_replaces_the_first(room: &Room) {
    let store = room.open();
    let run = run(Mode::Apply);
    store.begin(&run, &[stack(&run, "a", 0)]).expect("begun");
    let first = outcome(&run, "a", Phase::Plan);
    let planned = RunStack { state: StackState::Planned, ..stack(&run, "a", 0) };
    for _ in 0..2 {
        store.put_outcome(&planned, &first).expect("written");
    }
    let told = |outcome: &Outcome| Outcome { text: None, ..outcome.clone() };
    assert_eq!(store.outcomes(&run.id).expect("read"), [told(&first)]);
    assert_eq!(store.stacks(&run.id).expect("read"), std::slice::from_ref(&planned));
    assert_eq!(store.plan_text(&run.id, "a", Phase::Plan).expect("read"), first.text);
    let second = Outcome { error: Some("it failed".to_owned()), text: None, ended: at(9), ..first.clone() };
    store.put_outcome(&planned, &second).expect("written");
    let applied = outcome(&run, "a", Phase::Apply);
    store.put_outcome(&planned, &applied).expect("written");
    assert_eq!(store.outcomes(&run.id).expect("read"), [told(&second), told(&applied)]);
    assert_eq!(store.plan_text(&run.id, "a", Phase::Plan).expect("read"), None, "the text of the first plan is gone");
    assert_eq!(store.last("ACME/infra", "a", Phase::Plan).expect("read"), Some(second));
    assert_eq!(store.last("acme/other", "a", Phase::Plan).expect("read"), None);
}

fn long_texts_are_cut_and_say_so(room: &Room) {
    let store = room.open();
    let run = run(Mode::Plan);
    let text = "ü".repeat(400 * 1024);
    let long = Outcome { error: Some(text.clone()), text: Some(text), ..outcome(&run, "a", Phase::Plan) };
    store.put_outcome(&stack(&run, "a", 0), &long).expect("written");
    let plan = store.plan_text(&run.id, "a", Phase::Plan).expect("read").expect("there");
    let error = store.outcomes(&run.id).expect("read")[0].error.clone().expect("there");
    assert!(plan.len() <= store::row::PLAN_CAP && plan.len() > store::row::PLAN_CAP - 8, "{}", plan.len());
    assert!(error.len() <= store::row::ERROR_CAP && error.ends_with("ü\n… cut here\n"), "{}", error.len());
}

fn locks_are_taken_whole_or_not_at_all(room: &Room) {
    let (store, other) = (room.open(), room.open());
    let (mine, theirs) = (run(Mode::Apply), run(Mode::Apply));
    assert_eq!(store.take(&mine, &keys(&["b", "a", "b"]), "roll out").expect("asked"), Take::Taken { new: 2 });
    let Take::Held(held) = other.take(&theirs, &keys(&["c", "b", "d"]), "").expect("asked") else {
        panic!("`b` is held");
    };
    let told = |locks: &[Lock]| locks.iter().map(|lock| format!("{} {}", lock.stack, lock.run)).collect::<Vec<_>>();
    assert_eq!(told(&held), [format!("b {}", mine.id)]);
    assert_eq!(told(&other.locks().expect("read")), [format!("a {}", mine.id), format!("b {}", mine.id)]);
    assert_eq!(other.take(&theirs, &keys(&["c"]), "").expect("asked"), Take::Taken { new: 1 });
    // The run itself may ask for more, and keeps what it has.
    assert_eq!(store.take(&mine, &keys(&["a", "b", "e"]), "more").expect("asked"), Take::Taken { new: 1 });
    let locks = store.locks().expect("read");
    assert_eq!(locks[0].reason, "roll out");
    assert_eq!(locks[0].process, mine.process);
    assert_eq!(locks[0].life(), Life::Alive);
    // A key of another repository is another stack, but letter case makes none.
    let foreign = Run { repo: "acme/other".to_owned(), ..run(Mode::Apply) };
    assert_eq!(store.take(&foreign, &keys(&["a"]), "").expect("asked"), Take::Taken { new: 1 });
    let shouted = Run { repo: "ACME/Infra".to_owned(), ..run(Mode::Apply) };
    assert!(matches!(store.take(&shouted, &keys(&["a"]), "").expect("asked"), Take::Held(_)));
    assert_eq!(store.release(&mine.id, Some(&keys(&["a", "c"])), "anna@desk", "").expect("asked"), ["a"]);
    assert_eq!(store.release(&mine.id, None, "anna@desk", "the run has ended").expect("asked"), ["b", "e"]);
    assert_eq!(store.release(&mine.id, None, "anna@desk", "").expect("asked"), [""; 0]);
    assert_eq!(store.locks().expect("read").len(), 2);
    let mut trail: Vec<String> = store
        .audit(None, Some(&mine.id), 100)
        .expect("read")
        .iter()
        .map(|entry| format!("{} {} {}: {}", entry.who, entry.action, entry.stack, entry.reason))
        .collect();
    trail.sort();
    let wanted = [
        "anna@desk release a: ",
        "anna@desk release b: the run has ended",
        "anna@desk release e: the run has ended",
        "anna@desk take a: roll out",
        "anna@desk take b: roll out",
        "anna@desk take e: more",
    ];
    assert_eq!(trail, wanted);
}

fn a_refusal_names_every_holder(room: &Room) {
    let store = room.open();
    let mut runs = Vec::new();
    for (who, host) in [("anna@desk", "desk"), ("ben@forge", "forge")] {
        let mut holder = run(Mode::Apply);
        holder.who = who.to_owned();
        holder.process.host = host.to_owned();
        runs.push(holder);
    }
    store.take(&runs[0], &keys(&["a"]), "one").expect("asked").or_refuse().expect("free");
    store.take(&runs[1], &keys(&["b"]), "two").expect("asked").or_refuse().expect("free");
    let problem =
        store.take(&run(Mode::Apply), &keys(&["a", "b", "c"]), "").expect("asked").or_refuse().expect_err("held");
    assert_eq!(problem.kind, Kind::Refused);
    assert_eq!(problem.what, "2 stacks are locked by other runs");
    for (note, (key, run)) in problem.notes.iter().zip(["a", "b"].iter().zip(&runs)) {
        let pid = std::process::id();
        let begins = format!(
            "`{key}` is held by run `{}`: {}, process {pid} on {}, since 20",
            run.id, run.who, run.process.host
        );
        assert!(note.text.starts_with(&begins), "{note:?}");
    }
    assert!(problem.notes[1].text.ends_with(": two"), "{problem:?}");
    assert_eq!(problem.notes.len(), 2);
}

fn a_run_is_taken_up_by_one_process_only(room: &Room) {
    let store = room.open();
    let mut dead = run(Mode::Apply);
    dead.process.start.push('9');
    store.begin(&dead, &[stack(&dead, "a", 0)]).expect("begun");
    store.take(&dead, &keys(&["a", "b"]), "").expect("asked").or_refuse().expect("free");
    assert_eq!(store.locks().expect("read")[0].life(), Life::Gone);
    let now = Process::this("ben");
    let late = Process { pid: now.pid + 1, ..now.clone() };
    assert!(store.adopt(&dead.id, &dead.process, &now, "ben@desk").expect("asked"));
    assert!(store.adopt(&dead.id, &dead.process, &now, "ben@desk").expect("asked"), "the same once more");
    assert!(!store.adopt(&dead.id, &dead.process, &late, "cleo@desk").expect("asked"), "somebody was faster");
    let locks = store.locks().expect("read");
    assert!(locks.iter().all(|lock| lock.process == now && lock.who == "ben@desk" && lock.run == dead.id), "{locks:?}");
    assert_eq!(store.run(&dead.id).expect("read").expect("there").process, now);
    let moves = store.audit(Some("a"), None, 10).expect("read");
    assert_eq!(moves.iter().filter(|entry| entry.action == Action::Move).count(), 1);
}

fn a_lock_is_taken_away_only_as_it_was_seen(room: &Room) {
    let store = room.open();
    let (first, second) = (run(Mode::Apply), run(Mode::Apply));
    store.take(&first, &keys(&["a", "b"]), "").expect("asked").or_refuse().expect("free");
    let seen = store.locks().expect("read");
    store.release(&first.id, Some(&keys(&["a"])), "anna@desk", "").expect("released");
    store.take(&second, &keys(&["a"]), "").expect("asked").or_refuse().expect("free");
    let gone = store.unlock(&seen, "root@desk", "it hangs").expect("asked");
    assert_eq!(gone, [seen[1].clone()]);
    assert_eq!(store.locks().expect("read").len(), 1, "what another run took meanwhile stays");
    let entry = &store.audit(Some("b"), None, 1).expect("read")[0];
    assert_eq!((entry.action, entry.who.as_str(), entry.reason.as_str()), (Action::Unlock, "root@desk", "it hangs"));
    assert_eq!(entry.run.as_deref(), Some(first.id.as_str()));
}

fn a_stack_is_begun_only_under_all_locks_of_its_run(room: &Room) {
    let store = room.open();
    let (mut mine, other) = (run(Mode::Apply), run(Mode::Apply));
    let set = keys(&["a", "b"]);
    store.begin(&mine, &[stack(&mine, "a", 0), stack(&mine, "b", 0)]).expect("begun");
    store.take(&mine, &set, "").expect("asked").or_refuse().expect("free");
    let begin = |run: &Run, key: &str| {
        let row = RunStack { state: StackState::Applying, ..stack(run, key, 0) };
        let line = Entry {
            id: store::new_id(),
            at: at(1),
            action: Action::Apply,
            who: run.who.clone(),
            repo: run.repo.clone(),
            stack: key.to_owned(),
            run: Some(run.id.clone()),
            reason: String::new(),
        };
        store.start(run, &set, &row, &line).expect("asked")
    };
    assert_eq!(begin(&mine, "a"), []);
    let locks = store.locks().expect("read");
    store.unlock(&locks[1..], "ben@forge", "it hangs").expect("unlocked");
    store.take(&other, &keys(&["b"]), "").expect("asked").or_refuse().expect("free");
    for lost in [begin(&mine, "a"), store.lost(&mine, &set).expect("read"), begin(&mine, "b")] {
        assert_eq!(lost.len(), 1);
        let (by, holder) = (lost[0].away.as_ref().expect("told"), lost[0].holder.as_ref().expect("held"));
        assert_eq!((lost[0].stack.as_str(), by.who.as_str(), &holder.run), ("b", "ben@forge", &other.id));
        assert_eq!(lost[0].told().len(), 2);
    }
    let states: Vec<StackState> = store.stacks(&mine.id).expect("read").iter().map(|stack| stack.state).collect();
    assert_eq!(states, [StackState::Applying, StackState::Pending], "nothing is written of what is not begun");
    let begun = store.audit(None, Some(&mine.id), 100).expect("read");
    assert_eq!(begun.iter().filter(|line| line.action == Action::Apply).count(), 1);
    // Somebody else took the run up.
    mine.process.pid += 1;
    let lost = store.lost(&mine, &set).expect("read");
    assert!(lost[0].away.is_none() && lost[0].told()[0].starts_with("`a` is held by run `"), "{lost:?}");
}

fn the_latest_check_of_a_name_counts(room: &Room) {
    let store = room.open();
    let run = run(Mode::Apply);
    let check = |stack: &str, name: &str, state| Check {
        run: run.id.clone(),
        stack: stack.to_owned(),
        name: name.to_owned(),
        state,
        summary: "3 findings".to_owned(),
        details: "one\ntwo".to_owned(),
        url: Some("https://example.com/1".to_owned()),
        who: "ci@runner".to_owned(),
        at: at(3),
    };
    store.put_check(&check("b", "cost", CheckState::Fail)).expect("written");
    store.put_check(&check("a", "policy", CheckState::Warn)).expect("written");
    store.put_check(&check("b", "cost", CheckState::Pass)).expect("written");
    let wanted = [check("a", "policy", CheckState::Warn), check("b", "cost", CheckState::Pass)];
    assert_eq!(store.checks(&run.id).expect("read"), wanted);
}

fn looked(stack: &str, state: DriftState, seconds: i64) -> Drift {
    Drift {
        id: store::new_id(),
        repo: "acme/infra".to_owned(),
        stack: stack.to_owned(),
        state,
        summary: Summary { changes: 1, ..Summary::default() },
        addresses: Addresses { changes: keys(&["terraform_data.a"]), ..Addresses::default() },
        error: None,
        commit: Some("0123abc".to_owned()),
        run: None,
        at: at(seconds),
        since: at(seconds),
    }
}

fn drift_remembers_since_when(room: &Room) {
    let store = room.open();
    let looks: Vec<Drift> = [
        (DriftState::Clean, 0),
        (DriftState::Drifted, 10),
        (DriftState::Drifted, 20),
        (DriftState::Failed, 30),
        (DriftState::Drifted, 40),
        (DriftState::Drifted, 50),
    ]
    .into_iter()
    .map(|(state, seconds)| looked("a", state, seconds))
    .collect();
    store.put_drift(&looks[..2]).expect("written");
    store.put_drift(&looks[2..]).expect("written");
    store.put_drift(&looks[5..]).expect("the same once more");
    store.put_drift(&[looked("b", DriftState::Clean, 5), looks[1].clone()]).expect("an old one as well");
    let found = store.drift("Acme/Infra").expect("read");
    assert_eq!(found.len(), 2);
    assert_eq!(found[0], Drift { since: at(40), ..looks[5].clone() });
    let history = store.drift_history("acme/infra", "a", 100).expect("read");
    let since: Vec<i64> = history.iter().map(|drift| (drift.since - at(0)).num_seconds()).collect();
    assert_eq!(since, [40, 40, 30, 10, 10, 0]);
    assert_eq!(store.drift_history("acme/infra", "a", 2).expect("read").len(), 2);
}

fn a_stack_that_is_gone_is_still_known(room: &Room) {
    let store = room.open();
    let seen = |key: &str, commit: &str| Seen {
        id: String::new(),
        repo: "acme/infra".to_owned(),
        key: key.to_owned(),
        backend: Some("s3".to_owned()),
        state: Some(format!("s3://bucket/{key}")),
        commit: Some(commit.to_owned()),
        first: at(0),
        last: at(0),
        removed: None,
    };
    let told = || {
        let all = store.seen("acme/infra").expect("read");
        let one = |seen: &Seen| {
            let removed = if seen.removed.is_some() { " removed" } else { "" };
            format!("{} {}{removed}", seen.key, seen.commit.clone().unwrap_or_default())
        };
        all.iter().map(one).collect::<Vec<_>>()
    };
    store.see("acme/infra", &[seen("a", "1"), seen("b", "1"), seen("a", "1")], true).expect("seen");
    store.see("acme/other", &[seen("z", "1")], true).expect("seen");
    let ids: Vec<String> = store.seen("acme/infra").expect("read").into_iter().map(|seen| seen.id).collect();
    store.see("acme/infra", &[seen("b", "2")], false).expect("seen");
    assert_eq!(told(), ["a 1", "b 2"], "a scan of a part says nothing of the rest");
    store.see("acme/infra", &[seen("b", "3")], true).expect("seen");
    assert_eq!(told(), ["a 1 removed", "b 3"]);
    let gone = store.seen("acme/infra").expect("read");
    assert_eq!(gone[0].state.as_deref(), Some("s3://bucket/a"));
    assert!(gone[0].first <= gone[0].last);
    store.see("acme/infra", &[seen("a", "4"), seen("b", "4")], true).expect("seen");
    assert_eq!(told(), ["a 4", "b 4"]);
    let again: Vec<String> = store.seen("acme/infra").expect("read").into_iter().map(|seen| seen.id).collect();
    assert_eq!(again, ids, "an id stays for ever");
}

fn runs_are_found_by_what_they_are(room: &Room) {
    let store = room.open();
    let mut ids = Vec::new();
    for i in 0..6 {
        let mut run = run(if i % 2 == 0 { Mode::Plan } else { Mode::Apply });
        run.repo = if i == 5 { "acme/other".to_owned() } else { run.repo };
        store.begin(&run, &[stack(&run, if i < 3 { "a" } else { "b" }, 0)]).expect("begun");
        std::thread::sleep(std::time::Duration::from_millis(2));
        ids.push(run.id);
    }
    let find = |filter: Filter| {
        let found = store.runs(&filter).expect("read");
        found.iter().map(|run| ids.iter().position(|id| *id == run.id).expect("known")).collect::<Vec<_>>()
    };
    let all = Filter::default();
    assert_eq!(find(all.clone()), [5, 4, 3, 2, 1, 0]);
    assert_eq!(find(Filter { repo: Some("Acme/infra".to_owned()), limit: Some(2), ..all.clone() }), [4, 3]);
    assert_eq!(find(Filter { mode: Some(Mode::Apply), stack: Some("b".to_owned()), ..all.clone() }), [5, 3]);
    assert_eq!(find(Filter { before: Some(ids[2].clone()), ..all.clone() }), [1, 0]);
    assert_eq!(find(Filter { state: Some(RunState::Failed), ..all }), [0; 0]);
}

fn what_is_old_goes_and_the_latest_stays(room: &Room) {
    let store = room.open();
    let day = 86_400;
    let run = run(Mode::Plan);
    for (key, seconds) in [("a", 0), ("b", 50 * day)] {
        let planned = Outcome { ended: at(seconds), ..outcome(&run, key, Phase::Plan) };
        store.put_outcome(&stack(&run, key, 0), &planned).expect("written");
    }
    let looks = [0, 1, 2].map(|days| looked("a", DriftState::Drifted, days * day));
    store.put_drift(&looks).expect("written");
    let entry = Entry {
        id: store::new_id(),
        at: at(-1000 * day),
        action: Action::Apply,
        who: "anna@desk".to_owned(),
        repo: String::new(),
        stack: "a".to_owned(),
        run: None,
        reason: String::new(),
    };
    store.note(&[entry.clone(), entry.clone()]).expect("noted");
    store.note(std::slice::from_ref(&entry)).expect("noted");
    let now = at(91 * day + 1);
    let wanted = Pruned { plan_texts: 2, drifts: 2 };
    assert_eq!(store.prune(at(60 * day), true).expect("counted"), Pruned { plan_texts: 1, drifts: 0 });
    assert_eq!(store.prune(now, true).expect("counted"), wanted);
    assert_eq!(store.prune(now, false).expect("removed"), wanted);
    assert_eq!(store.prune(now, false).expect("removed"), Pruned::default());
    assert_eq!(store.outcomes(&run.id).expect("read").len(), 2, "what came of it stays for ever");
    assert_eq!(store.plan_text(&run.id, "b", Phase::Plan).expect("read"), None);
    store.put_drift(&[looked("a", DriftState::Drifted, 3 * day)]).expect("written");
    let late = Run { started: at(1000 * day), ..crate::run(Mode::Plan) };
    store.begin(&late, &[]).expect("begun");
    let left = store.drift_history("acme/infra", "a", 10).expect("read");
    assert_eq!(left, [], "a run takes away what is past its time");
    assert_eq!(store.drift("acme/infra").expect("read")[0].at, at(3 * day));
    assert_eq!(store.audit(Some("a"), None, 10).expect("read"), [entry]);
}

fn ten_thousand_rows_are_one_transaction(room: &Room) {
    let store = room.open();
    let run = run(Mode::Plan);
    let stacks: Vec<RunStack> = (0..10_000).map(|i| stack(&run, &format!("stacks/{i:05}"), i % 9)).collect();
    let all: Vec<String> = stacks.iter().map(|stack| stack.stack.clone()).collect();
    let begun = std::time::Instant::now();
    store.begin(&run, &stacks).expect("begun");
    assert_eq!(store.take(&run, &all, "all").expect("asked"), Take::Taken { new: 10_000 });
    assert_eq!(store.stacks(&run.id).expect("read").len(), 10_000);
    assert_eq!(store.release(&run.id, Some(&all), "anna@desk", "").expect("asked").len(), 10_000);
    assert_eq!(store.audit(None, Some(&run.id), 30_000).expect("read").len(), 20_000);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

fn many_open_a_new_store_at_once(room: &Room) {
    let opened: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| room.open().locks().expect("read").len())).collect();
        threads.into_iter().map(|thread| thread.join().expect("opened")).collect()
    });
    assert_eq!(opened, [0; 8]);
}

/// A run on another machine, of which nobody here can say whether it is alive.
fn elsewhere(change: Option<&str>, pid: u32) -> Run {
    let process = Process { host: "ci-7".to_owned(), pid, ..Process::this("ci") };
    Run { process, change: change.map(str::to_owned), ..run(Mode::Apply) }
}

fn the_steps_of_the_corpus_end_as_it_says(room: &Room) {
    use suil::base::Plain;
    let store = room.open();
    let mut runs: std::collections::BTreeMap<String, Run> = Default::default();
    let (mut cases, mut steps) = (0, 0);
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/infra-graph");
    let mut folders: Vec<_> =
        std::fs::read_dir(corpus).expect("a corpus").map(|entry| entry.expect("an entry").path()).collect();
    folders.sort();
    for folder in folders.into_iter().filter(|folder| folder.join("case.yaml").exists()) {
        let read = |name: &str| {
            let bytes = std::fs::read(folder.join(name)).expect("a file");
            Plain::from_yaml(&String::from_utf8(bytes).expect("UTF-8")).expect("YAML")
        };
        let (case, expected) = (read("case.yaml"), read("expected.yaml"));
        let Some(asked) = case.get("lock_steps").and_then(Plain::as_list) else { continue };
        cases += 1;
        let want = expected.get("lock_steps").and_then(Plain::as_list).expect("what comes of the steps");
        assert_eq!(asked.len(), want.len());
        for (step, want) in asked.iter().zip(want) {
            steps += 1;
            let text = |key: &str| step.get(key).and_then(Plain::as_str).unwrap_or_default().to_owned();
            let stacks: Vec<String> = step
                .get("stacks")
                .and_then(Plain::as_list)
                .into_iter()
                .flatten()
                .map(|stack| stack.as_str().expect("a key").to_owned())
                .collect();
            let pr = step.get("pr").map(Plain::to_json).filter(|pr| pr.trim() != "0");
            let run = runs
                .entry(text("run"))
                .or_insert_with(|| {
                    let run = elsewhere(pr.as_deref(), 1);
                    store.begin(&run, &[]).expect("begun");
                    run
                })
                .clone();
            let mut found = vec![];
            match text("do").as_str() {
                "take" => match store.take(&run, &stacks, "").expect("an answer") {
                    Take::Taken { .. } => found.push(("granted", Plain::from(true))),
                    Take::Held(locks) => {
                        found.push(("granted", Plain::from(false)));
                        found.push(("conflicts", locks.iter().map(|lock| Plain::from(lock.stack.as_str())).collect()));
                    }
                },
                "release" => {
                    store.release(&run.id, None, "ci", "").expect("released");
                    found.push(("granted", Plain::from(true)));
                }
                "unlock" => {
                    let held: Vec<Lock> =
                        store.locks().expect("locks").into_iter().filter(|lock| stacks.contains(&lock.stack)).collect();
                    store.unlock(&held, "anna@desk", &text("reason")).expect("unlocked");
                    found.push(("granted", Plain::from(true)));
                }
                other => panic!("{other}"),
            }
            let name = |id: &str| runs.iter().find(|(_, run)| run.id == id).map(|(name, _)| name.clone());
            let held = store.locks().expect("locks");
            let held = held.iter().map(|lock| (lock.stack.clone(), Plain::from(name(&lock.run).expect("a run"))));
            found.push(("held", held.collect::<Plain>()));
            assert_eq!(Plain::from_iter(found).to_json(), want.to_json(), "{} {}", folder.display(), step.to_json());
        }
    }
    assert!(cases == 1 && steps == 10, "{cases} cases, {steps} steps");
}

fn locks_of_the_same_change_are_not_taken_from_who_is_alive(room: &Room) {
    let store = room.open();
    let alive = Run { change: Some("7".to_owned()), ..run(Mode::Apply) };
    let later = elsewhere(Some("7"), 2);
    for run in [&alive, &later] {
        store.begin(run, &[]).expect("begun");
    }
    let stacks = keys(&["stacks/a", "stacks/b"]);
    assert_eq!(store.take(&alive, &stacks[..1], "").expect("taken"), Take::Taken { new: 1 });
    let Take::Held(held) = store.take(&later, &stacks, "").expect("an answer") else { panic!("taken from the living") };
    assert_eq!((held.len(), store.locks().expect("locks").len()), (1, 1));
    let other = elsewhere(Some("8"), 3);
    store.begin(&other, &[]).expect("begun");
    assert!(matches!(store.take(&other, &stacks, "").expect("an answer"), Take::Held(_)));
    store.unlock(&held, "anna@desk", "test").expect("unlocked");
    assert_eq!(store.take(&later, &stacks, "").expect("taken"), Take::Taken { new: 2 });
    assert!(matches!(store.take(&other, &stacks, "").expect("an answer"), Take::Held(_)), "of another change");
    let again = elsewhere(Some("7"), 4);
    store.begin(&again, &[]).expect("begun");
    assert_eq!(store.take(&again, &stacks, "again").expect("taken"), Take::Taken { new: 2 });
    let entries = store.audit(Some("stacks/a"), Some(&again.id), 10).expect("the audit");
    assert_eq!(entries.iter().map(|entry| entry.action).collect::<Vec<_>>(), [Action::Move]);
}
