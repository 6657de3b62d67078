//! Schedules in the five fields of cron.

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// True for five fields of numbers, names, ranges, lists and steps, in UTC or behind `CRON_TZ=Area/City`.
pub fn is_schedule(text: &str) -> bool {
    let text = text.trim();
    let fields = match text.strip_prefix("CRON_TZ=") {
        Some(rest) => match rest.split_once(char::is_whitespace) {
            Some((zone, fields)) if !zone.is_empty() => fields,
            _ => return false,
        },
        None => text,
    };
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields.as_slice() else { return false };
    field(minute, 0, 59, &[])
        && field(hour, 0, 23, &[])
        && field(day, 1, 31, &[])
        && field(month, 1, 12, &MONTHS)
        && field(weekday, 0, 7, &DAYS)
}

/// `names` stand for numbers from `low` on.
fn field(text: &str, low: u32, high: u32, names: &[&str]) -> bool {
    let number = |word: &str| {
        let named = names.iter().position(|name| name.eq_ignore_ascii_case(word)).map(|at| at as u32 + low);
        let digits = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        named.or_else(|| word.parse().ok().filter(|n| digits && (low..=high).contains(n)))
    };
    text.split(',').all(|item| {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, step.parse::<u32>().is_ok_and(|n| n > 0)),
            None => (item, true),
        };
        let range = match range.split_once('-') {
            _ if matches!(range, "*" | "?") => true,
            Some((from, to)) => matches!((number(from), number(to)), (Some(from), Some(to)) if from <= to),
            None => number(range).is_some(),
        };
        range && step
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_fields_within_their_bounds_are_a_schedule() {
        for text in ["0 6 * * 1-5", "*/15 0-6,22 1 jan-MAR mon", "CRON_TZ=Europe/Oslo 5 4 * * sun", "0 0 ? * 7"] {
            assert!(is_schedule(text), "{text}");
        }
        for text in
            ["", "every day", "60 * * * *", "* * 0 * *", "*/0 * * * *", "* * * * 5-1", "@daily", "CRON_TZ= * * * * *"]
        {
            assert!(!is_schedule(text), "{text}");
        }
    }
}
