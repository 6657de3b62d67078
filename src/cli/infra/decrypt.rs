//! `suil infra decrypt`.

use super::{encrypt, keys};
use crate::base::Problems;
use crate::cli::encrypt::stdin;
use crate::cli::{Context, Outcome};
use crate::infra::envelope::{is_envelope, is_marker};
use crate::ui::{self, Exit, Output};
use zeroize::Zeroizing;

/// Decrypt a string of the variables of layers
///
/// Without a string, takes stdin. What is no envelope comes out as it went in, and no key is opened for it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
On a terminal a line end is added; in a pipe the bytes are exactly those that were encrypted. age markers, !ENC[…], are
opened with SUIL_AGE_KEY. Without --private-key-path, the keys are those of STACKS_PRIVATE_KEY_PATH.")]
pub struct Args {
    /// Try these private keys in turn, with commas between them
    #[arg(long, value_name = "FILES")]
    private_key_path: Option<String>,
    /// The string: ENC[…]
    #[arg(value_name = "STRING")]
    string: Option<String>,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let string = match args.string {
        Some(string) => Zeroizing::new(string),
        None => encrypt::text(stdin()?)?,
    };
    // A line end behind an envelope is the shell's, not a part of it.
    let envelope = string.trim();
    let plain = match is_envelope(envelope) || is_marker(envelope) {
        true => {
            let keys = keys::private(context, args.private_key_path.as_deref())?;
            keys.open(envelope).map_err(|refusal| refusal.problem("the string"))?
        }
        false => string,
    };
    if context.output != Output::Text {
        ui::output::reveal(context.output, plain.as_bytes())?;
        return Ok(Exit::Done);
    }
    ui::out_bytes(plain.as_bytes()).map_err(Problems::from)?;
    if ui::columns().is_some() && !plain.ends_with('\n') {
        ui::out("\n").map_err(Problems::from)?;
    }
    Ok(Exit::Done)
}
