//! Custom resources: who looks after them, what they wait for, what comes of them.

use std::collections::BTreeMap;

use catalogue::Made;
use ecow::EcoString;
use model::MadeKind;
use source::FileId;
use yaml::Node;

use super::builder::Builder;
use super::references::References;
use crate::blueprint::{Id, Prerequisite, ThingRole};

/// Objects that operators make, by kind.
const MADE: [(&str, &str); 6] = [
    ("StatefulSet", "apps/v1"),
    ("Deployment", "apps/v1"),
    ("DaemonSet", "apps/v1"),
    ("ExternalSecret", "external-secrets.io/v1"),
    ("ConfigMap", "v1"),
    ("Service", "v1"),
];

/// Kinds that nobody waits for: they are as good as done when they are there.
const DECORATIONS: [&str; 12] = [
    "ServiceMonitor",
    "PodMonitor",
    "PrometheusRule",
    "Probe",
    "ScrapeConfig",
    "GrafanaDashboard",
    "GrafanaDatasource",
    "VMServiceScrape",
    "VMPodScrape",
    "VMRule",
    "HTTPRoute",
    "Silence",
];

/// By software: the first draft of it that runs anything, and the first of its pods.
type Running<'a> = BTreeMap<&'a str, (usize, Id)>;

impl<'a> Builder<'a> {
    /// What the controllers of custom resources make for them.
    pub(crate) fn intern_made(&mut self) {
        let mut makers: BTreeMap<&str, Vec<&Made>> = BTreeMap::new();
        for made in self.catalogue.components().iter().flat_map(|component| &component.makes) {
            makers.entry(made.for_kind.as_str()).or_default().push(made);
        }
        let mut at = 0;
        // What is made may be a custom resource itself.
        while at < self.out.customs.len() {
            let id = self.out.customs[at].id;
            at += 1;
            let thing = self.out.thing(id).clone();
            let key = format!("{}/{}", thing.group(), thing.kind);
            let node = self.nodes.get(&id).cloned().or_else(|| nameless(&thing.name));
            let Some(node) = node else { continue };
            let mut all = Vec::new();
            let made = makers.get(key.as_str()).into_iter().flatten();
            for made in made.filter(|made| catalogue::any_holds(&made.when, Some(&node))) {
                all.extend(self.made(made, &node, &thing.namespace));
            }
            for made in &all {
                self.made_by.entry(*made).or_insert(id);
                self.provided.insert(*made);
            }
            if let Some(custom) = self.custom_mut(id) {
                custom.makes = all;
            }
        }
    }

    fn made(&mut self, made: &Made, node: &Node, namespace: &str) -> Vec<Id> {
        let lists = [("Secret", &made.secrets), ("ConfigMap", &made.config_maps), ("Service", &made.services)];
        let mut ids = Vec::new();
        for (kind, patterns) in lists {
            for name in patterns.iter().flat_map(|pattern| Made::all_names(pattern, node)) {
                ids.push(self.thing("v1", kind, namespace, &name));
            }
        }
        for object in &made.objects {
            let Some((kind, pattern)) = object.split_once(':') else { continue };
            let Some((_, api)) = MADE.iter().find(|(known, _)| *known == kind) else { continue };
            for name in Made::all_names(pattern, node) {
                ids.push(self.thing(api, kind, namespace, &name));
            }
        }
        ids
    }

    pub(crate) fn resolve_customs(&mut self) {
        let running = self.running();
        for at in 0..self.out.customs.len() {
            let id = self.out.customs[at].id;
            let controller = self.controller(id, &running);
            let mut needs = self.custom_needs(id);
            let makes = self.out.customs[at].makes.clone();
            needs.retain(|need| !makes.contains(&need.id) && need.id != id);
            let told = self.told_delay(id);
            let custom = &mut self.out.customs[at];
            custom.controller = controller;
            custom.needs = needs;
            custom.takes = told.unwrap_or(custom.takes);
            self.made_pods(id);
        }
        self.let_talkers_come_up();
    }

    /// Programs that talk to each other come up all the same: a host is waited for only where it does not wait in turn.
    fn let_talkers_come_up(&mut self) {
        let talks: Vec<(usize, Id)> = (0..self.out.customs.len())
            .flat_map(|at| self.hosts_of(self.out.customs[at].id).into_iter().map(move |on| (at, on)))
            .collect();
        for (at, on) in talks {
            if self.waits_for(on, self.out.customs[at].id) {
                self.out.customs[at].needs.retain(|need| need.id != on);
            }
        }
    }

    /// The custom resources behind the hosts that one names.
    fn hosts_of(&self, id: Id) -> Vec<Id> {
        let hosts = self.nodes.get(&id).map(|node| References::of(node).hosts).unwrap_or_default();
        let services = hosts.iter().filter_map(|(name, of)| self.find("", "Service", of, name));
        services.filter_map(|service| self.made_by.get(&service)).copied().collect()
    }

    /// Whether a custom resource waits for another, however indirectly.
    fn waits_for(&self, id: Id, other: Id) -> bool {
        let mut seen = std::collections::BTreeSet::from([id]);
        let mut next = vec![id];
        while let Some(at) = next.pop() {
            let ThingRole::Custom(custom) = self.out.role(at) else { continue };
            for need in &self.out.customs[custom as usize].needs {
                if need.id == other {
                    return true;
                }
                if seen.insert(need.id) {
                    next.push(need.id);
                }
            }
        }
        false
    }

