//! What a Helm release brings and needs: what the catalogue knows of its chart under its merged values, the charts that
//! lie in the repository, and the names that its values hold.

use std::collections::BTreeMap;

use catalogue::{Catalogue, Via, any_holds};
use ecow::EcoString;
use kustomize::Files;
use model::{Arrival, Capability, CapabilityKind, Chart, ComponentId, ObjectRef, Phase, Withheld};
use yaml::{FileId, Map, Node, Span, Value};

use crate::content::sink::{Needing, Sink};
use crate::content::{capabilities, facts, hosts, references, values};
use crate::flux::{Built, HelmRelease, SOURCE_GROUP};
use crate::object::{Object, owned};
use crate::repository::Repository;

/// Why a chart is a blind spot.
const CHART_UNSEEN: &str = "comes from a chart that is neither here nor in the catalogue";
/// Generic charts whose objects are whatever their values say.
const GENERIC_CHARTS: [&str; 3] = ["app-template", "common", "raw"];

pub(crate) fn read_all(sink: &mut Sink, repository: &Repository, catalogue: &Catalogue) {
    let releases = std::mem::take(&mut sink.assembled.releases);
    let sources = chart_sources(&sink.assembled.objects);
    let config_maps = config_maps(&sink.assembled.objects);
    let facts: Vec<Facts<'_>> = releases
        .iter()
        .map(|(id, release)| {
            let chart = chart_name(release, &sources);
            let values = merged_values(release, &config_maps);
            let is_found = |from: &crate::flux::ValuesFrom| {
                let name = ObjectRef::new("ConfigMap", release.object.namespace.clone(), from.name.clone());
                config_maps
                    .get(&name)
                    .is_some_and(|map| map.at(&["data"]).is_some_and(|data| data.get(&from.key).is_some()))
            };
            let values_from_found = release.values_from.iter().all(is_found);
            Facts { id: *id, release, known: catalogue.by_chart(&chart), chart, values, values_from_found }
        })
        .collect();
    if retries_by_default(sink) {
        for fact in &facts {
            sink.cluster().components[fact.id.index()].patience = fact.release.patience_with_retries();
        }
    }
    for fact in &facts {
        fact.offers(sink, repository);
        fact.note_adopted(sink);
    }
    for fact in &facts {
        fact.needs(sink);
        fact.asked_for(sink, repository);
    }
    sink.assembled.releases = releases;
}

/// Whether helm-controller is told to retry failed installs unless a release says otherwise: an argument that people patch
/// into the controllers, in a FluxInstance, in its chart's values, or in a kustomization.
fn retries_by_default(sink: &Sink) -> bool {
    let is_controller = |object: Object<'_>| match object.kind() {
        "FluxInstance" | "HelmRelease" => object.name().contains("flux"),
        "Deployment" => object.name() == "helm-controller",
        _ => false,
    };
    sink.assembled
        .objects
        .iter()
        .any(|built| is_controller(Object::new(&built.node)) && mentions(&built.node, "DefaultToRetryOnFailure=true"))
}

/// Whether any text in a tree holds these words.
pub(crate) fn mentions(node: &Node, words: &str) -> bool {
    match &node.value {
        Value::Map(map) => map.iter().any(|entry| mentions(&entry.value, words)),
        Value::Seq(items) => items.iter().any(|item| mentions(item, words)),
        Value::Scalar(scalar) => scalar.text.contains(words),
    }
}

/// One release with all that is known of it.
struct Facts<'a> {
    id: ComponentId,
    release: &'a HelmRelease,
    chart: EcoString,
    known: Option<&'a catalogue::Component>,
    values: Option<Node>,
    /// Every ConfigMap that its values come from was read.
    values_from_found: bool,
}

