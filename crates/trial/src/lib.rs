//! `coldstart up` by the thousand: every seed brings a generated cluster up in the simulated world, with the faults that it draws,
//! and every run is judged. The reader, the plan, the step machine, the journal and the loop are the product's own.
//!
//! Knows what must hold of a run, and nothing of how a plan is made or a step decided: the judge reads the lines that were told and
//! what the world itself recorded. Ships to nobody: `cargo xtask simulate` and tests use it.

mod agreement;
mod boot;
mod cluster;
mod dice;
mod files;
mod fixed;
mod judge;
mod kind;
mod manner;
mod operators;
pub mod proof;
mod taken;
mod texts;
mod trial;
mod truth;

pub use agreement::{Agreement, Disagreement, agreements};
pub use boot::{Prepared, Ran, TrialError, boot, prepare, prepare_read};
pub use cluster::{Cluster, Defect, broken, cluster};
pub use files::list;
pub use fixed::{Fixed, Wrong, fixed};
pub use judge::{Case, Judgement};
pub use operators::STORE;
pub use taken::{Otherwise, Taking, take_each};
pub use trial::{Count, Summary, Trial, faults, trial};
