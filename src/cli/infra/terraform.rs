//! `suil infra terraform`.

use super::render::{self, Init};
use super::{begin, options, select};
use crate::base::problem::Kind;
use crate::base::{Mask, Problem, Problems};
use crate::cli::{Context, Outcome};
use crate::infra::layer::{self, Rendered};
use crate::infra::terraform::Tool;
use crate::ui::{self, Exit};
use std::ffi::{OsStr, OsString};
use std::sync::Arc;

/// Render the layer here, and run Terraform in its output folder
///
/// Arguments, terminal, signals and exit code are Terraform's own; suil prints nothing on stdout.
#[derive(clap::Args, Debug)]
#[command(
    disable_help_flag = true,
    disable_version_flag = true,
    after_help = "\
Examples: suil infra terraform plan, suil infra terraform apply -auto-approve, suil infra terraform -help
--init, --allow-outside and --help are suil's wherever they stand before a `--`, and everything else is Terraform's;
--workspace and --output stand before `terraform`."
)]
pub struct Args {
    /// Run `terraform init` before; `auto` does where it never ran
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    init: Init,
    /// Let templates read files outside the tree
    #[arg(long)]
    allow_outside: bool,
    /// Print this help; `-help` prints Terraform's
    #[arg(long, action = clap::ArgAction::Help)]
    help: Option<bool>,
    /// What Terraform is told
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// The words of a command line with suil's own options before Terraform's arguments, and `--` between them.
pub fn sorted(args: &[OsString]) -> Vec<OsString> {
    let Some(at) = place(args) else { return args.to_vec() };
    let (before, after) = args.split_at(at);
    let (mut own, mut other) = (Vec::new(), Vec::new());
    let mut words = after.iter();
    while let Some(word) = words.next() {
        match word.to_str().unwrap_or_default() {
            "--" => other.extend(words.by_ref().cloned()),
            "--init" => own.extend([word.clone()].into_iter().chain(words.next().cloned())),
            "--help" | "--allow-outside" => own.push(word.clone()),
            text if text.starts_with("--init=") => own.push(word.clone()),
            _ => other.push(word.clone()),
        }
    }
    [before, &own, &["--".into()], &other].concat()
}

/// Where the words of this command begin.
fn place(args: &[OsString]) -> Option<usize> {
    let mut path = ["infra", "terraform"].into_iter().peekable();
    let mut words = args.iter().enumerate().skip(1);
    while let Some(next) = path.peek() {
        let (at, word) = words.next()?;
        match word.to_str()? {
            "--workspace" | "--output" => drop(words.next()),
            text if text.starts_with("--") => {}
            text if text == *next => {
                path.next();
                if path.peek().is_none() {
                    return Some(at + 1);
                }
            }
            _ => return None,
        }
    }
    None
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let (Rendered { layer, refused, .. }, tool, mask) = match render_here(args.allow_outside, context)? {
        Ok(here) => here,
        Err(exit) => return Ok(exit),
    };
    if args.init.is_due(&layer) && (args.init == Init::Always || needs_init(&args.arguments)) {
        let (exit, problems) = render::init(&tool, &layer, refused, |tool, folder| tool.aside(folder, &["init"]));
        if exit != Exit::Done {
            // Terraform has said itself what it ended with.
            let failed = ui::fail(&problems, &mask);
            return Ok(if exit == Exit::Failed { failed } else { exit });
        }
    } else {
        let refused: Problems = refused.into_iter().map(|problem| problem.kind(Kind::Warning)).collect();
        ui::warn(&refused, &mask);
    }
    Err(tool.take(&layer.output, &args.arguments).into())
}

/// The layer here, rendered, and the program that its tree asks for; or what suil ends with where it cannot be rendered.
pub fn render_here(outside: bool, context: &Context) -> Result<Result<(Rendered, Tool, Mask), Exit>, Problems> {
    let options = options::read(outside)?;
    let layers = select::layers(&[], false, &options::here()?, &options).map_err(|problems| {
        let stand = |problem: Problem| match problem.what.ends_with("is no layer") {
            true => problem.help("go to a layer's folder"),
            false => problem,
        };
        problems.into_iter().map(stand).collect::<Problems>()
    })?;
    let Some(layer) = layers.first() else { return Ok(Err(Exit::Done)) };
    let mask = Mask::new();
    // What it reads of other layers is removed with it: nothing of suil is left once it is Terraform.
    let run = Arc::new(begin::run(context, &layer.root, options, &mask)?);
    let tool = Tool::new(&run.options.terraform);
    match layer::render(&run, layer) {
        Ok(rendered) => {
            ui::warn(&rendered.warnings, &mask);
            Ok(Ok((rendered, tool, mask)))
        }
        Err(problems) => Ok(Err(ui::fail(&problems, &mask))),
    }
}

/// False for what Terraform does without a folder that was initialised, and for `init` itself.
fn needs_init(arguments: &[OsString]) -> bool {
    let is_help = |word: &OsString| ["-help", "--help", "-h", "-version", "--version", "-v"].iter().any(|w| word == w);
    let command = arguments.iter().find(|word| !word.to_string_lossy().starts_with('-'));
    let needs_none = |word: &OsString| ["init", "version", "fmt"].map(OsStr::new).contains(&word.as_os_str());
    command.is_some_and(|command| !needs_none(command)) && !arguments.iter().any(is_help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn own_options_are_taken_from_anywhere_before_the_dashes() {
        for (line, want) in [
            ("suil infra terraform", "suil infra terraform --"),
            ("suil infra terraform plan --init never -out=x", "suil infra terraform --init never -- plan -out=x"),
            ("suil infra terraform plan --init=always", "suil infra terraform --init=always -- plan"),
            ("suil infra terraform plan --help", "suil infra terraform --help -- plan"),
            ("suil infra terraform plan -- --help --", "suil infra terraform -- plan --help --"),
            ("suil infra terraform plan -help -h", "suil infra terraform -- plan -help -h"),
            ("suil infra terraform output --output x", "suil infra terraform -- output --output x"),
            ("suil infra terraform plan --init", "suil infra terraform --init -- plan"),
            ("suil --output json infra terraform x", "suil --output json infra terraform -- x"),
            ("suil infra --workspace=w terraform x", "suil infra --workspace=w terraform -- x"),
            ("suil infra render terraform", "suil infra render terraform"),
            ("suil nodes", "suil nodes"),
        ] {
            assert_eq!(sorted(&words(line)), words(want), "{line}");
        }
    }

    #[test]
    fn only_what_works_in_a_folder_that_was_initialised_initialises_it() {
        for (line, due) in [
            ("plan -out=x", true),
            ("-no-color plan", true),
            ("init -upgrade", false),
            ("plan -help", false),
            ("-version", false),
            ("version -json", false),
            ("fmt", false),
        ] {
            assert_eq!(needs_init(&words(line)), due, "{line}");
        }
        assert!(!needs_init(&[]));
    }
}
