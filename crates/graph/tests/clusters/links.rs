//! Which offers meet which need.

use model::{Arrival, Capability, CapabilityKind, Phase, Verdict};

use crate::sketch::{Story, cluster_wide, kustomization, story};

/// Whether an offer of this capability is found for a need of that one.
fn meets(offered: Capability, needed: Capability) -> bool {
    let story: Story = story([
        kustomization("other").offers(offered, Arrival::Applied),
        kustomization("app").after("other").needs(needed, Phase::Ready),
    ]);
    match story.verdict("app") {
        Verdict::Guaranteed => true,
        Verdict::Unoffered => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_capability_is_met_by_its_like() {
    let label = |name| cluster_wide(CapabilityKind::NodeLabel, name);
    assert!(meets(label("zone"), label("zone")));
    assert!(!meets(label("zone"), label("region")));
    assert!(!meets(cluster_wide(CapabilityKind::Device, "zone"), label("zone")));
}

#[test]
fn a_whole_group_meets_each_of_its_kinds() {
    let controller = |name| cluster_wide(CapabilityKind::Controller, name);
    assert!(meets(controller("example.org/*"), controller("example.org/Widget")));
    assert!(!meets(controller("example.org/*"), controller("example.com/Widget")));
}

#[test]
fn whoever_names_a_kind_and_whoever_brings_its_group_are_both_found() {
    let story = story([
        kustomization("group").offers(Capability::crd("example.org", "*"), Arrival::Applied),
        kustomization("kind").offers(Capability::crd("example.org", "Widget"), Arrival::Applied),
        kustomization("app").after("group").needs(Capability::crd("example.org", "Widget"), Phase::Apply),
    ]);
    assert_eq!(story.analysis.links.offers_for(0), [1, 0]);
    assert_eq!((story.verdict("app"), story.offered_by("app")), (Verdict::Guaranteed, Some("group")));
}

#[test]
fn a_star_stands_for_what_the_cluster_decides() {
    let driver = |name| cluster_wide(CapabilityKind::CsiDriver, name);
    assert!(meets(driver("*.rbd.csi.ceph.com"), driver("rook.rbd.csi.ceph.com")));
    assert!(!meets(driver("*.rbd.csi.ceph.com"), driver("rook.cephfs.csi.ceph.com")));
    let class = |name| cluster_wide(CapabilityKind::StorageClass, name);
    assert!(!meets(class("*"), class("fast")), "the name of a class is written out");
}

#[test]
fn a_secret_without_a_namespace_is_made_in_all_that_it_chooses() {
    let secret = |namespace: &str, name: &str| Capability::new(CapabilityKind::Secret, namespace, name);
    assert!(meets(secret("", "registry"), secret("apps", "registry")));
    assert!(!meets(secret("", "registry"), secret("apps", "other")));
    assert!(!meets(secret("db", "registry"), secret("apps", "registry")));
}
