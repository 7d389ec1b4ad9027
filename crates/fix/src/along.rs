//! What has to be edited along with something else.
//!
//! Flux applies a Kustomization again and again until the kinds in it exist. With an edit that has them there in time, its releases are
//! installed sooner: perhaps before the volumes that they wait for can be made. An install that is not retried without end fails for
//! good then, and did not before. So whatever is to wait for these volumes is edited with it, however little that was worth alone.

use std::collections::BTreeSet;

use diagnostic::{Finding, Severity, Subject, WhyLeft};
use model::{CapabilityKind, Cluster, ComponentId, Consequence, ObjectRef, Retry, Role};

use crate::job::Job;

/// Components that apply releases, each with the name of its cluster.
pub(crate) type Appliers = BTreeSet<(String, ObjectRef)>;

/// Who applies sooner what is not installed a second time, once a finding is closed.
pub(crate) fn hastened(cluster: &Cluster, finding: &Finding) -> Appliers {
    let is_of_kind = finding.subject.as_ref().is_some_and(Subject::is_crd);
    let all = appliers(cluster, finding).into_iter().filter(|(id, _)| is_of_kind && installs_once(cluster, *id));
    all.map(|(_, applier)| applier).collect()
}

/// Whose volumes a finding is about, of these.
pub(crate) fn awaited(cluster: &Cluster, finding: &Finding, of: &Appliers) -> Appliers {
    let Some(Subject::Capability(needed)) = &finding.subject else { return Appliers::new() };
    // What is there in time by the estimates is as good as awaited.
    let may_be_late = matches!(finding.consequence, Some(Consequence::Slow { .. } | Consequence::Terminal { .. }));
    if needed.kind != CapabilityKind::StorageClass || finding.severity < Severity::Info || !may_be_late {
        return Appliers::new();
    }
    let all = appliers(cluster, finding).into_iter().map(|(_, applier)| applier);
    all.filter(|applier| of.contains(applier)).collect()
}

/// The components that apply what a finding speaks of.
fn appliers(cluster: &Cluster, finding: &Finding) -> Vec<(ComponentId, (String, ObjectRef))> {
    let objects = std::iter::once(&finding.component).chain(finding.also.iter().map(|also| &also.component));
    let applier = |id: ComponentId| match cluster.component(id) {
        own if own.role == Role::HelmRelease => own.parent.unwrap_or(id),
        _ => id,
    };
    let ids = objects.filter_map(|object| cluster.find(object)).map(applier);
    ids.map(|id| (id, (cluster.name.clone(), cluster.component(id).object.clone()))).collect()
}

fn installs_once(cluster: &Cluster, applier: ComponentId) -> bool {
    let mut releases =
        cluster.components.iter().filter(|it| it.role == Role::HelmRelease && it.parent == Some(applier));
    releases.any(|release| release.patience.retry == Retry::Never)
}

/// Why an install would be too soon, where what a finding advises can't be edited along.
pub(crate) fn too_soon(finding: &Finding) -> Option<WhyLeft> {
    let Some(Subject::Capability(needed)) = finding.subject.clone() else { return None };
    Some(WhyLeft::TooSoon { needed, gate: finding.provider.clone().unwrap_or_else(|| finding.component.clone()) })
}

/// Drops what would be installed too soon because something can't be edited along, and what was to be edited only along with that;
/// what was made before begins sooner already. Says whether there was any.
pub(crate) fn settle(jobs: &mut [Job<'_>], made: &Appliers) -> bool {
    let failed: Vec<(Appliers, WhyLeft)> = jobs.iter().filter_map(blocking).collect();
    let mut is_any = false;
    for job in jobs.iter_mut().filter(|job| job.is_alive()) {
        if let Some((_, why)) = failed.iter().find(|(awaiting, _)| !job.hastens.is_disjoint(awaiting)) {
            job.why = Some(why.clone());
            is_any = true;
        }
    }
    let mut sooner = made.clone();
    sooner.extend(jobs.iter().filter(|job| job.is_alive()).flat_map(|job| job.hastens.iter().cloned()));
    for job in jobs.iter_mut().filter(|job| job.is_alive() && job.is_along) {
        if job.awaits.is_disjoint(&sooner) {
            job.why = Some(WhyLeft::NoEdit);
            is_any = true;
        }
    }
    is_any
}

/// Whose installs may not begin sooner because of something that is not edited, and why.
fn blocking(job: &Job<'_>) -> Option<(Appliers, WhyLeft)> {
    let why = match (&job.why, &job.too_soon) {
        (Some(held @ WhyLeft::Unsafe { .. }), Some(_)) => held.clone(),
        (Some(_), Some(too_soon)) => too_soon.clone(),
        _ => return None,
    };
    Some((job.awaits.clone(), why))
}
