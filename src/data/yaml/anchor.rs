//! Anchors of one file, with a budget: an alias bomb ends in an error, not in memory.

use super::super::Tagged;
use std::collections::HashMap;

/// What an anchor stands for, how many values that is and how deep they nest.
#[derive(Clone)]
pub struct Anchored {
    pub node: Tagged,
    pub size: usize,
    pub depth: usize,
}

#[derive(Default)]
pub struct Anchors {
    known: HashMap<usize, Anchored>,
    expanded: usize,
}

impl Anchors {
    /// Enters a finished value; id 0 is no anchor.
    pub fn define(&mut self, id: usize, anchored: Anchored) {
        if id != 0 {
            self.known.insert(id, anchored);
        }
    }

    /// The value of an alias; `None` while the value is not finished, so for a value that contains itself.
    pub fn get(&self, id: usize) -> Option<&Anchored> {
        self.known.get(&id)
    }

    /// Counts `size` more expanded values; false where that is too many.
    pub fn spend(&mut self, size: usize) -> bool {
        self.expanded = self.expanded.saturating_add(size);
        self.expanded <= super::MAX_ALIASED
    }
}
