//! A named group of functions: `t.int`, `t.list`, …

#![allow(unsafe_code, reason = "the interpreter's derive implements an unsafe marker trait; none is written here")]

use super::builtin::Builtin;
use allocative::Allocative;
use starlark::starlark_simple_value;
use starlark::values::{
    Heap, NoSerialize, ProvidesStaticType, StarlarkPagablePanic, StarlarkValue, Value, starlark_value,
};

#[derive(Debug, ProvidesStaticType, NoSerialize, StarlarkPagablePanic, Allocative)]
pub struct Namespace {
    pub name: &'static str,
    #[allocative(skip)]
    pub members: &'static [(&'static str, Builtin)],
}

starlark_simple_value!(Namespace);

impl std::fmt::Display for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

#[starlark_value(type = "namespace")]
impl<'v> StarlarkValue<'v> for Namespace {
    fn get_attr(&self, attribute: &str, heap: Heap<'v>) -> Option<Value<'v>> {
        let (_, member) = self.members.iter().find(|(name, _)| *name == attribute)?;
        Some(heap.alloc(Builtin { name: member.name, body: member.body }))
    }

    fn dir_attr(&self) -> Vec<String> {
        self.members.iter().map(|(name, _)| (*name).to_owned()).collect()
    }
}
