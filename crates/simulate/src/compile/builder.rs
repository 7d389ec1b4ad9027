//! Numbers for everything that could exist.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::Catalogue;
use ecow::EcoString;
use model::{GIVEN_NAMESPACES, MadeKind, ObjectRef, Subject};
use read::kinds::{is_custom, is_unreported};
use read::rendered::{ChartOf, Rendered};
use yaml::Node;

use super::Conditions;
use super::charts::Draft;
use crate::blueprint::{
    Blueprint, Custom, Derived, Id, Kustomization, Lists, Millis, Prerequisite, Release, Source, Spread, Thing,
    ThingRole, Workload,
};

pub(crate) const KUSTOMIZE: &str = "kustomize.toolkit.fluxcd.io";
pub(crate) const HELM: &str = "helm.toolkit.fluxcd.io";
pub(crate) const SOURCE: &str = "source.toolkit.fluxcd.io";
pub(crate) const CONTROL_PLANE: &str = "fluxcd.controlplane.io";
/// Things that are no objects of Kubernetes.
const ABSTRACT: &str = "coldstart";
const ABSTRACT_VERSION: &str = "coldstart/v1";

/// Pods of plain manifests whose image nobody knows.
const WORKLOAD_SECONDS: f64 = 15.0;
/// From a controller's first look at a custom resource to its word.
const REPORT_SECONDS: f64 = 2.0;
const CLAIM_SECONDS: f64 = 2.0;

