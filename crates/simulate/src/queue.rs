//! What is due, in order. Events at the same moment come in the order in which they were put in.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::blueprint::{Id, Millis};

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Due {
    pub(crate) at: Millis,
    order: u32,
    pub(crate) alarm: QueuedAlarm,
}

/// Whose alarm it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum QueuedAlarm {
    /// Of a thing; one with an old token was taken back.
    Thing { id: Id, token: u32 },
    /// Of no thing in particular.
    World(WorldAlarm),
}

/// What happens to the whole world, or to a machine of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WorldAlarm {
    /// The wait for an install of the bootstrap is over.
    InstallDue,
    /// The wait of a step before Flux is over, or what it does is done.
    StepDue,
    ApiDown,
    ApiUp,
    ApiReady,
    Pushed,
    WebhooksAnswer,
    MachineUp(u32),
    MemberUp(u32),
    NodeJoined(u32),
    MemberLost(u32),
    NodeDies(u32),
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

    pub(crate) fn push(&mut self, at: Millis, alarm: QueuedAlarm) {
        self.order += 1;
        self.heap.push(Reverse(Due { at, order: self.order, alarm }));
    }

    /// An alarm of no thing in particular.
    pub(crate) fn push_world(&mut self, at: Millis, alarm: WorldAlarm) {
        self.push(at, QueuedAlarm::World(alarm));
    }

    pub(crate) fn pop(&mut self) -> Option<Due> {
        self.heap.pop().map(|due| due.0)
    }

    pub(crate) fn next_at(&self) -> Option<Millis> {
        self.heap.peek().map(|due| due.0.at)
    }
}
