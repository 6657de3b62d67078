//! Plain graphs of numbers: groups, cycles, levels. Where nodes are numbered in the order of their keys, every answer is
//! in that order, too.

use std::collections::{HashSet, VecDeque};

/// For each node those that it needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Net {
    needs: Vec<Vec<usize>>,
}

impl Net {
    /// A net of `size` nodes; edges to strangers, edges of a node to itself and repeated edges are dropped.
    pub fn new(size: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Net {
        let mut needs = vec![Vec::new(); size];
        for (from, to) in edges {
            if let Some(own) = needs.get_mut(from)
                && from != to
                && to < size
            {
                own.push(to);
            }
        }
        for own in &mut needs {
            own.sort_unstable();
            own.dedup();
        }
        Net { needs }
    }

    pub fn size(&self) -> usize {
        self.needs.len()
    }

    /// What a node needs, in order.
    pub fn needs(&self, node: usize) -> &[usize] {
        self.needs.get(node).map_or(&[], Vec::as_slice)
    }

    /// The same net with every edge turned.
    pub fn turned(&self) -> Net {
        let edges = self.needs.iter().enumerate().flat_map(|(from, own)| own.iter().map(move |to| (*to, from)));
        Net::new(self.size(), edges)
    }

    /// The edges between nodes of `within` alone.
    pub fn only(&self, within: impl Fn(usize) -> bool) -> Net {
        let own = |(from, own): (usize, &Vec<usize>)| match within(from) {
            true => own.iter().copied().filter(|to| within(*to)).collect(),
            false => Vec::new(),
        };
        Net { needs: self.needs.iter().enumerate().map(own).collect() }
    }

    /// Everything that a node needs, directly or not.
    pub fn beyond(&self, node: usize) -> HashSet<usize> {
        let mut seen = HashSet::new();
        let mut open = vec![node];
        while let Some(node) = open.pop() {
            open.extend(self.needs(node).iter().filter(|to| seen.insert(**to)));
        }
        seen
    }

    /// The strongly connected groups, each one after all that it needs (Tarjan, without recursion: a chain may be long).
    pub fn groups(&self) -> Vec<Vec<usize>> {
        const NEW: usize = usize::MAX;
        let size = self.size();
        let (mut number, mut low, mut open) = (vec![NEW; size], vec![0; size], vec![false; size]);
        let (mut stack, mut groups, mut count) = (Vec::new(), Vec::new(), 0);
        for start in 0..size {
            if number.get(start) != Some(&NEW) {
                continue;
            }
            let mut work = vec![(start, 0)];
            while let Some((node, at)) = work.pop() {
                if at == 0 {
                    set(&mut number, node, count);
                    set(&mut low, node, count);
                    set(&mut open, node, true);
                    count += 1;
                    stack.push(node);
                }
                if let Some(&next) = self.needs(node).get(at) {
                    work.push((node, at + 1));
                    match get(&number, next, NEW) {
                        NEW => work.push((next, 0)),
                        seen if get(&open, next, false) => {
                            let least = get(&low, node, 0).min(seen);
                            set(&mut low, node, least);
                        }
                        _ => {}
                    }
                    continue;
                }
                let own = get(&low, node, 0);
                if let Some((above, _)) = work.last() {
                    let least = get(&low, *above, 0).min(own);
                    set(&mut low, *above, least);
                }
                if own == get(&number, node, NEW) {
                    let from = stack.iter().rposition(|n| *n == node).unwrap_or(0);
                    let mut group = stack.split_off(from);
                    group.iter().for_each(|n| set(&mut open, *n, false));
                    group.sort_unstable();
                    groups.push(group);
                }
            }
        }
        groups
    }

    /// For each group with a cycle the shortest one through its first node, back to that node; sorted.
    pub fn cycles(&self) -> Vec<Vec<usize>> {
        let groups = self.groups().into_iter().filter(|group| group.len() > 1);
        let mut cycles: Vec<Vec<usize>> = groups.filter_map(|group| self.cycle(&group)).collect();
        cycles.sort();
        cycles
    }

    fn cycle(&self, group: &[usize]) -> Option<Vec<usize>> {
        let first = *group.first()?;
        let mut before = vec![None; self.size()];
        let mut queue = VecDeque::from([first]);
        while let Some(node) = queue.pop_front() {
            for &next in self.needs(node) {
                if next == first {
                    let mut way = vec![first];
                    let mut at = node;
                    while at != first {
                        way.push(at);
                        at = get(&before, at, None)?;
                    }
                    way.push(first);
                    way.reverse();
                    return Some(way);
                }
                if group.binary_search(&next).is_ok() && get(&before, next, None).is_none() {
                    set(&mut before, next, Some(node));
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// The length of the longest way from each node, where only nodes of `counted` count. Nodes in a cycle get what their
    /// group gets.
    pub fn levels(&self, counted: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut levels = vec![0; self.size()];
        for group in self.groups() {
            let needs = group.iter().flat_map(|node| self.needs(*node));
            let outside = needs.filter(|to| group.binary_search(to).is_err());
            let level = outside.map(|to| get(&levels, *to, 0) + usize::from(counted(*to))).max().unwrap_or(0);
            group.iter().for_each(|node| set(&mut levels, *node, level));
        }
        levels
    }

    /// For each node of `chosen` the nearest others of it on its ways, through whatever lies between; sorted.
    pub fn nearest(&self, chosen: impl Fn(usize) -> bool) -> Vec<Vec<usize>> {
        let mut reach: Vec<std::rc::Rc<Vec<usize>>> = vec![std::rc::Rc::default(); self.size()];
        let mut found = vec![Vec::new(); self.size()];
        for group in self.groups() {
            // Through a group with a cycle every node of it leads to whatever one of them leads to.
            let between = group.iter().copied().filter(|node| !chosen(*node));
            let collect = |nodes: &mut dyn Iterator<Item = usize>| {
                let mut near = Vec::new();
                let mut single = None;
                for to in nodes.flat_map(|node| self.needs(node)) {
                    if chosen(*to) {
                        near.push(*to);
                    } else if let Some(beyond) = reach.get(*to).filter(|beyond| !beyond.is_empty()) {
                        single = Some(beyond.clone());
                        near.extend(beyond.iter());
                    }
                }
                near.sort_unstable();
                near.dedup();
                // A long way through one node needs no copy at each step.
                match single {
                    Some(single) if *single == near => single,
                    _ => std::rc::Rc::new(near),
                }
            };
            let shared = collect(&mut between.clone());
            between.for_each(|node| set(&mut reach, node, shared.clone()));
            for node in group.iter().copied().filter(|node| chosen(*node)) {
                let mut own = collect_one(self, node, &chosen, &reach);
                own.retain(|to| *to != node);
                set(&mut found, node, own);
            }
        }
        found
    }
}

fn collect_one(
    net: &Net,
    node: usize,
    chosen: &impl Fn(usize) -> bool,
    reach: &[std::rc::Rc<Vec<usize>>],
) -> Vec<usize> {
    let mut near = Vec::new();
    for to in net.needs(node) {
        match chosen(*to) {
            true => near.push(*to),
            false => near.extend(reach.get(*to).into_iter().flat_map(|beyond| beyond.iter())),
        }
    }
    near.sort_unstable();
    near.dedup();
    near
}

fn get<T: Clone>(list: &[T], at: usize, other: T) -> T {
    list.get(at).cloned().unwrap_or(other)
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(slot) = list.get_mut(at) {
        *slot = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_come_after_what_they_need_and_cycles_begin_at_their_first_node() {
        let net = Net::new(6, [(0, 1), (1, 2), (2, 0), (3, 0), (4, 5), (5, 4), (4, 4)]);
        assert_eq!(net.groups(), [vec![0, 1, 2], vec![3], vec![4, 5]]);
        assert_eq!(net.cycles(), [vec![0, 1, 2, 0], vec![4, 5, 4]]);
        let chords = Net::new(4, [(0, 1), (1, 2), (2, 3), (3, 0), (2, 0)]);
        assert_eq!(chords.cycles(), [vec![0, 1, 2, 0]]);
    }

    #[test]
    fn a_level_is_the_longest_way_and_a_node_that_does_not_count_still_carries() {
        let net = Net::new(5, [(1, 0), (2, 1), (3, 2), (3, 0), (4, 3)]);
        assert_eq!(net.levels(|_| true), [0, 1, 2, 3, 4]);
        assert_eq!(net.levels(|node| node != 1), [0, 1, 1, 2, 3]);
    }

    #[test]
    fn the_nearest_chosen_are_found_through_others_and_through_cycles_of_others() {
        let net = Net::new(6, [(5, 4), (4, 3), (3, 4), (3, 0), (4, 1), (2, 5)]);
        let chosen = |node: usize| [0, 1, 2, 5].contains(&node);
        let near = net.nearest(chosen);
        assert_eq!((&near[5], &near[2], &near[0]), (&vec![0, 1], &vec![5], &vec![]));
    }

    #[test]
    fn a_long_chain_overflows_nothing() {
        let net = Net::new(100_000, (1..100_000).map(|n| (n, n - 1)));
        assert_eq!(net.levels(|_| true).last(), Some(&99_999));
        assert_eq!(net.nearest(|n| n == 0 || n == 99_999)[99_999], [0]);
    }
}
