//! What of a bootstrap is brought to one cluster, and what each object there is applied after.

use std::collections::BTreeSet;

use catalogue::Catalogue;
use kustomize::Files as _;
use model::{BlindSpot, Boot};
use source::Span;
use yaml::Node;

use super::{Bootstrap, ClusterDirectories, SeededName, SeededObject, SeededPath, SeededPathIndex, UnclearCrds};
use crate::helmfile::{Release, ReleaseIndex};
use crate::object::Object;
use crate::remote_crds::FetchedCrd;
use crate::repository::Repository;
use crate::scripts::MissingFile;

/// The bootstrap of one cluster. Releases are counted by their places here.
#[derive(Debug)]
pub(crate) struct ClusterBootstrap<'a> {
    pub(super) all: &'a Bootstrap,
    /// In the order they run.
    pub(super) releases: Vec<&'a Release>,
    pub(super) paths: Vec<&'a SeededPath>,
    pub(super) objects: Vec<AppliedObject<'a>>,
    /// Each once, where it is made first.
    pub(super) named: Vec<&'a SeededName>,
    /// Each kind once, where it is named first.
    pub(super) crds: Vec<&'a FetchedCrd>,
    pub(super) programs: Vec<&'a str>,
    pub(super) unclear_crds: Vec<&'a UnclearCrds>,
    pub(super) missing: Vec<&'a MissingFile>,
    pub(super) boot: Boot,
    pub(super) blind: Vec<&'a BlindSpot>,
}

/// An object that is applied before GitOps starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AppliedObject<'a> {
    pub(crate) node: &'a Node,
    /// The release that it is applied after: the one whose hook does so, else the one that brings its kind. None where the kind is
    /// Kubernetes' own, or fetched by its address.
    pub(crate) after: Option<ReleaseIndex>,
}

impl Bootstrap {
    /// What of it is brought to one of the clusters.
    pub(crate) fn of_cluster<'a>(
        &'a self,
        repository: &Repository,
        catalogue: &Catalogue,
        directories: &ClusterDirectories<'_>,
        cluster: &str,
    ) -> ClusterBootstrap<'a> {
        let holds = |path: &str| directories.holds(path, cluster);
        let is_here = |at: Span| repository.path(at.file).is_none_or(holds);
        let kept: Vec<usize> = (0..self.releases.len()).filter(|at| is_here(self.releases[*at].span)).collect();
        let mut names_seen = BTreeSet::new();
        let named = self.named.iter().filter(|it| is_here(it.at));
        let mut kinds_seen = BTreeSet::new();
        let crds = self.crds.iter().filter(|crd| is_here(crd.at));
        let mut own = ClusterBootstrap {
            all: self,
            releases: kept.iter().map(|at| &self.releases[*at]).collect(),
            paths: self.paths.iter().filter(|path| holds(&path.path)).collect(),
            objects: Vec::new(),
            named: named.filter(|it| names_seen.insert((it.kind, &it.namespace, &it.name))).collect(),
            crds: crds.filter(|crd| kinds_seen.insert(&crd.kind)).collect(),
            programs: self.programs.iter().map(String::as_str).filter(|path| holds(path)).collect(),
            unclear_crds: self.unclear_crds.iter().filter(|unclear| holds(&unclear.script)).collect(),
            missing: self.missing.iter().filter(|missing| is_here(missing.at)).collect(),
            boot: self.boot.only(is_here),
            blind: self.blind.iter().filter(|spot| spot.at.is_generated() || is_here(spot.at)).collect(),
        };
        let objects = self.objects.iter().filter(|object| holds(&self.path(object.from).path));
        let hook = |object: &SeededObject| kept.iter().position(|at| Some(ReleaseIndex(*at)) == object.hook);
        let after = |object: &'a SeededObject| AppliedObject {
            node: &object.node,
            after: hook(object).map(ReleaseIndex).or_else(|| own.brings_kind_of(catalogue, &object.node)),
        };
        own.objects = objects.map(after).collect();
        own
    }

    fn path(&self, index: SeededPathIndex) -> &SeededPath {
        &self.paths[index.0]
    }
}

impl<'a> ClusterBootstrap<'a> {
    /// What is applied before GitOps starts.
    pub(crate) fn objects(&self) -> &[AppliedObject<'a>] {
        &self.objects
    }

    /// Its steps before GitOps.
    pub(crate) fn boot(&self) -> &Boot {
        &self.boot
    }

    /// Its releases, in the order they run.
    pub(crate) fn releases(&self) -> &[&'a Release] {
        &self.releases
    }

    /// What scripts and templates make by name.
    pub(crate) fn named(&self) -> &[&'a SeededName] {
        &self.named
    }

    /// Kinds whose CRDs are fetched by address.
    pub(crate) fn crds(&self) -> &[&'a FetchedCrd] {
        &self.crds
    }

    /// A program that seems to bootstrap the cluster.
    pub(crate) fn program(&self) -> Option<&'a str> {
        self.programs.first().copied()
    }

    /// A script that takes CRDs of charts which only it knows.
    pub(crate) fn script_of_crds(&self) -> Option<&'a str> {
        self.unclear_crds.first().map(|unclear| unclear.script.as_str())
    }

    /// What of it could not be seen.
    pub(crate) fn blind(&self) -> impl Iterator<Item = &'a BlindSpot> {
        self.blind.iter().copied()
    }

    /// Whether a script or a Terraform file restores the sealing key.
    pub(crate) fn restores_sealing_key(&self, repository: &Repository) -> bool {
        self.all.sealing_key(repository).is_some()
    }

    /// Values of its releases that are in files.
    pub(crate) fn value_files<'r>(&self, repository: &'r Repository) -> Vec<&'r Node> {
        let files = self.releases.iter().flat_map(|release| &release.values_files);
        let documents = files.filter_map(|file| repository.documents(file)).flat_map(|(_, documents)| documents);
        documents.filter_map(|document| document.root.as_ref()).collect()
    }

    /// The release that brings the kind of an object.
    fn brings_kind_of(&self, catalogue: &Catalogue, node: &Node) -> Option<ReleaseIndex> {
        let object = Object::new(node);
        let (group, kind) = (object.group(), object.kind());
        if self.crds.iter().any(|crd| crd.kind.split_once('/') == Some((group, kind))) {
            return None;
        }
        let of = |only_crds: bool| {
            let is_it = |one: &&Release| one.only_crds == only_crds && brings(catalogue, one, group, kind);
            self.releases.iter().position(is_it).map(ReleaseIndex)
        };
        // A pass that applies only CRDs comes first.
        of(true).or_else(|| of(false))
    }
}

/// Whether the chart of a release brings the CRD of a kind.
fn brings(catalogue: &Catalogue, release: &Release, group: &str, kind: &str) -> bool {
    let known = catalogue.by_chart(&release.chart_name);
    known.is_some_and(|known| catalogue.crd_owners(group, kind).any(|owner| owner.name == known.name))
}
