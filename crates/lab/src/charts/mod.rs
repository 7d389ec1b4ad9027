//! A chart server: the same charts as a Helm repository over HTTP and as an OCI registry, read-only.
//!
//! A Helm repository may be anywhere below the root (`/`, `/stable`, `/a/b`): the last path segment decides what is
//! served. An OCI repository may have any path; its last segment is the chart's name.

mod package;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;

use crate::LabError;
use crate::server::Server;
use package::{Blob, Package};

/// By name, then by version.
type Shelf = Arc<Mutex<BTreeMap<String, BTreeMap<String, Package>>>>;

#[derive(Debug)]
pub struct ChartServer {
    charts: Shelf,
    server: Server,
}

impl ChartServer {
    pub(crate) fn start(runtime: &Handle) -> Result<Self, LabError> {
        let shelf = Shelf::default();
        let routes = Router::new().fallback(serve).with_state(Arc::clone(&shelf));
        let server = Server::start(routes, runtime).map_err(LabError::io("start the chart server"))?;
        Ok(Self { charts: shelf, server })
    }

    /// Packs a chart's directory and offers it under this name and version, whatever its Chart.yaml says.
    pub fn add(&self, directory: &Path, name: &str, version: &str) -> Result<(), LabError> {
        let package = Package::of(directory, name, version)?;
        let mut charts = self.charts.lock().unwrap_or_else(PoisonError::into_inner);
        charts.entry(name.to_owned()).or_default().insert(version.to_owned(), package);
        Ok(())
    }

    /// Takes a version away again; whether it was there.
    pub fn remove(&self, name: &str, version: &str) -> bool {
        let mut charts = self.charts.lock().unwrap_or_else(PoisonError::into_inner);
        charts.get_mut(name).is_some_and(|versions| versions.remove(version).is_some())
    }

    /// For a `HelmRepository`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.server.port)
    }

    /// For a `HelmRepository` of type `oci`, with `insecure: true`.
    pub fn oci_url(&self) -> String {
        format!("oci://127.0.0.1:{}/charts", self.server.port)
    }

    /// For an `OCIRepository`, with `insecure: true`.
    pub fn oci_url_of(&self, name: &str) -> String {
        format!("{}/{name}", self.oci_url())
    }

    /// From now on the server cannot be reached.
    pub fn cut_off(&self) {
        self.server.cut_off();
    }

    pub fn restore(&self) {
        self.server.restore();
    }
}

async fn serve(State(shelf): State<Shelf>, uri: Uri) -> Response {
    let shelf = shelf.lock().unwrap_or_else(PoisonError::into_inner);
    answer(&shelf, uri.path()).unwrap_or_else(|| {
        // The shape that OCI clients read.
        let errors = json!({"errors": [{"code": "MANIFEST_UNKNOWN", "message": "not on the shelf"}]});
        (StatusCode::NOT_FOUND, [(header::CONTENT_TYPE, "application/json")], errors.to_string()).into_response()
    })
}

fn answer(shelf: &BTreeMap<String, BTreeMap<String, Package>>, path: &str) -> Option<Response> {
    if let Some(path) = path.strip_prefix("/v2") {
        return registry(shelf, path.trim_matches('/'));
    }
    let file = path.rsplit('/').next()?;
    if file == "index.yaml" {
        return Some(([(header::CONTENT_TYPE, "application/yaml")], index(shelf).to_string()).into_response());
    }
    let wanted = |name: &str, version: &str| file == format!("{name}-{version}.tgz");
    let mut all = shelf.iter().flat_map(|(name, versions)| versions.iter().map(move |(v, package)| (name, v, package)));
    let (_, _, package) = all.find(|(name, version, _)| wanted(name, version))?;
    Some(blob(&package.archive, "application/gzip"))
}

fn index(shelf: &BTreeMap<String, BTreeMap<String, Package>>) -> Value {
    let mut entries = Map::new();
    for (name, versions) in shelf {
        let listed = versions.iter().map(|(version, package)| {
            let mut entry = package.metadata.clone();
            entry["urls"] = json!([format!("{name}-{version}.tgz")]);
            entry["digest"] = package.archive.digest.trim_start_matches("sha256:").into();
            entry["created"] = "2026-01-01T00:00:00Z".into();
            entry
        });
        entries.insert(name.clone(), listed.collect());
    }
    json!({"apiVersion": "v1", "entries": entries, "generated": "2026-01-01T00:00:00Z"})
}

/// `NAME/tags/list`, `NAME/manifests/REFERENCE`, `NAME/blobs/DIGEST`; nothing is the question whether this is a registry.
fn registry(shelf: &BTreeMap<String, BTreeMap<String, Package>>, path: &str) -> Option<Response> {
    if path.is_empty() {
        return Some(([(header::CONTENT_TYPE, "application/json")], "{}").into_response());
    }
    let (rest, reference) = path.rsplit_once('/')?;
    let (repository, what) = rest.rsplit_once('/')?;
    let versions = shelf.get(repository.rsplit('/').next()?)?;
    match what {
        "tags" => {
            // A tag cannot hold the plus sign of a version's build.
            let tags: Vec<String> = versions.keys().map(|version| version.replace('+', "_")).collect();
            let list = json!({"name": repository, "tags": tags});
            Some(([(header::CONTENT_TYPE, "application/json")], list.to_string()).into_response())
        }
        "manifests" => {
            let wanted = |(version, package): &(&String, &Package)| {
                version.replace('+', "_") == reference || package.manifest.digest == reference
            };
            versions.iter().find(wanted).map(|(_, package)| blob(&package.manifest, package::MANIFEST))
        }
        "blobs" => {
            let mut blobs = versions.values().flat_map(|package| [&package.config, &package.archive]);
            blobs.find(|blob| blob.digest == reference).map(|found| blob(found, "application/octet-stream"))
        }
        _ => None,
    }
}

fn blob(blob: &Blob, content_type: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE.as_str(), content_type.to_owned()),
        (header::CONTENT_LENGTH.as_str(), blob.bytes.len().to_string()),
        ("docker-content-digest", blob.digest.clone()),
    ];
    (headers, Body::from(blob.bytes.clone())).into_response()
}
