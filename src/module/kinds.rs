//! The resource kinds as module code calls them.

use crate::base::{Place, Plain, Problem};
use crate::resource::{Content, Resource};
use std::sync::Arc;

/// Every kind is a function of module code.
pub const KINDS: &[&str] = &[
    "file",
    "directory",
    "link",
    "line",
    "block",
    "package",
    "repository",
    "service",
    "unit",
    "timer",
    "user",
    "group",
    "authorized_key",
    "sudoer",
    "sysctl",
    "kernel_module",
    "mount",
    "hostname",
    "timezone",
    "locale",
    "cron",
    "download",
    "archive",
    "git",
    "command",
];

/// Makes a resource of a kind, its name and its attributes.
pub type Build = fn(&str, &str, &Plain, Option<Content>, Option<Place>) -> Result<Arc<dyn Resource>, Problem>;
