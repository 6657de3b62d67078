//! Takes instances out of one state and puts them into another, as they are.

use super::{Group, Moved, State};
use crate::base::nearest::nearest;
use crate::base::{Problem, Problems, Result};
use crate::infra::surgery::address::{Address, Key, Resource, Step};

/// Moves what `picks` cover from `source` to `target`; a single one may get the address `to` there. Serials stay as they
/// are.
///
/// # Errors
/// An address covers nothing, is there already, or cannot be called so; all of them together.
pub fn transfer(source: &State, target: &State, picks: &[Address], to: Option<&Address>) -> Result<Moved> {
    let mut problems = Problems::new();
    let mut pairs: Vec<(Address, Address)> = Vec::new();
    for pick in picks {
        let covered = source.covered(pick);
        if covered.is_empty() {
            problems.push(absent(source, pick));
        }
        match to {
            Some(to) if !covered.is_empty() => match renamed(pick, to, &covered) {
                Ok(renamed) => pairs.extend(covered.into_iter().zip(renamed)),
                Err(problem) => problems.push(problem),
            },
            _ => pairs.extend(covered.into_iter().map(|address| (address.clone(), address))),
        }
    }
    pairs.sort();
    pairs.dedup();
    let (mut left, mut got) = (source.clone(), target.clone());
    let taken = target.addresses();
    for (from, to) in &pairs {
        if taken.contains(to) {
            problems.push(Problem::new(format!("`{to}` is in the state of the target already")).note(if from == to {
                "nothing was moved".to_owned()
            } else {
                format!("it would be the new address of `{from}`")
            }));
            continue;
        }
        if let Err(problem) = carry(&mut left, &mut got, from, to) {
            problems.push(problem);
        }
    }
    left.groups.retain(|group| !group.instances.is_empty());
    if problems.is_empty() { Ok(Moved { source: left, target: got, pairs }) } else { Err(problems) }
}

/// The problem of an address that covers nothing in a state.
pub fn absent(state: &State, address: &Address) -> Problem {
    let problem = Problem::new(format!("`{address}` is not in the state"));
    let known: Vec<String> = state.addresses().iter().map(Address::to_string).collect();
    match nearest(&address.to_string(), known.iter().map(String::as_str)) {
        Some(name) => problem.help(format!("did you mean `{name}`?")),
        None => problem.help("`suil infra surgery list` lists what is"),
    }
}

/// Moves the objects of one instance.
fn carry(left: &mut State, got: &mut State, from: &Address, to: &Address) -> Result<(), Problem> {
    let key = |address: &Address| address.resource.as_ref().map(|resource| resource.key.clone()).unwrap_or_default();
    for group in &mut left.groups {
        if group.address(&key(from)) != *from {
            continue;
        }
        let mut fresh = group.at(to);
        let mine = |instance: &super::Instance| instance.key == key(from);
        let (taken, kept) = std::mem::take(&mut group.instances).into_iter().partition(mine);
        group.instances = kept;
        let taken: Vec<super::Instance> = taken;
        let taken = taken.into_iter().map(|instance| instance.under(&key(to)));
        match got.group(&fresh).and_then(|at| got.groups.get_mut(at)) {
            Some(known) if known.provider() != fresh.provider() && !known.instances.is_empty() => {
                return Err(conflict(known, &fresh, to));
            }
            Some(known) => known.instances.extend(taken),
            None => {
                fresh.instances.extend(taken);
                got.groups.push(fresh);
            }
        }
    }
    Ok(())
}

fn conflict(known: &Group, fresh: &Group, to: &Address) -> Problem {
    Problem::new(format!("`{to}` belongs to another provider than the instances that the target has of it"))
        .note(format!("it comes from `{}`; theirs is `{}`", fresh.provider(), known.provider()))
}

/// The new addresses of what `pick` covers, where it is to be called `to`.
fn renamed(pick: &Address, to: &Address, covered: &[Address]) -> Result<Vec<Address>, Problem> {
    let wrong = |why: &str| Problem::usage(format!("`{pick}` cannot become `{to}`: {why}"));
    match (&pick.resource, &to.resource) {
        (None, None) => {
            let depth = pick.module.len();
            let (Some(mine), Some(new)) = (pick.module.last(), to.module.last()) else {
                return Err(wrong("a module has a name"));
            };
            let step = |at: &Address| at.module.get(depth - 1).map(|step| step.key.clone()).unwrap_or_default();
            let keys: Vec<Key> = covered.iter().map(step).collect();
            let key = rekey(&mine.key, &new.key, &keys).ok_or_else(|| wrong("it has several instances"))?;
            let one = |(at, old): (&Address, Key)| {
                let mut module = to.module.clone();
                if let Some(last) = module.last_mut() {
                    *last = Step { name: new.name.clone(), key: key.clone().unwrap_or(old) };
                }
                module.extend(at.module.iter().skip(depth).cloned());
                Address { module, resource: at.resource.clone() }
            };
            Ok(covered.iter().zip(keys).map(one).collect())
        }
        (Some(mine), Some(new)) => {
            if (mine.mode, &mine.kind) != (new.mode, &new.kind) {
                return Err(wrong("that is a resource of another type"));
            }
            let of = |at: &Address| at.resource.as_ref().map(|resource| resource.key.clone()).unwrap_or_default();
            let keys: Vec<Key> = covered.iter().map(of).collect();
            let key = rekey(&mine.key, &new.key, &keys).ok_or_else(|| wrong("it has several instances"))?;
            let one = |old: Key| {
                let resource = Resource { key: key.clone().unwrap_or(old), ..new.clone() };
                Address { module: to.module.clone(), resource: Some(resource) }
            };
            Ok(keys.into_iter().map(one).collect())
        }
        (None, Some(_)) => Err(wrong("the first is a module, the second a resource")),
        (Some(_), None) => Err(wrong("the first is a resource, the second a module")),
    }
}

/// The key that all get; `Some(None)` where each keeps its own; `None` where several would get one key.
fn rekey(picked: &Key, new: &Key, keys: &[Key]) -> Option<Option<Key>> {
    match (picked, new) {
        (Key::None, Key::None) => Some(None),
        (_, new) if keys.iter().all(|key| Some(key) == keys.first()) => Some(Some(new.clone())),
        _ => None,
    }
}
