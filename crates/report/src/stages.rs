//! Each stage of a cold start: what happens, what is guaranteed and by what, and what is not.

use std::collections::BTreeMap;

use diagnostic::Finding;
use model::{BootStep, Capability, ComponentId, Doing, Extent, Fact, ObjectRef, Verdict};
use run::{Layer, Step};
use serde::Serialize;

use crate::document::Place;
use crate::facts::Facts;

#[derive(Debug)]
pub struct Stage<'a> {
    pub layer: Layer,
    /// The steps of the plan; none where there is no plan.
    pub happens: Vec<&'a Step>,
    /// What files tell of how that is done before GitOps.
    pub steps: Vec<BootStage>,
    pub guarantees: Vec<Guarantee>,
    /// Needs of what the same component applies in an earlier stage, or one above it: guaranteed, and no dependency sees to it.
    pub by_containment: usize,
    pub gaps: Vec<Gap<'a>>,
}

/// A step of the boot, as files have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BootStage {
    pub step: ObjectRef,
    pub does: Doing,
    pub after: Vec<ObjectRef>,
    /// What has been shown when it is done.
    pub shows: Vec<(Fact, Extent)>,
    pub at: Option<Place>,
}

/// A component has what it needs of another, whenever both start from nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Guarantee {
    pub of: ObjectRef,
    pub by: ObjectRef,
    pub needs: Vec<String>,
    /// The declared dependencies that see to it; none where what applies both does, or the bootstrap.
    pub ties: Vec<Tied>,
    /// Only the bootstrap sees to it.
    pub is_by_bootstrap: bool,
    /// Where it is needed.
    pub at: Option<Place>,
}

/// A declared dependency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tied {
    pub from: ObjectRef,
    pub to: ObjectRef,
    pub at: Option<Place>,
}

/// A finding, and the change that closes it, by its place among the repairs.
#[derive(Debug)]
pub struct Gap<'a> {
    pub finding: &'a Finding,
    pub change: Option<usize>,
}

pub(crate) fn stages<'a>(facts: &Facts<'a>, only: Option<Layer>) -> Vec<Stage<'a>> {
    let layers = facts.layers();
    let mut guarantees = guarantees(facts, &layers);
    let boot = boot(facts);
    let mut objects: BTreeMap<&ObjectRef, Layer> =
        layers.iter().map(|(id, layer)| (&facts.cluster.component(*id).object, *layer)).collect();
    for (layer, step) in &boot {
        objects.entry(&step.step).or_insert(*layer);
    }
    let mut stages = Vec::new();
    for layer in Layer::ALL.into_iter().filter(|layer| only.is_none_or(|only| only == *layer)) {
        let happens: Vec<&Step> =
            facts.plan.into_iter().flat_map(|plan| &plan.steps).filter(|step| step.layer == layer).collect();
        let steps: Vec<BootStage> =
            boot.iter().filter(|(own, _)| *own == layer).map(|(_, step)| step.clone()).collect();
        let is_here = |finding: &&Finding| {
            objects.get(&finding.component).copied().unwrap_or_else(|| layer_of_others(&finding.component)) == layer
        };
        let gaps: Vec<Gap<'a>> = facts
            .findings
            .iter()
            .filter(is_here)
            .map(|finding| Gap { finding, change: change(facts, finding) })
            .collect();
        let (own, told) = guarantees
            .remove(&layer)
            .unwrap_or_default()
            .into_iter()
            .partition::<Vec<_>, _>(|it| it.ties.is_empty() && !it.is_by_bootstrap);
        let by_containment = own.iter().map(|it| it.needs.len()).sum();
        let stage = Stage { layer, happens, steps, guarantees: told, by_containment, gaps };
        if !stage.happens.is_empty()
            || !stage.steps.is_empty()
            || !stage.guarantees.is_empty()
            || !stage.gaps.is_empty()
        {
            stages.push(stage);
        }
    }
    stages
}

/// The steps of the boot, each in the layer that it belongs to.
fn boot(facts: &Facts<'_>) -> Vec<(Layer, BootStage)> {
    let boot = &facts.cluster.facts.boot;
    let one = |step: &BootStep| {
        let after = step.after.iter().map(|order| boot.step(order.on).object.clone());
        let shows = step.proves.iter().map(|proven| (proven.fact, proven.of));
        let stage = BootStage {
            step: step.object.clone(),
            does: step.does.clone(),
            after: after.collect(),
            shows: shows.collect(),
            at: facts.place(step.at),
        };
        (layer_of(step), stage)
    };
    boot.steps.iter().map(one).collect()
}

