//! What differs between states, by address.

use super::address::Address;
use super::state::State;
use std::collections::{BTreeSet, HashMap};

/// Old and new address of everything that differs from the first to the second state of each pair. What leaves one state
/// and comes into one as it was is one thing with two addresses, whichever pair it is of; what is only changed has the
/// same address twice.
pub fn differences(pairs: &[(&State, &State)]) -> Vec<(Option<Address>, Option<Address>)> {
    let (mut gone, mut fresh, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for (before, after) in pairs {
        let (old, new) = (objects(before), objects(after));
        for (address, object) in &old {
            match new.get(address) {
                None => gone.push((address.clone(), object.clone())),
                Some(other) if other != object => changed.push((Some(address.clone()), Some(address.clone()))),
                Some(_) => {}
            }
        }
        fresh.extend(new.into_iter().filter(|(address, _)| !old.contains_key(address)));
    }
    fresh.sort();
    let mut all = changed;
    let mut by_object: HashMap<String, BTreeSet<Address>> = HashMap::new();
    for (address, object) in &fresh {
        by_object.entry(object.clone()).or_default().insert(address.clone());
    }
    let mut met = BTreeSet::new();
    gone.sort();
    for (from, object) in gone {
        let to = by_object.get_mut(&object).and_then(|found| {
            // Its own address first: copies of one thing look alike.
            if found.remove(&from) { Some(from.clone()) } else { found.pop_first() }
        });
        met.extend(to.clone());
        all.push((Some(from), to));
    }
    all.extend(
        fresh.into_iter().filter(|(address, _)| !met.contains(address)).map(|(address, _)| (None, Some(address))),
    );
    all.sort();
    all
}

/// Every instance by its address, as text without its key.
fn objects(state: &State) -> HashMap<Address, String> {
    let mut objects: HashMap<Address, String> = HashMap::new();
    for (address, mut object) in state.objects() {
        if let Some(map) = object.as_map_mut() {
            map.shift_remove("index_key");
        }
        objects.entry(address).or_default().push_str(&object.line());
    }
    objects
}
