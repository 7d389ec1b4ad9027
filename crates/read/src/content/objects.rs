//! Offers and needs of plain objects: whatever a Kustomization applies itself.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{Catalogue, Made, any_holds};
use ecow::EcoString;
use model::{
    Arrival, BlindSpot, Capability, CapabilityKind, ComponentId, ObjectRef, Phase, Purpose, Unseen, WhyUnseen,
};
use yaml::Node;

use crate::content::collector::{Collector, Needing};
use crate::content::{custom, hosts, known, pods, references, values, webhooks};
use crate::flux::{Built, Origin};
use crate::kinds::{is_custom, is_flux, is_soft, is_unreported};
use crate::object::Object;

/// How SOPS begins what it has encrypted.
const CIPHERTEXT: &str = "ENC[";

pub(crate) fn read_all(collector: &mut Collector, catalogue: &Catalogue) {
    let objects = std::mem::take(&mut collector.assembled.objects);
    let mut makers: BTreeMap<&str, Vec<&Made>> = BTreeMap::new();
    for made in catalogue.components().iter().flat_map(|component| &component.makes) {
        makers.entry(made.for_kind.as_str()).or_default().push(made);
    }
    let kinds = webhooks::Kinds::of(&objects);
    for built in &objects {
        offers(collector, built, &makers);
        offer_webhooks(collector, built, &kinds);
    }
    let running: BTreeSet<ComponentId> =
        objects.iter().filter(|built| has_pods(built)).map(|it| it.component).collect();
    collector.cluster().facts.runs_pods.extend(&running);
    for built in &objects {
        needs(collector, built, catalogue);
        let workload = collector.workload(built.component, &built.node);
        // A Secret by itself opens no connection: what runs beside it does.
        if Object::new(&built.node).is("", "Secret") && (workload != built.component || running.contains(&workload)) {
            hosts::collect(collector, workload, &reference(built), &built.node, Phase::Ready);
        }
    }
    collector.assembled.objects = objects;
}

/// Whether a Secret is encrypted, and whoever applies it decrypts with that very Secret: it can only come after itself, so that
/// somebody outside brings it first.
fn is_locked_in(collector: &Collector, built: &Built, own: &ObjectRef) -> bool {
    let mut appliers = collector.assembled.kustomizations.iter().filter(|(id, _)| *id == built.component);
    built.node.get("sops").is_some()
        && appliers.any(|(_, applier)| {
            let key = applier.decryption_secret.as_ref().and_then(yaml::Node::text);
            key == Some(own.name.as_str()) && applier.object.namespace == own.namespace
        })
}

fn has_pods(built: &Built) -> bool {
    let object = Object::new(&built.node);
    matches!((object.group(), object.kind()), ("apps" | "batch", _) | ("", "Pod"))
}

fn reference(built: &Built) -> ObjectRef {
    Object::new(&built.node).reference(&built.namespace)
}

