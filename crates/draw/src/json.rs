//! The report for programs. The structs here are what is promised: they change only with [`VERSION`], whatever happens
//! to the types they are made from.

use std::borrow::Cow;
use std::collections::BTreeMap;

use diagnostic::{
    Also, Cause, ClusterSummary, Entry, Finding, Fingerprint, Headline, LeftOut, Level, Place, Report, Severity, Site,
};
use model::{BlindSpot, Cluster, ObjectRef};
use serde::Serialize;
use source::Sources;

use crate::clean::clean_json;
use crate::edits::{Edits, FileTwin};
use crate::merge::{Key, key};
use crate::say::unseen::{self, Told};
use crate::say::{self, Said};

/// Raised when a field changes its meaning or goes; not when one is added.
pub const VERSION: u32 = 1;
pub(crate) const TOOL: &str = "coldstart";

/// The whole report, as one JSON object with a line end. `clusters` gives names to the components of blind spots,
/// `edits` close findings.
pub fn report(
    report: &Report,
    clusters: &[Cluster],
    sources: &impl Sources,
    min_severity: Severity,
    edits: &Edits<'_>,
) -> Result<String, serde_json::Error> {
    let owners = owners(clusters);
    let told = told(report, sources);
    let causes = diagnostic::causes(&report.findings);
    let document = DocumentTwin {
        version: VERSION,
        tool: TOOL,
        headline: HeadlineTwin::new(&Headline::new(report, &causes)),
        summary: SummaryTwin::new(report, &told, &causes),
        findings: told
            .into_iter()
            .filter(|(finding, _)| finding.severity >= min_severity)
            .map(|(finding, said)| FindingTwin::new(finding, said, sources, edits))
            .collect(),
        blind_spots: unseen::told(&report.blind_spots)
            .into_iter()
            .map(|one| BlindSpotTwin::new(one, &owners, sources))
            .collect(),
    };
    Ok(clean_json(serde_json::to_string_pretty(&document)?) + "\n")
}

/// Every finding, but those of a bootstrap that several clusters share only once, for the first of them.
fn told<'a>(report: &'a Report, sources: &dyn Sources) -> Vec<(&'a Finding, Said)> {
    let mut seen: BTreeMap<Key<'_>, &str> = BTreeMap::new();
    let mut told = Vec::new();
    for finding in &report.findings {
        let said = say::finding(finding, sources);
        let first = seen.entry(key(finding, &said)).or_insert(&finding.cluster);
        if !finding.is_of_bootstrap() || *first == finding.cluster {
            told.push((finding, said));
        }
    }
    told
}

#[derive(Serialize)]
struct DocumentTwin<'a> {
    version: u32,
    tool: &'static str,
    headline: HeadlineTwin,
    summary: SummaryTwin<'a>,
    findings: Vec<FindingTwin<'a>>,
    blind_spots: Vec<BlindSpotTwin<'a>>,
}

/// Whether a rebuild would come up today, and what it would cost.
#[derive(Serialize)]
struct HeadlineTwin {
    text: String,
    comes_up: bool,
    clusters: usize,
    clusters_blocked: usize,
    components: usize,
    blocked: usize,
    causes: usize,
    races: RacesTwin,
    estimate_seconds: Option<u64>,
}

/// Races that may be lost, of severity warning.
#[derive(Serialize)]
struct RacesTwin {
    stalling: usize,
    silent: usize,
    slow: usize,
    slowest_seconds: u64,
}

impl HeadlineTwin {
    fn new(headline: &Headline) -> Self {
        Self {
            text: say::headline(headline),
            comes_up: headline.comes_up(),
            clusters: headline.clusters,
            clusters_blocked: headline.clusters_blocked,
            components: headline.components,
            blocked: headline.blocked,
            causes: headline.causes,
            races: RacesTwin {
                stalling: headline.stalls,
                silent: headline.silent,
                slow: headline.slow,
                slowest_seconds: headline.slowest_seconds,
            },
            estimate_seconds: headline.seconds,
        }
    }
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
    causes: CausesTwin,
    blind_spots: usize,
    left_out: LeftOutTwin<'a>,
    clusters: Vec<ClusterTwin<'a>>,
}

/// The same numbers as people are told: what several clusters share counts once.
#[derive(Serialize)]
struct CausesTwin {
    errors: usize,
    warnings: usize,
    infos: usize,
    pedantic: usize,
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
    components: usize,
    blocked: usize,
    estimate_seconds: Option<u64>,
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
    message: String,
    cluster: &'a str,
    component: ObjectTwin<'a>,
    provider: Option<ObjectTwin<'a>>,
    capability: Option<String>,
    verdict: Option<&'static str>,
    consequence: Option<&'static str>,
    cost_seconds: Option<u64>,
    cost: String,
    blocks: usize,
    locations: Vec<LocationTwin<'a>>,
    fix: Option<String>,
    fix_entries: Vec<EntryTwin<'a>>,
    edits: Vec<FileTwin>,
    notes: Vec<String>,
    covers: Vec<ObjectTwin<'a>>,
    levels: Vec<LevelTwin<'a>>,
    also: Vec<AlsoTwin<'a>>,
}

/// The same order at another level.
#[derive(Serialize)]
struct LevelTwin<'a> {
    component: ObjectTwin<'a>,
    provider: ObjectTwin<'a>,
}

/// One more component that the finding speaks for, with the line to look at.
#[derive(Serialize)]
struct AlsoTwin<'a> {
    component: ObjectTwin<'a>,
    provider: Option<ObjectTwin<'a>>,
    path: Option<&'a str>,
    line: Option<u32>,
    consequence: Option<&'static str>,
    cost_seconds: Option<u64>,
    cost: String,
}

