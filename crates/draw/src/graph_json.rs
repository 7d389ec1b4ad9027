//! The order of clusters for programs. As in the report, the structs here are the promise.

use graph::{Analysis, Judged};
use model::{
    Arrival, Boot, Brings, Cluster, ComponentId, Doing, ExpectedNode, Extent, Fact, Gate, OrderedBy, Proven, StepId,
    StepOrder, Tie, TieTarget,
};
use serde::Serialize;
use source::{Sources, Span};

use crate::clean::clean_json;
use crate::graph_boot::Phase;
use crate::graph_text::waits_word;
use crate::json::{ObjectTwin, TOOL, VERSION};

/// The clusters with their analyses, as one JSON object with a line end.
pub fn clusters(clusters: &[(&Cluster, &Analysis)], sources: &impl Sources) -> Result<String, serde_json::Error> {
    let document = DocumentTwin {
        version: VERSION,
        tool: TOOL,
        clusters: clusters.iter().map(|(cluster, analysis)| ClusterTwin::new(cluster, analysis, sources)).collect(),
    };
    Ok(clean_json(serde_json::to_string_pretty(&document)?) + "\n")
}

#[derive(Serialize)]
struct DocumentTwin<'a> {
    version: u32,
    tool: &'static str,
    clusters: Vec<ClusterTwin<'a>>,
}

/// Components are referred to by their `id`, which is good within one output only.
#[derive(Serialize)]
struct ClusterTwin<'a> {
    name: &'a str,
    tiers: Vec<Vec<u32>>,
    critical_path: Vec<u32>,
    components: Vec<ComponentTwin<'a>>,
    ties: Vec<TieTwin<'a>>,
    needs: Vec<NeedTwin<'a>>,
    offers: Vec<OfferTwin<'a>>,
    deadlocks: Vec<DeadlockTwin>,
    /// Absent where no step of it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    boot: Option<BootTwin<'a>>,
}

/// The boot before GitOps. Steps are referred to by their `id`, which is good within one output only.
#[derive(Serialize)]
struct BootTwin<'a> {
    nodes: Vec<NodeTwin<'a>>,
    virtual_address: Option<&'a str>,
    steps: Vec<StepTwin<'a>>,
}

#[derive(Serialize)]
struct NodeTwin<'a> {
    name: &'a str,
    control_plane: bool,
}

#[derive(Serialize)]
struct StepTwin<'a> {
    id: u32,
    #[serde(flatten)]
    object: ObjectTwin<'a>,
    phase: &'static str,
    does: &'static str,
    /// What it installs.
    release: Option<&'a str>,
    after: Vec<AfterTwin<'a>>,
    proves: Vec<ProvenTwin<'a>>,
    /// What it does not end without.
    awaits: Vec<&'static str>,
    at: Option<PlaceTwin<'a>>,
}

#[derive(Serialize)]
struct AfterTwin<'a> {
    step: u32,
    why: &'static str,
    at: Option<PlaceTwin<'a>>,
}

#[derive(Serialize)]
struct ProvenTwin<'a> {
    fact: &'static str,
    extent: &'static str,
    at: Option<PlaceTwin<'a>>,
}

#[derive(Serialize)]
struct ComponentTwin<'a> {
    id: u32,
    #[serde(flatten)]
    object: ObjectTwin<'a>,
    parent: Option<u32>,
    /// The directory it builds.
    path: Option<&'a str>,
    tier: u32,
    gate: &'static str,
    suspended: bool,
    /// Null for what never happens: it is in a deadlock, or behind one.
    start_seconds: Option<u64>,
    done_seconds: Option<u64>,
    at: Option<PlaceTwin<'a>>,
}

#[derive(Serialize)]
struct PlaceTwin<'a> {
    path: &'a str,
    line: u32,
    column: u32,
}

#[derive(Serialize)]
struct TieTwin<'a> {
    from: u32,
    /// Null where nothing of that name was read.
    to: Option<u32>,
    unknown: Option<ObjectTwin<'a>>,
    waits_for: &'static str,
    at: Option<PlaceTwin<'a>>,
}

