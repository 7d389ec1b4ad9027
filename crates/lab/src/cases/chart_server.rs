//! Charts for Flux to fetch, packed once and served both ways: as a Helm repository (`index.yaml`) and as OCI artifacts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::CaseError;
use crate::Lab;
use crate::server::Server;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
const CONTENT: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

#[derive(Debug, Default)]
struct Shelf {
    /// Manifests by `name:tag` and `name@digest`.
    manifests: BTreeMap<String, Vec<u8>>,
    blobs: BTreeMap<String, Vec<u8>>,
    tags: BTreeMap<String, String>,
    packages: BTreeMap<String, Vec<u8>>,
    index: String,
}

/// Serves as long as the lab lives.
#[derive(Debug)]
pub(super) struct ChartServer {
    server: Server,
}

impl ChartServer {
    pub(super) fn start<'a>(lab: &Lab, charts: impl Iterator<Item = &'a Path>) -> Result<Self, CaseError> {
        let mut shelf = Shelf { index: "apiVersion: v1\nentries:\n".to_owned(), ..Shelf::default() };
        for chart in charts {
            shelf.add(chart)?;
        }
        let routes = Router::new()
            .route("/charts/{file}", get(file))
            .route("/v2/", get(|| async { StatusCode::OK }))
            .route("/v2/charts/{name}/manifests/{reference}", get(manifest))
            .route("/v2/charts/{name}/blobs/{digest}", get(blob))
            .route("/v2/charts/{name}/tags/list", get(tags))
            .with_state(Arc::new(shelf));
        let server =
            Server::start(routes, lab.runtime.handle()).map_err(|error| CaseError::step("serve charts", error))?;
        Ok(Self { server })
    }

    /// What a HelmRepository is to name.
    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/charts", self.server.port)
    }

    /// What an OCIRepository is to name, with `/NAME` after it.
    pub(super) fn oci_url(&self) -> String {
        format!("oci://127.0.0.1:{}/charts", self.server.port)
    }
}

impl Shelf {
    fn add(&mut self, chart: &Path) -> Result<(), CaseError> {
        let file = chart.join("Chart.yaml");
        let text = std::fs::read_to_string(&file).map_err(CaseError::io("read", &file))?;
        let about: Value = serde_saphyr::from_str(&text)
            .map_err(|error| CaseError::Yaml { path: file.clone(), message: error.to_string() })?;
        let text = |key: &str| about[key].as_str().unwrap_or_default().to_owned();
        let (name, version) = (text("name"), text("version"));
        let package = pack(chart, &name).map_err(CaseError::io("pack", chart))?;
        let config = about.to_string().into_bytes();
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": CONFIG, "digest": digest(&config), "size": config.len()},
            "layers": [{"mediaType": CONTENT, "digest": digest(&package), "size": package.len()}],
        });
        let manifest = manifest.to_string().into_bytes();
        let file = format!("{name}-{version}.tgz");
        let _never_fails = write!(
            self.index,
            "  {name}:\n    - apiVersion: v2\n      name: {name}\n      version: {version}\n      urls: [{file}]\n"
        );
        self.manifests.insert(format!("{name}:{}", digest(&manifest)), manifest.clone());
        self.manifests.insert(format!("{name}:{version}"), manifest);
        self.tags.insert(name, version);
        self.blobs.insert(digest(&config), config);
        self.blobs.insert(digest(&package), package.clone());
        self.packages.insert(file, package);
        Ok(())
    }
}

fn pack(chart: &Path, name: &str) -> std::io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    tar.mode(tar::HeaderMode::Deterministic);
    tar.append_dir_all(name, chart)?;
    let mut gzip = tar.into_inner()?;
    gzip.flush()?;
    gzip.finish()
}

fn digest(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        let _never_fails = write!(text, "{byte:02x}");
    }
    text
}

fn found(content_type: &'static str, bytes: Option<&Vec<u8>>) -> Response {
    match bytes {
        Some(bytes) => {
            let headers = [(header::CONTENT_TYPE, content_type.to_owned()), (digest_header(), digest(bytes))];
            (headers, bytes.clone()).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn digest_header() -> header::HeaderName {
    header::HeaderName::from_static("docker-content-digest")
}

async fn file(State(shelf): State<Arc<Shelf>>, UrlPath(file): UrlPath<String>) -> Response {
    if file == "index.yaml" {
        return shelf.index.clone().into_response();
    }
    found("application/gzip", shelf.packages.get(&file))
}

async fn manifest(State(shelf): State<Arc<Shelf>>, UrlPath((name, reference)): UrlPath<(String, String)>) -> Response {
    found(MANIFEST, shelf.manifests.get(&format!("{name}:{reference}")))
}

async fn blob(State(shelf): State<Arc<Shelf>>, UrlPath((_name, digest)): UrlPath<(String, String)>) -> Response {
    found("application/octet-stream", shelf.blobs.get(&digest))
}

async fn tags(State(shelf): State<Arc<Shelf>>, UrlPath(name): UrlPath<String>) -> Response {
    match shelf.tags.get(&name) {
        Some(tag) => json!({"name": format!("charts/{name}"), "tags": [tag]}).to_string().into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
