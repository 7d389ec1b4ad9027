//! ## What it finds
//!
//! A release that the bootstrap installs in one version, or with some values, and that Flux adopts (same release name,
//! same namespace, same chart) in another version or with other values. Features that the bootstrap leaves off, numbers
//! of replicas, and what only one of the two sets do not count as a difference.
//!
//! ## Why it matters at a cold start
//!
//! The new cluster starts with what the bootstrap installed, and Flux changes it minutes later, while everything else
//! starts. An older bootstrap means an upgrade of the network or of DNS at the worst moment; a newer one means that
//! Flux *downgrades* it, which many charts do not survive. It does not show on a running cluster, because the bootstrap
//! does not run there.
//!
//! ## Example
//!
//! ```yaml
//! # bootstrap/helmfile.yaml
//! releases:
//!   - name: cilium
//!     namespace: kube-system
//!     chart: cilium/cilium
//!     version: 1.16.5          # the OCIRepository in kube-system says 1.17.1
//! ```
//!
//! ## Fix
//!
//! Let both read one place: a helmfile can take the version from the OCIRepository and the values from the HelmRelease
//! with a template, or configure the bot that updates one of them to update the other too.

use std::cmp::Ordering;

use diagnostic::{
    Advice, Cost, EvidenceRole, Finding, Fix, Goal, InstallFault, Location, Note, PlainAdvice, Remark, Rule, Severity,
};
use model::Chart;
use source::Span;
use yaml::{Node, Scalar, ScalarKind, Value};

use crate::context::Context;

