//! Needs behind needs: a claim waits for the driver behind its class, and a Secret that an operator makes for the operator.

use std::collections::BTreeMap;

use ecow::EcoString;
use model::{Arrival, Capability, CapabilityKind, ComponentId, Need, ObjectRef, Phase, Purpose, Role};

use crate::content::collector::{Claim, Collector, Needing};
use crate::content::{known, releases};
use crate::flux::Built;
use crate::kinds::is_custom;
use crate::object::Object;
use yaml::Node;

pub(crate) fn read_all(collector: &mut Collector) {
    default_class(collector);
    addresses(collector);
    drivers(collector);
    namesakes(collector);
    operators(collector);
}

/// A claim that names no class means the default one. Where two are marked, which of them that is depends on when they were
/// made, and where none is here, whoever made the cluster may have brought one: nothing is said then.
fn default_class(collector: &mut Collector) {
    let claims = std::mem::take(&mut collector.claims);
    let mut classes = collector.default_classes.iter();
    let (Some(class), None) = (classes.next().cloned(), classes.next()) else { return };
    for Claim { of, object, phase, at } in claims {
        let needing = Needing { of, object: &object, phase, soft: false, optional: false };
        let capability = Capability::cluster(CapabilityKind::StorageClass, class.clone());
        collector.need(&needing, capability, at, Purpose::DefaultVolumes);
    }
}

/// What gives the Services of a cluster their addresses: the controller, and the addresses that it may give.
fn addresses(collector: &mut Collector) {
    let balanced = std::mem::take(&mut collector.balanced);
    let controller = Some(Capability::cluster(CapabilityKind::LoadBalancer, "")).filter(|it| collector.is_offered(it));
    let wanted: Vec<Capability> = controller.into_iter().chain(only_pool(collector)).collect();
    for Claim { of, object, phase, at } in balanced {
        // Helm waits for the address of a Service; who applies one does not.
        let is_release = collector.cluster().component(of).role == Role::HelmRelease;
        let phase = if is_release { phase } else { Phase::Run };
        let needing = Needing { of, object: &object, phase, soft: false, optional: false };
        for capability in &wanted {
            collector.need(&needing, capability.clone(), at, Purpose::Address);
        }
    }
}

/// The first of the address pools, where one component applies all of them: which one of several a Service gets is not known.
fn only_pool(collector: &Collector) -> Option<Capability> {
    const POOLS: [(&str, &str); 2] = [("metallb.io", "IPAddressPool"), ("cilium.io", "CiliumLoadBalancerIPPool")];
    let is_pool = |built: &&Built| POOLS.iter().any(|(group, kind)| Object::new(&built.node).is(group, kind));
    let pools = || collector.assembled.objects.iter().filter(is_pool);
    let first = pools().next()?;
    let own = Object::new(&first.node).reference(&first.namespace);
    let name = ecow::eco_format!("{} {}", own.kind, own.name);
    let is_only = pools().all(|pool| pool.component == first.component);
    is_only.then(|| Capability::new(CapabilityKind::Object, own.namespace, name))
}

/// A class that is a manifest of its own is there at once, and makes no volume before its driver runs.
fn drivers(collector: &mut Collector) {
    let mut provisioners: BTreeMap<EcoString, EcoString> = BTreeMap::new();
    for built in &collector.assembled.objects {
        let object = Object::new(&built.node);
        if object.kind() == "StorageClass" {
            let driver = built.node.get("provisioner").and_then(|driver| driver.text()).unwrap_or_default();
            provisioners.insert(object.name().into(), driver.into());
        }
    }
    if provisioners.is_empty() {
        return;
    }
    let patterns: Vec<Capability> = collector
        .cluster()
        .offers
        .iter()
        .filter(|offer| offer.capability.kind == CapabilityKind::CsiDriver && offer.capability.name.contains('*'))
        .map(|offer| offer.capability.clone())
        .collect();
    for need in collector.cluster().needs.clone() {
        let driver =
            provisioners.get(&need.capability.name).filter(|_| need.capability.kind == CapabilityKind::StorageClass);
        let Some(driver) = driver else { continue };
        let capability = Capability::cluster(CapabilityKind::CsiDriver, driver.clone());
        if collector.is_offered(&capability) || patterns.iter().any(|pattern| pattern.means(driver)) {
            let needing = Needing {
                of: need.of,
                object: &need.object,
                phase: need.phase,
                soft: need.soft,
                optional: need.optional,
            };
            collector.need(&needing, capability, need.at, Purpose::Volumes);
        }
    }
}