impl Facts<'_> {
    fn offers(&self, sink: &mut Sink, repository: &Repository) {
        let release = self.release;
        let own = &release.object;
        let namespace = release.target_namespace.clone();
        let service = |name: EcoString| Capability::new(CapabilityKind::Service, namespace.clone(), name);
        sink.offer(self.id, service(release.release_name.clone()), Arrival::Healthy, own, release.at);
        if release.creates_namespace {
            sink.offer(
                self.id,
                Capability::cluster(CapabilityKind::Namespace, namespace.clone()),
                Arrival::Installed,
                own,
                release.at,
            );
        }
        let is_local = self.local_crds(sink, repository);
        let Some(known) = self.known else {
            if !is_local && !GENERIC_CHARTS.contains(&self.chart.as_str()) {
                self.unseen_chart(sink);
            }
            return;
        };
        let component = &mut sink.cluster().components[self.id.index()];
        component.known_as = Some(known.name.as_str().into());
        component.startup_seconds = u64::from(known.startup_seconds);
        for name in known.service_names(&release.release_name, &self.chart, self.values.as_ref()) {
            sink.offer(self.id, service(name.into()), Arrival::Healthy, own, release.at);
        }
        offer_known(sink, self.id, known, self.values.as_ref(), own, release.at, release.skips_crds.is_some());
        self.withheld(sink, known);
    }

    /// Notes the CRDs that its chart has and that its values, or its policy, leave out.
    fn withheld(&self, sink: &mut Sink, known: &catalogue::Component) {
        if !self.sees_all_values() {
            return;
        }
        for crds in &known.crds {
            let skipped = self.release.skips_crds.filter(|_| crds.via == Via::CrdsDirectory);
            let (switch, at) = match (skipped, crds.when.first()) {
                (Some(at), _) => (EcoString::from("install.crds: CreateReplace"), at),
                (None, Some(when)) if !any_holds(&crds.when, self.values.as_ref()) => {
                    let value = when.equals.as_deref().unwrap_or(if when.not { "false" } else { "true" });
                    (ecow::eco_format!("values.{}: {value}", when.value), self.value_span(&when.value))
                }
                _ => continue,
            };
            for kind in &crds.kinds {
                let capability = Capability::cluster(CapabilityKind::Crd, kind.as_str());
                let withheld = Withheld { by: self.id, capability, switch: switch.clone(), at };
                sink.cluster().facts.withheld.push(withheld);
            }
        }
    }

    /// Whether every source of its values was read.
    fn sees_all_values(&self) -> bool {
        let is_hidden = |from: &crate::flux::ValuesFrom| from.kind != "ConfigMap" || !from.target_path.is_empty();
        !self.release.values_from.iter().any(is_hidden)
            && (self.release.values_from.is_empty() || self.values_from_found)
    }

    /// Where the values name a path, else where the release names its chart.
    fn value_span(&self, path: &str) -> Span {
        let keys: Vec<&str> = path.split('.').collect();
        let named = self.values.as_ref().and_then(|values| values.at(&keys)).map(|node| node.span);
        named.filter(|at| !at.is_generated()).unwrap_or(self.release.chart.at)
    }

    /// Notes the chart of a release that the bootstrap installs as well.
    fn note_adopted(&self, sink: &mut Sink) {
        let release = (self.release.release_name.clone(), self.release.target_namespace.clone());
        if !facts::is_adopted(sink, &release.0, &release.1) {
            return;
        }
        let source = self.release.chart.source.as_ref().map(|source| &source.object);
        let version = facts::version_of(sink, source, self.release.chart.version.as_ref());
        let values = self.values.clone().filter(|_| self.sees_all_values());
        facts::note_chart(sink, Chart { of: self.id, name: self.chart.clone(), release, version, values });
    }

    fn unseen_chart(&self, sink: &mut Sink) {
        sink.cluster().blind.push(model::BlindSpot {
            what: format!("{} (chart {})", self.release.object, self.chart),
            why: CHART_UNSEEN.to_owned(),
            at: self.release.chart.at,
            component: None,
        });
    }

    /// What the templates of a chart in this repository ask the cluster for.
    fn asked_for(&self, sink: &mut Sink, repository: &Repository) {
        let Some(chart) = self.local_chart(repository) else { return };
        let needing =
            Needing { of: self.id, object: &self.release.object, phase: Phase::Build, soft: false, optional: true };
        capabilities::scan(sink, repository, &needing, &chart, self.values.as_ref());
    }

    /// The directory of its chart, where that lies in this repository.
    fn local_chart(&self, repository: &Repository) -> Option<String> {
        let chart = crate::path::join("", &self.release.chart.chart).filter(|chart| !chart.is_empty())?;
        (repository.kind(&chart) == kustomize::PathKind::Directory).then_some(chart)
    }

    /// CRDs of a chart that lies in this repository; whether it does.
    fn local_crds(&self, sink: &mut Sink, repository: &Repository) -> bool {
        let Some(chart) = self.local_chart(repository) else { return false };
        if self.release.skips_crds.is_some() {
            return true;
        }
        let directory = format!("{chart}/crds");
        for name in repository.list(&directory) {
            let Some((_, documents)) = repository.documents(&format!("{directory}/{name}")) else { continue };
            for node in documents.iter().filter_map(|document| document.root.as_ref()) {
                if Object::new(node).kind() == "CustomResourceDefinition" {
                    let group = node.text_at(&["spec", "group"]).unwrap_or_default();
                    let kind = node.text_at(&["spec", "names", "kind"]).unwrap_or_default();
                    sink.offer(
                        self.id,
                        Capability::crd(group, kind),
                        Arrival::Installed,
                        &self.release.object,
                        self.release.at,
                    );
                }
            }
        }
        true
    }

    fn needs(&self, sink: &mut Sink) {
        let release = self.release;
        let own = &release.object;
        let build = Needing { of: self.id, object: own, phase: Phase::Build, soft: false, optional: false };
        if let Some(source) = release.chart.source.as_ref().filter(|source| !sink.given.contains(&source.object)) {
            let name = ecow::eco_format!("{}:{}", source.object.kind, source.object.name);
            let capability = Capability::new(CapabilityKind::Source, source.object.namespace.clone(), name);
            sink.need(&build, capability, source.at, "for its chart");
        }
        for from in &release.values_from {
            let kind = if from.kind == "Secret" { CapabilityKind::Secret } else { CapabilityKind::ConfigMap };
            let needing = Needing { optional: from.optional, ..build.clone() };
            sink.need(
                &needing,
                Capability::new(kind, own.namespace.clone(), from.name.clone()),
                from.at,
                "for its values",
            );
        }
        self.kube_config(sink, &build);
        if let Some(known) = self.known {
            need_known(sink, self.id, known, self.values.as_ref(), own, release.chart.at);
            need_own_kinds(sink, self.id, known, own, release.chart.at);
        }
        let Some(values) = &self.values else { return };
        values::scan(sink, self.id, own, values, Phase::Ready);
        references::scan(sink, self.id, own, &release.target_namespace, values);
        hosts::collect(sink, self.id, own, values, Phase::Ready);
        self.rendered_kinds(sink, values);
    }

    fn kube_config(&self, sink: &mut Sink, build: &Needing<'_>) {
        if let Some(name) = &self.release.kube_config_secret {
            let capability =
                Capability::new(CapabilityKind::Secret, self.release.object.namespace.clone(), owned(Some(name)));
            sink.need(build, capability, name.span, "for its kubeconfig");
        }
    }

    /// Switches that nearly every chart has, and what generic charts render from their values.
    fn rendered_kinds(&self, sink: &mut Sink, values: &Node) {
        let generic = GENERIC_CHARTS.contains(&self.chart.as_str());
        let switches = [
            ("serviceMonitor", "monitoring.coreos.com", "ServiceMonitor"),
            ("podMonitor", "monitoring.coreos.com", "PodMonitor"),
            ("prometheusRule", "monitoring.coreos.com", "PrometheusRule"),
            ("route", "gateway.networking.k8s.io", "HTTPRoute"),
        ];
        if self.known.is_some() && !generic {
            return;
        }
        let needing =
            Needing { of: self.id, object: &self.release.object, phase: Phase::Apply, soft: true, optional: false };
        for (key, group, kind) in switches {
            for at in switched_on(values, key, generic) {
                sink.need(&needing, Capability::crd(group, kind), at, "which its chart renders");
            }
        }
    }
}

