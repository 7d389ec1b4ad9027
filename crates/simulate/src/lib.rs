//! A simulated world: what Flux, Helm, operators and Kubernetes do with a repository, on a virtual clock, from one seed.
//!
//! [`compile()`] turns what the files render to, and what the catalogue knows of start-up times and charts, into a [`Blueprint`];
//! a [`World`] boots it as often as one likes. This crate does no IO and asks no clock. It knows neither offers, needs and ties
//! nor verdicts: if it did, it could only repeat them.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod blame;
mod blueprint;
mod compile;
mod event;
mod fault;
mod named;
mod outcome;
mod prerequisites;
mod queue;
mod random;
mod stage;
mod steps;
mod study;
mod world;

pub use blueprint::{Blueprint, Id, Millis, Thing};
pub use compile::{Conditions, Machines, compile};
pub use event::{BootEvent, Lack, Reason, What};
pub use fault::Fault;
pub use outcome::{BootOutcome, Cause, FluxOutcome, Limit, Verdict};
pub use stage::{Act, Action, BootstrapRelease, Done, Probe, Proof};
pub use study::{Counted, Faults, Lost, Retried, Study, study};
pub use world::World;
