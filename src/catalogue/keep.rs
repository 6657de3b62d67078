//! `runs` in `data/common.yaml`: how long the records of runs are kept.

use crate::base::{Place, Plain, Problem, Problems, Result, nearest::nearest};
use crate::data::Value;

/// Which records of runs stay: those that one of the two rules keeps. A rule that is not set keeps none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Keep {
    /// The newest so many.
    pub count: Option<usize>,
    /// Those of the last so many days.
    pub days: Option<u32>,
}

impl Default for Keep {
    /// What is kept where nobody says how much.
    fn default() -> Keep {
        Keep { count: Some(200), days: Some(30) }
    }
}

const KEYS: [&str; 2] = ["keep", "days"];

impl Keep {
    /// Reads `{keep: 200, days: 30}`. Where one of the two stands alone, it alone counts.
    pub(super) fn read(value: &Value) -> Result<Keep> {
        let Some(map) = value.map() else {
            return Err(Problem::new(format!("`runs` is {}", value.type_name()))
                .at(value.place)
                .expected("expected `keep`, `days` or both, as `{keep: 200, days: 30}`")
                .into());
        };
        let mut problems = Problems::new();
        let mut keep = Keep { count: None, days: None };
        for (key, member) in map.iter() {
            let plain = member.value.to_plain(&mut |_, _| Plain::Null);
            match (&**key, number(&plain)) {
                ("keep", Some(n)) => keep.count = usize::try_from(n).ok(),
                ("keep", None) if plain.as_str() == Some("all") => keep.count = Some(usize::MAX),
                ("days", Some(n)) => keep.days = Some(n),
                ("keep", None) => problems.push(wrong("keep", member.value.place, "a number of runs, or `all`")),
                ("days", None) => problems.push(wrong("days", member.value.place, "a number of days")),
                (other, _) => {
                    let problem = Problem::new(format!("`runs` has no key `{other}`")).at(member.key);
                    let problem = problem.expected("expected `keep` or `days`");
                    problems.push(match nearest(other, KEYS) {
                        Some(near) => problem.help(format!("did you mean `{near}`?")),
                        None => problem,
                    });
                }
            }
        }
        match (problems.is_empty(), keep) {
            (false, _) => Err(problems),
            (true, Keep { count: None, days: None }) => Ok(Keep::default()),
            (true, keep) => Ok(keep),
        }
    }
}

fn number(value: &Plain) -> Option<u32> {
    value.as_int().and_then(|n| u32::try_from(n).ok())
}

fn wrong(key: &str, place: Place, expected: &str) -> Problem {
    Problem::new(format!("`runs.{key}` is no number")).at(place).expected(format!("expected {expected}"))
}
