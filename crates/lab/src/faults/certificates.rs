//! Certificates and issuers, as cert-manager would report them.

use std::time::Duration;

use serde_json::json;

use super::scene::Scene;
use super::{Case, Sort, Truth, applications, build};
use crate::{LabError, Object};

pub(super) const CASES: &[Case] = &[
    Case::new("issuer-not-ready", Sort::Fault, issuer),
    Case::new("issuer-missing", Sort::Fault, no_issuer),
    Case::new("secret-of-a-certificate", Sort::Consequence, secret),
];

pub(super) fn the_certificate(scene: &Scene<'_>) -> Object {
    Object::new(build::CERT_MANAGER, "Certificate", &scene.home(), &scene.name("certificate"))
}

fn not_issued(scene: &Scene<'_>) -> Result<(), LabError> {
    let text = "Issuing certificate as Secret does not exist";
    scene.says(&the_certificate(scene), "Ready", "False", "DoesNotExist", text)
}

fn issuer_fails(scene: &Scene<'_>) -> Result<(), LabError> {
    let it = Object::cluster_wide(build::CERT_MANAGER, "ClusterIssuer", &scene.name("issuer"));
    scene.says(&it, "Ready", "False", "ErrRegisterACMEAccount", "Failed to register ACME account: 403 forbidden")
}

pub(super) fn issuer(scene: &Scene<'_>) -> Result<Truth, LabError> {
    issuer_fails(scene)?;
    not_issued(scene)?;
    let truth = Truth::root("ClusterIssuer", &scene.name("issuer"), "CERT-01");
    Ok(truth.blocks("Certificate", &scene.name("certificate")))
}

fn no_issuer(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut it = build::certificate(&scene.home(), &scene.name("stray"), &scene.name("no issuer"));
    let text = "Referenced \"ClusterIssuer\" not found";
    it["status"] = json!({"conditions": [build::condition("Ready", "False", "IssuerNotFound", text)]});
    scene.add(&it)?;
    let truth = Truth::root("ClusterIssuer", &scene.name("no issuer"), None);
    Ok(truth.blocks("Certificate", &scene.name("stray")))
}

/// Secrets are below certificates, and this one is made by a certificate.
fn secret(scene: &Scene<'_>) -> Result<Truth, LabError> {
    issuer_fails(scene)?;
    not_issued(scene)?;
    let secret = format!("{}-tls", scene.name("certificate"));
    applications::needs_secret(scene, "server", &secret)?;
    let truth = Truth::root("ClusterIssuer", &scene.name("issuer"), "CERT-01");
    let truth = truth.blocks("Certificate", &scene.name("certificate")).blocks("Secret", &secret);
    Ok(truth.blocks("Deployment", &scene.name("server")))
}

/// It ended a day ago, and still says that it is ready.
pub(super) fn expired(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let yesterday = build::ago(Duration::from_hours(24));
    scene.status(&the_certificate(scene), &json!({"notAfter": yesterday}))?;
    Ok(Truth::root("Certificate", &scene.name("certificate"), None))
}
