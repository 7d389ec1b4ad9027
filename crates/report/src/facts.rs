//! Everything that a document is made from.

use std::collections::BTreeMap;

use diagnostic::{Finding, Headline, Repairs};
use graph::{Analysis, Critical, Impact};
use model::{BootStep, Cluster, ComponentId, Doing, Stage};
use read::inventory::Inventory;
use read::machines::MachineGroup;
use read::platform::PlatformVersion;
use read::terraform::Purpose;
use read::versions::ChartVersion;
use run::{Layer, Plan};
use source::{Sources, Span};

use crate::boots::Boots;
use crate::document::Place;

/// What is known of one cluster.
pub struct Facts<'a> {
    pub cluster: &'a Cluster,
    pub analysis: &'a Analysis,
    /// Nothing where dependencies form a cycle.
    pub plan: Option<&'a Plan>,
    /// Whether it comes up.
    pub headline: Headline,
    /// Those of this cluster, the worst first.
    pub findings: &'a [Finding],
    pub repairs: &'a Repairs,
    /// The cluster as it would be after the fixes.
    pub after: Option<After<'a>>,
    pub versions: &'a [ChartVersion],
    /// Of Talos and Kubernetes, wherever the repository names them.
    pub platform: &'a [PlatformVersion],
    pub inventory: &'a Inventory,
    pub critical: Vec<(Critical, Impact)>,
    pub boots: Option<Boots>,
    pub sources: &'a dyn Sources,
    /// Files of the repository with a name of their own, such as its settings.
    pub settings_file: Option<&'a str>,
}

/// A cluster after the fixes.
#[derive(Clone, Copy, Debug)]
pub struct After<'a> {
    pub cluster: &'a Cluster,
    pub analysis: &'a Analysis,
}

impl std::fmt::Debug for Facts<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Facts").field("cluster", &self.cluster.name).finish_non_exhaustive()
    }
}

impl Facts<'_> {
    pub(crate) fn place(&self, at: Span) -> Option<Place> {
        let (path, position) = self.sources.locate(at)?;
        Some(Place { path: path.to_owned(), line: position.line })
    }

    /// Which layer of a cold start each component belongs to.
    pub(crate) fn layers(&self) -> BTreeMap<ComponentId, Layer> {
        let parts = graph::early_parts(self.cluster);
        let layer = |id: ComponentId| match parts[id.index()] {
            None => Layer::GitOps,
            Some(graph::EarlyPart::Seed) => Layer::Seeds,
            Some(graph::EarlyPart::Network) => Layer::Network,
            Some(graph::EarlyPart::Release) => Layer::Bootstrap,
            Some(graph::EarlyPart::Flux) => Layer::Flux,
        };
        self.cluster.ids().map(|id| (id, layer(id))).collect()
    }

    /// The machines of this cluster, where files describe one set of them.
    pub(crate) fn machines(&self) -> Option<&MachineGroup> {
        let [group] = self.inventory.groups.as_slice() else { return None };
        Some(group)
    }

    /// The versions of what runs on its machines, where files describe no other machines.
    pub(crate) fn platform(&self) -> &[PlatformVersion] {
        if self.inventory.groups.len() <= 1 { self.platform } else { &[] }
    }

    /// Whether nothing runs a directory of Terraform: another makes the machines that it would, and the boot has no step of it.
    pub(crate) fn is_not_run(&self, directory: &str) -> bool {
        let boot = &self.cluster.facts.boot;
        let makes = |step: &BootStep| matches!(step.does, Doing::MakesMachines | Doing::BootstrapsEtcd);
        let is_of = |step: &BootStep| step.object.kind == "Terraform" && step.object.namespace == directory;
        let is_of_machines =
            self.inventory.terraform.iter().any(|one| one.path == directory && one.purpose == Purpose::Machines);
        is_of_machines && boot.steps.iter().any(makes) && !boot.steps.iter().any(is_of)
    }

    /// Whether Talos runs on its machines.
    pub(crate) fn has_talos(&self) -> bool {
        let boot = &self.cluster.facts.boot;
        let configures = |does: &Doing| matches!(does, Doing::ConfiguresMachines | Doing::BootstrapsEtcd);
        let plans = || self.plan.into_iter().flat_map(|plan| &plan.steps).any(|step| step.layer == Layer::Talos);
        boot.steps.iter().any(|step| configures(&step.does)) || plans()
    }

    pub(crate) fn is_early(&self, id: ComponentId) -> bool {
        self.cluster.component(id).stage == Stage::Bootstrap
    }
}
