//! Bringing a cluster up: a [`Plan`] of steps, a [`Machine`] that decides what happens next, a [`Journal`] that survives
//! whoever writes it, and [`drive()`], the loop between the three and a [`World`].
//!
//! The plan comes from the graph. The machine does no IO and asks no clock: events go in with the time they happened at,
//! effects come out. A world is where effects happen, a real cluster or a simulated one; nothing here knows which.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod drive;
mod event;
mod journal;
mod machine;
mod plan;
mod reason;
mod timeline;
mod world;

pub use drive::{DriveError, Listener, drive};
pub use event::{Event, Found, Line, Outcome, Where};
pub use journal::{FileTape, Journal, JournalError, Kept, MemoryTape, Past, Run, Tape};
pub use machine::{Effect, Input, Machine, State};
pub use plan::{
    Action, ByHand, Danger, Layer, Limits, NeedReason, Note, Plan, PlanError, Proof, Seed, Selection, SelectionError,
    Step, StepId, StepNeed, Told, plan, told,
};
pub use reason::{Hindrance, LeftNeed, LeftOut, TryFailure};
pub use timeline::{Bar, Timeline, remaining};
pub use world::{Look, World};