/// Places where `key` is switched on: `key: {enabled: true}` anywhere, or in a generic chart any entry at the top.
fn switched_on(values: &Node, key: &str, generic: bool) -> Vec<Span> {
    let mut found = Vec::new();
    if generic {
        for entry in values.get(key).map(Node::entries).unwrap_or_default() {
            if entry.value.get("enabled").and_then(Node::as_bool) != Some(false) && entry.value.as_map().is_some() {
                found.push(entry.key_span);
            }
        }
        return found;
    }
    if key != "route" {
        collect_switches(values, key, &mut found);
    }
    found
}

fn collect_switches(node: &Node, key: &str, found: &mut Vec<Span>) {
    if node.get("enabled").and_then(Node::as_bool) == Some(false) {
        return;
    }
    for entry in node.entries() {
        if entry.key == key && entry.value.get("enabled").and_then(Node::as_bool) == Some(true) {
            found.push(entry.key_span);
        } else if matches!(entry.value.value, Value::Map(_)) {
            collect_switches(&entry.value, key, found);
        }
    }
}

/// What a known component offers once it is installed under these values.
pub(crate) fn offer_known(
    sink: &mut Sink,
    by: ComponentId,
    known: &catalogue::Component,
    values: Option<&Node>,
    own: &ObjectRef,
    at: Span,
    skips_crds: bool,
) {
    for crds in known.crds.iter().filter(|crds| any_holds(&crds.when, values)) {
        let arrival = match crds.via {
            Via::CrdsDirectory if skips_crds => continue,
            Via::CrdsDirectory | Via::Templates => Arrival::Installed,
            Via::Program => Arrival::Healthy,
        };
        for kind in &crds.kinds {
            sink.offer(by, Capability::cluster(CapabilityKind::Crd, kind.as_str()), arrival, own, at);
        }
    }
    for webhook in known.webhooks.iter().filter(|webhook| webhook.fails_closed && any_holds(&webhook.when, values)) {
        for covers in &webhook.covers {
            sink.offer(by, Capability::cluster(CapabilityKind::Webhook, covers.as_str()), Arrival::Healthy, own, at);
        }
    }
    for class in known.classes.iter().filter(|class| any_holds(&class.when, values)) {
        let Some(kind) = class_kind(&class.kind) else { continue };
        for (name, place) in class.names(values) {
            sink.offer(
                by,
                Capability::cluster(kind, name),
                Arrival::Healthy,
                own,
                place.filter(|it| !it.is_generated()).unwrap_or(at),
            );
        }
    }
    for gift in known.gives.iter().filter(|gift| any_holds(&gift.when, values)) {
        sink.offer(by, gift_capability(&gift.capability, gift.name.as_deref()), Arrival::Healthy, own, at);
    }
}

