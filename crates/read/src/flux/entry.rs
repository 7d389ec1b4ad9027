//! Where Flux starts: found by what the files say, without being told.
//!
//! `flux bootstrap` leaves a Kustomization that applies the directory it lies in; a FluxInstance names the directory it
//! syncs (`sync`). Failing both, a Kustomization that no other one's path covers is where somebody starts by hand (`roots`).

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{Files, PathKind};
use model::{Gate, ObjectRef, Patience, Retry, RetryField};
use source::Span;
use yaml::Node;

use crate::flux::builds::Builds;
use crate::flux::kustomization::{Kustomization, SourceRef};
use crate::flux::source::Sources;
use crate::flux::{Common, KUSTOMIZE_GROUP, patched, sync};
use crate::naming::{is_archived, is_for_show, is_template};
use crate::object::{Object, owned};
use crate::repository::Repository;
use ::repository::path;

/// One cluster's beginning.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The directory it applies first.
    pub(crate) directory: String,
    /// The Kustomization that applies it: a written one, or the one Flux makes.
    pub(crate) root: Kustomization,
    /// The address of the repository's own source, if the files say it.
    pub(crate) url: Option<String>,
    /// The directory that is the root of that source: an artifact may hold just a part of the repository.
    pub(crate) base: String,
    /// Nothing says that Flux applies the directory as a whole: its files may as well be applied one by one.
    pub(crate) is_assumed: bool,
    /// Its source follows another branch than the one that is checked out, which the source of another cluster follows.
    pub(crate) follows_another_branch: bool,
    /// The directory of the file that somebody applies, where that holds more than one Kustomization: the cluster is called so.
    pub(crate) name: Option<String>,
    /// The other Kustomizations of that file.
    pub(crate) also: Vec<Kustomization>,
    /// The directory around what declares it, where that leaves the path to the one who installs it: nothing begins there.
    pub(crate) instead_of: Option<String>,
}

impl Entry {
    pub(super) fn new(directory: String, root: Kustomization) -> Self {
        Self {
            directory,
            root,
            url: None,
            base: String::new(),
            is_assumed: false,
            follows_another_branch: false,
            name: None,
            also: Vec::new(),
            instead_of: None,
        }
    }
}

/// The file of a root that `flux bootstrap` writes.
pub(super) const SYNC_FILE: &str = "gotk-sync.yaml";

/// A Kustomization as it is written, before anybody builds it.
#[derive(Debug)]
pub(super) struct Written<'a> {
    pub(super) file: &'a str,
    pub(super) directory: &'a str,
    /// The directory of this repository that its path means. What comes from another repository covers none.
    pub(super) covers: Option<String>,
    pub(super) node: &'a Node,
    /// The directory that is the root of its source, if that is not this repository's.
    pub(super) base: String,
}

impl Written<'_> {
    pub(super) fn source(&self) -> Option<ObjectRef> {
        Some(Kustomization::read(self.node, "flux-system").source?.object)
    }

    /// `flux bootstrap` writes it below what it applies.
    fn is_synced(&self) -> bool {
        self.file.rsplit('/').next() == Some(SYNC_FILE)
    }

    pub(super) fn lies_below_its_path(&self) -> bool {
        self.covers.as_deref().is_some_and(|covers| path::is_below(self.directory, covers))
    }
}

/// The clusters that the files themselves declare: what `flux bootstrap` wrote, what a FluxInstance syncs, and roots that are
/// patched together.
pub(super) fn declared(common: &Common<'_>, builds: &mut Builds) -> Vec<Entry> {
    let sources = named_sources(&common.written);
    let mut entries = one_for_each_directory(sync::entries(common), &sources);
    for found in [from_bootstrap(common), patched::entries(common, builds)] {
        for (directory, entry) in one_for_each_directory(found, &sources) {
            entries.entry(directory).or_insert(entry);
        }
    }
    let mut entries: Vec<Entry> = entries.into_values().collect();
    mark_branches(common, &mut entries);
    entries
}

/// Where clusters beside each other follow several branches, only those can be told that follow the one which is checked out.
fn mark_branches(common: &Common<'_>, entries: &mut [Entry]) {
    let Some(here) = common.repository.branch() else { return };
    let branches: Vec<Option<&str>> = entries.iter().map(|entry| common.sources.branch(entry)).collect();
    let of_here = entries.iter().zip(&branches).filter(|(_, branch)| **branch == Some(&here));
    let homes: BTreeSet<String> = of_here.map(|(entry, _)| path::parent(&entry.directory).to_owned()).collect();
    for (entry, branch) in entries.iter_mut().zip(branches) {
        let is_beside = homes.contains(path::parent(&entry.directory));
        entry.follows_another_branch = is_beside && branch.is_some_and(|branch| branch != here);
    }
}

