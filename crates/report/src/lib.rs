//! The analysis of a cluster as a document: what happens at a cold start, what is guaranteed and by what, what is not, and what closes it.
//!
//! A [`Document`] is made of sections, each of them data that was worked out from the graph, the plan, the findings and the fixes.
//! Nothing in it is written beforehand: without the edge, there is no row. This crate does no IO and makes no sentence; `draw` has the
//! words.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod boots;
mod changes;
mod checks;
mod document;
mod facts;
mod files;
mod layers;
mod rules;
mod stages;
mod summary;
mod tiers;
mod timeline;

pub use boots::{BootTimes, Boots, Share};
pub use changes::{ByHandChange, Changes};
pub use checks::Check;
pub use document::{Document, Place, Section, document};
pub use facts::{After, Facts};
pub use files::{Api, KeyFile, KeyFileRole, Version};
pub use layers::{LayerPart, Member, NodeRecovery, ResetMachine};
pub use rules::{BrokenCycle, CycleAcross, CycleFound, DependencyRule, RuleSubject};
pub use stages::{ApiAddress, BootStage, Credentials, Gap, Guarantee, Stage, Tied};
pub use summary::Summary;
pub use tiers::{Area, Edge, Tier, TierMember};
pub use timeline::Milestone;
