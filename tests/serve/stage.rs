//! A workspace with everything that the server shows: nodes, stacks, runs, locks, drift.

use chrono::{DateTime, TimeDelta, Utc};
use std::fs;
use std::path::{Path, PathBuf};
use suil::infra::store::{
    self, Action, Addresses, Check, CheckState, Drift, DriftState, Entry, Mode, Outcome, Phase, Process, Run, RunStack,
    RunState, Seen, StackState, Store, Summary, Take, Trigger,
};
use tempfile::TempDir;

/// The tree has no remote, so it is called as its folder.
const REPO: &str = "acme";

/// A text that stands in files of the workspace, and must never be served.
pub const CANARY: &str = "canary-7f3a9c-plaintext";

pub struct Stage {
    folder: TempDir,
    /// Runs by what they are: `applied`, `failed`, `going`.
    pub applied: String,
    pub failed: String,
    pub going: String,
}

impl Stage {
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("acme")
    }
}

/// A workspace with nodes and stacks, and a store with three runs.
pub fn whole() -> Stage {
    let stage = empty();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data-example"), &stage.path());
    stacks(&stage);
    filled(stage)
}

/// Stacks alone, and the same store.
pub fn stacks_alone() -> Stage {
    let stage = empty();
    stacks(&stage);
    filled(stage)
}

/// Nodes alone.
pub fn nodes_alone() -> Stage {
    let stage = empty();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("data-example"), &stage.path());
    stage
}

/// Layers and nodes that read of each other: the data of `web-1` and `web-2` reads an output of `net`, and a template of
/// `hosts` reads facts of them and the data of `db-1`.
pub fn linked() -> Stage {
    let stage = empty();
    let reads = "modules: [page]\npage:\n  links: !LOOKUP {from: facts, field: infra.net/prod.address}\n";
    let hosts = "# {{ lookup('page.title', role='db') | join }}\n# {{ lookup('page.height', role='web', **{'from': 'facts'}) | join }}\n";
    let facts = "facts:\n  net/prod: {address: 192.0.2.7}\n  layers: {net/prod: {clean: true}}\n";
    for (path, text) in [
        ("data/common.yaml", "hierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n"),
        ("data/roles/cloud.yaml", "modules: [infra]\ninfra: {root: ., layers: [net/prod, hosts/prod]}\n"),
        ("data/roles/web.yaml", reads),
        ("data/roles/db.yaml", "modules: [page]\n"),
        ("data/nodes/cloud.example.com.yaml", "role: cloud\n"),
        ("data/nodes/web-1.example.com.yaml", "role: web\n"),
        ("data/nodes/web-2.example.com.yaml", "role: web\n"),
        ("data/nodes/db-1.example.com.yaml", "role: db\npage: {title: Base}\n"),
        (
            "modules/page/code/config.star",
            "Config = schema(title = t.string(default = \"\"), links = t.list(t.string(), default = []))\n",
        ),
        ("modules/page/code/main.star", "def resources(config):\n    return []\n"),
        ("facts/cloud.example.com/infra.yaml", facts),
        ("environments/prod/env.tfvars", "town = \"harbor\"\n"),
        ("stacks/net/base/main.tf", "output \"address\" { value = \"{{ var.town }}\" }\n"),
        ("stacks/net/layers/prod/layer.tfvars", ""),
        ("stacks/hosts/base/main.tf", hosts),
        ("stacks/hosts/layers/prod/layer.tfvars", ""),
    ] {
        write(&stage.path(), path, text);
    }
    stage
}

fn empty() -> Stage {
    let folder = tempfile::tempdir().expect("a folder");
    let stage = Stage { folder, applied: String::new(), failed: String::new(), going: String::new() };
    fs::create_dir_all(stage.path()).expect("a folder");
    stage
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
    fs::write(path, text).expect("a file");
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder to copy") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        match path.is_dir() {
            true => copy(&path, &target),
            false => drop(fs::copy(&path, &target).expect("a copy")),
        }
    }
}

const PARTS: [&str; 6] = ["network", "dns", "cluster", "database", "apps", "monitoring"];

