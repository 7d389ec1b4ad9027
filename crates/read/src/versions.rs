//! The versions of charts that a cluster installs, as its files write them. Draws no conclusion.

use std::collections::BTreeMap;

use ecow::EcoString;
use model::{ObjectRef, Stage};
use source::Span;
use yaml::Node;

use crate::rendered::Rendered;

/// A chart with the version that a release installs of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChartVersion {
    /// The HelmRelease, or what stands for a release of the bootstrap.
    pub release: ObjectRef,
    pub stage: Stage,
    pub chart: EcoString,
    pub version: EcoString,
    /// Where it is written.
    pub at: Span,
}

/// Every release whose version is written somewhere: those of the bootstrap first, then by name.
pub fn of(rendered: &Rendered) -> Vec<ChartVersion> {
    let early = rendered.bootstrap.releases.iter().filter(|one| !one.release.only_crds).filter_map(|one| {
        let release = &one.release;
        let version = release.version.as_ref()?;
        Some(ChartVersion {
            release: release.object(),
            stage: Stage::Bootstrap,
            chart: release.chart_name.clone(),
            version: version.clone(),
            at: release.version_at.unwrap_or(release.span),
        })
    });
    let nodes: BTreeMap<&ObjectRef, &Node> =
        rendered.appliers.iter().flat_map(|applier| &applier.objects).map(|(object, node)| (object, node)).collect();
    let charts = rendered.releases.iter().filter_map(|chart| {
        let at = version_node(&nodes, nodes.get(&chart.object)?, &chart.object.namespace)?;
        let (release, version) = (chart.object.clone(), EcoString::from(at.text()?));
        Some(ChartVersion { release, stage: Stage::GitOps, chart: chart.chart.clone(), version, at: at.span })
    });
    early.chain(charts).collect()
}

/// On the release, or on the source that it names.
fn version_node<'n>(nodes: &BTreeMap<&ObjectRef, &'n Node>, release: &'n Node, namespace: &str) -> Option<&'n Node> {
    if let Some(version) = release.at(&["spec", "chart", "spec", "version"]) {
        return Some(version);
    }
    let reference = release.at(&["spec", "chartRef"])?;
    let kind = reference.text_at(&["kind"])?;
    let namespace = reference.text_at(&["namespace"]).unwrap_or(namespace);
    let source = ObjectRef::new(kind, namespace, reference.text_at(&["name"])?);
    let source = nodes.get(&source)?;
    match kind {
        "HelmChart" => source.at(&["spec", "version"]),
        _ => source.at(&["spec", "ref", "tag"]).or_else(|| source.at(&["spec", "ref", "semver"])),
    }
}
