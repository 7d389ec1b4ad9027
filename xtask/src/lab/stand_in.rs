//! Stand-ins for charts that a repository names and nobody can fetch here: a Deployment named after the release, and the
//! CRDs that the catalogue says the chart brings, with schemas that allow anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::Result;
use catalogue::Catalogue;
use serde_json::{Value, json};

use super::tree::Needs;

const APP: &str = r"apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
  labels:
    app.kubernetes.io/name: {{ .Release.Name }}
spec:
  selector:
    matchLabels:
      app.kubernetes.io/name: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: {{ .Release.Name }}
    spec:
      containers:
        - name: main
          image: stand-in.example.org/{{ .Chart.Name }}:{{ .Chart.Version }}
";

/// Kinds without a namespace that do not say so by their name.
const CLUSTER_WIDE: &[&str] = &["GatewayClass", "VolumeSnapshotClass", "VolumeSnapshotContent"];

/// Writes a chart and returns the kinds it brings.
pub(crate) fn write(directory: &Path, chart: &str, needs: &Needs) -> Result<BTreeSet<(String, String)>> {
    fs::create_dir_all(directory.join("templates"))?;
    fs::create_dir_all(directory.join("crds"))?;
    fs::write(directory.join("Chart.yaml"), format!("apiVersion: v2\nname: {chart}\nversion: 0.0.0\n"))?;
    fs::write(directory.join("values.yaml"), "{}\n")?;
    fs::write(directory.join("templates/app.yaml"), APP)?;
    let mut brought = BTreeSet::new();
    for ((group, kind), versions) in &needs.kinds {
        if brings(chart, group, kind) {
            let text = format!("{:#}\n", crd(group, kind, versions));
            fs::write(directory.join(format!("crds/{group}_{kind}.yaml")), text)?;
            brought.insert((group.clone(), kind.clone()));
        }
    }
    Ok(brought)
}

fn brings(chart: &str, group: &str, kind: &str) -> bool {
    let Some(component) = Catalogue::embedded().by_chart(chart) else { return false };
    let (exact, whole) = (format!("{group}/{kind}"), format!("{group}/*"));
    component.crds.iter().flat_map(|crds| &crds.kinds).any(|pattern| *pattern == exact || *pattern == whole)
}

/// A CRD that allows anything, in every version in use.
pub(crate) fn crd(group: &str, kind: &str, versions: &BTreeSet<String>) -> Value {
    let plural = plural(kind);
    let cluster_wide = CLUSTER_WIDE.contains(&kind) || kind.starts_with("Cluster") && kind != "Cluster";
    let versions: Vec<Value> = versions
        .iter()
        .enumerate()
        .map(|(at, version)| {
            let open = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
            json!({
                "name": version,
                "served": true,
                "storage": at == 0,
                "schema": {"openAPIV3Schema": open},
                "subresources": {"status": {}},
            })
        })
        .collect();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": format!("{plural}.{group}"),
            // The API server wants to know that somebody meant to use a group of its own.
            "annotations": {"api-approved.kubernetes.io": "unapproved, a stand-in of the lab"},
        },
        "spec": {
            "group": group,
            "scope": if cluster_wide { "Cluster" } else { "Namespaced" },
            "names": {"kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List")},
            "versions": versions,
        },
    })
}

fn plural(kind: &str) -> String {
    let kind = kind.to_lowercase();
    let vowel_y = ["ay", "ey", "oy", "uy"].iter().any(|ending| kind.ends_with(ending));
    if kind.ends_with('y') && !vowel_y {
        return format!("{}ies", &kind[..kind.len() - 1]);
    }
    let es = ["s", "x", "ch", "sh"].iter().any(|ending| kind.ends_with(ending));
    format!("{kind}{}", if es { "es" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::plural;

    #[test]
    fn plurals_are_those_of_the_real_crds() {
        for (kind, expected) in [
            ("Certificate", "certificates"),
            ("GatewayClass", "gatewayclasses"),
            ("Gateway", "gateways"),
            ("BackendTLSPolicy", "backendtlspolicies"),
        ] {
            assert_eq!(plural(kind), expected);
        }
    }
}
