//! The volume that Flux keeps its artifacts on: `storage.class` of a FluxInstance. Without the class Flux fetches nothing, so that a
//! class which Flux itself installs never comes.

use model::{Capability, CapabilityKind, Phase, Purpose, Role, Stage};
use source::Span;
use yaml::Node;

use crate::bootstrap::ClusterBootstrap;
use crate::content::collector::{Collector, Needing};
use crate::helmfile::Release;
use crate::object::Object;
use crate::repository::Repository;

/// The chart that makes a FluxInstance.
const CHART: &str = "flux-instance";

/// Adds the need of whatever Flux applies first, where only Flux brings the class.
pub(crate) fn read(collector: &mut Collector, repository: &Repository, bootstrap: &ClusterBootstrap<'_>) {
    let Some((class, at)) = class(collector, repository, bootstrap) else { return };
    let capability = Capability::cluster(CapabilityKind::StorageClass, class);
    let cluster = &collector.assembled.cluster;
    let stages = |wanted: Stage| {
        let mut offers = cluster.offers.iter().filter(|offer| offer.capability == capability);
        offers.any(|offer| (cluster.component(offer.by).stage == Stage::Bootstrap) == (wanted == Stage::Bootstrap))
    };
    let comes_late = !stages(Stage::Bootstrap) && stages(Stage::GitOps);
    let root = cluster.ids().find(|id| cluster.component(*id).role == Role::Kustomization);
    let Some(root) = root.filter(|_| comes_late) else { return };
    let object = cluster.component(root).object.clone();
    let needing = Needing { of: root, object: &object, phase: Phase::Build, soft: false, optional: false };
    collector.need(&needing, capability, at, Purpose::FluxStorage);
}

/// The class of the instance that Flux starts with. What the bootstrap installs counts before what Flux adopts later.
fn class(collector: &Collector, repository: &Repository, bootstrap: &ClusterBootstrap<'_>) -> Option<(String, Span)> {
    let text = |node: Option<&Node>| {
        let node = node?;
        let name = node.text().filter(|text| !text.is_empty() && !text.contains("${"))?;
        Some((name.to_owned(), node.span))
    };
    let is_chart = |release: &&&Release| release.chart_name == CHART && !release.only_crds;
    let early = bootstrap.releases().iter().find(is_chart);
    if let Some(values) = early.and_then(|release| release.visible_values(repository)) {
        return text(values.at(&["instance", "storage", "class"]));
    }
    let seeds = bootstrap.objects().iter().map(|it| it.node);
    let built = collector.assembled.objects.iter().map(|built| &built.node);
    let mut instances = seeds.chain(built).filter(|node| Object::new(node).kind() == "FluxInstance");
    let of_object = instances.find_map(|node| text(node.at(&["spec", "storage", "class"])));
    let mut releases = collector.assembled.releases.iter().filter_map(|(_, release)| release.values.as_ref());
    of_object.or_else(|| releases.find_map(|values| text(values.at(&["instance", "storage", "class"]))))
}
