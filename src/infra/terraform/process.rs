//! A program that may take minutes: it can be watched, interrupted, and left to end without suil.
//!
//! What it says goes to files, not to pipes: a Terraform whose suil was killed goes on to the end of its apply and
//! writes its state, where a broken pipe would kill it between the two. The file is locked for as long as anybody has
//! it open, and the program inherits it: [`is_running`] tells from the file alone whether the program still runs,
//! whatever was or was not recorded about it.

use super::stop::Stop;
use super::{Tool, code};
use crate::base::{Problem, clock, file};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long an interrupted program may take to end.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// The longest pause between two looks at a program.
const PAUSE: Duration = Duration::from_millis(20);

/// One start of a program.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    pub arguments: Vec<OsString>,
    /// Added to the environment; `None` takes a variable away.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// A private folder for what it says.
    pub logs: &'a Path,
    /// The name of the files there.
    pub name: &'a str,
    /// How many bytes of stdout are kept, and of stderr.
    pub limits: (usize, usize),
    /// Left to itself where a stop is demanded; anything else is killed then.
    pub precious: bool,
    /// How long it may take to end after an interrupt.
    pub patience: Duration,
}

/// A program that ended, or was left.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code, as a shell tells it.
    pub code: u8,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// It was interrupted by suil.
    pub interrupted: bool,
    /// It still runs, and nobody waits for it.
    pub left: bool,
}

impl Ended {
    pub fn is_well(&self) -> bool {
        self.code == 0 && !self.left
    }
}

/// What is told while a program runs.
pub trait Watch {
    /// It runs under this number.
    fn started(&self, _pid: u32) {}
    /// It wrote this line to stdout.
    fn line(&self, _line: &str) {}
}

/// Watches nothing.
impl Watch for () {}

impl Tool {
    /// Runs it in `folder` without a terminal and in a process group of its own: Ctrl-C reaches it through `stop`, as
    /// one interrupt.
    ///
    /// # Errors
    /// It cannot be started, or what it says cannot be kept. That it failed is for the caller to see.
    pub fn start(&self, folder: &Path, job: &Job<'_>, stop: &Stop, watch: &dyn Watch) -> Result<Ended, Problem> {
        let mut command = self.command(folder);
        command.env("TF_IN_AUTOMATION", "1").env("TF_INPUT", "0").env("CHECKPOINT_DISABLE", "1");
        run(command, job, stop, watch, |e| self.missing(e))
    }

    /// Runs a script with it: a shell, in `folder`.
    ///
    /// # Errors
    /// As [`Tool::start`].
    pub fn script(&self, folder: &Path, job: &Job<'_>, stop: &Stop, watch: &dyn Watch) -> Result<Ended, Problem> {
        let mut command = self.plain();
        command.current_dir(folder);
        run(command, job, stop, watch, |e| Problem::io("run", &self.program, e))
    }
}

/// True while a program that a [`Job`] of this name started in `logs` still runs.
pub fn is_running(logs: &Path, name: &str) -> bool {
    match File::open(out(logs, name)) {
        Ok(found) => flock(&found, FlockOperation::NonBlockingLockExclusive).is_err(),
        Err(_) => false,
    }
}

/// True while a program that a [`Job`] started in `logs` still runs, of those whose names end in `.<step>`.
pub fn is_any_running(logs: &Path, step: &str) -> bool {
    let end = format!(".{step}.out");
    std::fs::read_dir(logs).into_iter().flatten().flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_str().filter(|name| name.ends_with(&end)).and_then(|name| name.strip_suffix(".out"));
        name.is_some_and(|name| is_running(logs, name))
    })
}

/// Removes what a program that nobody waited for said.
pub fn forget(logs: &Path, name: &str) {
    for path in [out(logs, name), err(logs, name)] {
        let _ = std::fs::remove_file(path);
    }
}

/// Removes what killed runs left in the folders below `all`, where it is a day old and no program writes it any more.
pub fn sweep(all: &Path) {
    let old = |path: &Path| {
        let changed = path.metadata().and_then(|found| found.modified()).ok();
        let age = changed.and_then(|at| (clock::now() - chrono::DateTime::<chrono::Utc>::from(at)).to_std().ok());
        age.is_some_and(|age| age > Duration::from_secs(24 * 3600))
    };
    for folder in std::fs::read_dir(all).into_iter().flatten().flatten() {
        for entry in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = name.strip_suffix(".out").or(name.strip_suffix(".err")).unwrap_or(&name).to_owned();
            if old(&entry.path()) && !is_running(&folder.path(), &name) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        // A folder that holds something stays.
        let _ = std::fs::remove_dir(folder.path());
    }
}

fn out(logs: &Path, name: &str) -> PathBuf {
    logs.join(format!("{name}.out"))
}

