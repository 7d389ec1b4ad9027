//! What is an alarm: only what `check` reports as a warning or an error. A race that it says nothing of is drawn as one that recovers.

use std::collections::BTreeSet;

use diagnostic::{Finding, Report, Severity};
use model::{ObjectRef, Verdict};

/// Who is reported to lack which order: the component, what it needs, and the verdict.
#[derive(Clone, Debug, Default)]
pub struct Alarms(BTreeSet<(ObjectRef, ObjectRef, Verdict)>);

impl Alarms {
    /// Those of one cluster.
    pub fn of(report: &Report, cluster: &str) -> Self {
        Self::among(&report.findings, cluster)
    }

    /// Those of one cluster among these findings.
    pub fn among(findings: &[Finding], cluster: &str) -> Self {
        let loud = |finding: &&Finding| finding.cluster == cluster && finding.severity >= Severity::Warning;
        Self(findings.iter().filter(loud).flat_map(pairs).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &(ObjectRef, ObjectRef, Verdict)> {
        self.0.iter()
    }
}

/// Everyone that the finding speaks for.
fn pairs(finding: &Finding) -> Vec<(ObjectRef, ObjectRef, Verdict)> {
    let Some(verdict) = finding.verdict else { return Vec::new() };
    let own = finding.provider.iter().map(|provider| (&finding.component, provider));
    let also = finding
        .also
        .iter()
        .filter_map(|also| Some((&also.component, also.provider.as_ref().or(finding.provider.as_ref())?)));
    own.chain(also).map(|(component, provider)| (component.clone(), provider.clone(), verdict)).collect()
}
