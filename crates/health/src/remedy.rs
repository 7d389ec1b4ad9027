//! What would be done about a root: the command, and who may give it. The words, guard and proof are said by its cause.

use ecow::EcoString;

use crate::cause::Cause;
use crate::facts::ObjectKey;
use crate::status::{Automatic, Problem, Remedy};

fn words(parts: &[&str]) -> Vec<EcoString> {
    parts.iter().filter(|it| !it.is_empty()).map(|it| EcoString::from(*it)).collect()
}

/// `flux` has a noun for each of its kinds.
fn flux_kind(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "Kustomization" => &["kustomization"],
        "HelmRelease" => &["helmrelease"],
        "GitRepository" => &["source", "git"],
        "OCIRepository" => &["source", "oci"],
        "HelmRepository" => &["source", "helm"],
        "HelmChart" => &["source", "chart"],
        "Bucket" => &["source", "bucket"],
        _ => return None,
    })
}

fn flux(verb: &str, object: &ObjectKey, more: &[&str]) -> Option<Vec<EcoString>> {
    let kind = flux_kind(&object.kind)?;
    let mut parts = vec!["flux", verb];
    parts.extend(kind);
    parts.extend([&*object.name, "-n", &*object.namespace]);
    parts.extend(more);
    Some(words(&parts))
}

/// Shows more of an object.
fn describe(object: &ObjectKey) -> Vec<EcoString> {
    let kind = match (&*object.kind, &*object.group) {
        (kind, "") => EcoString::from(kind),
        (kind, group) => ecow::eco_format!("{kind}.{group}"),
    };
    // What is no object of Kubernetes can't be described.
    match &*object.kind {
        "Machine" => words(&["talosctl", "-n", &object.name, "services"]),
        "Etcd" | "EtcdMember" => words(&["talosctl", "etcd", "status"]),
        "Registry" => words(&["kubectl", "get", "events", "-A", "--field-selector", "reason=Failed"]),
        "PodNetwork" => words(&["kubectl", "get", "daemonsets", "-A"]),
        "APIServer" => words(&["kubectl", "cluster-info"]),
        _ if object.namespace.is_empty() => words(&["kubectl", "describe", &kind, &object.name]),
        _ => words(&["kubectl", "describe", &kind, "-n", &object.namespace, &object.name]),
    }
}

fn command(object: &ObjectKey, problem: &Problem) -> Vec<EcoString> {
    let special = match problem {
        Problem::Suspended => flux("resume", object, &[]),
        Problem::Stalled { .. } => {
            flux("reconcile", object, if object.kind == "HelmRelease" { &["--reset"] } else { &[] })
        }
        Problem::NodeCordoned => Some(words(&["kubectl", "uncordon", &object.name])),
        Problem::Crashing { container, .. } if object.kind == "Pod" => {
            Some(words(&["kubectl", "logs", "-n", &object.namespace, &object.name, "-c", container, "--previous"]))
        }
        Problem::Crashing { container, .. } if !object.namespace.is_empty() => {
            let name = ecow::eco_format!("{}/{}", object.kind.to_lowercase(), object.name);
            Some(words(&["kubectl", "logs", "-n", &object.namespace, &name, "-c", container, "--previous"]))
        }
        Problem::RequestPending { .. } => Some(words(&["kubectl", "get", "csr", &object.name, "-o", "yaml"])),
        Problem::Missing => Some(words(&[
            "kubectl",
            "get",
            "events",
            "-n",
            if object.namespace.is_empty() { "default" } else { &object.namespace },
        ])),
        _ => None,
    };
    special.unwrap_or_else(|| describe(object))
}

pub(crate) fn remedy(cause: Option<Cause>, object: &ObjectKey, problem: &Problem) -> Remedy {
    let automatic = cause.map_or(Automatic::Ask, Cause::automatic);
    Remedy { automatic, command: command(object, problem) }
}
