//! What a surgery tells when it is over, or what it would do.

use crate::base::{Mask, Plain, Problem};
use crate::cli::Context;
use crate::infra::surgery::{Address, Site};
use crate::infra::terraform::Forecast;
use crate::ui;
use crate::ui::text::count;

/// The result of every surgery.
#[derive(Debug, Default)]
pub struct Report {
    pub dry_run: bool,
    /// `renamed`, `moved`, …
    pub did: &'static str,
    /// Old and new address; one of them where something comes or goes.
    pub resources: Vec<(Option<Address>, Option<Address>)>,
    pub layers: Vec<Told>,
    /// What a dry run would run.
    pub commands: Vec<String>,
    /// The record of it.
    pub undo: Option<String>,
}

/// A layer whose state was changed.
#[derive(Debug)]
pub struct Told {
    pub layer: String,
    /// That of its state now; `None` where it has none.
    pub serial: Option<u64>,
    /// What a plan says now; `None` where none was made.
    pub plan: Option<Forecast>,
}

impl Report {
    /// Prints it.
    ///
    /// # Errors
    /// The output cannot be written.
    pub fn show(&self, context: &Context) -> Result<(), Problem> {
        ui::show(context.output, || self.text(), || self.value())
    }

    fn text(&self) -> String {
        let mut out = String::new();
        for (from, to) in &self.resources {
            out += &match (from, to) {
                (Some(from), Some(to)) if from != to => format!("{from} → {to}\n"),
                (Some(one), _) | (_, Some(one)) => format!("{one}\n"),
                (None, None) => continue,
            };
        }
        let would = if self.dry_run { "would be " } else { "" };
        out += &format!("{} {would}{}\n", count(self.resources.len(), "resource"), self.did);
        out.extend(self.layers.iter().map(Told::line));
        out.extend(self.commands.iter().map(|command| format!("would run: {command}\n")));
        if let Some(id) = &self.undo {
            out += &format!("undo: suil infra surgery undo {id}\n");
        }
        out
    }

    fn value(&self) -> Plain {
        let address = |address: &Option<Address>| Plain::from(address.as_ref().map(Address::to_string));
        let resource = |(from, to): &(Option<Address>, Option<Address>)| {
            Plain::from_iter([("from", address(from)), ("to", address(to))])
        };
        Plain::from_iter([
            ("dry_run", Plain::from(self.dry_run)),
            ("resources", self.resources.iter().map(resource).collect()),
            ("layers", self.layers.iter().map(Told::value).collect()),
            ("commands", self.commands.iter().map(Plain::from).collect()),
            ("undo", Plain::from(self.undo.as_deref())),
        ])
    }
}

impl Told {
    pub fn new(site: &Site, serial: Option<u64>) -> Told {
        Told { layer: site.label(), serial, plan: None }
    }

    fn line(&self) -> String {
        let serial = self.serial.map_or("no state".to_owned(), |serial| format!("serial {serial}"));
        let plan = self.plan.as_ref().map(|plan| format!(", plan: {}", words(plan))).unwrap_or_default();
        format!("{}: {serial}{plan}\n", self.layer)
    }

    fn value(&self) -> Plain {
        let plan = self.plan.as_ref().map(|plan| {
            Plain::from_iter([
                ("add", Plain::from(plan.add)),
                ("change", Plain::from(plan.change)),
                ("destroy", Plain::from(plan.destroy)),
            ])
        });
        Plain::from_iter([
            ("layer", Plain::from(&self.layer)),
            ("serial", Plain::from(self.serial)),
            ("plan", Plain::from(plan)),
        ])
    }
}

/// A plan in a few words.
fn words(plan: &Forecast) -> String {
    let counts = [(plan.add, "to add"), (plan.change, "to change"), (plan.destroy, "to destroy")];
    let words: Vec<String> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if words.is_empty() { "nothing to do".to_owned() } else { words.join(", ") }
}

/// A command line of Terraform in the folder of a layer, as it would be typed at the root.
pub fn command(site: &Site, arguments: &[&str]) -> String {
    let folder = format!("-chdir={}", site.layer.shown(&site.layer.output));
    let program = site.tool.program.display().to_string();
    let words = [program.as_str(), folder.as_str()].into_iter().chain(arguments.iter().copied());
    crate::base::shell::join(words)
}

/// Tells what became of a surgery whose states are changed, but whose plan is not as it should be.
pub fn doubts(problems: &[Problem], mask: &Mask) -> ui::Exit {
    if problems.is_empty() { ui::Exit::Done } else { ui::fail(problems, mask) }
}
