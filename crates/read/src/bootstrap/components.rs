//! The bootstrap of a cluster as components of its first stage, with what they offer and need and the order they come in.
//!
//! Whether each is proved healthy there is the bootstrap's own affair: for the cluster that Flux builds, all of it is simply there.

use std::collections::BTreeSet;

use catalogue::{Catalogue, any_holds};
use model::{
    Arrival, Behaviour, BlindSpot, BootstrapFiles, BootstrapStep, BrokenBuild, BuildFault, Capability, CapabilityKind,
    Chart, Component, ComponentId, Gate, ObjectRef, Patience, Retry, Role, Stage, Tie, TieTarget, Unseen, WaitsFor,
    WhyUnseen,
};
use source::Span;
use yaml::Node;

use super::of_cluster::{AppliedObject, ClusterBootstrap};
use super::{SeededPath, SeededPathKind};
use crate::content::Collector;
use crate::helmfile::{self, Release, ReleaseIndex};
use crate::object::Object;
use crate::repository::Repository;
use crate::scripts::{CreatedKind, MissingFile};

/// How long helm waits unless it is told otherwise.
pub const HELM_TIMEOUT_SECONDS: u64 = 300;
/// How long what a release installs takes to start where the catalogue does not know it.
const UNKNOWN_STARTUP_SECONDS: u64 = 60;