/// Six stacks in two environments, which read each other's states and use modules.
fn stacks(stage: &Stage) {
    let root = &stage.path();
    let service = stage.folder.path().join("service.git");
    tagged(&service, &["v1.4.0", "v1.5.0", "v2.0.0-rc1", "v2.0.0"]);
    // The server is started with this folder as its home: there git learns where the repository really is.
    let instead =
        format!("[url \"file://{}\"]\n\tinsteadOf = https://git.example.com/acme/service.git\n", service.display());
    write(root, ".gitconfig", &instead);
    write(
        root,
        "stackorder.yaml",
        "version: 1\nstacks:\n  instances:\n    from_var_files: \"*.tfvars\"\nenvironments:\n  \":prod\": production\n  \":staging\": staging\n",
    );
    for part in PARTS {
        let mut code = format!(
            "terraform {{\n  backend \"s3\" {{\n    bucket = \"acme-state\"\n    key    = \"{part}.tfstate\"\n    region = \"eu-west-1\"\n  }}\n}}\n"
        );
        let module = match part {
            "network" => "../../modules/vpc",
            "cluster" => "../../modules/cluster",
            "apps" => "git::https://git.example.com/acme/service.git?ref=v1.4.0",
            _ => "localhost:1/acme/tags/aws",
        };
        code.push_str(&format!("module \"main\" {{\n  source = \"{module}\"\n}}\n"));
        write(root, &format!("stacks/{part}/main.tf"), &code);
        let needs: &[&str] = match part {
            "cluster" => &["network"],
            "database" => &["network"],
            "apps" => &["cluster", "database", "dns"],
            "monitoring" => &["cluster"],
            _ => &[],
        };
        let mut own = format!(
            "backend_config:\n  - \"key={{{{ .Name }}}}/{{{{ .Instance }}}}.tfstate\"\n  - secret_key={CANARY}\n"
        );
        if !needs.is_empty() {
            own.push_str("depends_on:\n");
            needs.iter().for_each(|need| own.push_str(&format!("  - stacks/{need}\n")));
        }
        if part == "dns" {
            own.push_str("depends_on:\n  - acme/platform//stacks/zones\n");
        }
        write(root, &format!("stacks/{part}/.stackorder.yaml"), &own);
        for instance in ["prod", "staging"] {
            write(root, &format!("stacks/{part}/{instance}.tfvars"), &format!("secret = \"{CANARY}\"\n"));
        }
    }
    for module in ["vpc", "cluster", "labels"] {
        let inner = if module == "labels" { "" } else { "module \"labels\" {\n  source = \"../labels\"\n}\n" };
        write(root, &format!("modules/{module}/main.tf"), &format!("variable \"name\" {{}}\n{inner}"));
    }
}

/// A repository with one commit and these tags.
fn tagged(folder: &Path, tags: &[&str]) {
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null");
        let output = command.output().expect("git");
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let path = folder.to_string_lossy().into_owned();
    git(&["init", "--quiet", "--bare", &path]);
    let tree = git(&["-C", &path, "hash-object", "-t", "tree", "-w", "--stdin"]);
    let commit = git(&["-C", &path, "commit-tree", "-m", "first", &tree]);
    for tag in tags {
        git(&["-C", &path, "tag", tag, &commit]);
    }
}

fn key(part: &str, instance: &str) -> String {
    format!("stacks/{part}:{instance}")
}

fn run(mode: Mode, process: Process, started: DateTime<Utc>) -> Run {
    Run {
        id: store::new_id(),
        change: None,
        repo: REPO.to_owned(),
        trigger: Trigger::Manual,
        mode,
        state: RunState::Pending,
        commit: Some("3f2a9c0d1e5b77889900112233445566778899aa".to_owned()),
        tree: None,
        who: "anna@desk".to_owned(),
        reason: "new subnets".to_owned(),
        process,
        successor: None,
        started,
        ended: None,
    }
}

fn part(run: &Run, key: &str, wave: u32, reasons: &[&str], via: &[&str]) -> RunStack {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    RunStack {
        run: run.id.clone(),
        stack: key.to_owned(),
        wave,
        reasons: texts(reasons),
        via: texts(via),
        environment: Some("production".to_owned()),
        state: StackState::Pending,
        blocked_by: None,
        started: None,
        ended: None,
    }
}

