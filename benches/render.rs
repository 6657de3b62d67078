//! How long renders take: the small, medium and large layers of the corpus's generator, as ratios to what the original
//! takes for them on two cores, and all of a hundred medium layers on one thread and on two.
//!
//! `cargo bench --bench render`. Needs `python3`, which makes the trees. Each figure is a whole run of the program, start
//! and files with it, as the original's are; the best of several. The run on one thread is bound to one core by `taskset`.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures, starts and prints")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A size of the generator, what the original takes for it, in seconds, and the most that suil may take.
const SIZES: [(&str, f64, f64); 3] = [("small", 0.7, 0.05), ("medium", 2.0, 0.1), ("large", 24.0, 0.4)];
const LAYER: &str = "stacks/kiln/layers/harbor";
const LAYERS: usize = 100;
const ROUNDS: usize = 9;

fn main() {
    let mut slow = Vec::new();
    for (size, original, most) in SIZES {
        let folder = tree(size);
        let taken = best(|| render(folder.path(), &[LAYER], None));
        let ratio = original / taken.as_secs_f64();
        println!("{size:<7} {:>8.1} ms, the original {original} s: {ratio:.0} times as fast", ms(taken));
        if taken.as_secs_f64() > most {
            slow.push(format!("{size} takes {:.1} ms, more than {:.0} ms", ms(taken), most * 1000.0));
        }
    }
    let folder = tree("medium");
    let layers = folder.path().join("stacks/kiln/layers");
    for at in 1..LAYERS {
        let copy = layers.join(format!("harbor_{at:03}"));
        std::fs::create_dir(&copy).expect("a layer");
        for entry in std::fs::read_dir(layers.join("harbor")).expect("a layer").flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_file()) {
                std::fs::copy(entry.path(), copy.join(entry.file_name())).expect("a file");
            }
        }
    }
    let one = best(|| render(folder.path(), &["--all"], Some("0")));
    let two = best(|| render(folder.path(), &["--all"], None));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (single, all) = (ms(one), ms(two));
    println!(
        "{LAYERS} medium layers: {single:.0} ms on one core, {all:.0} ms on {cores}: {:.2} times as fast",
        single / all
    );
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}

fn tree(size: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let generator = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks/gen.py");
    let made = Command::new("python3").arg(generator).arg(size).arg(folder.path()).stdout(Stdio::null()).status();
    assert!(made.expect("python3").success());
    folder
}

/// Renders, on these cores where any are named.
fn render(root: &Path, layers: &[&str], cores: Option<&str>) {
    let suil = env!("CARGO_BIN_EXE_suil");
    let mut command = match cores {
        Some(cores) => {
            let mut command = Command::new("taskset");
            command.args(["--cpu-list", cores, suil]);
            command
        }
        None => Command::new(suil),
    };
    command.current_dir(root).args(["infra", "render", "--init", "never"]).args(layers).stdout(Stdio::null());
    assert!(command.status().expect("suil").success());
}

fn best(mut work: impl FnMut()) -> Duration {
    let timed = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..ROUNDS).map(|_| timed(&mut work)).min().unwrap_or_default()
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
