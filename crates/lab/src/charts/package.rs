//! A chart as an archive, the same bytes for the same files.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use axum::body::Bytes;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::LabError;

pub(super) const CONTENT: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";
pub(super) const CONFIG: &str = "application/vnd.cncf.helm.config.v1+json";
pub(super) const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A packaged chart, and what an OCI registry says about it.
#[derive(Debug, Clone)]
pub(super) struct Package {
    pub(super) metadata: Value,
    pub(super) archive: Blob,
    pub(super) config: Blob,
    pub(super) manifest: Blob,
}

#[derive(Debug, Clone)]
pub(super) struct Blob {
    pub(super) bytes: Bytes,
    /// `sha256:` and hex.
    pub(super) digest: String,
}

impl Blob {
    fn of(bytes: Vec<u8>) -> Self {
        let mut digest = "sha256:".to_owned();
        for byte in Sha256::digest(&bytes) {
            let _never_fails = write!(digest, "{byte:02x}");
        }
        Self { digest, bytes: bytes.into() }
    }

    fn describe(&self, media_type: &str) -> Value {
        json!({"mediaType": media_type, "digest": self.digest, "size": self.bytes.len()})
    }
}

impl Package {
    /// Packs a chart's directory; its Chart.yaml gets this name and version.
    pub(super) fn of(directory: &Path, name: &str, version: &str) -> Result<Self, LabError> {
        let no_chart = |why: String| LabError::NoChart { directory: directory.to_owned(), why };
        let text = fs::read_to_string(directory.join("Chart.yaml"))
            .map_err(|error| no_chart(format!("Chart.yaml: {error}")))?;
        let mut metadata: Value =
            serde_saphyr::from_str(&text).map_err(|error| no_chart(format!("Chart.yaml: {error}")))?;
        if !metadata.is_object() {
            return Err(no_chart("Chart.yaml is not a mapping".to_owned()));
        }
        metadata["name"] = name.into();
        metadata["version"] = version.into();
        let archive = pack(directory, name, &metadata).map_err(|error| no_chart(error.to_string()))?;
        let (archive, config) = (Blob::of(archive), Blob::of(metadata.to_string().into_bytes()));
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": config.describe(CONFIG),
            "layers": [archive.describe(CONTENT)],
            "annotations": {
                "org.opencontainers.image.title": name,
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.created": "2026-01-01T00:00:00Z",
            },
        });
        let manifest = Blob::of(manifest.to_string().into_bytes());
        Ok(Self { metadata, archive, config, manifest })
    }
}

fn pack(directory: &Path, name: &str, metadata: &Value) -> io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzBuilder::new().write(Vec::new(), Compression::fast()));
    // JSON is YAML.
    add(&mut archive, &format!("{name}/Chart.yaml"), metadata.to_string().as_bytes())?;
    add_below(&mut archive, directory, name)?;
    archive.into_inner()?.finish()
}

fn add_below<W: io::Write>(archive: &mut tar::Builder<W>, directory: &Path, prefix: &str) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            add_below(archive, &entry.path(), &path)?;
        } else if !(path.matches('/').count() == 1 && path.ends_with("/Chart.yaml")) {
            add(archive, &path, &fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

fn add<W: io::Write>(archive: &mut tar::Builder<W>, path: &str, content: &[u8]) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(content.len().try_into().map_err(io::Error::other)?);
    header.set_mode(0o644);
    header.set_mtime(0);
    archive.append_data(&mut header, path, content)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read as _;

    use super::Package;

    #[test]
    fn a_chart_is_packed_below_its_name_with_the_version_asked_for() {
        let chart = tempfile::tempdir().unwrap();
        fs::create_dir(chart.path().join("templates")).unwrap();
        fs::write(chart.path().join("Chart.yaml"), "apiVersion: v2\nname: other\nversion: 0.0.1\n").unwrap();
        fs::write(chart.path().join("templates/a.yaml"), "kind: ConfigMap\n").unwrap();
        let package = Package::of(chart.path(), "mine", "1.2.3").unwrap();
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&package.archive.bytes[..]));
        let mut files = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            files.push((entry.path().unwrap().display().to_string(), text));
        }
        assert_eq!(files.len(), 2);
        assert_eq!(files[0].0, "mine/Chart.yaml");
        assert!(files[0].1.contains(r#""name":"mine""#) && files[0].1.contains(r#""version":"1.2.3""#));
        assert_eq!(files[1], ("mine/templates/a.yaml".to_owned(), "kind: ConfigMap\n".to_owned()));
        let again = Package::of(chart.path(), "mine", "1.2.3").unwrap();
        assert_eq!(package.manifest.digest, again.manifest.digest);
    }

    #[test]
    fn a_directory_without_a_chart_is_refused() {
        let empty = tempfile::tempdir().unwrap();
        let error = Package::of(empty.path(), "mine", "1.2.3").unwrap_err().to_string();
        assert!(error.contains("is no chart: Chart.yaml: "), "{error}");
    }
}