/// The plan's waves of `instance`.
fn set(run: &Run, instance: &str) -> Vec<RunStack> {
    let network = key("network", instance);
    let (cluster, database) = (key("cluster", instance), key("database", instance));
    vec![
        part(run, &network, 0, &["module"], &["modules/vpc"]),
        part(run, &cluster, 1, &["dependent"], &[&network]),
        part(run, &database, 1, &["changed", "dependent"], &[&network]),
        part(run, &key("apps", instance), 2, &["dependent"], &[&cluster, &database]),
        part(run, &key("monitoring", instance), 2, &["dependent"], &[&cluster]),
    ]
}

const PLAN: &str = "Terraform will perform the following actions:\n\n  # aws_subnet.private[0] will be created\n  + resource \"aws_subnet\" \"private\" {\n      + cidr_block = \"10.0.1.0/24\"\n    }\n\n  # aws_route_table.main will be updated in-place\n  ~ resource \"aws_route_table\" \"main\" {\n      ~ tags = {}\n    }\n\n  # aws_eip.old will be destroyed\n  - resource \"aws_eip\" \"old\" {\n    }\n\nPlan: 1 to add, 1 to change, 1 to destroy.\n";

fn outcome(stack: &RunStack, phase: Phase, at: DateTime<Utc>, error: Option<&str>) -> Outcome {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    Outcome {
        run: stack.run.clone(),
        stack: stack.stack.clone(),
        phase,
        summary: Summary { adds: 1, changes: 1, destroys: 1, output_changes: 1, ..Summary::default() },
        addresses: Addresses {
            adds: texts(&["aws_subnet.private[0]"]),
            changes: texts(&["aws_route_table.main"]),
            destroys: texts(&["aws_eip.old"]),
            ..Addresses::default()
        },
        digest: Some("a3f1".repeat(16)),
        file: Some(".suil/plans/x.tfplan".to_owned()),
        text: Some(PLAN.to_owned()),
        error: error.map(str::to_owned),
        unknown: Vec::new(),
        started: at,
        ended: at + TimeDelta::seconds(41),
    }
}

fn filled(mut stage: Stage) -> Stage {
    let store = store::open(None, &stage.path()).expect("a store");
    let (desk, ci) = (Process::this("anna"), Process { host: "ci-7".to_owned(), ..Process::this("ci") });
    let gone = Process { start: format!("{}0", desk.start), ..desk.clone() };
    let now = Utc::now();
    let keys: Vec<Seen> = PARTS
        .iter()
        .flat_map(|part| ["prod", "staging"].map(|instance| key(part, instance)))
        .chain(["stacks/legacy".to_owned()])
        .map(|key| Seen {
            id: store::new_id(),
            repo: REPO.to_owned(),
            state: Some(format!("s3://acme-state/{}", key.replace(':', "/"))),
            key,
            backend: Some("s3".to_owned()),
            commit: None,
            first: now - TimeDelta::days(40),
            last: now,
            removed: None,
        })
        .collect();
    store.see(REPO, &keys, true).expect("seen");
    let here: Vec<Seen> = keys.iter().filter(|seen| seen.key != "stacks/legacy").cloned().collect();
    store.see(REPO, &here, true).expect("seen again, without one");

    stage.applied = applied(&*store, ci, now - TimeDelta::hours(5));
    stage.failed = failed(&*store, gone, now - TimeDelta::minutes(50));
    stage.going = going(&*store, desk, now - TimeDelta::minutes(2));
    drifts(&*store, now);
    stage
}

fn applied(store: &dyn Store, process: Process, at: DateTime<Utc>) -> String {
    let run = Run { who: "ci@ci-7".to_owned(), trigger: Trigger::Schedule, ..run(Mode::Apply, process, at) };
    let stacks = set(&run, "staging");
    store.begin(&run, &stacks).expect("begun");
    for state in [RunState::Planning, RunState::Planned, RunState::Applying] {
        store.advance(&run.id, state).expect("forward");
    }
    for stack in &stacks {
        let from = at + TimeDelta::seconds(60 * i64::from(stack.wave));
        for phase in [Phase::Plan, Phase::Apply] {
            let state = if stack.stack.contains("monitoring") { StackState::Noop } else { StackState::Applied };
            let stack =
                RunStack { state, started: Some(from), ended: Some(from + TimeDelta::seconds(80)), ..stack.clone() };
            store.put_outcome(&stack, &outcome(&stack, phase, from, None)).expect("an outcome");
        }
    }
    store.advance(&run.id, RunState::Applied).expect("the end");
    run.id
}

