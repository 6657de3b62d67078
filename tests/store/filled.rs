//! A store as a few days of work leave it.

use chrono::{DateTime, TimeDelta, Utc};
use suil::base::clock;
use suil::infra::store::{
    self, Addresses, Check, CheckState, Mode, Outcome, Phase, Process, Run, RunStack, RunState, StackState, Store,
    Summary, Trigger,
};

/// Fills the store: a plan of yesterday, an apply that failed half way and whose process is gone, an apply of this very
/// process, and one of another machine. Gives the ids, the oldest first.
pub fn fill(store: &dyn Store) -> Vec<String> {
    let now = clock::now();
    let this = Process { host: here(), ..Process::this("anna") };
    let gone = Process { start: format!("{}9", this.start), pid: 4711, ..this.clone() };
    let away = Process { host: "runner-7".to_owned(), user: "ci".to_owned(), pid: 33, start: String::new() };
    let runs = [
        (Mode::Plan, RunState::Planned, "anna@desk", this.clone(), now - TimeDelta::hours(26), "a look"),
        (Mode::Apply, RunState::Failed, "anna@desk", gone, now - TimeDelta::minutes(50), "bigger subnets"),
        (Mode::Apply, RunState::Applying, "anna@desk", this, now - TimeDelta::seconds(5), ""),
        (Mode::Destroy, RunState::Applying, "ci@runner-7", away, now - TimeDelta::seconds(2), "job 81"),
    ];
    let mut ids = Vec::new();
    for (n, (mode, state, who, process, started, reason)) in runs.into_iter().enumerate() {
        let run = Run {
            id: store::new_id(),
            change: None,
            repo: "acme/infra".to_owned(),
            trigger: Trigger::Manual,
            mode,
            state,
            commit: Some("9f3c2ab417d04e3bb0ba6a4c2c1bb1d9a1f0c7de".to_owned()),
            tree: Some("feed".to_owned()),
            who: who.to_owned(),
            reason: reason.to_owned(),
            process,
            successor: None,
            started,
            ended: state.is_final().then(|| started + TimeDelta::seconds(72)),
        };
        let keys = match n {
            0 | 1 => vec!["stacks/prod/vpc", "stacks/prod/db", "stacks/prod/web:blue", "stacks/prod/web:green"],
            2 => vec!["stacks/dev/vpc"],
            _ => vec!["stacks/old/queue"],
        };
        let states = match n {
            0 => [StackState::Planned; 4],
            1 => [StackState::Applied, StackState::Failed, StackState::Blocked, StackState::Blocked],
            _ => [StackState::Applying; 4],
        };
        let stacks: Vec<RunStack> =
            keys.iter().zip(states).enumerate().map(|(i, (key, state))| stack(&run, key, i, state)).collect();
        store.begin(&run, &stacks).expect("begun");
        if n > 0 {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            store.take(&run, &keys, reason).expect("asked").or_refuse().expect("free");
        }
        if n < 2 {
            stacks.iter().for_each(|stack| outcomes(store, stack, started));
        }
        ids.push(run.id);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    store.put_check(&check(&ids[1], "stacks/prod/db", "cost", CheckState::Warn)).expect("written");
    store.put_check(&check(&ids[1], "stacks/prod/vpc", "policy", CheckState::Pass)).expect("written");
    ids
}

fn here() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

fn stack(run: &Run, key: &str, n: usize, state: StackState) -> RunStack {
    let blocked = state == StackState::Blocked;
    RunStack {
        run: run.id.clone(),
        stack: key.to_owned(),
        wave: n.min(2) as u32,
        reasons: vec![if n == 0 { "changed" } else { "dependent" }.to_owned()],
        via: if n == 0 { Vec::new() } else { vec!["stacks/prod/vpc".to_owned()] },
        environment: Some("prod".to_owned()),
        state,
        blocked_by: blocked.then(|| "stacks/prod/db".to_owned()),
        started: (!blocked).then_some(run.started),
        ended: (!blocked && state != StackState::Applying).then(|| run.started + TimeDelta::seconds(12)),
    }
}

fn outcomes(store: &dyn Store, stack: &RunStack, started: DateTime<Utc>) {
    let mut outcome = Outcome {
        run: stack.run.clone(),
        stack: stack.stack.clone(),
        phase: Phase::Plan,
        summary: Summary { adds: 2, replaces: 1, ..Summary::default() },
        addresses: Addresses {
            adds: vec!["terraform_data.a".to_owned(), "terraform_data.b[\"x\"]".to_owned()],
            replaces: vec!["terraform_data.c".to_owned()],
            ..Addresses::default()
        },
        digest: Some("ab".repeat(32)),
        file: Some(".suil/plans/stacks-prod-vpc-69df0ef0-9f3c2ab.tfplan".to_owned()),
        text: Some(
            "Terraform will perform the following actions:\n\n  # terraform_data.a will be created\n".to_owned(),
        ),
        error: None,
        unknown: Vec::new(),
        started,
        ended: started + TimeDelta::seconds(4),
    };
    if stack.stack == "stacks/prod/db" {
        let one = |letter: &str| vec![format!("terraform_data.{letter}")];
        let all = Summary { changes: 1, destroys: 1, imports: 1, moves: 1, output_changes: 1, ..outcome.summary };
        outcome.summary = all;
        let addresses = outcome.addresses.clone();
        outcome.addresses =
            Addresses { changes: one("d"), destroys: one("e"), imports: one("f"), moves: one("g"), ..addresses };
    }
    store.put_outcome(stack, &outcome).expect("written");
    if stack.state == StackState::Applied || stack.state == StackState::Failed {
        outcome.phase = Phase::Apply;
        outcome.text = None;
        outcome.unknown = vec!["vpc.id".to_owned()];
        outcome.error = (stack.state == StackState::Failed)
            .then(|| "Error: creating the database\n\n  on main.tf line 12, in resource \"terraform_data\" \"c\":\n  12: resource \"terraform_data\" \"c\" {\n\nthe quota is used up".to_owned());
        store.put_outcome(stack, &outcome).expect("written");
    }
}

fn check(run: &str, stack: &str, name: &str, state: CheckState) -> Check {
    Check {
        run: run.to_owned(),
        stack: stack.to_owned(),
        name: name.to_owned(),
        state,
        summary: "40 more a month".to_owned(),
        details: "db.t3.large\n".to_owned(),
        url: Some("https://example.com/cost/1".to_owned()),
        who: "ci@runner-7".to_owned(),
        at: clock::now(),
    }
}
