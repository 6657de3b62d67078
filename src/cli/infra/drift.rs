//! `suil infra drift`.

use super::ground::{Choice, Ground, interrupted};
use super::tree::Where;
use crate::base::{Plain, Problems, clock};
use crate::cli::{Context, Outcome};
use crate::infra::drift::{Ask, Look, look};
use crate::infra::store::DriftState;
use crate::ui::{self, Exit, Paint};
use chrono::TimeDelta;

/// Look whether what stands in the world is still what the states of stacks say
///
/// Plans each stack with `-refresh-only`. Nothing is applied and nothing is locked. What was found is kept, so that the
/// next look tells what is new.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples: suil infra drift --all, suil infra drift stacks/kiln:harbor network, suil infra drift --all --max-age 24h
Ends with 0 where all are clean, 2 where something drifted, 1 where a stack could not be looked at.")]
pub struct Args {
    /// Look at these stacks
    #[arg(value_name = "STACK", required_unless_present = "all")]
    stacks: Vec<String>,
    /// Look at every stack of the tree
    #[arg(long, conflicts_with = "stacks")]
    all: bool,
    /// Take the last look for good where it is younger than this: `90s`, `30m`, `24h`, `7d`
    #[arg(long, value_name = "AGE", value_parser = age)]
    max_age: Option<TimeDelta>,
    /// Look at this many stacks at once [default: `apply.max_parallel` of the tree, or 6]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    parallel: Option<u16>,
    #[command(flatten)]
    place: Where,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let ground = Ground::new(&args.place, context)?;
    let choice = Choice { stacks: args.stacks, all: args.all, ..Choice::default() };
    let set = ground.set(&choice, false)?;
    let parallel = args.parallel.map_or(ground.graph.policy.max_parallel, usize::from);
    let screen = ui::stacks::Screen::default();
    screen.begin("looking for drift", set.len());
    let ask = Ask { parallel, max_age: args.max_age };
    let looks = look(&ground.site, &set.units, &*ground.store, ask, &screen);
    screen.end();
    let looks = looks?;
    let mask = &ground.mask;
    let text = || ui::drift::render(&looks, clock::now(), ui::columns(), mask, Paint::ON);
    let value =
        || Plain::from_iter([("stacks", looks.iter().map(|look| ui::drift::value(look, mask)).collect::<Plain>())]);
    ui::show(context.output, text, value)?;
    let mut problems: Problems = looks.iter().flat_map(|look| look.problems.clone()).collect();
    if ground.site.stop.asked() {
        let left = set.len() - looks.len();
        problems.push(interrupted(&format!("{left} of {} stacks were not looked at", set.len())));
    }
    if !problems.is_empty() {
        return Ok(ui::fail(&problems, mask));
    }
    let has = |state| looks.iter().any(|look: &Look| look.drift.state == state);
    Ok(match (has(DriftState::Failed), has(DriftState::Drifted)) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::Differences,
        (false, false) => Exit::Done,
    })
}

/// A length of time as it is typed.
fn age(text: &str) -> Result<TimeDelta, String> {
    let expected = || "a number and `s`, `m`, `h` or `d`, such as `24h`".to_owned();
    let unit = text.chars().last().ok_or_else(expected)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(expected()),
    };
    let number = text.strip_suffix(unit).unwrap_or_default().parse::<u32>().map_err(|_| expected())?;
    TimeDelta::try_seconds(i64::from(number) * seconds).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::age;

    #[test]
    fn an_age_has_a_unit() {
        let seconds = |text| age(text).map(|age| age.num_seconds()).ok();
        assert_eq!(["90s", "30m", "24h", "7d", "0s"].map(seconds), [90, 1800, 86_400, 604_800, 0].map(Some));
        assert_eq!(["", "7", "d", "-1h", "1.5h", "9999999999d", "1w"].map(seconds), [None; 7]);
    }
}
