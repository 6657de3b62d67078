//! Data files as an editor sees them: its parser reads YAML 1.2 and knows nothing of suil's tags, so that a schema for
//! it is wider than what suil takes. `suil validate` has the last word.
//!
//! What the language server makes of a tag: over a list or a mapping it sees the list or the mapping; over a scalar,
//! text; a bare `!delete` is the empty text; `!ENC[…]` is a list of one text, or in quotes or a block a text.

use super::tagged::Strategy;
use super::yaml::LOOKUP_OPTIONS;
use crate::base::Plain;

/// The JSON Schema dialect of every schema that suil prints.
pub const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Every tag with each form that it may stand before, as `yaml.customTags` wants them.
pub fn tags() -> Vec<String> {
    let forms =
        |strategy: Strategy| ["scalar", "sequence", "mapping"].map(|form| format!("{} {form}", strategy.name()));
    let fixed = ["!LOOKUP mapping", "!ENC sequence"].map(str::to_owned);
    Strategy::ALL.into_iter().flat_map(forms).chain(fixed).collect()
}

/// What `#/$defs` must hold for the forms below.
pub fn definitions() -> Plain {
    let option = |name: &str| match name {
        "field" => described(typed("string"), "the dotted path to read on each node: `module.key`"),
        "nodes" => described(typed("string"), "a glob of node names; `*` takes all"),
        "role" => described(typed("string"), "only nodes of this role"),
        "ip" => described(words(&["v4", "v6", "any"]), "only addresses of this kind"),
        "format" => described(typed("string"), "how each is written: `{value}`, `{node}`, `{role}`"),
        "self" => described(words(&["include", "exclude", "only"]), "what becomes of the node that reads"),
        "from" => described(words(&["data", "facts"]), "where to read: the data, or the last facts"),
        "required" => described(boolean(), "no: finding nothing is an empty list"),
        _ => Plain::map(),
    };
    let lookup = Plain::from_iter([
        ("description", Plain::from("`!LOOKUP`: reads a field of other nodes")),
        ("type", Plain::from("object")),
        ("properties", LOOKUP_OPTIONS.iter().map(|name| (*name, option(name))).collect()),
        ("required", Plain::List(vec![Plain::from("field")])),
        ("additionalProperties", Plain::from(false)),
    ]);
    let marker = Plain::from_iter([("type", Plain::from("string")), ("pattern", Plain::from(r"^(!ENC\[[^\]]*\])?$"))]);
    let inline = Plain::from_iter([
        ("type", Plain::from("array")),
        ("items", typed("string")),
        ("minItems", Plain::from(1)),
        ("maxItems", Plain::from(1)),
    ]);
    let secret = Plain::from_iter([
        ("description", Plain::from("a secret, `!ENC[…]`; `suil encrypt` makes one")),
        ("anyOf", Plain::List(vec![marker, inline])),
    ]);
    let removed = Plain::from_iter([
        ("description", Plain::from("a bare `!delete`: the key goes")),
        ("type", Plain::from("string")),
        ("maxLength", Plain::from(0)),
    ]);
    Plain::from_iter([("lookup", lookup), ("secret", secret), ("removed", removed)])
}

pub fn lookup() -> Plain {
    reference("lookup")
}

pub fn secret() -> Plain {
    reference("secret")
}

/// A bare `!delete`.
pub fn removed() -> Plain {
    reference("removed")
}

fn reference(name: &str) -> Plain {
    Plain::from_iter([("$ref", Plain::from(format!("#/$defs/{name}")))])
}

pub fn typed(name: &str) -> Plain {
    Plain::from_iter([("type", Plain::from(name))])
}

/// One of several types, of which text must match `pattern`; a tagged scalar and a bare `!delete` are text.
pub fn types(names: &[&str], pattern: &str) -> Plain {
    let names = names.iter().map(|name| Plain::from(*name)).collect();
    Plain::from_iter([("type", names), ("pattern", Plain::from(pattern))])
}

/// `true`, and the words of YAML 1.1.
pub fn boolean() -> Plain {
    let words = "yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE";
    types(&["boolean", "string"], &format!("^({words})?$"))
}

pub fn integer() -> Plain {
    types(&["integer", "string"], "^([-+]?(0x[0-9a-fA-F_]+|[0-9][0-9_]*))?$")
}

pub fn number() -> Plain {
    types(&["number", "string"], r"^([-+]?([0-9][0-9_]*(\.[0-9_]*)?|\.[0-9_]+)([eE][-+]?[0-9]+)?)?$")
}

/// A string keeps what was written, so that an unquoted `1.10` or `no` will do.
pub fn text() -> Plain {
    Plain::from_iter([("type", ["string", "number", "boolean"].into_iter().map(Plain::from).collect())])
}

/// One of these words.
pub fn words(all: &[&str]) -> Plain {
    either([Plain::from_iter([("enum", all.iter().map(|word| Plain::from(*word)).collect())]), removed()])
}

/// A list; a lookup may stand for it, or for some of its items.
pub fn list(item: Plain) -> Plain {
    let items = Plain::from_iter([("type", Plain::from("array")), ("items", either([item, lookup()]))]);
    either([items, lookup(), removed()])
}

/// A mapping of `rest`, which says what its keys are. Under `!delete` a list of the keys that go stands there.
pub fn mapping(rest: Plain) -> Plain {
    let mut out = Plain::from_iter([
        ("type", ["object", "array", "string"].into_iter().map(Plain::from).collect::<Plain>()),
        ("maxLength", Plain::from(0)),
        ("items", typed("string")),
    ]);
    rest.as_map().into_iter().flatten().for_each(|(key, value)| out.set(key, value.clone()));
    out
}

/// A mapping with these keys and no other.
pub fn closed(properties: Plain) -> Plain {
    mapping(Plain::from_iter([("properties", properties), ("additionalProperties", Plain::from(false))]))
}

pub fn either(all: impl IntoIterator<Item = Plain>) -> Plain {
    Plain::from_iter([("anyOf", all.into_iter().collect())])
}

pub fn described(mut schema: Plain, doc: &str) -> Plain {
    schema.set("description", doc);
    schema
}
