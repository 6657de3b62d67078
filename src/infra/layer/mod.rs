//! Renders layers: levels of variables merge, templates are filled in, and an output folder takes the old one's place.
//!
//! Enters: a tree, a layer of it, what the environment says. Leaves: the layer's output folder, for Terraform to run in,
//! or every problem that stands in the way, and then nothing has changed. Begin reading at `render.rs`.

mod declare;
pub mod files;
mod host;
mod hosts;
pub mod levels;
mod options;
mod output;
mod parallel;
pub mod pieces;
mod remote;
mod render;
mod run;
mod secrets;
mod settings;
mod site;
mod sources;
mod survey;
pub mod unread;
mod variables;

pub use host::NOT_READ;
pub use hosts::{Hosts, Looked};
pub use options::Options;
pub use output::{is_input, is_state};
pub use parallel::each;
pub use pieces::{Piece, Pieces};
pub use remote::words;
pub use render::{Built, Rendered, Stage, build, render, render_all, render_into};
pub use run::Run;
pub use secrets::Secrets;
pub use settings::Settings;
pub use site::{Layer, Name, shown, stands};
pub use sources::{Item, Kind, Sources};
pub use survey::{Seen, Survey, below, survey};
pub use variables::{Variable, Variables};
