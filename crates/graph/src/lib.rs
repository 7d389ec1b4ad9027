//! Needs linked to offers. One graph of *events* carries everything: `X ⇒ Y` says that when X has happened, Y must have
//! happened before. What a component can rely on is what its start implies; a deadlock is a cycle.
//!
//! This crate knows the model. It knows no file format and no output, and does no IO.

mod cycles;
mod events;
mod gates;
mod judge;
mod linking;
mod reach;
mod schedule;

pub use cycles::{Deadlock, Step};
pub use events::{Because, Event, Events, Moment};
pub use judge::{Consequence, Judged, Verdict};
pub use linking::Links;
pub use reach::{Answers, Questions};
pub use schedule::Schedule;

use model::Cluster;

/// Everything there is to say about one cluster's order.
#[derive(Debug)]
pub struct Analysis {
    /// One for every need, in the order of [`Cluster::needs`].
    pub judged: Vec<Judged>,
    /// Every cycle that nothing can leave, each named once.
    pub deadlocks: Vec<Deadlock>,
    pub schedule: Schedule,
    pub links: Links,
    pub events: Events,
}

/// Links, orders and judges one cluster.
pub fn analyse(cluster: &Cluster) -> Analysis {
    let links = Links::new(cluster);
    let events = Events::new(cluster, &links);
    let deadlocks = cycles::find(&events);
    let schedule = Schedule::new(cluster, &events);
    let judged = judge::all(cluster, &links, &events, &schedule, &deadlocks);
    Analysis { judged, deadlocks, schedule, links, events }
}
