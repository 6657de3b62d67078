//! `suil encrypt`.

use super::{Context, Outcome, Settings};
use crate::base::{Plain, Problem, Problems};
use crate::catalogue::Workspace;
use crate::data::secret;
use crate::ui::{self, Exit};
use std::io::Read;
use zeroize::Zeroizing;

/// Encrypt a value for the data files
///
/// Without a value, asks for it and does not show it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
A value given as an argument is visible in the list of processes while suil runs, and stays in the history of your
shell. Prefer the prompt, or --from-stdin, which takes every byte as it is, a line end too:
  printf %s \"$password\" | suil encrypt --from-stdin")]
pub struct Args {
    /// The value
    #[arg(value_name = "VALUE", conflicts_with = "from_stdin")]
    value: Option<String>,
    /// Read the value from stdin, byte for byte
    #[arg(long)]
    from_stdin: bool,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let (settings, workspace) = anywhere(context)?;
    let recipients = settings.recipients(workspace.as_ref())?;
    let plaintext = match args.value {
        Some(value) => Zeroizing::new(value.into_bytes()),
        None if args.from_stdin => stdin()?,
        None => {
            let instead = "pipe the value in with `--from-stdin`";
            Zeroizing::new(ui::ask::hidden("Value", instead)?.as_bytes().to_vec())
        }
    };
    let marker = secret::encrypt(&plaintext, &recipients)?.marker();
    ui::show(context.output, || format!("{marker}\n"), || Plain::from_iter([("value", Plain::from(&marker))]))
        .map_err(Problems::from)?;
    Ok(Exit::Done)
}

/// The settings and, where there is one, the workspace: secrets can be handled outside of one too.
pub(super) fn anywhere(context: &Context) -> Result<(Settings, Option<Workspace>), Problems> {
    match (context.root(), &context.workspace) {
        (Ok(root), _) => Ok((context.settings(&root)?, Some(Workspace::open(&root)?))),
        (Err(problems), Some(_)) => Err(problems),
        (Err(_), None) => Ok((Settings::environment(), None)),
    }
}

/// All of stdin.
pub(super) fn stdin() -> Result<Zeroizing<Vec<u8>>, Problem> {
    let mut bytes = Zeroizing::new(Vec::new());
    let read = std::io::stdin().lock().read_to_end(&mut bytes);
    read.map_err(|e| Problem::io("read", "stdin".as_ref(), &e))?;
    Ok(bytes)
}
