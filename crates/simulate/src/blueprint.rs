//! A repository in the form that boots run over: every object that could ever exist has a number, and whoever waits for it
//! is listed beside it. Made once, never changed, shared by all boots.
//!
//! Knows no time and no state.

use std::collections::BTreeMap;

use ecow::EcoString;
use model::{ObjectRef, Subject};

use crate::steps::Steps;

/// Time in a simulated world, in milliseconds.
pub type Millis = u64;

/// One of the things of a blueprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub(crate) u32);

impl Id {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An object that could exist, or something that is no object and can be waited for all the same.
#[derive(Clone, Debug)]
pub struct Thing {
    /// `group/version`, or `v1`.
    pub api_version: EcoString,
    pub kind: EcoString,
    pub namespace: EcoString,
    pub name: EcoString,
    pub(crate) role: ThingRole,
    /// The definition of its kind, where Kubernetes does not have it by itself.
    pub(crate) definition: Option<Id>,
    /// The Namespace it lives in, where somebody makes that.
    pub(crate) home: Option<Id>,
    /// Admission webhooks that are asked about it.
    pub(crate) webhooks: Vec<Id>,
    /// A boot has not converged before it is ready.
    pub(crate) is_expected: bool,
}

impl Thing {
    pub fn object(&self) -> ObjectRef {
        ObjectRef::new(self.kind.clone(), self.namespace.clone(), self.name.clone())
    }

    fn path(&self) -> (&str, &str, &str) {
        (&self.kind, &self.namespace, &self.name)
    }

    /// Its API group; empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

/// What a thing does when it is there; the number leads into the list of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThingRole {
    /// It is there, and that is all.
    Plain,
    Definition,
    Kustomization(u32),
    Release(u32),
    Source(u32),
    Workload(u32),
    Custom(u32),
    /// A claim, a class or something abstract: ready when what it needs is there.
    Derived(u32),
    Webhook(u32),
}

/// What must be of another thing first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prerequisite {
    pub(crate) id: Id,
    /// It must be ready; else it is enough that it exists.
    pub(crate) ready: bool,
}

impl Prerequisite {
    pub(crate) fn exists(id: Id) -> Self {
        Self { id, ready: false }
    }

    pub(crate) fn ready(id: Id) -> Self {
        Self { id, ready: true }
    }
}

/// A Kustomization, or a ResourceSet.
#[derive(Clone, Debug)]
pub(crate) struct Kustomization {
    pub(crate) id: Id,
    /// Its own object by revision of the repository.
    pub(crate) specs: Vec<Option<KustomizationSpec>>,
    /// What it builds by revision of the repository.
    pub(crate) contents: Vec<Content>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KustomizationSpec {
    pub(crate) suspended: bool,
    pub(crate) depends_on: Vec<Dependency>,
    pub(crate) source: Option<Id>,
    pub(crate) interval: Millis,
    pub(crate) retry: Millis,
    pub(crate) timeout: Millis,
    pub(crate) gate: Gate,
    /// Dependencies are looked at this often.
    pub(crate) requeue: Millis,
    /// The object as it is written: another text is another generation.
    pub(crate) text: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dependency {
    pub(crate) on: Id,
    /// Nobody makes it.
    pub(crate) is_unknown: bool,
    pub(crate) only_exists: bool,
    pub(crate) same_source: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    Applied,
    All,
    Listed(Vec<Id>),
}

/// What a Kustomization applies, in the stages that it applies them in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    /// Definitions, Namespaces, ClusterRoles.
    pub(crate) first: Vec<Id>,
    pub(crate) classes: Vec<Id>,
    pub(crate) rest: Vec<Id>,
    /// What its gate looks at, each with whether an expression asks for its status.
    pub(crate) health: Vec<(Id, bool)>,
    pub(crate) broken: Option<u32>,
    pub(crate) variables: Variables,
}

/// Where its variables come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Variables {
    /// ConfigMaps and Secrets, each with whether it may be missing.
    pub(crate) from: Vec<(Id, bool)>,
    /// Some are written into the Kustomization itself, or it always substitutes.
    pub(crate) has_own: bool,
    /// Variables without a default (a text), and the bits of `from` that set them; all ones for those set in the
    /// Kustomization.
    pub(crate) used: Vec<(u32, u64)>,
    /// The key to decrypt with.
    pub(crate) key: Option<Id>,
}

#[derive(Clone, Debug)]
pub(crate) struct Release {
    pub(crate) id: Id,
    pub(crate) specs: Vec<Option<ReleaseSpec>>,
}

#[derive(Clone, Debug)]
pub(crate) struct ReleaseSpec {
    pub(crate) suspended: bool,
    pub(crate) depends_on: Vec<Dependency>,
    pub(crate) source: Option<Id>,
    /// Each with whether it may be missing.
    pub(crate) values_from: Vec<(Id, bool)>,
    pub(crate) install: Action,
    pub(crate) upgrade: Action,
    pub(crate) waits: bool,
    pub(crate) chart: Chart,
    pub(crate) requeue: Millis,
    pub(crate) text: u64,
}

