//! Where somebody starts by hand: Kustomizations that no cluster reaches and that no other one's path covers.

use std::collections::{BTreeMap, BTreeSet};

use kustomize::{Files, PathKind};
use model::ObjectRef;
use source::Span;

use crate::flux::entry::{self, Entry, Written, is_templated, made_by_flux};
use crate::flux::kustomization::{Kustomization, SourceRef};
use crate::flux::overlays::Overlays;
use crate::flux::source::SourcePlace;
use crate::flux::told::{self, Told};
use crate::flux::{Common, KUSTOMIZE_GROUP, sync};
use crate::naming::{is_archived, is_for_show, is_for_tests, is_template};
use crate::object::Object;
use ::repository::path;

/// What the clusters that are known already reach.
#[derive(Debug)]
pub(super) struct Reached<'a> {
    pub(super) entries: &'a [Entry],
    /// The files that they read.
    pub(super) files: BTreeSet<String>,
    /// The directories that they build.
    pub(super) directories: BTreeSet<&'a str>,
}

/// Directories that somebody must start by hand. `live` are the files that clusters or the bootstrap read.
///
/// Where one of them leads on to further Kustomizations, or a cluster is declared, only those count that do: a lone
/// Kustomization there is a file nobody reaches.
pub(super) fn entries(common: &Common<'_>, reached: &Reached<'_>, live: &BTreeSet<String>) -> Vec<Entry> {
    let mut roots = Search::new(common, reached, live).roots();
    // Of a part of a repository, most that is above is not seen. It is applied from there, as one.
    if reached.entries.is_empty() && common.repository.is_part() && roots.len() > 1 {
        return vec![at_hand("")];
    }
    drop_models(reached, &mut roots);
    let begins_elsewhere =
        |directory: &str| reached.entries.iter().any(|entry| entry.instead_of.as_deref() == Some(directory));
    roots.retain(|directory, _| !begins_elsewhere(directory));
    let is_named = keep_named_by_terraform(common, &mut roots);
    keep_bootstrapped_by_terraform(common, reached, &mut roots);
    // One that leads on is no part of one that does not.
    let is_around = |outer: &str, inner: &Root| roots.get(outer).is_some_and(|root| root.leads_on || !inner.leads_on);
    let is_nested =
        |directory: &str, root: &Root| path::ancestors(directory).skip(1).any(|outer| is_around(outer, root));
    let are_all_lone = reached.entries.is_empty() && !roots.values().any(|root| root.leads_on);
    let shifted: Vec<Entry> =
        if are_all_lone { roots.keys().filter_map(|start| in_artifact(common, start)).collect() } else { Vec::new() };
    let places: BTreeSet<&str> = shifted.iter().map(|entry| entry.directory.as_str()).collect();
    let is_shifted = |directory: &str| places.contains(directory);
    let lone = if are_all_lone { clusters_among(&roots) } else { BTreeSet::new() };
    let is_one =
        |directory: &str, root: &Root| !is_nested(directory, root) && (root.leads_on || lone.contains(directory));
    let found = roots.iter().filter(|(directory, root)| is_one(directory, root) && !is_shifted(directory));
    let told = Told::read(common, reached.entries);
    let assumed = |directory: &str| Entry { is_assumed: !is_named && !told.holds(directory), ..at_hand(directory) };
    let begin = |(directory, root): (&&str, &Root)| {
        let as_file = one_file(common, directory).filter(|_| root.leads_on || directory.is_empty());
        as_file.unwrap_or_else(|| assumed(directory))
    };
    let mut found: Vec<Entry> = found.map(begin).collect();
    found.extend(shifted.iter().cloned());
    let more = told_of(common, reached, told, &found);
    found.extend(more);
    let alike: Vec<Entry> = beside_others(&roots, &found).map(at_hand).collect();
    found.extend(alike);
    found
}

