//! What is wrong, layer by layer, and how many are right. Nothing here decides what is a root.

mod admission;
mod api;
mod certificates;
mod dns;
mod gitops;
mod machines;
mod missing;
mod network;
mod nodes;
mod platform;
mod pods;
mod secrets;
mod storage;
mod workloads;

use std::collections::BTreeMap;

use ecow::EcoString;

use crate::facts::{Facts, Listed, ObjectKey, Why};
use crate::status::{Count, Gap, LayerName, What};
use crate::symptom::Symptom;
use crate::view::View;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) symptoms: Vec<Symptom>,
    pub(crate) counts: BTreeMap<LayerName, Vec<Count>>,
    /// Lists that a layer is proved by and that are not whole.
    pub(crate) unseen: BTreeMap<LayerName, Why>,
    pub(crate) gaps: Vec<Gap>,
    /// Objects that something names and that do not exist.
    pub(crate) missing: BTreeMap<ObjectKey, LayerName>,
}

impl Found {
    pub(crate) fn add(&mut self, symptom: Symptom) {
        self.symptoms.push(symptom);
    }

    /// Of `of` things so many are right. Nothing is said of none.
    pub(crate) fn count(&mut self, layer: LayerName, what: What, good: usize, of: usize) {
        if of > 0 {
            self.counts.entry(layer).or_default().push(Count { what, good, of });
        }
    }

    /// A list that a layer is proved by.
    pub(crate) fn needs<T>(&mut self, layer: LayerName, list: &Listed<T>) {
        if let Some(why) = list.gap.as_ref().filter(|why| !why.is_absence()) {
            self.unseen.entry(layer).or_insert_with(|| why.clone());
        }
    }

    /// A list that is not whole although it was asked for.
    fn gap<T>(&mut self, kind: &str, list: &Listed<T>) {
        if let Some(why) = list.gap.as_ref().filter(|why| !why.is_absence() && **why != Why::NotAsked) {
            self.gaps.push(Gap { kind: EcoString::from(kind), why: why.clone() });
        }
    }

    /// Something names it: if it does not exist, that is a symptom of its own.
    pub(crate) fn named(&mut self, view: &View<'_>, key: &ObjectKey, layer: LayerName) {
        if view.exists(key) == Some(false) {
            self.missing.entry(key.clone()).or_insert(layer);
        }
    }
}

/// All of it.
pub(crate) fn detect(view: &View<'_>) -> Found {
    let mut found = Found::default();
    gaps(view.facts, &mut found);
    machines::detect(view, &mut found);
    api::detect(view, &mut found);
    admission::detect(view, &mut found);
    nodes::detect(view, &mut found);
    network::detect(view, &mut found);
    dns::detect(view, &mut found);
    secrets::detect(view, &mut found);
    storage::detect(view, &mut found);
    certificates::detect(view, &mut found);
    gitops::detect(view, &mut found);
    platform::detect(view, &mut found);
    pods::detect(view, &mut found);
    workloads::detect(view, &mut found);
    missing::detect(view, &mut found);
    found
}

/// Every list that was asked for and is not whole.
fn gaps(facts: &Facts, found: &mut Found) {
    found.gap("nodes", &facts.nodes);
    found.gap("namespaces", &facts.namespaces);
    found.gap("pods", &facts.pods);
    found.gap("deployments.apps", &facts.deployments);
    found.gap("daemonsets.apps", &facts.daemon_sets);
    found.gap("statefulsets.apps", &facts.stateful_sets);
    found.gap("replicasets.apps", &facts.replica_sets);
    found.gap("jobs.batch", &facts.jobs);
    found.gap("services", &facts.services);
    found.gap("endpointslices.discovery.k8s.io", &facts.endpoints);
    found.gap("leases.coordination.k8s.io", &facts.leases);
    found.gap("customresourcedefinitions.apiextensions.k8s.io", &facts.crds);
    found.gap("apiservices.apiregistration.k8s.io", &facts.api_services);
    found.gap("certificatesigningrequests.certificates.k8s.io", &facts.csrs);
    found.gap("validatingwebhookconfigurations.admissionregistration.k8s.io", &facts.validating_webhooks);
    found.gap("mutatingwebhookconfigurations.admissionregistration.k8s.io", &facts.mutating_webhooks);
    found.gap("persistentvolumeclaims", &facts.claims);
    found.gap("persistentvolumes", &facts.volumes);
    found.gap("storageclasses.storage.k8s.io", &facts.storage_classes);
    found.gap("csinodes.storage.k8s.io", &facts.csi_nodes);
    found.gap("csidrivers.storage.k8s.io", &facts.csi_drivers);
    found.gap("volumeattachments.storage.k8s.io", &facts.attachments);
    found.gap("secrets", &facts.secrets);
    found.gap("configmaps", &facts.config_maps);
    found.gap("events", &facts.events);
    found.gap("certificates.cert-manager.io", &facts.certificates);
    found.gap("issuers.cert-manager.io", &facts.issuers);
    found.gap("clusterissuers.cert-manager.io", &facts.cluster_issuers);
    found.gap("gitrepositories.source.toolkit.fluxcd.io", &facts.git_repositories);
    found.gap("ocirepositories.source.toolkit.fluxcd.io", &facts.oci_repositories);
    found.gap("helmrepositories.source.toolkit.fluxcd.io", &facts.helm_repositories);
    found.gap("helmcharts.source.toolkit.fluxcd.io", &facts.helm_charts);
    found.gap("buckets.source.toolkit.fluxcd.io", &facts.buckets);
    found.gap("kustomizations.kustomize.toolkit.fluxcd.io", &facts.kustomizations);
    found.gap("helmreleases.helm.toolkit.fluxcd.io", &facts.helm_releases);
    found.gap("fluxinstances.fluxcd.controlplane.io", &facts.flux_instances);
    found.gap("resourcesets.fluxcd.controlplane.io", &facts.resource_sets);
    found.gap("externalsecrets.external-secrets.io", &facts.external_secrets);
    found.gap("secretstores.external-secrets.io", &facts.secret_stores);
    found.gap("clustersecretstores.external-secrets.io", &facts.cluster_secret_stores);
    found.gap("sealedsecrets.bitnami.com", &facts.sealed_secrets);
    for (kind, list) in &facts.others {
        found.gap(kind, list);
    }
    found.gap("machines", &facts.machines);
}
