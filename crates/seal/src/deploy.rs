//! What a cluster gets: the Secret that the controller loads as a key, and the canary that proves it did. Objects only;
//! whoever talks to the cluster is elsewhere.

use serde_json::{Value, json};

use crate::SecretBytes;
use crate::key::{Certificate, KeyPair};
use crate::manifest::{SecretError, SecretManifest};
use crate::scope::Scope;

/// The label by which the controller finds its keys, and the only value it heeds.
pub const KEY_LABEL: &str = "sealedsecrets.bitnami.com/sealed-secrets-key";
pub const KEY_LABEL_ACTIVE: &str = "active";
/// How the controller's own keys are called. A Secret of just this name it loads even without the label.
pub const KEY_NAME_PREFIX: &str = "sealed-secrets-key";
/// Where kubeseal looks for the controller when nobody says.
pub const KEY_NAMESPACE_DEFAULT: &str = "kube-system";

/// The key as the controller loads it: in its own namespace, by type and label. The name is the key's own, so deploying
/// twice is deploying once.
pub fn key_secret(pair: &KeyPair, namespace: &str) -> Value {
    let private_key = pair.private_key_pem();
    json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "kubernetes.io/tls",
        "metadata": {
            "name": key_secret_name(pair),
            "namespace": namespace,
            "labels": {KEY_LABEL: KEY_LABEL_ACTIVE},
        },
        "stringData": {"tls.crt": pair.certificate().to_pem(), "tls.key": private_key.expose()},
    })
}

pub fn key_secret_name(pair: &KeyPair) -> String {
    format!("{KEY_NAME_PREFIX}-{}", pair.id())
}

/// A SealedSecret whose only purpose is to be unsealed and removed, in YAML.
pub fn canary(
    certificate: &Certificate,
    namespace: &str,
    name: &str,
    value: &SecretBytes,
) -> Result<String, SecretError> {
    let mut secret =
        SecretManifest { name: name.to_owned(), namespace: Some(namespace.to_owned()), ..SecretManifest::default() };
    secret.put("canary", value.clone())?;
    secret.to_sealed_yaml(certificate, Scope::Strict)
}
