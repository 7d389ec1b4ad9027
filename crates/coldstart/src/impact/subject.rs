//! What a word on the command line means: a component, an object, a file, a release with another version, or a machine.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ::graph::{Loss, Subject};
use draw::impact::{MachineLoss, Told, What};
use model::{Cluster, ComponentId, ObjectRef, Role, nearest};
use read::Reading;
use read::rendered::Rendered;

use super::{Asked, COMMAND};
use crate::failure::Failure;
use crate::open::unread;

/// What the word means, and what comes of losing that: components before objects, files and machines.
pub(super) fn told<'a>(of: &str, reading: &Reading, asked: &'a [Asked<'a>], at: &Path) -> Result<Told<'a>, Failure> {
    if let Some((name, version)) = of.rsplit_once('@').filter(|(_, version)| !version.contains('/')) {
        return of_version(name, version, reading, asked, at);
    }
    let mut answers = Vec::new();
    for one in asked {
        match component(one.cluster, of) {
            Found::One(id) => {
                answers.push(one.answer(What::Component(id), &Loss::ALL, |impacts| impacts.subject(id)));
            }
            Found::Several(names) => {
                return Err(Failure::SeveralSubjects { at: at.to_owned(), name: of.to_owned(), names });
            }
            Found::None => {}
        }
    }
    if !answers.is_empty() {
        return Ok(Told::Answers(answers));
    }
    if let Some(machine) = machine(of, reading) {
        return Ok(Told::Machine(machine));
    }
    if let Some(told) = file(of, reading, asked, at)? {
        return Ok(told);
    }
    for one in asked {
        if let Some((object, by)) = object(one.cluster, of) {
            let objects = BTreeSet::from([object.clone()]);
            let losses = [Loss::Down, Loss::Pruned, Loss::Deleted];
            answers.push(one.answer(What::Object { object, by }, &losses, |impacts| impacts.objects(objects.clone())));
        }
    }
    if answers.is_empty() { Err(unknown(of, reading, asked, at)) } else { Ok(Told::Answers(answers)) }
}

fn unknown(of: &str, reading: &Reading, asked: &[Asked<'_>], at: &Path) -> Failure {
    let mut names: Vec<String> = Vec::new();
    for component in asked.iter().flat_map(|one| &one.cluster.components) {
        let object = &component.object;
        names.extend([object.path(), object.name.to_string(), format!("{}/{}", object.kind, object.name)]);
    }
    let up = &reading.settings.up;
    names.extend(up.control_planes.iter().chain(&up.workers).cloned());
    let nearest = nearest(of, names.iter().map(String::as_str)).map(str::to_owned);
    Failure::UnknownSubject { at: at.to_owned(), name: of.to_owned(), nearest }
}

enum Found {
    None,
    One(ComponentId),
    Several(Vec<String>),
}

/// Whether it has that name, namespace and name, kind and name, or all three.
pub(crate) fn is_called(object: &ObjectRef, of: &str) -> bool {
    match of.split(['/', ' ']).collect::<Vec<_>>().as_slice() {
        [name] => object.name == *name,
        [first, name] => {
            object.name == *name && (object.namespace == *first || object.kind.eq_ignore_ascii_case(first))
        }
        [kind, namespace, name] => {
            object.kind.eq_ignore_ascii_case(kind) && object.namespace == *namespace && object.name == *name
        }
        _ => false,
    }
}

/// A component by `namespace/name`, `Kind/name`, `Kind/namespace/name`, or its bare name. Of those that have one name, what runs is
/// meant: the release, and not the Kustomization that applies it.
fn component(cluster: &Cluster, of: &str) -> Found {
    let all: Vec<ComponentId> = cluster.ids().filter(|id| is_called(&cluster.component(*id).object, of)).collect();
    let rank = |id: &ComponentId| match cluster.component(*id).role {
        Role::HelmRelease => 0,
        Role::Kustomization | Role::ResourceSet => 1,
        Role::Bootstrap(_) => 2,
    };
    let best = all.iter().map(rank).min();
    let mut best: Vec<ComponentId> = all.into_iter().filter(|id| Some(rank(id)) == best).collect();
    // Two hands of the bootstrap on one release are one.
    best.dedup_by_key(|id| &cluster.component(*id).object);
    match best.as_slice() {
        [] => Found::None,
        [only] => Found::One(*only),
        several => {
            let full = |id: &ComponentId| {
                let object = &cluster.component(*id).object;
                format!("{}/{}", object.kind, object.path())
            };
            Found::Several(several.iter().map(full).collect())
        }
    }
}

/// An object that offers something, by its kind and name, with or without its namespace.
fn object(cluster: &Cluster, of: &str) -> Option<(ObjectRef, ComponentId)> {
    let parts: Vec<&str> = of.split(['/', ' ']).collect();
    let is_it = |object: &ObjectRef| match parts.as_slice() {
        [kind, name] => object.kind.eq_ignore_ascii_case(kind) && object.name == *name,
        [kind, namespace, name] => {
            object.kind.eq_ignore_ascii_case(kind) && object.namespace == *namespace && object.name == *name
        }
        _ => false,
    };
    let offers = cluster.offers.iter().map(|offer| (&offer.object, offer.by));
    let needs = cluster.needs.iter().map(|need| (&need.object, need.of));
    offers.chain(needs).find(|(object, _)| is_it(object)).map(|(object, by)| (object.clone(), by))
}

fn of_version<'a>(
    name: &str,
    version: &str,
    reading: &Reading,
    asked: &'a [Asked<'a>],
    at: &Path,
) -> Result<Told<'a>, Failure> {
    let (rendered, _) = read::rendered::render(&reading.repository).map_err(|error| unread(COMMAND, error))?;
    let mut answers = Vec::new();
    for one in asked {
        match component(one.cluster, name) {
            Found::One(id) => {
                let object = &one.cluster.component(id).object;
                let mine = rendered.iter().filter(|it| it.name == one.cluster.name);
                let mut versions = mine.flat_map(read::versions::of).filter(|it| it.release == *object);
                let from = versions.next().map(|it| it.version.to_string());
                let what = What::Version { id, from, to: version.to_owned() };
                answers.push(one.answer(what, &[Loss::Upgraded], |impacts| impacts.subject(id)));
            }
            Found::Several(names) => {
                return Err(Failure::SeveralSubjects { at: at.to_owned(), name: name.to_owned(), names });
            }
            Found::None => {}
        }
    }
    if answers.is_empty() { Err(unknown(name, reading, asked, at)) } else { Ok(Told::Answers(answers)) }
}