/// Another repository may add to the same directory. This one is the source that most Kustomizations here name.
fn one_for_each_directory(found: Vec<Entry>, sources: &BTreeMap<ObjectRef, usize>) -> BTreeMap<String, Entry> {
    let named = |entry: &Entry| entry.root.source.as_ref().and_then(|source| sources.get(&source.object)).copied();
    let mut entries: BTreeMap<String, Entry> = BTreeMap::new();
    for entry in found {
        if entries.get(&entry.directory).is_none_or(|other| named(other) < named(&entry)) {
            entries.insert(entry.directory.clone(), entry);
        }
    }
    entries
}

/// Every Kustomization that is written somewhere, and the source that is this repository.
pub(super) fn written<'a>(repository: &'a Repository, sources: &Sources<'a>) -> (Vec<Written<'a>>, Option<ObjectRef>) {
    let mut found = every(repository);
    move_below_bases(repository, &mut found);
    drop_paths_of_others(&mut found);
    // What `flux bootstrap` wrote says it. Where two are named as often, the one that a root names.
    let roots = || found.iter().filter(|it| it.lies_below_its_path());
    let synced: BTreeSet<ObjectRef> = roots().filter(|it| it.is_synced()).filter_map(Written::source).collect();
    let roots: BTreeSet<ObjectRef> = roots().filter_map(Written::source).collect();
    let rank = |source: &ObjectRef, count: usize| (synced.contains(source), count, roots.contains(source));
    let most = named_sources(&found).into_iter().max_by_key(|(source, count)| rank(source, *count));
    let Some((own, _)) = most else { return (found, None) };
    let with_paths_here: BTreeSet<ObjectRef> =
        found.iter().filter(|it| has_path_here(repository, it)).filter_map(Written::source).collect();
    for it in &mut found {
        let is_whole = it.covers.as_deref() == Some("");
        // The root of an artifact that is made elsewhere is no directory here.
        let is_artifact = |source: &ObjectRef| {
            let is_flux = Object::new(it.node).name() == "flux-system";
            source.kind == "OCIRepository"
                && !is_flux
                && sources.url(source).is_some()
                && !with_paths_here.contains(source)
        };
        let is_another = |source: &ObjectRef| {
            sources.is_another(source, &own)
                || sources.is_of_tenant(source, &own)
                || (is_whole && (sources.has_another_root(source, &own) || is_artifact(source)))
        };
        if it.source().as_ref().is_some_and(is_another) {
            it.covers = None;
        }
    }
    (found, Some(own))
}

/// Whether a path below the root of a source is a directory here.
fn has_path_here(repository: &Repository, it: &Written<'_>) -> bool {
    it.covers.as_deref().is_some_and(|covers| !covers.is_empty() && repository.kind(covers) == PathKind::Directory)
}

/// A directory of this repository may be the root of another one, which it is pushed to: `flux bootstrap` wrote there what is right but for what
/// stands before it. Where no cluster begins at this repository's own root, the paths of such a directory are found below it.
fn move_below_bases(repository: &Repository, found: &mut [Written<'_>]) {
    if found.iter().any(|it| it.is_synced() && it.lies_below_its_path()) {
        return;
    }
    let exists = |directory: &str| repository.kind(directory) == PathKind::Directory;
    let base = |it: &Written<'_>| {
        let wanted = it.covers.as_deref().filter(|covers| !covers.is_empty() && !exists(covers))?;
        let at = format!("{}/", it.directory).find(&format!("/{wanted}/"))?;
        let base = &it.directory[..at];
        let is_other = is_for_show(it.directory) || is_archived(it.directory) || is_template(it.directory);
        (it.is_synced() && !is_other).then(|| base.to_owned())
    };
    let bases: BTreeSet<String> = found.iter().filter_map(base).collect();
    for it in found.iter_mut().filter(|_| !bases.is_empty()) {
        let Some(base) = bases.iter().find(|base| path::is_below(it.directory, base)) else { continue };
        let below = it.covers.as_deref().and_then(|covers| path::join(base, covers));
        if let Some(below) = below.filter(|below| exists(below)) {
            it.covers = Some(below);
            it.base.clone_from(base);
        }
    }
}

