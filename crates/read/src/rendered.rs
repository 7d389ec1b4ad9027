//! What a cluster's controllers are given: for every Kustomization its own object and the objects it applies, for every
//! HelmRelease its chart and merged values, and what a bootstrap brings before them.
//!
//! Knows how files become objects. Draws no conclusion: no offers, needs, ties or gates are in here.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::Catalogue;
use ecow::EcoString;
use kustomize::PathKind;
use model::{BlindSpot, Boot, BuildFault, ComponentId, ObjectRef, Role};
use yaml::{Budget, Node};

use crate::bootstrap::{ClusterBootstrap, ClusterDirectories, SeededName};
use crate::content::{
    adds_variables, chart_address, chart_sources, config_maps, fetched_kinds, is_wrapped, merged_values,
    retries_by_default, unseen_values,
};
use crate::flux::{Assembled, HelmRelease};
use crate::helmfile::{Release, ReleaseIndex};
use crate::ledger::Ledger;
use crate::object::Object;
use crate::repository::Repository;
use crate::{ReadError, settings_and_additions};

/// A cluster as its controllers get it.
#[derive(Clone, Debug, Default)]
pub struct Rendered {
    /// The directory that Flux begins with.
    pub name: String,
    /// Kustomizations and ResourceSets, the root first.
    pub appliers: Vec<Applier>,
    pub releases: Vec<ChartOf>,
    pub bootstrap: RenderedBootstrap,
    /// Its Flux fails a build for a variable that nothing sets, as it does from 2.9 on; nothing where no file tells the version.
    pub is_strict: Option<bool>,
    /// Its helm-controller retries what failed unless a release says otherwise (the gate `DefaultToRetryOnFailure`).
    pub retries_by_default: bool,
    /// An admission policy or webhook may give Kustomizations variables that no file shows.
    pub adds_variables: bool,
    /// What of it could not be seen, the bootstrap included.
    pub blind: Vec<BlindSpot>,
}

/// A Kustomization, a ResourceSet, or one step of a ResourceSet.
#[derive(Clone, Debug)]
pub struct Applier {
    pub object: ObjectRef,
    /// Its own object; nothing for one that Flux itself makes.
    pub node: Option<Node>,
    /// Starting Flux makes it, no other applier does.
    pub is_given: bool,
    /// The ResourceSet that this is a step of.
    pub step_of: Option<ObjectRef>,
    /// The source that it is built from, where the files name it.
    pub source: Option<ObjectRef>,
    /// What it applies, each with its identity in the cluster. Variables have the values that the files tell.
    pub objects: Vec<(ObjectRef, Node)>,
    /// The same before any variable got its value, where it has `postBuild`.
    pub unsubstituted: Vec<Node>,
    /// Why it can't be built at all.
    pub broken: Option<BuildFault>,
    /// Kinds (`group/Kind` or `group/*`) whose CRDs it takes from elsewhere, as far as addresses tell.
    pub fetched: Vec<String>,
    /// Its files are not in this repository.
    pub is_unseen: bool,
}

/// The chart of a HelmRelease.
#[derive(Clone, Debug)]
pub struct ChartOf {
    pub object: ObjectRef,
    /// The last part of its address.
    pub chart: EcoString,
    /// `valuesFrom` ConfigMaps and `values`, merged.
    pub values: Option<Node>,
    /// Some of its values were not read.
    pub hides_values: bool,
    pub release_name: EcoString,
    pub target_namespace: EcoString,
    /// The APIs that its templates ask the cluster for, where the chart lies in this repository.
    pub asks_for: Vec<EcoString>,
}

/// What is there before Flux starts.
#[derive(Clone, Debug, Default)]
pub struct RenderedBootstrap {
    /// Applied as they are, in no order.
    pub objects: Vec<RenderedSeed>,
    /// What scripts and templates make by name.
    pub named: Vec<SeededName>,
    /// Kinds (`group/Kind` or `group/*`) whose CRDs are fetched by their address.
    pub crds: Vec<String>,
    /// A program that seems to be the bootstrap, or a part of it, and was not read.
    pub program: Option<EcoString>,
    /// A script that installs CRDs of charts which only it knows.
    pub unclear_crds: Option<EcoString>,
    /// A script or a Terraform file restores the sealing key.
    pub restores_sealing_key: bool,
    /// In the order they run.
    pub releases: Vec<RenderedRelease>,
    /// What runs of Terraform, scripts and helmfiles do one after the other, as they are written.
    pub boot: Boot,
}

