//! Rules over the graph, one file each. A rule turns verdicts into findings that a person can act on.
//!
//! This crate knows what is worth saying and how much it matters. It does not know how findings are printed.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod advice;
mod allow;
mod circles;
mod context;
mod cost;
mod dependents;
mod gates;
mod index;
mod layers;
mod needs;
mod other_kind;
mod outlook;
mod pairs;
mod place;
mod policy;
mod races;
mod remedy;
pub mod rules;
mod waiting;

pub use outlook::{look_ahead, weigh};
pub use policy::Policy;

use std::collections::BTreeSet;

use diagnostic::{ClusterSummary, Finding, Note, Outlook, Report, Severity, Subject};
use graph::Analysis;
use model::{BlindSpot, BootstrapStep, Cause, Cluster, ObjectRef, Role, Stage, Unseen, Verdict, WhyUnseen};
use read::Reading;

use context::Context;

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
    run_analysed(reading, &repository::parallel::map(&reading.clusters, graph::analyse), wanted)
}

/// As [`run`], with the analyses of all clusters at hand.
pub fn run_analysed(reading: &Reading, analyses: &[Analysis], wish: Wanted<'_>) -> Report {
    let clusters = reading.clusters.iter().zip(analyses);
    let wanted = clusters.filter(|(cluster, _)| wish.cluster.is_none_or(|only| cluster.name == only));
    let wanted: Vec<(&Cluster, &Analysis)> = wanted.collect();
    let is_partial = wanted.len() < reading.clusters.len();
    let mut report = Report { is_partial, rules: rules::all(), ..Report::default() };
    for (findings, summary, untold) in
        repository::parallel::map(&wanted, |(cluster, analysis)| one(reading, cluster, analysis, wish.each))
    {
        report.findings.extend(findings);
        report.clusters.push(summary);
        report.blind_spots.extend(untold);
    }
    report.blind_spots.extend(wanted.iter().flat_map(|(cluster, _)| cluster.blind.iter().cloned()));
    report.blind_spots.extend(unread_files(reading));
    report.blind_spots.sort();
    report.blind_spots.dedup();
    report.sort();
    report
}

/// Findings of one rule in one cluster that are told.
pub(crate) const FINDINGS_MAX: usize = 5_000;

fn one(
    reading: &Reading,
    cluster: &Cluster,
    analysis: &Analysis,
    each: bool,
) -> (Vec<Finding>, ClusterSummary, Vec<BlindSpot>) {
    let context = Context::new(reading, cluster, analysis, each);
    let mut untold = Vec::new();
    let mut findings = Vec::new();
    for mut found in repository::parallel::map(rules::RUNS, |run| run(&context)) {
        if found.len() > FINDINGS_MAX {
            found.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        }
        untold.extend(found.get(FINDINGS_MAX).map(beyond_limit));
        found.truncate(FINDINGS_MAX);
        findings.extend(found);
    }
    let early = cluster.components.iter().filter(|component| component.stage == Stage::Bootstrap);
    let early: BTreeSet<&ObjectRef> = early.map(|component| &component.object).collect();
    for finding in &mut findings {
        doubt(finding, cluster);
        set_stages(finding, &early);
    }
    (findings, summary(cluster, analysis), untold)
}

/// The first finding that is one too many tells that there are more.
fn beyond_limit(finding: &Finding) -> BlindSpot {
    let (what, why) = (Unseen::FindingsOf { rule: finding.rule.id }, WhyUnseen::TooManyFindings { max: FINDINGS_MAX });
    BlindSpot { what, why, at: finding.primary.at.span(), component: None }
}

/// What a program or a script that is not understood may have brought before Flux started is no alarm.
fn doubt(finding: &mut Finding, cluster: &Cluster) {
    // A cycle of declared dependencies alone stands, whatever is there before.
    let is_declared = finding.verdict == Some(Verdict::Deadlocked) && finding.subject.is_none();
    if !finding.rule.may_be_brought || finding.severity <= Severity::Info || is_declared {
        return;
    }
    let needs_crd = finding.subject.as_ref().is_some_and(Subject::is_crd);
    let is_part = cluster.blind.iter().any(|blind| blind.why == WhyUnseen::AboveDirectory);
    let note = match (&cluster.facts.unread_bootstrap, &cluster.facts.unclear_crds) {
        (Some(program), _) => Note::UnlessBroughtBy { program: program.clone() },
        (None, Some(script)) if needs_crd => Note::UnlessAppliedBy { script: script.clone() },
        // The bootstrap of a part of a repository lies outside of it.
        _ if is_part => Note::UnseenMayHold,
        _ if needs_crd && crds_may_be_elsewhere(finding, cluster) => Note::UnseenMayHold,
        _ => return,
    };
    finding.severity = Severity::Info;
    finding.notes.push(note);
}

/// Whether a Kustomization of another source seems to bring the CRD: an operator's own repository, say.
fn crds_may_be_elsewhere(finding: &Finding, cluster: &Cluster) -> bool {
    let Some(Subject::Capability(crd)) = &finding.subject else { return false };
    // A Kustomization may be called anything.
    let release = finding.provider.as_ref().filter(|provider| provider.kind == "HelmRelease");
    let provider = release.map(|provider| provider.name.as_str());
    // `Kind.group`: the last part of a group says little.
    let group = || crd.name.split('.').skip(1);
    let last = group().last();
    let owners = || group().filter(|word| Some(*word) != last).chain(provider);
    cluster.blind.iter().any(|blind| blind.is_named_after_crds_of(owners()))
}

/// Tells what is of the bootstrap: `early` is all that it installs.
fn set_stages(finding: &mut Finding, early: &BTreeSet<&ObjectRef>) {
    if early.contains(&finding.component) {
        finding.stage = Stage::Bootstrap;
    }
    if finding.provider.as_ref().is_some_and(|provider| early.contains(provider)) {
        finding.provider_stage = Stage::Bootstrap;
    }
    for one in &mut finding.each {
        set_stages(one, early);
    }
}

fn summary(cluster: &Cluster, analysis: &Analysis) -> ClusterSummary {
    let count = |role| cluster.components.iter().filter(|component| component.role == role).count();
    ClusterSummary {
        name: cluster.name.clone(),
        kustomizations: count(Role::Kustomization),
        helm_releases: count(Role::HelmRelease),
        resource_sets: count(Role::ResourceSet),
        bootstrap_releases: count(Role::Bootstrap(BootstrapStep::Release))
            + count(Role::Bootstrap(BootstrapStep::TerraformRelease)),
        rendered_charts: cluster.facts.rendered,
        tiers: analysis.schedule.tiers.len(),
        critical_path: analysis.schedule.critical_path.iter().map(|id| cluster.component(*id).object.clone()).collect(),
        outlook: Outlook::default(),
    }
}

fn unread_files(reading: &Reading) -> impl Iterator<Item = BlindSpot> {
    reading.repository.skipped.iter().map(|skipped| BlindSpot {
        what: if skipped.path.is_empty() { Unseen::Files } else { Unseen::File(skipped.path.clone()) },
        why: WhyUnseen::NotRead(Cause::new(skipped.why)),
        at: source::Span::GENERATED,
        component: None,
    })
}