/// What a bootstrap release needs of others in the bootstrap: CRDs are a matter of its values, which are not known here.
pub(crate) fn need_gifts(sink: &mut Sink, of: ComponentId, known: &catalogue::Component, own: &ObjectRef, at: Span) {
    for need in known.needs.iter().filter(|need| need.capability != "crd" && !need.soft && any_holds(&need.when, None))
    {
        let capability = gift_capability(&need.capability, need.name.as_deref());
        if sink.is_offered(&capability) {
            let needing = Needing { of, object: own, phase: Phase::Ready, soft: false, optional: false };
            sink.need(&needing, capability, at, ecow::eco_format!("because {}", need.why));
        }
    }
}

/// An operator does not run without its own kinds: where another component brings them, it has to come first.
fn need_own_kinds(sink: &mut Sink, of: ComponentId, known: &catalogue::Component, own: &ObjectRef, at: Span) {
    let needing = Needing { of, object: own, phase: Phase::Ready, soft: false, optional: false };
    for kind in known.crds.iter().flat_map(|crds| &crds.kinds) {
        let capability = Capability::cluster(CapabilityKind::Crd, kind.as_str());
        if sink.is_offered(&capability) && !sink.is_offered_by(&capability, of) {
            sink.need(&needing, capability, at, "because it works on them");
        }
    }
}