/// An object that a bootstrap applies as it is.
#[derive(Clone, Debug)]
pub struct RenderedSeed {
    pub node: Node,
    /// The release, by its place among those of the bootstrap, that it is applied after.
    pub after: Option<ReleaseIndex>,
}

/// A release that a bootstrap installs.
#[derive(Clone, Debug)]
pub struct RenderedRelease {
    pub release: Release,
    /// Merged, where all of them are written out.
    pub values: Option<Node>,
}

/// Renders every cluster of an opened repository, sorted by the directory they start from. The catalogue is the embedded one
/// with what `coldstart.yaml` adds.
pub fn render(repository: &Repository) -> Result<(Vec<Rendered>, Catalogue), ReadError> {
    let (_, additions) = settings_and_additions(repository)?;
    let catalogue = crate::extended(Catalogue::embedded(), additions).into_owned();
    let (bootstrap, assembled, declared) = crate::assembled(repository, &catalogue);
    let names: Vec<String> = assembled.iter().map(|one| one.cluster.name.clone()).collect();
    let directories_of = |count: usize| ClusterDirectories::of(names.iter().take(count).map(String::as_str));
    let (of_declared, of_all) = (directories_of(declared), directories_of(names.len()));
    let mut ledger = Ledger::default();
    let mut render = |(at, one): (usize, Assembled)| {
        let directories = if at < declared { &of_declared } else { &of_all };
        let bootstrap = bootstrap.of_cluster(repository, &catalogue, directories, &one.cluster.name);
        let early = bootstrap.rendered(repository);
        let mut rendered =
            cluster(repository, &catalogue, one, &early, &bootstrap.value_files(repository), &mut ledger);
        rendered.blind.extend(bootstrap.blind().cloned());
        rendered
    };
    let mut all: Vec<Rendered> = assembled.into_iter().enumerate().map(&mut render).collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((all, catalogue))
}

impl ClusterBootstrap<'_> {
    fn rendered(&self, repository: &Repository) -> RenderedBootstrap {
        let objects = self.objects().iter();
        let releases = self.releases().iter().copied();
        RenderedBootstrap {
            objects: objects.map(|it| RenderedSeed { node: it.node.clone(), after: it.after }).collect(),
            named: self.named().iter().copied().cloned().collect(),
            crds: self.crds().iter().map(|crd| crd.kind.clone()).collect(),
            program: self.program().map(EcoString::from),
            unclear_crds: self.script_of_crds().map(EcoString::from),
            restores_sealing_key: self.restores_sealing_key(repository),
            boot: self.boot().clone(),
            releases: releases
                .map(|release| RenderedRelease { release: release.clone(), values: release.visible_values(repository) })
                .collect(),
        }
    }
}

/// Since this version undefined variables fail a build.
const STRICT_SINCE: (u64, u64) = (2, 9);

/// Nothing where the version is not known.
fn is_strict<'n>(blind: &[model::BlindSpot], nodes: impl Iterator<Item = &'n Node>) -> Option<bool> {
    let nodes: Vec<&Node> = nodes.collect();
    let version = crate::flux::flux_version(&nodes, blind)?;
    version.strict.or_else(|| Some(version.minor? >= STRICT_SINCE))
}

