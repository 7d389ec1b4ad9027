//! Which files move, from which lists, to where.

use diagnostic::{Handover, Unsplit, WhyLeft};
use ecow::EcoString;
use model::{Cluster, Component, ComponentId, ObjectRef, Role};
use read::{Reading, Repository};
use repository::path;
use source::{FileId, Span};
use yaml::Node;

use super::held::{Entry, Held, held, objects};
use super::kustomization::FIELDS;
use super::name;
use crate::listing::kustomization_in;

/// Fields of a Kustomization that another one can't have as well: what they bring would be there twice.
const WHOLE: [&str; 3] = ["components", "patchesStrategicMerge", "patchesJson6902"];

/// How objects come to a Kustomization of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) kinds: Vec<EcoString>,
    /// The new Kustomization, and the directory that it builds.
    pub(crate) new: ObjectRef,
    pub(crate) directory: String,
    /// What it waits for.
    pub(crate) on: ObjectRef,
    pub(crate) how: How,
    /// The namespace that the kustomization above gives to what moves.
    pub(crate) namespace: Option<String>,
    /// What becomes of the objects in a cluster that runs.
    pub(crate) handover: Handover,
}

/// What is done to files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum How {
    /// The directory holds nothing else and stays where it is: its entry goes from a list.
    Unlist(Entry),
    /// Files move to a new directory, with a kustomization where they have been listed. `unlisted` are the entries that go, and `emptied`
    /// the kustomizations that would have none.
    Move { files: Vec<Held>, unlisted: Vec<Entry>, emptied: Vec<FileId> },
}

impl Plan {
    pub(crate) fn new(
        reading: &Reading,
        cluster: &Cluster,
        of: ComponentId,
        on: ComponentId,
        kinds: &[EcoString],
    ) -> Result<Self, WhyLeft> {
        let own = cluster.component(of);
        let unsplit = |how| WhyLeft::Unsplit { component: own.object.clone(), how };
        let object = own_object(&reading.repository, own).ok_or_else(|| not_in_file(own))?;
        if let Some(at) = whole(object) {
            return Err(unsplit(Unsplit::Patched { at }));
        }
        let directory = path::within(own.path.as_deref().ok_or_else(|| not_in_file(own))?);
        let all = held(&reading.repository, &directory);
        let moved = moved(&reading.repository, &all, &directory, kinds).map_err(unsplit)?;
        let handover = handover(&reading.repository, object, &moved, of == on);
        let on = cluster.component(on).object.clone();
        let (how, new, directory) = place(reading, own, &directory, &all, moved, kinds).map_err(unsplit)?;
        let namespace = namespace(&reading.repository, &how);
        Ok(Self { kinds: kinds.to_vec(), new, directory, on, how, namespace, handover })
    }
}

/// What becomes of the objects in a cluster that runs. The new Kustomization waits until the one that it depends on has
/// applied the same revision, and pruned what is not in it.
fn handover(repository: &Repository, own: &Node, moved: &[Held], is_awaited: bool) -> Handover {
    let is_pruning = own.at(&["spec", "prune"]).and_then(Node::as_bool) != Some(false);
    let is_kept = moved.iter().flat_map(|held| objects(repository, held.file)).all(is_kept);
    match () {
        () if is_kept || !is_pruning => Handover::Kept,
        () if is_awaited => Handover::Deleted,
        () => Handover::Race,
    }
}

/// Whether Flux leaves an object alone when it goes from its build.
fn is_kept(object: &Node) -> bool {
    let annotation = "kustomize.toolkit.fluxcd.io/prune";
    object.text_at(&["metadata", "annotations", annotation]).is_some_and(|it| it.eq_ignore_ascii_case("disabled"))
}

fn not_in_file(own: &Component) -> WhyLeft {
    WhyLeft::NotInFile { component: own.object.clone() }
}

/// The document that a component is written in.
pub(super) fn own_object<'r>(repository: &'r Repository, own: &Component) -> Option<&'r Node> {
    let all = (!own.at.is_generated()).then(|| objects(repository, own.at.file))?;
    all.into_iter().find(|object| object.at(&["metadata", "name"]).is_some_and(|name| name.span == own.at))
}

/// What makes that a second Kustomization like this one would bring more than it should.
fn whole(object: &Node) -> Option<Span> {
    let spec = object.get("spec")?.as_map()?;
    let entry = WHOLE.iter().find_map(|key| spec.entry(key)).map(|entry| entry.key_span);
    let untargeted = || spec.get("patches")?.as_seq()?.iter().find(|patch| patch.get("target").is_none());
    entry.or_else(|| untargeted().map(|patch| patch.span))
}

/// The files that hold nothing but objects of these kinds.
fn moved(repository: &Repository, all: &[Held], directory: &str, kinds: &[EcoString]) -> Result<Vec<Held>, Unsplit> {
    let mut moved: Vec<Held> = Vec::new();
    for held in all {
        let objects = objects(repository, held.file);
        let is_moved = |object: &&Node| object.text_at(&["kind"]).is_some_and(|kind| kinds.iter().any(|it| it == kind));
        match objects.iter().filter(|object| is_moved(object)).count() {
            0 => continue,
            some if some < objects.len() => return Err(Unsplit::Mixed { path: held.path.clone() }),
            _ => {}
        }
        let is_elsewhere = held.is_shared || !path::is_below(&held.path, directory);
        if is_elsewhere || moved.iter().any(|known| known.file == held.file) {
            return Err(Unsplit::Elsewhere { path: held.path.clone() });
        }
        moved.push(held.clone());
    }
    if moved.is_empty() { Err(Unsplit::Elsewhere { path: directory.to_owned() }) } else { Ok(moved) }
}

