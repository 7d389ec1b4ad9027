//! Patches that replace the dependencies of everything below a Kustomization, though that waits for the same itself.
//!
//! Lists of Flux objects are replaced by a patch, not merged. What such a patch names in `dependsOn` makes what each object
//! says itself void. Where the Kustomization that applies the objects waits for the same, the list in the patch does nothing
//! else.

use std::collections::BTreeSet;

use diagnostic::{Unedited, WhyLeft};
use model::{Cluster, ComponentId, ObjectRef, TieTarget};
use read::Reading;
use source::Span;

use crate::change::Change;
use crate::job::Job;

/// What to do in place of one more item that not all of those need who would get it.
pub(crate) fn instead(reading: &Reading, job: &Job<'_>, why: &WhyLeft) -> Option<Change> {
    let WhyLeft::Unedited { at, how: Unedited::Shared { .. } } = why else { return None };
    let is_tie = |change: &Change| matches!(change, Change::Depend { .. });
    let of = job.changes.iter().find(|change| is_tie(change))?.of();
    let mut components: BTreeSet<&ObjectRef> = BTreeSet::new();
    for cluster in &reading.clusters {
        for id in sharing(cluster, *at) {
            if !is_void(cluster, id, *at) {
                return None;
            }
            components.insert(&cluster.component(id).object);
        }
    }
    let path = reading.repository.path(at.file)?.to_owned();
    Some(Change::Unlist { of, at: *at, path, components: components.len() })
}

/// The components that get a dependency from this place.
fn sharing(cluster: &Cluster, at: Span) -> impl Iterator<Item = ComponentId> {
    cluster.ties.iter().filter(move |tie| tie.at == at).map(|tie| tie.from)
}

/// Whether what applies a component waits for everything that the same patch has it wait for.
fn is_void(cluster: &Cluster, id: ComponentId, at: Span) -> bool {
    let own = cluster.component(id);
    let targets = |of: ComponentId| cluster.ties.iter().filter(move |tie| tie.from == of);
    let mut above = BTreeSet::new();
    let mut parent = own.parent;
    while let Some(one) = parent.filter(|one| above.insert(one.index())) {
        parent = cluster.component(one).parent;
    }
    let is_awaited = |to: &TieTarget| cluster.ties.iter().any(|tie| above.contains(&tie.from.index()) && tie.to == *to);
    let of_patch = targets(id).filter(|tie| tie.at.file == at.file && tie.at.file != own.at.file);
    of_patch.into_iter().all(|tie| is_awaited(&tie.to))
}
