//! What is there before GitOps starts: releases of helmfiles and scripts, files and directories that are applied, Secrets, CRDs, and what
//! Terraform makes in the cluster.
//!
//! Read once for all clusters of a repository; `Bootstrap::of_cluster` tells what of it is brought to one of them. Does not know
//! whether anybody ran it.

mod ansible;
mod cluster_directories;
mod components;
mod foundation;
mod inflated_charts;
mod of_cluster;
mod programs;
mod script_crds;
mod script_releases;
mod sealing_key;
mod seeds;
mod terraform_crds;
mod terraform_releases;

use std::collections::BTreeSet;
use std::sync::OnceLock;

use catalogue::Catalogue;
use model::{BlindSpot, Boot, Capability, CapabilityKind, Unseen};
use source::{FileId, Span};
use yaml::{Budget, EcoString, Node};

use crate::boot::Sources;
use crate::gates;
use crate::helmfile::{self, Helmfile, Release, ReleaseIndex};
use crate::ledger::Ledger;
use crate::naming::before_bootstrap;
use crate::object::Object;
use crate::overlooked::overlooked;
use crate::remote_crds::{self, FetchedCrd};
use crate::repository::Repository;
use crate::scripts::{self, CreatedKind, MissingFile, Scripts};
use crate::terraform;
use crate::terraform::faults::Judge;
use crate::terraform::layers::Layers;
use ::repository::path;

pub(crate) use cluster_directories::ClusterDirectories;
pub use components::HELM_TIMEOUT_SECONDS;
pub(crate) use foundation::offer_foundation;
pub(crate) use of_cluster::ClusterBootstrap;
use script_crds::UnclearCrds;

/// A file or a directory that is applied before GitOps starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeededPath {
    pub path: String,
    pub kind: SeededPathKind,
    /// The namespace that the command gives to objects that name none.
    pub namespace: Option<String>,
}

/// How what is at a path is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeededPathKind {
    /// As it is.
    File,
    /// Built with kustomize.
    Directory,
}

/// A file or directory, by its place in the bootstrap's list of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SeededPathIndex(usize);

/// An object that is applied before GitOps starts.
#[derive(Clone, Debug)]
struct SeededObject {
    node: Node,
    /// What holds it.
    from: SeededPathIndex,
    /// The release whose hook applies it.
    hook: Option<ReleaseIndex>,
}

/// A Namespace, Secret or ConfigMap that is there before GitOps starts, of which only the name is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeededName {
    pub kind: CreatedKind,
    /// Empty for a Namespace.
    pub namespace: String,
    pub name: String,
    /// Where that is written.
    pub at: Span,
}

/// A helmfile, a script that installs charts, or a directory of Terraform that does.
#[derive(Clone, Debug)]
struct Run {
    path: String,
    /// The files of its releases; none without any.
    files: BTreeSet<FileId>,
}

/// A directory that is built and applied, with the charts that kustomize renders into it as if they were helmfiles.
struct BuiltDirectory {
    path: String,
    build: kustomize::Build,
    charts: Vec<Helmfile>,
}

impl BuiltDirectory {
    fn of(repository: &Repository, path: String, budget: &mut Budget) -> Self {
        let mut build = repository.build(&path, &kustomize::Overlay::default(), budget);
        let charts = inflated_charts::take(repository, &mut build);
        Self { path, build, charts }
    }
}

/// Everything that a bootstrap brings, to any cluster.
#[derive(Debug, Default)]
pub struct Bootstrap {
    /// In their order.
    runs: Vec<Run>,
    releases: Vec<Release>,
    paths: Vec<SeededPath>,
    objects: Vec<SeededObject>,
    named: Vec<SeededName>,
    /// Where a script or a Terraform file restores the sealing key; looked for only where something is sealed.
    sealing_key: OnceLock<Option<Span>>,
    crds: Vec<FetchedCrd>,
    /// Files that it uses: not dead, though Flux does not reach them.
    files: Vec<String>,
    /// Programs that seem to be part of it, in languages that are not read.
    programs: Vec<String>,
    unclear_crds: Vec<UnclearCrds>,
    /// What its scripts apply and is not there.
    missing: Vec<MissingFile>,
    /// Its steps, whichever cluster they are of.
    boot: Boot,
    /// What else of it is not seen.
    blind: Vec<BlindSpot>,
}

