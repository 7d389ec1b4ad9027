//! Files that a cold start rests on, versions, and the APIs that each Terraform directory speaks to.

use std::collections::BTreeMap;

use model::{BootStep, ObjectRef, Role, Stage};
use read::platform::Platform;
use read::terraform::Purpose;
use serde::Serialize;

use crate::document::Place;
use crate::facts::Facts;

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyFileRole {
    Settings,
    Machines,
    Terraform,
    Bootstrap,
    Values,
    EntryPoint,
    /// A directory that holds most of what Flux applies.
    Applications,
    Sources,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct KeyFile {
    pub role: KeyFileRole,
    pub path: String,
}

/// A version that is written somewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Version {
    pub name: String,
    pub chart: Option<String>,
    pub version: String,
    pub by_bootstrap: bool,
    pub at: Option<Place>,
}

/// A directory of Terraform with the APIs that it speaks to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Api {
    pub directory: String,
    /// What it is for, as a word that programs read.
    pub purpose: &'static str,
    pub providers: Vec<String>,
    pub reads: Vec<String>,
}

pub(crate) fn apis(facts: &Facts<'_>) -> Vec<Api> {
    let boot = &facts.cluster.facts.boot;
    let is_of = |step: &BootStep, path: &str| step.object.kind == "Terraform" && step.object.namespace == path;
    let starts = |path: &str| boot.starts().any(|id| is_of(boot.step(id), path));
    let one = |directory: &read::terraform::Directory| Api {
        directory: directory.path.clone(),
        purpose: match directory.purpose {
            _ if starts(&directory.path) => "start",
            _ if facts.is_not_run(&directory.path) => "leftover",
            Purpose::Keys => "keys",
            Purpose::Machines => "machines",
            Purpose::Cluster => "cluster",
            Purpose::Services => "services",
            Purpose::Flux => "flux",
            Purpose::Other => "other",
        },
        providers: directory.providers.clone(),
        reads: directory.reads.clone(),
    };
    facts.inventory.terraform.iter().map(one).collect()
}

pub(crate) fn key_files(facts: &Facts<'_>) -> Vec<KeyFile> {
    let cluster = facts.cluster;
    let mut found: Vec<KeyFile> = Vec::new();
    let mut add = |role: KeyFileRole, path: String| {
        let file = KeyFile { role, path };
        if !file.path.is_empty() && !found.contains(&file) {
            found.push(file);
        }
    };
    if let Some(settings) = facts.settings_file {
        add(KeyFileRole::Settings, settings.to_owned());
    }
    for group in facts.inventory.groups.iter().take(1) {
        add(KeyFileRole::Machines, group.from.clone());
    }
    for directory in &facts.inventory.terraform {
        add(KeyFileRole::Terraform, directory.path.clone());
    }
    for component in cluster.components.iter().filter(|component| component.stage == Stage::Bootstrap) {
        if let Some(place) = facts.place(component.at) {
            add(KeyFileRole::Bootstrap, place.path);
        }
    }
    for step in cluster.facts.boot.steps.iter().filter(|step| step.object.kind == "Script") {
        add(KeyFileRole::Bootstrap, step.object.namespace.to_string());
    }
    let bootstrap = &cluster.facts.bootstrap;
    for path in bootstrap.files.iter().chain(&bootstrap.directories) {
        add(KeyFileRole::Bootstrap, path.clone());
    }
    for path in bootstrap.values.values().flatten() {
        add(KeyFileRole::Values, path.clone());
    }
    add(KeyFileRole::EntryPoint, cluster.name.clone());
    let mut applied: BTreeMap<model::ComponentId, usize> = BTreeMap::new();
    for parent in cluster.components.iter().filter(|it| it.role == Role::Kustomization).filter_map(|it| it.parent) {
        *applied.entry(parent).or_default() += 1;
    }
    if let Some((largest, _)) = applied.into_iter().max_by_key(|(id, count)| (*count, std::cmp::Reverse(*id)))
        && let Some(path) = &cluster.component(largest).path
    {
        add(KeyFileRole::Applications, path.clone());
    }
    let sources = cluster.offers.iter().filter(|offer| offer.capability.kind == model::CapabilityKind::Source);
    let mut directories: BTreeMap<String, usize> = BTreeMap::new();
    for place in sources.filter_map(|offer| facts.place(offer.at)) {
        let directory = place.path.rsplit_once('/').map_or(String::new(), |(directory, _)| directory.to_owned());
        *directories.entry(directory).or_default() += 1;
    }
    if let Some((directory, _)) =
        directories.into_iter().filter(|(_, count)| *count > 1).max_by_key(|(_, count)| *count)
    {
        add(KeyFileRole::Sources, directory);
    }
    found.sort();
    found
}

pub(crate) fn versions(facts: &Facts<'_>) -> Vec<Version> {
    let flux = facts.cluster.facts.flux.as_ref().map(|flux| Version {
        name: "Flux".to_owned(),
        chart: None,
        version: flux.written.to_string(),
        by_bootstrap: false,
        at: facts.place(flux.at),
    });
    let platform = facts.platform().iter().map(|it| Version {
        name: match it.of {
            Platform::Kubernetes => "Kubernetes".to_owned(),
            Platform::Talos => "Talos".to_owned(),
        },
        chart: None,
        version: it.version.to_string(),
        by_bootstrap: true,
        at: facts.place(it.at),
    });
    let name = |release: &ObjectRef| release.path();
    let charts = facts.versions.iter().map(|it| Version {
        name: name(&it.release),
        chart: Some(it.chart.to_string()),
        version: it.version.to_string(),
        by_bootstrap: it.stage == Stage::Bootstrap,
        at: facts.place(it.at),
    });
    let mut all: Vec<Version> = flux.into_iter().chain(platform).chain(charts).collect();
    all.sort_by(|a, b| (!a.by_bootstrap, &a.name).cmp(&(!b.by_bootstrap, &b.name)));
    all
}
