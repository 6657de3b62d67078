//! `schema(…)` and `t.…`: how module code writes a schema.

#![allow(unsafe_code, reason = "the interpreter's derive implements an unsafe marker trait; none is written here")]

use super::{Field, Fields, Kind, Range, Schema, Version};
use crate::base::{Plain, Problem, Problems};
use crate::module::star::{Arguments, Builtin, Here, Namespace, Program, to_plain};
use allocative::Allocative;
use starlark::environment::GlobalsBuilder;
use starlark::starlark_simple_value;
use starlark::values::float::StarlarkFloat;
use starlark::values::{
    NoSerialize, ProvidesStaticType, StarlarkPagablePanic, StarlarkValue, UnpackValue, Value, ValueLike, starlark_value,
};
use std::sync::Arc;

/// A type as a value of module code.
#[derive(Debug, ProvidesStaticType, NoSerialize, StarlarkPagablePanic, Allocative)]
struct Type {
    #[allocative(skip)]
    field: Arc<Field>,
}

/// A schema as a value of module code.
#[derive(Debug, ProvidesStaticType, NoSerialize, StarlarkPagablePanic, Allocative)]
struct Declared {
    #[allocative(skip)]
    schema: Arc<Schema>,
}

starlark_simple_value!(Type);
starlark_simple_value!(Declared);

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<type: {}>", self.field.kind.words())
    }
}

impl std::fmt::Display for Declared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("<schema>")
    }
}

#[starlark_value(type = "type")]
impl<'v> StarlarkValue<'v> for Type {}

#[starlark_value(type = "schema")]
impl<'v> StarlarkValue<'v> for Declared {}

/// Reads `Config` of compiled code.
pub fn read(module: &str, program: &Program) -> Result<Arc<Schema>, Problems> {
    let wrong = |text: &str| {
        Problems::from(
            Problem::new(format!("module `{module}`: `code/config.star` {text}"))
                .expected("expected `Config = schema(…)`"),
        )
    };
    match program.frozen.get_option("Config") {
        Ok(Some(value)) => match value.value().downcast_ref::<Declared>() {
            Some(declared) => Ok(Arc::clone(&declared.schema)),
            None => Err(wrong("sets `Config` to something else than a schema")),
        },
        _ => Err(wrong("has no `Config`")),
    }
}

macro_rules! types {
    ($($name:literal => $body:expr),* $(,)?) => {
        static TYPES: &[(&str, Builtin)] = &[$(($name, Builtin { name: concat!("t.", $name), body: $body })),*];
    };
}

types! {
    "any" => |args, here| finish(Kind::Any, args, here),
    "bool" => |args, here| finish(Kind::Bool, args, here),
    "int" => int,
    "float" => float,
    "string" => string,
    "enum" => choice,
    "list" => list,
    "map" => map,
    "object" => object,
    "secret" => |args, here| finish(Kind::Secret, args, here),
    "path" => |args, here| finish(Kind::Path, args, here),
    "hostname" => |args, here| finish(Kind::Hostname, args, here),
    "mode" => |args, here| finish(Kind::Mode, args, here),
    "port" => |args, here| finish(Kind::Port, args, here),
    "ip" => |mut args, here| { let v = version(&mut args)?; finish(Kind::Ip(v), args, here) },
    "cidr" => |mut args, here| { let v = version(&mut args)?; finish(Kind::Cidr(v), args, here) },
}

pub fn add(builder: &mut GlobalsBuilder) {
    builder.set("t", Namespace { name: "t", members: TYPES });
    builder.set("schema", Builtin { name: "schema", body: schema });
}

fn schema<'v>(args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    if !args.positional.is_empty() {
        return Err(args.problem("takes only named fields").help("write `schema(workers = t.int(), …)`").into());
    }
    let mut fields = Fields::new();
    for (name, value) in &args.named {
        if name == "suil" {
            return Err(args.problem("the field `suil` is set by the run itself").into());
        }
        fields.insert(name.clone(), field(*value, &args, name)?);
    }
    Ok(here.heap.alloc(Declared { schema: Arc::new(Schema { fields }) }))
}

/// The type that a value is.
fn field(value: Value, args: &Arguments, name: &str) -> Result<Arc<Field>, Problem> {
    match value.downcast_ref::<Type>() {
        Some(it) => Ok(Arc::clone(&it.field)),
        None => {
            let problem = args
                .problem(format_args!("`{name}` is {}", value.to_repr()))
                .expected("expected a type such as `t.string()`");
            Err(match value.downcast_ref::<Builtin>() {
                Some(builtin) => problem.help(format!("did you mean `{}()`?", builtin.name)),
                None => problem,
            })
        }
    }
}