fn failed(store: &dyn Store, process: Process, at: DateTime<Utc>) -> String {
    let run = run(Mode::Apply, process, at);
    let stacks = set(&run, "prod");
    store.begin(&run, &stacks).expect("begun");
    let keys: Vec<String> = stacks.iter().map(|stack| stack.stack.clone()).collect();
    assert!(matches!(store.take(&run, &keys, "new subnets").expect("asked"), Take::Taken { .. }));
    for state in [RunState::Planning, RunState::Planned, RunState::Applying] {
        store.advance(&run.id, state).expect("forward");
    }
    for (n, stack) in stacks.iter().enumerate() {
        let from = at + TimeDelta::seconds(60 * i64::from(stack.wave));
        let (state, error) = match n {
            0 | 2 => (StackState::Applied, None),
            1 => (
                StackState::Failed,
                Some(
                    "Error: creating EKS cluster: quota exceeded\n\n  with module.main.aws_eks_cluster.this,\n  on main.tf line 14\n",
                ),
            ),
            _ => (StackState::Blocked, None),
        };
        let blocked_by = (state == StackState::Blocked).then(|| key("cluster", "prod"));
        let stack = RunStack {
            state,
            blocked_by,
            started: Some(from),
            ended: Some(from + TimeDelta::seconds(70)),
            ..stack.clone()
        };
        store.put_outcome(&stack, &outcome(&stack, Phase::Plan, from, None)).expect("an outcome");
        if stack.blocked_by.is_none() {
            store
                .put_outcome(&stack, &outcome(&stack, Phase::Apply, from + TimeDelta::seconds(50), error))
                .expect("an outcome");
        }
    }
    let check = |name: &str, state, summary: &str| Check {
        run: run.id.clone(),
        stack: key("network", "prod"),
        name: name.to_owned(),
        state,
        summary: summary.to_owned(),
        details: "rule 17: a public subnet has no flow log".to_owned(),
        url: None,
        who: "ci@ci-7".to_owned(),
        at,
    };
    store.put_check(&check("policy", CheckState::Warn, "1 of 40 rules warns")).expect("a check");
    store.put_check(&check("cost", CheckState::Pass, "+3.20 a month")).expect("a check");
    store.advance(&run.id, RunState::Failed).expect("the end");
    store.release(&run.id, Some(&keys[2..]), "anna@desk", "the run ended").expect("released");
    store
        .note(&[Entry {
            id: store::new_id(),
            at,
            action: Action::Apply,
            who: "anna@desk".to_owned(),
            repo: REPO.to_owned(),
            stack: key("network", "prod"),
            run: Some(run.id.clone()),
            reason: "new subnets".to_owned(),
        }])
        .expect("noted");
    run.id
}

fn going(store: &dyn Store, process: Process, at: DateTime<Utc>) -> String {
    let run = run(Mode::Plan, process, at);
    let stacks = vec![
        part(&run, &key("dns", "prod"), 0, &["requested"], &[]),
        part(&run, &key("dns", "staging"), 0, &["changed"], &[]),
    ];
    store.begin(&run, &stacks).expect("begun");
    store.advance(&run.id, RunState::Planning).expect("forward");
    let mut first = stacks[0].clone();
    (first.state, first.started) = (StackState::Planning, Some(at));
    store.put_stacks(&[first]).expect("a stack");
    run.id
}

fn drifts(store: &dyn Store, now: DateTime<Utc>) {
    let drift = |key: String, state, adds| Drift {
        id: store::new_id(),
        repo: REPO.to_owned(),
        stack: key,
        state,
        summary: Summary { changes: adds, ..Summary::default() },
        addresses: Addresses::default(),
        error: (state == DriftState::Failed).then(|| "Error: no valid credential sources found".to_owned()),
        commit: None,
        run: None,
        at: now - TimeDelta::hours(3),
        since: now - TimeDelta::hours(3),
    };
    store
        .put_drift(&[
            drift(key("network", "prod"), DriftState::Drifted, 2),
            drift(key("dns", "prod"), DriftState::Clean, 0),
            drift(key("cluster", "staging"), DriftState::Clean, 0),
            drift(key("apps", "staging"), DriftState::Failed, 0),
        ])
        .expect("drift");
}
