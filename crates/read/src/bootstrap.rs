//! What is there before GitOps starts: releases of helmfiles, directories and Secrets that a person or a script applies.
//!
//! Each becomes a component of the bootstrap stage. Whether it is proved healthy there is the bootstrap's own affair:
//! for the cluster that Flux builds, all of it is simply there.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::iter::zip;
use std::sync::OnceLock;

use catalogue::{Catalogue, any_holds};
use kustomize::Files as _;
use model::{
    Arrival, BlindSpot, BrokenBuild, BuildFault, Capability, CapabilityKind, Chart, Component, ComponentId, Gate,
    ObjectRef, Offer, Patience, Retry, Role, Stage, Tie, TieTarget, WaitsFor,
};
use yaml::{FileId, Node, Span};

use crate::content::Sink;
use crate::helmfile::{self, Release};
use crate::home::Homes;
use crate::object::Object;
use crate::remote_crds;
use crate::repository::Repository;

/// How long helm waits unless it is told otherwise.
const HELM_TIMEOUT_SECONDS: u64 = 300;

/// What follows the name of a release in the name of what is applied after it.
pub const AFTER_RELEASE: &str = " resources";

/// Everything that a bootstrap brings, read once for all clusters of a repository: [`Bootstrap::of_cluster`] tells whose it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bootstrap {
    releases: Vec<Release>,
    /// The helmfiles with releases, in the order they run.
    runs: Vec<FileId>,
    objects: Vec<Node>,
    /// For each of these the file or directory that is applied.
    places: Vec<String>,
    /// For each of these the release after which a hook applies it.
    hooked: Vec<Option<usize>>,
    secrets: Vec<(String, String, Span)>,
    /// Where a script or a Terraform file restores the sealing key; looked for only where something is sealed.
    sealing_key: OnceLock<Option<Span>>,
    /// Kinds whose CRDs are fetched by address.
    crds: Vec<(String, Span)>,
    /// Files that the bootstrap applies: not dead, though Flux does not reach them.
    pub(crate) files: Vec<String>,
    /// Programs that seem to be part of it and are not read.
    programs: Vec<String>,
    /// Scripts that apply the CRDs of charts which nobody can tell.
    unclear_crds: Vec<(String, Span)>,
    /// What its scripts apply and nobody has.
    absent: Vec<(String, Span)>,
    /// What else of it is not seen.
    blind: Vec<BlindSpot>,
}

impl Bootstrap {
    pub(crate) fn read(repository: &Repository, catalogue: &Catalogue) -> Self {
        let early = helmfile::read_early(repository);
        let crds = remote_crds::find(repository, catalogue);
        let (secrets, programs, blind) = (early.secrets, early.programs, early.blind);
        let (unclear_crds, absent) = (early.unclear_crds, early.absent);
        let mut bootstrap = Self { secrets, crds, programs, unclear_crds, absent, blind, ..Self::default() };
        for helmfile in early.helmfiles {
            bootstrap.files.push(helmfile.path);
            bootstrap.runs.extend(helmfile.releases.first().map(|release| release.span.file));
            bootstrap.releases.extend(helmfile.releases);
        }
        for directory in early.directories {
            let build = repository.build(&directory, &kustomize::Overlay::default());
            bootstrap.seed(&directory, build.objects);
            bootstrap.files.extend(build.files);
            let unseen = build.blind.into_iter();
            bootstrap.blind.extend(unseen.map(|it| BlindSpot {
                what: it.what,
                why: it.why,
                at: it.span,
                component: None,
            }));
        }
        for file in early.files {
            bootstrap.seed(&file.path, file.objects);
            bootstrap.files.push(file.path);
        }
        bootstrap
    }

    /// Adds what a file or a directory holds.
    fn seed(&mut self, path: &str, objects: Vec<Node>) {
        let applies = |release: &Release| release.applies.iter().any(|hooked| hooked.is_after && hooked.path == path);
        let by = self.releases.iter().position(applies);
        self.hooked.extend(objects.iter().map(|_| by));
        self.places.extend(objects.iter().map(|_| path.to_owned()));
        self.objects.extend(objects);
    }

