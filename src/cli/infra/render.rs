//! `suil infra render`.

use super::{begin, options, select};
use crate::base::problem::Kind;
use crate::base::{Mask, Plain, Problem, Problems};
use crate::cli::{Context, Outcome};
use crate::infra::layer::{self, Layer, Rendered, Stage};
use crate::infra::terraform::{self, Tool};
use crate::ui::progress::{Ending, Progress};
use crate::ui::text::count;
use crate::ui::{self, Exit, Output};
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;

/// Render layers into their output folders
///
/// A layer that cannot be rendered keeps the output folder it has. Several layers are rendered at the same time.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Examples: suil infra render, suil infra render --all, suil infra render 'stacks/*/layers/prod*'"
)]
pub struct Args {
    /// Render these layers: folders, or patterns of folders [default: the one here]
    #[arg(value_name = "LAYER")]
    layers: Vec<String>,
    /// Render every layer of the tree
    #[arg(long, conflicts_with = "layers")]
    all: bool,
    /// Run `terraform init` afterwards; `auto` does where it never ran
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    init: Init,
    /// Let templates read files outside the tree
    #[arg(long)]
    allow_outside: bool,
}

/// When `terraform init` runs after a render.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Init {
    Auto,
    Always,
    Never,
}

impl Init {
    pub fn is_due(self, layer: &Layer) -> bool {
        match self {
            Init::Auto => terraform::is_new(&layer.output),
            Init::Always => true,
            Init::Never => false,
        }
    }
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let options = options::read(args.allow_outside)?;
    let here = options::here()?;
    let layers = select::layers(&args.layers, args.all, &here, &options)?;
    let Some(root) = layers.first().map(|layer| layer.root.clone()) else { return Ok(Exit::Done) };
    let mask = Mask::new();
    let run = Arc::new(begin::run(context, &root, options, &mask)?);
    let tool = Tool::new(&run.options.terraform);
    let progress = (layers.len() > 1).then(|| Progress::of("rendering", layers.len(), "layer"));
    let follow = |layer: &Layer, stage: Stage| {
        let Some(progress) = &progress else { return };
        match stage {
            Stage::Begun => progress.started(&layer.label()),
            Stage::Done => progress.finished(&layer.label(), Ending::Done),
            Stage::Failed => progress.finished(&layer.label(), Ending::Failed),
        }
    };
    let rendered = layer::render_all(&run, &layers, &follow);
    drop(progress);
    let mut told: Vec<Told> =
        rendered.into_iter().zip(&layers).map(|(result, layer)| Told::new(layer, result)).collect();
    let exit = init_all(&args, &tool, context, &mut told);
    let warnings: Problems = told.iter().flat_map(|told| told.warnings.clone()).collect();
    let problems: Problems = told.iter().flat_map(|told| told.problems.clone()).collect();
    let text = || told.iter().filter_map(Told::line).collect::<String>();
    let value = || Plain::from_iter([("layers", told.iter().map(|told| told.value(&mask)).collect::<Plain>())]);
    ui::show(context.output, text, value)?;
    ui::warn(&warnings, &mask);
    if problems.is_empty() {
        return Ok(exit);
    }
    let failed = ui::fail(&problems, &mask);
    // What Terraform ended with is told where every layer was rendered.
    Ok(if exit == Exit::Done || told.iter().any(|told| !told.rendered) { failed } else { exit })
}

/// Initialises, one layer after the other, so that what Terraform says can be read. The first failure is handed on.
fn init_all(args: &Args, tool: &Tool, context: &Context, told: &mut [Told]) -> Exit {
    let mut exit = Exit::Done;
    for told in told.iter_mut().filter(|told| told.rendered) {
        let refused = std::mem::take(&mut told.refused);
        if !args.init.is_due(&told.layer) {
            told.warnings.extend(refused.into_iter().map(|problem| problem.kind(Kind::Warning)));
            continue;
        }
        let quiet = context.output != Output::Text;
        let (ended, problems) = init(tool, &told.layer, refused, |tool, folder| tool.watch(folder, &["init"], quiet));
        told.problems.extend(problems);
        exit = if exit == Exit::Done { ended } else { exit };
        if ended == Exit::Interrupted {
            return ended;
        }
    }
    exit
}

/// Initialises a layer by `start`, unless Terraform would refuse it anyway; what it ended with, and why.
pub fn init(
    tool: &Tool,
    layer: &Layer,
    refused: Problems,
    start: impl FnOnce(&Tool, &Path) -> Result<ExitStatus, Problem>,
) -> (Exit, Problems) {
    if !refused.is_empty() {
        return (Exit::Failed, refused);
    }
    match start(tool, &layer.output) {
        Ok(status) if status.success() => (Exit::Done, Problems::new()),
        Ok(status) => {
            let what = format!("`{} init` failed in `{}`", tool.program.display(), layer.shown(&layer.output));
            (Exit::Other(terraform::code(status)), Problem::new(what).note(format!("it ended with {status}")).into())
        }
        Err(problem) => (ui::problem::exit(std::slice::from_ref(&problem)), problem.into()),
    }
}

/// What there is to tell about a layer.
struct Told {
    layer: Layer,
    rendered: bool,
    files: usize,
    warnings: Problems,
    /// What Terraform will refuse.
    refused: Problems,
    problems: Problems,
}

impl Told {
    fn new(layer: &Layer, result: Result<Rendered, Problems>) -> Told {
        let layer = layer.clone();
        match result {
            Ok(Rendered { files, warnings, refused, .. }) => {
                Told { layer, rendered: true, files, warnings, refused, problems: Problems::new() }
            }
            Err(found) => {
                let (warnings, problems) = found.into_iter().partition(|problem| problem.kind == Kind::Warning);
                Told { layer, rendered: false, files: 0, warnings, refused: Problems::new(), problems }
            }
        }
    }

    /// `rendered` or `failed`, in one word.
    fn outcome(&self) -> &'static str {
        if self.rendered && self.problems.is_empty() { "rendered" } else { "failed" }
    }

    fn line(&self) -> Option<String> {
        let label = self.layer.label();
        Some(match self.outcome() {
            "rendered" => format!("{label}: rendered, {}\n", count(self.files, "file")),
            _ => format!("{label}: failed, {}\n", count(self.problems.len(), "problem")),
        })
    }

    fn value(&self, mask: &Mask) -> Plain {
        let problems = self.problems.iter().chain(&self.warnings);
        Plain::from_iter([
            ("layer", Plain::from(self.layer.label())),
            ("outcome", Plain::from(self.outcome())),
            ("problems", problems.map(|problem| ui::output::problem(problem, mask)).collect()),
        ])
    }
}
