//! Each stage of a cold start: what happens, what is guaranteed and by what, and what is not.

use std::collections::BTreeMap;

use diagnostic::Finding;
use model::{BootStep, Capability, ComponentId, Doing, Extent, Fact, ObjectRef, Role, Verdict};
use read::terraform::Purpose;
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
        let is_here = |finding: &&Finding| layer_of_finding(facts, &objects, &boot, finding) == layer;
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
        (layer_of(facts, step), stage)
    };
    boot.steps.iter().map(one).collect()
}

/// The stage of what a finding is about.
fn layer_of_finding(
    facts: &Facts<'_>,
    objects: &BTreeMap<&ObjectRef, Layer>,
    boot: &[(Layer, BootStage)],
    finding: &Finding,
) -> Layer {
    if let Some(layer) = objects.get(&finding.component) {
        return *layer;
    }
    match finding.component.kind.as_str() {
        "Script" => layer_of_place(facts, boot, finding),
        "Terraform" => layer_of_block(facts, boot, finding),
        _ => Layer::GitOps,
    }
}

/// Of a line of a script: that of the step that it belongs to, the nearest one above; else of the next.
fn layer_of_place(facts: &Facts<'_>, boot: &[(Layer, BootStage)], finding: &Finding) -> Layer {
    let at = finding.primary.at.span();
    let steps = facts.cluster.facts.boot.steps.iter().zip(boot);
    let own = steps.filter(|(step, _)| step.at.file == at.file && step.object.kind == "Script");
    let mut own: Vec<(u32, Layer)> = own.map(|(step, (layer, _))| (step.at.start, *layer)).collect();
    own.sort_unstable();
    let above = own.iter().rfind(|(start, _)| *start <= at.start || own.len() == 1);
    above.or_else(|| own.first()).map_or(Layer::Bootstrap, |(_, layer)| *layer)
}

/// Of a block of Terraform that is no step: the last stage that it comes after, else the first one that comes after it. What is
/// tied to no step belongs to the run.
fn layer_of_block(facts: &Facts<'_>, boot: &[(Layer, BootStage)], finding: &Finding) -> Layer {
    let of = |id: &model::StepId| boot.get(id.index()).map(|(layer, _)| *layer);
    if let Some(near) = facts.cluster.facts.boot.near.get(&finding.component) {
        let after = near.after.iter().filter_map(of).max();
        if let Some(layer) = after.or_else(|| near.before.iter().filter_map(of).min()) {
            return layer;
        }
    }
    let directory = &finding.component.namespace;
    match boot.iter().filter(|(_, step)| step.step.namespace == *directory).map(|(layer, _)| *layer).min() {
        Some(Layer::Machines | Layer::Talos) => Layer::Bootstrap,
        Some(layer) => layer,
        None => layer_of_directory(facts, directory).unwrap_or(Layer::Bootstrap),
    }
}

/// Of a directory of Terraform without a step.
fn layer_of_directory(facts: &Facts<'_>, directory: &str) -> Option<Layer> {
    let one = facts.inventory.terraform.iter().find(|one| one.path == *directory)?;
    match one.purpose {
        Purpose::Keys => Some(Layer::Keys),
        Purpose::Machines => Some(Layer::Machines),
        Purpose::Services => Some(Layer::Configuration),
        Purpose::Cluster | Purpose::Flux | Purpose::Other => None,
    }
}

fn layer_of(facts: &Facts<'_>, step: &BootStep) -> Layer {
    match &step.does {
        Doing::ChecksFirst => Layer::Keys,
        Doing::MakesMachines => Layer::Machines,
        Doing::PreparesMachines | Doing::ConfiguresMachines | Doing::BootstrapsEtcd => Layer::Talos,
        Doing::FetchesCredentials => Layer::Api,
        Doing::StoresSealingKey | Doing::AppliesObjects(_) => Layer::Seeds,
        Doing::Installs { .. } if step.does.brings_network() => Layer::Network,
        Doing::StartsGitOps => Layer::Flux,
        Doing::RunsLayer { directory } => layer_of_run(facts, directory),
        Doing::Waits => match step.proves.first().map(|proven| proven.fact) {
            Some(Fact::MachineStarted) => Layer::Machines,
            Some(Fact::EtcdRuns | Fact::ApiAnswers) => Layer::Api,
            Some(Fact::NodesJoined | Fact::NodesReady | Fact::KubeletsRun | Fact::NetworkRuns) => Layer::Network,
            Some(Fact::GitOpsRuns) => Layer::Flux,
            Some(Fact::StorageRuns | Fact::WorkloadsRun | Fact::ObjectExists) | None => Layer::Bootstrap,
        },
        // The operator of Flux, and what else the graph has as a part of it.
        Doing::Installs { release, .. } => of_release(facts, release).unwrap_or(Layer::Bootstrap),
        Doing::Other => Layer::Bootstrap,
    }
}

/// Where the graph has a release of the bootstrap.
fn of_release(facts: &Facts<'_>, release: &str) -> Option<Layer> {
    let is_it = |id: &ComponentId| {
        let component = facts.cluster.component(*id);
        matches!(component.role, Role::Bootstrap(step) if step.is_release()) && component.object.name == *release
    };
    facts.layers().into_iter().find(|(id, _)| is_it(id)).map(|(_, layer)| layer)
}

/// A run belongs where its first step does.
fn layer_of_run(facts: &Facts<'_>, directory: &str) -> Layer {
    let steps = facts.cluster.facts.boot.steps.iter();
    let own = steps.filter(|step| step.object.kind == "Terraform" && step.object.namespace == *directory);
    let of_steps =
        own.filter(|step| !matches!(step.does, Doing::RunsLayer { .. })).map(|step| layer_of(facts, step)).min();
    layer_of_directory(facts, directory).or(of_steps).unwrap_or(Layer::Bootstrap)
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
