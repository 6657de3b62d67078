//! The one place that reads the clock.

use chrono::{DateTime, Utc};

/// Returns the present moment.
pub fn now() -> DateTime<Utc> {
    #[allow(clippy::disallowed_methods)]
    Utc::now()
}

/// `2026-11-30T02:54:46Z`, as facts and records carry it.
pub fn stamp(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// `2026-11-30T02-54-46Z`, as a folder under `.runs/` is called.
pub fn folder(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%dT%H-%M-%SZ").to_string()
}

/// Returns a monotonic instant, for measuring how long something took.
pub fn instant() -> std::time::Instant {
    #[allow(clippy::disallowed_methods)]
    std::time::Instant::now()
}
