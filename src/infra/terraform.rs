//! Runs Terraform, or what stands for it, in an output folder. The only place of this room that starts a process.

use crate::base::Problem;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// Runs `terraform init` in `folder`. What it says goes where suil's own output goes, or to stderr where `quiet`.
///
/// # Errors
/// The program cannot be started.
#[allow(clippy::disallowed_methods, reason = "the one place of this room where a process starts")]
pub fn init(program: &str, folder: &Path, quiet: bool) -> Result<ExitStatus, Problem> {
    let mut command = Command::new(program);
    command.arg(format!("-chdir={}", folder.display())).arg("init");
    if quiet {
        command.stdin(Stdio::null()).stdout(Stdio::from(std::io::stderr()));
    }
    command.status().map_err(|e| {
        Problem::io("run", Path::new(program), &e)
            .help("install Terraform, name it by STACKS_TERRAFORM_PATH, or render with `--init never`")
    })
}

/// The exit code of a program that ended; as a shell tells it where a signal ended it.
pub fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// True where Terraform was never initialised in `folder`. Without a backend block it leaves no sign of it.
pub fn is_new(folder: &Path) -> bool {
    !folder.join(".terraform/terraform.tfstate").exists()
}
