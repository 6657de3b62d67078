//! The schemas, one for each kind of file that people write.

use crate::base::{Plain, Problems};
use crate::catalogue::{Workspace, deployment_schema};
use crate::cli::load::Loaded;
use crate::data::schema as form;

/// A kind of file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, clap::ValueEnum)]
pub enum File {
    /// Layers: nodes, roles, and all that the hierarchy names
    #[default]
    Data,
    /// data/common.yaml
    Common,
    /// modules.yaml
    Modules,
    /// modules/MODULE/requires.yaml
    Requires,
}

impl File {
    pub const ALL: [File; 4] = [File::Data, File::Common, File::Modules, File::Requires];

    pub fn name(self) -> &'static str {
        match self {
            File::Data => "data",
            File::Common => "common",
            File::Modules => "modules",
            File::Requires => "requires",
        }
    }

    /// The files that it is about, as globs below the workspace.
    pub fn globs(self, workspace: &Workspace) -> Vec<String> {
        match self {
            File::Data => {
                let layers =
                    workspace.hierarchy().patterns.iter().map(|pattern| format!("data/{}", starred(&pattern.text)));
                let own = ["modules/*/data/*.yaml", "modules/*/data/os/*/*.yaml"].map(str::to_owned);
                layers.chain(own).collect()
            }
            File::Common => vec!["data/common.yaml".to_owned()],
            File::Modules => vec!["modules.yaml".to_owned()],
            File::Requires => vec!["modules/*/requires.yaml".to_owned()],
        }
    }

    /// # Errors
    /// The schema of a module does not compile.
    pub fn schema(self, loaded: &Loaded) -> Result<Plain, Problems> {
        let (title, properties) = match self {
            File::Data => ("a layer of suil", layer(loaded)?),
            File::Common => ("data/common.yaml of suil", common()),
            File::Modules => ("modules.yaml of suil", manifest()),
            File::Requires => ("requires.yaml of a suil module", requires(loaded)),
        };
        let mut out = Plain::from_iter([
            ("type", Plain::from("object")),
            ("properties", properties),
            ("additionalProperties", Plain::from(false)),
        ]);
        if self == File::Common {
            out.set("required", vec![Plain::from("hierarchy")]);
        }
        out.set("$defs", form::definitions());
        Ok(titled(title)(out))
    }
}

/// `roles/{role}.yaml` is `roles/*.yaml`.
fn starred(pattern: &str) -> String {
    let mut parts = pattern.split('{');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |glob, part| glob + "*" + part.split_once('}').map_or(part, |(_, after)| after))
}

