use model::{BlindSpot, ObjectRef};
use source::Span;

use crate::{Finding, Fingerprint, Outlook, Rule, Severity};

/// Everything that was found.
#[derive(Debug, Default)]
pub struct Report {
    /// Worst first, then by cluster and place: see [`Report::sort`].
    pub findings: Vec<Finding>,
    /// What was looked at.
    pub clusters: Vec<ClusterSummary>,
    /// What could not be seen.
    pub blind_spots: Vec<BlindSpot>,
    pub left_out: LeftOut,
    /// Not every cluster was looked at.
    pub is_partial: bool,
    /// Every rule that could have made a finding, whether it did or not.
    pub rules: &'static [&'static Rule],
}

impl Report {
    /// Puts the findings into their order.
    pub fn sort(&mut self) {
        self.findings.sort_by(|a, b| order(a).cmp(&order(b)));
    }
}

fn order(finding: &Finding) -> (std::cmp::Reverse<Severity>, &str, Span, &str, &ObjectRef) {
    let at = finding.primary.at.span();
    (std::cmp::Reverse(finding.severity), &finding.cluster, at, finding.rule.id, &finding.component)
}

/// Findings that were made and are not in the report, because a person said so.
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
    /// What is ahead of it, where that was looked for.
    pub outlook: Outlook,
}