fn err(logs: &Path, name: &str) -> PathBuf {
    logs.join(format!("{name}.err"))
}

fn run(
    mut command: Command,
    job: &Job<'_>,
    stop: &Stop,
    watch: &dyn Watch,
    missing: impl Fn(&std::io::Error) -> Problem,
) -> Result<Ended, Problem> {
    file::private_folder(job.logs)?;
    let (out, err) = (out(job.logs, job.name), err(job.logs, job.name));
    let (stdout, stderr) = (made(&out)?, made(&err)?);
    flock(&stdout, FlockOperation::NonBlockingLockExclusive)
        .map_err(|e| Problem::io("lock", &out, &std::io::Error::from(e)))?;
    command.args(&job.arguments).stdin(Stdio::null()).process_group(0);
    for (name, value) in &job.environment {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let same = |file: &File, path: &Path| file.try_clone().map_err(|e| Problem::io("open", path, &e));
    command.stdout(Stdio::from(same(&stdout, &out)?)).stderr(Stdio::from(same(&stderr, &err)?));
    let child = command.spawn().map_err(|e| missing(&e))?;
    // Its copies of the files go with it, so that the program alone holds the lock.
    drop((command, stdout, stderr));
    watch.started(child.id());
    let mut lines = Lines::new(&out)?;
    let (status, interrupted) = wait(child, job, stop, || lines.follow(watch))
        .map_err(|e| Problem::io("wait for", command_name(job).as_ref(), &e))?;
    lines.follow(watch);
    let (stdout, stderr) = (kept(&out, job.limits.0)?, kept(&err, job.limits.1)?);
    if status.is_some() {
        forget(job.logs, job.name);
    }
    Ok(Ended { code: status.map_or(0, code), stdout, stderr, interrupted, left: status.is_none() })
}

fn command_name(job: &Job<'_>) -> OsString {
    job.arguments.first().cloned().unwrap_or_else(|| OsStr::new(job.name).to_owned())
}

/// A new file for the owner's eyes.
fn made(path: &Path) -> Result<File, Problem> {
    // What an earlier program of that name may still write to stays its own.
    let _ = std::fs::remove_file(path);
    let file = OpenOptions::new().create_new(true).append(true).read(true).mode(0o600).open(path);
    file.map_err(|e| Problem::io("make", path, &e))
}

/// Waits for the end, and hands a wish to stop on. No status: it was left.
fn wait(
    mut child: Child,
    job: &Job<'_>,
    stop: &Stop,
    mut look: impl FnMut(),
) -> std::io::Result<(Option<ExitStatus>, bool)> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let mut pause = Duration::from_millis(1);
    let (mut asked, mut killed) = (None::<Instant>, false);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((Some(status), asked.is_some()));
        }
        if stop.demanded() && job.precious {
            return Ok((None, true));
        }
        match (asked, pid) {
            // Once: Terraform takes a second interrupt for a demand to drop everything.
            (None, Some(pid)) if stop.asked() => {
                asked = Some(clock::instant());
                let _ = kill_process(pid, Signal::INT);
            }
            (Some(at), Some(pid)) if !killed && (stop.demanded() || at.elapsed() > job.patience) => {
                killed = true;
                let _ = kill_process_group(pid, Signal::KILL);
            }
            _ => {}
        }
        look();
        std::thread::sleep(pause);
        pause = (pause * 2).min(PAUSE);
    }
}

/// The lines of a file that grows.
struct Lines {
    file: File,
    open: Vec<u8>,
}

impl Lines {
    /// A line that is longer is told in parts.
    const LONGEST: usize = 4096;

    fn new(path: &Path) -> Result<Lines, Problem> {
        let file = File::open(path).map_err(|e| Problem::io("open", path, &e))?;
        Ok(Lines { file, open: Vec::new() })
    }

    /// Tells what is new since the last time.
    fn follow(&mut self, watch: &dyn Watch) {
        let mut buffer = [0_u8; 8192];
        while let Ok(n @ 1..) = self.file.read(&mut buffer) {
            for part in buffer.get(..n).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
                self.add(part, watch);
            }
        }
    }

    /// Takes a part of a line, or the rest of one with its end.
    fn add(&mut self, part: &[u8], watch: &dyn Watch) {
        let (mut part, ends) = part.strip_suffix(b"\n").map_or((part, false), |part| (part, true));
        while let Some((head, rest)) = part.split_at_checked(Lines::LONGEST - self.open.len()) {
            self.open.extend_from_slice(head);
            self.tell(watch);
            part = rest;
        }
        self.open.extend_from_slice(part);
        if ends {
            self.tell(watch);
        }
    }

    fn tell(&mut self, watch: &dyn Watch) {
        watch.line(&String::from_utf8_lossy(&self.open));
        self.open.clear();
    }
}

