//! A case's repository as the lab gets it: sources point at the lab's servers, durations run at the case's pace, charts
//! get the delays and the webhook server, SealedSecrets are really sealed. Nothing else is touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::CaseError;
use super::pace;

/// Helm's and Flux's own defaults, written out so that they can run at the lab's pace too.
const DEFAULT_RELEASE_TIMEOUT_SECONDS: f64 = 300.0;
const DEFAULT_RETRY_ON_FAILURE_SECONDS: f64 = 300.0;

/// What is put into the copy.
#[derive(Debug, Clone)]
pub(super) struct Fill {
    pub(super) git: String,
    /// `http://…` of the chart repository.
    pub(super) charts: String,
    /// `oci://…` below which the charts are.
    pub(super) oci: String,
    pub(super) pace: f64,
    pub(super) timeouts: f64,
    /// Seconds until a workload is ready, in the lab's time, by chart and name of the workload.
    pub(super) delays: Delays,
    /// Where the stand-ins' webhooks are served, and the certificate, in base64.
    pub(super) webhook: (String, String),
    /// Sealed values by key of `encryptedData`, in the scope `cluster-wide`.
    pub(super) sealed: BTreeMap<String, String>,
    /// `tls.crt` and `tls.key` of the sealing key, for the bootstrap's placeholder.
    pub(super) sealing_key: Option<(String, String)>,
    /// Workloads (`namespace/name`) that crash until the runner lets them.
    pub(super) crashing: Vec<String>,
}

impl Fill {
    /// What a release tells its chart about the lab.
    pub(super) fn values(&self, chart: &str, namespace: &str, release: &str) -> Value {
        let (url, certificate) = &self.webhook;
        let its = self.crashing.iter().filter_map(|workload| workload.split_once('/'));
        let crashing: Vec<&str> = its.filter(|(of, _)| *of == namespace).map(|(_, name)| name).collect();
        json!({
            "delays": self.delays.of_release(chart, namespace, release),
            "crashing": crashing,
            "webhook": {"url": url, "caBundle": certificate},
        })
    }
}

/// How long workloads take, in the lab's time.
#[derive(Debug, Clone, Default)]
pub(super) struct Delays {
    /// By chart: the names of its workloads (`` for the release's own name) and their delays.
    pub(super) of_charts: BTreeMap<String, BTreeMap<String, f64>>,
    /// By `namespace/name`, over what the chart's are.
    pub(super) of_workloads: BTreeMap<String, f64>,
}

impl Delays {
    fn of_release(&self, chart: &str, namespace: &str, release: &str) -> Map<String, Value> {
        let mut all = BTreeMap::new();
        for (name, seconds) in self.of_charts.get(chart).into_iter().flatten() {
            let name = if name.is_empty() { release } else { name };
            all.insert(name.to_owned(), *seconds);
        }
        for (workload, seconds) in &self.of_workloads {
            if let Some((of, name)) = workload.split_once('/')
                && of == namespace
            {
                all.insert(name.to_owned(), *seconds);
            }
        }
        all.into_iter().map(|(name, seconds)| (name, pace::duration(seconds).into())).collect()
    }
}

/// Copies `from` to `to`; of the YAML files, those that hold something to fill in are written anew.
pub(super) fn repository(from: &Path, to: &Path, fill: &Fill) -> Result<(), CaseError> {
    for entry in fs::read_dir(from).map_err(CaseError::io("read", from))? {
        let path = entry.map_err(CaseError::io("read", from))?.path();
        let Some(name) = path.file_name() else { continue };
        let target = to.join(name);
        if path.is_dir() {
            fs::create_dir_all(&target).map_err(CaseError::io("make", &target))?;
            repository(&path, &target, fill)?;
            continue;
        }
        let text = fs::read_to_string(&path).map_err(CaseError::io("read", &path))?;
        let is_yaml = path.extension().is_some_and(|extension| extension == "yaml");
        let text = if is_yaml { filled(&path, text, fill)? } else { text };
        fs::write(&target, text).map_err(CaseError::io("write", &target))?;
    }
    Ok(())
}

/// The documents of a YAML file.
pub(super) fn documents(path: &Path, text: &str) -> Result<Vec<Value>, CaseError> {
    let all: Vec<Value> = serde_saphyr::from_multiple(text)
        .map_err(|error| CaseError::Yaml { path: path.to_owned(), message: error.to_string() })?;
    Ok(all.into_iter().filter(|document| !document.is_null()).collect())
}

fn filled(path: &Path, text: String, fill: &Fill) -> Result<String, CaseError> {
    let mut all = documents(path, &text)?;
    let mut touched = false;
    for document in &mut all {
        touched |= fill_in(document, fill);
    }
    if !touched {
        return Ok(text);
    }
    // JSON is YAML, and what is written needs no care about quoting.
    let texts: Vec<String> = all.iter().map(Value::to_string).collect();
    Ok(texts.join("\n---\n"))
}

