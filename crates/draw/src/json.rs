//! The report for programs. The structs here are what is promised: they change only with [`VERSION`], whatever happens
//! to the types they are made from.

use std::collections::BTreeMap;

use check::{Also, ClusterSummary, Finding, Fingerprint, LeftOut, Location, Report, Severity};
use model::{BlindSpot, Cluster, ObjectRef};
use serde::Serialize;

use crate::merge::{Key, key};
use crate::sources::Sources;

/// Raised when a field changes its meaning or goes; not when one is added.
pub const VERSION: u32 = 1;
pub(crate) const TOOL: &str = "coldstart";

/// The whole report, as one JSON object with a line end. `clusters` gives names to the components of blind spots.
pub fn report(
    report: &Report,
    clusters: &[Cluster],
    sources: &impl Sources,
    min_severity: Severity,
) -> Result<String, serde_json::Error> {
    let owners = owners(clusters);
    let told = told(report);
    let document = DocumentTwin {
        version: VERSION,
        tool: TOOL,
        summary: SummaryTwin::new(report, &told),
        findings: told
            .into_iter()
            .filter(|finding| finding.severity >= min_severity)
            .map(|finding| FindingTwin::new(finding, sources))
            .collect(),
        blind_spots: report.blind_spots.iter().map(|spot| BlindSpotTwin::new(spot, &owners, sources)).collect(),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// Every finding, but those of a bootstrap that several clusters share only once, for the first of them.
fn told(report: &Report) -> Vec<&Finding> {
    let mut seen: BTreeMap<Key<'_>, &str> = BTreeMap::new();
    let mut told = Vec::new();
    for finding in &report.findings {
        let first = seen.entry(key(finding)).or_insert(&finding.cluster);
        if !finding.is_of_bootstrap() || *first == finding.cluster {
            told.push(finding);
        }
    }
    told
}

#[derive(Serialize)]
struct DocumentTwin<'a> {
    version: u32,
    tool: &'static str,
    summary: SummaryTwin<'a>,
    findings: Vec<FindingTwin<'a>>,
    blind_spots: Vec<BlindSpotTwin<'a>>,
}

/// Counts of everything that was found, also of what is below the wanted severity.
#[derive(Serialize)]
struct SummaryTwin<'a> {
    kustomizations: usize,
    helmreleases: usize,
    resourcesets: usize,
    bootstrap_releases: usize,
    rendered_charts: usize,
    errors: usize,
    warnings: usize,
    infos: usize,
    pedantic: usize,
    blind_spots: usize,
    left_out: LeftOutTwin<'a>,
    clusters: Vec<ClusterTwin<'a>>,
}

/// What was found and is in no other number here.
#[derive(Serialize)]
struct LeftOutTwin<'a> {
    allowed: usize,
    by_settings: usize,
    baseline: Option<BaselineTwin<'a>>,
    since: Option<SinceTwin<'a>>,
}

#[derive(Serialize)]
struct BaselineTwin<'a> {
    known: usize,
    stale: &'a [Fingerprint],
}

#[derive(Serialize)]
struct SinceTwin<'a> {
    revision: &'a str,
    known: usize,
    gone: usize,
}

#[derive(Serialize)]
struct ClusterTwin<'a> {
    name: &'a str,
    kustomizations: usize,
    helmreleases: usize,
    resourcesets: usize,
    bootstrap_releases: usize,
    rendered_charts: usize,
    tiers: usize,
    critical_path: Vec<ObjectTwin<'a>>,
}

/// An object by its name. Also the shape of components in `coldstart graph`.
#[derive(Serialize)]
pub(crate) struct ObjectTwin<'a> {
    kind: &'a str,
    namespace: &'a str,
    name: &'a str,
}

#[derive(Serialize)]
struct FindingTwin<'a> {
    rule: &'a str,
    severity: &'static str,
    message: &'a str,
    cluster: &'a str,
    component: ObjectTwin<'a>,
    provider: Option<ObjectTwin<'a>>,
    capability: Option<&'a str>,
    verdict: Option<&'static str>,
    consequence: Option<&'static str>,
    cost_seconds: Option<u64>,
    cost: &'a str,
    locations: Vec<LocationTwin<'a>>,
    fix: Option<&'a str>,
    notes: &'a [String],
    also: Vec<AlsoTwin<'a>>,
}

/// One more component that the finding speaks for, with the line to look at.
#[derive(Serialize)]
struct AlsoTwin<'a> {
    component: ObjectTwin<'a>,
    provider: Option<ObjectTwin<'a>>,
    path: Option<&'a str>,
    line: Option<u32>,
}

#[derive(Serialize)]
struct LocationTwin<'a> {
    path: &'a str,
    line: u32,
    column: u32,
    role: &'static str,
    label: &'a str,
}

#[derive(Serialize)]
struct BlindSpotTwin<'a> {
    what: &'a str,
    why: &'a str,
    path: Option<&'a str>,
    line: Option<u32>,
    component: Option<ObjectTwin<'a>>,
}