fn need_known(
    sink: &mut Sink,
    of: ComponentId,
    known: &catalogue::Component,
    values: Option<&Node>,
    own: &ObjectRef,
    at: Span,
) {
    for need in known.needs.iter().filter(|need| any_holds(&need.when, values)) {
        let name = need.name.as_deref();
        let capability = match need.capability.as_str() {
            "crd" => Capability::cluster(CapabilityKind::Crd, name.unwrap_or_default()),
            other => gift_capability(other, name),
        };
        let phase = match need.phase {
            catalogue::Phase::Apply => Phase::Apply,
            catalogue::Phase::Ready => Phase::Ready,
            catalogue::Phase::Run => Phase::Run,
        };
        let soft_kind =
            name.and_then(|name| name.rsplit_once('/')).is_some_and(|(_, kind)| crate::content::objects::is_soft(kind));
        // The catalogue's soft kinds are templates that ask whether the cluster knows the kind, and are left out if not.
        let optional = need.soft && phase == Phase::Apply && need.capability == "crd";
        let needing = Needing { of, object: own, phase, soft: need.soft || soft_kind, optional };
        sink.need(&needing, capability, at, ecow::eco_format!("because {}", need.why));
    }
}

fn class_kind(kind: &str) -> Option<CapabilityKind> {
    Some(match kind {
        "StorageClass" => CapabilityKind::StorageClass,
        "VolumeSnapshotClass" => CapabilityKind::SnapshotClass,
        "IngressClass" => CapabilityKind::IngressClass,
        "GatewayClass" => CapabilityKind::GatewayClass,
        "PriorityClass" => CapabilityKind::PriorityClass,
        "RuntimeClass" => CapabilityKind::RuntimeClass,
        "DeviceClass" => CapabilityKind::Device,
        _ => return None,
    })
}

fn gift_capability(word: &str, name: Option<&str>) -> Capability {
    let kind = match word {
        "pod-network" => CapabilityKind::PodNetwork,
        "cluster-dns" => CapabilityKind::ClusterDns,
        "load-balancer" => CapabilityKind::LoadBalancer,
        "node-label" => CapabilityKind::NodeLabel,
        "node-initialized" => CapabilityKind::NodeInitialized,
        "device" => CapabilityKind::Device,
        "csi-driver" => CapabilityKind::CsiDriver,
        "snapshot-controller" => CapabilityKind::SnapshotController,
        "metrics-api" => CapabilityKind::MetricsApi,
        other => {
            return Capability::cluster(
                CapabilityKind::Other,
                name.map_or_else(|| other.into(), |name| ecow::eco_format!("{other} {name}")),
            );
        }
    };
    Capability::cluster(kind, name.unwrap_or_default())
}

/// Plain manifests whose image gives a known component away: the Kustomization offers what it does.
pub(crate) fn known_images(sink: &mut Sink, of: ComponentId, own: &ObjectRef, node: &Node, catalogue: &Catalogue) {
    let containers = node.at(&["spec", "template", "spec", "containers"]).and_then(Node::as_seq).unwrap_or_default();
    for image in containers.iter().filter_map(|container| container.get("image")) {
        let Some(known) = image.text().and_then(|image| catalogue.by_image(image)) else { continue };
        let component = &mut sink.cluster().components[of.index()];
        component.known_as.get_or_insert_with(|| known.name.as_str().into());
        component.startup_seconds = component.startup_seconds.max(u64::from(known.startup_seconds));
        // CRDs and classes of plain manifests are manifests themselves; what the program gives is not.
        for gift in known.gives.iter().filter(|gift| gift.when.is_empty()) {
            sink.offer(of, gift_capability(&gift.capability, gift.name.as_deref()), Arrival::Healthy, own, image.span);
        }
        for crds in known.crds.iter().filter(|crds| crds.via == Via::Program) {
            for kind in &crds.kinds {
                sink.offer(
                    of,
                    Capability::cluster(CapabilityKind::Crd, kind.as_str()),
                    Arrival::Healthy,
                    own,
                    image.span,
                );
            }
        }
    }
}

