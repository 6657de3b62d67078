//! Runs one test: config, resources, plan, the plan after it.

use super::case::{Case, Described};
use super::nothing;
use crate::base::{Place, Plain, Problem, Problems, digest};
use crate::module::{Config, Module};
use crate::plan::intent::seen;
use crate::plan::order;
use crate::plan::want::Want;
use crate::resource::{self, Answer, Content, Facts, Resource};
use std::sync::Arc;

/// Everything that is not as the test wants it.
pub fn judge(module: &Module, case: &Case) -> Problems {
    let found = perform(module, case);
    match (&case.fails, found) {
        (None, Ok(problems) | Err(problems)) => problems,
        (Some((words, _)), Err(problems)) if problems.iter().any(|p| says(p, words)) => Problems::new(),
        (Some((words, place)), found) => {
            let wanted = case.problem("it does not fail as wanted").at(*place).expected(format!("expected `{words}`"));
            std::iter::once(wanted).chain(found.err().unwrap_or_default()).collect()
        }
    }
}

fn says(problem: &Problem, words: &str) -> bool {
    let notes = problem.notes.iter().map(|note| note.text.as_str());
    let texts = [Some(problem.what.as_str()), problem.expected.as_deref(), problem.help.as_deref()];
    texts.into_iter().flatten().chain(notes).any(|text| text.contains(words))
}

/// Goes all the way. `Err`: a stage failed. `Ok`: what differs from the test.
fn perform(module: &Module, case: &Case) -> Result<Problems, Problems> {
    let config = Arc::new(module.test_config(case.config.as_ref(), &case.header)?);
    let resources = module.resources(&config)?;
    let mut problems = Problems::new();
    if let Some(wanted) = &case.resources {
        problems.extend(compare_resources(case, wanted, &resources));
    }
    let facts = facts(case, &case.facts, &resources)?;
    let (titles, left) = plan(module, case, &config, &resources, &facts)?;
    if let Some(wanted) = &case.operations {
        problems.extend(compare_texts(case, "operation", wanted, &titles));
    }
    if let Some(wanted) = &case.check {
        let seen = seen(&resources, &left, case.collected.as_ref());
        let found: Vec<String> = module.check(&config, &seen)?.into_iter().map(|p| p.what).collect();
        let prefix = format!("module `{}`: ", case.module);
        let found: Vec<String> =
            found.iter().map(|what| what.strip_prefix(&prefix).unwrap_or(what).to_owned()).collect();
        problems.extend(compare_texts(case, "problem of `check()`", wanted, &found));
    }
    problems.extend(again(case, &resources, left)?);
    Ok(problems)
}

/// The titles of the operations, and the facts that they leave.
fn plan(
    module: &Module,
    case: &Case,
    config: &Arc<Config>,
    resources: &[Arc<dyn Resource>],
    facts: &Facts,
) -> Result<(Vec<String>, Facts), Problems> {
    let seen = seen(resources, facts, case.collected.as_ref());
    let queued = module.deploy(config, &seen, case.force)?.into_iter().map(|queued| queued.change).collect();
    let want = Want {
        module: case.module.clone(),
        resources: resources.to_vec(),
        queued,
        force: case.force,
        ..Want::default()
    };
    let planned = order::node(&case.header.node, &[want], facts);
    if !planned.problems.is_empty() {
        return Err(planned.problems);
    }
    let mut left = facts.clone();
    for resource in resources {
        resource.settle(&mut left);
    }
    Ok((planned.operations.into_iter().map(|op| op.title).collect(), left))
}

/// A second run must find nothing to do: every resource is compared with what the first one leaves.
fn again(case: &Case, resources: &[Arc<dyn Resource>], left: Facts) -> Result<Problems, Problems> {
    let (left, place) = match &case.after {
        Some(after) => (facts(case, after, resources)?, after.first().map_or(case.place, |d| d.place)),
        None => (left, case.place),
    };
    let want = Want { module: case.module.clone(), resources: resources.to_vec(), ..Want::default() };
    let planned = order::node(&case.header.node, &[want], &left);
    let rest = planned.operations.iter().map(|op| {
        let problem = case.problem(&format!("a second run would still `{}`", op.title)).at(place);
        let attributes = op.diff.attributes.iter().map(|a| {
            let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
            format!("`{}` is {}, and {} is wanted", a.name, shown(&a.before), shown(&a.after))
        });
        attributes.fold(problem, Problem::note)
    });
    Ok(planned.problems.iter().cloned().chain(rest).collect())
}

