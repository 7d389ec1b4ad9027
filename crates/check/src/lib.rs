//! Rules over the graph, one file each. A rule turns verdicts into findings that a person can act on.
//!
//! This crate knows what is worth saying and how much it matters. It does not know how findings are printed.

mod allow;
mod baseline;
mod context;
mod finding;
mod fingerprint;
mod fold;
mod pairs;
mod policy;
pub mod rules;
mod symptom;
mod words;

pub use baseline::{Baseline, BaselineError, only_new};
pub use finding::{Also, Finding, Location, LocationRole, Severity};
pub use fingerprint::Fingerprint;
pub use model::nearest;
pub use policy::Policy;
pub use symptom::Symptom;

use graph::Analysis;
use model::{BlindSpot, Cluster, ObjectRef, Role};
use read::Reading;

use context::Context;

/// Everything that was found in a repository.
#[derive(Debug, Default)]
pub struct Report {
    /// Worst first, then by cluster and place.
    pub findings: Vec<Finding>,
    pub clusters: Vec<ClusterSummary>,
    pub blind_spots: Vec<BlindSpot>,
    pub left_out: LeftOut,
    /// Not every cluster was looked at.
    pub is_partial: bool,
}

/// Findings that were made and are not in the report, because somebody said so.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// By comments beside them.
    pub allowed: usize,
    /// By `coldstart.yaml`.
    pub by_settings: usize,
    pub baseline: Option<BaselineUse>,
    pub since: Option<SinceUse>,
}

/// What a baseline did.
#[derive(Clone, Debug)]
pub struct BaselineUse {
    pub known: usize,
    /// Its entries that no finding has any more.
    pub stale: Vec<Fingerprint>,
}

/// What the comparison with an earlier revision did.
#[derive(Clone, Debug)]
pub struct SinceUse {
    pub revision: String,
    pub known: usize,
    /// Findings of that revision that are not made any more.
    pub gone: usize,
}

/// One cluster in numbers.
#[derive(Clone, Debug)]
pub struct ClusterSummary {
    pub name: String,
    pub kustomizations: usize,
    pub helm_releases: usize,
    pub resource_sets: usize,
    pub bootstrap_releases: usize,
    /// Releases whose charts were rendered.
    pub rendered_charts: usize,
    pub tiers: usize,
    pub critical_path: Vec<ObjectRef>,
}

/// What the repository itself wants of a report: what its comments allow and what its settings say is taken out.
pub fn settle(report: &mut Report, reading: &Reading, policy: &Policy) {
    allow::apply(report, reading);
    policy.apply(report, reading);
}

/// What a check is to look at and to tell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Only the cluster of this name.
    pub cluster: Option<&'a str>,
    /// Everybody's own finding as well, for [`Report::each`].
    pub each: bool,
}

/// Checks every cluster, or only the one of this name. All that was found, whatever comments and settings say.
pub fn run(reading: &Reading, only: Option<&str>) -> Report {
    let wanted = Wanted { cluster: only, each: true };
    run_analysed(reading, &read::parallel::map(&reading.clusters, graph::analyse), wanted)
}

/// As [`run`], with the analyses of all clusters at hand.
pub fn run_analysed(reading: &Reading, analyses: &[Analysis], wish: Wanted<'_>) -> Report {
    let clusters = reading.clusters.iter().zip(analyses);
    let wanted = clusters.filter(|(cluster, _)| wish.cluster.is_none_or(|only| cluster.name == only));
    let wanted: Vec<(&Cluster, &Analysis)> = wanted.collect();
    let mut report = Report { is_partial: wanted.len() < reading.clusters.len(), ..Report::default() };
    for (findings, summary) in
        read::parallel::map(&wanted, |(cluster, analysis)| one(reading, cluster, analysis, wish.each))
    {
        report.findings.extend(findings);
        report.clusters.push(summary);
    }
    report.blind_spots.extend(wanted.iter().flat_map(|(cluster, _)| cluster.blind.iter().cloned()));
    report.blind_spots.extend(unread_files(reading));
    report.blind_spots.sort();
    report.blind_spots.dedup();
    report.findings.sort_by(|a, b| order(a).cmp(&order(b)));
    report
}

fn one(reading: &Reading, cluster: &Cluster, analysis: &Analysis, each: bool) -> (Vec<Finding>, ClusterSummary) {
    let context = Context::new(reading, cluster, analysis, each);
    let mut findings: Vec<Finding> =
        read::parallel::map(rules::all(), |rule| (rule.run)(&context)).into_iter().flatten().collect();
    for finding in &mut findings {
        doubt(finding, cluster);
    }
    (findings, summary(cluster, analysis))
}

/// What a program or a script that is not understood may have brought before Flux started is no alarm.
fn doubt(finding: &mut Finding, cluster: &Cluster) {
    const MAY_BE_BROUGHT: [&str; 8] = [
        "missing-dependency",
        "ungated-dependency",
        "late-store",
        "webhook-race",
        "terminal-install",
        "single-stage-deadlock",
        "missing-secret",
        "missing-substitution",
    ];
    if !MAY_BE_BROUGHT.contains(&finding.rule) || finding.severity <= Severity::Info {
        return;
    }
    let needs_crd = finding.capability.as_ref().is_some_and(|capability| capability.starts_with("CRD "));
    let note = match (&cluster.facts.unread_bootstrap, &cluster.facts.unclear_crds) {
        (Some(program), _) => format!("unless `{program}`, which is not read, has it there before"),
        (None, Some(script)) if needs_crd => {
            format!("unless `{script}`, which applies the CRDs of charts that only it knows, has it there before")
        }
        _ => return,
    };
    finding.severity = Severity::Info;
    finding.notes.push(note);
}

pub(crate) fn order(finding: &Finding) -> (std::cmp::Reverse<Severity>, &str, Option<yaml::Span>, &str, &ObjectRef) {
    let at = finding.locations.first().map(|location| location.span);
    (std::cmp::Reverse(finding.severity), &finding.cluster, at, finding.rule, &finding.component)
}

fn summary(cluster: &Cluster, analysis: &Analysis) -> ClusterSummary {
    let count = |role| cluster.components.iter().filter(|component| component.role == role).count();
    ClusterSummary {
        name: cluster.name.clone(),
        kustomizations: count(Role::Kustomization),
        helm_releases: count(Role::HelmRelease),
        resource_sets: count(Role::ResourceSet),
        bootstrap_releases: cluster.components.iter().filter(|it| it.object.kind == "HelmfileRelease").count(),
        rendered_charts: cluster.facts.rendered,
        tiers: analysis.schedule.tiers.len(),
        critical_path: analysis.schedule.critical_path.iter().map(|id| cluster.component(*id).object.clone()).collect(),
    }
}

fn unread_files(reading: &Reading) -> impl Iterator<Item = BlindSpot> {
    reading.repository.skipped.iter().map(|skipped| BlindSpot {
        what: if skipped.path.is_empty() { "files".to_owned() } else { skipped.path.clone() },
        why: skipped.why.clone(),
        at: yaml::Span::GENERATED,
        component: None,
    })
}
