//! Functions that module code can call.

#![allow(unsafe_code, reason = "the interpreter's derive implements an unsafe marker trait; none is written here")]

use super::arguments::Arguments;
use super::call::Context;
use super::error::{Texts, carry};
use super::story::Call;
use crate::base::{Place, Problems};
use allocative::Allocative;
use starlark::codemap::FileSpan;
use starlark::eval::{Arguments as Given, Evaluator};
use starlark::starlark_simple_value;
use starlark::values::{
    Heap, NoSerialize, ProvidesStaticType, StarlarkPagablePanic, StarlarkValue, Value, starlark_value,
};

/// A function of the host. `name` is what the code calls it.
#[derive(ProvidesStaticType, NoSerialize, StarlarkPagablePanic, Allocative)]
pub struct Builtin {
    pub name: &'static str,
    #[allocative(skip)]
    pub body: Body,
}

pub type Body = for<'v, 'h> fn(Arguments<'v>, Here<'v, 'h>) -> Result<Value<'v>, Problems>;

/// Where a call happens: the heap for its result and, while a function of the module runs, the run's context.
pub struct Here<'v, 'h> {
    pub heap: Heap<'v>,
    pub context: Option<&'h Context>,
    /// The functions of the module that led to the call, innermost first; empty unless the context has a story.
    pub calls: Vec<Call>,
}

starlark_simple_value!(Builtin);

impl std::fmt::Debug for Builtin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<function {}>", self.name)
    }
}

impl std::fmt::Display for Builtin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<function {}>", self.name)
    }
}

#[starlark_value(type = "function")]
impl<'v> StarlarkValue<'v> for Builtin {
    fn name_for_call_stack(&self, _me: Value<'v>) -> String {
        self.name.to_owned()
    }

    fn invoke(
        &self,
        _me: Value<'v>,
        args: &Given<'v, '_>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let heap = eval.heap();
        let positional = args.positions(heap)?.collect();
        let named = args.names_map()?.iter().map(|(k, v)| (k.as_str().to_owned(), *v)).collect();
        let extra = eval.extra;
        let context = extra.and_then(|extra| extra.downcast_ref::<Context>());
        let texts = extra.and_then(|extra| extra.downcast_ref::<Texts>()).or_else(|| context.map(|c| c.texts()));
        let place = eval.call_stack_top_location().and_then(|span| called(&span, texts?));
        let arguments = Arguments::new(self.name.to_owned(), positional, named, place);
        let told = context.filter(|context| context.story.is_some()).zip(texts);
        let calls = told.map(|(_, texts)| calls(eval, texts)).unwrap_or_default();
        (self.body)(arguments, Here { heap, context, calls }).map_err(carry)
    }
}

/// The calls that are open, innermost first: the function that is running, and where it was called.
fn calls(eval: &Evaluator, texts: &Texts) -> Vec<Call> {
    let frames = eval.call_stack().frames;
    let call = |frame: starlark::errors::Frame| Call {
        function: frame.name,
        place: frame.location.as_ref().and_then(|span| texts.place(span)),
    };
    frames.into_iter().rev().map(call).collect()
}

/// The place of a call: the caret belongs under the function's name, not under all its arguments.
fn called(span: &FileSpan, texts: &Texts) -> Option<Place> {
    let place = texts.place(span)?;
    let name = span.source_span().split('(').next().unwrap_or_default();
    Some(Place { width: name.chars().count() as u32, ..place })
}