impl<'a> SummaryTwin<'a> {
    fn new(report: &'a Report, told: &[&Finding]) -> Self {
        let number = |severity| told.iter().filter(|finding| finding.severity == severity).count();
        Self {
            kustomizations: report.clusters.iter().map(|cluster| cluster.kustomizations).sum(),
            helmreleases: report.clusters.iter().map(|cluster| cluster.helm_releases).sum(),
            resourcesets: report.clusters.iter().map(|cluster| cluster.resource_sets).sum(),
            bootstrap_releases: report.clusters.iter().map(|cluster| cluster.bootstrap_releases).sum(),
            rendered_charts: report.clusters.iter().map(|cluster| cluster.rendered_charts).sum(),
            errors: number(Severity::Error),
            warnings: number(Severity::Warning),
            infos: number(Severity::Info),
            pedantic: number(Severity::Pedantic),
            blind_spots: report.blind_spots.len(),
            left_out: LeftOutTwin::new(&report.left_out),
            clusters: report.clusters.iter().map(ClusterTwin::new).collect(),
        }
    }
}

impl<'a> LeftOutTwin<'a> {
    fn new(left_out: &'a LeftOut) -> Self {
        let baseline = left_out.baseline.as_ref();
        let since = left_out.since.as_ref();
        Self {
            allowed: left_out.allowed,
            by_settings: left_out.by_settings,
            baseline: baseline.map(|it| BaselineTwin { known: it.known, stale: &it.stale }),
            since: since.map(|it| SinceTwin { revision: &it.revision, known: it.known, gone: it.gone }),
        }
    }
}

impl<'a> ClusterTwin<'a> {
    fn new(cluster: &'a ClusterSummary) -> Self {
        Self {
            name: &cluster.name,
            kustomizations: cluster.kustomizations,
            helmreleases: cluster.helm_releases,
            resourcesets: cluster.resource_sets,
            bootstrap_releases: cluster.bootstrap_releases,
            rendered_charts: cluster.rendered_charts,
            tiers: cluster.tiers,
            critical_path: cluster.critical_path.iter().map(ObjectTwin::new).collect(),
        }
    }
}

impl<'a> ObjectTwin<'a> {
    pub(crate) fn new(object: &'a ObjectRef) -> Self {
        Self { kind: &object.kind, namespace: &object.namespace, name: &object.name }
    }
}

impl<'a> FindingTwin<'a> {
    fn new(finding: &'a Finding, sources: &'a impl Sources) -> Self {
        Self {
            rule: finding.rule,
            severity: finding.severity.word(),
            message: &finding.message,
            cluster: &finding.cluster,
            component: ObjectTwin::new(&finding.component),
            provider: finding.provider.as_ref().map(ObjectTwin::new),
            capability: finding.capability.as_deref(),
            verdict: finding.verdict.map(graph::Verdict::word),
            consequence: finding.consequence.map(graph::Consequence::word),
            cost_seconds: finding.consequence.and_then(graph::Consequence::cost_seconds),
            cost: &finding.cost,
            locations: finding.locations.iter().filter_map(|place| LocationTwin::new(place, sources)).collect(),
            fix: finding.fix.as_deref(),
            notes: &finding.notes,
            also: finding.also.iter().map(|also| AlsoTwin::new(also, sources)).collect(),
        }
    }
}

impl<'a> AlsoTwin<'a> {
    fn new(also: &'a Also, sources: &'a impl Sources) -> Self {
        let place = sources.locate(also.at);
        Self {
            component: ObjectTwin::new(&also.component),
            provider: also.provider.as_ref().map(ObjectTwin::new),
            path: place.map(|(path, _)| path),
            line: place.map(|(_, position)| position.line),
        }
    }
}

impl<'a> LocationTwin<'a> {
    /// Nothing for a place that no file holds.
    fn new(location: &'a Location, sources: &'a impl Sources) -> Option<Self> {
        let (path, position) = sources.locate(location.span)?;
        let (line, column) = (position.line, position.column);
        Some(Self { path, line, column, role: location.role.word(), label: &location.label })
    }
}

type Owners<'a> = BTreeMap<&'a BlindSpot, &'a ObjectRef>;

/// The components that blind spots belong to.
fn owners(clusters: &[Cluster]) -> Owners<'_> {
    let mut owners = BTreeMap::new();
    for cluster in clusters {
        for spot in &cluster.blind {
            if let Some(component) = spot.component.and_then(|id| cluster.components.get(id.index())) {
                owners.entry(spot).or_insert(&component.object);
            }
        }
    }
    owners
}

impl<'a> BlindSpotTwin<'a> {
    fn new(spot: &'a BlindSpot, owners: &Owners<'a>, sources: &'a impl Sources) -> Self {
        let place = sources.locate(spot.at);
        Self {
            what: &spot.what,
            why: &spot.why,
            path: place.map(|(path, _)| path),
            line: place.map(|(_, position)| position.line),
            component: owners.get(spot).map(|object| ObjectTwin::new(object)),
        }
    }
}