/// OCIRepository and HelmChart objects, by kind, namespace and name, as (chart name) they carry.
pub(crate) fn chart_sources(objects: &[Built]) -> BTreeMap<ObjectRef, EcoString> {
    let mut sources = BTreeMap::new();
    for built in objects {
        let object = Object::new(&built.node);
        if object.group() == SOURCE_GROUP {
            let chart = match object.kind() {
                "HelmChart" => owned(object.spec("chart")),
                _ => owned(object.spec("url")),
            };
            sources.insert(object.reference(&built.namespace), chart);
        }
    }
    sources
}

pub(crate) fn chart_name(release: &HelmRelease, sources: &BTreeMap<ObjectRef, EcoString>) -> EcoString {
    let written = if release.chart.chart.is_empty() {
        let source = release.chart.source.as_ref().map(|source| &source.object);
        source.and_then(|source| sources.get(source)).cloned().or_else(|| source.map(|source| source.name.clone()))
    } else {
        Some(release.chart.chart.clone())
    };
    let written = written.unwrap_or_default();
    written.trim_end_matches('/').rsplit('/').next().unwrap_or_default().into()
}

pub(crate) fn config_maps(objects: &[Built]) -> BTreeMap<ObjectRef, Node> {
    let mut found = BTreeMap::new();
    for built in objects {
        let object = Object::new(&built.node);
        if object.kind() == "ConfigMap" && object.group().is_empty() {
            found.insert(object.reference(&built.namespace), built.node.clone());
        }
    }
    found
}

/// `valuesFrom` in its order, then `values` over it, as helm-controller merges them.
pub(crate) fn merged_values(release: &HelmRelease, config_maps: &BTreeMap<ObjectRef, Node>) -> Option<Node> {
    let mut merged: Option<Node> = None;
    for from in release.values_from.iter().filter(|from| from.kind == "ConfigMap" && from.target_path.is_empty()) {
        let reference = ObjectRef::new("ConfigMap", release.object.namespace.clone(), from.name.clone());
        let text = config_maps.get(&reference).and_then(|map| map.at(&["data"])?.get(&from.key)?.text());
        if let Some(mut values) = text.and_then(|text| yaml::parse_value(FileId::GENERATED, text)) {
            place(&mut values, from.at);
            merged = Some(merged.map_or_else(|| values.clone(), |under| merge(&under, &values)));
        }
    }
    match (&release.values, merged) {
        (Some(values), Some(under)) => Some(merge(&under, values)),
        (Some(values), None) => Some(values.clone()),
        (None, merged) => merged,
    }
}

/// Values that came as text inside of another object have no place of their own: they point to where they are named.
fn place(node: &mut Node, at: Span) {
    node.span = at;
    match &mut node.value {
        Value::Map(map) => map.iter_mut().for_each(|entry| {
            entry.key_span = at;
            place(&mut entry.value, at);
        }),
        Value::Seq(items) => items.make_mut().iter_mut().for_each(|item| place(item, at)),
        Value::Scalar(_) => {}
    }
}

/// One tree of values over another, as Helm merges them.
pub(crate) fn merge(under: &Node, over: &Node) -> Node {
    let (Some(under_map), Some(over_map)) = (under.as_map(), over.as_map()) else { return over.clone() };
    let mut merged: Map = under_map.clone();
    for entry in over_map {
        let value = match merged.get(&entry.key) {
            Some(existing) => merge(existing, &entry.value),
            None => entry.value.clone(),
        };
        merged.insert(entry.key.clone(), entry.key_span, value);
    }
    Node::map(merged, over.span)
}
