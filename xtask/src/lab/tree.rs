//! A repository made fit for a lab: its sources point at the lab's servers, and what it asks of the world is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ignore::WalkBuilder;
use lab::Object;
use serde_json::Value;

use super::operators;

/// What a repository needs that the lab has to stand in for.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// Charts by name, with the versions asked for.
    pub(crate) charts: BTreeMap<String, BTreeSet<String>>,
    /// Custom kinds by group and kind, with the versions in use.
    pub(crate) kinds: BTreeMap<(String, String), BTreeSet<String>>,
    pub(crate) storage_classes: BTreeSet<String>,
    /// Objects that health checks name.
    pub(crate) checked: Vec<Object>,
    /// Where Flux is to begin, if the repository says so.
    pub(crate) entry: Option<String>,
}

/// Where the lab's servers are: `127.0.0.1:PORT`, and the URL of the repository.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) git: String,
    pub(crate) charts: String,
}

/// Copies `from` to `to`, its YAML rewritten for the lab, and says what it needs.
pub(crate) fn copy(from: &Path, to: &Path, servers: &Servers) -> Result<Needs> {
    let mut needs = Needs::default();
    for entry in
        WalkBuilder::new(from).hidden(false).git_global(false).parents(false).sort_by_file_name(Ord::cmp).build()
    {
        let entry = entry?;
        let below = entry.path().strip_prefix(from)?;
        if below.components().any(|part| part.as_os_str() == ".git") || !entry.path().is_file() {
            continue;
        }
        let target: PathBuf = to.join(below);
        fs::create_dir_all(target.parent().context("a file is in a directory")?)?;
        if entry.path().extension().is_some_and(|ending| ending == "yaml" || ending == "yml") {
            let text = fs::read_to_string(entry.path()).with_context(|| format!("read {}", entry.path().display()))?;
            // What is no YAML (templates of another tool) is copied and not understood.
            for document in lab::documents(&text).unwrap_or_default() {
                needs.note(&document);
            }
            fs::write(target, rewrite(&text, servers))?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(needs)
}

impl Needs {
    fn note(&mut self, document: &Value) {
        let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
        let Some((api_version, kind)) = text("/apiVersion").zip(text("/kind")) else { return };
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        match (group, kind) {
            ("source.toolkit.fluxcd.io", "OCIRepository") => self.note_artifact(document),
            ("helm.toolkit.fluxcd.io", "HelmRelease") => {
                self.note_release(document);
                self.note_entry(text("/spec/values/instance/sync/path"));
            }
            ("fluxcd.controlplane.io", "FluxInstance") => self.note_entry(text("/spec/sync/path")),
            ("kustomize.toolkit.fluxcd.io", "Kustomization") if text("/metadata/name") == Some("flux-system") => {
                self.note_entry(text("/spec/path"));
            }
            _ => {}
        }
        if let Some(class) = text("/spec/storageClassName") {
            self.storage_classes.insert(plain(class));
        }
        self.note_kind(api_version, kind);
        for check in document.pointer("/spec/healthChecks").and_then(Value::as_array).into_iter().flatten() {
            let Some(object) = operators::checked(check) else { continue };
            self.note_kind(&object.api_version, &object.kind);
            self.checked.push(object);
        }
    }

    fn note_kind(&mut self, api_version: &str, kind: &str) {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let built_in = !group.contains('.') || group.ends_with(".k8s.io") && !is_custom(group);
        if !built_in && !group.ends_with(".fluxcd.io") {
            self.kinds.entry((group.to_owned(), kind.to_owned())).or_default().insert(version.to_owned());
        }
    }

    fn note_artifact(&mut self, document: &Value) {
        let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
        let name = text("/spec/url").and_then(|url| url.rsplit('/').next());
        let version = text("/spec/ref/tag").map(str::to_owned).or_else(|| text("/spec/ref/semver").map(a_version));
        if let (Some(name), Some(version)) = (name, version) {
            self.charts.entry(name.to_owned()).or_default().insert(version);
        }
    }

    fn note_release(&mut self, document: &Value) {
        let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
        let Some(name) = text("/spec/chart/spec/chart").filter(|name| !name.starts_with('.')) else { return };
        let version = a_version(text("/spec/chart/spec/version").unwrap_or("*"));
        self.charts.entry(name.to_owned()).or_default().insert(version);
    }

    fn note_entry(&mut self, path: Option<&str>) {
        if self.entry.is_none() {
            self.entry = path.map(str::to_owned);
        }
    }
}

/// Groups below `k8s.io` whose kinds come from somebody's CRDs.
fn is_custom(group: &str) -> bool {
    matches!(group, "gateway.networking.k8s.io" | "snapshot.storage.k8s.io" | "metrics.k8s.io")
        || group.ends_with(".x-k8s.io")
        || group.starts_with("policy.networking")
}

/// `${NAME:=default}` is its default.
fn plain(text: &str) -> String {
    let inner = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    inner.and_then(|inner| inner.split_once(":=")).map_or(text, |(_, default)| default).to_owned()
}

/// Some version that a range allows: exact ones as they are, else the first number in it, filled up.
fn a_version(range: &str) -> String {
    let is_version = |word: &str| word.trim_start_matches('v').split('.').count() >= 3 && !word.contains(['x', '*']);
    let word = range.split([' ', ',', '|']).find(|word| word.contains(|c: char| c.is_ascii_digit())).unwrap_or("1");
    let word = word.trim_start_matches(['>', '<', '=', '~', '^', '!']);
    if is_version(word) {
        return word.to_owned();
    }
    let mut numbers: Vec<&str> =
        word.split('.').map(|part| if part.parse::<u32>().is_ok() { part } else { "0" }).collect();
    numbers.resize(3, "0");
    numbers.join(".")
}

/// Every source's URL, document by document; nothing else is touched.
fn rewrite(text: &str, servers: &Servers) -> String {
    let mut out = String::with_capacity(text.len());
    let mut document: Vec<&str> = Vec::new();
    for line in text.lines() {
        if line.trim_end() == "---" {
            rewrite_document(&document, servers, &mut out);
            document.clear();
        }
        document.push(line);
    }
    rewrite_document(&document, servers, &mut out);
    out
}

fn rewrite_document(lines: &[&str], servers: &Servers, out: &mut String) {
    let kind = lines.iter().find_map(|line| line.strip_prefix("kind:")).map_or("", str::trim);
    let insecure_already = lines.iter().any(|line| line.trim_start().starts_with("insecure:"));
    for line in lines {
        let indent = &line[..line.len() - line.trim_start().len()];
        let url = line.trim_start().strip_prefix("url:").map(|url| url.trim().trim_matches(['"', '\'']));
        let new = match (kind, url) {
            ("GitRepository", Some(_)) => format!("{indent}url: {}", servers.git),
            ("OCIRepository" | "HelmRepository", Some(url)) if url.starts_with("oci://") => {
                let insecure = if insecure_already { String::new() } else { format!("\n{indent}insecure: true") };
                format!("{indent}url: oci://{}/{}{insecure}", servers.charts, url.trim_start_matches("oci://"))
            }
            ("HelmRepository", Some(_)) => format!("{indent}url: http://{}", servers.charts),
            _ => (*line).to_owned(),
        };
        out.push_str(&new);
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::{Needs, Servers, a_version, rewrite};

    #[test]
    fn only_the_urls_of_sources_change() {
        let text = "---\nkind: OCIRepository\nspec:\n  url: oci://registry.example.org/charts/app\n---\nkind: HelmRepository\nspec:\n  url: https://charts.example.org\n---\nkind: Other\nspec:\n  url: https://stays.example.org\n";
        let servers = Servers { git: "http://127.0.0.1:1/cluster.git".into(), charts: "127.0.0.1:2".into() };
        assert_eq!(
            rewrite(text, &servers),
            "---\nkind: OCIRepository\nspec:\n  url: oci://127.0.0.1:2/registry.example.org/charts/app\n  insecure: true\n---\nkind: HelmRepository\nspec:\n  url: http://127.0.0.1:2\n---\nkind: Other\nspec:\n  url: https://stays.example.org\n"
        );
    }

    #[test]
    fn a_range_gets_a_version_that_it_allows() {
        for (range, version) in [
            ("1.2.3", "1.2.3"),
            ("v1.2.3", "v1.2.3"),
            (">=1.4 <2", "1.4.0"),
            ("2.7.x", "2.7.0"),
            ("~3", "3.0.0"),
            ("*", "1.0.0"),
        ] {
            assert_eq!(a_version(range), version, "{range}");
        }
    }

    #[test]
    fn charts_kinds_and_the_entry_are_found() {
        let yaml = "
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
spec: {url: oci://registry.example.org/charts/app, ref: {tag: 1.0.0}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
spec: {values: {instance: {sync: {path: clusters/one}}}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
---
apiVersion: networking.k8s.io/v1
kind: Ingress
";
        let mut needs = Needs::default();
        for document in lab::documents(yaml).unwrap() {
            needs.note(&document);
        }
        assert_eq!(needs.entry.as_deref(), Some("clusters/one"));
        assert_eq!(needs.charts.keys().collect::<Vec<_>>(), ["app"]);
        let kinds: Vec<_> = needs.kinds.keys().map(|(group, kind)| format!("{group}/{kind}")).collect();
        assert_eq!(kinds, ["gateway.networking.k8s.io/Gateway"]);
    }
}
