//! Renders one layer: what it is made of, both passes over the templates, declarations, the output folder.

use super::host::{Asked, Asking};
use super::levels::{self, Origin};
use super::pieces::{self, Piece, Pieces};
use super::remote::Chain;
use super::site::shown;
use super::variables::Variables;
use super::{Layer, Run, declare, each, files, output, unread};
use crate::base::{FileId, Problem, Problems, Result};
use crate::infra::Value;
use crate::infra::jinja::{Host, Jinja, Var};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A layer whose output folder is new.
#[derive(Debug)]
pub struct Rendered {
    pub layer: Layer,
    /// How many files were rendered or copied, those in folders of base left out.
    pub files: usize,
    /// What is worth saying, and fails nothing.
    pub warnings: Problems,
    /// What Terraform will refuse. The folder is written all the same, as the original does.
    pub refused: Problems,
}

/// What the output folder of a layer is to hold.
#[derive(Debug)]
pub struct Built {
    pub pieces: Pieces,
    pub warnings: Problems,
    pub refused: Problems,
}

/// Renders the layer into its output folder. The folder is as it was where that fails.
///
/// # Errors
/// Every problem of the step that failed, at the files of the tree.
pub fn render(run: &Arc<Run>, layer: &Layer) -> Result<Rendered> {
    let Built { pieces, mut warnings, refused } = build(run, layer)?;
    warnings.extend(unread::warnings(run, layer)?);
    let files = pieces.len();
    output::write(&layer.output, &layer.label(), pieces)?;
    Ok(Rendered { layer: layer.clone(), files, warnings, refused })
}

/// Renders a layer of a revision into `folder`, which nobody else uses: everything in it is for the owner's eyes. What
/// Terraform put there stays, and so do links, unless a file has their name. Gives what Terraform will refuse.
///
/// # Errors
/// As [`render`].
pub fn render_into(run: &Arc<Run>, layer: &Layer, folder: &Path) -> Result<Problems> {
    let Built { pieces, refused, .. } = build(run, layer)?;
    output::put(folder, &files::of(run, &pieces)?)?;
    Ok(refused)
}

/// Makes what the output folder is to hold, and writes nothing.
///
/// # Errors
/// As [`render`].
pub fn build(run: &Arc<Run>, layer: &Layer) -> Result<Built> {
    build_for(run, layer, &Chain::new(layer), &Arc::default())
}

/// The same for the last layer of `chain`, whose state another one asks for. What its templates ask goes to `asking`.
pub(super) fn build_for(run: &Arc<Run>, layer: &Layer, chain: &Chain, asking: &Arc<Asking>) -> Result<Built> {
    let asked = Asked { run: Arc::clone(run), layer: layer.clone(), chain: chain.clone(), asking: Arc::clone(asking) };
    build_with(run, layer, Arc::new(asked), asking)
}

/// The same where `host` answers the templates.
pub(super) fn build_with(run: &Run, layer: &Layer, host: Arc<dyn Host>, asking: &Asking) -> Result<Built> {
    let (environments, opened) = run.environments()?;
    let mut pieces = pieces::collect(run, layer)?;
    let predefined = predefined(run, layer, &environments)?;
    let sensitive = run.sources.settings()?.sensitive;
    let templates = Templates { jinja: Jinja::new(host), asking };
    let private = first_pass(run, layer, &templates, &predefined, &mut pieces)? || opened;
    let (mut variables, more) = all(run, layer, &predefined, &pieces)?;
    variables.0.entry("stacks_environments".to_owned()).and_modify(|all| all.secret = opened);
    second_pass(&templates, &variables, private || more, &mut pieces)?;
    let declared = declare::files(run, &variables, &pieces, sensitive)?;
    pieces.extend(declared.files);
    Ok(Built { pieces, warnings: declared.warnings, refused: declared.refused })
}

/// The templates of a layer, and what they asked for.
struct Templates<'a> {
    jinja: Jinja,
    asking: &'a Asking,
}

/// Renders `*.tfvars.jinja` with the plain files of all levels; tells whether one of their values was a secret.
fn first_pass(
    run: &Run,
    layer: &Layer,
    templates: &Templates,
    predefined: &[(&str, Value)],
    pieces: &mut Pieces,
) -> Result<bool> {
    let mut variables = levels::plain(run, layer)?;
    let opened = run.secrets.open(&mut variables, false)?;
    let takes = |name: &str| name.ends_with(".tfvars.jinja") && !name.starts_with('.');
    // Without templates there is nothing to be made ready for them.
    if !pieces.iter().any(|(name, piece)| name.to_str().is_some_and(takes) && matches!(piece, Piece::Template(_))) {
        return Ok(opened);
    }
    predefine(&mut variables, predefined);
    let mut asked = false;
    let mode = |_, secret| {
        asked |= secret;
        0o600
    };
    templates.pass(&Var::new(&variables.value()), pieces, takes, mode)?;
    Ok(opened || asked)
}

