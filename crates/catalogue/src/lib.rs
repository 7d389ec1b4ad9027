//! What well-known software offers and needs, as data: one YAML file per component under `components/`, and one per Terraform
//! provider under `providers/`, each claim with its source. Checked and turned into JSON when this crate is built, so a mistake in the data is a build error and
//! starting the program costs nothing.
//!
//! This crate knows the data and its schema. It does not know how a repository deploys anything.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod catalogue;
mod decode;
mod evaluate;
mod path;
mod provider;
mod providers;
mod schema;
mod version;

pub use catalogue::{Catalogue, chart_name, is_generic_chart};
pub use decode::DecodeError;
pub use evaluate::{MadeClass, any_holds};
pub use provider::{
    Kept, Moment, Of, Proof, Provider, ResourceType, Service, ServiceNeed, Shown, Strength, Switch, Wait, WantsValues,
};
pub use providers::{Known, Providers};
pub use schema::{
    Agent, Class, Component, Crds, Gift, Layer, Made, Need, Phase, Rendered, Resource, Satellite, Status, Via, Webhook,
    When, Workload, WorkloadKind,
};
