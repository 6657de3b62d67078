//! A large file arrives verified, and suil's memory stays small.

use crate::fleet::{Workspace, on};
use std::fs;
use std::io::Write;
use std::process::Stdio;

#[test]
#[ignore = "needs the fleet"]
fn a_file_of_200_mb_arrives_verified_in_less_than_64_mib_of_memory() {
    let workspace = Workspace::new(&["debian1"]);
    workspace.role("modules: [big]\n");
    workspace.module(
        "big",
        "Config = schema()\n",
        "def resources(config):\n    return [file(\"/opt/big.bin\", source = \"big.bin\")]\n",
    );
    on("debian1", "rm -f /opt/big.bin");
    let path = workspace.path().join("modules/big/files/big.bin");
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    let mut file = fs::File::create(&path).expect("a file");
    let mut state: u64 = 88172645463325252;
    for _ in 0..200 {
        let mut block = Vec::with_capacity(1_000_000);
        while block.len() < 1_000_000 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            block.extend_from_slice(&state.to_le_bytes());
        }
        file.write_all(&block).expect("a block");
    }
    drop(file);
    let child = workspace
        .command(&["apply", "--node", "debian1", "--confirm"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("suil starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while let Ok(text) = fs::read_to_string(&status) {
        let line = text.lines().find(|line| line.starts_with("VmHWM:"));
        let Some(kib) = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<u64>().ok()) else { break };
        peak = peak.max(kib);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let wanted = suil::base::digest::sha256_of(fs::File::open(&path).expect("a file")).expect("a digest").1;
    assert_eq!(on("debian1", "sha256sum </opt/big.bin").split_whitespace().next(), Some(&*wanted));
    assert!(peak > 0 && peak < 64 * 1024, "the peak was {peak} KiB");
    on("debian1", "rm -f /opt/big.bin");
}