fn offers(collector: &mut Collector, built: &Built, makers: &BTreeMap<&str, Vec<&Made>>) {
    let object = Object::new(&built.node);
    let own = reference(built);
    let at = object.name_span();
    let by = built.component;
    let kind = match (object.group(), object.kind()) {
        ("apiextensions.k8s.io", "CustomResourceDefinition") => return offer_crd(collector, built, &own),
        ("", "Namespace") => (CapabilityKind::Namespace, Arrival::Applied),
        ("", "Secret") => {
            if is_sealing_key(&built.node) {
                collector.offer(by, Capability::cluster(CapabilityKind::SealingKey, ""), Arrival::Applied, &own, at);
            }
            if is_locked_in(collector, built, &own) {
                return;
            }
            (CapabilityKind::Secret, Arrival::Applied)
        }
        ("", "ConfigMap") => (CapabilityKind::ConfigMap, Arrival::Applied),
        // Without a selector there are no pods behind it to wait for.
        ("", "Service") if built.node.at(&["spec", "selector"]).is_none() => {
            (CapabilityKind::Service, Arrival::Applied)
        }
        ("", "Service") => (CapabilityKind::Service, Arrival::Healthy),
        ("", "ServiceAccount") => (CapabilityKind::ServiceAccount, Arrival::Applied),
        ("", "PersistentVolumeClaim") => (CapabilityKind::PersistentVolumeClaim, Arrival::Applied),
        ("storage.k8s.io", "StorageClass") => {
            if is_default_class(&built.node) {
                collector.default_classes.insert(own.name.clone());
            }
            (CapabilityKind::StorageClass, Arrival::Applied)
        }
        (_, "VolumeSnapshotClass") => (CapabilityKind::SnapshotClass, Arrival::Applied),
        ("networking.k8s.io", "IngressClass") => (CapabilityKind::IngressClass, Arrival::Applied),
        (_, "GatewayClass") => (CapabilityKind::GatewayClass, Arrival::Applied),
        (_, "PriorityClass") => (CapabilityKind::PriorityClass, Arrival::Applied),
        (_, "RuntimeClass") => (CapabilityKind::RuntimeClass, Arrival::Applied),
        (_, "ClusterSecretStore" | "SecretStore") => (CapabilityKind::SecretStore, Arrival::Reported),
        ("cert-manager.io", "ClusterIssuer" | "Issuer") => (CapabilityKind::Issuer, Arrival::Reported),
        ("gateway.networking.k8s.io", "Gateway") => (CapabilityKind::Gateway, Arrival::Unreported),
        (_, "NetworkAttachmentDefinition") => (CapabilityKind::NetworkAttachment, Arrival::Applied),
        ("resource.k8s.io", "DeviceClass") => (CapabilityKind::Device, Arrival::Applied),
        (group, "ArtifactGenerator") if group == crate::flux::SOURCE_EXTENSIONS_GROUP => {
            for artifact in crate::artifact::artifacts(&built.node) {
                let name = ecow::eco_format!("ExternalArtifact:{}", artifact.name);
                let capability = Capability::new(CapabilityKind::Source, own.namespace.clone(), name);
                collector.offer(by, capability, Arrival::Applied, &own, at);
            }
            return;
        }
        (group, _) if group == crate::flux::SOURCE_GROUP => {
            let name = ecow::eco_format!("{}:{}", own.kind, own.name);
            collector.offer(
                by,
                Capability::new(CapabilityKind::Source, own.namespace.clone(), name),
                Arrival::Applied,
                &own,
                at,
            );
            return;
        }
        (group, _) if is_custom(group) => {
            let name = ecow::eco_format!("{} {}", own.kind, own.name);
            collector.offer(
                by,
                Capability::new(CapabilityKind::Object, own.namespace.clone(), name),
                Arrival::Reported,
                &own,
                at,
            );
            offer_made(collector, built, &own, makers);
            return;
        }
        _ => return,
    };
    let arrival = if built.chart_at().is_some() { in_chart(kind.0, kind.1) } else { kind.1 };
    collector.offer(by, Capability::new(kind.0, own.namespace.clone(), own.name.clone()), arrival, &own, at);
    if matches!(kind.0, CapabilityKind::Secret | CapabilityKind::ConfigMap) && is_mirrored(&built.node) {
        collector.offer(by, Capability::cluster(kind.0, own.name.clone()), Arrival::Unreported, &own, at);
    }
    offer_made(collector, built, &own, makers);
}

/// Whether annotations ask for copies in other namespaces: of the object itself, or of the Secret that is made of it.
fn is_mirrored(node: &Node) -> bool {
    const PLACES: [&[&str]; 4] = [
        &["metadata", "annotations"],
        &["spec", "target", "template", "metadata", "annotations"],
        &["spec", "template", "metadata", "annotations"],
        &["spec", "secretTemplate", "annotations"],
    ];
    const MIRRORS: [&str; 2] =
        ["reflector.v1.k8s.emberstack.com/reflection-auto-enabled", "replicator.v1.mittwald.de/replicate-to"];
    let annotations = PLACES.iter().filter_map(|place| node.at(place));
    annotations
        .flat_map(Node::entries)
        .any(|entry| MIRRORS.iter().any(|mirror| entry.key.starts_with(mirror)) && entry.value.text() != Some("false"))
}

/// When an object of a chart is there. A class is worth something when the driver that comes with it runs.
fn in_chart(kind: CapabilityKind, arrival: Arrival) -> Arrival {
    match (kind, arrival) {
        (
            CapabilityKind::StorageClass
            | CapabilityKind::SnapshotClass
            | CapabilityKind::IngressClass
            | CapabilityKind::GatewayClass,
            _,
        ) => Arrival::Healthy,
        (_, Arrival::Applied) => Arrival::Installed,
        (_, other) => other,
    }
}