/// Install or upgrade: how long it waits and what follows a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) timeout: Millis,
    pub(crate) on_failure: OnFailure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// Undo and try at once, so often; less than nothing means for ever.
    Remediate {
        retries: i64,
    },
    RetryAfter(Millis),
}

/// What a chart makes under the values of one release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Chart {
    /// From its `crds/` directory.
    pub(crate) definitions: Vec<Id>,
    pub(crate) objects: Vec<Id>,
    /// Rendered only where the cluster knows the kind.
    pub(crate) if_known: Vec<Id>,
    /// What Helm waits for.
    pub(crate) waits_for: Vec<Id>,
    pub(crate) makes_namespace: Option<Id>,
    pub(crate) namespace: Option<Id>,
}

#[derive(Clone, Debug)]
pub(crate) struct Workload {
    pub(crate) id: Id,
    /// Its pods are not started without.
    pub(crate) needs: Vec<Prerequisite>,
    /// Its pods crash without.
    pub(crate) crashes_without: Vec<Prerequisite>,
    pub(crate) startup: Millis,
    pub(crate) spread: Spread,
    /// kstatus gives it up after its progress deadline.
    pub(crate) has_deadline: bool,
    pub(crate) has_volume: bool,
}

/// On how many nodes pods run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spread {
    One,
    /// A DaemonSet.
    Every,
    /// The pod network's own DaemonSet: where it does not run, pods have no network.
    Agent,
}

impl Workload {
    pub(crate) fn is_daemon(&self) -> bool {
        self.spread != Spread::One
    }

    pub(crate) fn is_agent(&self) -> bool {
        self.spread == Spread::Agent
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Custom {
    pub(crate) id: Id,
    /// Who looks after it.
    pub(crate) controller: Vec<Prerequisite>,
    pub(crate) needs: Vec<Prerequisite>,
    pub(crate) makes: Vec<Id>,
    /// From the controller's first look to its word.
    pub(crate) takes: Millis,
    /// It has no condition that kstatus knows.
    pub(crate) is_silent: bool,
    pub(crate) is_sealed: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Derived {
    pub(crate) id: Id,
    /// Any of these lists, all of it.
    pub(crate) any: Vec<Vec<Prerequisite>>,
    pub(crate) takes: Millis,
    /// What comes to exist with it.
    pub(crate) makes: Vec<Id>,
}

#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) id: Id,
    pub(crate) is_git: bool,
    pub(crate) retry: Millis,
}

#[derive(Clone, Debug)]
pub(crate) struct Webhook {
    /// A text: the release that brings it.
    pub(crate) owner: u32,
    /// Who answers.
    pub(crate) servers: Vec<Id>,
    /// Namespaces that it is not asked about.
    pub(crate) exempt: Vec<EcoString>,
}

/// A release that is installed before Flux starts.
#[derive(Clone, Debug)]
pub(crate) struct EarlyRelease {
    /// A text: `namespace/name`.
    pub(crate) name: u32,
    pub(crate) chart: Chart,
    pub(crate) needs: Vec<usize>,
    pub(crate) waits: bool,
    pub(crate) timeout: Millis,
    /// Flux comes with it.
    pub(crate) is_flux: bool,
}

/// Stands for machines that are nodes.
pub(crate) const NODES: &str = "Nodes";

/// Lists of lists in one piece.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    starts: Vec<u32>,
    items: Vec<Id>,
}

impl Lists {
    pub(crate) fn new(lists: &[Vec<Id>]) -> Self {
        let mut all = Self { starts: vec![0], items: Vec::new() };
        for list in lists {
            all.items.extend_from_slice(list);
            all.starts.push(source::to_u32(all.items.len()));
        }
        all
    }

