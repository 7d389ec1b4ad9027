//! Facts, indexed: what exists, what owns what, what stands behind a Service.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::Time;
use crate::facts::{Facts, Lease, Listed, Meta, Node, ObjectKey, Pod, ServiceRef, Truth, Workload, condition};
use crate::known;
use crate::status::{Expected, LayerName};

/// A name in a namespace.
type Place<'a> = (&'a str, &'a str);

pub(crate) struct View<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) expected: Option<&'a Expected>,
    pub(crate) now: Time,
    /// Kind, namespace, name of everything that was seen.
    objects: BTreeSet<(&'a str, &'a str, &'a str)>,
    /// Pods by the controller that people know.
    pods_of: BTreeMap<ObjectKey, Vec<&'a Pod>>,
    replica_sets: BTreeMap<Place<'a>, &'a Workload>,
    pub(crate) nodes: BTreeMap<&'a str, &'a Node>,
    node_leases: BTreeMap<&'a str, &'a Lease>,
    /// What leases are compared with.
    leases_at: Option<Time>,
    /// Ready and all endpoints.
    endpoints: BTreeMap<Place<'a>, (usize, usize)>,
    workloads: Vec<&'a Workload>,
    by_key: BTreeMap<ObjectKey, &'a Workload>,
}

impl<'a> View<'a> {
    pub(crate) fn new(facts: &'a Facts, expected: Option<&'a Expected>, now: Time) -> Self {
        let replica_sets =
            facts.replica_sets.iter().map(|set| ((&*set.meta.namespace, &*set.meta.name), set)).collect();
        let mut view = Self {
            facts,
            expected,
            now,
            objects: objects(facts),
            pods_of: BTreeMap::new(),
            replica_sets,
            nodes: facts.nodes.iter().map(|node| (&*node.meta.name, node)).collect(),
            node_leases: node_leases(facts),
            leases_at: leases_at(facts, now),
            endpoints: endpoints(facts),
            workloads: Vec::new(),
            by_key: BTreeMap::new(),
        };
        let lists = [&facts.deployments, &facts.daemon_sets, &facts.stateful_sets, &facts.jobs];
        view.workloads = lists.into_iter().flatten().collect();
        // A ReplicaSet of its own is a workload like any other.
        view.workloads.extend(facts.replica_sets.iter().filter(|set| set.meta.owner.is_none()));
        view.by_key = view.workloads.iter().map(|it| (key(it), *it)).collect();
        for pod in &facts.pods {
            let owner = view.controller(pod);
            view.pods_of.entry(owner).or_default().push(pod);
        }
        view
    }

    /// Deployments, DaemonSets, StatefulSets, Jobs, and ReplicaSets that nothing owns.
    pub(crate) fn workloads(&self) -> &[&'a Workload] {
        &self.workloads
    }

