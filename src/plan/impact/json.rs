//! An impact as data: what `suil diff --output json` prints.

use super::{Changed, Code, LayerChange, LayerImpact, LayerRead, NodeImpact, Revisions, Unknown};
use crate::base::Plain;
use crate::catalogue::impact::{Difference, What};
use crate::data::{Value, Vault};
use crate::resource::Verb;

impl NodeImpact {
    /// `{node, change, role, modules, code, values, resources, unseen, layers, reads, unknown}`. Secrets stand as their digests, or as
    /// `secret (no key)`.
    pub fn to_plain(&self, revisions: &Revisions, vault: &Vault) -> Plain {
        let pair = |before: Plain, after: Plain| Plain::from_iter([("before", before), ("after", after)]);
        let names = |list: &[String]| list.iter().map(Plain::from).collect::<Plain>();
        let known = self.resources.iter().filter_map(|(_, found)| found.as_ref().ok()).flatten();
        let unknown = self.resources.iter().filter_map(|(module, found)| Some((module, found.as_ref().err()?)));
        Plain::from_iter([
            ("node", Plain::from(&self.node)),
            ("change", Plain::from(self.change())),
            ("role", pair(self.role_before.clone().into(), self.role_after.clone().into())),
            ("modules", pair(names(&self.modules_before), names(&self.modules_after))),
            ("code", self.code.iter().map(code).collect()),
            ("values", self.values.iter().map(|difference| value(difference, revisions, vault)).collect()),
            ("resources", known.map(|changed| resource(changed, vault)).collect()),
            ("unseen", names(&self.unseen)),
            ("layers", self.layers.iter().map(layer).collect()),
            ("reads", self.reads.iter().map(read).collect()),
            ("unknown", unknown.map(|(module, why)| reason(module, why, vault)).collect()),
        ])
    }

    /// `added`, `removed` or `changed`.
    pub fn change(&self) -> &'static str {
        match (&self.role_before, &self.role_after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        }
    }
}

fn layer(impact: &LayerImpact) -> Plain {
    let (files, why) = match &impact.change {
        LayerChange::Changed(files) => (files.iter().map(Plain::from).collect(), None),
        LayerChange::Unknown(why) => (Plain::List(Vec::new()), Some(Plain::from(why))),
        LayerChange::Added | LayerChange::Removed => (Plain::List(Vec::new()), None),
    };
    Plain::from_iter([
        ("layer", Plain::from(&impact.layer)),
        ("change", Plain::from(impact.change.word())),
        ("files", files),
        ("why", Plain::from(why)),
    ])
}

fn read(read: &LayerRead) -> Plain {
    Plain::from_iter([("node", Plain::from(&read.node)), ("field", Plain::from(&read.field))])
}

fn code(code: &Code) -> Plain {
    Plain::from_iter([
        ("module", Plain::from(&code.module)),
        ("before", Plain::from(&code.signature_before)),
        ("after", Plain::from(&code.signature_after)),
        ("files", code.files.iter().map(Plain::from).collect()),
    ])
}

fn value(difference: &Difference, revisions: &Revisions, vault: &Vault) -> Plain {
    let side = |value: &Value, file: String| {
        let (line, column) = (value.place.line, value.place.column);
        Plain::from_iter([
            ("value", public(value, vault)),
            ("file", Plain::from(file)),
            ("line", Plain::from(line)),
            ("column", Plain::from(column)),
        ])
    };
    let before = difference.before.as_ref().map(|value| side(value, revisions.before(value.place)));
    let after = difference.after.as_ref().map(|value| side(value, revisions.after(value.place)));
    Plain::from_iter([
        ("key", Plain::from(difference.path.join("."))),
        ("change", Plain::from(word(difference.what))),
        ("before", Plain::from(before)),
        ("after", Plain::from(after)),
    ])
}

fn word(what: What) -> &'static str {
    match what {
        What::Added => "added",
        What::Removed => "removed",
        What::Changed => "changed",
        What::Reordered => "reordered",
        What::Sealed => "sealed",
    }
}

/// A value for the eye: every secret as its digest, or as `secret (no key)` where no key opens it.
pub fn public(value: &Value, vault: &Vault) -> Plain {
    value.to_plain(&mut |cipher, place| match vault.reveal(cipher, "", place) {
        Ok(plaintext) => Plain::from(plaintext.digest()),
        Err(_) => Plain::from(crate::data::secret::NO_KEY),
    })
}

fn resource(changed: &Changed, vault: &Vault) -> Plain {
    let show = |text: &str| Plain::from(vault.mask().apply(text));
    let attributes = changed.attributes.attributes.iter().map(|attribute| {
        Plain::from_iter([
            ("name", show(&attribute.name)),
            ("before", Plain::from(attribute.before.as_deref().map(show))),
            ("after", Plain::from(attribute.after.as_deref().map(show))),
        ])
    });
    let texts = changed.texts.iter().map(|(name, text)| {
        Plain::from_iter([("name", show(name)), ("diff", show(&unified(&text.before, &text.after)))])
    });
    Plain::from_iter([
        ("module", Plain::from(&changed.module)),
        ("resource", show(&changed.id.0)),
        ("change", Plain::from(verb(changed.verb))),
        ("attributes", attributes.collect()),
        ("texts", texts.collect()),
        ("file", Plain::from(changed.place.map(|place| place.path().display().to_string()))),
        ("line", Plain::from(changed.place.map(|place| place.line))),
        ("column", Plain::from(changed.place.map(|place| place.column))),
    ])
}

/// The texts are masked already.
fn unified(before: &str, after: &str) -> String {
    similar::TextDiff::from_lines(before, after).unified_diff().to_string()
}

fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Create => "added",
        Verb::Remove => "removed",
        Verb::Change | Verb::Run => "changed",
    }
}

fn reason(module: &str, why: &Unknown, vault: &Vault) -> Plain {
    Plain::from_iter([("module", Plain::from(module)), ("why", Plain::from(vault.mask().apply(&why.words())))])
}
