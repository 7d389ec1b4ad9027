//! The archives of charts that helm downloaded before, by name and version.
//!
//! Helm 3 keeps them as `name-version.tgz`, those of OCI registries too; Helm 4 keeps them by the hash of their content.

#![expect(clippy::disallowed_methods, reason = "helm keeps its charts outside of every repository")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use source::FileId;
use yaml::Node;

/// Helm itself takes no larger chart.
const CHART_BYTES_MAX: u64 = 100 * 1024 * 1024;
/// Chart.yaml is the first file of every archive that helm makes.
const CHART_YAML_BYTES_MAX: u64 = 1024 * 1024;
const ENTRIES_LOOKED_AT_MAX: usize = 64;
/// Archives of a cache that are looked into.
const ARCHIVES_MAX: usize = 20_000;

#[derive(Debug, Default)]
pub(crate) struct Archives {
    by_name: Option<PathBuf>,
    by_content: Option<PathBuf>,
    looked_into: OnceLock<BTreeMap<(String, String), PathBuf>>,
}

impl Archives {
    /// From what `helm env` prints: `NAME="value"`, a line each.
    pub(crate) fn from_env(text: &str) -> Self {
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
            line.map(|value| PathBuf::from(value.trim_matches('"'))).filter(|path| path.is_absolute())
        };
        let (by_name, by_content) = (value("HELM_REPOSITORY_CACHE"), value("HELM_CONTENT_CACHE"));
        Self { by_name, by_content, looked_into: OnceLock::new() }
    }

    pub(crate) fn find(&self, name: &str, version: &str) -> Option<PathBuf> {
        let is_plain = |part: &str| !part.is_empty() && !part.contains(['/', '\\']);
        if !is_plain(name) || !is_plain(version) {
            return None;
        }
        let bare = version.trim_start_matches('v');
        // A tag of an OCI registry has `_` where a version has `+`.
        let spellings = [version.to_owned(), bare.to_owned(), format!("v{bare}"), bare.replacen('_', "+", 1)];
        let named = self.by_name.as_ref().and_then(|directory| {
            let candidates = spellings.iter().map(|version| directory.join(format!("{name}-{version}.tgz")));
            candidates.into_iter().find(|path| path.is_file())
        });
        named.or_else(|| {
            let known = self.looked_into.get_or_init(|| self.by_content.as_deref().map(look_into).unwrap_or_default());
            spellings.iter().find_map(|version| known.get(&(name.to_owned(), version.clone())).cloned())
        })
    }
}

/// Every `*.chart` two directories deep.
fn look_into(root: &Path) -> BTreeMap<(String, String), PathBuf> {
    let list = |directory: &Path| -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let charts = list(root).into_iter().flat_map(|path| if path.is_dir() { list(&path) } else { vec![path] });
    let charts = charts.filter(|path| path.extension().is_some_and(|extension| extension == "chart"));
    charts.take(ARCHIVES_MAX).filter_map(|path| Some((name_and_version(&path).ok()??, path))).collect()
}

fn name_and_version(archive: &Path) -> io::Result<Option<(String, String)>> {
    let mut entries = tar::Archive::new(GzDecoder::new(fs::File::open(archive)?).take(CHART_BYTES_MAX));
    for entry in entries.entries()?.take(ENTRIES_LOOKED_AT_MAX) {
        let entry = entry?;
        let path = entry.path()?.into_owned();
        if path.components().count() == 2 && path.ends_with("Chart.yaml") {
            let mut text = String::new();
            entry.take(CHART_YAML_BYTES_MAX).read_to_string(&mut text)?;
            let root = yaml::parse_value(FileId::GENERATED, &text);
            let text = |key: &str| root.as_ref().and_then(|root| root.get(key)).and_then(Node::text).map(str::to_owned);
            return Ok(text("name").zip(text("version")));
        }
    }
    Ok(None)
}

/// Whether anything in an archive asks the cluster for its APIs. An archive that can't be read may ask anything.
pub(crate) fn asks_for_apis(archive: &Path) -> bool {
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        GzDecoder::new(fs::File::open(archive)?).take(CHART_BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().map_or(true, |bytes| memchr::memmem::find(&bytes, b"Capabilities.APIVersions").is_some())
}

#[cfg(test)]
mod tests {
    use super::{Archives, asks_for_apis};
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::fs;
    use std::path::Path;

    fn pack(path: &Path, name: &str, version: &str, template: &str) {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        let chart = format!("apiVersion: v2\nname: {name}\nversion: {version}\n");
        for (file, text) in [("Chart.yaml", chart.as_str()), ("templates/all.yaml", template)] {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o644);
            archive.append_data(&mut header, format!("{name}/{file}"), text.as_bytes()).unwrap();
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, archive.into_inner().unwrap().finish().unwrap()).unwrap();
    }

    #[test]
    fn archives_are_found_by_their_names_and_by_what_is_in_them() {
        let directory = tempfile::TempDir::new().unwrap();
        let (named, content) = (directory.path().join("repository"), directory.path().join("content"));
        pack(&named.join("cert-manager-v1.19.1.tgz"), "cert-manager", "v1.19.1", "");
        pack(&content.join("ab/abcdef.chart"), "echo", "2.0.0", "");
        let env = format!(
            "HELM_BIN=\"helm\"\nHELM_REPOSITORY_CACHE=\"{}\"\nHELM_CONTENT_CACHE=\"{}\"\n",
            named.display(),
            content.display()
        );
        let archives = Archives::from_env(&env);
        assert_eq!(archives.find("cert-manager", "1.19.1"), Some(named.join("cert-manager-v1.19.1.tgz")));
        assert_eq!(archives.find("cert-manager", "v1.19.1"), Some(named.join("cert-manager-v1.19.1.tgz")));
        assert_eq!(archives.find("echo", "2.0.0"), Some(content.join("ab/abcdef.chart")));
        assert_eq!(archives.find("echo", "2.x"), None);
        assert_eq!(archives.find("../repository/cert-manager", "v1.19.1"), None);
        assert_eq!(Archives::from_env("").find("echo", "2.0.0"), None);
    }

    #[test]
    fn whether_a_template_asks_is_seen_through_the_compression() {
        let directory = tempfile::TempDir::new().unwrap();
        let (asks, silent) = (directory.path().join("asks.tgz"), directory.path().join("silent.tgz"));
        pack(&asks, "a", "1.0.0", "{{ if .Capabilities.APIVersions.Has \"x/v1\" }}{{ end }}");
        pack(&silent, "a", "1.0.0", "a: b");
        assert!(asks_for_apis(&asks));
        assert!(!asks_for_apis(&silent));
        fs::write(&silent, "no archive").unwrap();
        assert!(asks_for_apis(&silent));
    }
}