impl Bootstrap {
    /// Reads all of it, with the knowledge that the program comes with.
    pub fn of(repository: &Repository) -> Self {
        Self::read(repository, Catalogue::embedded())
    }

    /// Reads all of it.
    pub fn read(repository: &Repository, catalogue: &Catalogue) -> Self {
        let scripts = Scripts::read(repository);
        let (mut helmfiles, mut blind) = helmfile::helmfiles(repository, &scripts);
        blind.extend(scripts.unread());
        helmfile::remove_leftovers(repository, &mut helmfiles, &mut blind);
        for script in script_releases::by_scripts(&scripts) {
            helmfiles.extend(unknown(&helmfiles, script));
        }
        let mut provided = terraform::provided(repository);
        provided.charts.extend(ansible::charts(repository));
        let seeds = seeds::find(repository, &scripts, &helmfiles, &provided.objects);
        let mut ledger = Ledger::default();
        let directory = |path| ledger.one(|budget| BuiltDirectory::of(repository, path, budget));
        let built: Vec<BuiltDirectory> = seeds.directories.into_iter().map(directory).collect();
        // Directories are applied before anything else is installed.
        helmfiles.splice(0..0, built.iter().flat_map(|directory| directory.charts.iter().cloned()));
        let layers = Layers::of(repository, &scripts);
        blind.extend(layers.unseen());
        let mut faults = gates::faults(&scripts);
        faults.extend(terraform::faults::find(&Judge { repository, catalogue, layers: &layers, scripts: &scripts }));
        faults.sort();
        // A script that Terraform runs may be found both ways.
        faults.dedup_by(|one, other| one.at == other.at && one.defect == other.defect);
        let boot = crate::boot::read(&Sources {
            repository,
            catalogue,
            layers: &layers,
            scripts: &scripts,
            helmfiles: &helmfiles,
        });
        // What Terraform installs is there before helmfiles run: it makes the machines.
        let by_terraform = terraform_releases::by_terraform(&boot, &layers).into_iter();
        let by_terraform: Vec<Helmfile> = by_terraform.filter_map(|run| unknown(&helmfiles, run)).collect();
        helmfiles.splice(0..0, by_terraform);
        let mut bootstrap = Self {
            named: seeds.named,
            crds: terraform_crds::of(&provided, catalogue, remote_crds::find(repository, catalogue)),
            programs: programs::find(repository),
            unclear_crds: script_crds::unclear(&scripts),
            missing: scripts::missing_files(&scripts),
            boot: Boot { near: crate::boot::near(&boot, &layers, &faults), faults, ..boot },
            blind,
            ..Self::default()
        };
        for helmfile in helmfiles {
            bootstrap.files.push(helmfile.path.clone());
            let files = helmfile.releases.iter().map(|release| release.span.file).collect();
            bootstrap.runs.push(Run { path: helmfile.path, files });
            bootstrap.releases.extend(helmfile.releases);
        }
        for directory in built {
            bootstrap.seed_directory(directory);
        }
        for file in seeds.files {
            bootstrap.files.push(file.path.clone());
            let path = SeededPath { path: file.path, kind: SeededPathKind::File, namespace: file.namespace };
            bootstrap.seed(path, file.objects);
        }
        bootstrap
    }

