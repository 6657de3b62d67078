//! How long the catalogue of a large workspace takes, against reading and hashing the same files in the same run.
//!
//! `cargo bench --bench catalogue`, or `-- 1000` for one size. Needs `python3`, which makes the workspaces. Each size
//! is measured in a process of its own, so that its memory is its own. Times are those of the processor, which other
//! work on the machine does not stretch.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures, starts and prints")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use suil::base::{Mask, digest};
use suil::catalogue::{Catalogue, Selection, Workspace};
use suil::data::secret::Vault;

const SIZES: [u32; 2] = [1_000, 10_000];
const ROUNDS: usize = 5;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let Some(folder) = args.iter().find_map(|arg| arg.strip_prefix("child=")) {
        return child(Path::new(folder));
    }
    if let Some(folder) = args.iter().find_map(|arg| arg.strip_prefix("memory=")) {
        let before = peak_mib();
        let kept = built(Path::new(folder));
        println!("  peak {:.0} MiB with the catalogue of one build ({before:.0} before)", peak_mib());
        return drop(kept);
    }
    let sizes: Vec<u32> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if sizes.is_empty() { SIZES.to_vec() } else { sizes };
    let mut per_node = Vec::new();
    for size in sizes {
        let folder = tempfile::tempdir().expect("folder");
        let made = Command::new("python3")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/suil/gen.py"))
            .args(["--nodes", &size.to_string(), "--no-stubs", "--out"])
            .arg(folder.path())
            .status()
            .expect("python3");
        assert!(made.success());
        println!("{size} nodes");
        let text = ["child", "memory"].map(|mode| itself(mode, folder.path())).concat();
        print!("{text}");
        let build =
            text.lines().find_map(|line| line.strip_prefix("  build ")?.split_whitespace().next()?.parse::<f64>().ok());
        per_node.extend(build.map(|ms| (size, ms / f64::from(size))));
    }
    if let [(small, first), .., (large, last)] = per_node.as_slice() {
        println!("a node of {large} costs {:.2} x a node of {small} (1 is linear)", last / first);
    }
}

/// The output of another process of this benchmark.
fn itself(mode: &str, folder: &Path) -> String {
    let output = Command::new(std::env::current_exe().expect("itself"))
        .arg(format!("{mode}={}", folder.display()))
        .stderr(Stdio::inherit())
        .output()
        .expect("itself");
    assert!(output.status.success());
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn child(folder: &Path) {
    let baseline = best(|| {
        std::hint::black_box(read_and_hash(folder));
    });
    let build = best(|| {
        std::hint::black_box(built(folder));
    });
    let (_workspace, catalogue) = built(folder);
    let vault = Vault::new(None, Mask::new());
    let shown = timed(|| {
        for entry in &catalogue.entries {
            std::hint::black_box(entry.public(&vault).expect("public"));
        }
    });
    println!("  read and hash the same files {:.1} ms", ms(baseline));
    println!("  build {:.1} ms, {:.2} x reading and hashing", ms(build), build.as_secs_f64() / baseline.as_secs_f64());
    println!("  every entry expanded and made public, one by one: {:.1} ms", ms(shown));
}

fn built(folder: &Path) -> (Workspace, Catalogue) {
    let workspace = Workspace::open(folder).expect("workspace");
    let catalogue = Catalogue::build(&workspace, &Selection::default()).expect("catalogue");
    (workspace, catalogue)
}

fn read_and_hash(folder: &Path) -> usize {
    let mut count = 0;
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).expect("folder") {
            let entry = entry.expect("entry");
            if entry.file_type().expect("type").is_dir() {
                open.push(entry.path());
            } else {
                count += digest::sha256(&std::fs::read(entry.path()).expect("file")).len();
            }
        }
    }
    count
}

/// The time that this thread has spent on the processor.
fn on_processor() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("schedstat");
    Duration::from_nanos(stat.split_whitespace().next().and_then(|ns| ns.parse().ok()).expect("nanoseconds"))
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = on_processor();
    work();
    on_processor().saturating_sub(start)
}

fn best(mut work: impl FnMut()) -> Duration {
    (0..ROUNDS).map(|_| timed(&mut work)).min().unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The most memory that this process has held.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}
