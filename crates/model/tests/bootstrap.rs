//! What people and JSON see of the steps of a bootstrap.

use coldstart_model::{BootstrapStep, ComponentId};

#[test]
fn each_step_has_an_object_that_stands_for_it() {
    let shown = |step: BootstrapStep| step.object("kube-system", "cilium").to_string();
    assert_eq!(shown(BootstrapStep::Release), "HelmfileRelease kube-system/cilium");
    assert_eq!(shown(BootstrapStep::Crds), "HelmfileCRDs kube-system/cilium");
    assert_eq!(shown(BootstrapStep::Resources), "Bootstrap bootstrap resources");
    assert_eq!(shown(BootstrapStep::ResourcesAfter(ComponentId(0))), "Bootstrap kube-system/cilium resources");
    assert_eq!(shown(BootstrapStep::SealingKey), "Bootstrap sealing key");
    assert_eq!(shown(BootstrapStep::Foundation), "Bootstrap kube-system/cilium");
}

#[test]
fn a_release_without_a_namespace_is_called_by_its_bare_name() {
    let name = |step: BootstrapStep, namespace: &str| step.step_name(&step.object(namespace, "cilium"));
    assert_eq!(name(BootstrapStep::Release, ""), "cilium");
    assert_eq!(name(BootstrapStep::Release, "kube-system"), "kube-system/cilium");
    assert_eq!(name(BootstrapStep::Crds, "kube-system"), "kube-system/cilium CRDs");
}