/// Directories beside a cluster that somebody starts by hand, with a Kustomization of the same name as one there: clusters as well, though
/// what they apply leads on to no other.
fn beside_others<'a>(roots: &BTreeMap<&'a str, Root>, found: &[Entry]) -> impl Iterator<Item = &'a str> {
    let known: BTreeSet<&str> = found.iter().map(|entry| entry.directory.as_str()).collect();
    let mut names: BTreeMap<&str, BTreeSet<&ObjectRef>> = BTreeMap::new();
    for (directory, root) in roots.iter().filter(|(directory, _)| known.contains(*directory)) {
        names.entry(path::parent(directory)).or_default().extend(&root.names);
    }
    let is_alike = |directory: &str, root: &Root| {
        let home = names.get(path::parent(directory)).filter(|_| directory.contains('/'));
        home.is_some_and(|names| root.names.iter().any(|name| names.contains(name)))
    };
    let is_meant = |directory: &str, root: &Root| {
        let is_other = is_for_show(directory) || is_archived(directory) || is_template(directory);
        root.is_of_here && !is_other && !known.contains(directory) && is_alike(directory, root)
    };
    let alike: Vec<&str> = roots.iter().filter(|(it, root)| is_meant(it, root)).map(|(it, _)| *it).collect();
    alike.into_iter()
}

/// What is copied for new clusters, or kept of old ones, is none where there are others.
fn drop_models(reached: &Reached<'_>, roots: &mut BTreeMap<&str, Root>) {
    let is_model = |directory: &str| is_template(directory) || is_archived(directory);
    if !reached.entries.is_empty() || roots.keys().any(|directory| !is_model(directory)) {
        roots.retain(|directory, _| !is_model(directory));
    }
}

/// What texts tell of and nothing else leads to.
fn told_of(common: &Common<'_>, reached: &Reached<'_>, told: Told, found: &[Entry]) -> Vec<Entry> {
    let known: Vec<&str> = reached.entries.iter().chain(found).map(|entry| entry.directory.as_str()).collect();
    let is_known = |directory: &str| {
        known.iter().any(|known| path::is_below(directory, known) || path::is_below(known, directory))
    };
    let is_new = |directory: &String| !is_known(directory) && !reached.directories.contains(directory.as_str());
    let Told { by_terraform, by_others } = told;
    // Nothing else says that these are clusters.
    let leads_on = |entry: &Entry| !further(common, &entry.directory, &entry.root).is_empty();
    let others = by_others.into_iter().filter(|it| is_new(it) && !by_terraform.contains(it));
    let others = others.map(|it| at_hand(&it)).filter(leads_on);
    by_terraform.iter().filter(|it| is_new(it)).map(|it| at_hand(it)).chain(others).collect()
}

/// The cluster of a Kustomization that alone lies in a directory, and applies one below it: its file is applied, and not everything
/// around it.
fn one_file(common: &Common<'_>, directory: &str) -> Option<Entry> {
    let is_listed =
        common.repository.names(directory).iter().any(|name| kustomize::FILE_NAMES.contains(&name.as_str()));
    let mut beside = common.written.iter().filter(|it| it.directory == directory);
    let (Some(it), None) = (beside.next(), beside.next()) else { return None };
    let is_below = |covers: &String| covers != directory && path::is_below(covers, directory);
    let covers = it.covers.clone().filter(|covers| is_below(covers) && !is_listed)?;
    Some(Entry::new(covers, Kustomization::read(it.node, "flux-system")))
}

/// Roots that are applied as files, the outermost first: a Kustomization with its own source beside it, and no other one; or one
/// that lies in the very directory it applies, whose kustomization does not list it and leads on.
/// `files` are those that clusters reach.
pub(super) fn applied_as_files(common: &Common<'_>, files: &BTreeSet<String>) -> Vec<Entry> {
    let mut beside: BTreeMap<&str, Vec<&Written<'_>>> = BTreeMap::new();
    for it in &common.written {
        beside.entry(it.directory).or_default().push(it);
    }
    let unreached = beside.values().filter(|all| !all.iter().any(|it| files.contains(it.file)));
    let entry = |all: &Vec<&Written<'_>>| match all.as_slice() {
        [it] => as_file(common, it),
        all => as_one_file(common, all),
    };
    let mut found: Vec<Entry> = unreached.filter_map(entry).collect();
    found.sort_by_key(|entry| (entry.directory.matches('/').count(), entry.directory.len()));
    found
}

