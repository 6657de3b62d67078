//! The door: arguments and the environment in, an exit code out. One file holds one command.
//!
//! Nothing that costs time happens before a command is chosen, so that `suil --version` is instant.

mod apply;
mod complete;
mod completions;
mod config;
mod decrypt;
mod diff;
mod edit;
mod editor;
mod encrypt;
mod explain;
mod facts;
mod failed;
mod fault;
mod impact;
mod infra;
mod init;
mod keys;
mod later;
mod layers;
mod lazy;
mod load;
mod man;
mod modules;
mod nodes;
mod open;
mod plan;
mod private;
mod rekey;
mod report;
mod roles;
mod rolling;
mod run;
mod runs;
mod schema;
mod secrets;
mod selection;
mod serve;
mod settings;
mod ssh;
mod start;
mod test;
mod unlock;
mod usage;
mod validate;

pub use fault::guard;
pub use selection::Selection;
pub use settings::Settings;

use crate::base::{Mask, Plain, Problems};
use crate::ui::{self, Exit, Output};
use clap::{Parser, Subcommand};
use lazy::Lazy;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Configure Linux hosts from layered data, over SSH
#[derive(Parser, Debug)]
#[command(
    name = "suil",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = man::notes()
)]
pub struct Cli {
    /// Use this workspace instead of the one found by walking up from here
    #[arg(long, global = true, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Print results in this form [default: text]
    #[arg(long, global = true, value_enum, value_name = "FORM")]
    output: Option<Output>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    Apply(Lazy<apply::Args>),
    Plan(Lazy<plan::Args>),
    Run(Lazy<run::Args>),
    Ssh(Lazy<ssh::Args>),
    Unlock(Lazy<unlock::Args>),
    Config(Lazy<config::Args>),
    Facts(Lazy<facts::Args>),
    Explain(Lazy<explain::Args>),
    Diff(Lazy<diff::Args>),
    Nodes(Lazy<nodes::Args>),
    Roles(Lazy<roles::Args>),
    Modules(Lazy<modules::Args>),
    Runs(Lazy<runs::Args>),
    Validate(Lazy<validate::Args>),
    Encrypt(Lazy<encrypt::Args>),
    Decrypt(Lazy<decrypt::Args>),
    Edit(Lazy<edit::Args>),
    Rekey(Lazy<rekey::Args>),
    Secrets(Lazy<secrets::Args>),
    Infra(Lazy<infra::Args>),
    Serve(Lazy<serve::Args>),
    Init(Lazy<init::Args>),
    Test(Lazy<test::Args>),
    Schema(Lazy<schema::Args>),
    Completions(Lazy<completions::Args>),
    Man(Lazy<man::Args>),
}

/// What a command gives back: an exit code, or every problem of the stage that failed.
pub type Outcome = Result<Exit, Problems>;

/// What every command is given.
#[derive(Clone)]
pub struct Context {
    pub workspace: Option<PathBuf>,
    pub output: Output,
}

impl Context {
    /// Reads the settings of the environment and of the workspace at `root`.
    ///
    /// # Errors
    /// `.env` cannot be read, or a setting makes no sense.
    pub fn settings(&self, root: &std::path::Path) -> Result<Settings, Problems> {
        let settings = Settings::read(root)?;
        ui::set_colour(settings.colour);
        Ok(settings)
    }
}

/// Runs suil.
pub fn main() -> ExitCode {
    ui::set_colour(settings::colour());
    let args: Vec<OsString> = std::env::args_os().collect();
    if let Some(exit) = complete::answer(&args) {
        return exit.into();
    }
    let args = infra::graph::sorted(infra::terraform::sorted(&args));
    // Before they are parsed: who asked for JSON gets it of a wrong command line, too.
    ui::output::set_form(usage::form(&args));
    let exit = guard(settings::variable("RUST_BACKTRACE").is_some(), || match usage::parse(&args) {
        Ok(cli) => run(cli),
        Err(exit) => exit,
    });
    match ui::output::end() {
        Ok(()) => exit,
        Err(problem) => ui::fail(&[problem], &Mask::new()),
    }
    .into()
}

fn run(cli: Cli) -> Exit {
    let output = cli.output.unwrap_or_default();
    let context = Context { workspace: cli.workspace, output };
    let outcome = match cli.command {
        None => apply::pick(&context),
        Some(Command::Apply(Lazy(args))) => apply::run(args, &context),
        Some(Command::Plan(Lazy(args))) => plan::run(args, &context),
        Some(Command::Run(Lazy(args))) => run::run(args, &context),
        Some(Command::Ssh(Lazy(args))) => ssh::run(args, &context),
        Some(Command::Unlock(Lazy(args))) => unlock::run(args, &context),
        Some(Command::Config(Lazy(args))) => config::run(args, &context),
        Some(Command::Facts(Lazy(args))) => facts::run(args, &context),
        Some(Command::Explain(Lazy(args))) => explain::run(args, &context),
        Some(Command::Diff(Lazy(args))) => diff::run(args, &context),
        Some(Command::Nodes(Lazy(args))) => nodes::run(args, &context),
        Some(Command::Roles(Lazy(args))) => roles::run(args, &context),
        Some(Command::Modules(Lazy(args))) => modules::run(args, &context),
        Some(Command::Runs(Lazy(args))) => runs::run(args, &context),
        Some(Command::Validate(Lazy(args))) => validate::run(args, &context),
        Some(Command::Encrypt(Lazy(args))) => encrypt::run(args, &context),
        Some(Command::Decrypt(Lazy(args))) => decrypt::run(args, &context),
        Some(Command::Edit(Lazy(args))) => edit::run(args, &context),
        Some(Command::Rekey(Lazy(args))) => rekey::run(args, &context),
        Some(Command::Secrets(Lazy(args))) => secrets::run(args, &context),
        Some(Command::Infra(Lazy(args))) => infra::run(args, &context),
        Some(Command::Serve(Lazy(args))) => serve::run(args, &context),
        Some(Command::Init(Lazy(args))) => init::run(args, &context),
        Some(Command::Test(Lazy(args))) => test::run(args, &context),
        Some(Command::Schema(Lazy(args))) => schema::run(args, &context),
        Some(Command::Completions(Lazy(args))) => completions::run(args),
        Some(Command::Man(Lazy(args))) => man::run(args, &context),
    };
    outcome.unwrap_or_else(|problems| {
        let nothing = !problems.is_empty() && ui::problem::exit(&problems) == Exit::Done;
        if nothing && output != Output::Text {
            // The command is about no node, and who reads its answer by a program finds an answer.
            let none = || Plain::from_iter([("nodes", Plain::List(Vec::new()))]);
            if let Err(failed) = ui::show(output, String::new, none) {
                return ui::fail(&[failed], &Mask::new());
            }
        }
        ui::fail(&problems, &Mask::new())
    })
}
