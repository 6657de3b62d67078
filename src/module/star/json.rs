//! `json.encode`, `json.decode`: the interpreter's own follow a value to any depth, and with it out of the stack.

use super::arguments::Arguments;
use super::builtin::{Builtin, Here};
use super::namespace::Namespace;
use super::value::{alloc, to_plain, type_name};
use crate::base::{Plain, Problems};
use starlark::environment::GlobalsBuilder;
use starlark::values::Value;

static MEMBERS: &[(&str, Builtin)] = &[
    ("encode", Builtin { name: "json.encode", body: encode }),
    ("decode", Builtin { name: "json.decode", body: decode }),
];

pub fn add(builder: &mut GlobalsBuilder) {
    builder.set("json", Namespace { name: "json", members: MEMBERS });
}

/// `json.encode(value, pretty = False)`: on one line, or with two blanks a level.
fn encode<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let value = args.next("value")?;
    let pretty = args.flag("pretty")?;
    args.done()?;
    let plain = to_plain(value).map_err(|found| args.problem(format_args!("cannot encode {found}")))?;
    let text = if pretty { plain.to_json() } else { plain.to_json_line() };
    Ok(here.heap.alloc(text))
}

/// `json.decode(text)`
fn decode<'v>(mut args: Arguments<'v>, here: Here<'v, '_>) -> Result<Value<'v>, Problems> {
    let value = args.next("text")?;
    args.done()?;
    let Some(text) = value.unpack_str() else {
        return Err(args
            .problem(format_args!("cannot decode {}", type_name(value)))
            .expected("expected a string")
            .into());
    };
    let plain = Plain::from_json(text).map_err(|words| args.problem(format_args!("the text is no JSON: {words}")))?;
    Ok(alloc(&plain, here.heap))
}
