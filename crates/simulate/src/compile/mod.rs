//! Rendered objects and the catalogue into a [`Blueprint`].
//!
//! First everything that could exist gets its number, then everybody's conditions are resolved to numbers. Knows kinds, charts
//! and operators; knows neither time nor the order in which anything happens, and never sees offers, needs or ties.

mod assume;
mod bootstrap;
mod builder;
mod charts;
mod customs;
mod flux;
mod references;
mod steps;
mod unseen;
mod variables;

use std::collections::BTreeMap;

use catalogue::Catalogue;
use read::rendered::Rendered;

use crate::blueprint::Blueprint;
use builder::Builder;
use unseen::Unseen;

/// What differs from an ordinary world.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a condition of its own")]
pub struct Conditions {
    /// By how much intervals and start-up times are divided.
    pub pace: f64,
    /// By how much timeouts are divided.
    pub timeouts: f64,
    /// How often dependencies are looked at, in milliseconds.
    pub requeue_millis: u64,
    /// Seconds until something (`namespace/name`) is ready, before the division: a workload, a custom resource, or what a
    /// release is made of.
    pub delays: BTreeMap<String, f64>,
    /// Workloads (`namespace/name`) whose pods crash until an object (`Kind namespace/name`) is there; a Deployment must be
    /// available.
    pub crashes: BTreeMap<String, String>,
    /// The controller has no key that fits.
    pub sealing_key_is_lost: bool,
    /// What `helm --wait` of a bootstrap gives a release, in milliseconds, whatever the helmfile says.
    pub bootstrap_timeout_millis: Option<u64>,
    /// Nothing varies from seed to seed.
    pub is_steady: bool,
    /// The bootstrap is run step by step; else all that it brings is there from the start.
    pub runs_bootstrap: bool,
    /// Where nothing tells which Flux runs: whether a variable that nothing sets fails a build, as it does from Flux 2.9 on.
    pub is_strict_if_unknown: bool,
    /// Begins with machines that are switched on; else the API server answers and nodes are there.
    pub machines: Option<Machines>,
}

/// How many machines a cluster is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machines {
    pub control_planes: u32,
    pub workers: u32,
}

impl Machines {
    /// Those that files describe, where they do.
    pub fn of(rendered: &Rendered) -> Option<Self> {
        let nodes = &rendered.bootstrap.boot.nodes;
        let count = |is_control_plane: bool| {
            source::to_u32(nodes.iter().filter(|node| node.is_control_plane == is_control_plane).count())
        };
        let machines = Self { control_planes: count(true), workers: count(false) };
        (machines.control_planes > 0).then_some(machines)
    }
}

impl Default for Machines {
    fn default() -> Self {
        Self { control_planes: 3, workers: 2 }
    }
}

impl Default for Conditions {
    fn default() -> Self {
        Self {
            pace: 1.0,
            timeouts: 1.0,
            requeue_millis: 30_000,
            delays: BTreeMap::new(),
            crashes: BTreeMap::new(),
            sealing_key_is_lost: false,
            bootstrap_timeout_millis: None,
            is_steady: false,
            runs_bootstrap: false,
            is_strict_if_unknown: false,
            machines: None,
        }
    }
}

/// A blueprint of one cluster: a revision of its repository after another, one in most cases.
pub fn compile(revisions: &[Rendered], catalogue: &Catalogue, conditions: &Conditions) -> Blueprint {
    let mut blueprint = build(revisions, catalogue, conditions);
    let unseen = revisions.last().map(Unseen::of).filter(|unseen| !unseen.holds_nothing());
    if let Some(unseen) = unseen {
        let plain = Conditions { runs_bootstrap: false, machines: None, ..conditions.clone() };
        let mut tried = build(revisions, catalogue, &plain);
        let held = unseen::held(&mut tried, &unseen);
        blueprint.assume(held.into_iter().map(|id| tried.thing(id)));
    }
    blueprint
}

fn build(revisions: &[Rendered], catalogue: &Catalogue, conditions: &Conditions) -> Blueprint {
    let mut builder = Builder::new(catalogue, conditions, revisions.len());
    for rendered in revisions {
        // Flux may live in a namespace of any name, and its first source in another.
        let root = rendered.appliers.first();
        for object in root.into_iter().flat_map(|root| std::iter::once(&root.object).chain(&root.source)) {
            builder.give_namespace(&object.namespace);
        }
        builder.intern_all(rendered);
    }
    builder.expand_charts(revisions);
    builder.intern_bootstrap(revisions);
    builder.intern_made();
    builder.resolve_early_kinds();
    builder.resolve_definitions();
    builder.resolve_steps();
    builder.resolve_boot(revisions);
    builder.resolve_customs();
    builder.resolve_workloads();
    builder.resolve_nodes();
    for (revision, rendered) in revisions.iter().enumerate() {
        builder.resolve_flux(revision, rendered);
    }
    builder.finish(revisions)
}