    /// What of it is brought to one of the clusters.
    pub(crate) fn of_cluster(&self, repository: &Repository, homes: &Homes<'_>, cluster: &str) -> Cow<'_, Self> {
        if !homes.are_several() {
            return Cow::Borrowed(self);
        }
        let holds = |at: Span| repository.path(at.file).is_none_or(|path| homes.holds(path, cluster));
        let mut own = self.clone();
        let kept: Vec<usize> = (0..self.releases.len()).filter(|at| holds(self.releases[*at].span)).collect();
        own.releases = kept.iter().map(|at| self.releases[*at].clone()).collect();
        let applied: Vec<usize> =
            (0..self.objects.len()).filter(|at| homes.holds(&self.places[*at], cluster)).collect();
        own.objects = applied.iter().map(|at| self.objects[*at].clone()).collect();
        own.places = applied.iter().map(|at| self.places[*at].clone()).collect();
        let moved = |hooked: usize| kept.iter().position(|at| *at == hooked);
        own.hooked = applied.iter().map(|at| self.hooked[*at].and_then(moved)).collect();
        own.secrets.retain(|(_, _, at)| holds(*at));
        own.crds.retain(|(_, at)| holds(*at));
        own.programs.retain(|path| homes.holds(path, cluster));
        own.unclear_crds.retain(|(path, _)| homes.holds(path, cluster));
        own.absent.retain(|(_, at)| holds(*at));
        own.blind.retain(|spot| spot.at.is_generated() || holds(spot.at));
        Cow::Owned(own)
    }

    /// What is applied before GitOps starts.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Node> {
        self.objects.iter()
    }

    /// For each of its objects the release that it is applied after: the one whose hook does so, else the one that brings its kind.
    /// None where the kind is Kubernetes' own, or fetched by its address.
    pub(crate) fn objects_after(&self, catalogue: &Catalogue) -> Vec<Option<usize>> {
        let after = |(node, hooked): (&Node, &Option<usize>)| {
            if hooked.is_some() {
                return *hooked;
            }
            let object = Object::new(node);
            let (group, kind) = (object.group(), object.kind());
            if self.crds.iter().any(|(early, _)| early.split_once('/') == Some((group, kind))) {
                return None;
            }
            let of = |only_crds: bool| {
                let is_it = |one: &Release| one.only_crds == only_crds && brings(catalogue, one, group, kind);
                self.releases.iter().position(is_it)
            };
            // A pass that applies only CRDs comes first.
            of(true).or_else(|| of(false))
        };
        zip(&self.objects, &self.hooked).map(after).collect()
    }

    /// Its releases, in the order they run.
    pub(crate) fn all_releases(&self) -> &[Release] {
        &self.releases
    }

    /// Secrets that scripts and templates make (namespace, name), and kinds whose CRDs are fetched by address.
    pub(crate) fn seeded(&self) -> (Vec<(String, String)>, Vec<String>) {
        let secrets = self.first_secrets().map(|(namespace, name, _)| (namespace.clone(), name.clone()));
        (secrets.collect(), self.first_crds().map(|(kind, _)| kind.clone()).collect())
    }

    /// Each Secret once, where it is made first.
    fn first_secrets(&self) -> impl Iterator<Item = &(String, String, Span)> {
        let mut seen = BTreeSet::new();
        self.secrets.iter().filter(move |(namespace, name, _)| seen.insert((namespace, name)))
    }

    /// Each kind once, where it is named first.
    fn first_crds(&self) -> impl Iterator<Item = &(String, Span)> {
        let mut seen = BTreeSet::new();
        self.crds.iter().filter(move |(kind, _)| seen.insert(kind))
    }

    /// Whether a script or a Terraform file restores the sealing key.
    pub(crate) fn restores_sealing_key(&self, repository: &Repository) -> bool {
        self.sealing_key.get_or_init(|| sealing_key(repository)).is_some()
    }