/// Kustomizations of one name can't all be in a directory that each of them applies: their path is one of another repository.
fn drop_paths_of_others(found: &mut [Written<'_>]) {
    let mut homes: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
    let key = |it: &Written<'_>| {
        let covers = it.covers.clone().filter(|covers| !covers.is_empty() && it.lies_below_its_path())?;
        Some((Object::new(it.node).name().to_owned(), covers))
    };
    for it in found.iter().filter(|it| !it.is_synced()) {
        if let Some(key) = key(it) {
            homes.entry(key).or_default().insert(it.directory);
        }
    }
    for it in found.iter_mut().filter(|it| !it.is_synced()) {
        if key(it).is_some_and(|key| homes.get(&key).is_some_and(|homes| homes.len() > 1)) {
            it.covers = None;
        }
    }
}

/// The sources that Kustomizations name, and how many do. This repository is the one that most do.
fn named_sources(written: &[Written<'_>]) -> BTreeMap<ObjectRef, usize> {
    let mut counts = BTreeMap::new();
    for source in written.iter().filter_map(Written::source) {
        *counts.entry(source).or_default() += 1;
    }
    counts
}

fn every(repository: &Repository) -> Vec<Written<'_>> {
    let mut found = Vec::new();
    for (_, file, documents) in repository.yaml_files() {
        if file.split('/').any(|part| part.starts_with('.')) {
            continue;
        }
        for node in documents.iter().filter_map(|document| document.root.as_ref()) {
            let object = Object::new(node);
            if object.is(KUSTOMIZE_GROUP, "Kustomization") && !object.name().is_empty() {
                let covers =
                    node.text_at(&["spec", "path"]).filter(|path| !is_templated(path)).map(|at| repository.place(at));
                found.push(Written { file, directory: path::parent(file), covers, node, base: String::new() });
            }
        }
    }
    found
}

pub(super) fn is_templated(text: &str) -> bool {
    text.contains("${") || text.contains("{{") || text.contains("<<")
}

/// What `flux bootstrap` writes: a Kustomization that applies the very file it stands in, or lies in `gotk-sync.yaml` below what
/// it applies.
fn from_bootstrap(common: &Common<'_>) -> Vec<Entry> {
    let written = &common.written;
    let mut entries = Vec::new();
    let covered = Covered::by(written);
    let synced: Vec<&str> = synced(written).collect();
    for it in written {
        let Some(directory) = it.covers.clone().filter(|covers| path::is_below(it.directory, covers)) else { continue };
        let mut root = Kustomization::read(it.node, "flux-system");
        // `path: ./` of some other source means that source's root, not this repository's.
        if directory.is_empty() && root.object.name != "flux-system" {
            continue;
        }
        // `flux bootstrap` applies its own file, whether or not a kustomization lists it.
        let is_synced = it.is_synced() && it.directory != directory;
        // One whose path is a level too high applies itself, too; but somebody else applies it first, unless that is what it applies.
        let is_above = |by: &Written<'_>| !it.is_synced() || !applies(common, &directory, &root, by);
        let is_child = || covered.around(&directory).any(is_above);
        // Where `flux bootstrap` wrote others, any other name far from those is a part that applies itself.
        let is_near = |other: &&str| path::parent(other) == path::parent(&directory);
        let is_part = !synced.is_empty() && root.object.name != "flux-system" && !synced.iter().any(is_near);
        if !is_synced {
            let built = if is_part || is_child() { None } else { itself(common, &directory, &root) };
            let Some(built) = built else { continue };
            // What is written may be a patch, and its base says the source.
            root.source = root.source.or(built.source);
        }
        let is_other = |own| root.source.as_ref().is_some_and(|source| common.sources.is_another(&source.object, own));
        if !common.own.as_ref().is_some_and(is_other) {
            entries.push(Entry { base: it.base.clone(), ..Entry::new(directory, root) });
        }
    }
    entries
}

/// The Kustomizations that apply each directory.
struct Covered<'a> {
    by: BTreeMap<&'a str, Vec<&'a Written<'a>>>,
    /// Somebody applies the whole repository. `path: ./` of any other name may mean the root of another source.
    has_whole: bool,
}