/// A webhook that fails closed answers when the pods behind it do.
fn offer_webhooks(collector: &mut Collector, built: &Built, kinds: &webhooks::Kinds) {
    let object = Object::new(&built.node);
    if !matches!(object.kind(), "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") {
        return;
    }
    for covers in webhooks::covered(&built.node, kinds) {
        let capability = Capability::cluster(CapabilityKind::Webhook, covers);
        collector.offer(built.component, capability, Arrival::Healthy, &reference(built), object.name_span());
    }
}

fn offer_crd(collector: &mut Collector, built: &Built, own: &ObjectRef) {
    let group = built.node.text_at(&["spec", "group"]).unwrap_or_default();
    let kind = built.node.text_at(&["spec", "names", "kind"]).unwrap_or_default();
    let at = Object::new(&built.node).name_span();
    let arrival = if built.chart_at().is_some() { Arrival::Installed } else { Arrival::Applied };
    collector.offer(built.component, Capability::crd(group, kind), arrival, own, at);
}

fn is_default_class(node: &Node) -> bool {
    node.text_at(&["metadata", "annotations", "storageclass.kubernetes.io/is-default-class"]) == Some("true")
}

/// A Secret that the sealing controller takes for one of its keys.
pub fn is_sealing_key(node: &Node) -> bool {
    node.at(&["metadata", "labels"]).is_some_and(|labels| labels.get(SEALING_KEY_LABEL).is_some())
}

/// The label that marks a sealing key.
pub(crate) const SEALING_KEY_LABEL: &str = "sealedsecrets.bitnami.com/sealed-secrets-key";

/// What the controller of a custom resource makes for it.
fn offer_made(collector: &mut Collector, built: &Built, own: &ObjectRef, makers: &BTreeMap<&str, Vec<&Made>>) {
    let object = Object::new(&built.node);
    let key = format!("{}/{}", object.group(), object.kind());
    let arrival = if is_unreported(object.kind()) { Arrival::Unreported } else { Arrival::Reported };
    let made = makers.get(key.as_str()).into_iter().flatten();
    for made in made.filter(|made| any_holds(&made.when, Some(&built.node))) {
        if let (Some(speaks), Some(service)) = (&made.speaks, made.services.first()) {
            for name in Made::all_names(service, &built.node) {
                let service = Capability::new(CapabilityKind::Service, own.namespace.clone(), name);
                collector.database(speaks, built.component, service);
            }
        }
        let lists = [
            (CapabilityKind::Secret, &made.secrets),
            (CapabilityKind::ConfigMap, &made.config_maps),
            (CapabilityKind::Service, &made.services),
        ];
        for (kind, patterns) in lists {
            for name in patterns.iter().flat_map(|pattern| Made::all_names(pattern, &built.node)) {
                if kind == CapabilityKind::Secret && is_mirrored(&built.node) {
                    let copies = Capability::cluster(kind, name.clone());
                    collector.offer(built.component, copies, Arrival::Unreported, own, object.name_span());
                }
                let capability = Capability::new(kind, own.namespace.clone(), name);
                collector.offer(built.component, capability, arrival, own, object.name_span());
            }
        }
        // Nothing reports them; that the object was there in time is all that an order can achieve.
        let of_nodes = [(CapabilityKind::NodeLabel, &made.node_labels), (CapabilityKind::Device, &made.devices)];
        for (kind, patterns) in of_nodes {
            for name in patterns.iter().flat_map(|pattern| Made::all_names(pattern, &built.node)) {
                let capability = Capability::cluster(kind, name);
                collector.offer(built.component, capability, Arrival::Applied, own, object.name_span());
            }
        }
    }
}

