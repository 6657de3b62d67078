//! Lists of nodes as people read them: numbers that follow each other are folded, and long lists are broken at commas.

use super::text;

/// Joins names with commas. Three or more that differ in one number alone, and whose numbers follow each other, are
/// folded to `web-[01-12].example.com`.
pub fn fold<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let mut rest = names.as_slice();
    let mut out = Vec::new();
    while let Some((first, others)) = rest.split_first() {
        match run(rest) {
            Some(run) if run.length >= 3 => {
                out.push(format!("{}[{}-{}]{}", run.before, run.from, run.to, run.after));
                rest = rest.get(run.length..).unwrap_or_default();
            }
            _ => {
                out.push((*first).to_owned());
                rest = others;
            }
        }
    }
    out
}

struct Run {
    before: String,
    after: String,
    from: String,
    to: String,
    length: usize,
}

/// The longest beginning of `names` in which one number counts up by one.
fn run(names: &[&str]) -> Option<Run> {
    let (first, second) = (names.first()?, names.get(1)?);
    let (before, from, after) = numbers(first).find(|(before, number, after)| next(second, before, number, after))?;
    let mut to = from.to_owned();
    let mut length = 1;
    while let Some(later) = up(&to).filter(|_| names.get(length).is_some_and(|name| next(name, before, &to, after))) {
        to = later;
        length += 1;
    }
    Some(Run { before: before.to_owned(), after: after.to_owned(), from: from.to_owned(), to, length })
}

/// True where `name` is `before`, the number after `number`, `after`.
fn next(name: &str, before: &str, number: &str, after: &str) -> bool {
    let middle = name.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    middle.is_some() && middle == up(number).as_deref()
}

/// The number after `number`, as wide where that one has leading zeros.
fn up(number: &str) -> Option<String> {
    let next = number.parse::<u64>().ok()?.checked_add(1)?;
    let width = number.len();
    let text = if number.starts_with('0') { format!("{next:0width$}") } else { next.to_string() };
    (!number.starts_with('0') || text.len() == width).then_some(text)
}

/// Every number in a name, with what stands before and behind it.
fn numbers(name: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    let is_digit = |c: char| c.is_ascii_digit();
    let mut at = 0;
    std::iter::from_fn(move || {
        let from = at + name.get(at..)?.find(is_digit)?;
        let rest = name.get(from..)?;
        let to = from + rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        at = to;
        Some((name.get(..from)?, name.get(from..to)?, name.get(to..)?))
    })
}

/// Joins parts with commas into lines of at most `columns`.
pub fn lines(parts: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let part = if i + 1 < parts.len() { format!("{part},") } else { part.clone() };
        match lines.last_mut() {
            Some(line) if text::width(line) + 1 + text::width(&part) <= columns => {
                line.push(' ');
                line.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_folded() {
        let fold = |names: &str| super::fold(names.split(' ')).join(" ");
        assert_eq!(fold("db web-01 web-02 web-03 web-05"), "db web-[01-03] web-05");
        assert_eq!(fold("web-08.a web-09.a web-10.a web-11.b"), "web-[08-10].a web-11.b");
        assert_eq!(fold("n9 n10 n11"), "n[9-11]");
        assert_eq!(fold("a1b1 a1b2 a1b3"), "a1b[1-3]");
        assert_eq!(fold("web-01 web-02"), "web-01 web-02");
        assert_eq!(fold("a b c"), "a b c");
        assert_eq!(fold("x98 x99 x100 x102"), "x[98-100] x102");
    }

    #[test]
    fn a_long_list_is_broken_at_commas() {
        let parts: Vec<String> = ["alpha", "beta", "gamma"].map(str::to_owned).to_vec();
        assert_eq!(lines(&parts, 12), ["alpha, beta,", "gamma"]);
    }
}
