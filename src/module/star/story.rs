//! What a call of module code made, and how: kept only where somebody asks where a resource comes from.

use crate::base::Place;
use crate::module::template::Piece;
use crate::resource::{Content, Resource};
use std::sync::Arc;
use zeroize::Zeroizing;

/// In the order in which things happened.
#[derive(Default)]
pub struct Story {
    pub made: Vec<Made>,
    pub rendered: Vec<Rendered>,
}

/// A resource that was declared.
pub struct Made {
    pub resource: Arc<dyn Resource>,
    /// What led to it, innermost first: the first is the call that declares it.
    pub calls: Vec<Call>,
    pub content: Option<Content>,
    /// The file below `files/` that the content was taken from.
    pub source: Option<String>,
    /// True where the module asked that the content never be shown.
    pub hidden: bool,
}

/// A call that was open.
#[derive(Clone, Debug)]
pub struct Call {
    pub function: String,
    /// Where it was called; `None` for what suil itself calls.
    pub place: Option<Place>,
}

/// A template that was rendered.
pub struct Rendered {
    pub template: String,
    pub text: Zeroizing<String>,
    pub pieces: Vec<Piece>,
}
