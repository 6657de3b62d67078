//! How long an apply takes that has nothing to do, against as many parallel `ssh node true` in the same run; how many
//! channels it opens on a node; and how long suil takes to start.
//!
//! `fleet up 20`, then `FLEET_DIR=… cargo bench --bench noop`, or `-- 10` for fewer nodes. The logins of both sides have
//! the same user, key and options, so the key exchange is the same, OpenSSH's default.
#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark measures, starts and prints")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
/// Nodes whose sshd is made to log every channel.
const WATCHED: usize = 3;

const MAIN: &str = r#"
def resources(config):
    conf = file("/etc/noop/conf", content = "of %s\n" % config.suil.node, mode = "0640")
    return [
        package("openssh-server"),
        directory("/etc/noop"),
        conf,
        link("/etc/noop/current", target = "conf"),
        line("/etc/environment", line = "NOOP=1", create = True),
        user("noop", home = "/home/noop", shell = "/bin/sh"),
        service("cron", running = True, enabled = True),
        command("note", run = "touch /etc/noop/noted", creates = "/etc/noop/noted"),
    ]
"#;

fn main() {
    let wanted = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(20);
    let bench = Bench::new(wanted);
    let starts: Vec<f64> =
        (0..20).map(|_| seconds(|| ended(&mut suil().arg("--version").spawn().expect("suil")))).collect();
    println!("suil --version            {:7.1} ms (median of {}; target 10)", median(&starts) * 1e3, starts.len());

    bench.option("first");
    bench.apply();
    let mut times: [Vec<f64>; 4] = Default::default();
    let mut cpu = Vec::new();
    for round in 0..ROUNDS {
        bench.option(&format!("round{round}"));
        times[0].push(bench.ssh(None));
        let (time, used) = bench.measured();
        times[1].push(time);
        cpu.push(used);
        bench.masters();
        times[2].push(bench.ssh(Some(&bench.sockets())));
        times[3].push(bench.measured().0);
        bench.forget();
    }
    let n = bench.nodes.len();
    println!("{n} nodes, medians of {ROUNDS} rounds (fastest to slowest)");
    for (name, times) in
        ["ssh node true, cold", "suil apply, cold", "ssh node true, warm", "suil apply, warm"].iter().zip(&times)
    {
        let (least, most) = times.iter().fold((f64::MAX, 0.0), |(a, b), t| (t.min(a), t.max(b)));
        println!("  {name:24}{:7.0} ms ({:.0} to {:.0})", median(times) * 1e3, least * 1e3, most * 1e3);
    }
    println!("  cold: {:.2} x ssh (target 1.5)", median(&times[1]) / median(&times[0]));
    println!("  warm: {:.2} x ssh (target 2)", median(&times[3]) / median(&times[2]));
    println!("  suil's own CPU: {:.1} ms a node (target 5)", median(&cpu) * 1e3 / n as f64);
    bench.channels();
}

struct Bench {
    workspace: tempfile::TempDir,
    fleet: PathBuf,
    /// Name and address.
    nodes: Vec<(String, String)>,
}

fn suil() -> Command {
    let mut suil = Command::new(env!("CARGO_BIN_EXE_suil"));
    suil.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    suil
}

fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