#[derive(Serialize)]
struct NeedTwin<'a> {
    of: u32,
    capability: String,
    phase: &'static str,
    soft: bool,
    optional: bool,
    object: ObjectTwin<'a>,
    verdict: &'static str,
    consequence: &'static str,
    cost_seconds: Option<u64>,
    provider: Option<u32>,
    at: Option<PlaceTwin<'a>>,
}

#[derive(Serialize)]
struct OfferTwin<'a> {
    by: u32,
    capability: String,
    arrival: &'static str,
    object: ObjectTwin<'a>,
    at: Option<PlaceTwin<'a>>,
}

/// Components that wait for each other in a circle, each for the next, with the ties and needs (by their places in the
/// lists above) that close it.
#[derive(Serialize)]
struct DeadlockTwin {
    components: Vec<u32>,
    ties: Vec<usize>,
    needs: Vec<usize>,
}

impl<'a> ClusterTwin<'a> {
    fn new(cluster: &'a Cluster, analysis: &Analysis, sources: &'a impl Sources) -> Self {
        let numbers = |ids: &Vec<ComponentId>| ids.iter().map(|id| id.0).collect();
        Self {
            name: &cluster.name,
            tiers: analysis.schedule.tiers.iter().map(numbers).collect(),
            critical_path: numbers(&analysis.schedule.critical_path),
            components: cluster.ids().map(|id| ComponentTwin::new(cluster, analysis, id, sources)).collect(),
            ties: cluster.ties.iter().map(|tie| TieTwin::new(tie, sources)).collect(),
            needs: analysis.judged.iter().map(|judged| NeedTwin::new(cluster, judged, sources)).collect(),
            offers: cluster.offers.iter().map(|offer| OfferTwin::new(offer, sources)).collect(),
            deadlocks: analysis
                .cycles()
                .map(|deadlock| DeadlockTwin {
                    components: numbers(&deadlock.components(&analysis.events)),
                    ties: deadlock.ties().collect(),
                    needs: deadlock.needs().collect(),
                })
                .collect(),
            boot: (!cluster.facts.boot.steps.is_empty()).then(|| BootTwin::new(&cluster.facts.boot, sources)),
        }
    }
}

impl<'a> BootTwin<'a> {
    fn new(boot: &'a Boot, sources: &'a impl Sources) -> Self {
        let node = |node: &'a ExpectedNode| NodeTwin { name: &node.name, control_plane: node.is_control_plane };
        Self {
            nodes: boot.nodes.iter().map(node).collect(),
            virtual_address: boot.virtual_address.as_deref(),
            steps: boot.ids().map(|id| StepTwin::new(boot, id, sources)).collect(),
        }
    }
}

impl<'a> StepTwin<'a> {
    fn new(boot: &'a Boot, id: StepId, sources: &'a impl Sources) -> Self {
        let step = boot.step(id);
        let after = |order: &'a StepOrder| AfterTwin {
            step: order.on.0,
            why: match order.by {
                OrderedBy::Declaration => "declaration",
                OrderedBy::Reference => "reference",
                OrderedBy::Sequence => "sequence",
                OrderedBy::HandOver => "hand-over",
            },
            at: place(order.at, sources),
        };
        let proven = |proven: &'a Proven| ProvenTwin {
            fact: fact(proven.fact),
            extent: match proven.of {
                Extent::Unchecked => "unchecked",
                Extent::Some => "some",
                Extent::ControlPlanes => "control-planes",
                Extent::Existing => "existing",
                Extent::Expected => "expected",
            },
            at: place(proven.at, sources),
        };
        Self {
            id: id.0,
            object: ObjectTwin::new(&step.object),
            phase: Phase::of(boot, step).name(),
            does: deed(&step.does),
            release: match &step.does {
                Doing::Installs { release, .. } => Some(release),
                _ => None,
            },
            after: step.after.iter().map(after).collect(),
            proves: step.proves.iter().map(proven).collect(),
            awaits: step.awaits.iter().map(|awaited| fact(*awaited)).collect(),
            at: place(step.at, sources),
        }
    }
}