/// Renders `*.tf` with all levels. What was made with secrets at hand is for the owner's eyes.
fn second_pass(templates: &Templates, variables: &Variables, private: bool, pieces: &mut Pieces) -> Result<()> {
    let var = Var::new(&variables.value());
    let mode = move |changed: bool, secret: bool| if changed && (private || secret) { 0o600 } else { 0o644 };
    templates.pass(&var, pieces, |name| name.ends_with(".tf"), mode)
}

impl Templates<'_> {
    /// Renders the templates of these names in their order; `mode` is told whether rendering changed the text, and
    /// whether the template asked for a secret.
    fn pass(
        &self,
        var: &Var,
        pieces: &mut Pieces,
        takes: impl Fn(&str) -> bool,
        mut mode: impl FnMut(bool, bool) -> u32,
    ) -> Result<()> {
        let mut problems = Problems::new();
        for (name, piece) in pieces.iter_mut() {
            let Piece::Template(file) = *piece else { continue };
            if !name.to_str().is_some_and(&takes) {
                continue;
            }
            let rendered = self.jinja.render(file, var);
            let asked = self.asking.take();
            match rendered {
                Ok(text) => {
                    let source = file.text();
                    let changed = source.strip_suffix('\n').unwrap_or(&source) != text;
                    *piece = Piece::Text { text, mode: mode(changed, asked.secret), source: Some(file) };
                }
                Err(problem) => problems.push(asked.notes.into_iter().fold(problem, Problem::note)),
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

/// The variables of all levels, opened; and whether there was a secret.
fn all(run: &Run, layer: &Layer, predefined: &[(&str, Value)], pieces: &Pieces) -> Result<(Variables, bool)> {
    let rendered = |origin: Origin| {
        let named = |(name, piece): (&OsString, &Piece)| {
            let name = name.to_str().filter(|n| n.starts_with(origin.prefix()) && n.ends_with(".tfvars.jinja"))?;
            let Piece::Text { text, source, .. } = piece else { return None };
            let path = source.map_or_else(|| PathBuf::from(name), FileId::path);
            Some(FileId::new(path, text.as_str()))
        };
        pieces.iter().filter_map(named).collect::<Vec<FileId>>()
    };
    let mut variables = levels::merged(run, layer, rendered)?;
    let opened = run.secrets.open(&mut variables, false)?;
    predefine(&mut variables, predefined);
    Ok((variables, opened))
}

fn predefine(variables: &mut Variables, predefined: &[(&str, Value)]) {
    for (name, value) in predefined {
        variables.set(name, value.clone());
    }
}

/// The variables that every layer has.
fn predefined(run: &Run, layer: &Layer, environments: &Value) -> Result<Vec<(&'static str, Value)>> {
    let (stack, name) = (layer.stack_name(), layer.layer_name());
    // The words of the original, whatever the folders are called: keys of states are built from it.
    let path = match run.sources.settings()?.real_path {
        true => shown(&layer.root, &layer.path).display().to_string(),
        false => format!("stacks/{stack}/layer/{name}"),
    };
    let optional = |part: &Option<String>| Value::from(part.clone().unwrap_or_default());
    Ok(vec![
        ("stacks_path", Value::from(path)),
        ("stacks_root", Value::from(layer.way_up())),
        ("stacks_stack", Value::from(stack)),
        ("stacks_layer", Value::from(name)),
        ("stacks_environment", Value::from(layer.name.environment.as_str())),
        ("stacks_subenvironment", optional(&layer.name.subenvironment)),
        ("stacks_instance", optional(&layer.name.instance)),
        ("stacks_environments", environments.clone()),
    ])
}

/// How far the render of a layer is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stage {
    Begun,
    Done,
    Failed,
}

/// Several layers at once, on as many threads as there are cores; the results in the order of `layers`. `follow` is told
/// as they go, from any thread.
pub fn render_all(run: &Arc<Run>, layers: &[Layer], follow: &(dyn Fn(&Layer, Stage) + Sync)) -> Vec<Result<Rendered>> {
    let results = each(layers, |layer| {
        follow(layer, Stage::Begun);
        let result = render(run, layer);
        follow(layer, if result.is_ok() { Stage::Done } else { Stage::Failed });
        result
    });
    let lost = || vec![Problem::new("suil lost a layer; this is a fault of suil")];
    results.into_iter().map(|result| result.unwrap_or_else(|| Err(lost()))).collect()
}
