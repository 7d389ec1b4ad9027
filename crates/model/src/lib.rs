//! The vocabulary: a **component** comes up as one; it **offers** capabilities and **needs** those of others; a **tie** is
//! an order that somebody declared; a component's **gate** says what its being done proves.
//!
//! This crate knows the words. It knows no tool, no file format and does no IO.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod behaviour;
mod boot;
mod bootstrap;
mod broken;
mod capability;
mod cause;
mod cluster;
mod duration;
mod facts;
mod gate_defect;
mod nearest;
mod object;
mod obstacle;
mod purpose;
mod step;
mod unseen;
mod verdict;
mod wait;

pub use behaviour::{Applies, Behaviour, Done, Order};
pub use boot::{Boot, CredentialsFile, Defect, KeptKey, LayerDefect, Near, StepFault};
pub use bootstrap::{BootstrapFiles, BootstrapStep};
pub use broken::{BrokenBuild, BuildFault, FileUse};
pub use capability::{Capability, CapabilityKind, GIVEN_NAMESPACES, plural};
pub use cause::Cause;
pub use cluster::{
    Arrival, Cluster, Component, ComponentId, Dead, Gate, MANY_RELEASES_MIN, Need, Offer, Patience, Phase, Retry,
    RetryField, Role, Stage, Tie, TieTarget, Unapplied, WaitsFor,
};
pub use duration::{DURATION_SECONDS_MAX, parse_duration, parse_duration_millis, say_seconds};
pub use facts::{Chart, Facts, FluxVersion, HealthExpression, MissingCheck, Renewal, UndefinedVariable, Withheld};
pub use gate_defect::{Endless, GateDefect, Toothless};
pub use nearest::{HintBudget, edits, is_slip, nearest};
pub use object::ObjectRef;
pub use obstacle::{MachineRef, MadeKind, Obstacle, PodTrouble, Subject, Trace};
pub use purpose::Purpose;
pub use step::{BootStep, Brings, Doing, ExpectedNode, Extent, Fact, OrderedBy, Proven, Seeded, StepId, StepOrder};
pub use unseen::{BlindSpot, Unseen, WhyUnseen};
pub use verdict::{Consequence, Verdict};
pub use wait::{Awaited, Ends, Wait, Waiter, Which};