fn as_file(common: &Common<'_>, it: &Written<'_>) -> Option<Entry> {
    let directory = it.covers.clone()?;
    let source = it.source()?;
    // The root of a source is this repository's only if other paths of that source are here.
    let is_here = if directory.is_empty() {
        common.sources.has_paths_here(&source)
    } else {
        common.repository.kind(&directory) == PathKind::Directory
    };
    let is_taken_in = !common.overlays.outermost(it.file).is_empty();
    if !is_here || is_taken_in || is_for_show(it.directory) {
        return None;
    }
    let root = Kustomization::read(it.node, "flux-system");
    let is_bootstrapped = || entry::synced(&common.written).next().is_some();
    let is_for_its_own =
        || directory == it.directory && !is_bootstrapped() && !further(common, &directory, &root).is_empty();
    let is_root = common.sources.is_in(&source, it.directory) || is_for_its_own();
    is_root.then(|| Entry::new(directory, root))
}

/// The cluster that begins with a file of several Kustomizations and the one source that they all name, which a text says to apply. Nothing
/// else applies the directory that it lies in.
fn as_one_file(common: &Common<'_>, all: &[&Written<'_>]) -> Option<Entry> {
    let first = all.first()?;
    let (source, home) = (first.source()?, first.directory);
    let exists = |covers: &str| common.repository.kind(covers) == PathKind::Directory;
    let is_of_one =
        |it: &&Written<'_>| it.file == first.file && it.source().as_ref() == Some(&source) && it.covers.is_some();
    let is_around = |other: &Written<'_>| other.covers.as_deref().is_some_and(|it| path::is_below(home, it));
    let is_taken_in = !common.overlays.outermost(first.file).is_empty() || common.written.iter().any(is_around);
    let is_other = home.is_empty() || is_for_show(home) || is_template(home) || is_archived(home);
    let is_whole = all.iter().all(is_of_one) && common.sources.is_in(&source, home);
    if !is_whole || is_taken_in || is_other || !told::is_to_be_applied(common, first.file) {
        return None;
    }
    let mut read: Vec<Kustomization> = all.iter().map(|it| Kustomization::read(it.node, "flux-system")).collect();
    let begins = |at: &usize| read[*at].depends_on.is_empty() && all[*at].covers.as_deref().is_some_and(exists);
    let at = (0..all.len()).find(begins)?;
    let root = read.remove(at);
    Some(Entry { name: Some(home.to_owned()), also: read, ..Entry::new(all[at].covers.clone()?, root) })
}

/// The other Kustomizations in what one applies.
fn further(common: &Common<'_>, directory: &str, root: &Kustomization) -> Vec<Span> {
    let is_other =
        |object: &Object<'_>| object.is(KUSTOMIZE_GROUP, "Kustomization") && object.name() != root.object.name.as_str();
    let build = common.build(directory, &root.overlay);
    build.objects.iter().map(Object::new).filter(is_other).map(Object::name_span).collect()
}

/// The cluster that begins where a directory is applied, by whomever.
pub(super) fn at_hand(directory: &str) -> Entry {
    let root = ObjectRef::new("Kustomization", "flux-system", "flux-system");
    let root = made_by_flux(root, directory, Span::GENERATED, None);
    Entry::new(directory.to_owned(), root)
}

/// The cluster that begins with a directory of an artifact: the paths of what the directory is built to are all in the directory of this
/// repository that the artifact is made of, and not at the repository's root.
fn in_artifact(common: &Common<'_>, start: &str) -> Option<Entry> {
    let build = common.build(start, &kustomize::Overlay::default());
    let mut paths: BTreeMap<ObjectRef, BTreeSet<String>> = BTreeMap::new();
    for node in build.objects.iter().filter(|node| Object::new(node).is(KUSTOMIZE_GROUP, "Kustomization")) {
        let it = Kustomization::read(node, "flux-system");
        let path = path::within(&it.path);
        if let Some(source) = it.source.filter(|source| source.object.kind == "OCIRepository" && !path.is_empty()) {
            paths.entry(source.object).or_default().insert(path);
        }
    }
    let (source, paths) = paths.into_iter().max_by_key(|(_, paths)| paths.len())?;
    let is_here = |path: &String| common.repository.kind(path) != PathKind::Missing;
    let base = common.sources.base_of(&paths.iter().map(String::as_str).collect());
    let base = base.filter(|base| path::is_below(start, base) && !paths.iter().any(is_here))?;
    let source = SourceRef { object: source, at: Span::GENERATED };
    let root = ObjectRef::new("Kustomization", source.object.namespace.clone(), source.object.name.clone());
    let root = made_by_flux(root, start, Span::GENERATED, Some(source));
    Some(Entry { base, ..Entry::new(start.to_owned(), root) })
}