    pub(crate) fn workload(&self, key: &ObjectKey) -> Option<&'a Workload> {
        self.by_key.get(key).copied()
    }

    /// The ReplicaSets of a Deployment.
    pub(crate) fn replica_sets_of(&self, deployment: &Workload) -> impl Iterator<Item = &'a Workload> {
        let meta = deployment.meta.clone();
        self.facts.replica_sets.iter().filter(move |set| {
            set.meta.namespace == meta.namespace && set.meta.owner.as_ref().is_some_and(|owner| owner.name == meta.name)
        })
    }

    /// What people know a pod by: its Deployment rather than its ReplicaSet, itself where nothing owns it.
    pub(crate) fn controller(&self, pod: &Pod) -> ObjectKey {
        let Some(owner) = &pod.meta.owner else { return pod.meta.key("", "Pod") };
        let namespace = &*pod.meta.namespace;
        if owner.kind == "ReplicaSet"
            && let Some(set) = self.replica_sets.get(&(namespace, &*owner.name))
            && let Some(owner) = &set.meta.owner
        {
            return ObjectKey::new(&owner.group, &owner.kind, namespace, &owner.name);
        }
        // A static pod belongs to its node, and is known by its own name.
        if owner.kind == "Node" {
            return pod.meta.key("", "Pod");
        }
        ObjectKey::new(&owner.group, &owner.kind, namespace, &owner.name)
    }

    pub(crate) fn pods_of(&self, controller: &ObjectKey) -> &[&'a Pod] {
        self.pods_of.get(controller).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn layer_of(&self, controller: &ObjectKey, pod: &Pod) -> LayerName {
        match self.workload(controller) {
            Some(workload) => known::layer(&workload.meta, &workload.images),
            None => known::layer(&pod.meta, &[]),
        }
    }

    /// Whether it exists; none where that was not seen.
    pub(crate) fn exists(&self, key: &ObjectKey) -> Option<bool> {
        if self.objects.contains(&(&*key.kind, &*key.namespace, &*key.name)) {
            return Some(true);
        }
        self.is_whole(&key.kind).then_some(false)
    }

    /// Whether all objects of a kind were seen.
    fn is_whole(&self, kind: &str) -> bool {
        let facts = self.facts;
        match kind {
            "Secret" => facts.secrets.is_whole(),
            "ConfigMap" => facts.config_maps.is_whole(),
            "Namespace" => facts.namespaces.is_whole(),
            "Service" => facts.services.is_whole(),
            "PersistentVolumeClaim" => facts.claims.is_whole(),
            "StorageClass" => facts.storage_classes.is_whole(),
            "Issuer" => facts.issuers.is_whole(),
            "ClusterIssuer" => facts.cluster_issuers.is_whole(),
            "SecretStore" => facts.secret_stores.is_whole(),
            "ClusterSecretStore" => facts.cluster_secret_stores.is_whole(),
            "Kustomization" => facts.kustomizations.is_whole(),
            "HelmRelease" => facts.helm_releases.is_whole(),
            "ResourceSet" => facts.resource_sets.is_whole(),
            "GitRepository" => facts.git_repositories.is_whole(),
            "OCIRepository" => facts.oci_repositories.is_whole(),
            "HelmRepository" => facts.helm_repositories.is_whole(),
            "HelmChart" => facts.helm_charts.is_whole(),
            "Bucket" => facts.buckets.is_whole(),
            "Deployment" => facts.deployments.is_whole(),
            "DaemonSet" => facts.daemon_sets.is_whole(),
            "StatefulSet" => facts.stateful_sets.is_whole(),
            _ => false,
        }
    }

    /// Whether the CRD of a kind exists; none where CRDs were not seen. A kind without a dot in its group is built in.
    pub(crate) fn crd_of(&self, group: &str, kind: &str) -> Option<&'a crate::facts::Crd> {
        self.facts.crds.iter().find(|crd| crd.group == group && crd.kind == kind)
    }

    /// Ready and all endpoints of a Service; none where they were not all seen.
    pub(crate) fn endpoints(&self, service: &ServiceRef) -> Option<(usize, usize)> {
        let found = self.endpoints.get(&(&*service.namespace, &*service.name)).copied();
        found.or_else(|| self.facts.endpoints.is_whole().then_some((0, 0)))
    }

    /// Workloads whose pods a Service selects.
    pub(crate) fn backends(&self, service: &ServiceRef) -> Vec<ObjectKey> {
        let same = |meta: &Meta| meta.is_at(&service.namespace, &service.name);
        let Some(found) = self.facts.services.iter().find(|it| same(&it.meta)) else { return Vec::new() };
        let here = self.workloads.iter().filter(|it| it.meta.namespace == service.namespace);
        here.filter(|it| it.pod_labels.match_all(&found.selector)).map(|it| key(it)).collect()
    }

    pub(crate) fn age(&self, since: Option<Time>) -> Option<Duration> {
        since.map(|since| self.now.since(since))
    }

    /// Whether something happened at least so long ago. What has no date is old.
    pub(crate) fn is_older(&self, since: Option<Time>, than: Duration) -> bool {
        self.age(since).is_none_or(|age| age >= than)
    }

    /// Whether a lease was not renewed for so long. Leases are compared with one another and with when they were seen, not
    /// with the time of day: where none is fresh, it is our clock or what we saw that is old.
    pub(crate) fn is_lapsed(&self, lease: &Lease, after: Duration) -> bool {
        self.leases_at.is_some_and(|at| lease.renewed.is_none_or(|renewed| at.since(renewed) >= after))
    }

    /// The lease of a node.
    pub(crate) fn node_lease(&self, node: &str) -> Option<&'a Lease> {
        self.node_leases.get(node).copied()
    }

    pub(crate) fn is_ready_node(&self, name: &str) -> bool {
        self.nodes.get(name).is_some_and(|node| node.ready().is_some_and(|ready| ready.status == Truth::True))
    }

    /// Custom resources of a kind, where they were listed.
    pub(crate) fn others(&self, kind: &str) -> Option<&'a Listed<crate::facts::Custom>> {
        self.facts.others.get(kind)
    }

    /// The newest event about an object with one of these reasons, if it is not old.
    pub(crate) fn event(
        &self,
        about: &ObjectKey,
        reasons: &[&str],
        not_older: Duration,
    ) -> Option<&'a crate::facts::Event> {
        let same = |event: &&crate::facts::Event| {
            event.about.kind == about.kind && event.about.namespace == about.namespace && event.about.name == about.name
        };
        let recent = self.facts.events.iter().filter(same).filter(|event| reasons.contains(&&*event.reason));
        recent.filter(|event| self.age(event.last).is_some_and(|age| age <= not_older)).max_by_key(|event| event.last)
    }

    pub(crate) fn truth(conditions: &[crate::facts::Condition], kind: &str) -> Option<Truth> {
        condition(conditions, kind).map(|it| it.status)
    }
}