    /// Pods that an operator makes need what the resource names.
    fn made_pods(&mut self, id: Id) {
        let namespace = self.out.thing(id).namespace.clone();
        let Some(node) = self.nodes.get(&id).cloned() else { return };
        let mut references = References::of(&node);
        let ThingRole::Custom(at) = self.out.role(id) else { return };
        let pods: Vec<Id> = self.out.customs[at as usize]
            .makes
            .iter()
            .filter(|made| matches!(self.out.role(**made), ThingRole::Workload(_)))
            .copied()
            .collect();
        for pod in pods {
            let name = self.out.thing(pod).name.clone();
            for class in std::mem::take(&mut references.classes) {
                let claim = self.claim(&namespace, &format!("{name}-data"), &class);
                self.maker(
                    MadeKind::Claims,
                    &format!("{namespace}/{name}"),
                    &[Prerequisite::exists(pod)],
                    vec![claim],
                    1.0,
                );
                references.claims.push(self.out.thing(claim).name.clone());
            }
            let (needs, _) = self.reference_needs(&references, &namespace);
            let told = self.told_delay(pod);
            if let Some(workload) = self.workload_mut(pod) {
                workload.needs.extend(needs);
                workload.has_volume |= !references.claims.is_empty();
                workload.startup = told.unwrap_or(workload.startup);
            }
        }
    }

    fn running(&self) -> Running<'a> {
        let mut running = Running::new();
        for (at, draft) in self.drafts.iter().enumerate() {
            if let (Some(known), Some(first)) = (draft.known, draft.workloads.first()) {
                running.entry(known.name.as_str()).or_insert((at, *first));
            }
        }
        running
    }

    /// The first pods of the release whose software owns the kind.
    fn controller(&self, id: Id, running: &Running<'_>) -> Vec<Prerequisite> {
        let thing = self.out.thing(id);
        if DECORATIONS.contains(&thing.kind.as_str()) {
            return Vec::new();
        }
        let owners: Vec<&str> =
            self.catalogue.crd_owners(thing.group(), &thing.kind).map(|owner| owner.name.as_str()).collect();
        let owning = owners.iter().filter_map(|owner| running.get(owner)).min();
        owning.map(|(_, workload)| vec![Prerequisite::ready(*workload)]).unwrap_or_default()
    }

    /// What a custom resource is not ready without.
    fn custom_needs(&mut self, id: Id) -> Vec<Prerequisite> {
        let Some(node) = self.nodes.get(&id).cloned() else { return Vec::new() };
        let thing = self.out.thing(id).clone();
        let mut needs = match (thing.group(), thing.kind.as_str()) {
            // What they write into a Secret is for whoever reads it: a host in there is no need of theirs.
            ("external-secrets.io", "ExternalSecret" | "PushSecret") => return self.stores(&node, &thing.namespace),
            ("bitnami.com", "SealedSecret") => return Vec::new(),
            ("cert-manager.io", "Certificate") => self.issuer(&node, &thing.namespace),
            _ => Vec::new(),
        };
        let mut references = References::of(&node);
        if thing.group() == "cert-manager.io" {
            // A certificate is made out to hosts; it asks none of them.
            references.hosts.clear();
        }
        let makes = match self.out.role(id) {
            ThingRole::Custom(at) => self.out.customs[at as usize].makes.as_slice(),
            _ => &[],
        };
        let makes_pods = makes.iter().any(|made| matches!(self.out.role(*made), ThingRole::Workload(_)));
        for class in references.classes.iter().filter(|_| !makes_pods) {
            needs.push(Prerequisite::ready(self.thing("storage.k8s.io/v1", "StorageClass", "", class)));
        }
        let (more, databases) =
            self.reference_needs(&References { classes: Vec::new(), ..references }, &thing.namespace);
        needs.extend(more);
        needs.extend(databases);
        needs
    }

    fn stores(&self, node: &Node, namespace: &str) -> Vec<Prerequisite> {
        let spec = node.get("spec");
        let one = spec.and_then(|spec| spec.get("secretStoreRef"));
        let lists = ["secretStoreRefs", "data", "dataFrom"];
        let items = lists.iter().flat_map(|list| spec.map(|spec| spec.items_at(list)).unwrap_or_default());
        let inner = items.map(|item| item.at(&["sourceRef", "storeRef"]).unwrap_or(item));
        let named = one.into_iter().chain(inner).filter(|reference| reference.get("name").is_some());
        named
            .filter_map(|reference| {
                let name = reference.get("name")?.text()?;
                let kind = reference.get("kind").and_then(Node::text).unwrap_or("SecretStore");
                let of = if kind == "SecretStore" { namespace } else { "" };
                self.find("external-secrets.io", kind, of, name).map(Prerequisite::ready)
            })
            .collect()
    }

    fn issuer(&self, node: &Node, namespace: &str) -> Vec<Prerequisite> {
        let Some(reference) = node.at(&["spec", "issuerRef"]) else { return Vec::new() };
        let name = reference.get("name").and_then(Node::text).unwrap_or_default();
        let kind = reference.get("kind").and_then(Node::text).unwrap_or("Issuer");
        let of = if kind == "ClusterIssuer" { "" } else { namespace };
        self.find("cert-manager.io", kind, of, name).map(Prerequisite::ready).into_iter().collect()
    }
}

/// A resource that a chart renders: only its name is known.
fn nameless(name: &EcoString) -> Option<Node> {
    yaml::parse_value(FileId::GENERATED, &format!("{{metadata: {{name: {name:?}}}}}"))
}
