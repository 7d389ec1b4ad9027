//! What one tree deploys, whatever the catalogue knows of it: charts by name, and needs that nobody offers.
//!
//! Charts are read from the files as they are, so that repositories of other tools count as well; needs come from the
//! clusters that `read` finds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use model::{Capability, CapabilityKind, Cluster, Verdict};
use read::Repository;
use yaml::Node;

/// Kinds of things that software of the catalogue could offer by a name that everybody uses.
const NAMED: [CapabilityKind; 13] = [
    CapabilityKind::StorageClass,
    CapabilityKind::SnapshotClass,
    CapabilityKind::IngressClass,
    CapabilityKind::GatewayClass,
    CapabilityKind::PriorityClass,
    CapabilityKind::RuntimeClass,
    CapabilityKind::SecretStore,
    CapabilityKind::Issuer,
    CapabilityKind::Gateway,
    CapabilityKind::Device,
    CapabilityKind::NodeLabel,
    CapabilityKind::CsiDriver,
    CapabilityKind::Secret,
];

/// What a tree deploys: each with how often.
#[derive(Debug, Default)]
pub(crate) struct Deployed {
    /// By the name of the chart.
    pub charts: BTreeMap<String, usize>,
    /// Kinds (`group/Kind`) that objects have and that nobody in their cluster offers.
    pub kinds: BTreeMap<String, usize>,
    /// Names of classes, stores, devices and the like that nobody in their cluster offers: noun and name.
    pub names: BTreeMap<(&'static str, String), usize>,
}

pub(crate) fn read(tree: &Path) -> Result<Deployed> {
    let reading = read::read(tree).with_context(|| format!("cannot read {}", tree.display()))?;
    let mut deployed = Deployed::default();
    for chart in charts(&reading.repository) {
        *deployed.charts.entry(chart).or_default() += 1;
    }
    for cluster in &reading.clusters {
        for capability in unoffered(cluster) {
            if capability.kind == CapabilityKind::Crd {
                *deployed.kinds.entry(capability.name.to_string()).or_default() += 1;
            } else if NAMED.contains(&capability.kind) {
                let key = (capability.kind.noun(), capability.name.to_string());
                *deployed.names.entry(key).or_default() += 1;
            }
        }
    }
    Ok(deployed)
}

fn unoffered(cluster: &Cluster) -> impl Iterator<Item = &Capability> {
    let judged = graph::analyse(cluster).judged.into_iter();
    let missing = judged.filter(|judged| judged.verdict == Verdict::Unoffered);
    missing.filter_map(|judged| cluster.needs.get(judged.need)).map(|need| &need.capability)
}

/// The charts of every release in a tree: of Flux, helmfile, Argo CD and kustomize.
fn charts(repository: &Repository) -> Vec<String> {
    let roots: Vec<&Node> = repository
        .yaml_files()
        .flat_map(|(_, _, documents)| documents.iter().filter_map(|document| document.root.as_ref()))
        .collect();
    let referred: BTreeSet<&str> =
        roots.iter().filter_map(|root| root.text_at(&["spec", "chartRef", "name"])).collect();
    let mut charts: Vec<String> = roots.iter().flat_map(|root| of_object(root, &referred)).collect();
    for helmfile in read::helmfile::read(repository) {
        charts.extend(helmfile.releases.iter().filter_map(|release| name(release.chart.as_deref()?)));
    }
    charts
}

/// The charts that one object deploys. `referred` are the names of sources that releases take their chart from.
fn of_object(root: &Node, referred: &BTreeSet<&str>) -> Vec<String> {
    let group =
        root.text_at(&["apiVersion"]).and_then(|version| version.split_once('/')).map_or("", |(group, _)| group);
    let kind = root.text_at(&["kind"]).unwrap_or_default();
    let written: Vec<&str> = match (group, kind) {
        ("helm.toolkit.fluxcd.io", "HelmRelease") => {
            root.text_at(&["spec", "chart", "spec", "chart"]).into_iter().collect()
        }
        ("source.toolkit.fluxcd.io", "OCIRepository") if holds_chart(root, referred) => {
            root.text_at(&["spec", "url"]).into_iter().collect()
        }
        ("argoproj.io", "Application") => {
            let spec = root.get("spec");
            let one = spec.and_then(|spec| spec.text_at(&["source", "chart"]));
            let many = spec.map(|spec| spec.items_at("sources")).unwrap_or_default();
            one.into_iter().chain(many.iter().filter_map(|source| source.text_at(&["chart"]))).collect()
        }
        _ => root.items_at("helmCharts").iter().filter_map(|chart| chart.text_at(&["name"])).collect(),
    };
    written.into_iter().filter_map(name).collect()
}

/// Whether an OCIRepository holds a chart, not manifests: a release says so, or the layer that it picks does.
fn holds_chart(root: &Node, referred: &BTreeSet<&str>) -> bool {
    let name = root.text_at(&["metadata", "name"]).unwrap_or_default();
    let layer = root.text_at(&["spec", "layerSelector", "mediaType"]).unwrap_or_default();
    referred.contains(name) || layer.contains("helm")
}

/// What to call a chart. Paths into the repository are its own business.
fn name(written: &str) -> Option<String> {
    let is_own = written.contains("${") || written.contains("{{") || written.starts_with(['.', '/']);
    let name = catalogue::chart_name(written);
    (!is_own && !name.is_empty()).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let tree = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        tree
    }

    #[test]
    fn charts_of_every_tool_are_counted_by_name() {
        let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n";
        let source = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\n";
        let tree = tree(&[
            ("a.yaml", &format!("{release}spec: {{chart: {{spec: {{chart: One}}}}}}\n")),
            ("b.yaml", &format!("{release}spec: {{chartRef: {{kind: OCIRepository, name: two}}}}\n")),
            ("c.yaml", &format!("{source}metadata: {{name: two}}\nspec: {{url: oci://r.example.com/x/two/chart}}\n")),
            ("d.yaml", &format!("{source}metadata: {{name: manifests}}\nspec: {{url: oci://r.example.com/m}}\n")),
            (
                "e.yaml",
                "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {sources: [{chart: three}, {path: p}]}\n",
            ),
            ("f/kustomization.yaml", "kind: Kustomization\nhelmCharts: [{name: three}]\n"),
            ("bootstrap/helmfile.yaml", "releases: [{name: x, chart: repo/four}, {name: y, chart: ./local}]\n"),
        ]);
        let charts = read(tree.path()).unwrap().charts;
        let expected = [("four", 1), ("one", 1), ("three", 2), ("two", 1)];
        assert_eq!(charts, expected.map(|(name, count)| (name.to_owned(), count)).into());
    }

    #[test]
    fn needs_that_nobody_offers_are_counted() {
        let ks = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a, namespace: flux-system}\n\
                  spec: {path: ./apps, interval: 1h, sourceRef: {kind: GitRepository, name: flux-system}}\n";
        let objects = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a, namespace: b}\n---\n\
                       apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: c, namespace: b}\n\
                       spec: {storageClassName: fast}\n";
        let tree = tree(&[("cluster/ks.yaml", ks), ("apps/objects.yaml", objects)]);
        let deployed = read(tree.path()).unwrap();
        assert_eq!(deployed.kinds, [("example.com/Thing".to_owned(), 1)].into());
        assert_eq!(deployed.names, [(("StorageClass", "fast".to_owned()), 1)].into());
    }
}
