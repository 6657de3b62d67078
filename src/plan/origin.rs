//! Where a resource of a node comes from: the module and its code, the templates, the values of the data.

mod json;

pub use json::{VERSION, place};

use super::Modules;
use crate::base::nearest::nearest;
use crate::base::{Mask, Place, Plain, Problem, Problems, Result};
use crate::catalogue::Entry;
use crate::data::secret::NO_KEY;
use crate::data::trace;
use crate::module::{Config, Effect, Influence, Makings, Module, Origin, Way};
use crate::resource::{Id, Resource};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What stands for a line that is made from a secret and does not show it as it is.
const COVER: &str = "‹not shown: made from a secret›";

/// All that can be told about one resource without asking the node.
pub struct Story {
    pub node: String,
    /// The node was never probed: its OS layer is missing, and the order of its modules is the listed one.
    pub provisional: bool,
    pub resource: String,
    pub module: String,
    /// The module's place in run order, counted from 1, and the number of modules.
    pub position: (usize, usize),
    /// Other modules that declare the same.
    pub also: Vec<(String, Option<Place>)>,
    /// Secrets covered.
    pub wanted: Plain,
    pub origin: Origin,
    /// The lines of the content, secrets covered; `None` where they are not to be shown.
    pub lines: Option<Vec<String>>,
    /// The values that decide something about it.
    pub values: Vec<Source>,
    /// Keys of which it is not known what they do.
    pub unknown: Vec<String>,
}

/// A value of the module's config, and what it decides.
pub struct Source {
    /// The dotted path, as `suil explain NODE KEY` takes it.
    pub key: String,
    /// A secret stands as its digest.
    pub value: Plain,
    pub place: Option<Place>,
    pub from: From,
    pub influence: Influence,
}

/// Who said a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum From {
    /// A layer of the data, at the place.
    Data,
    /// The module's schema, at the place.
    Default,
    /// What suil knows of the node.
    Node,
}

/// A module of the node and what it makes.
struct Part<'a> {
    module: &'a Module,
    config: Arc<Config>,
    makings: Makings,
}

/// Makes the config of a module on a node.
pub type Configure<'a> = dyn FnMut(&Module) -> Result<Config> + 'a;

/// Whether a resource is meant.
type Meant<'m> = &'m dyn Fn(&dyn Resource) -> bool;

/// What the modules of one node make, as far as they work.
pub struct Parts<'a> {
    entry: &'a Entry,
    parts: Vec<Part<'a>>,
    problems: Problems,
}

