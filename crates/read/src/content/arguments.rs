//! Arguments that people patch into Flux's controllers: in a FluxInstance, in the values of its chart (also those that a
//! generator puts into a ConfigMap), or in a kustomization.

use crate::flux::Built;
use crate::object::{Object, mentions};

/// Whether helm-controller retries failed installs unless a release says otherwise.
pub(crate) fn retries_by_default(objects: &[Built]) -> bool {
    is_given(objects, "helm-controller", "DefaultToRetryOnFailure=true")
}

/// Whether kustomize-controller looks again when any Secret or ConfigMap is made that a Kustomization names, not only at
/// labelled ones.
pub(crate) fn watches_settings(objects: &[Built]) -> bool {
    is_given(objects, "kustomize-controller", "--watch-configs-label-selector=owner!=helm")
}

/// Whether a controller is given an argument, or a part of one, as far as the files tell.
fn is_given(objects: &[Built], controller: &str, argument: &str) -> bool {
    let is_controller = |object: Object<'_>| match object.kind() {
        "FluxInstance" | "HelmRelease" | "ConfigMap" => object.name().contains("flux"),
        "Deployment" => object.name() == controller,
        _ => false,
    };
    objects.iter().any(|built| is_controller(Object::new(&built.node)) && mentions(&built.node, argument))
}
