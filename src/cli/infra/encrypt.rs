//! `suil infra encrypt`.

use super::keys;
use crate::base::{Plain, Problem, Problems};
use crate::cli::encrypt::stdin;
use crate::cli::{Context, Outcome};
use crate::infra::envelope::seal;
use crate::ui::{self, Exit};
use std::io::IsTerminal;
use zeroize::Zeroizing;

/// Encrypt a string for variables of layers
///
/// Without a string, takes stdin; on a terminal, asks for it and does not show it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
A string given as an argument is visible in the list of processes while suil runs, and stays in the history of your
shell. Prefer the prompt, or stdin, of which every byte counts, a line end too:
  printf %s \"$password\" | suil infra encrypt --public-key-path public.pem
Without --public-key-path, the key is that of STACKS_PUBLIC_KEY_PATH.")]
pub struct Args {
    /// Encrypt for this public key
    #[arg(long, value_name = "FILE")]
    public_key_path: Option<String>,
    /// Read the string from stdin, even on a terminal
    #[arg(long)]
    from_stdin: bool,
    /// The string; it may be empty
    #[arg(value_name = "STRING", conflicts_with = "from_stdin")]
    string: Option<String>,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let public = keys::public(args.public_key_path.as_deref())?;
    let text = match args.string {
        Some(string) => Zeroizing::new(string),
        None if args.from_stdin || !std::io::stdin().is_terminal() => text(stdin()?)?,
        None => ui::ask::hidden("String", "pipe it in with `--from-stdin`")?,
    };
    let envelope = seal(&public, &text)?;
    ui::show(context.output, || format!("{envelope}\n"), || Plain::from_iter([("value", Plain::from(&envelope))]))
        .map_err(Problems::from)?;
    Ok(Exit::Done)
}

/// What stdin held, which is never nothing: most empty secrets are a pipe that failed.
pub(super) fn text(bytes: Zeroizing<Vec<u8>>) -> Result<Zeroizing<String>, Problem> {
    if bytes.is_empty() {
        return Err(Problem::new("nothing came from stdin").help("for an empty string, give `''` as the argument"));
    }
    let text = std::str::from_utf8(&bytes);
    let text = text.map_err(|_| Problem::new("what came from stdin is no UTF-8").help("encode it, in base64 say"))?;
    Ok(Zeroizing::new(text.to_owned()))
}