/// An item that the fix adds to a list: the text goes after a line (`key`: with the key of the list), or into the brackets in it (`inside`).
#[derive(Serialize)]
struct EntryTwin<'a> {
    list: &'static str,
    place: &'static str,
    path: &'a str,
    line: u32,
    text: String,
}

#[derive(Serialize)]
struct LocationTwin<'a> {
    path: &'a str,
    line: u32,
    column: u32,
    role: &'static str,
    label: String,
}

#[derive(Serialize)]
struct BlindSpotTwin<'a> {
    what: Cow<'a, str>,
    why: String,
    path: Option<&'a str>,
    line: Option<u32>,
    component: Option<ObjectTwin<'a>>,
}

impl<'a> SummaryTwin<'a> {
    fn new(report: &'a Report, told: &[(&Finding, Said)], causes: &[Cause<'_>]) -> Self {
        let of_causes = |severity| causes.iter().filter(|cause| cause.finding.severity == severity).count();
        let number = |severity| told.iter().filter(|(finding, _)| finding.severity == severity).count();
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
            causes: CausesTwin {
                errors: of_causes(Severity::Error),
                warnings: of_causes(Severity::Warning),
                infos: of_causes(Severity::Info),
                pedantic: of_causes(Severity::Pedantic),
            },
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
            components: cluster.outlook.components,
            blocked: cluster.outlook.blocked,
            estimate_seconds: Some(cluster.outlook.seconds).filter(|_| cluster.outlook.blocked == 0),
        }
    }
}

impl<'a> ObjectTwin<'a> {
    pub(crate) fn new(object: &'a ObjectRef) -> Self {
        Self { kind: &object.kind, namespace: &object.namespace, name: &object.name }
    }
}

impl<'a> FindingTwin<'a> {
    fn new(finding: &'a Finding, said: Said, sources: &'a impl Sources, edits: &Edits<'_>) -> Self {
        let places = finding.places().zip(said.labels);
        Self {
            rule: finding.rule.id,
            severity: finding.severity.word(),
            message: said.message,
            cluster: &finding.cluster,
            component: ObjectTwin::new(&finding.component),
            provider: finding.provider.as_ref().map(ObjectTwin::new),
            capability: finding.subject.as_ref().map(ToString::to_string),
            verdict: finding.verdict.map(model::Verdict::word),
            consequence: finding.consequence.map(model::Consequence::word),
            cost_seconds: finding.consequence.and_then(model::Consequence::cost_seconds),
            cost: said.cost,
            blocks: finding.blocks,
            locations: places.filter_map(|((role, at), label)| LocationTwin::new(at, role, label, sources)).collect(),
            fix: said.fix,
            fix_entries: finding
                .fix
                .iter()
                .flat_map(|fix| &fix.entries)
                .filter_map(|entry| EntryTwin::new(entry, sources))
                .collect(),
            edits: edits
                .changed_by(&edits.of(finding, &[&finding.cluster], sources))
                .iter()
                .map(FileTwin::new)
                .collect(),
            notes: said.notes,
            covers: finding.covers.iter().map(ObjectTwin::new).collect(),
            levels: finding.levels.iter().map(LevelTwin::new).collect(),
            also: finding.also.iter().map(|also| AlsoTwin::new(also, sources)).collect(),
        }
    }
}

impl<'a> LevelTwin<'a> {
    fn new(level: &'a Level) -> Self {
        Self { component: ObjectTwin::new(&level.component), provider: ObjectTwin::new(&level.provider) }
    }
}

impl<'a> AlsoTwin<'a> {
    fn new(also: &'a Also, sources: &'a impl Sources) -> Self {
        let place = sources.locate(also.at.span());
        Self {
            component: ObjectTwin::new(&also.component),
            provider: also.provider.as_ref().map(ObjectTwin::new),
            path: place.map(|(path, _)| path),
            line: place.map(|(_, position)| position.line),
            consequence: also.consequence.map(model::Consequence::word),
            cost_seconds: also.consequence.and_then(model::Consequence::cost_seconds),
            cost: also.cost.as_ref().map(say::cost).unwrap_or_default(),
        }
    }
}

impl<'a> EntryTwin<'a> {
    /// Nothing for a place that no file holds.
    fn new(entry: &Entry, sources: &'a impl Sources) -> Option<Self> {
        let (path, line) = say::entry_line(entry, sources)?;
        let place = match entry.place? {
            Place::After { .. } => "after",
            Place::Inside { .. } => "inside",
            Place::Key { .. } => "key",
        };
        Some(Self { list: entry.list.key(), place, path, line, text: say::entry_text(entry) })
    }
}

impl<'a> LocationTwin<'a> {
    /// Nothing for a place that no file holds.
    fn new(site: &Site, role: &'static str, label: String, sources: &'a impl Sources) -> Option<Self> {
        let (path, position) = sources.locate(site.span())?;
        let (line, column) = (position.line, position.column);
        Some(Self { path, line, column, role, label })
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
    fn new(told: Told<'a>, owners: &Owners<'a>, sources: &'a impl Sources) -> Self {
        let Told { what, why, spot } = told;
        let place = sources.locate(spot.at);
        Self {
            what,
            why,
            path: place.map(|(path, _)| path),
            line: place.map(|(_, position)| position.line),
            component: owners.get(spot).map(|object| ObjectTwin::new(object)),
        }
    }
}
