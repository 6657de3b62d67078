//! Code that runs on a node, run for real under every shell.

#![allow(clippy::disallowed_methods, reason = "tests start what they test")]

mod actions;
mod guard;
mod offered;
mod owed;
mod paths;
mod resources;
mod shells;
mod system;

/// Checked where the tool is at hand.
#[test]
fn every_script_passes_shellcheck() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("collector");
    let scripts = std::fs::read_dir(folder).expect("collector").map(|entry| entry.expect("an entry").path());
    let scripts: Vec<_> = scripts.filter(|path| path.extension().is_some_and(|end| end == "sh")).collect();
    assert!(scripts.len() >= 5);
    if let Ok(output) = std::process::Command::new("shellcheck").args(scripts).output() {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
