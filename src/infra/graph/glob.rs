//! Patterns over whole paths: `*` stays in a name, `**` spans any number of names, `?`, `[a-z]`, `{a,b}`, `\`.

use crate::base::pattern::{self, Step, class, spans};

/// How many patterns the braces of one may stand for.
const MOST: usize = 256;

/// A pattern that can be asked.
#[derive(Clone, Debug)]
pub struct Glob {
    /// One of these matches.
    ways: Vec<Vec<Part>>,
}

#[derive(Clone, PartialEq, Debug)]
enum Part {
    /// `**`
    Any,
    /// One name, written out.
    Name(String),
    Steps(Vec<Step>),
}

impl Glob {
    /// # Errors
    /// A bracket or a brace is never closed, or it stands for too many patterns; in words.
    pub fn new(pattern: &str) -> Result<Glob, &'static str> {
        let mut ways = Vec::new();
        let mut plain = vec![pattern.to_owned()];
        let mut made = 1;
        while let Some(text) = plain.pop() {
            match alternatives(&text)? {
                Some(more) => {
                    made += more.len();
                    if made > MOST {
                        return Err("it stands for too many patterns");
                    }
                    plain.extend(more);
                }
                None => ways.push(text.split('/').filter(|name| !name.is_empty()).map(part).collect::<Result<_, _>>()?),
            }
        }
        Ok(Glob { ways })
    }

    /// True where the whole of `path` matches.
    pub fn matches(&self, path: &str) -> bool {
        let names: Vec<&str> = path.split('/').filter(|name| !name.is_empty()).collect();
        self.ways.iter().any(|way| spans(way, &names, |part| *part == Part::Any, |part, name| part.takes(name)))
    }

    /// The names that every match begins with.
    pub fn fixed(&self) -> String {
        let [way] = self.ways.as_slice() else { return String::new() };
        let names = way.iter().map_while(|part| match part {
            Part::Name(name) => Some(name.as_str()),
            _ => None,
        });
        names.collect::<Vec<_>>().join("/")
    }
}

impl Part {
    fn takes(&self, name: &str) -> bool {
        match self {
            Part::Any => true,
            Part::Name(own) => own == name,
            Part::Steps(steps) => pattern::matches(steps, name),
        }
    }
}

/// What the first brace of a pattern stands for; `None` where it has none.
fn alternatives(pattern: &str) -> Result<Option<Vec<String>>, &'static str> {
    let (mut depth, mut open, mut cuts, mut escaped, mut class) = (0, 0, Vec::new(), false, false);
    for (at, c) in pattern.char_indices() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match c {
            '\\' => escaped = true,
            '[' if depth == 0 => class = true,
            ']' => class = false,
            _ if class => {}
            '{' => {
                if depth == 0 {
                    open = at;
                    cuts.push(at);
                }
                depth += 1;
            }
            ',' if depth == 1 => cuts.push(at),
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    cuts.push(at);
                    let (before, after) = (pattern.get(..open).unwrap_or(""), pattern.get(at + 1..).unwrap_or(""));
                    let between = cuts.windows(2).filter_map(|cut| match cut {
                        [from, to] => pattern.get(from + 1..*to),
                        _ => None,
                    });
                    return Ok(Some(between.map(|middle| format!("{before}{middle}{after}")).collect()));
                }
            }
            _ => {}
        }
    }
    if depth > 0 { Err("a `{` is never closed") } else { Ok(None) }
}

fn part(name: &str) -> Result<Part, &'static str> {
    if name == "**" {
        return Ok(Part::Any);
    }
    let chars: Vec<char> = name.chars().collect();
    let mut steps = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        match c {
            '*' => steps.push(Step::Any),
            '?' => steps.push(Step::One),
            '[' => {
                let (step, next) = class(&chars, at, &['!', '^']).ok_or("a `[` is never closed")?;
                steps.push(step);
                at = next;
            }
            '\\' => {
                steps.push(Step::Char(*chars.get(at).ok_or("a `\\` stands at its end")?));
                at += 1;
            }
            c => steps.push(Step::Char(c)),
        }
    }
    let plain = steps.iter().map(|step| match step {
        Step::Char(c) => Some(*c),
        _ => None,
    });
    Ok(match plain.collect::<Option<String>>() {
        Some(name) => Part::Name(name),
        None => Part::Steps(steps),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stays_in_a_name_and_two_span_any_number_of_names() {
        let table = [
            ("stacks/**", "stacks", true),
            ("stacks/**", "stacks/a/b", true),
            ("stacks/**", "stacksx/a", false),
            ("stacks/*", "stacks/a/b", false),
            ("**/*.md", "a.md", true),
            ("**/*.md", "x/y/a.md", true),
            ("**/README*", "READMEs/note.txt", false),
            ("a/**/b", "a/b", true),
            ("a/**/b/**/c", "a/x/b/y/b/z/c", true),
            ("a**", "ab/c", false),
            ("env/*.tfvars", "env/eu.tfvars", true),
            ("{stacks,infra}/*/{a,b{1,2}}", "infra/x/b2", true),
            ("{stacks,infra}/*/{a,b{1,2}}", "infra/x/b3", false),
            ("[!a-c]x", "dx", true),
            ("[a-c]x", "dx", false),
            ("a\\*", "a*", true),
            ("a\\*", "ab", false),
        ];
        for (pattern, path, want) in table {
            assert_eq!(Glob::new(pattern).expect(pattern).matches(path), want, "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_never_closed_is_refused() {
        for pattern in ["a[", "{a,b", "a\\", "x/[a-"] {
            assert!(Glob::new(pattern).is_err(), "{pattern}");
        }
        assert!(Glob::new(&"{a,b}".repeat(9)).is_err());
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let glob = Glob::new(&format!("{}b", "**/*a*/".repeat(60))).expect("a glob");
        assert!(!glob.matches(&"aa/".repeat(150)));
    }

    #[test]
    fn the_fixed_part_is_what_every_match_begins_with() {
        let fixed = |pattern: &str| Glob::new(pattern).expect(pattern).fixed();
        assert_eq!(
            (fixed("env/prod/*.tfvars"), fixed("**"), fixed("a/b")),
            ("env/prod".into(), "".into(), "a/b".into())
        );
    }
}
