//! The merge laws of the design, as a model small enough to be read, against the real merge: three layers of anything.

use proptest::prelude::*;
use std::path::Path;
use suil::base::Plain;
use suil::data::{load, merge};

/// What a layer says.
#[derive(Clone, Debug)]
enum Said {
    Scalar(Plain),
    List(Vec<Said>),
    Map(Vec<(&'static str, Said)>),
    Tagged(&'static str, Box<Said>),
    /// A bare `!delete`.
    Bare,
}

impl Said {
    fn yaml(&self) -> String {
        match self {
            Said::Scalar(plain) => plain.to_json_line(),
            Said::List(items) => format!("[{}]", items.iter().map(Said::yaml).collect::<Vec<_>>().join(", ")),
            Said::Map(slots) => {
                let slots = slots.iter().map(|(key, value)| format!("{key}: {}", value.yaml()));
                format!("{{{}}}", slots.collect::<Vec<_>>().join(", "))
            }
            Said::Tagged(tag, value) => format!("!{tag} {}", value.yaml()),
            Said::Bare => "!delete ".to_owned(),
        }
    }
}

/// Why a case says nothing: the design makes it an error, or leaves it open.
struct Open;

/// The laws. `None` is nothing.
fn over(below: Option<Plain>, said: &Said) -> Result<Option<Plain>, Open> {
    match said {
        Said::Bare => Ok(None),
        Said::Tagged("replace", value) => over(None, value),
        Said::Tagged("delete", value) => delete(below, value),
        // One value under a tag is a list of it.
        Said::Tagged(tag, value) if matches!(below, Some(Plain::List(_))) && !matches!(**value, Said::List(_)) => {
            over(below, &Said::Tagged(tag, Box::new(Said::List(vec![(**value).clone()]))))
        }
        Said::Tagged("merge", value) => match (below, &**value) {
            (Some(Plain::List(below)), Said::List(items)) => by_name(below, items).map(Some),
            (below, value) => over(below, value),
        },
        Said::Tagged(_, value) => over(below, value),
        Said::Scalar(plain) => Ok(Some(plain.clone())),
        Said::List(items) => {
            let mut list = match below {
                Some(Plain::List(below)) => below,
                _ => Vec::new(),
            };
            for item in items {
                list.extend(over(None, item)?);
            }
            Ok(Some(Plain::List(list)))
        }
        Said::Map(slots) => {
            let mut map = match below {
                Some(Plain::Map(below)) => below,
                _ => Default::default(),
            };
            for (key, value) in slots {
                match over(map.get(*key).cloned(), value)? {
                    Some(value) => drop(map.insert((*key).to_owned(), value)),
                    None => drop(map.shift_remove(*key)),
                }
            }
            Ok(Some(Plain::Map(map)))
        }
    }
}

fn name(item: &Plain) -> Option<&Plain> {
    item.get("name")
}

fn by_name(below: Vec<Plain>, items: &[Said]) -> Result<Plain, Open> {
    let mut list = below.clone();
    for item in items {
        let Some(settled) = over(None, item)? else { continue };
        let twins: Vec<usize> =
            (0..below.len()).filter(|at| name(&settled).is_some() && name(&list[*at]) == name(&settled)).collect();
        match twins.as_slice() {
            [] => list.push(settled),
            [at] => list[*at] = over(Some(list[*at].clone()), item)?.ok_or(Open)?,
            _ => return Err(Open),
        }
    }
    Ok(Plain::List(list))
}

fn delete(below: Option<Plain>, value: &Said) -> Result<Option<Plain>, Open> {
    let Some(Plain::List(gone)) = over(None, value)? else { return Err(Open) };
    match below {
        None => Ok(None),
        Some(Plain::List(list)) => {
            let named = |gone: &Plain| match gone {
                Plain::Str(_) => Some(gone.clone()),
                Plain::Map(map) if map.len() == 1 => name(gone).cloned(),
                _ => None,
            };
            let goes = |item: &Plain| {
                gone.iter().any(|gone| item == gone || named(gone).is_some_and(|gone| name(item) == Some(&gone)))
            };
            Ok(Some(Plain::List(list.into_iter().filter(|item| !goes(item)).collect())))
        }
        Some(Plain::Map(map)) => {
            let gone: Option<Vec<&str>> = gone.iter().map(Plain::as_str).collect();
            let gone = gone.ok_or(Open)?;
            Ok(Some(map.into_iter().filter(|(key, _)| !gone.contains(&key.as_str())).collect()))
        }
        Some(_) => Err(Open),
    }
}

const KEYS: [&str; 3] = ["a", "b", "c"];

fn scalar() -> impl Strategy<Value = Plain> + Clone {
    let words = ["x", "y", "z", "a", "1", "yes"].map(Plain::from);
    let others = [Plain::Int(0), Plain::Int(1), Plain::Float(1.5), Plain::Bool(true), Plain::Bool(false)];
    prop::sample::select([words.as_slice(), others.as_slice()].concat())
}

fn named(more: impl Strategy<Value = Said> + Clone) -> impl Strategy<Value = Said> + Clone {
    let name = prop::sample::select(vec!["x", "y", "z"]).prop_map(|name| Said::Scalar(name.into()));
    (name, prop::option::of((prop::sample::select(KEYS.to_vec()), more)))
        .prop_map(|(name, more)| Said::Map([("name", name)].into_iter().chain(more).collect()))
}

fn mapping(value: impl Strategy<Value = Said> + Clone) -> impl Strategy<Value = Said> + Clone {
    let slot = prop::option::weighted(0.6, value);
    (slot.clone(), slot.clone(), slot).prop_map(|(a, b, c)| {
        Said::Map(KEYS.into_iter().zip([a, b, c]).filter_map(|(key, value)| Some((key, value?))).collect())
    })
}

fn said() -> impl Strategy<Value = Said> + Clone {
    let leaf = scalar().prop_map(Said::Scalar);
    leaf.prop_recursive(3, 24, 4, |inner| {
        let item = prop_oneof![inner.clone(), named(inner.clone())];
        let list = prop::collection::vec(item, 0..4).prop_map(Said::List);
        let gone = prop_oneof![scalar().prop_map(Said::Scalar), named(scalar().prop_map(Said::Scalar))];
        let delete = prop::collection::vec(gone, 1..3).prop_map(|gone| Said::Tagged("delete", Said::List(gone).into()));
        let tagged = (
            prop::sample::select(vec!["replace", "append", "merge"]),
            prop_oneof![list.clone(), mapping(inner.clone())],
        )
            .prop_map(|(tag, value)| Said::Tagged(tag, value.into()));
        prop_oneof![3 => list, 3 => mapping(inner), 3 => tagged, 1 => delete, 1 => Just(Said::Bare)]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn three_layers_merge_as_the_laws_say(layers in prop::collection::vec(mapping(said()), 3)) {
        let mut want = None;
        for layer in &layers {
            match over(want, layer) {
                Ok(merged) => want = merged,
                Err(Open) => return Ok(()),
            }
        }
        let mut found = None;
        for (n, layer) in layers.iter().enumerate() {
            let text = layer.yaml() + "\n";
            let layer = load(Path::new(&format!("{n}.yaml")), text.as_bytes()).expect("it loads").expect("a layer");
            found = merge(found, &layer).expect("it merges");
        }
        let found = found.map(|value| value.to_plain(&mut |_, _| Plain::Null).to_json_line());
        let said = layers.iter().map(Said::yaml).collect::<Vec<_>>().join("\n");
        prop_assert_eq!(found, want.map(|value| value.to_json_line()), "\n{}", said);
    }
}
