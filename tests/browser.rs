//! The pages in a real browser: the graph as a file, and `suil serve`.

#![allow(clippy::disallowed_methods)]

#[path = "browser/driver.rs"]
mod driver;
#[path = "browser/export.rs"]
mod export;
#[path = "browser/served.rs"]
mod served;
#[path = "serve/server.rs"]
#[allow(dead_code, reason = "the tests of the API need the rest")]
mod server;
#[path = "serve/stage.rs"]
#[allow(dead_code, reason = "the tests of the API need the rest")]
mod stage;
