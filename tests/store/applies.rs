//! Two whole `suil infra apply` at once over overlapping sets: in one tree, and on two hosts that share a server.

use crate::{open, room::Room, server};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use suil::infra::store::{RunState, Store};

const STAND_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/engine/stand-in.sh");
/// Both sets hold `b` and `c`, and name them in opposite order.
const SETS: [&str; 2] = ["stacks/a,stacks/b,stacks/c", "stacks/d,stacks/c,stacks/b"];
const OWN: [&str; 2] = ["a", "d"];
const HOSTS: [&str; 2] = ["desk", "forge"];
const USERS: [&str; 2] = ["anna", "ben"];
/// A command that ends neither way by then hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// Where both commands run: a tree each, or one; and the server where there is one.
struct Site {
    trees: Vec<Room>,
    url: Option<String>,
}

impl Site {
    fn of_one_tree() -> Site {
        Site { trees: vec![tree()], url: None }
    }

    fn of_two_hosts() -> Site {
        let server = server::server();
        Site { trees: vec![tree(), tree()], url: Some(server.url(&server.database())) }
    }

    fn tree(&self, side: usize) -> &Room {
        self.trees.get(side).unwrap_or(&self.trees[0])
    }

    fn host(&self, side: usize) -> String {
        match self.url {
            Some(_) => HOSTS[side].to_owned(),
            None => rustix::system::uname().nodename().to_string_lossy().into_owned(),
        }
    }

    fn store(&self) -> std::sync::Arc<dyn Store> {
        open(self.url.as_deref(), &self.trees[0].path())
    }

    /// Starts a command of one side, on a host of that name where there are two.
    fn start(&self, side: usize, arguments: &[&str]) -> Child {
        let suil = env!("CARGO_BIN_EXE_suil");
        let mut command = match self.url {
            None => Command::new(suil),
            Some(_) => {
                let mut command = Command::new("unshare");
                // Who is not root is, in a namespace of its own.
                command.args((!rustix::process::geteuid().is_root()).then_some("--map-root-user"));
                command.args(["--uts", "sh", "-c", "hostname \"$0\" && exec \"$@\"", HOSTS[side], suil]);
                command
            }
        };
        let tree = self.tree(side).path();
        command.args(arguments).args(["--repo", "acme/infra"]).current_dir(&tree).env_clear();
        command.env("PATH", "/usr/bin:/bin").env("HOME", &tree).env("COLUMNS", "80").env("USER", USERS[side]);
        command.env("SUIL_TERRAFORM_BIN", STAND_IN).envs(self.url.iter().map(|url| ("SUIL_STORE", url)));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("suil starts")
    }

    fn well(&self, side: usize, arguments: &[&str]) {
        let output = self.start(side, arguments).wait_with_output().expect("it ends");
        assert!(output.status.success(), "{output:?}");
    }

    fn applied(&self) -> Vec<String> {
        let read = |tree: &Room| fs::read_to_string(tree.path().join("calls")).unwrap_or_default();
        let calls: String = self.trees.iter().map(read).collect();
        let mut found: Vec<String> =
            calls.lines().filter_map(|line| line.strip_suffix(": applied")).map(str::to_owned).collect();
        found.sort();
        found
    }

    /// Takes away what the round before applied.
    fn forget(&self) {
        for tree in &self.trees {
            for name in ["calls", "go", "state/a", "state/b", "state/c", "state/d"] {
                let _ = fs::remove_file(tree.path().join(name));
            }
        }
    }
}

/// Four stacks; what the sets share waits for a word of the test while it is applied.
fn tree() -> Room {
    let room = Room::with(&[("stackorder.yaml", "version: 1\nstacks: {backends: all}\n")]);
    for name in ["a", "b", "c", "d"] {
        room.write(&format!("stacks/{name}/main.tf"), "terraform {\n  backend \"local\" {}\n}\n");
    }
    room.write("stacks/c/.stackorder.yaml", "depends_on: [stacks/b]\n");
    let go: PathBuf = room.path().join("go");
    room.write("does/b/until", &go.display().to_string());
    room
}