    /// Values of its releases that lie in files.
    pub(crate) fn value_files<'r>(&self, repository: &'r Repository) -> Vec<&'r Node> {
        let files = self.releases.iter().flat_map(|release| &release.values_files);
        let documents = files.filter_map(|file| repository.documents(file)).flat_map(|(_, documents)| documents);
        documents.filter_map(|document| document.root.as_ref()).collect()
    }

    /// Notes which chart a release installs, in which version and with which values.
    fn note_chart(repository: &Repository, sink: &mut Sink, release: &Release, of: ComponentId) {
        crate::content::note_chart(
            sink,
            Chart {
                of,
                name: release.chart_name.clone(),
                release: (release.name.clone(), release.namespace.clone()),
                version: release.version.clone().zip(release.version_at),
                values: release.visible_values(repository),
            },
        );
    }

    /// Adds the bootstrap's components and their offers to a cluster.
    pub(crate) fn offer(&self, repository: &Repository, catalogue: &Catalogue, sink: &mut Sink) {
        if let Some(program) = self.programs.first() {
            let at = repository.id(program).map_or(Span::GENERATED, |file| Span::new(file, 0, 0));
            let why = "is a program that seems to bootstrap the cluster, and is not read".to_owned();
            sink.cluster().blind.push(BlindSpot { what: format!("`{program}`"), why, at, component: None });
            sink.cluster().facts.unread_bootstrap = Some(program.as_str().into());
        }
        for (script, at) in &self.unclear_crds {
            let what = format!("the CRDs that `{script}` takes from charts");
            let why = "are those of charts that only the script knows when it runs".to_owned();
            sink.cluster().blind.push(BlindSpot { what, why, at: *at, component: None });
            sink.cluster().facts.unclear_crds = Some(script.as_str().into());
        }
        sink.cluster().blind.extend(self.blind.iter().cloned());
        let ids: Vec<ComponentId> =
            self.releases.iter().map(|release| Self::offer_release(catalogue, sink, release)).collect();
        self.order(sink, &ids);
        for (release, id) in self.releases.iter().zip(&ids) {
            note_absent(sink, *id, &release.absent);
        }
        for (release, id) in self.releases.iter().zip(&ids).filter(|(release, _)| !release.only_crds) {
            Self::note_chart(repository, sink, release, *id);
        }
        let called = |release: &Release| !release.only_crds && !release.by_script;
        for (release, id) in self.releases.iter().zip(&ids).filter(|(release, _)| called(release)) {
            let own = sink.cluster().component(*id).object.clone();
            let known = catalogue.by_chart(&release.chart_name);
            if let Some(known) = known {
                crate::content::need_gifts(sink, *id, known, &own, release.span);
            }
            crate::content::need_foundation(sink, *id, known, &own, release.span);
        }
        let is_sealed = sink.assembled.objects.iter().any(|built| Object::new(&built.node).kind() == "SealedSecret");
        if let Some(at) = is_sealed.then(|| *self.sealing_key.get_or_init(|| sealing_key(repository))).flatten() {
            let by = add(sink, ObjectRef::new("Bootstrap", "", "sealing key"), at, 0);
            let own = ObjectRef::new("Secret", "", "sealing key");
            sink.offer(by, Capability::cluster(CapabilityKind::SealingKey, ""), Arrival::Applied, &own, at);
        }
        self.offer_resources(catalogue, sink, &ids);
    }

    /// What is applied as it is: most of it before anything is installed, some of it after the release that brings its kind.
    fn offer_resources(&self, catalogue: &Catalogue, sink: &mut Sink, ids: &[ComponentId]) {
        let after = self.objects_after(catalogue);
        let is_late = |after: &Option<usize>| after.is_some_and(|release| !self.releases[release].only_crds);
        for (index, release) in self.releases.iter().enumerate().filter(|(_, release)| !release.only_crds) {
            let own: Vec<&Node> =
                zip(&self.objects, &after).filter(|(_, after)| **after == Some(index)).map(|(node, _)| node).collect();
            let Some(first) = own.first() else { continue };
            let name = format!("{}{AFTER_RELEASE}", release.name);
            let by = add(sink, ObjectRef::new("Bootstrap", release.namespace.as_str(), name), first.span, 0);
            let to = TieTarget::Component(ids[index]);
            sink.cluster().ties.push(Tie { from: by, to, at: first.span, waits_for: WaitsFor::Done });
            for node in own {
                offer_object(sink, by, node);
            }
        }
        let early: Vec<(&Node, Option<usize>)> = zip(&self.objects, &after)
            .filter(|(_, after)| !is_late(after))
            .map(|(node, after)| (node, *after))
            .collect();
        if early.is_empty() && self.secrets.is_empty() && self.crds.is_empty() && self.absent.is_empty() {
            return;
        }
        let by = add(sink, ObjectRef::new("Bootstrap", "", "bootstrap resources"), Span::GENERATED, 0);
        note_absent(sink, by, &self.absent);
        for (node, after) in early {
            if let Some(release) = after {
                let to = TieTarget::Component(ids[release]);
                sink.cluster().ties.push(Tie { from: by, to, at: node.span, waits_for: WaitsFor::Done });
            }
            offer_object(sink, by, node);
        }
        for (kind, at) in self.first_crds() {
            let own = ObjectRef::new("CustomResourceDefinition", "", kind.as_str());
            sink.offer(by, Capability::cluster(CapabilityKind::Crd, kind.as_str()), Arrival::Applied, &own, *at);
        }
        for (namespace, name, at) in self.first_secrets() {
            let own = ObjectRef::new("Secret", namespace.as_str(), name.as_str());
            sink.offer(
                by,
                Capability::new(CapabilityKind::Secret, namespace.as_str(), name.as_str()),
                Arrival::Applied,
                &own,
                *at,
            );
        }
    }

    /// Helmfile refuses a file in which a need names nothing, and whoever mends it means a release that stands before: until then
    /// all of these count, but for those that wait for the release itself.
    fn is_meant(&self, release: &Release, other: &Release) -> bool {
        let is_before = other.span.file == release.span.file && other.span.start < release.span.start;
        !release.undefined_needs.is_empty() && is_before && !self.waits_for(other, release)
    }

    fn waits_for(&self, release: &Release, wanted: &Release) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = vec![release];
        while let Some(at) = next.pop() {
            let needs = at.needs.iter().filter_map(|(name, _)| helmfile::needed(self.releases.iter(), at, name));
            next.extend(needs.filter(|index| seen.insert(*index)).map(|index| &self.releases[index]));
            if at.span == wanted.span {
                return true;
            }
        }
        false
    }

    /// `needs`, and the order of the helmfiles themselves: one begins when the one before it has ended.
    fn order(&self, sink: &mut Sink, ids: &[ComponentId]) {
        let releases = || self.releases.iter().zip(ids).filter(|(release, _)| !release.only_crds);
        let mut ties = Vec::new();
        for (release, from) in self.releases.iter().zip(ids) {
            ties.extend(release.undefined_needs.iter().map(|(missing, at)| Tie {
                from: *from,
                to: TieTarget::Unknown(missing.clone()),
                at: *at,
                waits_for: WaitsFor::Done,
            }));
        }
        for (release, from) in releases() {
            for (name, at) in &release.needs {
                if let Some(at_index) = helmfile::needed(self.releases.iter(), release, name) {
                    let to = TieTarget::Component(ids[at_index]);
                    ties.push(Tie { from: *from, to, at: *at, waits_for: WaitsFor::Done });
                }
            }
            let earlier = releases()
                .filter(|(other, _)| self.run_of(other) < self.run_of(release) || self.is_meant(release, other));
            ties.extend(earlier.map(|(_, to)| Tie {
                from: *from,
                to: TieTarget::Component(*to),
                at: release.span,
                waits_for: WaitsFor::Done,
            }));
        }
        sink.cluster().ties.extend(ties);
    }

    /// Which helmfile, in the order they run, a release belongs to.
    fn run_of(&self, release: &Release) -> usize {
        self.runs.iter().position(|file| *file == release.span.file).unwrap_or(0)
    }

    fn offer_release(catalogue: &Catalogue, sink: &mut Sink, release: &Release) -> ComponentId {
        let own = release.object();
        let known = catalogue.by_chart(&release.chart_name);
        let startup = known.map_or(60, |known| u64::from(known.startup_seconds));
        let by = add(sink, own.clone(), release.span, startup);
        let component = &mut sink.cluster().components[by.index()];
        component.patience.timeout_seconds = release.timeout_seconds.unwrap_or(HELM_TIMEOUT_SECONDS);
        if release.wait != Some(true) || release.only_crds {
            component.gate = Gate::Applied;
        }
        let Some(known) = known else { return by };
        if release.only_crds {
            // `helm template --include-crds`: whatever the values say about installing them later, they are applied now.
            for kind in known.crds.iter().flat_map(|crds| &crds.kinds) {
                sink.offer(
                    by,
                    Capability::cluster(CapabilityKind::Crd, kind.as_str()),
                    Arrival::Applied,
                    &own,
                    release.span,
                );
            }
            return by;
        }
        sink.cluster().components[by.index()].known_as = Some(known.name.as_str().into());
        crate::content::offer_known(sink, by, known, None, &own, release.span, false);
        crate::content::offer_controllers(sink, by, known, &own, release.span);
        for crds in known.crds.iter().filter(|crds| !any_holds(&crds.when, None)) {
            // Values of a bootstrap release are usually shared with the release that Flux adopts, and switch CRDs on.
            for kind in &crds.kinds {
                sink.offer(
                    by,
                    Capability::cluster(CapabilityKind::Crd, kind.as_str()),
                    Arrival::Installed,
                    &own,
                    release.span,
                );
            }
        }
        by
    }
}