pub(crate) struct Builder<'a> {
    pub(crate) catalogue: &'a Catalogue,
    pub(crate) conditions: &'a Conditions,
    pub(crate) revisions: usize,
    pub(crate) out: Blueprint,
    /// What is written about a thing, where something is.
    pub(crate) nodes: BTreeMap<Id, Node>,
    /// Things that somebody could make.
    pub(crate) provided: BTreeSet<Id>,
    /// Who makes a Secret, a Service and alike for a custom resource.
    pub(crate) made_by: BTreeMap<Id, Id>,
    pub(crate) drafts: Vec<Draft<'a>>,
    /// The draft of a HelmRelease at a revision.
    pub(crate) draft_of: BTreeMap<(Id, usize), usize>,
    pub(crate) definitions: BTreeMap<(EcoString, EcoString), Id>,
    /// Webhooks and the kinds they are asked about.
    pub(crate) covers: Vec<(Id, Vec<String>)>,
    /// What was asked for by capability and name, once all drafts are there.
    pub(crate) gifts: BTreeMap<(EcoString, Option<EcoString>), Option<Id>>,
    /// Releases of the bootstrap, and whether only their definitions are applied.
    pub(crate) early: Vec<(ChartOf, bool)>,
    /// Their steps and drafts.
    pub(crate) early_steps: Vec<(usize, usize)>,
    /// Kinds (`group/Kind` or `group/*`) whose definitions the bootstrap fetches.
    pub(crate) early_kinds: Vec<String>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(catalogue: &'a Catalogue, conditions: &'a Conditions, revisions: usize) -> Self {
        let mut builder = Self {
            catalogue,
            conditions,
            revisions,
            out: Blueprint::default(),
            nodes: BTreeMap::new(),
            provided: BTreeSet::new(),
            made_by: BTreeMap::new(),
            drafts: Vec::new(),
            draft_of: BTreeMap::new(),
            definitions: BTreeMap::new(),
            covers: Vec::new(),
            gifts: BTreeMap::new(),
            early: Vec::new(),
            early_steps: Vec::new(),
            early_kinds: Vec::new(),
        };
        for name in GIVEN_NAMESPACES {
            builder.give_namespace(name);
        }
        builder
    }

    /// A namespace that is there before Flux is.
    pub(crate) fn give_namespace(&mut self, name: &str) {
        let id = self.namespace(name);
        if self.provided.insert(id) {
            self.out.given.push(id);
        }
    }

    pub(crate) fn paced(&self, seconds: f64) -> Millis {
        millis(seconds / self.conditions.pace)
    }

    pub(crate) fn text(&mut self, text: impl Into<String>) -> u32 {
        self.out.texts.push(text.into());
        source::to_u32(self.out.texts.len() - 1)
    }

    pub(crate) fn namespace(&mut self, name: &str) -> Id {
        self.thing("v1", "Namespace", "", name)
    }

    pub(crate) fn find(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Option<Id> {
        self.out.by_name.get(&(group.into(), kind.into(), namespace.into(), name.into())).copied()
    }

    /// The definition of a custom kind.
    pub(crate) fn definition(&mut self, group: &str, kind: &str) -> Id {
        let key = (EcoString::from(group), EcoString::from(kind));
        if let Some(id) = self.definitions.get(&key) {
            return *id;
        }
        let name = format!("{group}/{kind}");
        let id = self.thing("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", &name);
        self.definitions.insert(key, id);
        id
    }

    /// The number of something that only this world knows. Its name is for this crate alone.
    pub(crate) fn own_thing(&mut self, kind: &str, name: &str, stands_for: Subject) -> Id {
        let id = self.thing(ABSTRACT_VERSION, kind, "", name);
        self.out.own_things.insert(id, stands_for);
        id
    }

    /// The number of an object, a new one if need be.
    pub(crate) fn thing(&mut self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Id {
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        let key = (EcoString::from(group), kind.into(), namespace.into(), name.into());
        if let Some(id) = self.out.by_name.get(&key) {
            return *id;
        }
        let id = Id(source::to_u32(self.out.things.len()));
        self.out.by_name.insert(key, id);
        self.out.things.push(Thing {
            api_version: api_version.into(),
            kind: kind.into(),
            namespace: namespace.into(),
            name: name.into(),
            role: ThingRole::Plain,
            definition: None,
            home: None,
            webhooks: Vec::new(),
            is_expected: false,
        });
        self.out.things[id.index()].role = self.role(id, group, kind);
        let is_served = !is_custom(group) || group == ABSTRACT;
        self.out.things[id.index()].definition = (!is_served).then(|| self.definition(group, kind));
        self.out.things[id.index()].home =
            (!namespace.is_empty() && kind != "Namespace").then(|| self.namespace(namespace));
        id
    }

    fn role(&mut self, id: Id, group: &str, kind: &str) -> ThingRole {
        match (group, kind) {
            ("apiextensions.k8s.io", "CustomResourceDefinition") => ThingRole::Definition,
            (KUSTOMIZE, "Kustomization") | (CONTROL_PLANE, "ResourceSet") => {
                let specs = vec![None; self.revisions];
                let contents = vec![crate::blueprint::Content::default(); self.revisions];
                ThingRole::Kustomization(push(&mut self.out.kustomizations, Kustomization { id, specs, contents }))
            }
            (HELM, "HelmRelease") => {
                let specs = vec![None; self.revisions];
                ThingRole::Release(push(&mut self.out.releases, Release { id, specs }))
            }
            (SOURCE, _) | ("source.extensions.fluxcd.io", "ExternalArtifact") => {
                let is_git = kind == "GitRepository";
                ThingRole::Source(push(&mut self.out.sources, Source { id, is_git, retry: 60_000 }))
            }
            ("apps", "Deployment" | "StatefulSet" | "DaemonSet") | ("batch", "Job") | ("", "Pod") => {
                let workload = Workload {
                    id,
                    needs: Vec::new(),
                    crashes_without: Vec::new(),
                    startup: self.paced(WORKLOAD_SECONDS),
                    spread: if kind == "DaemonSet" { Spread::Every } else { Spread::One },
                    has_deadline: kind == "Deployment",
                    has_volume: false,
                };
                ThingRole::Workload(push(&mut self.out.workloads, workload))
            }
            ("", "PersistentVolumeClaim") => self.derived(id, CLAIM_SECONDS),
            ("storage.k8s.io", "StorageClass") | (ABSTRACT, _) => self.derived(id, 0.0),
            (CONTROL_PLANE, "FluxInstance") => self.custom(id, kind),
            _ if !is_custom(group) => ThingRole::Plain,
            _ => self.custom(id, kind),
        }
    }

    fn derived(&mut self, id: Id, seconds: f64) -> ThingRole {
        let takes = self.paced(seconds);
        ThingRole::Derived(push(&mut self.out.derived, Derived { id, any: Vec::new(), takes, makes: Vec::new() }))
    }

    fn custom(&mut self, id: Id, kind: &str) -> ThingRole {
        let custom = Custom {
            id,
            controller: Vec::new(),
            needs: Vec::new(),
            makes: Vec::new(),
            takes: self.paced(REPORT_SECONDS),
            is_silent: is_unreported(kind),
            is_sealed: kind == "SealedSecret",
        };
        ThingRole::Custom(push(&mut self.out.customs, custom))
    }

    /// An object as a file has it.
    pub(crate) fn intern(&mut self, reference: &ObjectRef, node: &Node) -> Id {
        let api_version = node.text_at(&["apiVersion"]).unwrap_or("v1");
        let id = if reference.kind == "CustomResourceDefinition" {
            let group = node.text_at(&["spec", "group"]).unwrap_or_default();
            let kind = node.text_at(&["spec", "names", "kind"]).unwrap_or_default();
            self.definition(group, kind)
        } else {
            self.thing(api_version, &reference.kind, &reference.namespace, &reference.name)
        };
        self.nodes.insert(id, node.clone());
        self.provided.insert(id);
        id
    }

    /// Everything that the appliers of a revision could apply.
    pub(crate) fn intern_all(&mut self, rendered: &Rendered) {
        for applier in &rendered.appliers {
            let group = if applier.object.kind == "ResourceSet" { CONTROL_PLANE } else { KUSTOMIZE };
            let api_version = format!("{group}/v1");
            let id = self.thing(&api_version, &applier.object.kind, &applier.object.namespace, &applier.object.name);
            self.provided.insert(id);
            for (reference, node) in &applier.objects {
                let id = self.intern(reference, node);
                self.artifacts(id, node, &reference.namespace);
            }
        }
    }

    /// The ExternalArtifacts that an ArtifactGenerator makes.
    fn artifacts(&mut self, id: Id, node: &Node, namespace: &str) {
        if self.out.thing(id).kind != "ArtifactGenerator" {
            return;
        }
        let made: Vec<Id> = read::artifact::artifacts(node)
            .iter()
            .map(|artifact| self.thing("source.extensions.fluxcd.io/v1", "ExternalArtifact", namespace, &artifact.name))
            .collect();
        let of = format!("{namespace}/{}", self.out.thing(id).name);
        self.maker(MadeKind::Artifacts, &of, &[Prerequisite::exists(id)], made, 1.0);
    }

    /// Something that makes objects once its needs are met.
    pub(crate) fn maker(
        &mut self,
        what: MadeKind,
        of: &str,
        needs: &[Prerequisite],
        makes: Vec<Id>,
        seconds: f64,
    ) -> Id {
        let id = self.own_thing("Maker", &format!("{what:?} {of}"), Subject::Made { what, of: of.into() });
        self.provided.extend(makes.iter().copied());
        let takes = self.paced(seconds);
        if let Some(derived) = self.derived_mut(id) {
            derived.any = vec![needs.to_vec()];
            derived.makes = makes;
            derived.takes = takes;
        }
        self.out.given.push(id);
        id
    }

    pub(crate) fn derived_mut(&mut self, id: Id) -> Option<&mut Derived> {
        match self.out.role(id) {
            ThingRole::Derived(at) => self.out.derived.get_mut(at as usize),
            _ => None,
        }
    }

    pub(crate) fn custom_mut(&mut self, id: Id) -> Option<&mut Custom> {
        match self.out.role(id) {
            ThingRole::Custom(at) => self.out.customs.get_mut(at as usize),
            _ => None,
        }
    }

    pub(crate) fn workload_mut(&mut self, id: Id) -> Option<&mut Workload> {
        match self.out.role(id) {
            ThingRole::Workload(at) => self.out.workloads.get_mut(at as usize),
            _ => None,
        }
    }

    /// The delay that is told for `namespace/name`.
    pub(crate) fn told_delay(&self, id: Id) -> Option<Millis> {
        let seconds = self.conditions.delays.get(&self.out.thing(id).object().path())?;
        Some(self.paced(*seconds))
    }

    pub(crate) fn finish(mut self, revisions: &[Rendered]) -> Blueprint {
        self.assume(revisions);
        self.expect(revisions);
        let mut watchers: Vec<Vec<Id>> = vec![Vec::new(); self.out.things.len()];
        self.watch(&mut watchers);
        for list in &mut watchers {
            list.sort_unstable();
            list.dedup();
        }
        self.out.watchers = Lists::new(&watchers);
        self.note_makers();
        self.out.sort_by_path();
        self.out.given.sort_unstable();
        self.out.given.dedup();
        self.out.is_steady = self.conditions.is_steady;
        self.out.pace = self.conditions.pace;
        self.out.runs_bootstrap = self.conditions.runs_bootstrap;
        self.out.has_sealing_key &= !self.conditions.sealing_key_is_lost;
        self.out
    }

    /// Who makes what, at the last revision.
    fn note_makers(&mut self) {
        let mut made_by: Vec<Option<Id>> = vec![None; self.out.things.len()];
        let mut add = |all: &[Id], by: Id| {
            for id in all {
                made_by[id.index()].get_or_insert(by);
            }
        };
        for it in &self.out.kustomizations {
            let Some(content) = it.contents.last() else { continue };
            for list in [&content.first, &content.classes, &content.rest] {
                add(list, it.id);
            }
        }
        for it in &self.out.releases {
            let Some(spec) = it.specs.last().and_then(Option::as_ref) else { continue };
            let chart = &spec.chart;
            for list in [&chart.definitions, &chart.objects, &chart.if_known] {
                add(list, it.id);
            }
            add(chart.makes_namespace.as_slice(), it.id);
        }
        for it in &self.out.customs {
            add(&it.makes, it.id);
        }
        for it in &self.out.derived {
            let first = it.any.first().and_then(|needs| needs.first());
            if let Some(need) = first {
                add(&it.makes, need.id);
            }
        }
        self.out.made_by = made_by;
    }

    /// Who looks again when a thing changes.
    fn watch(&self, watchers: &mut [Vec<Id>]) {
        let mut add =
            |needs: &[Prerequisite], who: Id| needs.iter().for_each(|need| watchers[need.id.index()].push(who));
        for workload in &self.out.workloads {
            add(&workload.needs, workload.id);
            add(&workload.crashes_without, workload.id);
        }
        for custom in &self.out.customs {
            add(&custom.controller, custom.id);
            add(&custom.needs, custom.id);
            let made: Vec<Prerequisite> = custom.makes.iter().map(|id| Prerequisite::ready(*id)).collect();
            add(&made, custom.id);
        }
        for derived in &self.out.derived {
            derived.any.iter().for_each(|needs| add(needs, derived.id));
        }
        let mut watch = |on: Id, who: Id| watchers[on.index()].push(who);
        for kustomization in &self.out.kustomizations {
            for spec in kustomization.specs.iter().flatten() {
                spec.depends_on.iter().for_each(|dependency| watch(dependency.on, kustomization.id));
                spec.source.iter().for_each(|source| watch(*source, kustomization.id));
            }
            for content in &kustomization.contents {
                content.health.iter().for_each(|(id, _)| watch(*id, kustomization.id));
            }
        }
        for release in &self.out.releases {
            for spec in release.specs.iter().flatten() {
                spec.depends_on.iter().for_each(|dependency| watch(dependency.on, release.id));
                spec.source.iter().for_each(|source| watch(*source, release.id));
                spec.chart.waits_for.iter().for_each(|id| watch(*id, release.id));
            }
        }
    }
}

pub(crate) fn push<T>(list: &mut Vec<T>, item: T) -> u32 {
    list.push(item);
    source::to_u32(list.len() - 1)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
pub(crate) fn millis(seconds: f64) -> Millis {
    (seconds * 1000.0).round() as Millis
}
