//! How long a scan of many stacks takes, cold and warm, and `suil infra affected` after a change of one file, against
//! `git diff --name-only` in the same run, in turns and each by itself; with the memory that it takes.
//!
//! `cargo bench --bench graph`, or `-- 10000` for another size than 1,000 stacks. Needs `git`. Times are those of the
//! clock, the best of several.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures, starts and prints")]

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const STACKS: usize = 1_000;
/// Modules for each hundred stacks.
const MODULES: usize = 30;
const ROUNDS: usize = 25;

fn main() {
    let size = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(STACKS);
    let folder = tempfile::tempdir().expect("folder");
    let root = folder.path();
    let modules = size * MODULES / 100;
    let files = generate(root, size, modules);
    git(root, &["init", "--quiet"]);
    git(root, &["add", "--all"]);
    git(root, &["-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "--quiet", "--message", "bench"]);
    // An index as young as its files makes git read them all.
    std::thread::sleep(Duration::from_millis(1_200));
    git(root, &["update-index", "--really-refresh"]);
    git(root, &["status", "--short"]);

    let before = peak();
    let start = Instant::now();
    let graph = suil::infra::graph::scan(root, "o/r").expect("a graph");
    let scan = start.elapsed();
    let memory = peak();
    println!("{size} stacks, {modules} modules, {files} files: {} edges", graph.edges.len());
    assert_eq!((graph.stacks.len(), graph.modules.len()), (size, modules));
    // As it is installed: the kernel reads a file that a linker has just written in smaller pieces than a copy of it.
    let installed = tempfile::tempdir().expect("folder");
    let program = installed.path().join("suil");
    fs::copy(env!("CARGO_BIN_EXE_suil"), &program).expect("a copy");
    let program = program.to_str().expect("UTF-8");
    let suil = |args: &[&str]| run(root, program, args).len();
    let cold = best(3, || {
        fs::remove_dir_all(root.join(".suil")).expect("a cache");
        suil(&["infra", "graph", "--output", "json"]);
    });
    let warm = best(ROUNDS, || {
        suil(&["infra", "validate"]);
    });
    let affected = || assert!(suil(&["infra", "affected"]) > 0);
    let git_names = || drop(run(root, "git", &["diff", "--name-only"]));
    let change = |n: usize| fs::write(root.join("modules/m0000/new.tf"), format!("# {n}\n")).expect("written");
    let mut n = 0;
    let first = best(3, || {
        n += 1;
        change(n);
        suil(&["infra", "affected"]);
    });
    std::thread::sleep(Duration::from_millis(100));
    suil(&["infra", "affected"]);
    let alone = (best(ROUNDS, git_names), best(ROUNDS, affected));
    // In turns, as in a shell, each finds the caches of the machine as the other left them.
    let (mut names, mut again) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        names = names.min(best(1, git_names));
        again = again.min(best(1, affected));
    }
    let told = run(root, program, &["infra", "affected", "--output", "json"]);
    let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
    let stacks = told["affected"].as_array().map_or(0, Vec::len);
    assert!(stacks > 0 && told["cached"] == true);
    let nothing = best(ROUNDS, || {
        suil(&["--version"]);
    });
    println!("  scan in this process, cold {:.1} ms, VmHWM {} kB ({before} kB before)", ms(scan), memory);
    println!("  suil infra graph --output json, no cache {:.1} ms", ms(cold));
    println!("  suil infra validate, from the cache {:.1} ms (suil --version {:.1} ms)", ms(warm), ms(nothing));
    println!("  git diff --name-only {:.1} ms", ms(names));
    println!("  suil infra affected, {stacks} stacks by one file of a module {:.1} ms", ms(again));
    println!("  the same right after the file changed {:.1} ms", ms(first));
    let times = |one: Duration| one.as_secs_f64() / names.as_secs_f64();
    let each = alone.1.as_secs_f64() / alone.0.as_secs_f64();
    println!("  {:.2} x git diff --name-only in turns, {each:.2} x each over and over by itself", times(again));
    println!("  {:.2} x right after the change", times(first));
}

/// Stacks in groups of ten, each after the one before it; modules that use each other in chains of five.
fn generate(root: &Path, stacks: usize, modules: usize) -> usize {
    let mut files = 0;
    let mut write = |path: String, text: String| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
        files += 1;
    };
    let body = |text: &mut String| {
        for n in 0..6 {
            let _ = write!(
                text,
                "resource \"terraform_data\" \"r{n}\" {{\n  input = {{ a = \"${{var.name}}-{n}\", b = [1, 2, 3] }}\n}}\n"
            );
        }
    };
    write("stackorder.yaml".to_owned(), "version: 1\nbackend_config: [region=eu-north-1]\n".to_owned());
    for n in 0..modules {
        let mut text = String::from("variable \"name\" {\n  type = string\n}\n");
        if n % 5 > 0 {
            let _ = write!(text, "module \"inner\" {{\n  source = \"../m{:04}\"\n  name = var.name\n}}\n", n - 1);
        }
        body(&mut text);
        write(format!("modules/m{n:04}/main.tf"), text);
    }
    for n in 0..stacks {
        let folder = format!("stacks/g{:04}/s{n:05}", n / 10);
        let mut text =
            format!("terraform {{\n  backend \"s3\" {{\n    bucket = \"state\"\n    key    = \"s{n}\"\n  }}\n}}\n");
        for module in [n % modules, (n * 7 + 4) % modules] {
            let _ = write!(
                text,
                "module \"m{module}\" {{\n  source = \"../../../modules/m{module:04}\"\n  name = var.name\n}}\n"
            );
        }
        if n % 10 > 0 && n % 3 == 0 {
            let _ = write!(
                text,
                "data \"terraform_remote_state\" \"before\" {{\n  backend = \"s3\"\n  config = {{\n    bucket = \"state\"\n    key = \"s{}\"\n  }}\n}}\n",
                n - 1
            );
        }
        body(&mut text);
        write(format!("{folder}/main.tf"), text);
        write(
            format!("{folder}/variables.tf"),
            "variable \"name\" {\n  type    = string\n  default = \"x\"\n}\n".to_owned(),
        );
        if n % 10 > 0 && n % 3 == 1 {
            let needs = format!("depends_on: [stacks/g{:04}/s{:05}]\n", n / 10, n - 1);
            write(format!("{folder}/.stackorder.yaml"), needs);
        }
    }
    files
}

fn git(root: &Path, args: &[&str]) {
    run(root, "git", args);
}

fn run(root: &Path, program: &str, args: &[&str]) -> Vec<u8> {
    let mut command = Command::new(program);
    command.current_dir(root).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").stderr(Stdio::inherit());
    let output = command.output().expect("a program");
    assert!(matches!(output.status.code(), Some(0 | 2)), "{program} {args:?}: {}", output.status);
    output.stdout
}

fn best(rounds: usize, mut work: impl FnMut()) -> Duration {
    let timed = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..rounds).map(|_| timed(&mut work)).min().expect("a round")
}

/// The most memory that this process has held, in kB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
