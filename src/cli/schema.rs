//! `suil schema`.

mod editor;
mod files;

use super::{Context, Outcome};
use crate::base::{Plain, Problem, Problems, file, nearest::nearest};
use crate::module::Module;
use crate::plan::Modules;
use crate::ui::{self, Exit, Output};
use editor::Editor;
use files::File;

/// Print the JSON Schema of the data files, and how to plug it into an editor
///
/// Editors complete, explain and check data files with it.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
suil schema --write                                  write the schemas to .suil/schema/, again after a module changed
suil schema --editor vscode > .vscode/settings.json  tell the editor of them, and of the tags")]
pub struct Args {
    /// Print the schema of what this module is told, defaults included, instead
    #[arg(value_name = "MODULE", conflicts_with_all = ["file", "editor", "write"])]
    module: Option<String>,
    /// Which files to print the schema of
    #[arg(long = "for", value_name = "FILES", value_enum, default_value_t)]
    file: File,
    /// Print the settings of this editor
    #[arg(long, value_name = "EDITOR", value_enum, conflicts_with_all = ["file", "write"])]
    editor: Option<Editor>,
    /// Write the schemas of all files into .suil/schema/
    #[arg(long, conflicts_with = "file")]
    write: bool,
}

/// Where `--write` writes, below the workspace.
const FOLDER: &str = ".suil/schema";

pub fn run(args: Args, context: &Context) -> Outcome {
    let loaded = context.load()?;
    if let Some(editor) = args.editor {
        match (editor, context.output) {
            (Editor::Vscode, output) => ui::document(output, &editor::settings(&loaded.workspace))?,
            (editor, Output::Text) => ui::out(&editor.text(&loaded.workspace))?,
            (_, output) => ui::document(output, &editor::settings(&loaded.workspace))?,
        }
        return Ok(Exit::Done);
    }
    if args.write {
        let folder = loaded.workspace.root().join(FOLDER);
        let schemas: Vec<(File, Plain)> =
            File::ALL.into_iter().map(|file| Ok((file, file.schema(&loaded)?))).collect::<Result<_, Problems>>()?;
        file::private_folder(&folder)?;
        let mut written = Vec::new();
        for (file, schema) in schemas {
            let name = format!("{}.json", file.name());
            file::write(&folder.join(&name), (schema.to_json() + "\n").as_bytes(), 0o600)?;
            written.push(format!("{FOLDER}/{name}"));
        }
        let text = || written.iter().map(|path| format!("{path}\n")).collect();
        let value = || Plain::from_iter([("files", written.iter().map(Plain::from).collect::<Plain>())]);
        ui::show(context.output, text, value)?;
        return Ok(Exit::Done);
    }
    let schema = match &args.module {
        Some(name) => {
            let module = loaded.modules.get(name).ok_or_else(|| unknown(name, &loaded.modules))?;
            module.json_schema()?.map(files::titled(&format!("the config of module {name}"))).ok_or_else(|| {
                Problem::new(format!("module `{name}` has no schema")).help("declare one in its code/config.star")
            })?
        }
        None => args.file.schema(&loaded)?,
    };
    ui::document(context.output, &schema).map_err(Problems::from)?;
    Ok(Exit::Done)
}

/// The problem of a module that is not there.
pub(super) fn unknown(name: &str, modules: &Modules) -> Problem {
    let known: Vec<&str> = modules.iter().map(Module::name).collect();
    let problem = Problem::new(format!("unknown module `{name}`"));
    match nearest(name, known.iter().copied()) {
        Some(guess) => problem.help(format!("did you mean `{guess}`? `suil modules` lists all {}", known.len())),
        None => problem.help(format!("`suil modules` lists all {}", known.len())),
    }
}
