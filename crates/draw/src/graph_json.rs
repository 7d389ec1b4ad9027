//! The order of clusters for programs. As in the report, the structs here are the promise.

use graph::{Analysis, Judged};
use model::{Arrival, Cluster, ComponentId, Gate, Phase, Tie, TieTarget};
use serde::Serialize;
use source::{Sources, Span};

use crate::clean::clean_json;
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
        }
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
                Phase::Build => "build",
                Phase::Apply => "apply",
                Phase::Ready => "ready",
                Phase::Run => "run",
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
