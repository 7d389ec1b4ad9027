//! What stops when something is lost, as a tree for a terminal, for programs, and as a comment on a pull request.
//!
//! Knows how an answer looks. Does not know how it was found.

mod json;
mod markdown;
mod text;
mod tree;

use std::collections::BTreeSet;

use graph::{Critical, Impact, Loss};
use model::{Cluster, ComponentId, ObjectRef};

pub use json::json;
pub use markdown::markdown;
pub use text::text;

/// What was asked about.
#[derive(Clone, Debug)]
pub enum What {
    Component(ComponentId),
    Object {
        object: ObjectRef,
        by: ComponentId,
    },
    /// Another version of a release.
    Version {
        id: ComponentId,
        from: Option<String>,
        to: String,
    },
    /// Files, and what is made of them.
    Files {
        files: Vec<String>,
        components: Vec<ComponentId>,
        are_removed: bool,
    },
}

/// What comes of losing something of one cluster.
#[derive(Debug)]
pub struct Answer<'a> {
    pub cluster: &'a Cluster,
    pub what: What,
    /// In which ways it may be lost.
    pub losses: Vec<Loss>,
    pub impact: Impact,
    /// The services that must not be disrupted.
    pub critical: BTreeSet<ComponentId>,
}

/// The services of one cluster that must not be disrupted.
#[derive(Debug)]
pub struct CriticalOf<'a> {
    pub cluster: &'a Cluster,
    pub services: Vec<Critical>,
    /// What each takes down.
    pub impacts: Vec<Impact>,
}

/// A machine that is gone.
#[derive(Clone, Debug)]
pub struct MachineLoss {
    pub name: String,
    pub is_control_plane: bool,
    pub control_planes: usize,
    pub workers: usize,
}

/// All that one question is answered with.
#[derive(Debug)]
pub enum Told<'a> {
    Answers(Vec<Answer<'a>>),
    Critical(Vec<CriticalOf<'a>>),
    Machine(MachineLoss),
}

impl Answer<'_> {
    /// The critical services among what stops while the cluster runs, and what was asked about.
    fn critical(&self) -> Vec<ComponentId> {
        let stops = self.losses.iter().filter_map(|loss| self.impact.running.get(loss)).flatten().map(|it| it.id);
        let all: BTreeSet<ComponentId> = stops.chain(self.impact.subject.components.iter().copied()).collect();
        all.into_iter().filter(|id| self.critical.contains(id)).collect()
    }

    /// What never comes up at the next cold start, but for what was asked about.
    fn cold_start(&self) -> Vec<(ComponentId, graph::Fate, graph::Missing)> {
        let lost = self.impact.cold_start.components.iter();
        let others = lost.filter(|(id, _)| !self.impact.subject.components.contains(id));
        others.map(|(id, (fate, why))| (*id, *fate, *why)).collect()
    }
}

/// How many each of the moments takes down.
fn critical_counts(service: &Critical) -> String {
    let counts = [
        (service.at_once, "at once"),
        (service.pod_start, "when pods start"),
        (service.reconcile, "at the next reconcile"),
        (service.cold_start, "at the next cold start"),
    ];
    let said = counts.iter().filter(|(count, _)| *count > 0).map(|(count, when)| format!("{count} {when}"));
    said.collect::<Vec<_>>().join(" · ")
}

/// What a service takes down while the cluster runs, or else at the next cold start.
pub(crate) fn taken_down(cluster: &Cluster, impact: &Impact) -> Vec<String> {
    let running = impact.running.get(&Loss::Down).into_iter().flatten().map(|it| it.id);
    let mut ids: Vec<ComponentId> = running.collect();
    if ids.is_empty() {
        ids =
            impact.cold_start.components.keys().filter(|id| !impact.subject.components.contains(id)).copied().collect();
    }
    let mut names: Vec<String> = Vec::new();
    for name in ids.into_iter().map(|id| text::short(cluster, id)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// What losing a machine means, a sentence each.
fn machine_lines(machine: &MachineLoss) -> Vec<String> {
    let mut lines =
        vec!["its pods stop at once; those of Deployments start on other machines after about 5 min".to_owned()];
    if machine.is_control_plane {
        lines.push(crate::say::impact::quorum(machine.control_planes));
    } else {
        let left = machine.workers.saturating_sub(1);
        lines.push(format!("{} left to run them", crate::words::count(left, "worker")));
    }
    lines.push("volumes that are on its own disks are not there until it is back".to_owned());
    lines
}
