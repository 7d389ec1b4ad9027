//! The vocabulary: a **component** comes up as one; it **offers** capabilities and **needs** those of others; a **tie** is
//! an order that somebody declared; a component's **gate** says what its being done proves.
//!
//! This crate knows the words. It knows no tool, no file format and does no IO.

mod capability;
mod cluster;
mod duration;
mod facts;
mod nearest;
mod object;

pub use capability::{Capability, CapabilityKind, plural};
pub use cluster::{
    Arrival, BlindSpot, BrokenBuild, BuildFault, Cluster, Component, ComponentId, Dead, FLUX_ITSELF, Gate, Need, Offer,
    Patience, Phase, Retry, Role, Stage, Tie, TieTarget, WaitsFor,
};
pub use duration::{DURATION_SECONDS_MAX, parse_duration, parse_duration_millis, say_seconds};
pub use facts::{Chart, Facts, FluxVersion, UndefinedVariable, Withheld};
pub use nearest::{edits, nearest};
pub use object::ObjectRef;