pub(crate) fn key(workload: &Workload) -> ObjectKey {
    let kind = workload.workload.kind();
    workload.meta.key(&kind.group, &kind.kind)
}

fn node_leases(facts: &Facts) -> BTreeMap<&str, &Lease> {
    let own = facts.leases.iter().filter(|it| it.meta.namespace == "kube-node-lease");
    own.map(|it| (&*it.meta.name, it)).collect()
}

fn leases_at(facts: &Facts, now: Time) -> Option<Time> {
    const FRESH: Duration = Duration::from_mins(1);
    let newest = facts.leases.iter().filter_map(|it| it.renewed).max()?;
    let seen = facts.leases.seen.unwrap_or(now);
    Some(if seen.since(newest) < FRESH { seen } else { newest })
}

fn endpoints(facts: &Facts) -> BTreeMap<Place<'_>, (usize, usize)> {
    let mut counts: BTreeMap<Place<'_>, (usize, usize)> = BTreeMap::new();
    for slice in &facts.endpoints {
        let count = counts.entry((&slice.meta.namespace, &slice.service)).or_default();
        count.0 += slice.endpoints.iter().filter(|it| it.ready).count();
        count.1 += slice.endpoints.len();
    }
    counts
}

/// Everything that may be named by something else.
fn objects(facts: &Facts) -> BTreeSet<(&str, &str, &str)> {
    fn of<'a, T>(
        list: &'a Listed<T>,
        kind: &'a str,
        meta: impl Fn(&'a T) -> &'a Meta + 'a,
    ) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        list.iter().map(move |it| (kind, &*meta(it).namespace, &*meta(it).name))
    }
    let mut all: BTreeSet<(&str, &str, &str)> = BTreeSet::new();
    all.extend(of(&facts.secrets, "Secret", |it| &it.meta));
    all.extend(of(&facts.config_maps, "ConfigMap", |it| &it.meta));
    all.extend(of(&facts.namespaces, "Namespace", |it| &it.meta));
    all.extend(of(&facts.services, "Service", |it| &it.meta));
    all.extend(of(&facts.claims, "PersistentVolumeClaim", |it| &it.meta));
    all.extend(of(&facts.storage_classes, "StorageClass", |it| &it.meta));
    all.extend(of(&facts.issuers, "Issuer", |it| &it.meta));
    all.extend(of(&facts.cluster_issuers, "ClusterIssuer", |it| &it.meta));
    all.extend(of(&facts.secret_stores, "SecretStore", |it| &it.meta));
    all.extend(of(&facts.cluster_secret_stores, "ClusterSecretStore", |it| &it.meta));
    all.extend(of(&facts.kustomizations, "Kustomization", |it| &it.meta));
    all.extend(of(&facts.helm_releases, "HelmRelease", |it| &it.meta));
    all.extend(of(&facts.resource_sets, "ResourceSet", |it| &it.meta));
    all.extend(of(&facts.deployments, "Deployment", |it| &it.meta));
    all.extend(of(&facts.daemon_sets, "DaemonSet", |it| &it.meta));
    all.extend(of(&facts.stateful_sets, "StatefulSet", |it| &it.meta));
    for list in
        [&facts.git_repositories, &facts.oci_repositories, &facts.helm_repositories, &facts.helm_charts, &facts.buckets]
    {
        all.extend(list.iter().map(|it| (&*it.kind, &*it.meta.namespace, &*it.meta.name)));
    }
    for list in facts.others.values() {
        all.extend(list.iter().map(|it| (&*it.kind.kind, &*it.meta.namespace, &*it.meta.name)));
    }
    all
}
