//! Layers as stacks: `stacks/<stack>:<layer>`. What they are made of shows where they are rendered, in memory.

use super::code::{Code, Facts, is_code};
use super::config::Own;
use super::discover::Place;
use super::each::each;
use super::files::Listing;
use super::settle::{self, Settled};
use super::tree::{Found, Tree, below};
use super::{At, Code as Word, HostRead, key};
use crate::base::{FileId, Problem, Result};
use crate::infra::Value;
use crate::infra::hcl;
use crate::infra::jinja::Lookup;
use crate::infra::layer::{self, Layer, Name, Options, Piece, Run, Survey};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// What scanning layers takes.
pub struct Layers<'a> {
    pub run: &'a Arc<Run>,
    /// The root, without links.
    pub root: &'a Path,
}

/// A layer that was looked at.
pub struct Surveyed {
    /// The folder of the layer.
    pub path: String,
    /// The folder that Terraform would run in.
    pub output: String,
    pub code: Code,
    pub settled: Settled,
    /// The layers whose states it reads, by their keys, and where.
    pub reads: BTreeMap<String, Option<At>>,
    /// What it reads and its stack does not own.
    pub watch: BTreeSet<String>,
    /// Patterns of what it would read.
    pub globs: BTreeSet<String>,
    /// What its templates ask of the host data.
    pub host_reads: Vec<HostRead>,
}

/// The names of the folders of a layered tree.
struct Names {
    environments: String,
    stacks: String,
    base: String,
    layers: String,
    output: String,
}

impl Names {
    /// `None` where they are not names below the root.
    fn new(options: &Options) -> Option<Names> {
        let text = |path: &Path| key::clean(path.to_str()?).filter(|path| !path.is_empty());
        Some(Names {
            environments: text(&options.environments)?,
            stacks: text(&options.stacks)?,
            base: text(&options.base)?,
            layers: text(&options.layers)?,
            // An output folder elsewhere is never met in the tree.
            output: text(&options.output).unwrap_or_else(|| "stacks.out".to_owned()),
        })
    }
}

/// The folders of stacks that have layers.
pub fn stacks(listing: &Listing, options: &Options) -> BTreeSet<String> {
    let Some(names) = Names::new(options) else { return BTreeSet::new() };
    if !listing.is_folder(&names.environments) {
        return BTreeSet::new();
    }
    let all = children(listing, &names.stacks);
    all.filter(|stack| listing.is_folder(&below(stack, &names.base)) && listing.is_folder(&below(stack, &names.layers)))
        .map(str::to_owned)
        .collect()
}

/// The folders right below one, hidden ones left out.
fn children<'a>(listing: &'a Listing, path: &'a str) -> impl Iterator<Item = &'a str> {
    let depth = path.matches('/').count() + 1;
    let below = listing.below(path).map(|(path, _)| path);
    below.filter(move |other| {
        other.len() > path.len() && other.matches('/').count() == depth && !key::name(other).starts_with('.')
    })
}

/// Where a folder below an output folder came from: what base brings stands there under its own name.
pub fn origin(options: &Options, path: &str) -> Option<String> {
    let names = Names::new(options)?;
    let rest = path.strip_prefix(&names.stacks)?.strip_prefix('/')?;
    let (stack, rest) = rest.split_once('/')?;
    let rest = rest.strip_prefix(&names.layers)?.strip_prefix('/')?;
    let (_, rest) = rest.split_once('/')?;
    let rest = rest.strip_prefix(&names.output)?.strip_prefix('/')?;
    Some(below(&below(&below(&names.stacks, stack), &names.base), rest))
}

