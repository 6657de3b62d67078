//! Reaches a node, speaks the session protocol, brings facts home.
//!
//! Enters: a [`Target`] (how a node is reached) and an [`Access`] (what the run knows and allows). Leaves: a
//! [`Session`], the [`Probe`] it began with, facts, outcomes of actions. Never prints, never asks a person anything
//! itself, never decides what a node should be like.
//!
//! Begin reading at `session.rs`; `collector/session.sh` is the other end of the channel.

mod access;
mod answer;
mod channel;
mod chore;
mod command;
mod failure;
pub mod guard;
mod hand;
pub mod hostkey;
mod link;
mod local;
pub mod lock;
mod login;
mod openssh;
mod pace;
mod probe;
mod program;
mod reading;
mod release;
mod russh;
mod scan;
mod script;
mod session;
mod socket;
mod sudo;
mod survey;
mod target;
mod upload;

pub use access::{Access, Limits, Log, Sudo};
pub use chore::{Chore, Returned};
pub use failure::{Failure, Reason};
pub use guard::{Keep, Regained};
pub use hand::Hand;
pub use hostkey::HostKey;
pub use lock::Held;
pub use pace::Pace;
pub use probe::Probe;
pub use release::{Release, family};
pub use script::Script;
pub use session::{Outcome, Session};
pub use survey::{Collector, Survey};
pub use target::{Raise, Target, Transport};