impl ClusterBootstrap<'_> {
    /// Adds the bootstrap's components and their offers to a cluster.
    pub(crate) fn offer(&self, repository: &Repository, catalogue: &Catalogue, collector: &mut Collector) {
        self.note_unseen(repository, collector);
        collector.cluster().facts.boot = self.boot.clone();
        let ids: Vec<ComponentId> =
            self.releases.iter().map(|release| offer_release(catalogue, collector, release)).collect();
        collector.cluster().facts.bootstrap = self.files_of(&ids);
        self.order(collector, &ids);
        for (release, id) in self.releases.iter().zip(&ids) {
            note_missing(collector, *id, release.absent.iter());
        }
        for (release, id) in self.releases.iter().zip(&ids).filter(|(release, _)| !release.only_crds) {
            note_chart(repository, collector, release, *id);
        }
        let called = |release: &Release| !release.only_crds && !release.by_script;
        for (release, id) in self.releases.iter().zip(&ids).filter(|(release, _)| called(release)) {
            let own = collector.cluster().component(*id).object.clone();
            let known = catalogue.by_chart(&release.chart_name);
            if let Some(known) = known {
                crate::content::need_known_capabilities(collector, *id, known, &own, release.span);
            }
            crate::content::need_foundation(collector, *id, known, &own, release.span);
        }
        self.offer_sealing_key(repository, collector);
        self.offer_resources_after_releases(collector, &ids);
        self.offer_resources(collector, &ids);
    }

    fn note_unseen(&self, repository: &Repository, collector: &mut Collector) {
        if let Some(program) = self.programs.first() {
            let at = repository.id(program).map_or(Span::GENERATED, |file| Span::new(file, 0, 0));
            let (what, why) = (Unseen::Named((*program).to_owned()), WhyUnseen::Program);
            collector.cluster().blind.push(BlindSpot { what, why, at, component: None });
            collector.cluster().facts.unread_bootstrap = Some((*program).into());
        }
        for unclear in &self.unclear_crds {
            let (what, why) = (Unseen::CrdsOfScript { script: unclear.script.clone() }, WhyUnseen::ChartsOfScript);
            collector.cluster().blind.push(BlindSpot { what, why, at: unclear.at, component: None });
            collector.cluster().facts.unclear_crds = Some(unclear.script.as_str().into());
        }
        collector.cluster().blind.extend(self.blind.iter().copied().cloned());
    }

    /// The files that it is made of, given the components of its releases.
    fn files_of(&self, ids: &[ComponentId]) -> BootstrapFiles {
        let paths = |kind: SeededPathKind| {
            let is_it = move |it: &&&SeededPath| it.kind == kind;
            self.paths.iter().filter(is_it).map(|it| it.path.clone()).collect()
        };
        BootstrapFiles {
            files: paths(SeededPathKind::File),
            directories: paths(SeededPathKind::Directory),
            namespaces: self.paths.iter().filter_map(|it| Some((it.path.clone(), it.namespace.clone()?))).collect(),
            values: ids.iter().zip(&self.releases).map(|(id, release)| (*id, release.values_files.clone())).collect(),
        }
    }

    fn offer_sealing_key(&self, repository: &Repository, collector: &mut Collector) {
        let is_sealed =
            collector.assembled.objects.iter().any(|built| Object::new(&built.node).kind() == "SealedSecret");
        let Some(at) = is_sealed.then(|| self.all.sealing_key(repository)).flatten() else { return };
        let step = BootstrapStep::SealingKey;
        let object = step.object("", "");
        let own = ObjectRef::new("Secret", "", object.name.clone());
        let by = add(collector, step, object, at, 0);
        collector.offer(by, Capability::cluster(CapabilityKind::SealingKey, ""), Arrival::Applied, &own, at);
    }

    /// What is applied as it is after the release that brings its kind, or whose hook applies it.
    fn offer_resources_after_releases(&self, collector: &mut Collector, ids: &[ComponentId]) {
        for (index, release) in self.releases.iter().enumerate().filter(|(_, release)| !release.only_crds) {
            let is_own = |object: &&AppliedObject<'_>| object.after == Some(ReleaseIndex(index));
            let own: Vec<&Node> = self.objects.iter().filter(is_own).map(|object| object.node).collect();
            let Some(first) = own.first() else { continue };
            let step = BootstrapStep::ResourcesAfter(ids[index]);
            let object = step.object(release.namespace.clone(), release.name.clone());
            let by = add(collector, step, object, first.span, 0);
            let to = TieTarget::Component(ids[index]);
            collector.cluster().ties.push(Tie { from: by, to, at: first.span, waits_for: WaitsFor::Done });
            for node in own {
                offer_object(collector, by, node);
            }
        }
    }

    /// What is applied as it is before anything is installed.
    fn offer_resources(&self, collector: &mut Collector, ids: &[ComponentId]) {
        let is_late = |after: ReleaseIndex| !self.releases[after.0].only_crds;
        let early: Vec<&AppliedObject<'_>> =
            self.objects.iter().filter(|object| !object.after.is_some_and(is_late)).collect();
        if early.is_empty() && self.named.is_empty() && self.crds.is_empty() && self.missing.is_empty() {
            return;
        }
        let step = BootstrapStep::Resources;
        let by = add(collector, step, step.object("", ""), Span::GENERATED, 0);
        note_missing(collector, by, self.missing.iter().copied());
        for AppliedObject { node, after } in early {
            if let Some(release) = after {
                let to = TieTarget::Component(ids[release.0]);
                collector.cluster().ties.push(Tie { from: by, to, at: node.span, waits_for: WaitsFor::Done });
            }
            offer_object(collector, by, node);
        }
        for crd in &self.crds {
            let own = ObjectRef::new("CustomResourceDefinition", "", crd.kind.as_str());
            let capability = Capability::cluster(CapabilityKind::Crd, crd.kind.as_str());
            collector.offer(by, capability, Arrival::Applied, &own, crd.at);
        }
        for named in &self.named {
            let own = ObjectRef::new(named.kind.as_str(), named.namespace.as_str(), named.name.as_str());
            let kind = match named.kind {
                CreatedKind::Namespace => CapabilityKind::Namespace,
                CreatedKind::Secret => CapabilityKind::Secret,
                CreatedKind::ConfigMap => CapabilityKind::ConfigMap,
            };
            let capability = Capability::new(kind, own.namespace.clone(), own.name.clone());
            collector.offer(by, capability, Arrival::Applied, &own, named.at);
        }
    }

    /// Helmfile refuses a file in which a need names nothing, and what is meant is a release that stands before: until then
    /// all of these count, but for those that wait for the release itself.
    fn is_meant(&self, release: &Release, other: &Release) -> bool {
        let is_before = other.span.file == release.span.file && other.span.start < release.span.start;
        !release.undefined_needs.is_empty() && is_before && !self.waits_for(other, release)
    }

    fn waits_for(&self, release: &Release, wanted: &Release) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = vec![release];
        while let Some(at) = next.pop() {
            let needs = at.needs.iter().filter_map(|(name, _)| self.needed(at, name));
            next.extend(needs.filter(|index| seen.insert(*index)).map(|index| self.releases[index.0]));
            if at.span == wanted.span {
                return true;
            }
        }
        false
    }

    fn needed(&self, of: &Release, name: &str) -> Option<ReleaseIndex> {
        helmfile::needed(self.releases.iter().copied(), of, name)
    }

    /// `needs`, and the order of the helmfiles themselves: one begins when the one before it has ended.
    fn order(&self, collector: &mut Collector, ids: &[ComponentId]) {
        let all = || self.releases.iter().copied().zip(ids.iter().copied());
        let releases = || all().filter(|(release, _)| !release.only_crds);
        let tie = |from, to, at| Tie { from, to, at, waits_for: WaitsFor::Done };
        let mut ties = Vec::new();
        for (release, from) in all() {
            let undefined = release.undefined_needs.iter();
            ties.extend(undefined.map(|(missing, at)| tie(from, TieTarget::Unknown(missing.clone()), *at)));
        }
        for (release, from) in releases() {
            for (name, at) in &release.needs {
                let needed = self.needed(release, name);
                ties.extend(needed.map(|index| tie(from, TieTarget::Component(ids[index.0]), *at)));
            }
            // Where a script installs what a release of Terraform depends on, they are two ways to begin, or the script is called by it.
            let is_circular = |other: &Release| other.by_terraform && self.waits_for(other, release);
            let runs_before =
                |other: &Release| self.all.run_of(other) < self.all.run_of(release) && !is_circular(other);
            let earlier = releases().filter(|(other, _)| runs_before(other) || self.is_meant(release, other));
            ties.extend(earlier.map(|(_, to)| tie(from, TieTarget::Component(to), release.span)));
        }
        collector.cluster().ties.extend(ties);
    }
}

