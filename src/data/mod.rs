//! Turns layer files into one tree per node, every value remembering its place.
//!
//! Enters: YAML text. Leaves: [`Value`] trees, merged. Never connects, never decrypts unasked, never prints.

pub mod library;
pub mod merge;
pub mod scalar;
pub mod schema;
pub mod secret;
pub mod tagged;
pub mod trace;
pub mod tree;
pub mod upkeep;
pub mod value;
pub mod yaml;

pub use merge::{merge, same};
pub use secret::{Keys, Plaintext, Recipients, Vault};
pub use tagged::{Member, Strategy, Tag, Tagged};
pub use trace::{Step, trace};
pub use tree::Tree;
pub use value::{Cipher, Entry, Kind, Lookup, Map, Resolved, Scalar, Value};
pub use yaml::load;
