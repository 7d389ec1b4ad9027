//! Where somebody starts by hand: Kustomizations that no cluster reaches and that no other one's path covers.

use std::collections::{BTreeMap, BTreeSet};

use model::ObjectRef;
use yaml::Span;

use crate::flux::entry::{Entry, Written, made_by_flux};
use crate::flux::kustomization::Kustomization;
use crate::flux::{Common, KUSTOMIZE_GROUP};
use crate::object::Object;
use crate::path;

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
    let roots = Search::new(common, reached, live).roots();
    let is_nested = |directory: &str| path::ancestors(directory).skip(1).any(|outer| roots.contains_key(outer));
    let by_hand = ObjectRef::new("Kustomization", "flux-system", "flux-system");
    let are_all_lone = reached.entries.is_empty() && !roots.values().any(|leads_on| *leads_on);
    roots
        .iter()
        .filter(|(directory, leads_on)| !is_nested(directory) && (**leads_on || are_all_lone))
        .map(|(directory, _)| Entry {
            directory: (*directory).to_owned(),
            root: made_by_flux(by_hand.clone(), directory, Span::GENERATED, None),
            url: None,
            base: String::new(),
        })
        .collect()
}

struct Search<'a> {
    common: &'a Common<'a>,
    /// Directories that a cluster applies, with all that is below them.
    taken: BTreeSet<&'a str>,
    candidates: Vec<Candidate<'a>>,
}

struct Candidate<'a> {
    written: &'a Written<'a>,
    /// Whether what it applies holds further Kustomizations.
    leads_on: bool,
}

impl<'a> Search<'a> {
    fn new(common: &'a Common<'a>, reached: &Reached<'a>, live: &BTreeSet<String>) -> Self {
        let unreached: Vec<&Written<'_>> =
            common.written.iter().filter(|it| !reached.files.contains(it.file)).collect();
        let directories: BTreeSet<&str> = unreached.iter().map(|it| it.directory).collect();
        let entries = reached.entries.iter().map(|entry| entry.directory.as_str());
        let taken = entries.chain(applied_from_outside(common, &reached.directories)).collect();
        let mut search = Self { common, taken, candidates: Vec::new() };
        let is_reached = |at: &Span| common.repository.path(at.file).is_some_and(|file| reached.files.contains(file));
        for written in unreached {
            let further = search.further(written, &directories);
            // What lies in a bootstrap is applied before Flux starts; and yet that may be where a cluster begins.
            if !live.contains(written.file) || !further.iter().all(is_reached) {
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
        let root = Kustomization::read(it.node, "flux-system");
        let is_other = |object: &Object<'_>| {
            object.is(KUSTOMIZE_GROUP, "Kustomization") && object.name() != root.object.name.as_str()
        };
        let build = self.common.repository.build(covers, &root.overlay);
        build.objects.iter().map(Object::new).filter(is_other).map(Object::name_span).collect()
    }

    /// The directories of candidates that nothing covers, and whether one of these leads on.
    fn roots(&self) -> BTreeMap<&'a str, bool> {
        let mut covering: BTreeMap<&str, Vec<&Candidate<'_>>> = BTreeMap::new();
        for other in &self.candidates {
            if let Some(covers) = other.written.covers.as_deref().filter(|covers| !covers.is_empty()) {
                covering.entry(covers).or_default().push(other);
            }
        }
        let mut roots = BTreeMap::new();
        for it in &self.candidates {
            let is_covered = path::ancestors(it.written.directory).any(|directory| {
                let by = covering.get(directory).map(Vec::as_slice).unwrap_or_default();
                self.taken.contains(directory) || by.iter().any(|other| other.is_above(it))
            });
            if !is_covered {
                *roots.entry(it.written.directory).or_default() |= it.leads_on;
            }
        }
        roots
    }
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