/// A directory that nothing applies.
#[derive(Debug, Default)]
struct Root {
    /// Whether what a Kustomization of it applies holds further Kustomizations.
    leads_on: bool,
    /// Whether a Kustomization of it applies a directory of this repository.
    is_of_here: bool,
    /// What its Kustomizations are called.
    names: BTreeSet<ObjectRef>,
}

/// Where Terraform names directories that nothing here applies, it bootstraps Flux with them: the others begin no cluster. Says whether
/// it does.
fn keep_named_by_terraform(common: &Common<'_>, roots: &mut BTreeMap<&str, Root>) -> bool {
    let is_terraform = |path: &&str| matches!(path.rsplit_once('.'), Some((_, "tf" | "tfvars" | "hcl")));
    let files = common.repository.paths().filter(is_terraform).filter_map(|path| common.repository.id(path));
    let texts: Vec<&str> = files.filter_map(|id| Some(common.repository.source(id)?.text())).collect();
    let is_named = |directory: &str| directory.contains('/') && texts.iter().any(|text| names(text, directory));
    let named: BTreeSet<&str> = roots.keys().copied().filter(|directory| is_named(directory)).collect();
    // A default for all clusters may name what is around them.
    let is_around = |outer: &str| named.iter().any(|inner| *inner != outer && path::is_below(inner, outer));
    if !named.is_empty() {
        roots.retain(|directory, _| named.contains(directory) && !is_around(directory));
    }
    !named.is_empty()
}

/// Where the directories that Terraform bootstraps Flux with fit a cluster, what fits none of them begins no cluster.
fn keep_bootstrapped_by_terraform(common: &Common<'_>, reached: &Reached<'_>, roots: &mut BTreeMap<&str, Root>) {
    if roots.is_empty() {
        return;
    }
    let patterns = &common.provided().clusters;
    let fits = |directory: &str| patterns.iter().any(|pattern| sync::is_like(directory, pattern));
    let declared = reached.entries.iter().map(|entry| entry.directory.as_str());
    if declared.chain(roots.keys().copied()).any(fits) {
        roots.retain(|directory, _| fits(directory));
    }
}

/// Whether a text names a path, and not only one that begins or ends with it.
pub(super) fn names(text: &str, path: &str) -> bool {
    let goes_on = |next: char| next.is_alphanumeric() || matches!(next, '-' | '_' | '/');
    text.match_indices(path).any(|(at, _)| {
        let before = text[..at].strip_suffix("./").unwrap_or(&text[..at]);
        !before.ends_with(goes_on) && !text[at + path.len()..].starts_with(goes_on)
    })
}

/// Which of many directories are clusters, where no Kustomization leads on to others. A cluster applies something of this
/// repository. Of several, those are clusters that have Kustomizations of the same name: what is called differently everywhere is
/// made for one cluster, which begins elsewhere.
fn clusters_among<'a>(roots: &BTreeMap<&'a str, Root>) -> BTreeSet<&'a str> {
    let of_here = || roots.iter().filter(|(directory, root)| root.is_of_here && !is_for_show(directory));
    let mut count: BTreeMap<&ObjectRef, usize> = BTreeMap::new();
    for name in of_here().flat_map(|(_, root)| &root.names) {
        *count.entry(name).or_default() += 1;
    }
    let is_alone = of_here().count() == 1;
    let is_shared = |name: &ObjectRef| count.get(name).is_some_and(|count| *count > 1);
    of_here()
        .filter(|(_, root)| is_alone || root.names.iter().any(is_shared))
        .map(|(directory, _)| *directory)
        .collect()
}

/// The directories to apply for the objects of a file to be made: those of the outermost kustomizations that take it in, or else
/// the one it lies in.
pub(super) fn starts_of<'a>(overlays: &Overlays<'a>, file: &'a str) -> BTreeSet<&'a str> {
    let outermost = overlays.outermost(file);
    if outermost.is_empty() { BTreeSet::from([path::parent(file)]) } else { outermost }
}

