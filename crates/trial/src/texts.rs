//! The objects of releases and applications as text.

use std::fmt::Write as _;

/// What follows a failed install or upgrade: nothing, a few tries, tries for ever, and a try after a pause.
pub(crate) const POLICIES: [&str; 4] = [
    "",
    "  install:\n    remediation:\n      retries: 3\n  upgrade:\n    remediation:\n      retries: 3\n",
    "  install:\n    remediation:\n      retries: -1\n",
    "  install:\n    strategy:\n      name: RetryOnFailure\n      retryInterval: 1m\n  upgrade:\n    strategy:\n      \
     name: RetryOnFailure\n      retryInterval: 1m\n",
];

/// A HelmRelease and its source.
pub(crate) fn release(name: &str, chart: &str, values: &str, policy: &str) -> Vec<(String, String)> {
    let mut text = format!(
        "---\napiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata:\n  name: {name}\nspec:\n  interval: \
         15m\n  layerSelector:\n    mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip\n    operation: copy\n  \
         ref:\n    tag: 1.0.0\n  url: oci://charts.example.org/{chart}\n---\napiVersion: \
         helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: {name}\nspec:\n  interval: 1h\n  chartRef:\n    \
         kind: OCIRepository\n    name: {name}\n{policy}"
    );
    if !values.is_empty() {
        let _ = write!(text, "  values:\n{values}");
    }
    vec![("helmrelease.yaml".to_owned(), text)]
}

/// The values of an application, with what it uses.
pub(crate) fn application(name: &str, chart: &str, uses: &str) -> String {
    if chart != "app-template" {
        return format!("    replicaCount: 1\n    fullnameOverride: {name}\n");
    }
    let container = uses.replace("VOLUME", "");
    let mut text = format!(
        "    controllers:\n      {name}:\n        containers:\n          app:\n            image:\n              \
         repository: registry.example.org/{name}\n              tag: 1.2.3\n{container}"
    );
    if uses.contains("VOLUME") {
        let _ = write!(text, "    persistence:\n      data:\n        existingClaim: {name}\n");
    }
    text
}

pub(crate) fn config_map(name: &str) -> String {
    format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\ndata:\n  colour: blue\n")
}