fn cluster(
    repository: &Repository,
    catalogue: &Catalogue,
    assembled: Assembled,
    early: &RenderedBootstrap,
    values: &[&Node],
    ledger: &mut Ledger,
) -> Rendered {
    let Assembled { cluster, objects, kustomizations, releases, .. } = assembled;
    let is_strict = is_strict(
        &cluster.blind,
        objects
            .iter()
            .map(|built| &built.node)
            .chain(early.objects.iter().map(|seed| &seed.node))
            .chain(values.iter().copied()),
    );
    let nodes: BTreeMap<ObjectRef, &Node> =
        objects.iter().map(|built| (Object::new(&built.node).reference(&built.namespace), &built.node)).collect();
    let mut places: BTreeMap<ComponentId, usize> = BTreeMap::new();
    let mut appliers = Vec::new();
    for id in cluster.ids() {
        let component = cluster.component(id);
        if !matches!(component.role, Role::Kustomization | Role::ResourceSet) {
            continue;
        }
        places.insert(id, appliers.len());
        let set = component.parent.map(|parent| cluster.component(parent));
        let is_step = component.role == Role::ResourceSet && !nodes.contains_key(&component.object);
        appliers.push(Applier {
            object: component.object.clone(),
            node: nodes.get(&component.object).map(|node| (*node).clone()),
            is_given: component.parent.is_none(),
            step_of: set.filter(|_| is_step).map(|set| set.object.clone()),
            source: None,
            objects: Vec::new(),
            unsubstituted: Vec::new(),
            broken: cluster.broken.iter().find(|broken| broken.component == id).map(|broken| broken.fault.clone()),
            fetched: Vec::new(),
            is_unseen: component.role == Role::Kustomization && component.path.is_none(),
        });
    }
    for (id, kind, _) in fetched_kinds(&cluster, catalogue) {
        if let Some(at) = places.get(&id) {
            appliers[*at].fetched.push(kind);
        }
    }
    let left_off: BTreeSet<ComponentId> = crate::live::left_off(&cluster).collect();
    for (id, kustomization) in &kustomizations {
        let Some(applier) = places.get(id).and_then(|at| appliers.get_mut(*at)) else { continue };
        applier.source = kustomization.source.as_ref().map(|source| source.object.clone());
        // Where it was too much to build it with its variables, it is too much without them.
        let has_variables = kustomization.post_build.is_some() && !left_off.contains(id);
        if let Some(directory) = cluster.component(*id).path.as_deref().filter(|_| has_variables) {
            let build = ledger.one(|budget| repository.build(directory, &kustomization.overlay, budget));
            applier.unsubstituted = build.objects;
        }
    }
    let charts = ledger.one(|budget| charts(repository, &objects, &releases, budget));
    let retries_by_default = retries_by_default(&objects);
    let applied = early.objects.iter().map(|seed| &seed.node).chain(values.iter().copied());
    let adds_variables = objects.iter().map(|built| &built.node).chain(applied).any(adds_variables);
    for built in objects {
        let reference = Object::new(&built.node).reference(&built.namespace);
        if let Some(at) = places.get(&built.component) {
            appliers[*at].objects.push((reference, built.node));
        }
    }
    Rendered {
        name: cluster.name,
        appliers,
        releases: charts,
        bootstrap: early.clone(),
        is_strict,
        retries_by_default,
        adds_variables,
        blind: cluster.blind,
    }
}

fn charts(
    repository: &Repository,
    objects: &[crate::flux::Built],
    releases: &[(ComponentId, HelmRelease)],
    budget: &mut Budget,
) -> Vec<ChartOf> {
    let sources = chart_sources(objects);
    let config_maps = config_maps(objects);
    let one = |(_, release): &(ComponentId, HelmRelease)| {
        if release.is_remote {
            return installed_elsewhere(release);
        }
        let (values, are_beyond) = match merged_values(release, &config_maps, budget) {
            Ok(values) => (values, false),
            Err(_) => (None, true),
        };
        let chart = EcoString::from(catalogue::chart_name(&chart_address(release, &sources)));
        let is_hidden = are_beyond || is_wrapped(&chart, values.as_ref());
        ChartOf {
            object: release.object.clone(),
            chart,
            asks_for: asked_for(repository, release, values.as_ref()),
            hides_values: is_hidden || !unseen_values(release, &config_maps).is_empty(),
            values,
            release_name: release.release_name.clone(),
            target_namespace: release.target_namespace.clone(),
        }
    };
    releases.iter().map(one).collect()
}

/// Of one that is installed in another cluster, nothing is known but that it is there.
fn installed_elsewhere(release: &HelmRelease) -> ChartOf {
    ChartOf {
        object: release.object.clone(),
        chart: EcoString::new(),
        asks_for: Vec::new(),
        hides_values: true,
        values: None,
        release_name: release.release_name.clone(),
        target_namespace: release.object.namespace.clone(),
    }
}

fn asked_for(repository: &Repository, release: &HelmRelease, values: Option<&Node>) -> Vec<EcoString> {
    use kustomize::Files as _;
    let chart = ::repository::path::join("", &release.chart.chart).filter(|chart| !chart.is_empty());
    match chart.filter(|chart| repository.kind(chart) == PathKind::Directory) {
        Some(chart) => crate::content::apis_asked_for(repository, &chart, values),
        None => Vec::new(),
    }
}
