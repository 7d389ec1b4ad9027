//! A ResourceSet as a component: what it waits for, and how often its controller tries again.

use std::collections::BTreeSet;

use model::{
    Behaviour, Component, ComponentId, Gate, ObjectRef, Patience, Retry, RetryField, Role, Stage, parse_duration,
};
use yaml::Node;

use crate::object::Object;

/// A ResourceSet, or a step of one.
pub(super) fn resource_set_component(
    object: Object<'_>,
    reference: ObjectRef,
    parent: ComponentId,
    gate: Gate,
) -> Component {
    Component {
        object: reference,
        role: Role::ResourceSet,
        behaviour: Behaviour::RECONCILED_AT_ONCE,
        stage: Stage::GitOps,
        at: object.name_span(),
        parent: Some(parent),
        gate,
        gate_at: object.spec("wait").map_or(object.name_span(), |wait| wait.span),
        suspended: None,
        patience: patience(object),
        startup_seconds: 0,
        known_as: None,
        path: None,
        ties_at: object.spec("dependsOn").map_or(object.name_span(), |ties| ties.span),
        objects: 0,
        ignored_checks: Vec::new(),
        expressions: BTreeSet::new(),
        resource: None,
        target_namespace: None,
    }
}

/// Its controller tries again every few minutes by itself; the timeout is an annotation.
fn patience(object: Object<'_>) -> Patience {
    const TIMEOUT_SECONDS: u64 = 300;
    const RETRY_SECONDS: u64 = 300;
    let timeout =
        object.annotation("fluxcd.controlplane.io/reconcileTimeout").and_then(Node::text).and_then(parse_duration);
    Patience {
        timeout_seconds: timeout.unwrap_or(TIMEOUT_SECONDS),
        attempts: 1,
        pause_seconds: 0,
        retry: Retry::Every(RETRY_SECONDS),
        retry_at: object.name_span(),
        retry_field: Some(RetryField::ReconcileEvery),
    }
}