fn offer_release(catalogue: &Catalogue, collector: &mut Collector, release: &Release) -> ComponentId {
    let own = release.object();
    let known = catalogue.by_chart(&release.chart_name);
    let startup = known.map_or(UNKNOWN_STARTUP_SECONDS, |known| u64::from(known.startup_seconds));
    let by = add(collector, release.step(), own.clone(), release.span, startup);
    let component = &mut collector.cluster().components[by.index()];
    component.patience.timeout_seconds = release.timeout_seconds.unwrap_or(HELM_TIMEOUT_SECONDS);
    if release.wait != Some(true) || release.only_crds {
        component.gate = Gate::Applied;
    }
    let Some(known) = known else { return by };
    let offer_crds = |collector: &mut Collector, crds: &catalogue::Crds, arrival: Arrival| {
        for kind in &crds.kinds {
            let capability = Capability::cluster(CapabilityKind::Crd, kind.as_str());
            collector.offer(by, capability, arrival, &own, release.span);
        }
    };
    if release.only_crds {
        // `helm template --include-crds`: whatever the values say about installing them later, they are applied now.
        for crds in &known.crds {
            offer_crds(collector, crds, Arrival::Applied);
        }
        return by;
    }
    collector.cluster().components[by.index()].known_as = Some(known.name.as_str().into());
    crate::content::offer_known(collector, by, known, None, &own, release.span, false);
    crate::content::offer_controllers(collector, by, known, &own, release.span);
    for crds in known.crds.iter().filter(|crds| !any_holds(&crds.when, None)) {
        // Values of a bootstrap release are usually shared with the release that Flux adopts, and switch CRDs on.
        offer_crds(collector, crds, Arrival::Installed);
    }
    by
}

/// Notes which chart a release installs, in which version and with which values.
fn note_chart(repository: &Repository, collector: &mut Collector, release: &Release, of: ComponentId) {
    let values = release.visible_values(repository);
    let has_values = !release.values_files.is_empty() || !release.inline_values.is_empty();
    crate::content::note_chart(
        collector,
        Chart {
            of,
            name: release.chart_name.clone(),
            release: (release.name.clone(), release.namespace.clone()),
            version: release.version.clone().zip(release.version_at),
            hides_values: values.is_none() && has_values,
            values,
        },
    );
}

fn note_missing<'m>(collector: &mut Collector, component: ComponentId, missing: impl Iterator<Item = &'m MissingFile>) {
    let broken = missing.map(|file| BrokenBuild {
        component,
        fault: BuildFault::NoFile { path: file.path.clone(), used_as: file.used_as, meant: file.meant.clone() },
        at: file.at,
    });
    collector.cluster().broken.extend(broken);
}

fn offer_object(collector: &mut Collector, by: ComponentId, node: &Node) {
    let object = Object::new(node);
    let own = object.reference("");
    let mut offer = |capability| collector.offer(by, capability, Arrival::Applied, &own, object.name_span());
    let kind = match (object.group(), object.kind()) {
        ("", "Namespace") => CapabilityKind::Namespace,
        ("", "Secret") => {
            if crate::content::is_sealing_key(node) {
                offer(Capability::cluster(CapabilityKind::SealingKey, ""));
            }
            CapabilityKind::Secret
        }
        ("", "ConfigMap") => CapabilityKind::ConfigMap,
        (_, "ClusterSecretStore" | "SecretStore") => CapabilityKind::SecretStore,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            let group = node.text_at(&["spec", "group"]).unwrap_or_default();
            let kind = node.text_at(&["spec", "names", "kind"]).unwrap_or_default();
            return offer(Capability::crd(group, kind));
        }
        _ => return,
    };
    offer(Capability::new(kind, own.namespace.clone(), own.name.clone()));
}

/// Adds a component of the bootstrap stage.
pub(super) fn add(
    collector: &mut Collector,
    step: BootstrapStep,
    object: ObjectRef,
    at: Span,
    startup_seconds: u64,
) -> ComponentId {
    let cluster = collector.cluster();
    let id = ComponentId(source::to_u32(cluster.components.len()));
    cluster.components.push(Component {
        object,
        role: Role::Bootstrap(step),
        behaviour: if step.is_applied_as_it_is() { Behaviour::APPLIED_ONCE } else { Behaviour::INSTALLED_ONCE },
        stage: Stage::Bootstrap,
        at,
        parent: None,
        gate: Gate::Healthy,
        gate_at: at,
        suspended: None,
        patience: Patience {
            timeout_seconds: 0,
            attempts: 1,
            pause_seconds: 0,
            retry: Retry::Never,
            retry_at: at,
            retry_field: None,
        },
        startup_seconds,
        known_as: None,
        path: None,
        ties_at: at,
        objects: 0,
        ignored_checks: Vec::new(),
        expressions: BTreeSet::new(),
        resource: None,
        target_namespace: None,
    });
    id
}
