//! Sealing keys, SealedSecrets, stores. Their controllers are not in the lab: what they would report is written here.

use super::scene::Scene;
use super::{Case, Sort, Truth, applications, build};
use crate::{LabError, Object};

pub(super) const CASES: &[Case] = &[
    Case::new("sealing-key-lost", Sort::Fault, key_lost),
    Case::new("another-sealing-key", Sort::Fault, other_key),
    Case::new("sealed-for-another-cluster", Sort::Fault, one_sealed),
    Case::new("store-refuses", Sort::Fault, store),
    Case::new("store-missing", Sort::Fault, no_store),
    Case::new("app-waits-for-what-was-sealed", Sort::Fault, app_waits),
];

const NO_KEY: &str = "no key could decrypt secret (a)";

fn sealed(scene: &Scene<'_>, part: &str) -> Object {
    Object::new(build::SEALED, "SealedSecret", &scene.home(), &scene.name(part))
}

fn unsealable(scene: &Scene<'_>, parts: &[&str]) -> Result<(), LabError> {
    parts.iter().try_for_each(|part| scene.says(&sealed(scene, part), "Synced", "False", "", NO_KEY))
}

fn key(scene: &Scene<'_>) -> Object {
    Object::secret(&scene.platform(), &scene.name("sealing key"))
}

fn both(scene: &Scene<'_>, root: Truth) -> Truth {
    root.blocks("SealedSecret", &scene.name("sealed one")).blocks("SealedSecret", &scene.name("sealed two"))
}

pub(super) fn key_lost(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.remove(&key(scene))?;
    unsealable(scene, &["sealed one", "sealed two"])?;
    // No key has a name any more.
    Ok(both(scene, Truth::root("Secret", "sealed-secrets-key", "SEC-01")))
}

fn other_key(scene: &Scene<'_>) -> Result<Truth, LabError> {
    unsealable(scene, &["sealed one", "sealed two"])?;
    Ok(both(scene, Truth::root("Secret", &scene.name("sealing key"), "SEC-01")))
}

pub(super) fn one_sealed(scene: &Scene<'_>) -> Result<Truth, LabError> {
    unsealable(scene, &["sealed two"])?;
    Ok(Truth::root("SealedSecret", &scene.name("sealed two"), "SEC-01"))
}

pub(super) fn the_store(scene: &Scene<'_>) -> Object {
    Object::cluster_wide(build::ESO, "ClusterSecretStore", &scene.name("store"))
}

fn external(scene: &Scene<'_>) -> Object {
    Object::new(build::ESO, "ExternalSecret", &scene.home(), &scene.name("external"))
}

pub(super) fn store(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let text = "unable to create client: permission denied";
    scene.says(&the_store(scene), "Ready", "False", "InvalidProviderConfig", text)?;
    scene.says(&external(scene), "Ready", "False", "SecretSyncedError", "could not get secret data from provider")?;
    let truth = Truth::root("ClusterSecretStore", &scene.name("store"), "SEC-05");
    Ok(truth.blocks("ExternalSecret", &scene.name("external")))
}

fn no_store(scene: &Scene<'_>) -> Result<Truth, LabError> {
    let mut it = build::external_secret(&scene.home(), &scene.name("stray"), &scene.name("no store"));
    let text = "could not get ClusterSecretStore, not found";
    it["status"]["conditions"] = serde_json::json!([build::condition("Ready", "False", "SecretSyncedError", text)]);
    scene.add(&it)?;
    let truth = Truth::root("ClusterSecretStore", &scene.name("no store"), "SEC-05");
    Ok(truth.blocks("ExternalSecret", &scene.name("stray")))
}

/// The key is lost, the Secret was not made, and a pod needs it.
fn app_waits(scene: &Scene<'_>) -> Result<Truth, LabError> {
    scene.remove(&key(scene))?;
    unsealable(scene, &["sealed one", "sealed two"])?;
    scene.remove(&Object::secret(&scene.home(), &scene.name("sealed one")))?;
    applications::needs_secret(scene, "needy", &scene.name("sealed one"))?;
    let truth = both(scene, Truth::root("Secret", "sealed-secrets-key", "SEC-01"));
    Ok(truth.blocks("Secret", &scene.name("sealed one")).blocks("Deployment", &scene.name("needy")))
}