/// Looks at every layer of the tree.
pub fn survey(tree: &Tree, layers: &Layers, stacks: &BTreeSet<String>, found: &mut Found) -> Vec<Surveyed> {
    let Some(names) = Names::new(&layers.run.options) else { return Vec::new() };
    let mut all: Vec<(String, String)> = Vec::new();
    for stack in stacks {
        let folder = below(stack, &names.layers);
        all.extend(children(tree.listing, &folder).map(|path| (stack.clone(), path.to_owned())));
    }
    let looked = each(&all, |(_, path)| {
        let layer = Layer::of(layers.run, &layers.root.join(path)).map_err(|problem| vec![problem])?;
        Ok::<(Layer, Survey), Vec<Problem>>((layer.clone(), layer::survey(layers.run, &layer)))
    });
    let mut owns: BTreeMap<&str, Result<Own>> = BTreeMap::new();
    for stack in stacks {
        owns.insert(stack, tree.own(stack));
    }
    let mut surveyed = Vec::new();
    for ((stack, path), looked) in all.iter().zip(looked) {
        let own = match owns.get(stack.as_str()) {
            Some(Ok(own)) => own.clone(),
            _ => continue,
        };
        match tree.own(path) {
            Ok(over) => surveyed.extend(one(tree, layers, &names, (stack, path), (own, over), looked, found)),
            Err(problems) => found.problems.extend(problems),
        }
    }
    found.problems.extend(owns.into_values().filter_map(Result::err).flatten());
    surveyed
}

fn one(
    tree: &Tree,
    layers: &Layers,
    names: &Names,
    (stack, path): (&str, &str),
    (own, over): (Own, Own),
    looked: Result<(Layer, Survey)>,
    found: &mut Found,
) -> Option<Surveyed> {
    let instance = key::name(path);
    let output = below(path, &names.output);
    let mut code = Code::default();
    let key = key::key(stack, instance);
    let seen = match looked {
        Ok((layer, survey)) => {
            match &survey.built {
                Ok(built) => code = rendered(tree, layers, &output, built),
                Err(problems) => unrendered(&key, problems, found),
            }
            Some((layer, survey))
        }
        Err(problems) => {
            unrendered(&key, &problems, found);
            None
        }
    };
    let place = Place { path: stack.to_owned(), code, own };
    let mut settled = settle::layer(tree, &place, instance, over, found)?;
    if settled.environment == instance {
        settled.environment = Name::new(instance).environment;
    }
    // Where no backend is named, Terraform keeps the state beside the code.
    if settled.backend.is_none() && seen.as_ref().is_some_and(|(_, survey)| survey.built.is_ok()) {
        settled.backend = Some(("local".to_owned(), Default::default()));
    }
    let mut one = Surveyed {
        path: path.to_owned(),
        output,
        code: place.code,
        settled,
        reads: BTreeMap::new(),
        watch: BTreeSet::new(),
        globs: BTreeSet::new(),
        host_reads: Vec::new(),
    };
    if let Some((layer, survey)) = seen {
        read(tree, layers, names, &layer, &survey, &mut one, found);
    }
    Some(one)
}

fn unrendered(key: &str, problems: &[Problem], found: &mut Found) {
    let first = problems.first();
    let words = first.map(|problem| problem.what.as_str()).unwrap_or("nobody knows why");
    let at = first.and_then(|problem| problem.place).map(At::from);
    found.warn(Word::LayerUnrendered, key, format!("{key} does not render: {words}"), at);
}

/// The code that a layer renders to.
fn rendered(tree: &Tree, layers: &Layers, output: &str, built: &layer::Built) -> Code {
    let mut code = Code { any: true, ..Code::default() };
    let mut files: Vec<(&str, &Piece)> =
        built.pieces.iter().filter_map(|(name, piece)| Some((name.to_str()?, piece))).collect();
    files.retain(|(name, _)| is_code(name));
    files.sort_by_key(|(name, _)| (super::code::is_override(name), *name));
    for (name, piece) in files {
        let over = super::code::is_override(name);
        match piece {
            Piece::Text { text, source, .. } => {
                let file = source.map_or_else(|| below(output, name), |source| source.path().display().to_string());
                code.take(output, &file, over, &Facts::read(&below(output, name), Arc::from(text.as_str())));
            }
            Piece::File(path) => {
                let Some(file) = layer::below(layers.root, path) else { continue };
                match tree.memo.facts(&tree.files, tree.listing, &file) {
                    Ok(facts) => code.take(output, &file, over, &facts),
                    Err(warning) => code.warnings.push(warning),
                }
            }
            _ => {}
        }
    }
    code
}

