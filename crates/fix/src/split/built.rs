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
        for object in different(old, new) {
            is_any |= drop_one(jobs, &old.name, &object);
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
    let is_any_of = jobs.iter().any(is_of);
    let is_near = |job: &Job<'_>| job.is_splitting() && (is_any_of || job.told.cluster == cluster);
    let mut is_any = false;
    for job in jobs.iter_mut().filter(|job| job.is_alive() && is_near(job)).filter(|job| !is_any_of || is_of(job)) {
        let component = job.told.component.clone();
        job.why = Some(WhyLeft::Unsplit { component, how: Unsplit::BuiltOtherwise { object: object.clone() } });
        is_any = true;
    }
    is_any
}