fn needs(collector: &mut Collector, built: &Built, catalogue: &Catalogue) {
    let object = Object::new(&built.node);
    let own = reference(built);
    let group = object.group();
    let of = built.component;
    let apply = Needing { of, object: &own, phase: Phase::Apply, soft: is_soft(object.kind()), optional: false };
    if [object.kind(), object.name(), own.namespace.as_str()].iter().any(|it| it.starts_with(CIPHERTEXT)) {
        let what = Unseen::Manifest { kind: None, name: None };
        let (why, at) = (WhyUnseen::Encrypted, object.kind_span());
        collector.cluster().blind.push(BlindSpot { what, why, at, component: Some(of) });
        return;
    }
    if is_custom(group) {
        let crd = Capability::crd(group, object.kind());
        // A chart that brings both is one that everybody's cluster takes.
        let is_own = built.chart_at().is_some() && collector.is_offered_by(&crd, of);
        let why = if built.chart_at().is_some() { Purpose::RenderedByChart } else { Purpose::Apply };
        match built.origin {
            _ if is_own => {}
            Origin::Asked(_) => {
                let needing = Needing { phase: Phase::Build, soft: false, optional: true, ..apply };
                collector.need(&needing, crd, object.kind_span(), Purpose::AskedByTemplates);
            }
            _ => collector.need(&apply, crd, object.kind_span(), why),
        }
    }
    if matches!(built.origin, Origin::Asked(_)) {
        return;
    }
    if !own.namespace.is_empty() && object.kind() != "Namespace" {
        let at = built.node.at(&["metadata", "namespace"]).map_or(object.name_span(), |namespace| namespace.span);
        let everything = Needing { soft: false, ..apply };
        collector.need(
            &everything,
            Capability::cluster(CapabilityKind::Namespace, own.namespace.clone()),
            at,
            Purpose::ApplyInto,
        );
    }
    let workload = collector.workload(of, &built.node);
    match (group, object.kind()) {
        (group, _) if is_flux(group) => {}
        ("", "Namespace" | "Secret") | ("apiextensions.k8s.io" | "rbac.authorization.k8s.io", _) => {}
        ("", "ConfigMap") => hosts::collect(collector, workload, &own, &built.node, Phase::Ready),
        ("apps" | "batch", _) | ("", "Pod") => {
            pods::read(collector, of, &own, &built.node, built.chart_at());
            known::known_images(collector, of, &own, &built.node, catalogue);
        }
        ("", "PersistentVolumeClaim") => values::scan(collector, workload, &own, &built.node, Phase::Ready),
        ("storage.k8s.io", "StorageClass") => provisioner(collector, of, &own, &built.node),
        _ => {
            custom::read(collector, of, workload, &own, &built.node);
            values::scan(collector, workload, &own, &built.node, Phase::Ready);
            references::scan(collector, workload, &own, &own.namespace, &built.node);
            hosts::collect(collector, workload, &own, &built.node, Phase::Ready);
        }
    }
}

/// A class by itself provisions nothing: its driver does.
fn provisioner(collector: &mut Collector, of: ComponentId, own: &ObjectRef, node: &Node) {
    if let Some(driver) = node.get("provisioner") {
        let needing = Needing { of, object: own, phase: Phase::Run, soft: true, optional: false };
        let name: EcoString = driver.text().unwrap_or_default().into();
        collector.need(
            &needing,
            Capability::cluster(CapabilityKind::CsiDriver, name),
            driver.span,
            Purpose::MakeVolumes,
        );
    }
}

/// Objects that a webhook which fails closed is asked about can't be applied before it answers.
pub(crate) fn webhook_needs(collector: &mut Collector) {
    let covered: Vec<EcoString> = collector
        .assembled
        .cluster
        .offers
        .iter()
        .filter(|offer| offer.capability.kind == CapabilityKind::Webhook)
        .map(|offer| offer.capability.name.clone())
        .collect();
    if covered.is_empty() {
        return;
    }
    let objects = std::mem::take(&mut collector.assembled.objects);
    for built in &objects {
        let object = Object::new(&built.node);
        let exact = ecow::eco_format!("{}/{}", object.group(), object.kind());
        let whole = ecow::eco_format!("{}/*", object.group());
        // A policy engine is asked about everything but what Flux itself is made of.
        let any = if is_flux(object.group()) || object.kind() == "Namespace" {
            EcoString::new()
        } else {
            EcoString::from("*")
        };
        for name in [exact, whole, any].into_iter().filter(|name| covered.contains(name)) {
            let own = reference(built);
            let needing =
                Needing { of: built.component, object: &own, phase: Phase::Apply, soft: false, optional: false };
            collector.need(
                &needing,
                Capability::cluster(CapabilityKind::Webhook, name),
                object.kind_span(),
                Purpose::Admit,
            );
        }
    }
    collector.assembled.objects = objects;
}
