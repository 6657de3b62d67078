//! What only a real node can show. The nodes come from `tests/fleet/fleet`, so these tests are ignored unless asked
//! for: `cargo test --test e2e -- --ignored --test-threads=1`.
//!
//! `FLEET_DIR` says where the fleet keeps its key and its list of hosts (default `/var/tmp/fleet`).

#![allow(clippy::disallowed_methods, reason = "tests start what they test")]

mod access;
mod adhoc;
mod apply;
mod faults;
mod fleet;
mod large;
mod lock;
mod plan;
mod rolling;
mod scenario_link;
mod scenario_login;
mod scenario_package;
mod scenario_place;
mod scenario_sudo;
mod stock;