impl<'a> Parts<'a> {
    /// Evaluates the modules of a node.
    pub fn of(entry: &'a Entry, modules: &'a Modules, config: &mut Configure) -> Parts<'a> {
        let mut all = Parts { entry, parts: Vec::new(), problems: Problems::new() };
        for module in entry.modules.iter().filter_map(|name| modules.get(name)) {
            let made = config(module).map(Arc::new).and_then(|config| Ok((module.make(&config)?, config)));
            match made {
                Ok((makings, config)) => all.parts.push(Part { module, config, makings }),
                Err(found) => all.problems.extend(found),
            }
        }
        all
    }

    /// Adds a note to the problems of the modules.
    pub fn note(&mut self, text: &str) {
        self.problems = std::mem::take(&mut self.problems).into_iter().map(|problem| problem.note(text)).collect();
    }

    fn resources(&self) -> impl Iterator<Item = (&Part<'a>, &Arc<dyn Resource>)> {
        self.parts.iter().flat_map(|part| part.makings.resources.iter().map(move |resource| (part, resource)))
    }

    /// Every resource in run order: its id, secrets covered, its module, and the place that declares it.
    ///
    /// # Errors
    /// The problems of the modules.
    pub fn list(&self, mask: &Mask) -> Result<Vec<(String, String, Option<Place>)>> {
        if !self.problems.is_empty() {
            return Err(self.problems.clone());
        }
        let row = |(part, resource): (&Part, &Arc<dyn Resource>)| {
            (mask.apply(&resource.id().0), part.module.name().to_owned(), resource.place())
        };
        Ok(self.resources().map(row).collect())
    }

    /// What [`Parts::find`] takes: every id and every path, of the modules that work.
    pub fn words(&self) -> Vec<String> {
        let words = |(_, resource): (&Part, &Arc<dyn Resource>)| {
            let path = resource.claim().map(|(path, _)| path.to_owned());
            std::iter::once(resource.id().0).chain(path)
        };
        self.resources().flat_map(words).collect()
    }

    /// The resource that `query` names: an id, a name, or the path of what it makes.
    ///
    /// # Errors
    /// No resource has that name, or several have; and the problems of a module, where it could be one of its.
    pub fn find(&self, query: &str, mask: &Mask) -> Result<Id> {
        let ids = |meant: Meant| -> BTreeSet<Id> {
            self.resources().filter(|(_, resource)| meant(&***resource)).map(|(_, resource)| resource.id()).collect()
        };
        let ways: [Meant; 3] =
            [&|resource| resource.id().0 == query, &|resource| resource.name() == query, &|resource| {
                resource.claim().is_some_and(|(path, _)| path == query)
            }];
        let found = ways.into_iter().map(ids).find(|ids| !ids.is_empty()).unwrap_or_default();
        if found.len() > 1 {
            let names: Vec<String> = found.iter().map(|id| format!("`{}`", mask.apply(&id.0))).collect();
            let what = format!("`{query}` names {} resources of node `{}`", names.len(), self.entry.name);
            return Err(Problem::usage(what).expected(format!("expected one of {}", names.join(", "))).into());
        }
        match found.into_iter().next() {
            Some(id) => Ok(id),
            None if self.problems.is_empty() => Err(self.unknown(query, mask).into()),
            None => Err(self.problems.clone()),
        }
    }

    fn unknown(&self, query: &str, mask: &Mask) -> Problem {
        let node = &self.entry.name;
        let problem = Problem::new(format!("no module of node `{node}` makes a resource `{query}`"));
        let ids: Vec<String> = self.resources().map(|(_, resource)| mask.apply(&resource.id().0)).collect();
        let names: Vec<String> = self.resources().map(|(_, resource)| mask.apply(resource.name())).collect();
        let near = |words: &[String]| nearest(query, words.iter().map(String::as_str)).map(str::to_owned);
        match near(&ids).or_else(|| near(&names)) {
            Some(near) => problem.help(format!("did you mean `{near}`?")),
            None => {
                let list = format!("`suil explain --resource {node}` lists those that there are");
                problem.note("what `deploy()` does is no resource").help(list)
            }
        }
    }

    /// Tells the story of the resource `id`.
    ///
    /// # Errors
    /// There is none of that id.
    pub fn story(&self, id: &Id, mask: &Mask) -> Result<Story> {
        let entry = self.entry;
        let mut makers = self.parts.iter().filter_map(|part| Some((part, part.makings.position(id)?)));
        let made = makers.next().and_then(|(part, at)| Some((part, at, part.module.origin_of(&part.makings, at)?)));
        let Some((part, at, origin)) = made else {
            return Err(Problem::new(format!("there is no resource `{}`", mask.apply(&id.0))).into());
        };
        let place = |(part, at): (&Part, usize)| {
            let place = part.makings.resources.get(at).and_then(|resource| resource.place());
            (part.module.name().to_owned(), place)
        };
        let also = makers.map(place).collect();
        let influences = part.module.influences(&part.config, &part.makings, at);
        let name = part.module.name();
        let key = |path: &[String]| match path.first() {
            Some(first) if first == "suil" => path.join("."),
            _ => format!("{name}.{}", path.join(".")),
        };
        let is_secret = |path: &[String]| {
            let keys: Vec<&str> = path.iter().map(String::as_str).collect();
            part.config.is_secret(&keys)
        };
        let secrets: Vec<&Influence> = influences.found.iter().filter(|found| is_secret(&found.path)).collect();
        // Where no key is set a text stands for the secret, and the content has another digest on the node.
        let pretended = |path: &[String]| {
            let keys: Vec<&str> = path.iter().map(String::as_str).collect();
            part.config.plain.at(&keys).and_then(Plain::as_str) == Some(NO_KEY)
        };
        let closed = secrets.iter().any(|found| !found.lines.is_empty() && pretended(&found.path));
        // Where it is not known what a secret does, nothing is shown that could be made from it.
        let in_doubt = influences.unknown.iter().any(|path| is_secret(path));
        let veiled = origin.hidden || in_doubt;
        let lines = origin.lines.iter().enumerate().map(|(at, line)| {
            let shown = mask.apply(&line.text);
            let of_a_secret = secrets.iter().any(|found| found.lines.contains(&(at, Effect::Text)));
            if of_a_secret && shown == *line.text { COVER.to_owned() } else { shown }
        });
        let lines = (!veiled && !origin.lines.is_empty()).then(|| lines.collect());
        let plain = origin.resource.wanted();
        let of_a_secret = |name: &str| secrets.iter().any(|found| found.attributes.iter().any(|own| own == name));
        let wanted = plain.as_map().into_iter().flatten().map(|(name, value)| {
            let shown = mask.plain(value);
            let cover = shown == *value && (of_a_secret(name) || in_doubt && name != "ensure");
            let shown = match (cover, closed && name == "sha256") {
                (true, _) => Plain::from(COVER),
                (false, true) => Plain::from(NO_KEY),
                (false, false) => shown,
            };
            (name.as_str(), shown)
        });
        let wanted = wanted.collect();
        let unknown = influences.unknown.iter().map(|path| key(path)).collect();
        let values = influences.found.into_iter().map(|influence| {
            let (place, from) = said(entry, part.module, &influence.path);
            let keys: Vec<&str> = influence.path.iter().map(String::as_str).collect();
            let value = match pretended(&influence.path) {
                true => Plain::from(NO_KEY),
                false => mask.plain(part.config.public.at(&keys).unwrap_or(&Plain::Null)),
            };
            Source { key: key(&influence.path), value, place, from, influence }
        });
        Ok(Story {
            node: entry.name.to_string(),
            provisional: entry.provisional,
            resource: mask.apply(&id.0),
            module: name.to_owned(),
            position: (entry.modules.iter().position(|m| m == name).map_or(0, |at| at + 1), entry.modules.len()),
            also,
            wanted,
            lines,
            values: values.collect(),
            unknown,
            origin,
        })
    }
}

