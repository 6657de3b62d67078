//! `suil decrypt`.

use super::encrypt::{anywhere, stdin};
use super::{Context, Outcome};
use crate::base::{Problem, Problems};
use crate::data::Cipher;
use crate::data::secret::{self, Failure};
use crate::ui::{self, Exit, Output};

/// Decrypt a value of the data files
#[derive(clap::Args, Debug)]
#[command(after_help = "On a terminal a line end is added; in a pipe the bytes are exactly those that were encrypted.")]
pub struct Args {
    /// The value: !ENC[…]
    #[arg(value_name = "VALUE", required_unless_present = "from_stdin", conflicts_with = "from_stdin")]
    value: Option<String>,
    /// Read the value from stdin
    #[arg(long)]
    from_stdin: bool,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let (settings, _) = anywhere(context)?;
    let marker = match args.value {
        Some(value) => value,
        None => String::from_utf8_lossy(&stdin()?).into_owned(),
    };
    let cipher = Cipher::parse(&marker).map_err(|found| {
        Problem::usage("this is no encrypted value").expected(format!("expected `!ENC[<base64>]`, found {found}"))
    })?;
    let keys = settings
        .keys()?
        .ok_or_else(|| Problem::new("there is no key to decrypt with").help("set SUIL_AGE_KEY or SUIL_AGE_KEY_FILE"))?;
    let plaintext = secret::decrypt(&cipher, &keys).map_err(|failure| match failure {
        Failure::NoMatchingKey => Problem::new("the value is encrypted for another key")
            .expected(format!("expected one of the identities from `{}` to open it", keys.origin()))
            .note(format!("tried the identities of {}", keys.recipients().names().join(", "))),
        Failure::Damaged => Problem::new("the value is a damaged ciphertext")
            .expected("expected a whole age file in base64: it was cut short or changed"),
    })?;
    if context.output != Output::Text {
        ui::output::reveal(context.output, plaintext.as_bytes())?;
        return Ok(Exit::Done);
    }
    ui::out_bytes(plaintext.as_bytes()).map_err(Problems::from)?;
    if ui::columns().is_some() && !plaintext.as_bytes().ends_with(b"\n") {
        ui::out("\n").map_err(Problems::from)?;
    }
    Ok(Exit::Done)
}
