//! What messages of Kubernetes, Flux and cert-manager name. The texts are theirs, as their sources write them.

use crate::facts::ObjectKey;

/// The text between two others.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let rest = &text[text.find(start)? + start.len()..];
    Some(&rest[..rest.find(end)?])
}

/// All texts between two others.
fn all_between<'a>(mut text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    while let Some(at) = text.find(start) {
        text = &text[at + start.len()..];
        let Some(to) = text.find(end) else { break };
        found.push(&text[..to]);
        text = &text[to..];
    }
    found
}

/// `no matches for kind "X" in version "g/v"`: group and kind.
pub(crate) fn missing_kind(message: &str) -> Option<(&str, &str)> {
    let kind = between(message, "no matches for kind \"", "\"")?;
    let version = between(message, "in version \"", "\"")?;
    Some((version.split_once('/').map_or("", |(group, _)| group), kind))
}

/// `failed calling webhook "name"`.
pub(crate) fn webhook(message: &str) -> Option<&str> {
    between(message, "failed calling webhook \"", "\"")
}

/// Objects that are named as not found, in a namespace: `secret "x" not found` and its kin.
pub(crate) fn not_found(message: &str, namespace: &str) -> Vec<ObjectKey> {
    const KINDS: [(&str, &str, &str); 8] = [
        ("secret \"", "", "Secret"),
        ("secrets \"", "", "Secret"),
        ("Secret \"", "", "Secret"),
        ("configmap \"", "", "ConfigMap"),
        ("configmaps \"", "", "ConfigMap"),
        ("persistentvolumeclaim \"", "", "PersistentVolumeClaim"),
        ("namespaces \"", "", "Namespace"),
        ("storageclass.storage.k8s.io \"", "storage.k8s.io", "StorageClass"),
    ];
    let mut found = Vec::new();
    for (start, group, kind) in KINDS {
        for part in message.match_indices(start).map(|(at, _)| &message[at + start.len()..]) {
            let Some((name, rest)) = part.split_once('"') else { continue };
            if rest.starts_with(" not found") {
                let (namespace, name) = name.split_once('/').unwrap_or((namespace, name));
                let is_global = matches!(kind, "Namespace" | "StorageClass");
                found.push(ObjectKey::new(group, kind, if is_global { "" } else { namespace }, name));
            }
        }
    }
    if let Some(secret) = between(message, "sops decryption Secret '", "'") {
        let (namespace, name) = secret.split_once('/').unwrap_or((namespace, secret));
        found.push(ObjectKey::new("", "Secret", namespace, name));
    }
    found.dedup();
    found
}

/// Whether a name could not be looked up.
pub(crate) fn is_lookup(message: &str) -> bool {
    message.contains("lookup ")
        && ["i/o timeout", "no such host", "server misbehaving", "connection refused", "Temporary failure"]
            .iter()
            .any(|end| message.contains(end))
}

/// `Running health checks for revision main@sha1:… with a timeout of 30s`.
pub(crate) fn is_health_check(message: &str) -> bool {
    message.starts_with("Running health checks")
}

/// `timeout waiting for: [Deployment/ns/name status: 'InProgress', …]`.
pub(crate) fn waited_for(message: &str) -> Vec<ObjectKey> {
    let Some(list) = between(message, "waiting for: [", "]") else { return failed_of(message) };
    list.split(", ").filter_map(|item| named(item.split(' ').next().unwrap_or_default())).collect()
}

/// `failed early due to stalled resources: [HelmRelease/ns/name status: 'Failed']`.
fn failed_of(message: &str) -> Vec<ObjectKey> {
    let list = between(message, "stalled resources: [", "]").unwrap_or_default();
    list.split(", ").filter_map(|item| named(item.split(' ').next().unwrap_or_default())).collect()
}

/// `Kind/ns/name` or `Kind/name`. The group is not told.
fn named(text: &str) -> Option<ObjectKey> {
    let mut parts = text.split('/');
    let kind = parts.next().filter(|kind| !kind.is_empty())?;
    match (parts.next(), parts.next()) {
        (Some(namespace), Some(name)) => Some(ObjectKey::new("", kind, namespace, name)),
        (Some(name), None) => Some(ObjectKey::new("", kind, "", name)),
        _ => None,
    }
}

/// Keys of taints that a pod does not tolerate, in the scheduler's words.
pub(crate) fn taints(message: &str) -> Vec<&str> {
    all_between(message, "taint {", "}").into_iter().map(|taint| taint.split(':').next().unwrap_or_default()).collect()
}

/// `driver name X not found in the list of registered CSI drivers`.
pub(crate) fn unregistered_driver(message: &str) -> Option<&str> {
    between(message, "driver name ", " not found in the list of registered CSI drivers")
}

/// The host of an image's registry.
pub(crate) fn registry(image: &str) -> &str {
    match image.split_once('/') {
        Some((host, _)) if host.contains('.') || host.contains(':') || host == "localhost" => host,
        _ => "docker.io",
    }
}

/// Whether a pull failed because of the registry, and not of the image.
pub(crate) fn is_registry_down(message: &str) -> bool {
    const SIGNS: [&str; 9] = [
        "429 Too Many Requests",
        "toomanyrequests",
        "i/o timeout",
        "connection refused",
        "no such host",
        "server misbehaving",
        "TLS handshake timeout",
        "503 Service Unavailable",
        "502 Bad Gateway",
    ];
    SIGNS.iter().any(|sign| message.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_from_the_texts_of_others() {
        let dry = r#"Widget/a/b dry-run failed: no matches for kind "Widget" in version "w.io/v1""#;
        assert_eq!(missing_kind(dry), Some(("w.io", "Widget")));
        let hook = r#"Internal error occurred: failed calling webhook "validate.x.io": no endpoints available"#;
        assert_eq!(webhook(hook), Some("validate.x.io"));
        let found = not_found(r#"MountVolume.SetUp failed: secret "db" not found"#, "app");
        assert_eq!(found, [ObjectKey::new("", "Secret", "app", "db")]);
        let sops = "cannot get sops decryption Secret 'flux-system/sops-age': not found";
        assert_eq!(not_found(sops, "x"), [ObjectKey::new("", "Secret", "flux-system", "sops-age")]);
        let waited = "health check failed after 30s: timeout waiting for: [Deployment/a/b status: 'InProgress', \
                      ClusterIssuer/le status: 'InProgress']";
        assert_eq!(
            waited_for(waited),
            [ObjectKey::new("", "Deployment", "a", "b"), ObjectKey::new("", "ClusterIssuer", "", "le")]
        );
        let taint = "0/3 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }, \
                     2 node(s) had untolerated taint {a/b: c}.";
        assert_eq!(taints(taint), ["node.kubernetes.io/not-ready", "a/b"]);
        assert!(is_lookup("dial tcp: lookup git.example.org on 10.96.0.10:53: read udp: i/o timeout"));
        assert_eq!(registry("nginx:1"), "docker.io");
        assert_eq!(registry("ghcr.io/a/b"), "ghcr.io");
    }

    #[test]
    fn a_text_that_names_nothing_is_no_name() {
        for text in ["", "no matches for kind \"", "waiting for: [", "secret \"x", "taint {", "Kind//"] {
            assert_eq!(missing_kind(text), None);
            assert_eq!(webhook(text), None);
            assert!(not_found(text, "").is_empty());
            assert!(waited_for(text).is_empty());
            assert!(taints(text).is_empty());
        }
    }
}