impl<'a> Covered<'a> {
    fn by(written: &'a [Written<'a>]) -> Self {
        let mut by: BTreeMap<&str, Vec<&Written<'_>>> = BTreeMap::new();
        for it in written {
            if let Some(covers) = it.covers.as_deref() {
                by.entry(covers).or_default().push(it);
            }
        }
        let is_whole = |it: &&Written<'_>| Object::new(it.node).name() == "flux-system";
        let has_whole = by.get("").is_some_and(|by| by.iter().any(is_whole));
        Self { by, has_whole }
    }

    /// Those that apply a directory around one.
    fn around(&self, directory: &str) -> impl Iterator<Item = &'a Written<'a>> {
        let outer = path::ancestors(directory).skip(1).filter(|outer| !outer.is_empty() || self.has_whole);
        outer.filter_map(|outer| self.by.get(outer)).flatten().copied()
    }
}

/// Whether what a root applies holds a Kustomization.
fn applies(common: &Common<'_>, directory: &str, root: &Kustomization, other: &Written<'_>) -> bool {
    let name = Object::new(other.node).name();
    let is_it = |object: Object<'_>| object.is(KUSTOMIZE_GROUP, "Kustomization") && object.name() == name;
    common.build(directory, &root.overlay).objects.iter().map(Object::new).any(is_it)
}

/// The directories that `flux bootstrap` wrote clusters for.
pub(super) fn synced<'a>(written: &'a [Written<'_>]) -> impl Iterator<Item = &'a str> {
    let roots = written.iter().filter(|it| it.is_synced() && it.lies_below_its_path());
    roots.filter_map(|it| it.covers.as_deref())
}

/// A Kustomization as it is in what it applies, if it is there.
fn itself(common: &Common<'_>, directory: &str, root: &Kustomization) -> Option<Kustomization> {
    let build = common.build(directory, &root.overlay);
    let found = build.objects.iter().find(|node| {
        let object = Object::new(node);
        object.is(KUSTOMIZE_GROUP, "Kustomization") && object.name() == root.object.name
    });
    found.map(|node| Kustomization::read(node, "flux-system"))
}

/// Which of the declared clusters are clusters of their own. One that begins in what another applies is a part of that. And a
/// file that declares one and that nothing applies is a leftover where another declaration takes its place: one that begins
/// above, or one that is applied and begins below.
pub(super) fn are_live(repository: &Repository, entries: &[Entry], builds: &Builds) -> Vec<bool> {
    let applied: BTreeSet<&str> = builds.files().map(String::as_str).collect();
    let is_applied = |entry: &Entry| repository.path(entry.root.at.file).is_some_and(|file| applied.contains(file));
    let takes_in = |outer: &Entry, inner: &str| {
        let build = builds.get(&outer.directory, &outer.root.overlay);
        build.is_some_and(|build| build.files.iter().any(|file| path::is_below(path::parent(file), inner)))
    };
    let replaces = |other: &Entry, entry: &Entry| {
        let (inner, outer) = (entry.directory.as_str(), other.directory.as_str());
        if inner == outer {
            return false;
        }
        let is_inside = path::is_below(inner, outer);
        (is_inside && (!is_applied(entry) || (is_applied(other) && takes_in(other, inner))))
            || (path::is_below(outer, inner) && is_applied(other) && !is_applied(entry))
    };
    entries.iter().map(|entry| !entries.iter().any(|other| replaces(other, entry))).collect()
}

/// The Kustomization that Flux itself makes for the directory it syncs: it waits for nothing.
pub(super) fn made_by_flux(object: ObjectRef, directory: &str, at: Span, source: Option<SourceRef>) -> Kustomization {
    const INTERVAL_SECONDS: u64 = 600;
    Kustomization {
        object,
        at,
        path: owned(Some(&Node::string(directory, at))),
        path_at: at,
        source,
        depends_on: Vec::new(),
        ties_at: at,
        gate: Gate::Applied,
        gate_at: at,
        checks: Vec::new(),
        ignored_checks: Vec::new(),
        expressions: BTreeSet::new(),
        suspended: None,
        patience: Patience {
            timeout_seconds: INTERVAL_SECONDS,
            attempts: 1,
            pause_seconds: 0,
            retry: Retry::Every(INTERVAL_SECONDS),
            retry_at: at,
            retry_field: Some(RetryField::Interval),
        },
        overlay: kustomize::Overlay::default(),
        common_metadata: None,
        post_build: None,
        decryption_secret: None,
        may_decrypt: true,
        is_remote: false,
        kube_config_secret: None,
    }
}
