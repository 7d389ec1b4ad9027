//! Each stage of a cold start: what happens, what is guaranteed and by what, and what is not.

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::Finding;
use model::{Boot, BootStep, Capability, ComponentId, Doing, Extent, Fact, ObjectRef, Role, StepId, Verdict};
use read::terraform::Purpose;
use run::{Layer, Step};
use serde::Serialize;

use crate::document::Place;
use crate::facts::Facts;
use crate::layers::Member;

#[derive(Debug)]
pub struct Stage<'a> {
    pub layer: Layer,
    /// The steps of the plan; none where there is no plan.
    pub happens: Vec<&'a Step>,
    /// What files tell of how that is done before GitOps.
    pub steps: Vec<BootStage>,
    /// The machines that the cluster is to have; in their stage only.
    pub machines: Vec<Member>,
    /// Where the API server is found; in its stage only.
    pub address: Option<ApiAddress>,
    /// Where its credentials are written to; in its stage only.
    pub credentials: Vec<Credentials>,
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
    /// The nearest steps that it comes after.
    pub after: Vec<ObjectRef>,
    pub after_steps: Vec<StepId>,
    /// How many steps come before it.
    pub depth: usize,
    /// What has been shown when it is done.
    pub shows: Vec<(Fact, Extent)>,
    pub at: Option<Place>,
}

/// Where the API server is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApiAddress {
    /// The address that the control planes share, which Talos gives to one of them once etcd runs.
    pub shared: Option<String>,
    /// Where machines and people find it.
    pub endpoint: Option<String>,
    /// Steps that connect to the shared address before etcd runs.
    pub too_early: Vec<ObjectRef>,
    /// Addresses that steps connect to which configure machines and start etcd.
    pub before: Vec<String>,
}

/// A file that the credentials of the API server are written to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Credentials {
    pub path: String,
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
        let mut steps: Vec<BootStage> =
            boot.iter().filter(|(own, _)| *own == layer).map(|(_, step)| step.clone()).collect();
        steps.sort_by_key(|step| step.depth);
        if layer == Layer::Keys {
            steps.splice(0..0, prepared(facts));
        }
        let is_here = |finding: &&Finding| {
            !is_of_not_run(facts, finding) && layer_of_finding(facts, &objects, &boot, finding) == layer
        };
        let gaps = gaps(facts, facts.findings.iter().filter(is_here));
        let (own, told) = guarantees
            .remove(&layer)
            .unwrap_or_default()
            .into_iter()
            .partition::<Vec<_>, _>(|it| it.ties.is_empty() && !it.is_by_bootstrap);
        let by_containment = own.iter().map(|it| it.needs.len()).sum();
        let is_planned = happens.iter().any(|step| matches!(step.action, run::Action::PowerOn { .. }));
        let machines = if layer == Layer::Machines && !is_planned { machines(facts) } else { Vec::new() };
        let address = (layer == Layer::Api).then(|| address(facts)).flatten();
        let credentials = if layer == Layer::Api { credentials(facts) } else { Vec::new() };
        let stage =
            Stage { layer, happens, steps, machines, address, credentials, guarantees: told, by_containment, gaps };
        if !stage.happens.is_empty()
            || !stage.machines.is_empty()
            || !stage.steps.is_empty()
            || !stage.guarantees.is_empty()
            || !stage.gaps.is_empty()
        {
            stages.push(stage);
        }
    }
    stages
}

fn gaps<'a>(facts: &Facts<'a>, findings: impl Iterator<Item = &'a Finding>) -> Vec<Gap<'a>> {
    findings.map(|finding| Gap { finding, change: change(facts, finding) }).collect()
}

fn is_of_not_run(facts: &Facts<'_>, finding: &Finding) -> bool {
    finding.component.kind == "Terraform" && facts.is_not_run(&finding.component.namespace)
}

