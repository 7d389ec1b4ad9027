//! What the catalogue says of a component, as capabilities: whatever installs it, a HelmRelease, the bootstrap or plain
//! manifests. Does not know how its chart and values were found.

use std::collections::BTreeSet;

use catalogue::{Catalogue, MadeClass, Via, any_holds};
use model::{Arrival, Capability, CapabilityKind, ComponentId, ObjectRef, Phase, Purpose};
use source::Span;
use yaml::Node;

use crate::content::collector::{Collector, Needing};
use crate::object::Object;

/// Its programs work on the kinds that it knows, whoever brings their CRDs.
pub(crate) fn offer_controllers(
    collector: &mut Collector,
    by: ComponentId,
    known: &catalogue::Component,
    own: &ObjectRef,
    at: Span,
) {
    let runs = known.workloads.as_ref().is_none_or(|workloads| !workloads.is_empty());
    for kind in known.crds.iter().flat_map(|crds| &crds.kinds).filter(|_| runs) {
        collector.offer(by, controller_of(kind), Arrival::Healthy, own, at);
    }
}

/// The program that works on a kind.
pub(super) fn controller_of(kind: &str) -> Capability {
    Capability::cluster(CapabilityKind::Controller, kind)
}

/// What a known component offers once it is installed under these values.
pub(crate) fn offer_known(
    collector: &mut Collector,
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
            collector.offer(by, Capability::cluster(CapabilityKind::Crd, kind.as_str()), arrival, own, at);
        }
    }
    offer_running(collector, by, known, values, own, at, &RenderedKinds::default());
}

/// The same, where its chart was rendered: objects of the chart speak for themselves.
pub(super) fn offer_rendered(
    collector: &mut Collector,
    by: ComponentId,
    known: &catalogue::Component,
    values: Option<&Node>,
    own: &ObjectRef,
    at: Span,
) {
    let rendered = RenderedKinds::of(collector, by);
    offer_running(collector, by, known, values, own, at, &rendered);
    let made = known.crds.iter().filter(|crds| crds.via == Via::Program && any_holds(&crds.when, values));
    for kind in made.flat_map(|crds| &crds.kinds) {
        collector.offer(by, Capability::cluster(CapabilityKind::Crd, kind.as_str()), Arrival::Healthy, own, at);
    }
}

/// What a rendered chart brings itself: its programs are not asked for more of these.
#[derive(Default)]
struct RenderedKinds {
    webhooks: bool,
    classes: BTreeSet<CapabilityKind>,
}

impl RenderedKinds {
    fn of(collector: &Collector, release: ComponentId) -> Self {
        let mut found = Self::default();
        for built in collector.assembled.objects.iter().filter(|built| built.component == release) {
            let kind = Object::new(&built.node).kind();
            found.webhooks |= kind.ends_with("WebhookConfiguration");
            found.classes.extend(class_kind(kind));
        }
        found
    }
}

/// What need not be an object of its chart: what programs give, and register, once they run.
fn offer_running(
    collector: &mut Collector,
    by: ComponentId,
    known: &catalogue::Component,
    values: Option<&Node>,
    own: &ObjectRef,
    at: Span,
    rendered: &RenderedKinds,
) {
    for webhook in known
        .webhooks
        .iter()
        .filter(|webhook| webhook.fails_closed && any_holds(&webhook.when, values) && !rendered.webhooks)
    {
        for covers in &webhook.covers {
            collector.offer(
                by,
                Capability::cluster(CapabilityKind::Webhook, covers.as_str()),
                Arrival::Healthy,
                own,
                at,
            );
        }
    }
    let (arrival, shown) = served(collector.cluster().component(by), own);
    for class in known.classes.iter().filter(|class| any_holds(&class.when, values)) {
        let Some(kind) = class_kind(&class.kind).filter(|kind| !rendered.classes.contains(kind)) else { continue };
        for MadeClass { name, at: place, is_default } in class.made(values) {
            if is_default && kind == CapabilityKind::StorageClass {
                collector.default_classes.insert(name.as_str().into());
            }
            let place = place.filter(|it| !it.is_generated()).unwrap_or(at);
            collector.offer(by, Capability::cluster(kind, name), arrival, &shown, place);
        }
    }
    for given in known.gives.iter().filter(|given| any_holds(&given.when, values)) {
        collector.offer(by, catalogue_capability(&given.capability, given.name.as_deref()), arrival, &shown, at);
    }
}