/// Where what is no step of its own belongs: a script or a resource that does nothing else for the boot.
fn layer_of_others(object: &ObjectRef) -> Layer {
    if matches!(object.kind.as_str(), "Script" | "Terraform") { Layer::Bootstrap } else { Layer::GitOps }
}

fn layer_of(step: &BootStep) -> Layer {
    match &step.does {
        Doing::MakesMachines => Layer::Machines,
        Doing::ConfiguresMachines | Doing::BootstrapsEtcd => Layer::Talos,
        Doing::FetchesCredentials => Layer::Api,
        Doing::StoresSealingKey => Layer::Seeds,
        Doing::Installs { .. } if step.does.brings_network() => Layer::Network,
        Doing::StartsGitOps => Layer::Flux,
        Doing::Waits => match step.proves.first().map(|proven| proven.fact) {
            Some(Fact::EtcdRuns | Fact::ApiAnswers) => Layer::Api,
            Some(Fact::NodesJoined | Fact::NodesReady | Fact::KubeletsRun | Fact::NetworkRuns) => Layer::Network,
            Some(Fact::GitOpsRuns) => Layer::Flux,
            Some(Fact::StorageRuns) | None => Layer::Bootstrap,
        },
        Doing::Installs { .. } | Doing::Other => Layer::Bootstrap,
    }
}

/// The repair that closes a finding.
fn change(facts: &Facts<'_>, finding: &Finding) -> Option<usize> {
    let closes = |told: &diagnostic::Told| {
        told.rule == finding.rule.id && told.cluster == finding.cluster && told.component == finding.component
    };
    facts.repairs.made.iter().position(|repair| repair.closes.iter().any(closes))
}

type Pair = (ComponentId, ComponentId, bool);

fn guarantees(facts: &Facts<'_>, layers: &BTreeMap<ComponentId, Layer>) -> BTreeMap<Layer, Vec<Guarantee>> {
    let (cluster, analysis) = (facts.cluster, facts.analysis);
    let mut pairs: BTreeMap<Pair, (Vec<&Capability>, usize)> = BTreeMap::new();
    for judged in &analysis.judged {
        let is_by_bootstrap = match judged.verdict {
            Verdict::Guaranteed => false,
            Verdict::BootstrapOnly => true,
            _ => continue,
        };
        let Some(offer) = judged.offer.map(|offer| &cluster.offers[offer]) else { continue };
        let need = &cluster.needs[judged.need];
        if offer.by == need.of {
            continue;
        }
        let (capabilities, _) =
            pairs.entry((need.of, offer.by, is_by_bootstrap)).or_insert_with(|| (Vec::new(), judged.need));
        if !capabilities.contains(&&need.capability) {
            capabilities.push(&need.capability);
        }
    }
    let mut found: BTreeMap<Layer, Vec<Guarantee>> = BTreeMap::new();
    for ((of, by, is_by_bootstrap), (capabilities, need)) in pairs {
        let ties = if is_by_bootstrap { Vec::new() } else { analysis.ties_between(of, by) };
        let object = |id: ComponentId| cluster.component(id).object.clone();
        let declared = ties.into_iter().filter_map(|tie| {
            let tie = &cluster.ties[tie];
            let model::TieTarget::Component(to) = tie.to else { return None };
            Some(Tied { from: object(tie.from), to: object(to), at: facts.place(tie.at) })
        });
        let guarantee = Guarantee {
            of: object(of),
            by: object(by),
            needs: capabilities.iter().map(ToString::to_string).collect(),
            ties: declared.collect(),
            is_by_bootstrap: is_by_bootstrap || facts.is_early(by) && !facts.is_early(of),
            at: facts.place(cluster.needs[need].at),
        };
        found.entry(layers.get(&of).copied().unwrap_or(Layer::GitOps)).or_default().push(guarantee);
    }
    for list in found.values_mut() {
        list.sort_by(|a, b| (&a.of, &a.by).cmp(&(&b.of, &b.by)));
    }
    found
}
