//! The cluster in numbers.

use diagnostic::{Finding, Headline, Severity};
use model::{Gate, Role, Verdict};
use serde::Serialize;

use crate::facts::Facts;

#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary<'a> {
    #[serde(skip)]
    pub headline: Headline,
    /// What keeps it from coming up.
    #[serde(skip)]
    pub stops: Vec<&'a Finding>,
    pub comes_up: bool,
    pub kustomizations: usize,
    pub with_depends_on: usize,
    pub with_wait: usize,
    pub with_health_checks: usize,
    /// Of these, those whose `healthChecks` `wait: true` switches off.
    pub with_ignored_checks: usize,
    pub helm_releases: usize,
    pub resource_sets: usize,
    pub bootstrap: usize,
    /// Findings, worst first.
    pub errors: usize,
    pub warnings: usize,
    pub infos: usize,
    /// Dependencies that something can't do without, and that nothing declares: at warning or above.
    pub missing_dependencies: usize,
    /// Findings that the changes close.
    pub closed: usize,
    pub needs: usize,
    pub guaranteed: usize,
    pub by_bootstrap: usize,
    pub blind_spots: usize,
    /// Nothing where it does not come up.
    pub estimate_seconds: Option<u64>,
}

pub(crate) fn summary<'a>(facts: &Facts<'a>) -> Summary<'a> {
    let cluster = facts.cluster;
    let of = |role: Role| cluster.components.iter().filter(move |component| component.role == role);
    let depends = |id: model::ComponentId| cluster.ties.iter().any(|tie| tie.from == id);
    let kustomizations = || cluster.ids().filter(|id| cluster.component(*id).role == Role::Kustomization);
    let severity = |wanted: Severity| facts.findings.iter().filter(|finding| finding.severity == wanted).count();
    let judged = |wanted: Verdict| facts.analysis.judged.iter().filter(|judged| judged.verdict == wanted).count();
    let is_missing = |finding: &&diagnostic::Finding| {
        finding.severity >= Severity::Warning
            && finding.provider.is_some()
            && matches!(finding.verdict, Some(Verdict::Unordered | Verdict::Unoffered))
    };
    Summary {
        headline: facts.headline,
        stops: facts.findings.iter().filter(|finding| finding.severity == Severity::Error).collect(),
        comes_up: facts.headline.comes_up(),
        kustomizations: of(Role::Kustomization).count(),
        with_depends_on: kustomizations().filter(|id| depends(*id)).count(),
        with_wait: of(Role::Kustomization).filter(|it| it.gate == Gate::Healthy).count(),
        with_health_checks: of(Role::Kustomization)
            .filter(|it| matches!(it.gate, Gate::Listed(_)) || !it.ignored_checks.is_empty())
            .count(),
        with_ignored_checks: of(Role::Kustomization).filter(|it| !it.ignored_checks.is_empty()).count(),
        helm_releases: of(Role::HelmRelease).count(),
        resource_sets: of(Role::ResourceSet).count(),
        bootstrap: cluster.components.iter().filter(|it| it.role.is_bootstrap()).count(),
        errors: severity(Severity::Error),
        warnings: severity(Severity::Warning),
        infos: severity(Severity::Info),
        missing_dependencies: facts.findings.iter().filter(is_missing).count(),
        closed: facts.repairs.made.iter().map(|repair| repair.closes.len()).sum(),
        needs: facts.analysis.judged.len(),
        guaranteed: judged(Verdict::Guaranteed),
        by_bootstrap: judged(Verdict::BootstrapOnly),
        blind_spots: cluster.blind.len(),
        estimate_seconds: facts.headline.comes_up().then(|| facts.analysis.schedule.all_done(cluster)),
    }
}
