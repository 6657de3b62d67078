//! `suil infra genkey`.

use super::keys;
use crate::base::problem::Kind;
use crate::base::{Plain, Problem, Problems, file};
use crate::cli::{Context, Outcome};
use crate::infra::envelope::{SIZES, generate};
use crate::ui::{self, Exit};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Make a pair of RSA keys for the secrets of layers
///
/// Whoever has the public key can encrypt; only the private one decrypts. A file that is there already stays as it is.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
The private key is for you and those who render: keep it out of the repository. The public key may be shown to all.
With --passphrase the passphrase is taken from SUIL_KEY_PASSPHRASE, else asked for.")]
pub struct Args {
    /// Write the private key here, mode 0600
    #[arg(long, value_name = "FILE", default_value = "private.pem", visible_alias = "private")]
    private_key_path: PathBuf,
    /// Write the public key here
    #[arg(long, value_name = "FILE", default_value = "public.pem", visible_alias = "public")]
    public_key_path: PathBuf,
    /// Make keys of this size
    #[arg(long, value_name = "BITS", default_value = "3072", value_parser = clap::builder::PossibleValuesParser::new(SIZE_NAMES))]
    bits: String,
    /// Encrypt the private key with a passphrase
    #[arg(long)]
    passphrase: bool,
}

/// [`SIZES`] as they are typed.
const SIZE_NAMES: [&str; SIZES.len()] = ["2048", "3072", "4096", "8192"];

pub fn run(args: Args, context: &Context) -> Outcome {
    let (private, public) = (&args.private_key_path, &args.public_key_path);
    if private == public {
        return Err(Problem::usage("the private and the public key cannot be one file").into());
    }
    let taken: Problems =
        [private, public].into_iter().filter(|path| path.symlink_metadata().is_ok()).map(|path| exists(path)).collect();
    if !taken.is_empty() {
        return Err(taken);
    }
    let passphrase = if args.passphrase { Some(passphrase(context)?) } else { None };
    let bits = args.bits.parse().unwrap_or_default();
    let pair = generate(bits, passphrase.as_deref().map(String::as_str))?;
    make(private, pair.private.as_bytes(), 0o600)?;
    make(public, pair.public.as_bytes(), 0o644).inspect_err(|_| {
        // A private key without its public half is of no use, and is in the way of the next try.
        let _ = std::fs::remove_file(private);
    })?;
    let text = || {
        let under = if args.passphrase { ", under a passphrase" } else { "" };
        format!(
            "private key: {}, {bits} bits{under}\npublic key:  {}\nfingerprint: {}\n",
            private.display(),
            public.display(),
            pair.fingerprint
        )
    };
    let value = || {
        Plain::from_iter([
            ("private_key", Plain::from(private.display().to_string())),
            ("public_key", Plain::from(public.display().to_string())),
            ("bits", Plain::Int(i64::from(bits))),
            ("passphrase", Plain::from(args.passphrase)),
            ("fingerprint", Plain::from(&pair.fingerprint)),
        ])
    };
    ui::show(context.output, text, value).map_err(Problems::from)?;
    Ok(Exit::Done)
}

fn passphrase(context: &Context) -> Result<Zeroizing<String>, Problems> {
    if let Some(passphrase) = keys::settings(context)?.key_passphrase {
        return Ok(passphrase);
    }
    let instead = "set SUIL_KEY_PASSPHRASE";
    let first = ui::ask::hidden("Passphrase", instead)?;
    if first.is_empty() {
        return Err(Problem::new("the passphrase is empty").help("without `--passphrase` the key has none").into());
    }
    match *ui::ask::hidden("Passphrase again", instead)? == *first {
        true => Ok(first),
        false => Err(Problem::new("the two passphrases differ").note("nothing was written").into()),
    }
}

fn make(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Problem> {
    file::make(path, bytes, mode).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => exists(path),
        _ => Problem::io("write", path, &error),
    })
}

fn exists(path: &Path) -> Problem {
    Problem::new(format!("`{}` is there already", path.display()))
        .kind(Kind::Refused)
        .note("what was encrypted for a key opens with that key alone, so none is overwritten")
        .help("name another file, or move this one away")
}
