//! Charts that kustomize renders into a directory of the bootstrap: `helmCharts`, built with `--enable-helm`.
//!
//! Knows the chart, the release and its values. Nothing is rendered: what the chart brings, the catalogue says.

use kustomize::{Build, Files as _, Overlooked};
use source::Span;
use yaml::Node;

use crate::helmfile::{Helmfile, Release};
use crate::repository::Repository;
use ::repository::path;

/// One for each kustomization that lists charts. What is understood is no blind spot of the build any more.
pub(super) fn take(repository: &Repository, build: &mut Build) -> Vec<Helmfile> {
    let mut charts: Vec<Helmfile> = Vec::new();
    build.blind.retain(|spot| {
        let Overlooked::Chart { .. } = spot.what else { return true };
        let Some((file, release)) = release_at(repository, spot.span) else { return true };
        match charts.iter_mut().find(|it| it.path == file) {
            Some(helmfile) => helmfile.releases.push(release),
            None => charts.push(Helmfile { order_key: file.clone(), path: file, releases: vec![release] }),
        }
        false
    });
    charts
}

/// The release of the chart that is listed at a place, and the file that lists it.
fn release_at(repository: &Repository, at: Span) -> Option<(String, Release)> {
    let file = repository.path(at.file)?.to_owned();
    let documents = repository.documents(&file)?.1;
    let mut roots = documents.iter().filter_map(|document| document.root.as_ref());
    let (root, entry) =
        roots.find_map(|root| Some((root, root.items_at("helmCharts").iter().find(|it| it.span == at)?)))?;
    let release = release(repository, &file, root, entry)?;
    Some((file, release))
}

fn release(repository: &Repository, file: &str, root: &Node, entry: &Node) -> Option<Release> {
    let chart = entry.get("name")?;
    let name = entry.text_at(&["releaseName"]).unwrap_or(chart.text()?);
    let namespace = entry.text_at(&["namespace"]).or_else(|| root.text_at(&["namespace"])).unwrap_or_default();
    let additional = entry.items_at("additionalValuesFiles").iter();
    let files = entry.get("valuesFile").into_iter().chain(additional).filter_map(Node::text);
    let in_repository = |written: &str| {
        let place = path::join(path::parent(file), written).filter(|path| repository.id(path).is_some());
        place.unwrap_or_else(|| written.to_owned())
    };
    Some(Release {
        name: name.into(),
        namespace: namespace.into(),
        chart: chart.text().map(Into::into),
        chart_name: chart.text()?.into(),
        version: entry.text_at(&["version"]).map(Into::into),
        version_at: entry.get("version").map(|version| version.span),
        needs: Vec::new(),
        undefined_needs: Vec::new(),
        wait: None,
        timeout_seconds: None,
        values_files: files.map(in_repository).collect(),
        inline_values: entry.get("valuesInline").into_iter().cloned().collect(),
        applies: Vec::new(),
        absent: Vec::new(),
        span: chart.span,
        only_crds: false,
        // What else is applied with it, and what is waited for, is not known.
        by_script: true,
        by_terraform: false,
    })
}
