//! What is due, in order. Events at the same moment come in the order in which they were put in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::blueprint::Millis;

/// Something that is due: whose, and which of its alarms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub(crate) at: Millis,
    order: u32,
    pub(crate) id: u32,
    pub(crate) token: u32,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<Due>>,
    order: u32,
}

impl Queue {
    pub(crate) fn clear(&mut self) {
        self.heap.clear();
        self.order = 0;
    }

    pub(crate) fn push(&mut self, at: Millis, id: u32, token: u32) {
        self.order += 1;
        self.heap.push(Reverse(Due { at, order: self.order, id, token }));
    }

    pub(crate) fn pop(&mut self) -> Option<Due> {
        self.heap.pop().map(|due| due.0)
    }

    pub(crate) fn next_at(&self) -> Option<Millis> {
        self.heap.peek().map(|due| due.0.at)
    }
}
