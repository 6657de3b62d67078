//! What a tree may ask to be done otherwise than the original does: variables of these names, in plain files of any
//! level, so that one layer, one stack or all of them can ask for it.

use super::variables::Variables;
use crate::base::{Problem, Problems, Result};
use crate::infra::Value;

/// The variable that says whether strings in lists and maps are markers; see [`super::markers`].
pub const MARKERS: &str = "stacks_markers";
const PATH_STYLE: &str = "stacks_path_style";
const SENSITIVE: &str = "stacks_sensitive";

/// What is asked for. The default is what the original does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Switches {
    /// `stacks_path` is the path of the layer's folder, not `stacks/<stack>/layer/<layer>`.
    pub real_path: bool,
    /// Variables that came from envelopes are declared as sensitive.
    pub sensitive: bool,
}

impl Switches {
    /// Reads the switches among the variables of a layer.
    ///
    /// # Errors
    /// One has a value that it cannot have.
    pub fn read(variables: &Variables) -> Result<Switches> {
        let mut problems = Problems::new();
        let mut wrong = |name: &str, expected: &str| {
            let problem = Problem::new(format!("`{name}` has a value that means nothing")).expected(expected);
            let place = variables.0.get(name).and_then(|variable| variable.place);
            problems.push(Problem { place, ..problem });
        };
        let mut switches = Switches::default();
        match variables.0.get(PATH_STYLE).map(|variable| &variable.value) {
            None => {}
            Some(Value::Str(style)) if style == "original" => {}
            Some(Value::Str(style)) if style == "real" => switches.real_path = true,
            Some(_) => wrong(PATH_STYLE, "expected \"real\" or \"original\""),
        }
        match variables.0.get(SENSITIVE).map(|variable| &variable.value) {
            None => {}
            Some(Value::Bool(on)) => switches.sensitive = *on,
            Some(_) => wrong(SENSITIVE, "expected `true` or `false`"),
        }
        if !matches!(variables.0.get(MARKERS).map(|variable| &variable.value), None | Some(Value::Bool(_))) {
            wrong(MARKERS, "expected `true` or `false`");
        }
        if problems.is_empty() { Ok(switches) } else { Err(problems) }
    }
}
