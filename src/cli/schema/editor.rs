//! The settings that plug the schemas and the tags into an editor. All speak to one language server for YAML.

use super::FOLDER;
use super::files::File;
use crate::base::Plain;
use crate::catalogue::Workspace;
use crate::data::schema::tags;

/// An editor.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub enum Editor {
    /// VS Code with the YAML extension: for .vscode/settings.json
    Vscode,
    /// Neovim with yaml-language-server: for init.lua
    Neovim,
    /// Helix with yaml-language-server: for .helix/languages.toml
    Helix,
}

/// The files of each schema, by the path of the schema.
fn schemas(workspace: &Workspace) -> Vec<(String, Vec<String>)> {
    File::ALL.into_iter().map(|file| (format!("{FOLDER}/{}.json", file.name()), file.globs(workspace))).collect()
}

/// The settings as JSON.
pub fn settings(workspace: &Workspace) -> Plain {
    let list = |all: &[String]| all.iter().map(Plain::from).collect::<Plain>();
    let schemas = schemas(workspace).into_iter().map(|(path, globs)| (path, list(&globs))).collect::<Plain>();
    Plain::from_iter([("yaml.customTags", list(&tags())), ("yaml.schemas", schemas)])
}

impl Editor {
    /// The settings as the editor reads them.
    pub fn text(self, workspace: &Workspace) -> String {
        let quoted = |all: &[String]| all.iter().map(|one| format!("\"{one}\"")).collect::<Vec<_>>().join(", ");
        let schemas = schemas(workspace);
        match self {
            Editor::Vscode => settings(workspace).to_json() + "\n",
            Editor::Neovim => {
                let lines =
                    schemas.iter().map(|(path, globs)| format!("        [\"{path}\"] = {{ {} }},\n", quoted(globs)));
                format!(
                    "vim.lsp.config(\"yamlls\", {{\n  settings = {{\n    yaml = {{\n      customTags = {{ {} }},\n      schemas = {{\n{}      \
                     }},\n    }},\n  }},\n}})\nvim.lsp.enable(\"yamlls\")\n",
                    quoted(&tags()),
                    lines.collect::<String>()
                )
            }
            Editor::Helix => {
                let lines = schemas.iter().map(|(path, globs)| format!("\"{path}\" = [{}]\n", quoted(globs)));
                format!(
                    "[language-server.yaml-language-server.config.yaml]\ncustomTags = [{}]\n\n\
                     [language-server.yaml-language-server.config.yaml.schemas]\n{}",
                    quoted(&tags()),
                    lines.collect::<String>()
                )
            }
        }
    }
}