    fn seed_directory(&mut self, directory: BuiltDirectory) {
        let whole = Unseen::Named(directory.path.clone());
        let path = SeededPath { path: directory.path, kind: SeededPathKind::Directory, namespace: None };
        self.seed(path, directory.build.objects);
        self.files.extend(directory.build.files);
        self.blind.extend(directory.build.blind.into_iter().map(|it| {
            let (what, why) = overlooked(it.what, &whole);
            BlindSpot { what, why, at: it.span, component: None }
        }));
    }

    /// Adds what a file or a directory holds.
    fn seed(&mut self, path: SeededPath, objects: Vec<Node>) {
        let applies =
            |release: &Release| release.applies.iter().any(|hooked| hooked.is_after && hooked.path == path.path);
        let hook = self.releases.iter().position(applies).map(ReleaseIndex);
        let from = SeededPathIndex(self.paths.len());
        self.objects.extend(objects.into_iter().map(|node| SeededObject { node, from, hook }));
        self.paths.push(path);
    }

    /// The helmfiles, and the scripts that install charts, in the order they run.
    pub fn helmfiles(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|run| run.path.as_str())
    }

    /// Its releases, in the order they run.
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The files and directories that are applied: first directories, then files, each sorted.
    pub fn paths(&self) -> &[SeededPath] {
        &self.paths
    }

    /// What scripts, templates and Terraform make by name, each once for each directory: two clusters may have one of the same name, each its own.
    pub fn named(&self) -> &[SeededName] {
        &self.named
    }

    /// Whether it makes a Secret of this name, for any cluster.
    pub fn makes_secret(&self, namespace: &str, name: &str) -> bool {
        let secret = |it: &SeededName| it.kind == CreatedKind::Secret && it.namespace == namespace;
        let means = |it: &SeededName| Capability::cluster(CapabilityKind::Secret, it.name.as_str()).means(name);
        let is_it = |it: &SeededObject| {
            let object = Object::new(&it.node);
            let home = self.paths[it.from.0].namespace.as_deref().unwrap_or("default");
            let own = if object.namespace().is_empty() { home } else { object.namespace() };
            object.kind() == "Secret" && own == namespace && object.name() == name
        };
        self.named.iter().any(|it| secret(it) && means(it)) || self.objects.iter().any(is_it)
    }

    /// What of it is not seen.
    pub fn blind(&self) -> &[BlindSpot] {
        &self.blind
    }

    /// Its steps, whichever cluster they are of.
    pub(crate) fn boot(&self) -> &Boot {
        &self.boot
    }

    /// Files that it uses: not dead, though Flux does not reach them.
    pub(crate) fn files(&self) -> &[String] {
        &self.files
    }

    /// Which of those that run, in their order, a release belongs to.
    fn run_of(&self, release: &Release) -> usize {
        self.runs.iter().position(|run| run.files.contains(&release.span.file)).unwrap_or(0)
    }

    /// Where a script or a Terraform file restores the sealing key.
    fn sealing_key(&self, repository: &Repository) -> Option<Span> {
        *self.sealing_key.get_or_init(|| sealing_key::find(repository))
    }
}

/// What a script or Terraform installs and no helmfile does: a task that installs one of its releases again is a repair, not a step, and
/// what Terraform installs before the helmfile runs is that release.
fn unknown(helmfiles: &[Helmfile], mut script: Helmfile) -> Option<Helmfile> {
    let own = before_bootstrap(&script.path).to_owned();
    let is_near = |helmfile: &&Helmfile| {
        let other = before_bootstrap(&helmfile.path);
        path::is_below(other, &own) || path::is_below(&own, other)
    };
    let known: BTreeSet<(EcoString, EcoString)> = helmfiles
        .iter()
        .filter(is_near)
        .flat_map(|helmfile| &helmfile.releases)
        .filter(|release| !release.only_crds)
        .map(|release| (release.namespace.clone(), release.name.clone()))
        .collect();
    let is_known = |release: &Release| known.contains(&(release.namespace.clone(), release.name.clone()));
    script.releases.retain(|release| release.only_crds || !is_known(release));
    (!script.releases.is_empty()).then_some(script)
}
