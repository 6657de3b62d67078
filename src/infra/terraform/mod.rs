//! Runs Terraform, OpenTofu, or what stands for them, in an output folder. The only place of this room that starts a
//! process.

pub mod process;
mod shield;
mod signals;
mod state;
mod stop;
mod tool;

pub use shield::Shield;
pub use state::Forecast;
pub use stop::Stop;
pub use tool::{Finished, Tool};

use std::path::Path;
use std::process::ExitStatus;

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