/// What the node answers: nothing is there, but for what the test describes.
fn facts(case: &Case, described: &[Described], resources: &[Arc<dyn Resource>]) -> Result<Facts, Problems> {
    let mut facts = Facts {
        family: case.header.family.clone().unwrap_or_default(),
        ssh_user: case.header.ssh_user.clone(),
        ..Facts::default()
    };
    nothing::answer(&mut facts, resources);
    let mut problems = Problems::new();
    for thing in described {
        if thing.unknown {
            let about = resources.iter().filter(|r| r.kind() == thing.kind && r.name() == thing.name);
            for request in about.flat_map(|resource| resource.requests()) {
                facts.insert(request, Answer::Unknown("the test says so".to_owned()));
            }
            continue;
        }
        match built(thing) {
            Ok(there) => {
                nothing::answer(&mut facts, std::slice::from_ref(&there));
                there.settle(&mut facts);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(facts) } else { Err(problems) }
}

/// The thing as the resource that would have made it.
fn built(thing: &Described) -> Result<Arc<dyn Resource>, Problem> {
    let content = thing.attributes.get("content").and_then(Plain::as_str);
    let content = content.map(|text| Content::Bytes(Arc::from(text.as_bytes())));
    let mut attributes = thing.attributes.clone();
    if let Plain::Map(map) = &mut attributes
        && content.is_some()
    {
        map.shift_remove("content");
    }
    resource::build(&thing.kind, &thing.name, &attributes, content, Some(thing.place))
}

fn compare_resources(case: &Case, wanted: &[Described], found: &[Arc<dyn Resource>]) -> Problems {
    let mut problems = Problems::new();
    let ids: Vec<String> = found.iter().map(|resource| resource.id().0).collect();
    let texts: Vec<(String, Place)> =
        wanted.iter().map(|d| (format!("{} {}", d.kind, d.name).trim().to_owned(), d.place)).collect();
    problems.extend(compare_texts(case, "resource", &texts, &ids));
    for (wanted, found) in wanted.iter().zip(found).filter(|(w, f)| w.kind == f.kind() && w.name == f.name()) {
        let state = found.wanted();
        for (name, value) in wanted.attributes.as_map().into_iter().flatten() {
            let (name, value) = match (name.as_str(), value) {
                ("content", Plain::Str(text)) => ("sha256", Plain::from(digest::sha256(text.as_bytes()))),
                (name, value) => (name, value.clone()),
            };
            let there = state.get(name).cloned().unwrap_or_default();
            if text(&there) != text(&value) {
                let what = format!("`{name}` of `{}` is not as wanted", found.id());
                let problem = case.problem(&what).at(wanted.place);
                problems.push(problem.expected(format!("expected {}, found {}", text(&value), text(&there))));
            }
        }
    }
    problems
}

/// `0644` and `"0644"` are the same to a person who writes a test.
fn text(value: &Plain) -> String {
    match value {
        Plain::Str(text) => text.clone(),
        Plain::Null => "nothing".to_owned(),
        other => other.to_json_line(),
    }
}

/// The first difference of two lists.
fn compare_texts(case: &Case, noun: &str, wanted: &[(String, Place)], found: &[String]) -> Option<Problem> {
    let same = wanted.iter().zip(found).take_while(|((wanted, _), found)| wanted == *found).count();
    let number = same + 1;
    let problem = match (wanted.get(same), found.get(same)) {
        (None, None) => return None,
        (Some((text, place)), Some(found)) => case
            .problem(&format!("{noun} {number} is not as wanted"))
            .at(*place)
            .expected(format!("expected `{text}`, found `{found}`")),
        (Some((text, place)), None) => {
            case.problem(&format!("{noun} {number} is missing")).at(*place).expected(format!("expected `{text}`"))
        }
        (None, Some(found)) => {
            let place = wanted.last().map_or(case.place, |(_, place)| *place);
            case.problem(&format!("{noun} {number}, `{found}`, is not wanted")).at(place).expected("expected no more")
        }
    };
    let all = if found.is_empty() {
        "none".to_owned()
    } else {
        found.iter().map(|f| format!("`{f}`")).collect::<Vec<_>>().join(", ")
    };
    Some(problem.note(format!("found: {all}")))
}