/// The namespace that the outermost kustomization above gives.
fn namespace(repository: &Repository, how: &How) -> Option<String> {
    let above = match how {
        How::Unlist(entry) => std::slice::from_ref(entry),
        How::Move { files, .. } => &files.first()?.entries,
    };
    let mut roots = above.iter().filter_map(|entry| objects(repository, entry.by).first().copied());
    roots.find_map(|root| root.text_at(&["namespace"])).map(str::to_owned)
}

/// Where the objects go, and by what.
fn place(
    reading: &Reading,
    own: &Component,
    beside: &str,
    all: &[Held],
    moved: Vec<Held>,
    kinds: &[EcoString],
) -> Result<(How, ObjectRef, String), Unsplit> {
    let words = name::words(reading, kinds.first().map_or("", EcoString::as_str));
    let named =
        |word: &String| Some(name::object(&own.object, word)).filter(|new| name::is_free(&reading.clusters, new));
    if let Some((entry, directory)) = whole_directory(&reading.repository, all, &moved) {
        let new = words.iter().find_map(named).ok_or_else(|| taken(name::object(&own.object, &words[0]).path()))?;
        return Ok((How::Unlist(entry), new, directory));
    }
    let free = |word: &String| {
        let directory = name::directory(beside, word);
        let is_free = reading.repository.names(&directory).is_empty() && reading.repository.id(&directory).is_none();
        is_free.then(|| named(word).map(|new| (new, directory))).flatten()
    };
    let (new, directory) = words.iter().find_map(free).ok_or_else(|| taken(name::directory(beside, &words[0])))?;
    let same_name =
        |held: &Held| moved.iter().filter(|other| file_name(&other.path) == file_name(&held.path)).count() > 1;
    if let Some(held) = moved.iter().find(|held| same_name(held)) {
        return Err(taken(format!("{directory}/{}", file_name(&held.path))));
    }
    if let Some(by) = scanning(reading, &directory) {
        return Err(Unsplit::Scanned { by });
    }
    let (unlisted, emptied) = unlisted(all, &moved);
    Ok((How::Move { files: moved, unlisted, emptied }, new, directory))
}

/// The entries that go from lists, each as far out as nothing else is behind it, and the kustomizations that are behind those.
fn unlisted(all: &[Held], moved: &[Held]) -> (Vec<Entry>, Vec<FileId>) {
    let (mut unlisted, mut emptied): (Vec<Entry>, Vec<FileId>) = (Vec::new(), Vec::new());
    for held in moved {
        let is_whole = |at: usize| {
            let mut behind = all.iter().filter(|other| other.entries.get(at) == held.entries.get(at));
            behind.all(|other| moved.contains(other))
        };
        let Some(at) = (0..held.entries.len()).find(|at| is_whole(*at)) else { continue };
        unlisted.push(held.entries[at]);
        emptied.extend(held.entries[at + 1..].iter().map(|entry| entry.by));
    }
    unlisted.dedup();
    emptied.dedup();
    (unlisted, emptied)
}

fn taken(name: String) -> Unsplit {
    Unsplit::Taken { name }
}

pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The entry of a directory that holds all that moves and nothing else, and that directory.
fn whole_directory(repository: &Repository, all: &[Held], moved: &[Held]) -> Option<(Entry, String)> {
    let first = moved.first()?;
    let (inner, outer) = (first.entries.iter().skip(1), first.entries.iter());
    for (at, (entry, inner)) in outer.zip(inner).enumerate() {
        let has = |held: &&Held| held.entries.get(at) == Some(entry);
        let is_all = moved.iter().all(|held| has(&held)) && all.iter().filter(has).count() == moved.len();
        let above = first.entries[..=at].iter().filter_map(|entry| objects(repository, entry.by).first().copied());
        let (is_alike, levels) = (above.clone().all(|root| !gives_fields(root)), above.count());
        // What further ones give would have to be gathered.
        if is_all && is_alike && levels == 1 {
            return Some((*entry, path::parent(repository.path(inner.by)?).to_owned()));
        }
    }
    None
}

/// Whether a kustomization changes what it lists by fields that a Flux Kustomization does not have.
fn gives_fields(root: &Node) -> bool {
    FIELDS.iter().any(|field| root.get(field).is_some())
}

/// The Kustomization that applies all that there is below some directory, where a new one is in it.
fn scanning(reading: &Reading, directory: &str) -> Option<ObjectRef> {
    let components = reading.clusters.iter().flat_map(|cluster| &cluster.components);
    let own = components.filter(|component| component.role == Role::Kustomization);
    let scans = |component: &&Component| {
        let Some(at) = component.path.as_deref().map(path::within) else { return false };
        let mut between = path::ancestors(path::parent(directory)).take_while(|above| path::is_below(above, &at));
        at != directory && path::is_below(directory, &at) && {
            between.all(|above| kustomization_in(&reading.repository, above).is_none())
        }
    };
    own.filter(scans).map(|component| component.object.clone()).next()
}
