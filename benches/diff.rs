//! How long `suil diff HEAD~1` takes on a large workspace after a change of one line in a role, against building the
//! catalogue and against `git diff --name-only`, in the same run.
//!
//! `cargo bench --bench diff`, or `-- 10000` for another size than 1,000 nodes. Needs `python3`, which makes the
//! workspace, and `git`. Times are those of the clock, the best of several; the ratio to the catalogue build is one of
//! times on the processor, which other work on the machine does not stretch.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures, starts and prints")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use suil::catalogue::{Catalogue, Selection, Workspace};

const NODES: u32 = 1_000;
const ROUNDS: usize = 9;

fn main() {
    let size = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(NODES);
    let folder = tempfile::tempdir().expect("folder");
    let root = folder.path();
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/suil/gen.py");
    let nodes = size.to_string();
    let made =
        Command::new("python3").arg(generator).args(["--nodes", &nodes, "--no-stubs", "--out"]).arg(root).status();
    assert!(made.expect("python3").success());
    git(root, &["init", "--quiet"]);
    commit(root);
    let role = root.join("data/roles/delta.yaml");
    let text = std::fs::read_to_string(&role).expect("a role");
    let line = text.lines().find(|line| line.starts_with("  coral_limit: ")).expect("a line");
    std::fs::write(&role, text.replacen(line, "  coral_limit: 1", 1)).expect("a role");
    commit(root);

    let told = run(root, env!("CARGO_BIN_EXE_suil"), &["diff", "HEAD~1"]);
    let named = told.split_whitespace().filter(|word| word.contains(".test")).count();
    assert!(named > 0 && !told.contains(".reef.test") && told.contains(".delta.test"), "{told}");

    let build = || {
        let workspace = Workspace::open(root).expect("workspace");
        std::hint::black_box(Catalogue::build(&workspace, &Selection::default()).expect("catalogue"));
    };
    let catalogue = best(build);
    let start = on_processor();
    (0..ROUNDS).for_each(|_| build());
    let building = (on_processor() - start) / ROUNDS as u32;
    let names = best(|| drop(run(root, "git", &["diff", "--name-only", "HEAD~1"])));
    let before = children();
    let diff = best(|| drop(run(root, env!("CARGO_BIN_EXE_suil"), &["diff", "HEAD~1"])));
    let processor = (children() - before) / ROUNDS as u32;
    println!("{size} nodes, one line of one role");
    println!("  catalogue build {:.1} ms ({:.1} ms of the processor)", ms(catalogue), ms(building));
    println!("  git diff --name-only {:.1} ms", ms(names));
    println!("  suil diff HEAD~1 {:.1} ms ({:.1} ms of the processor)", ms(diff), ms(processor));
    let times = |one: Duration, base: Duration| one.as_secs_f64() / base.as_secs_f64();
    let (build, git) = (times(processor, building), times(diff, names));
    println!("  {build:.2} x the catalogue build, {git:.2} x git diff --name-only");
}

fn commit(root: &Path) {
    git(root, &["add", "--all"]);
    git(root, &["-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "--quiet", "--message", "bench"]);
}

fn git(root: &Path, args: &[&str]) {
    run(root, "git", args);
}

fn run(root: &Path, program: &str, args: &[&str]) -> String {
    let mut command = Command::new(program);
    command.current_dir(root).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").stderr(Stdio::inherit());
    let output = command.output().expect("a program");
    assert!(output.status.success(), "{program} {args:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn best(mut work: impl FnMut()) -> Duration {
    let timed = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..ROUNDS).map(|_| timed(&mut work)).min().unwrap_or_default()
}

/// The time that this thread has spent on the processor.
fn on_processor() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("schedstat");
    Duration::from_nanos(stat.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("nanoseconds"))
}

/// The time that the children which have ended spent on the processor.
fn children() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("stat");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // `cutime` and `cstime`, in ticks of 10 ms.
    let ticks: u64 = [13, 14].iter().filter_map(|at| fields.get(*at)?.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