impl Story {
    /// The values that decide what stands in the line, counted from 0.
    pub fn at_line(&self, line: usize) -> impl Iterator<Item = (&Source, Effect)> {
        self.values.iter().filter_map(move |source| {
            let (_, effect) = source.influence.lines.iter().find(|(at, _)| *at == line)?;
            Some((source, *effect))
        })
    }

    /// The path of the template or of the file that the content was taken from.
    pub fn template(&self) -> Option<&std::path::Path> {
        match &self.origin.way {
            Some(Way::Template(path) | Way::File(path)) => Some(path),
            Some(Way::Code) | None => None,
        }
    }
}

/// Where the value at `path` of a module's config was said, and by whom.
fn said(entry: &Entry, module: &Module, path: &[String]) -> (Option<Place>, From) {
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    match keys.as_slice() {
        ["suil", "ssh_user"] => {
            let user = entry.deployment().as_ref().and_then(|settings| settings.get("ssh_user")).map(|user| user.place);
            return (user, if user.is_some() { From::Data } else { From::Node });
        }
        ["suil", ..] => return (None, From::Node),
        _ => {}
    }
    let slice = entry.slice(module.name());
    if let Some(value) = slice.as_ref().and_then(|slice| trace::at(slice, &keys)) {
        return (Some(value.place), From::Data);
    }
    (module.rule(&keys).ok().flatten(), From::Default)
}