fn fill_in(document: &mut Value, fill: &Fill) -> bool {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (api_version, kind) = (text("/apiVersion"), text("/kind"));
    let (namespace, name) = (text("/metadata/namespace"), text("/metadata/name"));
    let group = api_version.split('/').next().unwrap_or_default();
    let mut none = Value::Null;
    let spec = document.get_mut("spec").unwrap_or(&mut none);
    match (group, kind.as_str()) {
        ("kustomize.toolkit.fluxcd.io", "Kustomization") => {
            scale(spec, "interval", fill.pace);
            scale(spec, "retryInterval", fill.pace);
            scale(spec, "timeout", fill.timeouts);
        }
        ("source.toolkit.fluxcd.io", kind) => {
            scale(spec, "interval", fill.pace);
            source(kind, spec, fill);
        }
        ("helm.toolkit.fluxcd.io", "HelmRelease") => release(&namespace, &name, spec, fill),
        ("bitnami.com", "SealedSecret") => sealed_secret(document, fill),
        ("v1", "Secret") if name == "sealed-secrets-key" => match &fill.sealing_key {
            Some((certificate, key)) => {
                document["stringData"] = json!({"tls.crt": certificate, "tls.key": key});
            }
            None => return false,
        },
        ("apps", _) => return workload(&namespace, &name, spec, fill),
        _ => return false,
    }
    true
}

fn scale(spec: &mut Value, key: &str, by: f64) {
    if let Some(seconds) = spec[key].as_str().and_then(pace::seconds) {
        spec[key] = pace::duration(seconds / by).into();
    }
}

fn source(kind: &str, spec: &mut Value, fill: &Fill) {
    match kind {
        "GitRepository" => spec["url"] = fill.git.clone().into(),
        "HelmRepository" => spec["url"] = fill.charts.clone().into(),
        "OCIRepository" => {
            let chart = spec["url"].as_str().and_then(|url| url.rsplit('/').next()).unwrap_or_default().to_owned();
            spec["url"] = format!("{}/{chart}", fill.oci).into();
            spec["insecure"] = true.into();
        }
        _ => {}
    }
}

fn release(namespace: &str, name: &str, spec: &mut Value, fill: &Fill) {
    let chart = [spec.pointer("/chart/spec/chart"), spec.pointer("/chartRef/name")];
    let chart = chart.into_iter().flatten().find_map(Value::as_str).unwrap_or_default().to_owned();
    scale(spec, "interval", fill.pace);
    if spec["timeout"].is_null() {
        spec["timeout"] = pace::duration(DEFAULT_RELEASE_TIMEOUT_SECONDS / fill.timeouts).into();
    } else {
        scale(spec, "timeout", fill.timeouts);
    }
    for action in ["install", "upgrade"] {
        let Some(action) = spec.get_mut(action).filter(|action| action.is_object()) else { continue };
        scale(action, "timeout", fill.timeouts);
        if action.pointer("/strategy/name").and_then(Value::as_str) != Some("RetryOnFailure") {
            continue;
        }
        let strategy = &mut action["strategy"];
        if strategy["retryInterval"].is_null() {
            strategy["retryInterval"] = pace::duration(DEFAULT_RETRY_ON_FAILURE_SECONDS / fill.pace).into();
        } else {
            scale(strategy, "retryInterval", fill.pace);
        }
    }
    if !spec["values"].is_object() {
        spec["values"] = json!({});
    }
    let target = spec["targetNamespace"].as_str().unwrap_or(namespace).to_owned();
    let release = spec["releaseName"].as_str().unwrap_or(name).to_owned();
    spec["values"]["lab"] = fill.values(&chart, &target, &release);
}

fn sealed_secret(document: &mut Value, fill: &Fill) {
    // Sealed in the widest scope, so that one ciphertext serves any name.
    document["metadata"]["annotations"]["sealedsecrets.bitnami.com/cluster-wide"] = "true".into();
    let Some(data) = document["spec"]["encryptedData"].as_object_mut() else { return };
    for (key, value) in data.iter_mut() {
        if let Some(sealed) = fill.sealed.get(key) {
            *value = sealed.clone().into();
        }
    }
}

fn workload(namespace: &str, name: &str, spec: &mut Value, fill: &Fill) -> bool {
    let key = format!("{namespace}/{name}");
    let mut annotations = Map::new();
    if let Some(seconds) = fill.delays.of_workloads.get(&key) {
        annotations.insert("lab.coldstart.dev/ready-after".to_owned(), pace::duration(*seconds).into());
    }
    if fill.crashing.contains(&key) {
        annotations.insert("lab.coldstart.dev/crash".to_owned(), "true".into());
    }
    if annotations.is_empty() {
        return false;
    }
    spec["template"]["metadata"]["annotations"] = annotations.into();
    true
}

/// Every YAML file below a directory, by path.
pub(super) fn yaml_files(directory: &Path) -> Result<Vec<PathBuf>, CaseError> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).map_err(CaseError::io("read", directory))? {
        let path = entry.map_err(CaseError::io("read", directory))?.path();
        if path.is_dir() {
            all.extend(yaml_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            all.push(path);
        }
    }
    all.sort();
    Ok(all)
}
