//! Sorts of needs that rules tell apart.

use diagnostic::Label;
use graph::Judged;
use model::{CapabilityKind, Need, Phase, Purpose, Role};

use crate::context::Context;

/// Whether a need is what a template asks the cluster for.
pub(crate) fn is_asked(context: &Context<'_>, judged: &Judged) -> bool {
    let need = context.need(judged);
    need.why == Purpose::AskedByTemplates && context.component(need.of).role == Role::HelmRelease
}

/// Whether a need is of an object that a Kustomization takes variables from.
pub(crate) fn is_variables(context: &Context<'_>, judged: &Judged) -> bool {
    let need = context.need(judged);
    need.phase == Phase::Build
        && matches!(need.capability.kind, CapabilityKind::Secret | CapabilityKind::ConfigMap)
        && context.component(need.of).role == Role::Kustomization
        && need.why == Purpose::Variables
}

/// The need of an object, beside its place.
pub(crate) fn needs(need: &Need) -> Label {
    Label::Needs { kind: need.object.kind.clone(), needed: need.capability.clone(), purpose: need.why.clone() }
}