/// Puts the dialect and a title before a schema.
pub fn titled(title: &str) -> impl Fn(Plain) -> Plain + use<> {
    let head = Plain::from_iter([("$schema", Plain::from(form::DIALECT)), ("title", Plain::from(title))]);
    move |schema| {
        let both = [&head, &schema].into_iter().flat_map(|part| part.as_map().into_iter().flatten());
        both.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

/// Every module's slice, and the keys that suil itself reads.
fn layer(loaded: &Loaded) -> Result<Plain, Problems> {
    let roles: Vec<&str> = loaded.workspace.role_names()?.collect();
    // A role that is not there yet is no fault of the file that names it.
    let role =
        || form::either([Plain::from_iter([("enum", roles.iter().map(|r| Plain::from(*r)).collect())]), form::text()]);
    let names = modules(loaded);
    let mut slots = Plain::from_iter([
        ("role", form::described(role(), "the role of the node; in node files alone")),
        (
            "modules",
            form::described(
                form::list(names),
                "the modules, in nodes those beside the role's; in role and node files alone",
            ),
        ),
        (
            "after",
            form::described(
                form::list(role()),
                "the roles that a rolling run finishes before this one; in role files alone",
            ),
        ),
        ("before_batch", hook("before")),
        ("after_batch", hook("after")),
        ("deployment", form::described(deployment_schema(), "how the nodes are reached")),
    ]);
    let mut problems = Problems::new();
    for module in loaded.modules.iter() {
        match module.layer_schema() {
            Ok(schema) => slots.set(module.name(), schema.unwrap_or_else(Plain::map)),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(slots) } else { Err(problems) }
}

/// A command of the control machine, under `before_batch` or `after_batch`; false and an empty list are none.
fn hook(when: &str) -> Plain {
    let words = Plain::from_iter([("type", Plain::from("array")), ("items", form::text())]);
    let run = || form::either([form::text(), words.clone()]);
    let timed = Plain::from_iter([
        ("type", Plain::from("object")),
        ("properties", Plain::from_iter([("run", run()), ("timeout", form::text())])),
        ("required", Plain::List(vec![Plain::from("run")])),
        ("additionalProperties", Plain::from(false)),
    ]);
    let words = format!("runs on the control machine {when} a batch of a rolling run");
    form::described(form::either([run(), timed]), &words)
}

/// How many runs are kept, under `runs`.
fn kept() -> Plain {
    let number = || Plain::from_iter([("type", Plain::from("integer")), ("minimum", Plain::from(0))]);
    let all = form::either([number(), Plain::from_iter([("enum", Plain::List(vec![Plain::from("all")]))])]);
    Plain::from_iter([
        ("type", Plain::from("object")),
        (
            "properties",
            Plain::from_iter([
                ("keep", form::described(all, "the newest so many runs are kept, or `all`")),
                ("days", form::described(number(), "runs of the last so many days are kept")),
            ]),
        ),
        ("additionalProperties", Plain::from(false)),
    ])
}

fn modules(loaded: &Loaded) -> Plain {
    Plain::from_iter([("enum", loaded.modules.iter().map(|module| Plain::from(module.name())).collect())])
}

fn common() -> Plain {
    let strings = |doc: &str| {
        let list = Plain::from_iter([("type", Plain::from("array")), ("items", form::typed("string"))]);
        form::described(list, doc)
    };
    let one_or_more = form::either([form::typed("string"), strings("")]);
    Plain::from_iter([
        (
            "deployment",
            form::described(deployment_schema(), "how the nodes are reached, unless a layer says otherwise"),
        ),
        ("hierarchy", strings("the layers below data/, lowest first: `roles/{role}.yaml`, `nodes/{node}.yaml`")),
        ("recipients", form::described(one_or_more, "who can open the secrets: `age1…`")),
        ("runs", form::described(kept(), "which records of runs are kept")),
        ("before_batch", hook("before")),
        ("after_batch", hook("after")),
    ])
}

fn manifest() -> Plain {
    let version = form::text();
    let pinned = Plain::from_iter([
        ("type", Plain::from("object")),
        ("properties", Plain::from_iter([("version", version.clone()), ("sha256", form::typed("string"))])),
        ("required", Plain::List(vec![Plain::from("version")])),
    ]);
    let versions =
        Plain::from_iter([("type", Plain::from("object")), ("additionalProperties", form::either([version, pinned]))]);
    let names = Plain::from_iter([("type", Plain::from("array")), ("items", form::typed("string"))]);
    let properties = Plain::from_iter([
        ("repo", form::described(form::typed("string"), "`local`, or the address of a git or http source")),
        (
            "modules",
            form::described(form::either([names, versions]), "names, for `local`; else a version for each name"),
        ),
    ]);
    let repo = Plain::from_iter([
        ("type", Plain::from("object")),
        ("properties", properties),
        ("required", ["repo", "modules"].into_iter().map(Plain::from).collect()),
        ("additionalProperties", Plain::from(false)),
    ]);
    Plain::from_iter([("repos", Plain::from_iter([("type", Plain::from("array")), ("items", repo)]))])
}

fn requires(loaded: &Loaded) -> Plain {
    let list = Plain::from_iter([("type", Plain::from("array")), ("items", modules(loaded))]);
    Plain::from_iter([("requires", form::described(list, "the modules that come first"))])
}