/// What is wrong in directories that nothing runs: no stage of the boot.
pub(crate) fn not_run<'a>(facts: &Facts<'a>) -> Vec<Gap<'a>> {
    gaps(facts, facts.findings.iter().filter(|finding| is_of_not_run(facts, finding)))
}

/// The machines by name, where one description of them is found.
pub(crate) fn machines(facts: &Facts<'_>) -> Vec<Member> {
    let group = facts.machines().into_iter();
    let all = group.flat_map(|group| group.control_planes().chain(group.workers()));
    all.map(|machine| Member::machine(&machine.name, machine.address.as_deref(), machine.is_control_plane)).collect()
}

fn credentials(facts: &Facts<'_>) -> Vec<Credentials> {
    let files = facts.cluster.facts.boot.credentials.iter();
    files.map(|file| Credentials { path: file.path.to_string(), at: facts.place(file.at) }).collect()
}

fn address(facts: &Facts<'_>) -> Option<ApiAddress> {
    let group = facts.machines()?;
    let boot = &facts.cluster.facts.boot;
    let configures = |step: &&BootStep| matches!(step.does, Doing::ConfiguresMachines | Doing::BootstrapsEtcd);
    let reached = |step: &BootStep| step.reaches.as_ref().map(ToString::to_string);
    let shared = boot.virtual_address.as_ref().map(ToString::to_string);
    let early: Vec<&BootStep> = boot.steps.iter().filter(configures).collect();
    let is_shared = |step: &&&BootStep| shared.is_some() && reached(step) == shared;
    let too_early = early.iter().filter(is_shared).map(|step| step.object.clone()).collect();
    let mut before: Vec<String> =
        early.iter().filter_map(|step| reached(step)).filter(|it| Some(it) != shared.as_ref()).collect();
    before.sort();
    before.dedup();
    let endpoint = group.endpoint.clone();
    (shared.is_some() || endpoint.is_some()).then_some(ApiAddress { shared, endpoint, too_early, before })
}

/// The steps of the boot, each in the layer that it belongs to, by their places in the boot.
pub(crate) fn boot(facts: &Facts<'_>) -> Vec<(Layer, BootStage)> {
    let boot = &facts.cluster.facts.boot;
    let behind: Vec<BTreeSet<StepId>> = boot.ids().map(|id| behind(boot, id)).collect();
    let one = |id: StepId| {
        let step = boot.step(id);
        // What another of them comes after goes without saying.
        let is_near =
            |on: &StepId| !step.after.iter().any(|other| other.on != *on && behind[other.on.index()].contains(on));
        let after: BTreeSet<StepId> = step.after.iter().map(|order| order.on).filter(is_near).collect();
        let stage = BootStage {
            step: step.object.clone(),
            does: step.does.clone(),
            after: after.iter().map(|on| boot.step(*on).object.clone()).collect(),
            after_steps: after.into_iter().collect(),
            shows: step.proves.iter().map(|proven| (proven.fact, proven.of)).collect(),
            at: facts.place(step.at),
            depth: behind[id.index()].len(),
        };
        (layer_of(facts, step), stage)
    };
    let mut found: Vec<(Layer, BootStage)> = boot.ids().map(one).collect();
    // A script of which nothing else is known belongs where what comes before it does.
    for at in 0..found.len() {
        if found[at].1.does == Doing::Other {
            let before = found[at].1.after_steps.iter().filter_map(|on| found.get(on.index())).map(|(layer, _)| *layer);
            found[at].0 = before.max().unwrap_or(Layer::Bootstrap);
        }
    }
    found
}

fn behind(boot: &Boot, step: StepId) -> BTreeSet<StepId> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![step]);
    while let Some(at) = open.pop() {
        open.extend(boot.step(at).after.iter().map(|order| order.on).filter(|on| seen.insert(*on)));
    }
    seen
}

