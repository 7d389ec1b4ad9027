//! Roots that apply themselves and are yet no clusters of their own: another cluster applies them, or stands below them, or they were
//! given up.

use std::collections::{BTreeMap, BTreeSet};

use model::ObjectRef;

use crate::flux::assemble::Assembled;
use crate::flux::entry::Entry;
use crate::flux::{Common, SOURCE_GROUP};
use crate::object::Object;
use ::repository::path;

/// Which of the declared clusters are no clusters of their own: what another one applies under the same name, or an overlay of
/// the same base, add-ons, and what a bootstrap that was given up left behind.
pub(super) fn among(common: &Common<'_>, entries: &[Entry], assembled: &[Assembled]) -> Vec<bool> {
    let applied_by = appliers(entries, assembled);
    let applies =
        |outer: usize, inner: usize| applied_by.get(&key(&entries[inner])).is_some_and(|by| by.contains(&outer));
    let is_applied = |inner: usize| {
        let by = applied_by.get(&key(&entries[inner])).into_iter().flatten();
        // Two that apply each other are one as good as the other.
        by.copied().any(|outer| outer != inner && !applies(inner, outer))
    };
    let layers: BTreeSet<(&ObjectRef, &str)> = entries
        .iter()
        .enumerate()
        .filter(|(index, _)| is_applied(*index))
        .flat_map(|(_, it)| alike(common, it))
        .collect();
    let definers = definers(entries, assembled);
    let is_add_on = |index: usize| is_add_on(common, &entries[index], &assembled[index], &definers);
    let left_over = left_over(entries, assembled);
    let is_part = |index: usize| is_applied(index) || layers.contains(&key(&entries[index]));
    (0..entries.len()).map(|index| left_over[index] || is_part(index) || is_add_on(index)).collect()
}

/// The same root in other overlays of one base: they are of one use.
fn alike<'a>(common: &Common<'a>, part: &'a Entry) -> Vec<(&'a ObjectRef, &'a str)> {
    let others = common.overlays.on_same_base(&part.directory);
    others.into_iter().map(|other| (&part.root.object, other)).collect()
}

/// Which apply Flux and nothing else, where others apply more. One that lies beside such a one in a directory of clusters is a cluster
/// that holds nothing yet; elsewhere a bootstrap that was given up left it behind.
fn left_over(entries: &[Entry], assembled: &[Assembled]) -> Vec<bool> {
    let are_alone: Vec<bool> = assembled.iter().map(Assembled::is_flux_alone).collect();
    let others = entries.iter().zip(&are_alone).filter(|(_, is_alone)| !**is_alone);
    let homes: BTreeSet<&str> = others.map(|(entry, _)| path::parent(&entry.directory)).collect();
    let is_beside = |entry: &Entry| {
        let home = path::parent(&entry.directory);
        !home.is_empty() && homes.contains(home)
    };
    let is_left_over = |(entry, is_alone): (&Entry, &bool)| *is_alone && !homes.is_empty() && !is_beside(entry);
    entries.iter().zip(&are_alone).map(is_left_over).collect()
}

fn key(entry: &Entry) -> (&ObjectRef, &str) {
    (&entry.root.object, &entry.directory)
}

/// The clusters that apply the root of each cluster as one of their Kustomizations, and to themselves.
fn appliers<'a>(
    entries: &'a [Entry],
    assembled: &'a [Assembled],
) -> BTreeMap<(&'a ObjectRef, &'a str), BTreeSet<usize>> {
    let mut appliers: BTreeMap<(&ObjectRef, &str), BTreeSet<usize>> =
        entries.iter().map(|entry| (key(entry), BTreeSet::new())).collect();
    for (index, one) in assembled.iter().enumerate() {
        let is_root = |object: &ObjectRef| *object == entries[index].root.object;
        for (id, it) in one.kustomizations.iter().filter(|(_, it)| !is_root(&it.object)) {
            let path = one.cluster.component(*id).path.as_deref().filter(|_| !it.is_remote);
            if let Some(by) = path.and_then(|path| appliers.get_mut(&(&it.object, path))) {
                by.insert(index);
            }
        }
    }
    appliers
}

/// The sources that clusters begin with and define themselves.
fn definers<'a>(entries: &'a [Entry], assembled: &[Assembled]) -> BTreeSet<&'a ObjectRef> {
    let sources = entries.iter().zip(assembled).filter_map(|(entry, one)| {
        let source = &entry.root.source.as_ref()?.object;
        defines(one, source).then_some(source)
    });
    sources.collect()
}

fn defines(one: &Assembled, source: &ObjectRef) -> bool {
    one.objects.iter().any(|built| {
        let object = Object::new(&built.node);
        object.group() == SOURCE_GROUP && object.reference(&built.namespace) == *source
    })
}

/// Whether a root applies itself, no other Kustomization, and a source that only other clusters define: you apply it on top of one
/// of them.
fn is_add_on(common: &Common<'_>, entry: &Entry, one: &Assembled, definers: &BTreeSet<&ObjectRef>) -> bool {
    // A FluxInstance makes the source of its cluster itself.
    let source = entry.root.source.as_ref().filter(|_| entry.url.is_none());
    let Some(source) = source.map(|source| &source.object) else { return false };
    let file = common.repository.path(entry.root.at.file).filter(|_| !entry.root.at.is_generated());
    let is_beside = || file.is_some_and(|file| common.sources.is_in(source, path::parent(file)));
    one.kustomizations.len() == 1 && definers.contains(source) && !defines(one, source) && !is_beside()
}
