//! Performs a plan, looks again, writes down what happened.
//!
//! Enters: a catalogue, its modules, a plan. Leaves: changed nodes, facts, records, outcomes. Never prints.

pub mod outcome;
pub mod record;
pub mod watch;

pub use outcome::Outcome;
pub use record::{NodeRecord, Record};
pub use watch::{Event, Watch};