    pub(crate) fn of(&self, id: Id) -> &[Id] {
        &self.items[self.starts[id.index()] as usize..self.starts[id.index() + 1] as usize]
    }
}

/// A repository, ready to be booted.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Blueprint {
    pub(crate) things: Vec<Thing>,
    /// All things by kind, namespace and name, then by number.
    pub(crate) by_path: Vec<Id>,
    pub(crate) by_name: BTreeMap<(EcoString, EcoString, EcoString, EcoString), Id>,
    pub(crate) kustomizations: Vec<Kustomization>,
    pub(crate) releases: Vec<Release>,
    pub(crate) workloads: Vec<Workload>,
    pub(crate) customs: Vec<Custom>,
    pub(crate) derived: Vec<Derived>,
    pub(crate) sources: Vec<Source>,
    pub(crate) webhooks: Vec<Webhook>,
    /// Who looks again when a thing comes to exist, or becomes ready or stops being so.
    pub(crate) watchers: Lists,
    /// There before anything is done.
    pub(crate) given: Vec<Id>,
    /// What a bootstrap applies as it is, in this order.
    pub(crate) seeded: Vec<Id>,
    /// Of these, what can only be applied after a release of the bootstrap.
    pub(crate) seeded_after: BTreeMap<Id, u32>,
    pub(crate) early: Vec<EarlyRelease>,
    /// What is done before Flux, where files tell; else whoever boots follows the book.
    pub(crate) steps: Steps,
    /// What whoever starts Flux applies.
    pub(crate) flux: Vec<Id>,
    /// By revision: `dependsOn` of its Kustomizations goes round in a circle.
    pub(crate) is_circular: Vec<bool>,
    pub(crate) texts: Vec<String>,
    /// What only this world knows, and what it stands for.
    pub(crate) own_things: BTreeMap<Id, Subject>,
    /// A sealing key was kept, and is restored before the controller starts.
    pub(crate) has_sealing_key: bool,
    /// Secrets among what a bootstrap applies that are such a key.
    pub(crate) sealing_keys: Vec<Id>,
    /// Kinds that nobody in the repository brings: they are taken to be there.
    pub assumed: Vec<String>,
    pub(crate) expected: usize,
    /// Who makes a thing: a Kustomization, a release, a custom resource.
    pub(crate) made_by: Vec<Option<Id>>,
    /// Nothing varies from seed to seed.
    pub(crate) is_steady: bool,
    /// By how much the pauses of operators are shortened.
    pub(crate) pace: f64,
    /// The machines that are switched on first, and what stands for nodes that have joined.
    pub(crate) machines: Option<(crate::compile::Machines, Id)>,
    /// What stands for the pod network, where pods wait for it.
    pub(crate) network: Option<Id>,
    /// The bootstrap takes its time; else all of it is there at once.
    pub(crate) runs_bootstrap: bool,
    /// The version of Flux is not known, and taken to be one that puts an empty text where a variable is not set.
    pub assumes_lenient: bool,
}

impl Blueprint {
    pub fn thing(&self, id: Id) -> &Thing {
        &self.things[id.index()]
    }

    pub(crate) fn role(&self, id: Id) -> ThingRole {
        self.things[id.index()].role
    }

    pub(crate) fn text(&self, text: u32) -> &str {
        self.texts.get(text as usize).map_or("", String::as_str)
    }

    /// Namespace and name of the release that brings a webhook.
    pub(crate) fn webhook_owner(&self, id: Id) -> &str {
        match self.role(id) {
            ThingRole::Webhook(at) => self.text(self.webhooks[at as usize].owner),
            _ => "",
        }
    }

    /// The first thing of this kind, namespace and name, whatever its group.
    pub fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<Id> {
        let wanted = (kind, namespace, name);
        if self.by_path.len() != self.things.len() {
            // Not all of it is known yet.
            return (0..).map(Id).take(self.things.len()).find(|id| self.thing(*id).path() == wanted);
        }
        let first = self.by_path.partition_point(|id| self.thing(*id).path() < wanted);
        self.by_path.get(first).copied().filter(|id| self.thing(*id).path() == wanted)
    }

    pub(crate) fn sort_by_path(&mut self) {
        let mut all: Vec<Id> = (0..).map(Id).take(self.things.len()).collect();
        all.sort_by_key(|id| (self.thing(*id).path(), *id));
        self.by_path = all;
    }

    /// Every Kustomization, ResourceSet and HelmRelease.
    pub fn flux_objects(&self) -> impl Iterator<Item = Id> {
        self.kustomizations.iter().map(|it| it.id).chain(self.releases.iter().map(|it| it.id))
    }

    /// Whom a report may name when it speaks of a thing, the nearest first: itself, who makes it, the releases it makes.
    pub fn near(&self, id: Id) -> Vec<ObjectRef> {
        let mut all = vec![id];
        all.extend(self.made_by[id.index()]);
        if let ThingRole::Kustomization(at) = self.role(id) {
            let content = self.kustomizations[at as usize].contents.last();
            let made = content.map(|content| content.rest.as_slice()).unwrap_or_default();
            all.extend(made.iter().filter(|made| matches!(self.role(**made), ThingRole::Release(_))));
        }
        all.into_iter().map(|id| self.thing(id).object()).collect()
    }

    /// Takes these things to be there from the start, and tells so.
    pub(crate) fn assume<'t>(&mut self, things: impl Iterator<Item = &'t Thing>) {
        for it in things {
            let key = (it.group().into(), it.kind.clone(), it.namespace.clone(), it.name.clone());
            let Some(id) = self.by_name.get(&key).copied() else { continue };
            let is_wide = matches!(it.kind.as_str(), "CustomResourceDefinition" | "Namespace" | "StorageClass");
            self.assumed.push(if is_wide { format!("{} {}", it.kind, it.name) } else { it.object().to_string() });
            self.given.push(id);
        }
        self.given.sort_unstable();
        self.given.dedup();
        self.assumed.sort_unstable();
    }

    /// How many Kustomizations, ResourceSets and HelmReleases there are.
    pub fn components(&self) -> usize {
        self.kustomizations.len() + self.releases.len()
    }
}
