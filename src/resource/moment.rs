//! Moments as the tools of a node print them, for comparing what is older than what.

use chrono::NaiveDateTime;

/// A moment in UTC, as exact as it was printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    seconds: i64,
    nanos: u32,
    /// How many digits of the second were printed.
    digits: u32,
}

impl Moment {
    /// Reads `Mon 2026-11-30 05:15:14.920374 UTC` (systemd), `2026-11-30 05:15:14.674095599 +0000` (stat, with
    /// `TZ=UTC`) or seconds since 1970. `None` for an empty text, and for anything else.
    pub fn read(text: &str) -> Option<Moment> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (date, time) = match words.as_slice() {
            [seconds] => return Moment::number(seconds),
            [weekday, date, time, ..] if weekday.starts_with(|c: char| c.is_ascii_alphabetic()) => (date, time),
            [date, time, ..] => (date, time),
            [] => return None,
        };
        let (whole, fraction) = time.split_once('.').unwrap_or((time, ""));
        let at = NaiveDateTime::parse_from_str(&format!("{date} {whole}"), "%Y-%m-%d %H:%M:%S").ok()?;
        Moment::new(at.and_utc().timestamp(), fraction)
    }

    fn number(text: &str) -> Option<Moment> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        Moment::new(whole.parse().ok()?, fraction)
    }

    fn new(seconds: i64, fraction: &str) -> Option<Moment> {
        let digits: String = fraction.chars().take(9).collect();
        let nanos = if digits.is_empty() { 0 } else { format!("{digits:0<9}").parse().ok()? };
        Some(Moment { seconds, nanos, digits: digits.len() as u32 })
    }

    /// True where this moment is after `other`, as far as the coarser of the two can tell.
    pub fn is_after(self, other: Moment) -> bool {
        let unit = 10_u32.pow(9 - self.digits.min(other.digits).min(9));
        (self.seconds, self.nanos / unit) > (other.seconds, other.nanos / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_is_one_moment_and_the_coarser_decides() {
        let systemd = Moment::read("Mon 2026-11-30 05:15:14.920374 UTC").expect("systemd");
        let older = Moment::read("Mon 2026-11-30 05:15:14 UTC").expect("before systemd 248");
        let stat = Moment::read("2026-11-30 05:15:14.921000000 +0000").expect("stat");
        let number = Moment::read("1796015714.92").expect("number");
        assert!(stat.is_after(systemd) && !systemd.is_after(stat));
        assert!(!stat.is_after(older) && !older.is_after(stat), "in the same second nothing is certain");
        assert!(!number.is_after(systemd) && !systemd.is_after(number));
        assert!(Moment::read("1796015715").is_some_and(|later| later.is_after(stat)));
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in ["", "n/a", "yesterday", "Mon 2026-13-30 05:15:14 UTC", "12:30", "1.x"] {
            assert_eq!(Moment::read(text), None, "{text}");
        }
    }
}