struct Search<'a> {
    common: &'a Common<'a>,
    /// Directories that a cluster applies, with all that is below them.
    taken: BTreeSet<&'a str>,
    candidates: Vec<Candidate<'a>>,
    open: OpenPaths<'a>,
}

/// Paths with variables, as patterns, with the file of each: by the directory before the first variable.
struct OpenPaths<'a>(BTreeMap<String, Vec<(String, &'a str)>>);

impl<'a> OpenPaths<'a> {
    fn of(common: &Common<'a>) -> Self {
        let mut found: BTreeMap<String, Vec<(String, &str)>> = BTreeMap::new();
        for it in &common.written {
            let written = it.node.text_at(&["spec", "path"]).filter(|path| is_templated(path));
            if let Some(pattern) = written.and_then(sync::open_path) {
                found.entry(sync::before_gap(&pattern).to_owned()).or_default().push((pattern, it.file));
            }
        }
        Self(found)
    }

    /// The files with a path that may mean a directory.
    fn that_fit(&self, directory: &str) -> impl Iterator<Item = &'a str> {
        let near = path::ancestors(directory).filter_map(|before| self.0.get(before)).flatten();
        near.filter(move |(pattern, _)| sync::is_like(directory, pattern)).map(|(_, file)| *file)
    }
}

struct Candidate<'a> {
    written: &'a Written<'a>,
    /// Whether what it applies holds further Kustomizations.
    leads_on: bool,
}

impl<'a> Search<'a> {
    fn new(common: &'a Common<'a>, reached: &Reached<'a>, live: &BTreeSet<String>) -> Self {
        let unreached: Vec<&Written<'_>> = common
            .written
            .iter()
            .filter(|it| !reached.files.contains(it.file) && !is_for_tests(it.directory))
            .collect();
        let holding = |it: &&Written<'a>| std::iter::once(it.directory).chain(common.overlays.above(it.file));
        let directories: BTreeSet<&str> = unreached.iter().flat_map(holding).collect();
        let entries = reached.entries.iter().map(|entry| entry.directory.as_str());
        let taken = entries.chain(applied_from_outside(common, &reached.directories)).collect();
        let mut search = Self { common, taken, candidates: Vec::new(), open: OpenPaths::of(common) };
        let is_reached = |at: &Span| common.repository.path(at.file).is_some_and(|file| reached.files.contains(file));
        for written in unreached {
            let further = search.further(written, &directories);
            if begins_with_others(common, reached, written, &further) {
                continue;
            }
            // What lies in a bootstrap is applied before Flux starts; and yet that may be where a cluster begins.
            // And one that leads only to what begins further below was given up for that.
            let begins_below = |entry: &Entry| {
                written.covers.as_deref().is_some_and(|covers| path::is_below(&entry.directory, covers))
            };
            let is_given_up = !further.is_empty() && reached.entries.iter().any(begins_below);
            let is_unlikely = live.contains(written.file) || is_given_up;
            if !is_unlikely || !further.iter().all(is_reached) {
                search.candidates.push(Candidate { written, leads_on: !further.is_empty() });
            }
        }
        search
    }

    /// The Kustomizations that one leads on to. Stray files may lie below what it applies: what counts is what is built.
    fn further(&self, it: &Written<'_>, directories: &BTreeSet<&str>) -> Vec<Span> {
        let Some(covers) = it.covers.as_deref().filter(|covers| has_below(directories, covers, it.directory)) else {
            return Vec::new();
        };
        further(self.common, covers, &Kustomization::read(it.node, "flux-system"))
    }