fn deed(does: &Doing) -> &'static str {
    match does {
        Doing::MakesMachines => "makes-machines",
        Doing::ConfiguresMachines => "configures-machines",
        Doing::BootstrapsEtcd => "bootstraps-etcd",
        Doing::FetchesCredentials => "fetches-credentials",
        Doing::Installs { brings: Brings::PodNetwork { .. }, .. } => "installs-pod-network",
        Doing::Installs { brings: Brings::Other, .. } => "installs",
        Doing::StoresSealingKey => "stores-sealing-key",
        Doing::StartsGitOps => "starts-gitops",
        Doing::ChecksFirst => "checks-first",
        Doing::AsksOutside => "asks-outside",
        Doing::PreparesMachines => "prepares-machines",
        Doing::RunsLayer { .. } => "runs-layer",
        Doing::AppliesObjects(_) => "applies-objects",
        Doing::Waits => "waits",
        Doing::Other => "other",
    }
}

fn fact(fact: Fact) -> &'static str {
    match fact {
        Fact::MachineStarted => "machine-started",
        Fact::ApiAnswers => "api-answers",
        Fact::EtcdRuns => "etcd-runs",
        Fact::NodesJoined => "nodes-joined",
        Fact::NodesReady => "nodes-ready",
        Fact::KubeletsRun => "kubelets-run",
        Fact::NetworkRuns => "network-runs",
        Fact::StorageRuns => "storage-runs",
        Fact::WorkloadsRun => "workloads-run",
        Fact::ObjectExists => "object-exists",
        Fact::GitOpsRuns => "gitops-runs",
    }
}

impl<'a> ComponentTwin<'a> {
    fn new(cluster: &'a Cluster, analysis: &Analysis, id: ComponentId, sources: &'a impl Sources) -> Self {
        let component = cluster.component(id);
        Self {
            id: id.0,
            object: ObjectTwin::new(&component.object),
            parent: component.parent.map(|parent| parent.0),
            path: component.path.as_deref(),
            tier: analysis.schedule.tier(id),
            gate: match component.gate {
                Gate::Healthy => "healthy",
                Gate::Listed(_) => "listed",
                Gate::Applied => "applied",
                Gate::LooksHealthy(_) => "looks-healthy",
            },
            suspended: component.suspended.is_some(),
            start_seconds: analysis.schedule.start(id),
            done_seconds: analysis.schedule.done(id),
            at: place(component.at, sources),
        }
    }
}

impl<'a> TieTwin<'a> {
    fn new(tie: &'a Tie, sources: &'a impl Sources) -> Self {
        let (to, unknown) = match &tie.to {
            TieTarget::Component(to) => (Some(to.0), None),
            TieTarget::Unknown(object) => (None, Some(ObjectTwin::new(object))),
        };
        Self { from: tie.from.0, to, unknown, waits_for: waits_word(tie.waits_for), at: place(tie.at, sources) }
    }
}

impl<'a> NeedTwin<'a> {
    fn new(cluster: &'a Cluster, judged: &Judged, sources: &'a impl Sources) -> Self {
        let need = &cluster.needs[judged.need];
        Self {
            of: need.of.0,
            capability: need.capability.to_string(),
            phase: match need.phase {
                model::Phase::Build => "build",
                model::Phase::Apply => "apply",
                model::Phase::Ready => "ready",
                model::Phase::Run => "run",
            },
            soft: need.soft,
            optional: need.optional,
            object: ObjectTwin::new(&need.object),
            verdict: judged.verdict.word(),
            consequence: judged.consequence.word(),
            cost_seconds: judged.consequence.cost_seconds(),
            provider: judged.offer.map(|offer| cluster.offers[offer].by.0),
            at: place(need.at, sources),
        }
    }
}

impl<'a> OfferTwin<'a> {
    fn new(offer: &'a model::Offer, sources: &'a impl Sources) -> Self {
        Self {
            by: offer.by.0,
            capability: offer.capability.to_string(),
            arrival: match offer.arrival {
                Arrival::Applied => "applied",
                Arrival::Installed => "installed",
                Arrival::Healthy => "healthy",
                Arrival::Reported => "reported",
                Arrival::Unreported => "unreported",
            },
            object: ObjectTwin::new(&offer.object),
            at: place(offer.at, sources),
        }
    }
}

fn place(span: Span, sources: &impl Sources) -> Option<PlaceTwin<'_>> {
    let (path, position) = sources.locate(span)?;
    Some(PlaceTwin { path, line: position.line, column: position.column })
}