/// What a file holds; of a longer one the beginning and the end, and how much is left out.
fn kept(path: &Path, limit: usize) -> Result<Vec<u8>, Problem> {
    let read = || {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        let limit = limit as u64;
        let mut found = Vec::new();
        if length <= limit {
            file.read_to_end(&mut found)?;
            return Ok(found);
        }
        let half = limit / 2;
        (&mut file).take(half).read_to_end(&mut found)?;
        found.extend_from_slice(format!("\n… {} bytes are left out here …\n", length - 2 * half).as_bytes());
        file.seek(SeekFrom::Start(length - half))?;
        file.read_to_end(&mut found)?;
        Ok(found)
    };
    read().map_err(|e: std::io::Error| Problem::io("read", path, &e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    fn job<'a>(logs: &'a Path, script: &str) -> Job<'a> {
        Job {
            arguments: ["-c", script].map(OsString::from).into(),
            environment: vec![("GREETING".into(), Some("hello".into()))],
            logs,
            name: "it",
            limits: (64, 64),
            precious: false,
            patience: Duration::from_millis(300),
        }
    }

    #[derive(Default)]
    struct Heard(Mutex<Vec<String>>);

    impl Watch for Heard {
        fn line(&self, line: &str) {
            self.0.lock().expect("no panic").push(line.to_owned());
        }
    }

    #[test]
    fn what_it_says_is_told_line_by_line_and_kept_up_to_a_limit() {
        let logs = tempfile::tempdir().expect("a folder");
        let heard = Heard::default();
        let script = "echo $GREETING; seq 100; echo bad >&2; exit 3";
        let sh = Tool::new("sh");
        let ended = sh.script(logs.path(), &job(logs.path(), script), &Stop::default(), &heard).expect("it runs");
        assert_eq!((ended.code, ended.stderr.as_slice(), ended.interrupted), (3, b"bad\n".as_slice(), false));
        let heard = heard.0.into_inner().expect("no panic");
        assert_eq!((heard.len(), heard.first().map(String::as_str)), (101, Some("hello")));
        let text = String::from_utf8(ended.stdout).expect("UTF-8");
        assert!(text.starts_with("hello\n1\n") && text.ends_with("\n100\n") && text.contains("bytes are left out"));
        assert_eq!(std::fs::read_dir(logs.path()).expect("a folder").count(), 0, "nothing is left");
    }

    #[test]
    fn lines_are_told_whole_and_long_ones_in_parts() {
        let room = tempfile::tempdir().expect("a folder");
        let path = room.path().join("out");
        let long = "x".repeat(Lines::LONGEST);
        std::fs::write(&path, "").expect("a file");
        let (mut lines, heard) = (Lines::new(&path).expect("open"), Heard::default());
        for part in ["a\n\nb", "c\n", &long, "\n", &format!("{long}y\nend")] {
            let mut file = OpenOptions::new().append(true).open(&path).expect("open");
            std::io::Write::write_all(&mut file, part.as_bytes()).expect("written");
            lines.follow(&heard);
        }
        let heard = heard.0.into_inner().expect("no panic");
        assert_eq!(heard, ["a", "", "bc", &long, "", &long, "y"]);
    }

    #[test]
    fn one_interrupt_then_it_is_killed() {
        let logs = tempfile::tempdir().expect("a folder");
        /// Asks for a stop as soon as the program has something to say.
        struct Asks(Stop);
        impl Watch for Asks {
            fn line(&self, _: &str) {
                self.0.ask();
            }
        }
        let run = |script, patience| {
            let asks = Asks(Stop::default());
            let job = Job { patience, ..job(logs.path(), script) };
            Tool::new("sh").script(logs.path(), &job, &asks.0, &asks).expect("it runs")
        };
        // A machine may stand still for a while: one that heeds the interrupt has time to.
        let ended = run("trap 'exit 7' INT; echo ready; while :; do sleep 0.05; done", Duration::from_secs(20));
        assert_eq!((ended.code, ended.interrupted), (7, true));
        let ended = run("trap '' INT; echo ready; sleep 60 & wait; wait", Duration::from_millis(300));
        assert_eq!((ended.code, ended.interrupted), (128 + 9, true));
    }

    #[test]
    fn what_is_left_to_itself_is_known_to_run_until_it_ends() {
        let logs = tempfile::tempdir().expect("a folder");
        let stop = Stop::default();
        stop.ask();
        stop.ask();
        let mut job = job(logs.path(), "trap '' INT; sleep 0.4; echo over");
        job.precious = true;
        let ended = Tool::new("sh").script(logs.path(), &job, &stop, &()).expect("it runs");
        assert!(ended.left && is_running(logs.path(), "it") && !is_running(logs.path(), "other"));
        let begun = clock::instant();
        while is_running(logs.path(), "it") {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(std::fs::read_to_string(out(logs.path(), "it")).expect("a log"), "over\n");
    }
}