/// Kinds that nobody offers, where a chart that was not seen is an operator named as the owner of their API group is:
/// `dask-kubernetes-operator` brings `kubernetes.dask.org`. A guess, so never part of a deadlock.
fn namesakes(collector: &mut Collector) {
    const MARKS: [&str; 4] = ["operator", "controller", "crds", "crd"];
    let is_operator = |chart: &str| chart.split('-').any(|part| MARKS.contains(&part));
    let unseen: Vec<_> = collector.unseen.iter().filter(|(_, chart)| is_operator(chart)).cloned().collect();
    if unseen.is_empty() {
        return;
    }
    let kinds = collector.cluster().needs.clone();
    for need in kinds.iter().filter(|need| need.capability.kind == CapabilityKind::Crd && need.phase == Phase::Apply) {
        let Some((group, _)) = need.capability.name.split_once('/') else { continue };
        let whole = Capability::crd(group, "*");
        let named =
            owner(group).and_then(|owner| unseen.iter().find(|(_, chart)| chart.split('-').any(|it| it == owner)));
        let Some((by, chart)) =
            named.filter(|_| !collector.is_offered(&need.capability) && !collector.is_offered(&whole))
        else {
            continue;
        };
        let (capability, release) = (releases::crds_of(chart), collector.cluster().component(*by).clone());
        collector.offer(*by, capability.clone(), Arrival::Installed, &release.object, release.at);
        let needing =
            Needing { of: need.of, object: &need.object, phase: need.phase, soft: need.soft, optional: need.optional };
        collector.need(&needing, capability, need.at, Purpose::MayBring(need.capability.clone()));
    }
}

/// Whose an API group is: the `dask` of `kubernetes.dask.org`. Nobody's where it belongs to Kubernetes.
fn owner(group: &str) -> Option<&str> {
    let owner = group.rsplit('.').nth(1)?;
    (!matches!(owner, "k8s" | "x-k8s" | "kubernetes" | "github" | "gitlab")).then_some(owner)
}

/// The kind that a claim is filled from, where that is a custom resource.
fn populator(claim: &Node) -> Option<(&str, &str)> {
    let from = claim.at(&["spec", "dataSourceRef"]).or_else(|| claim.at(&["spec", "dataSource"]))?;
    Some((from.get("apiGroup")?.text()?, from.get("kind")?.text()?))
}

/// Who works on a kind: its controller where somebody is known to run it, else whoever brings the kind.
fn controller_or_crd(collector: &Collector, group: &str, kind: &str) -> Capability {
    let controllers = [
        known::controller_of(&ecow::eco_format!("{group}/{kind}")),
        known::controller_of(&ecow::eco_format!("{group}/*")),
    ];
    controllers.into_iter().find(|one| collector.is_offered(one)).unwrap_or_else(|| Capability::crd(group, kind))
}

/// What an operator makes of an object beside a release is not there before the operator is.
fn operators(collector: &mut Collector) {
    let mut kinds: BTreeMap<(ComponentId, ObjectRef), (EcoString, EcoString)> = BTreeMap::new();
    for built in &collector.assembled.objects {
        let object = Object::new(&built.node);
        let (group, kind) = populator(&built.node).unwrap_or((object.group(), object.kind()));
        if is_custom(group) {
            kinds.insert((built.component, object.reference(&built.namespace)), (group.into(), kind.into()));
        }
    }
    let mut found = Vec::new();
    let cluster = collector.cluster();
    let mut made: BTreeMap<(&Capability, ComponentId), &ObjectRef> = BTreeMap::new();
    for offer in &cluster.offers {
        made.insert((&offer.capability, offer.by), &offer.object);
    }
    for need in &cluster.needs {
        let of = cluster.component(need.of);
        let Some(parent) = of.parent.filter(|_| of.role == Role::HelmRelease) else { continue };
        if let Some(object) = made.get(&(&need.capability, parent))
            && let Some(kind) = kinds.get(&(parent, (*object).clone()))
        {
            found.push((need.clone(), kind.clone()));
        }
    }
    let found: Vec<(Need, Capability)> =
        found.into_iter().map(|(need, (group, kind))| (need, controller_or_crd(collector, &group, &kind))).collect();
    for (need, kind) in found {
        let needing = Needing {
            of: need.of,
            object: &need.object,
            phase: Phase::Ready,
            soft: need.soft,
            optional: need.optional,
        };
        collector.need(&needing, kind, need.at, Purpose::Make(need.capability.clone()));
    }
}
