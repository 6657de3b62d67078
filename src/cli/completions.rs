//! `suil completions`.

use super::{Outcome, complete};
use crate::base::Problem;
use crate::ui::{self, Exit};
use clap::ValueEnum;
use clap_complete::Shell;
use clap_complete::env::Shells;

/// Print a completion script for a shell
///
/// It asks suil for the names of nodes, roles, modules and keys as you type.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
In ~/.bashrc:                    eval \"$(suil completions bash)\"
In ~/.zshrc, after compinit:     eval \"$(suil completions zsh)\"
In ~/.config/fish/config.fish:   suil completions fish | source")]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
    /// Complete the program under this name
    #[arg(long, default_value = "suil")]
    name: String,
}

pub fn run(args: Args) -> Outcome {
    let shell = args.shell.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let shells = Shells::builtins();
    let lacking = || Problem::new(format!("there is no completion for `{shell}`"));
    let mut script = Vec::new();
    let written = shells.completer(&shell).ok_or_else(lacking)?.write_registration(
        complete::VARIABLE,
        &args.name,
        &args.name,
        &args.name,
        &mut script,
    );
    written.map_err(|e| Problem::new(format!("cannot write the script: {e}")))?;
    ui::out(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
