//! `suil completions`.

use super::{Cli, Outcome};
use crate::ui::{self, Exit};
use clap::CommandFactory;
use clap_complete::{Shell, generate};

/// Print a completion script for a shell
#[derive(clap::Args, Debug)]
#[command(after_help = "Example: suil completions bash > ~/.local/share/bash-completion/completions/suil")]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
    /// Complete the program under this name
    #[arg(long, default_value = "suil")]
    name: String,
}

pub fn run(args: Args) -> Outcome {
    let mut script = Vec::new();
    generate(args.shell, &mut Cli::command(), args.name, &mut script);
    ui::out(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
