//! `suil serve` over plain HTTP: the API, who may look, and what every answer carries.

#![allow(clippy::disallowed_methods)]

#[path = "serve/api.rs"]
mod api;
#[path = "faces/documented.rs"]
#[allow(dead_code, reason = "the manual of the command line needs the rest")]
mod documented;
#[path = "serve/door.rs"]
mod door;
#[path = "serve/server.rs"]
#[allow(dead_code, reason = "the tests of the page need the rest")]
mod server;
#[path = "serve/stage.rs"]
mod stage;
