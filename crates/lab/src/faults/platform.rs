//! Addresses and gateways.

use std::time::Duration;

use super::scene::Scene;
use super::{Case, Sort, Truth, build};
use crate::{LabError, Object};

pub(super) const CASES: &[Case] = &[
    Case::new("gateway-class-refused", Sort::Fault, class),
    Case::new("gateway-not-programmed", Sort::Fault, gateway),
    Case::new("balancer-without-address", Sort::Fault, balancer).ripe(Duration::from_mins(2)),
];

pub(super) fn refuse_class(scene: &Scene<'_>) -> Result<(), LabError> {
    let it = Object::cluster_wide(build::GATEWAY, "GatewayClass", &scene.name("gateway class"));
    scene.says(&it, "Accepted", "False", "InvalidParameters", "parametersRef names nothing")
}

fn unprogrammed(scene: &Scene<'_>) -> Result<(), LabError> {
    let it = Object::new(build::GATEWAY, "Gateway", &scene.home(), &scene.name("gateway"));
    scene.says(&it, "Programmed", "False", "Pending", "Waiting for controller")
}

pub(super) fn class(scene: &Scene<'_>) -> Result<Truth, LabError> {
    refuse_class(scene)?;
    unprogrammed(scene)?;
    let truth = Truth::root("GatewayClass", &scene.name("gateway class"), "GW-01");
    Ok(truth.blocks("Gateway", &scene.name("gateway")))
}

fn gateway(scene: &Scene<'_>) -> Result<Truth, LabError> {
    unprogrammed(scene)?;
    Ok(Truth::root("Gateway", &scene.name("gateway"), "GW-02"))
}

fn balancer(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut it = build::service(&scene.home(), &scene.name("outside"), ("app", "it"));
    it["spec"]["type"] = "LoadBalancer".into();
    it["spec"]["allocateLoadBalancerNodePorts"] = false.into();
    scene.add(&it)?;
    Ok(Truth::root("Service", &scene.name("outside"), "LB-01"))
}