/// Where the code of a layer says what its backend is; `None` where it does not render, or says nothing.
pub fn backend(layers: &Layers, folder: &str) -> Option<At> {
    let layer = Layer::of(layers.run, &layers.root.join(folder)).ok()?;
    let built = layer::survey(layers.run, &layer).built.ok()?;
    let mut found: Vec<(bool, At)> = Vec::new();
    for (name, piece) in &built.pieces {
        let Some(name) = name.to_str().filter(|name| is_code(name)) else { continue };
        let blocks = match piece {
            Piece::Text { text, source: Some(source), .. } => {
                hcl::backends(FileId::new(source.path(), text.as_str())).items
            }
            Piece::File(path) => {
                layers.run.sources.text(path).map_or(Vec::new(), |file| hcl::backends_json(file).items)
            }
            _ => continue,
        };
        found.extend(blocks.iter().map(|block| (super::code::is_override(name), At::from(block.place))));
    }
    // Files that override have the last word.
    found.into_iter().enumerate().max_by_key(|(number, (over, _))| (*over, *number)).map(|(_, (_, at))| at)
}

/// A folder whose files are read, by the ends of their names.
struct Group {
    folder: String,
    ends: &'static [&'static str],
}

impl Group {
    fn takes(&self, name: &str) -> bool {
        let is = |end: &&str| if end.starts_with('.') { name.ends_with(end) } else { name == *end };
        !name.starts_with('.') && self.ends.iter().any(is)
    }
}

/// Notes what a layer reads, and from whom.
fn read(
    tree: &Tree,
    layers: &Layers,
    names: &Names,
    layer: &Layer,
    survey: &Survey,
    one: &mut Surveyed,
    found: &mut Found,
) {
    let mut groups = vec![Group { folder: names.stacks.clone(), ends: &[".tfvars", ".tfvars.jinja", ".tf"] }];
    groups.extend(environment(names, &layer.name));
    for other in survey.seen.variables.values() {
        groups.push(Group { folder: names.stacks.clone(), ends: &[".tfvars"] });
        groups.extend(environment(names, &other.name));
        for folder in [&other.stack, &other.path] {
            groups.extend(layer::below(layers.root, folder).map(|folder| Group { folder, ends: &[".tfvars"] }));
        }
    }
    if reads_all_environments(survey) {
        let all = children(tree.listing, &names.environments);
        groups.extend(all.map(|folder| Group { folder: folder.to_owned(), ends: &["env.tfvars"] }));
        one.globs.insert(format!("{}/*/env.tfvars", escaped(&names.environments)));
    }
    for group in &groups {
        let there = tree.listing.folder(&group.folder).into_iter().flat_map(|folder| &folder.files);
        one.watch.extend(there.filter(|f| group.takes(&f.name)).map(|f| below(&group.folder, &f.name)));
        for end in group.ends {
            let star = if end.starts_with('.') { "*" } else { "" };
            one.globs.insert(format!("{}/{star}{end}", escaped(&group.folder)));
        }
    }
    one.watch.extend(survey.seen.files.iter().filter_map(|path| layer::below(layers.root, path)));
    for path in &one.watch {
        // Their contents make the graph; one that cannot be read was told where it was read.
        let _ = tree.memo.enter(&tree.files, tree.listing, path);
    }
    // What stands in its own folder or in that of its stack is its own; the folders of other layers are not.
    let (own, stack) = (format!("{}/", one.path), format!("{}/", one.settled.path));
    let others = format!("{stack}{}/", names.layers);
    one.watch.retain(|path| !path.starts_with(&own) && (!path.starts_with(&stack) || path.starts_with(&others)));
    one.host_reads = survey.seen.lookups.iter().map(|asked| host_read(survey, asked)).collect();
    for (path, asked) in &survey.seen.states {
        let Some(path) = layer::below(layers.root, path) else { continue };
        let stack = key::folder(key::folder(&path));
        let to = key::key(stack, key::name(&path));
        let at = asking(survey, &["output(", "resource("], |line| {
            usize::from(line.contains(key::name(stack))) + 2 * usize::from(asked.iter().any(|name| line.contains(name)))
        });
        match tree.listing.is_folder(&path) {
            true => {
                one.reads.insert(to, at);
            }
            false => {
                let from = &one.settled.key;
                let message = format!("{from}: reads the state of {to}: no such layer in this tree");
                found.warn(Word::UnknownDependency, super::edges::arrow(from, &to), message, at);
            }
        }
    }
}

