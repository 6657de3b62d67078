//! A lookup that finds fewer nodes than in the last run.

use crate::room::Room;

fn room() -> Room {
    let room = Room::new(&["pool"]);
    let main = "def resources(config):\n    return [file(\"@/pool\", content = \"\\n\".join(config.of) + \"\\n\")]\n";
    room.module("pool", "of = t.list(t.string(), default = [])", main);
    room.write("modules/net/requires.yaml", "");
    room.write("data/roles/web.yaml", "modules: [net]\n");
    for n in 1..=3 {
        room.write(&format!("data/nodes/web-{n}.example.com.yaml"), &format!("role: web\nnet: {{ip: 192.0.2.{n}}}\n"));
    }
    room.data("pool:\n  of: !LOOKUP {field: net.ip, role: web}\n");
    room
}

const WARNING: &str = "\
suil: warning: lookup of `net.ip` finds 2 nodes, 3 in the last run
 --> data/nodes/here.example.com.yaml:3:7
  |
3 |   of: !LOOKUP {field: net.ip, role: web}
  |       ^^^^^^^
note: it finds nothing any more on `web-2.example.com`
";

#[test]
fn a_pool_that_shrinks_is_warned_of_until_it_is_applied() {
    let room = room();
    let quiet = |ran: crate::room::Ran| assert!(!ran.stderr.contains("in the last run"), "{}", ran.stderr);
    quiet(room.apply(&["--confirm"]).expect(0));
    assert_eq!(room.there("pool"), "192.0.2.1\n192.0.2.2\n192.0.2.3\n");
    quiet(room.apply(&["--confirm"]).expect(0));
    std::fs::remove_file(room.path().join("data/nodes/web-2.example.com.yaml")).expect("removed");
    // A dry run tells, and takes nothing from the apply that follows.
    for more in ["--dry-run", "--dry-run", "--confirm"] {
        let ran = room.apply(&[more]).expect(0);
        assert!(ran.stderr.contains(WARNING), "{more}: {}", ran.stderr);
    }
    assert_eq!(room.there("pool"), "192.0.2.1\n192.0.2.3\n");
    quiet(room.apply(&["--confirm"]).expect(0));
    room.write("data/nodes/web-4.example.com.yaml", "role: web\nnet: {ip: 192.0.2.4}\n");
    quiet(room.apply(&["--confirm"]).expect(0));
}

/// A broken record is none, and a run of other nodes in between does not matter.
#[test]
fn the_last_run_that_had_the_lookup_counts() {
    let room = room();
    room.apply(&["--confirm"]).expect(0);
    for name in ["2999-01-01T00-00-00Z", "2999-01-02T00-00-00Z"] {
        room.write(&format!(".runs/{name}/lookups.yaml"), "net.ip role=db: [a, b, c, d]\n");
    }
    room.write(".runs/2999-01-03T00-00-00Z/lookups.yaml", "[: {");
    std::fs::remove_file(room.path().join("data/nodes/web-2.example.com.yaml")).expect("removed");
    let ran = room.apply(&["--dry-run"]).expect(0);
    assert!(ran.stderr.contains(WARNING), "{}", ran.stderr);
}

/// What a pool had is known after any number of dry runs, runs of other nodes, and a prune of all that can go.
#[test]
fn what_a_lookup_found_outlives_other_runs_and_a_prune() {
    let room = room();
    room.write("data/roles/plain.yaml", "modules: []\n");
    room.write("data/nodes/other.example.com.yaml", "role: plain\n");
    room.apply(&["--confirm"]).expect(0);
    for _ in 0..2 {
        room.suil(&["apply", "--node", "other.example.com", "--confirm"]).expect(0);
    }
    for n in 0..70 {
        room.write(&format!(".runs/2999-01-01T00-00-{:02}Z-{n}/plan.json", n % 60), "{}");
    }
    let ran = room.suil(&["runs", "prune", "--keep", "0"]).expect(0);
    assert!(ran.stdout.ends_with("; 2 kept\n"), "the newest and the latest: {}", ran.stdout);
    std::fs::remove_file(room.path().join("data/nodes/web-2.example.com.yaml")).expect("removed");
    let ran = room.apply(&["--dry-run"]).expect(0);
    assert!(ran.stderr.contains(WARNING), "{}", ran.stderr);
}