fn note_absent(sink: &mut Sink, component: ComponentId, absent: &[(String, Span)]) {
    let broken = absent.iter().map(|(path, at)| BrokenBuild {
        component,
        message: format!("`{path}` is not there"),
        at: *at,
        fault: BuildFault::Bootstrap,
    });
    sink.cluster().broken.extend(broken);
}

/// Whether the chart of a release brings the CRD of a kind.
fn brings(catalogue: &Catalogue, release: &Release, group: &str, kind: &str) -> bool {
    let known = catalogue.by_chart(&release.chart_name);
    known.is_some_and(|known| catalogue.crd_owners(group, kind).any(|owner| owner.name == known.name))
}

/// Flux itself runs in pods and fetches by name. So the pod network and cluster DNS were there before it, and with them all
/// that their components bring, whoever installed them.
pub(crate) fn offer_foundation(sink: &mut Sink) {
    let founding =
        |offer: &Offer| matches!(offer.capability.kind, CapabilityKind::PodNetwork | CapabilityKind::ClusterDns);
    let cluster = sink.cluster();
    let by: BTreeSet<ComponentId> =
        cluster.offers.iter().filter(|offer| founding(offer)).map(|offer| offer.by).collect();
    let offers: Vec<Offer> = cluster.offers.iter().filter(|offer| by.contains(&offer.by)).cloned().collect();
    for founder in by {
        let component = sink.cluster().component(founder).clone();
        if component.stage == Stage::Bootstrap {
            continue;
        }
        // One component with two hands: what the bootstrap installs is what Flux adopts.
        let installed = sink.cluster().ids().find(|id| {
            let early = sink.assembled.cluster.component(*id);
            early.stage == Stage::Bootstrap && early.known_as.is_some() && early.known_as == component.known_as
        });
        let object = ObjectRef::new("Bootstrap", component.object.namespace, component.object.name);
        let id = installed.unwrap_or_else(|| add(sink, object, component.at, component.startup_seconds));
        for offer in offers.iter().filter(|offer| offer.by == founder) {
            sink.offer(id, offer.capability.clone(), offer.arrival, &offer.object, offer.at);
        }
    }
}