/// A machine of `coldstart.yaml`, or of the files that describe machines.
fn machine(of: &str, reading: &Reading) -> Option<MachineLoss> {
    let up = &reading.settings.up;
    let loss = |is_control_plane, control_planes, workers| MachineLoss {
        name: of.to_owned(),
        is_control_plane,
        control_planes,
        workers,
    };
    if up.control_planes.iter().chain(&up.workers).any(|name| name == of) {
        let is_control_plane = up.control_planes.iter().any(|name| name == of);
        return Some(loss(is_control_plane, up.control_planes.len(), up.workers.len()));
    }
    let groups = read::inventory::find(&reading.repository).groups;
    let is_it = |machine: &read::machines::Machine| machine.name == of || machine.address.as_deref() == Some(of);
    let group = groups.iter().find(|group| group.machines.iter().any(is_it))?;
    let machine = group.machines.iter().find(|machine| is_it(machine))?;
    Some(loss(machine.is_control_plane, group.control_planes().count(), group.workers().count()))
}

fn file<'a>(of: &str, reading: &Reading, asked: &'a [Asked<'a>], at: &Path) -> Result<Option<Told<'a>>, Failure> {
    let path = repository::path::within(of);
    if reading.repository.id(&path).is_none() {
        return Ok(None);
    }
    let made = Made::of(reading)?;
    let answers = asked.iter().filter_map(|one| made.answer(one, std::slice::from_ref(&path), false));
    let answers: Vec<_> = answers.collect();
    if answers.is_empty() {
        let nearest = None;
        return Err(Failure::UnknownSubject { at: at.to_owned(), name: of.to_owned(), nearest });
    }
    Ok(Some(Told::Answers(answers)))
}

/// Which components are made of which files.
pub(crate) struct Made {
    /// By cluster and path.
    by_file: BTreeMap<String, BTreeMap<String, BTreeSet<ObjectRef>>>,
}

impl Made {
    /// Every object of a build knows the files that its lines are from.
    pub(crate) fn of(reading: &Reading) -> Result<Self, Failure> {
        let (rendered, _) = read::rendered::render(&reading.repository).map_err(|error| unread(COMMAND, error))?;
        let components: BTreeSet<&ObjectRef> = reading
            .clusters
            .iter()
            .flat_map(|cluster| &cluster.components)
            .map(|component| &component.object)
            .collect();
        let of = |one: &Rendered| (one.name.clone(), read::made::by_file(one, &reading.repository, &components));
        let by_file = rendered.iter().map(of).collect();
        Ok(Self { by_file })
    }

    /// What is made of these files, and those of them that something is made of.
    pub(crate) fn components(&self, cluster: &Cluster, files: &[String]) -> (BTreeSet<ComponentId>, Vec<String>) {
        let mut ids: BTreeSet<ComponentId> = BTreeSet::new();
        let known = self.by_file.get(&cluster.name);
        let mut used: Vec<String> = Vec::new();
        for file in files {
            let objects = known.and_then(|known| known.get(file)).into_iter().flatten();
            let mut found: BTreeSet<ComponentId> = objects.filter_map(|object| cluster.find(object)).collect();
            let values = cluster.facts.bootstrap.values.iter().filter(|(_, paths)| paths.contains(file));
            found.extend(values.map(|(id, _)| *id));
            if found.is_empty() {
                found.extend(nearest_build(cluster, file));
            }
            if !found.is_empty() {
                used.push(file.clone());
            }
            ids.extend(found);
        }
        (ids, used)
    }

    /// What changes, or goes, with these files; nothing where they are no part of the cluster.
    pub(super) fn answer<'a>(
        &self,
        asked: &'a Asked<'a>,
        files: &[String],
        are_removed: bool,
    ) -> Option<draw::impact::Answer<'a>> {
        let cluster = asked.cluster;
        let (ids, used) = self.components(cluster, files);
        if ids.is_empty() {
            return None;
        }
        let losses = [if are_removed { Loss::Pruned } else { Loss::Upgraded }];
        let what = What::Files { files: used, components: ids.iter().copied().collect(), are_removed };
        Some(asked.answer(what, &losses, |impacts| {
            let mut subject = Subject::default();
            for id in &ids {
                // What applies others is not restarted with them; what leaves Git takes all with it.
                let applies_others = cluster.components.iter().any(|component| component.parent == Some(*id));
                if applies_others && !are_removed {
                    subject.components.insert(*id);
                } else {
                    subject.components.extend(impacts.subject(*id).components);
                }
            }
            subject
        }))
    }
}

/// The Kustomization that builds the nearest directory above a file: for what ends up in generated objects.
fn nearest_build(cluster: &Cluster, file: &str) -> Option<ComponentId> {
    let builds = cluster.ids().filter_map(|id| Some((id, cluster.component(id).path.as_deref()?)));
    let above = builds.filter(|(_, path)| !path.is_empty() && repository::path::is_below(file, path));
    above.max_by_key(|(id, path)| (path.len(), std::cmp::Reverse(*id))).map(|(id, _)| id)
}
