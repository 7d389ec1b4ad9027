//! Arguments that people patch into Flux's controllers: in a FluxInstance, in the values of its chart (also those that a
//! generator puts into a ConfigMap), or in a kustomization.

use crate::flux::Built;
use crate::object::{Object, mentions};

/// Whether a controller is given an argument, or a part of one, as far as the files tell.
pub(crate) fn is_given(objects: &[Built], controller: &str, argument: &str) -> bool {
    let is_controller = |object: Object<'_>| match object.kind() {
        "FluxInstance" | "HelmRelease" | "ConfigMap" => object.name().contains("flux"),
        "Deployment" => object.name() == controller,
        _ => false,
    };
    objects.iter().any(|built| is_controller(Object::new(&built.node)) && mentions(&built.node, argument))
}
