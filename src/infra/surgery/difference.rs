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

#[cfg(test)]
mod tests {
    use super::super::state::tests::{KILN, read};
    use super::super::{State, transfer};
    use super::*;

    fn words(pairs: &[(&State, &State)]) -> Vec<String> {
        let word = |address: Option<Address>| address.map(|address| address.to_string()).unwrap_or_default();
        differences(pairs).into_iter().map(|(from, to)| format!("{} > {}", word(from), word(to))).collect()
    }

    #[test]
    fn what_changed_came_and_went_is_told_by_address() {
        let before = read(KILN);
        let after = read(
            &KILN.replace("p0", "p9").replace("\"pit\"", "\"hole\"").replace("\"index_key\": 1", "\"index_key\": 4"),
        );
        let want = ["data.clay.pit > data.clay.hole", "clay.pot[0] > clay.pot[0]", "clay.pot[1] > clay.pot[4]"];
        assert_eq!(words(&[(&before, &after)]), want);
        assert_eq!(words(&[(&before, &before)]), [""; 0]);
        assert_eq!(words(&[(&before, &State::empty("l", ""))]).len(), 5);
    }

    #[test]
    fn what_goes_over_to_another_state_is_one_thing() {
        let (source, target) = (read(KILN), State::empty("l", ""));
        let pot = Address::parse("clay.pot").expect("an address");
        let jug = Address::parse("clay.jug").expect("an address");
        let moved = transfer(&source, &target, &[pot], Some(&jug)).expect("moved");
        let want = ["clay.pot[0] > clay.jug[0]", "clay.pot[1] > clay.jug[1]"];
        assert_eq!(words(&[(&source, &moved.source), (&target, &moved.target)]), want);
    }
}
