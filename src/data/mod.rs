//! Turns layer files into one tree per node, every value remembering its place.
//!
//! Enters: YAML text. Leaves: [`Value`] trees, merged. Never connects, never decrypts unasked, never prints.

pub mod value;

pub use value::{Cipher, Kind, Lookup, Map, Resolved, Scalar, Value};