/// What a known program gives, whatever installs it. CRDs and classes of plain manifests are manifests themselves.
pub(super) fn offer_program(
    collector: &mut Collector,
    by: ComponentId,
    known: &catalogue::Component,
    own: &ObjectRef,
    at: Span,
) {
    let component = &mut collector.cluster().components[by.index()];
    component.known_as.get_or_insert_with(|| known.name.as_str().into());
    component.startup_seconds = component.startup_seconds.max(u64::from(known.startup_seconds));
    for given in known.gives.iter().filter(|given| given.when.is_empty()) {
        collector.offer(by, catalogue_capability(&given.capability, given.name.as_deref()), Arrival::Healthy, own, at);
    }
    for kind in known.crds.iter().filter(|crds| crds.via == Via::Program).flat_map(|crds| &crds.kinds) {
        collector.offer(by, Capability::cluster(CapabilityKind::Crd, kind.as_str()), Arrival::Healthy, own, at);
    }
}

/// Plain manifests whose image gives a known component away: the Kustomization offers what it does.
pub(super) fn known_images(
    collector: &mut Collector,
    of: ComponentId,
    own: &ObjectRef,
    node: &Node,
    catalogue: &Catalogue,
) {
    let containers = node.at(&["spec", "template", "spec", "containers"]).and_then(Node::as_seq).unwrap_or_default();
    for image in containers.iter().filter_map(|container| container.get("image")) {
        let Some(known) = image.text().and_then(|image| catalogue.by_image(image)) else { continue };
        offer_program(collector, of, known, own, image.span);
    }
}

/// When what a release serves is there, and which object shows it: not its own readiness where an operator does the work.
pub(super) fn served(component: &model::Component, own: &ObjectRef) -> (Arrival, ObjectRef) {
    match &component.resource {
        Some(resource) => (Arrival::Unreported, resource.clone()),
        None => (Arrival::Healthy, own.clone()),
    }
}

/// What a bootstrap release needs of others in the bootstrap: CRDs are a matter of its values, which are not known here.
pub(crate) fn need_known_capabilities(
    collector: &mut Collector,
    of: ComponentId,
    known: &catalogue::Component,
    own: &ObjectRef,
    at: Span,
) {
    for need in known.needs.iter().filter(|need| need.capability != "crd" && !need.soft && any_holds(&need.when, None))
    {
        let capability = catalogue_capability(&need.capability, need.name.as_deref());
        if collector.is_offered(&capability) {
            let needing = Needing { of, object: own, phase: Phase::Ready, soft: false, optional: false };
            collector.need(&needing, capability, at, Purpose::Catalogued(need.why.as_str().into()));
        }
    }
}

/// The pods of a bootstrap release start once there is a pod network, and look up names from then on: other than later in
/// Flux, both may come with the very same bootstrap. Not those that bring them, nor charts without pods.
pub(crate) fn need_foundation(
    collector: &mut Collector,
    of: ComponentId,
    known: Option<&catalogue::Component>,
    own: &ObjectRef,
    at: Span,
) {
    let gives = |word: &str| known.is_some_and(|known| known.gives.iter().any(|given| given.capability == word));
    if gives("pod-network") || own.name.ends_with("-crds") || own.name.ends_with("-crd") {
        return;
    }
    let network = ("pod-network", Phase::Ready, Purpose::StartPods);
    let names = ("cluster-dns", Phase::Run, Purpose::LookUpNames);
    for (word, phase, why) in [network, names] {
        let capability = catalogue_capability(word, None);
        if collector.is_offered(&capability) && !gives(word) {
            let needing = Needing { of, object: own, phase, soft: false, optional: false };
            collector.need(&needing, capability, at, why);
        }
    }
}

/// An operator does not run without its own kinds: where another component brings them, it has to come first.
pub(super) fn need_own_kinds(
    collector: &mut Collector,
    of: ComponentId,
    known: &catalogue::Component,
    own: &ObjectRef,
    at: Span,
) {
    let needing = Needing { of, object: own, phase: Phase::Ready, soft: false, optional: false };
    for kind in known.crds.iter().flat_map(|crds| &crds.kinds) {
        let capability = Capability::cluster(CapabilityKind::Crd, kind.as_str());
        if collector.is_offered(&capability) && !collector.is_offered_by(&capability, of) {
            collector.need(&needing, capability, at, Purpose::OwnKinds);
        }
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

pub(super) fn catalogue_capability(word: &str, name: Option<&str>) -> Capability {
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