pub(crate) static RULE: Rule = Rule::new(
    "bootstrap-drift",
    "a release that Flux changes right after the bootstrap",
    include_str!("bootstrap_drift.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let is_early = |chart: &&Chart| context.component(chart.of).role.is_bootstrap();
    let charts = &context.cluster.facts.charts;
    let mut findings = Vec::new();
    for late in charts.iter().filter(|chart| !is_early(chart)) {
        let early = charts.iter().filter(|chart| is_early(chart) && is_same(chart, late));
        // Of several bootstraps, that of the same cluster is the nearest; later files win where two are as near.
        let nearest = early.max_by_key(|early| nearness(context, place(context, early), place(context, late)));
        if let Some(early) = nearest.filter(|early| is_of_this_cluster(context, early, late)) {
            findings.extend(drift(context, early, late));
        }
    }
    findings
}

fn place(context: &Context<'_>, chart: &Chart) -> Span {
    context.component(chart.of).at
}

/// How many directories two places have in common.
fn nearness(context: &Context<'_>, a: Span, b: Span) -> usize {
    let (Some(a), Some(b)) = (context.directory(a), context.directory(b)) else { return 0 };
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count()
}

/// A repository of several clusters may have a bootstrap for only one: it is that of the release which lies nearest.
fn is_of_this_cluster(context: &Context<'_>, early: &Chart, late: &Chart) -> bool {
    let early_at = place(context, early);
    let own = nearness(context, early_at, place(context, late));
    context.clusters().iter().all(|cluster| {
        let charts = cluster
            .facts
            .charts
            .iter()
            .filter(|chart| !cluster.component(chart.of).role.is_bootstrap() && is_same(early, chart));
        charts.into_iter().all(|chart| nearness(context, early_at, cluster.component(chart.of).at) <= own)
    })
}

/// One release of Helm: its name, its place, its chart.
fn is_same(early: &Chart, late: &Chart) -> bool {
    early.release.0 == late.release.0
        && (early.release.1 == late.release.1 || early.release.1.is_empty())
        && early.name.eq_ignore_ascii_case(&late.name)
}

fn drift(context: &Context<'_>, early: &Chart, late: &Chart) -> Option<Finding> {
    let values = differing(early.values.as_ref(), late.values.as_ref());
    let (Some((before, before_at)), Some((after, after_at))) = (&early.version, &late.version) else {
        return other_values(context, early, late, &values);
    };
    let (severity, cost) = match compare(before, after)? {
        Ordering::Equal => return other_values(context, early, late, &values),
        Ordering::Less => (Severity::Info, Cost::Upgraded),
        Ordering::Greater => (Severity::Warning, Cost::Downgraded),
    };
    let component = &context.component(late.of).object;
    let statement =
        InstallFault::OtherVersion { release: component.clone(), bootstrap: before.clone(), flux: after.clone() };
    let primary = Location::new(*before_at, Remark::StartsWithThis);
    let advice = Advice::WriteVersion { version: after.clone() };
    let finding = Finding::new(&RULE, severity, &context.cluster.name, component, statement, primary)
        .with_provider(&context.component(early.of).object)
        .with_cost(cost)
        .with_evidence(EvidenceRole::Offer, *after_at, Remark::FluxMakesThis)
        .with_fix(Fix::by_hand(advice, Goal::Gone));
    Some(if values.is_empty() { finding } else { finding.with_note(Note::DifferingValues { paths: paths(&values) }) })
}

fn other_values(context: &Context<'_>, early: &Chart, late: &Chart, values: &[Difference]) -> Option<Finding> {
    let first = values.first()?;
    let component = &context.component(late.of).object;
    let statement = InstallFault::OtherValues { release: component.clone(), paths: paths(values) };
    let primary = Location::new(first.early, Remark::StartsWithThis);
    let finding = Finding::new(&RULE, Severity::Info, &context.cluster.name, component, statement, primary)
        .with_provider(&context.component(early.of).object)
        .with_cost(Cost::Reconfigured)
        .with_evidence(EvidenceRole::Offer, first.late, Remark::FluxMakesThis)
        .with_fix(Fix::by_hand(PlainAdvice::ReadValues, Goal::Gone));
    Some(finding)
}

fn paths(values: &[Difference]) -> Vec<String> {
    values.iter().map(|one| one.path.clone()).collect()
}

/// Two versions as semantic versioning orders them; nothing where one is none.
fn compare(a: &str, b: &str) -> Option<Ordering> {
    Some(numbers(a)?.cmp(&numbers(b)?))
}

/// Major, minor, patch, and what it comes before its release as.
fn numbers(version: &str) -> Option<(Vec<u64>, Maturity<'_>)> {
    let bare = version.trim_start_matches(['v', '=']).split('+').next()?;
    let (core, before) = bare.split_once('-').unwrap_or((bare, ""));
    let numbers: Option<Vec<u64>> = core.split('.').map(|part| part.parse().ok()).collect();
    Some((numbers?, Maturity::of(before)))
}

/// The order is that of semantic versioning: a pre-release comes before its release, and fewer parts before more.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Maturity<'a> {
    Before(Vec<Part<'a>>),
    Release,
}

/// One of the words and numbers of a pre-release. Numbers are compared as such, and come before words.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Part<'a> {
    Number(u64),
    Word(&'a str),
}

impl<'a> Maturity<'a> {
    fn of(before: &'a str) -> Self {
        let part = |part: &'a str| part.parse().map_or(Part::Word(part), Part::Number);
        if before.is_empty() { Self::Release } else { Self::Before(before.split('.').map(part).collect()) }
    }
}

/// A path that both write, each another value.
struct Difference {
    path: String,
    early: Span,
    late: Span,
}

/// What one leaves out is the chart's default there, or is added when it can be: only a contradiction counts.
fn differing(early: Option<&Node>, late: Option<&Node>) -> Vec<Difference> {
    let mut found = Vec::new();
    if let (Some(early), Some(late)) = (early, late) {
        walk(early, late, "", &mut found);
    }
    found
}

fn walk(early: &Node, late: &Node, path: &str, found: &mut Vec<Difference>) {
    match (&early.value, &late.value) {
        (Value::Map(map), Value::Map(_)) => {
            for entry in map {
                if let Some(other) = late.get(&entry.key) {
                    let path = if path.is_empty() { entry.key.to_string() } else { format!("{path}.{}", entry.key) };
                    walk(&entry.value, other, &path, found);
                }
            }
        }
        (Value::Scalar(a), Value::Scalar(b)) => {
            let is_open = |text: &str| text.contains("${") || text.contains("{{");
            if a.text != b.text && !is_open(&a.text) && !is_open(&b.text) && !is_staged(path, a, b) {
                found.push(Difference { path: path.to_owned(), early: early.span, late: late.span });
            }
        }
        _ => {}
    }
}

/// Bootstraps start small: what they leave off, or run fewer of, Flux adds when there is more of a cluster.
fn is_staged(path: &str, early: &Scalar, late: &Scalar) -> bool {
    let is_added = early.kind == ScalarKind::Bool && early.text == "false" && late.text == "true";
    let is_grown = path.to_ascii_lowercase().contains("replica") && early.kind == ScalarKind::Int;
    is_added || is_grown
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::compare;

    #[test]
    fn versions_are_ordered_as_releases_are() {
        assert_eq!(compare("1.16.5", "v1.17.1"), Some(Ordering::Less));
        assert_eq!(compare("v1.17.1", "1.17.1"), Some(Ordering::Equal));
        assert_eq!(compare("1.10.0", "1.9.9"), Some(Ordering::Greater));
        assert_eq!(compare("1.17.0-rc.1", "1.17.0"), Some(Ordering::Less));
        assert_eq!(compare("1.17.1+build", "1.17.1"), Some(Ordering::Equal));
        assert_eq!(compare("latest", "1.17.1"), None);
        assert_eq!(compare("v1.2", "1.10"), Some(Ordering::Less));
    }

    #[test]
    fn pre_releases_are_ordered_by_their_numbers() {
        assert_eq!(compare("1.0.0-rc.9", "1.0.0-rc.10"), Some(Ordering::Less));
        // The row that semantic versioning gives as its example.
        let row = ["alpha", "alpha.1", "alpha.beta", "beta", "beta.2", "beta.11", "rc.1"];
        for two in row.windows(2) {
            let (early, late) = (format!("1.0.0-{}", two[0]), format!("v1.0.0-{}", two[1]));
            assert_eq!(compare(&early, &late), Some(Ordering::Less), "{early} and {late}");
        }
        assert_eq!(compare("1.0.0-rc.1+a", "1.0.0-rc.1+b"), Some(Ordering::Equal));
        assert_eq!(compare("1.0.0-rc.11", "1.0.0"), Some(Ordering::Less));
    }
}