    /// The directories of candidates that nothing covers.
    fn roots(&self) -> BTreeMap<&'a str, Root> {
        let mut covering: BTreeMap<&str, Vec<&Candidate<'_>>> = BTreeMap::new();
        for other in &self.candidates {
            if let Some(covers) = other.written.covers.as_deref().filter(|covers| !covers.is_empty()) {
                covering.entry(covers).or_default().push(other);
            }
        }
        let crowded = self.crowded();
        let mut roots: BTreeMap<&str, Root> = BTreeMap::new();
        for it in &self.candidates {
            let is_covered = |start: &&str| {
                path::ancestors(start).any(|directory| {
                    let by = covering.get(directory).map(Vec::as_slice).unwrap_or_default();
                    let is_above = |file| !starts_of(&self.common.overlays, file).contains(start);
                    self.taken.contains(directory)
                        || by.iter().any(|other| other.is_above(it))
                        || self.open.that_fit(directory).any(is_above)
                })
            };
            let starts = starts_of(&self.common.overlays, it.written.file);
            // Where a cluster applies one of several overlays as one of its layers, the others are for such clusters, and none themselves.
            let is_layer = |start: &&str| {
                let by = covering.get(*start).map(Vec::as_slice).unwrap_or_default();
                by.iter().any(|other| other.is_above(it) && crowded.contains(other.written.directory))
            };
            if starts.len() > 1 && starts.iter().any(is_layer) {
                continue;
            }
            for start in starts.into_iter().filter(|start| !is_covered(start)) {
                let root = roots.entry(start).or_default();
                root.leads_on |= it.leads_on;
                root.is_of_here |= self.is_of_here(it.written, start);
                root.names.insert(Object::new(it.written.node).reference("flux-system"));
            }
        }
        roots
    }

    /// The directories that more than one Kustomization lies in.
    fn crowded(&self) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        self.candidates.iter().map(|it| it.written.directory).filter(|directory| !seen.insert(*directory)).collect()
    }

    /// Whether a Kustomization applies a directory of this repository.
    fn is_of_here(&self, it: &Written<'_>, start: &str) -> bool {
        let path = it.node.text_at(&["spec", "path"]);
        let place = || self.common.sources.place(&Kustomization::read(it.node, "flux-system"), &at_hand(start));
        path.is_some_and(|path| !is_templated(path)) && matches!(place(), SourcePlace::Here(_))
    }
}

/// Whether one applies the directory that another cluster begins with, or nothing but what does: for a tool that renders it, perhaps.
fn begins_with_others(common: &Common<'_>, reached: &Reached<'_>, it: &Written<'_>, further: &[Span]) -> bool {
    let is_begun = |it: &Written<'_>| {
        let is_here = it.node.at(&["spec", "kubeConfig"]).is_none();
        is_here && reached.entries.iter().any(|entry| Some(&entry.directory) == it.covers.as_ref())
    };
    let mut inner = common.written.iter().filter(|other| further.contains(&Object::new(other.node).name_span()));
    is_begun(it) || (!further.is_empty() && further.len() == inner.by_ref().filter(|other| is_begun(other)).count())
}

impl Candidate<'_> {
    /// Whether this one, whose path covers the other, may be what applies it. Of one that lies below its own path that
    /// is not certain: it may be there for the sake of its components, and a child of the other.
    fn is_above(&self, other: &Self) -> bool {
        if std::ptr::eq(self, other) {
            return false;
        }
        let is_below = |covers: &String| path::is_below(self.written.directory, covers);
        !self.written.lies_below_its_path() || (self.leads_on && !other.written.covers.as_ref().is_some_and(is_below))
    }
}

/// Directories that a cluster builds. One that is named only from below itself is mostly built for the sake of
/// components, and says nothing about what lies in it.
fn applied_from_outside<'a>(common: &Common<'_>, built: &BTreeSet<&'a str>) -> Vec<&'a str> {
    let (mut from_below, mut from_outside) = (BTreeSet::new(), BTreeSet::new());
    for it in &common.written {
        let Some(covers) = it.covers.as_deref() else { continue };
        if it.lies_below_its_path() { &mut from_below } else { &mut from_outside }.insert(covers);
    }
    let is_outside = |it: &str| !from_below.contains(it) || from_outside.contains(it);
    built.iter().copied().filter(|it| !it.is_empty() && is_outside(it)).collect()
}

/// Whether a directory other than `except` lies at or below `outer`.
fn has_below(directories: &BTreeSet<&str>, outer: &str, except: &str) -> bool {
    directories
        .range(outer..)
        .take_while(|directory| directory.starts_with(outer))
        .any(|directory| *directory != except && path::is_below(directory, outer))
}