/// Directories of Terraform that make what the machines need first, and that no step of the boot and no script runs.
fn prepared(facts: &Facts<'_>) -> Vec<BootStage> {
    let boot = &facts.cluster.facts.boot;
    let is_run = |path: &str| {
        let runs = |step: &BootStep| match &step.does {
            Doing::RunsLayer { directory } => *directory == path,
            _ => step.object.kind == "Terraform" && step.object.namespace == path,
        };
        boot.steps.iter().any(runs)
    };
    let is_planned = |path: &str| {
        let plans = |step: &Step| matches!(&step.action, run::Action::Terraform { directory } if directory == path);
        facts.plan.into_iter().flat_map(|plan| &plan.steps).any(plans)
    };
    let keys = facts.inventory.terraform.iter().filter(|one| one.purpose == Purpose::Keys);
    let alone = keys.filter(|one| !boot.steps.is_empty() && !is_run(&one.path) && !is_planned(&one.path));
    alone
        .map(|one| BootStage {
            step: ObjectRef::new("Terraform", one.path.as_str(), ""),
            does: Doing::RunsLayer { directory: one.path.as_str().into() },
            after: Vec::new(),
            after_steps: Vec::new(),
            shows: Vec::new(),
            at: None,
            depth: 0,
        })
        .collect()
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

/// Of a line of a script: that of the step on it, else of the nearest one above, else of the next.
fn layer_of_place(facts: &Facts<'_>, boot: &[(Layer, BootStage)], finding: &Finding) -> Layer {
    let at = finding.primary.at.span();
    let line = |at: source::Span| facts.sources.locate(at).map(|(_, position)| position.line);
    let steps = facts.cluster.facts.boot.steps.iter().zip(boot);
    let own = steps.filter(|(step, _)| step.at.file == at.file && step.object.kind == "Script");
    let mut own: Vec<(Option<u32>, Layer)> = own.map(|(step, (layer, _))| (line(step.at), *layer)).collect();
    own.sort_unstable();
    let above = own.iter().rfind(|(start, _)| *start <= line(at));
    above.or_else(|| own.first()).map_or(Layer::Bootstrap, |(_, layer)| *layer)
}

/// Whether a step does something, and not only looks or asks beforehand.
fn acts(does: &Doing) -> bool {
    !matches!(does, Doing::AsksOutside | Doing::ChecksFirst)
}

/// Of a block of Terraform that is no step: the last stage that it comes after, else the first one that comes after it. What is
/// tied to no step belongs to the run.
fn layer_of_block(facts: &Facts<'_>, boot: &[(Layer, BootStage)], finding: &Finding) -> Layer {
    // What only looks or asks beforehand tells nothing of where something stands.
    let of = |id: &model::StepId| boot.get(id.index()).filter(|(_, step)| acts(&step.does)).map(|(layer, _)| *layer);
    if let Some(near) = facts.cluster.facts.boot.near.get(&finding.component) {
        let after = near.after.iter().filter_map(of).max();
        if let Some(layer) = after.or_else(|| near.before.iter().filter_map(of).min()) {
            return layer;
        }
    }
    let directory = &finding.component.namespace;
    let own = boot.iter().filter(|(_, step)| step.step.namespace == *directory && acts(&step.does));
    match own.map(|(layer, _)| *layer).min() {
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
        Purpose::Services => Some(Layer::Configuration),
        Purpose::Machines | Purpose::Cluster | Purpose::Flux | Purpose::Other => None,
    }
}

fn layer_of(facts: &Facts<'_>, step: &BootStep) -> Layer {
    match &step.does {
        Doing::ChecksFirst | Doing::AsksOutside => Layer::Keys,
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
    let of_steps = own
        .filter(|step| acts(&step.does) && !matches!(step.does, Doing::RunsLayer { .. }))
        .map(|step| layer_of(facts, step))
        .min();
    let starts =
        facts.cluster.facts.boot.starts().any(|id| facts.cluster.facts.boot.step(id).object.namespace == *directory);
    match layer_of_directory(facts, directory) {
        _ if starts => Layer::Flux,
        Some(Layer::Keys) => Layer::Keys,
        by_purpose => of_steps.or(by_purpose).unwrap_or(Layer::Bootstrap),
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