/// Both begin at once. One is refused while the other holds what they share, and that one finishes.
fn contend(site: &Site, round: usize, fresh: bool) -> usize {
    site.forget();
    if !fresh {
        (0..site.trees.len()).for_each(|side| site.well(side, &["infra", "plan", "--all"]));
    }
    let before = site.store().runs(&Default::default()).expect("read").len();
    let first = round % 2;
    let mut children: Vec<(usize, Child)> = Vec::new();
    for side in [first, 1 - first] {
        let reason = format!("round {round}");
        let mut words = vec!["infra", "apply", "--confirm", "--stacks", SETS[side], "--reason", &reason];
        words.extend(fresh.then_some("--fresh"));
        children.push((side, site.start(side, &words)));
        std::thread::sleep(Duration::from_millis(round as u64 * 7 % 40));
    }
    let begun = Instant::now();
    let ended = |children: &mut Vec<(usize, Child)>| {
        children.iter_mut().position(|(_, child)| child.try_wait().expect("its state").is_some())
    };
    let at = loop {
        match ended(&mut children) {
            Some(at) => break at,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
        assert!(begun.elapsed() < LIMIT, "both hang");
    };
    let (loser, child) = children.swap_remove(at);
    let lost = child.wait_with_output().expect("its end");
    let (stdout, stderr) = (String::from_utf8_lossy(&lost.stdout), String::from_utf8_lossy(&lost.stderr));
    let (winner, child) = children.remove(0);
    let pid = child.id();
    assert_eq!(lost.status.code(), Some(3), "round {round}\n{stdout}{stderr}");
    assert!(!site.applied().contains(&OWN[loser].to_owned()), "{stdout}{stderr}");
    let locks = site.store().locks().expect("read");
    let held: Vec<&str> = locks.iter().map(|lock| lock.stack.as_str()).collect();
    let mut set: Vec<&str> = SETS[winner].split(',').collect();
    set.sort_unstable();
    assert_eq!(held, set, "the winner holds its set whole\n{stdout}{stderr}");
    let run = &locks[0].run;
    let (user, host) = (USERS[winner], site.host(winner));
    assert!(stderr.starts_with("suil: 2 stacks are locked by other runs\n"), "{stderr}");
    for stack in ["stacks/b", "stacks/c"] {
        let told = format!("note: `{stack}` is held by run `{run}`: {user}@{host}, process {pid} on {host}, since 20");
        let note = stderr.lines().find(|line| line.starts_with(&told)).unwrap_or_else(|| panic!("{told}\n{stderr}"));
        assert!(
            note.ends_with(&format!(" s ago: round {round}")) || note.ends_with(&format!("Z, now: round {round}")),
            "{note}"
        );
    }
    for tree in &site.trees {
        tree.write("go", "");
    }
    let won = child.wait_with_output().expect("its end");
    assert!(won.status.success(), "round {round}: the winner\n{won:?}");
    let mut wanted: Vec<&str> = set.iter().filter_map(|key| key.strip_prefix("stacks/")).collect();
    wanted.sort_unstable();
    assert_eq!(site.applied(), wanted, "each of its set once, and nothing else");
    let store = site.store();
    assert_eq!(store.locks().expect("read"), []);
    let runs = store.runs(&Default::default()).expect("read");
    for run in &runs[..runs.len() - before] {
        let wanted = if run.who.starts_with(user) { RunState::Applied } else { RunState::Failed };
        assert_eq!(run.state, wanted, "{run:?}");
    }
    winner
}

fn rounds(site: &Site, count: usize) {
    let winners: Vec<usize> = (0..count).map(|round| contend(site, round, round % 3 == 2)).collect();
    assert!(winners.contains(&0) && winners.contains(&1), "{winners:?}");
}

#[test]
fn of_two_applies_in_one_tree_one_wins_whole_and_the_other_is_told_who_holds_its_stacks() {
    rounds(&Site::of_one_tree(), 24);
}

#[test]
fn of_two_applies_on_two_hosts_one_wins_whole_and_the_other_is_told_who_holds_its_stacks() {
    rounds(&Site::of_two_hosts(), 24);
}