fn ended(child: &mut Child) {
    let status = child.wait().expect("an end");
    let mut words = String::new();
    if let Some(errors) = &mut child.stderr {
        let _ = std::io::Read::read_to_string(errors, &mut words);
    }
    assert!(status.success(), "{words}");
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Bench {
    fn new(wanted: usize) -> Bench {
        let fleet = std::env::var_os("FLEET_DIR").map_or_else(|| PathBuf::from("/var/tmp/fleet"), PathBuf::from);
        let config = fs::read_to_string(fleet.join("ssh_config")).expect("a fleet is up");
        let mut nodes = Vec::new();
        let mut name = None;
        for line in config.lines() {
            match line.trim().split_once(' ') {
                Some(("Host", host)) => name = Some(host.to_owned()).filter(|host| host.starts_with("debian")),
                Some(("HostName", address)) => nodes.extend(name.take().map(|name| (name, address.to_owned()))),
                _ => {}
            }
        }
        nodes.truncate(wanted);
        assert_eq!(nodes.len(), wanted, "`fleet up {wanted}` makes the nodes");
        let bench = Bench { workspace: tempfile::tempdir().expect("a folder"), fleet, nodes };
        bench.write("data/roles/web.yaml", "modules: [noop]\n");
        bench.write("modules/noop/code/config.star", "Config = schema()\n");
        bench.write("modules/noop/code/main.star", MAIN);
        for (node, address) in &bench.nodes {
            bench.write(
                &format!("data/nodes/{node}.yaml"),
                &format!("role: web\ndeployment: {{ssh_host: {address}}}\n"),
            );
        }
        bench
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.workspace.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    /// What both sides give ssh.
    fn options(&self) -> Vec<String> {
        let hosts = self.fleet.join("known_hosts").display().to_string();
        ["StrictHostKeyChecking=yes".to_owned(), "IdentitiesOnly=yes".to_owned(), format!("UserKnownHostsFile={hosts}")]
            .into()
    }

    /// Marks suil's connections, so that those of earlier rounds are not used.
    fn option(&self, mark: &str) {
        let mut options = self.options();
        options.push(format!("SendEnv=NOOP_{}_{mark}", std::process::id()));
        let options: String = options.iter().map(|option| format!("    - {option}\n")).collect();
        self.write(
            "data/common.yaml",
            &format!(
                "deployment:\n  ssh_user: deploy\n  ssh_key: {}\n  ssh_options:\n{options}hierarchy: [\"roles/{{role}}.yaml\", \"nodes/{{node}}.yaml\"]\n",
                self.fleet.join("key").display()
            ),
        );
    }

    fn apply(&self) {
        let mut suil = suil();
        ended(
            &mut suil
                .current_dir(self.workspace.path())
                .args(["apply", "--role", "web", "--confirm"])
                .spawn()
                .expect("suil"),
        );
    }

    /// The time of an apply that does nothing, and the processor time that suil itself took.
    fn measured(&self) -> (f64, f64) {
        let begun = Instant::now();
        let mut suil = suil();
        let mut child = suil
            .current_dir(self.workspace.path())
            .args(["apply", "--role", "web", "--confirm"])
            .spawn()
            .expect("suil");
        let stat = format!("/proc/{}/stat", child.id());
        let mut ticks = 0;
        while child.try_wait().expect("a child").is_none() {
            let text = fs::read_to_string(&stat).unwrap_or_default();
            let fields: Vec<i64> =
                text.rsplit(')').next().unwrap_or_default().split_whitespace().filter_map(|w| w.parse().ok()).collect();
            // Behind the state, which is no number, utime and stime are the 11th and 12th.
            if let [user, system] = fields.get(10..12).unwrap_or_default() {
                ticks = ticks.max(user + system);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let took = begun.elapsed().as_secs_f64();
        ended(&mut child);
        let summary = fs::read_to_string(self.workspace.path().join(".runs/latest/summary.yaml")).expect("a summary");
        assert_eq!(summary.matches("outcome: nothing to do").count(), self.nodes.len(), "{summary}");
        (took, ticks as f64 / 100.0)
    }

    /// The time of one `true` on each node, all at once.
    fn ssh(&self, sockets: Option<&Path>) -> f64 {
        seconds(|| {
            let start = |(node, address): &(String, String)| {
                let mut ssh = self.ssh_to(address);
                match sockets {
                    Some(folder) => ssh.arg("-S").arg(folder.join(node)),
                    None => ssh.args(["-S", "none"]),
                };
                ssh.arg("true").spawn().expect("ssh")
            };
            let mut children: Vec<Child> = self.nodes.iter().map(start).collect();
            children.iter_mut().for_each(ended);
        })
    }

    fn ssh_to(&self, address: &str) -> Command {
        let mut ssh = Command::new("ssh");
        ssh.args(["-T", "-o", "BatchMode=yes", "-l", "deploy", "-i"]).arg(self.fleet.join("key"));
        for option in self.options() {
            ssh.arg("-o").arg(option);
        }
        ssh.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        ssh
    }

    fn sockets(&self) -> PathBuf {
        self.workspace.path().join("s")
    }

    fn masters(&self) {
        fs::create_dir_all(self.sockets()).expect("a folder");
        for (node, address) in &self.nodes {
            let mut ssh = self.ssh_to(address);
            ssh.stderr(Stdio::null()).arg("-S").arg(self.sockets().join(node)).args(["-M", "-f", "-N"]);
            assert!(ssh.status().expect("ssh").success());
        }
    }

    /// Ends the master connections of this round, of both sides.
    fn forget(&self) {
        for (node, address) in &self.nodes {
            let mut ssh = self.ssh_to(address);
            let _ = ssh.arg("-S").arg(self.sockets().join(node)).args(["-O", "exit"]).output();
        }
        let _ = Command::new("pkill").args(["-f", &format!("SendEnv=NOOP_{}_", std::process::id())]).status();
    }

    fn on(&self, address: &str, command: &str) -> String {
        let mut ssh = self.ssh_to(address);
        let ended = ssh
            .args(["-S", "none", "sudo", "-n", "sh", "-c", &format!("'{command}'")])
            .stdout(Stdio::piped())
            .output()
            .expect("ssh");
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    /// Counts the channels of a cold and of a warm run in the words of sshd.
    fn channels(&self) {
        let watched: Vec<&(String, String)> = self.nodes.iter().take(WATCHED).collect();
        for (_, address) in &watched {
            self.on(
                address,
                "echo LogLevel VERBOSE >/etc/ssh/sshd_config.d/noop.conf; systemctl reload ssh; sleep 0.5",
            );
        }
        // Channels and logins since a moment of the node, those of the counting itself among them.
        let count = |address: &str, since: &str| {
            let command = format!(
                "j=$(journalctl -q -o cat --no-pager --since=@{since}); echo \"$j\" | grep -c \"Starting session\"; \
                 echo \"$j\" | grep -c \"Accepted publickey for deploy\""
            );
            let numbers = self.on(address, &command);
            let numbers: Vec<i64> = numbers.lines().filter_map(|line| line.parse().ok()).collect();
            (numbers.first().copied().unwrap_or(-1), numbers.get(1).copied().unwrap_or(-1))
        };
        self.option("channels");
        let counted = |work: &dyn Fn()| {
            let marks: Vec<String> =
                watched.iter().map(|(_, address)| self.on(address, "sleep 1; date +%s").trim().to_owned()).collect();
            std::thread::sleep(Duration::from_secs(1));
            work();
            std::thread::sleep(Duration::from_millis(500));
            watched.iter().zip(&marks).map(|((_, address), mark)| count(address, mark)).collect::<Vec<_>>()
        };
        let idle = counted(&|| {});
        for run in ["cold", "warm"] {
            let counts = counted(&|| self.apply());
            let less = counts.iter().zip(&idle).map(|(run, idle)| format!("{}/{}", run.0 - idle.0, run.1 - idle.1));
            println!(
                "  {run} run, channels/logins on {} nodes: {}",
                watched.len(),
                less.collect::<Vec<_>>().join(", ")
            );
        }
        self.forget();
        for (_, address) in &watched {
            self.on(address, "rm -f /etc/ssh/sshd_config.d/noop.conf; systemctl reload ssh");
        }
        for (_, address) in &self.nodes {
            self.on(address, "rm -rf /etc/noop; userdel -r noop 2>/dev/null; sed -i /NOOP=1/d /etc/environment");
        }
    }
}
