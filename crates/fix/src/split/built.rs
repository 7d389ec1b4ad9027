//! What all clusters build, before and after: the same objects, and each as it was.

use std::collections::BTreeMap;

use diagnostic::{Unsplit, WhyLeft};
use model::ObjectRef;
use read::Reading;
use read::rendered::{Rendered, render};
use yaml::Node;

use crate::change::Change;
use crate::job::Job;

/// Kinds that are edited themselves.
const EDITED: [&str; 3] = ["Kustomization", "HelmRelease", "ResourceSet"];

/// Drops what moves objects, where one is not built as it was; says whether there was any.
pub(crate) fn drop_built_otherwise(jobs: &mut [Job<'_>], before: &Reading, after: &Reading) -> bool {
    if !jobs.iter().any(|job| job.is_alive() && job.is_splitting()) {
        return false;
    }
    let rendered = |reading: &Reading| render(&reading.repository).map(|(clusters, _)| clusters).unwrap_or_default();
    let (before, after) = (rendered(before), rendered(after));
    let mut is_any = false;
    for old in &before {
        let new = after.iter().find(|new| new.name == old.name);
        let more = new.map(|new| different(new, Some(old))).unwrap_or_default();
        for object in different(old, new).into_iter().chain(more) {
            is_any |= drop_one(jobs, &old.name, &object);
        }
        for object in broken(old, new) {
            is_any |= drop_of(jobs, &old.name, &object);
        }
    }
    is_any
}

/// The objects that a cluster has no more, or not as they were.
fn different(old: &Rendered, new: Option<&Rendered>) -> Vec<ObjectRef> {
    let new = new.map(objects).unwrap_or_default();
    let is_same = |object: &ObjectRef, nodes: &Vec<&Node>| new.get(object) == Some(nodes);
    objects(old)
        .into_iter()
        .filter(|(object, nodes)| !is_same(object, nodes))
        .map(|(object, _)| object.clone())
        .collect()
}

/// What can't be built any more, or is new and can't.
fn broken<'r>(old: &'r Rendered, new: Option<&'r Rendered>) -> impl Iterator<Item = ObjectRef> + use<'r> {
    let was = |object: &ObjectRef| old.appliers.iter().any(|it| it.object == *object && it.broken.is_some());
    let is = new.into_iter().flat_map(|new| &new.appliers).filter(|applier| applier.broken.is_some());
    is.map(|applier| applier.object.clone()).filter(move |object| !was(object))
}

/// Drops what moves objects out of a component or to it; where there is none, all that move something in the cluster.
fn drop_of(jobs: &mut [Job<'_>], cluster: &str, object: &ObjectRef) -> bool {
    let is_of = |job: &Job<'_>| {
        let is_new = |change: &Change| matches!(change, Change::Split { plan, .. } if plan.new == *object);
        job.told.component == *object || job.changes.iter().any(is_new)
    };
    let is_any_of = jobs.iter().any(|job| job.is_alive() && is_of(job));
    let is_meant = |job: &Job<'_>| if is_any_of { is_of(job) } else { job.told.cluster == cluster };
    drop_all(jobs, is_meant, object)
}

fn objects(rendered: &Rendered) -> BTreeMap<&ObjectRef, Vec<&Node>> {
    let mut objects: BTreeMap<&ObjectRef, Vec<&Node>> = BTreeMap::new();
    for (object, node) in rendered.appliers.iter().flat_map(|applier| &applier.objects) {
        if !EDITED.contains(&object.kind.as_str()) {
            objects.entry(object).or_default().push(node);
        }
    }
    objects
}

/// Drops what moves an object; where no job is about its kind, all that move something in the cluster.
fn drop_one(jobs: &mut [Job<'_>], cluster: &str, object: &ObjectRef) -> bool {
    let is_of = |job: &Job<'_>| {
        let moves = |change: &Change| matches!(change, Change::Split { plan, .. } if plan.kinds.contains(&object.kind));
        job.changes.iter().any(moves)
    };
    let is_any_of = jobs.iter().any(|job| job.is_alive() && is_of(job));
    let is_meant = |job: &Job<'_>| if is_any_of { is_of(job) } else { job.told.cluster == cluster };
    drop_all(jobs, is_meant, object)
}

/// Drops what moves objects and is meant; says whether there was any.
fn drop_all(jobs: &mut [Job<'_>], is_meant: impl Fn(&Job<'_>) -> bool, object: &ObjectRef) -> bool {
    let mut is_any = false;
    for job in jobs.iter_mut().filter(|job| job.is_alive() && job.is_splitting() && is_meant(job)) {
        let component = job.told.component.clone();
        job.why = Some(WhyLeft::Unsplit { component, how: Unsplit::BuiltOtherwise { object: object.clone() } });
        is_any = true;
    }
    is_any
}