/// Takes what every type knows, and checks the default against the type.
fn finish<'v>(kind: Kind, mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let doc = args.text("doc")?;
    let optional = args.flag("optional")?;
    let default = args.take("default").filter(|v| !v.is_none());
    args.done()?;
    let mut field = Field { kind, default: None, optional, doc, place: args.place };
    if let Some(value) = default {
        if matches!(field.kind, Kind::Secret) {
            return Err(args.problem("a secret can have no default").into());
        }
        let plain = to_plain(value).map_err(|found| args.problem(format_args!("`default` cannot be {found}")))?;
        let plain = super::check::default(&field, &plain).map_err(|words| {
            args.problem(format_args!("`default` {} does not fit", super::shown(&plain)))
                .expected(format!("expected {words}"))
        })?;
        field.default = Some(plain);
    }
    Ok(here.heap.alloc(Type { field: Arc::new(field) }))
}

fn range<'v, T: PartialOrd + Copy + std::fmt::Display>(
    args: &mut Arguments<'v>,
    type_name: &str,
    unpack: impl Fn(Value<'v>) -> Option<T>,
) -> Result<Range<T>, Problem> {
    let range = Range { min: args.typed("min", type_name, &unpack)?, max: args.typed("max", type_name, &unpack)? };
    match (range.min, range.max) {
        (Some(min), Some(max)) if min > max => Err(args.problem(format_args!("`min` {min} is above `max` {max}"))),
        _ => Ok(range),
    }
}

fn whole(value: Value) -> Option<i64> {
    i64::unpack_value(value).ok().flatten()
}

fn number(value: Value) -> Option<f64> {
    value.downcast_ref::<StarlarkFloat>().map(|x| x.0).or_else(|| whole(value).map(|n| n as f64))
}

fn int<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let range = range(&mut args, "a whole number", whole)?;
    finish(Kind::Int(range), args, here)
}

fn float<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let range = range(&mut args, "a number", number)?;
    finish(Kind::Float(range), args, here)
}

fn string<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let length = range(&mut args, "a whole number", whole)?;
    let pattern = match args.text("pattern")? {
        None => None,
        // The whole text must match: a pattern that allows a part of it would let line breaks through.
        Some(pattern) => match regex::Regex::new(&format!("^(?:{pattern})$")) {
            Ok(regex) => Some(regex),
            Err(error) => {
                let words = error.to_string();
                let words = words.lines().last().unwrap_or("it is no regular expression").trim();
                return Err(args.problem(format_args!("`pattern`: {words}")).into());
            }
        },
    };
    finish(Kind::String { pattern, length }, args, here)
}

fn choice<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let mut choices = Vec::new();
    for value in std::mem::take(&mut args.positional) {
        match to_plain(value) {
            Ok(plain @ (Plain::Str(_) | Plain::Int(_) | Plain::Float(_) | Plain::Bool(_))) => choices.push(plain),
            Ok(Plain::List(items)) => choices.extend(items),
            _ => return Err(args.problem(format_args!("a choice is {}", value.to_repr())).into()),
        }
    }
    if choices.is_empty() {
        return Err(args.problem("names no choice").help("write `t.enum(\"prod\", \"debug\")`").into());
    }
    finish(Kind::Enum(choices), args, here)
}

fn list<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let item = args.next("item")?;
    let item = field(item, &args, "item")?;
    let length = range(&mut args, "a whole number", whole)?;
    let unique = args.flag("unique")?;
    finish(Kind::List { item, length, unique }, args, here)
}

fn map<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let value = args.next("value")?;
    let value = field(value, &args, "value")?;
    let key = match args.take("keys").filter(|v| !v.is_none()) {
        Some(key) => Some(field(key, &args, "keys")?),
        None => None,
    };
    finish(Kind::Map { key, value }, args, here)
}

/// The fields are named arguments. `doc`, `optional` and `default` are fields too where they are given a type.
fn object<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let mut fields = Fields::new();
    let mut rest = indexmap::IndexMap::new();
    for (name, value) in std::mem::take(&mut args.named) {
        let is_option =
            matches!(name.as_str(), "doc" | "optional" | "default") && value.downcast_ref::<Type>().is_none();
        if is_option {
            rest.insert(name, value);
        } else {
            fields.insert(name.clone(), field(value, &args, &name)?);
        }
    }
    args.named = rest;
    finish(Kind::Object(fields), args, here)
}

fn version(args: &mut Arguments) -> Result<Version, Problem> {
    match args.typed("version", "4 or 6", whole)? {
        None => Ok(Version::Any),
        Some(4) => Ok(Version::V4),
        Some(6) => Ok(Version::V6),
        Some(other) => Err(args.problem(format_args!("`version` is {other}")).expected("expected 4 or 6")),
    }
}
