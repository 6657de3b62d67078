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

/// How long ago a [`stamp`] was: `40 s ago`, `3 min ago`, `5 h ago`, `2 days ago`. `None` for a text that is no stamp,
/// and for a moment that is still to come: clocks differ.
pub fn ago(stamp: &str) -> Option<String> {
    let at = DateTime::parse_from_rfc3339(stamp).ok()?;
    passed(now().signed_duration_since(at).num_seconds())
}

fn passed(seconds: i64) -> Option<String> {
    Some(match seconds {
        ..0 => return None,
        0..120 => format!("{seconds} s ago"),
        120..7200 => format!("{} min ago", seconds / 60),
        7200..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_is_said_in_one_unit() {
        let said = [-1, 7, 119, 180, 7199, 7200, 200_000].map(|seconds| passed(seconds).unwrap_or_default());
        assert_eq!(said, ["", "7 s ago", "119 s ago", "3 min ago", "119 min ago", "2 h ago", "2 days ago"]);
    }
}
