//! Clusters whose root is put together from a base and patches: a Kustomization that applies a directory, and that is itself in what
//! this directory builds to, wherever its files lie.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::Overlay;
use yaml::{Budget, Node};

use crate::flux::builds::Builds;
use crate::flux::entry::{Entry, Written, is_templated};
use crate::flux::kustomization::Kustomization;
use crate::flux::sync::fits_path;
use crate::flux::variables::{Settings, Variables};
use crate::flux::{Common, KUSTOMIZE_GROUP};
use crate::object::Object;
use ::repository::path;

/// The clusters of such roots. Directories are built into `builds`, where putting the clusters together finds them again.
pub(super) fn entries(common: &Common<'_>, builds: &mut Builds) -> Vec<Entry> {
    let candidates = candidates(common);
    let plain = Overlay::default();
    let wanted: Vec<(&str, &Overlay)> = candidates.keys().map(|directory| (*directory, &plain)).collect();
    common.search(|ledger| builds.make(common.repository, &wanted, ledger));
    let root = |(directory, names): (&str, Vec<&str>)| {
        let build = builds.get(directory, &plain)?;
        build.objects.iter().find_map(|node| entry_of(common, directory, &names, node, &build.objects))
    };
    let tried: BTreeSet<&str> = candidates.keys().copied().collect();
    let begin = |(directory, names)| root((directory, names)).map(|entry| (directory, entry));
    let (homes, entries): (BTreeSet<&str>, Vec<Entry>) = candidates.into_iter().filter_map(begin).unzip();
    // No cluster reaches what was only tried.
    builds.forget(|directory| tried.contains(directory) && !homes.contains(directory));
    entries
}

/// Directories with a kustomization that may apply themselves, and the names of the Kustomizations that may do it.
fn candidates<'a>(common: &'a Common<'_>) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for it in &common.written {
        for directory in common.overlays.above(it.file).into_iter().filter(|at| !path::is_below(it.directory, at)) {
            if may_apply(common, it, directory) {
                found.entry(directory).or_default().push(Object::new(it.node).name());
            }
        }
    }
    found
}

/// Whether the path of a Kustomization, as it is written or patched, may mean a directory.
fn may_apply(common: &Common<'_>, it: &Written<'_>, directory: &str) -> bool {
    let is_written = it.covers.as_deref() == Some(directory);
    let is_like = || {
        let written = it.node.text_at(&["spec", "path"]);
        written.is_some_and(|path| is_templated(path) && fits_path(directory, path))
    };
    is_written || is_like() || common.overlays.says_path(directory, meant(directory))
}

/// What a root in a directory applies: the directory itself, and around what `flux bootstrap` writes the cluster.
fn meant(directory: &str) -> &str {
    directory.strip_suffix("/flux-system").unwrap_or(directory)
}

/// The cluster that begins with an object among what a directory builds to: a Kustomization that applies this very directory, or the
/// cluster around it.
fn entry_of(common: &Common<'_>, directory: &str, names: &[&str], node: &Node, beside: &[Node]) -> Option<Entry> {
    let object = Object::new(node);
    if !object.is(KUSTOMIZE_GROUP, "Kustomization") || !names.contains(&object.name()) {
        return None;
    }
    let mut node = node.clone();
    if node.text_at(&["spec", "path"]).is_some_and(is_templated) {
        common.search(|ledger| ledger.one(|budget| substitute_own(&mut node, &common.settings, beside, budget)));
    }
    let root = Kustomization::read(&node, "flux-system");
    let place = common.repository.place(&root.path);
    let is_itself = !place.is_empty() && (place == directory || place == meant(directory));
    let is_other = |own| root.source.as_ref().is_some_and(|source| common.sources.is_another(&source.object, own));
    let is_one = is_itself && !common.own.as_ref().is_some_and(is_other);
    is_one.then(|| Entry::new(place, root))
}

/// A root substitutes in itself, too: it is part of what it applies.
fn substitute_own(node: &mut Node, settings: &Settings, beside: &[Node], budget: &mut Budget) {
    let root = Kustomization::read(node, "flux-system");
    let takes_from_objects = root.post_build.as_ref().is_some_and(|it| it.get("substituteFrom").is_some());
    let mut settings = if takes_from_objects { settings.clone() } else { Settings::default() };
    for object in beside {
        settings.add(object);
    }
    // One that can't be substituted in keeps its path, which then means no directory.
    if let Ok(variables) = Variables::within(root.post_build.as_ref(), &root.object.namespace, &settings, budget) {
        let _undefined = variables.apply(node, budget);
    }
}
