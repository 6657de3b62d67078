//! Whole-path tests on a node that is this machine: from data files to what stands on the disk. They need no server
//! and no root.

#![allow(clippy::disallowed_methods)]

#[path = "local/adhoc.rs"]
mod adhoc;
#[path = "local/collect.rs"]
mod collect;
#[path = "local/converge.rs"]
mod converge;
#[path = "local/format.rs"]
mod format;
#[path = "local/pool.rs"]
mod pool;
#[path = "local/refuse.rs"]
mod refuse;
#[path = "local/rolling.rs"]
mod rolling;
#[path = "local/room.rs"]
mod room;
#[path = "local/secret.rs"]
mod secret;
#[path = "local/stop.rs"]
mod stop;
#[path = "local/trigger.rs"]
mod trigger;
#[path = "local/unlock.rs"]
mod unlock;