/// What of the folders of its environment a layer reads.
fn environment(names: &Names, name: &Name) -> Vec<Group> {
    let own = below(&names.environments, &name.environment);
    let sub = name.subenvironment.as_ref().map(|sub| Group { folder: below(&own, sub), ends: &[".tfvars"] });
    [Some(Group { folder: own, ends: &["env.tfvars"] }), sub].into_iter().flatten().collect()
}

/// The texts that a layer is made of, and their files.
fn sources(survey: &Survey) -> impl Iterator<Item = FileId> {
    let pieces = survey.built.iter().flat_map(|built| built.pieces.values());
    pieces.filter_map(|piece| match piece {
        Piece::Text { source, .. } => *source,
        Piece::Template(file) => Some(*file),
        _ => None,
    })
}

/// True where a layer may see what every environment says: a text of it names them, or takes all variables at once.
fn reads_all_environments(survey: &Survey) -> bool {
    sources(survey).any(|file| {
        let text = file.text();
        text.contains("stacks_environments") || takes_all(&text)
    })
}

/// True where a template names `var` and goes on with neither `.` nor `[`.
fn takes_all(text: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    text.split("{{").skip(1).chain(text.split("{%").skip(1)).any(|inside| {
        let inside = inside.split(['}']).next().unwrap_or_default();
        inside.match_indices("var").any(|(at, _)| {
            let before = inside.get(..at).and_then(|text| text.chars().next_back());
            let after = inside.get(at + 3..).unwrap_or_default();
            !before.is_some_and(word) && !after.starts_with(word) && !after.trim_start().starts_with(['.', '['])
        })
    })
}

/// What a template asks of the host data. What makes no sense there is told where the layer is rendered.
fn host_read(survey: &Survey, asked: &Lookup) -> HostRead {
    let text = |key: &str| asked.keys.get(key).and_then(Value::as_str);
    let role = text("role");
    let at = asking(survey, &["lookup("], |line| {
        let word = |word: Option<&str>| usize::from(word.is_some_and(|word| line.contains(word)));
        4 * word(Some(&asked.field)) + 2 * word(role) + word(text("nodes"))
    });
    HostRead {
        field: asked.field.clone(),
        nodes: text("nodes").unwrap_or("*").to_owned(),
        role: role.map(str::to_owned),
        facts: text("from") == Some("facts"),
        at,
    }
}

/// Where a layer asks: the line with one of these calls that `fits` best.
fn asking(survey: &Survey, calls: &[&str], fits: impl Fn(&str) -> usize) -> Option<At> {
    let mut best: Option<(usize, At)> = None;
    for file in sources(survey) {
        for (number, line) in file.text().lines().enumerate() {
            let Some(column) = calls.iter().find_map(|call| line.find(call)) else { continue };
            let fits = fits(line);
            if best.as_ref().is_none_or(|(known, _)| fits > *known) {
                let before = line.get(..column).unwrap_or_default().chars().count();
                let at =
                    At { file: file.path().display().to_string(), line: number as u32 + 1, column: before as u32 + 1 };
                best = Some((fits, at));
            }
        }
    }
    best.map(|(_, at)| at)
}

/// A path as a pattern that matches it alone.
fn escaped(path: &str) -> String {
    path.chars().flat_map(|c| ("*?[]{}\\,".contains(c)).then_some('\\').into_iter().chain([c])).collect()
}