/// The label of a sealing key in a file that is no manifest: Terraform, a script, a template.
fn sealing_key(repository: &Repository) -> Option<Span> {
    let label = crate::content::SEALING_KEY_LABEL;
    let endings = ["tf", "tofu", "hcl", "sh", "just", "j2", "tpl", "nix"];
    let paths =
        repository.paths().filter(|path| path.rsplit('.').next().is_some_and(|ending| endings.contains(&ending)));
    paths.filter_map(|path| repository.id(path)).find_map(|id| {
        let at = repository.source(id)?.text().find(label)?;
        let start = u32::try_from(at).ok()?;
        Some(Span::new(id, start, start + u32::try_from(label.len()).ok()?))
    })
}

fn offer_object(sink: &mut Sink, by: ComponentId, node: &Node) {
    let object = Object::new(node);
    let own = object.reference("");
    let kind = match (object.group(), object.kind()) {
        ("", "Namespace") => CapabilityKind::Namespace,
        ("", "Secret") => {
            if crate::content::is_sealing_key(node) {
                sink.offer(
                    by,
                    Capability::cluster(CapabilityKind::SealingKey, ""),
                    Arrival::Applied,
                    &own,
                    object.name_span(),
                );
            }
            CapabilityKind::Secret
        }
        ("", "ConfigMap") => CapabilityKind::ConfigMap,
        (_, "ClusterSecretStore" | "SecretStore") => CapabilityKind::SecretStore,
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            let group = node.text_at(&["spec", "group"]).unwrap_or_default();
            let kind = node.text_at(&["spec", "names", "kind"]).unwrap_or_default();
            sink.offer(by, Capability::crd(group, kind), Arrival::Applied, &own, object.name_span());
            return;
        }
        _ => return,
    };
    sink.offer(
        by,
        Capability::new(kind, own.namespace.clone(), own.name.clone()),
        Arrival::Applied,
        &own,
        object.name_span(),
    );
}

fn add(sink: &mut Sink, object: ObjectRef, at: Span, startup_seconds: u64) -> ComponentId {
    let cluster = sink.cluster();
    let id = ComponentId(u32::try_from(cluster.components.len()).unwrap_or(u32::MAX));
    cluster.components.push(Component {
        object,
        role: Role::Bootstrap,
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
            retry_field: "",
        },
        startup_seconds,
        known_as: None,
        path: None,
        ties_at: at,
        objects: 0,
        ignored_checks: Vec::new(),
        expressions: BTreeSet::new(),
        resource: None,
    });
    id
}
