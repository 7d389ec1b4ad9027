//! `cargo xtask generate`: a synthetic Flux repository of a given size, for measuring how `check` scales.
//!
//! The same options always write the same bytes. Some faults are planted, at a fixed rate, so that findings grow with the
//! repository too: every twentieth application lacks its order after storage, every seventh is not waited for.
//!
//! An application has three files (`ks.yaml`, `kustomization.yaml`, `helmrelease.yaml`), every second one an ExternalSecret
//! besides, every fourth a claim, every tenth a ConfigMap: just under four files each, as in repositories of people.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use trial::{STORE, list};

const APPS_PER_NAMESPACE: usize = 50;
/// How far back an application of the mixed shape may depend.
const MIXED_WINDOW: usize = 200;
/// How many earlier applications one of the dense shape depends on.
const DENSE_EDGES: usize = 50;
/// How many clusters share a base.
const CLUSTERS: usize = 100;
/// How many namespaces one Kustomization applies where a single build would be larger than coldstart takes.
const NAMESPACES_AT_ONCE: usize = 200;
const STORES: usize = 1;
const STORAGE: usize = 5;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many Flux Kustomizations, besides the two that lead to them
    #[arg(long, value_name = "N", required_unless_present = "cluster")]
    kustomizations: Option<usize>,
    /// One of the small clusters that `cargo xtask simulate` brings up, by its number
    #[arg(long, value_name = "N", conflicts_with_all = ["kustomizations", "shape"])]
    cluster: Option<u64>,
    /// A directory that does not exist yet, or is empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How the applications depend on each other
    #[arg(long, value_enum, default_value_t = Shape::Mixed)]
    shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// Each on the one before it
    Chain,
    /// None on another, all on the infrastructure
    Fan,
    /// Each on up to three earlier ones
    Mixed,
    /// None on anything
    Independent,
    /// The last one on all others
    FanIn,
    /// Each on fifty earlier ones
    Dense,
    /// As independent, with every Flux Kustomization in one file
    OneFile,
    /// Releases that one Flux Kustomization applies (ten thousand at most), each after the one before it
    Releases,
    /// A hundred clusters that share one base
    Clusters,
    /// As one file, and each depends on something that does not exist
    Findings,
    /// As independent, without anything that Flux would begin with
    NoEntry,
}

impl Shape {
    /// Applications that need neither a store nor storage, so that only the shape itself ties them.
    fn is_plain(self) -> bool {
        !matches!(self, Self::Chain | Self::Fan | Self::Mixed | Self::Dense | Self::Clusters)
    }

    /// Every Flux Kustomization stands in one file.
    fn is_one_file(self) -> bool {
        matches!(self, Self::OneFile | Self::Findings)
    }

    /// How many namespaces one Flux Kustomization applies.
    fn namespaces_at_once(self) -> usize {
        if matches!(self, Self::Releases | Self::Dense) { NAMESPACES_AT_ONCE } else { usize::MAX }
    }

    /// How many clusters share the applications.
    fn clusters(self) -> usize {
        match self {
            Self::Clusters => CLUSTERS,
            Self::NoEntry => 0,
            _ => 1,
        }
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let empty = fs::read_dir(&options.out).map_or(true, |mut list| list.next().is_none());
    ensure!(empty, "{} is not empty", options.out.display());
    if let Some(number) = options.cluster {
        return one_cluster(&options.out, number);
    }
    let kustomizations = options.kustomizations.unwrap_or(0);
    let files = write(&options.out, kustomizations, options.shape)?;
    println!("{}: {kustomizations} kustomizations, {files} files", options.out.display());
    Ok(())
}

fn one_cluster(out: &Path, number: u64) -> Result<()> {
    let mut writer = Writer { out, files: 0 };
    let cluster = trial::cluster(number);
    for (path, text) in &cluster.files {
        writer.file(path, text)?;
    }
    let defect = cluster.defect.map_or("sound", trial::Defect::name);
    println!("{}: cluster {number}, {} files, {defect}", out.display(), writer.files);
    Ok(())
}

/// Writes the repository; gives the number of files.
pub(crate) fn write(out: &Path, kustomizations: usize, shape: Shape) -> Result<usize> {
    let mut writer = Writer { out, files: 0 };
    let of_one = kustomizations / shape.clusters().max(1);
    // One Kustomization can't apply configuration together with the release that brings its definitions.
    let is_possible = |at: &usize| shape != Shape::Releases || !is_configuration(*at);
    let parts: Vec<Part> = (0..of_one).filter(is_possible).map(|at| part(at, of_one, shape)).collect();
    let mut resources = Vec::new();
    for group in parts.chunk_by(|one, other| one.namespace == other.namespace) {
        resources.push(format!("./{}", group[0].namespace));
        namespace(&mut writer, group, shape)?;
    }
    if shape.is_one_file() {
        // Fifty thousand of them are no more than one file may have.
        let all: String = parts.iter().map(|part| flux_kustomization(part).replace(TIMEOUT, "")).collect();
        writer.file("apps/kustomizations.yaml", &all)?;
        resources.push("./kustomizations.yaml".to_owned());
    }
    let groups = listings(&mut writer, &resources, shape)?;
    for at in 0..shape.clusters() {
        cluster(&mut writer, &cluster_name(at), groups)?;
    }
    Ok(writer.files)
}

/// What the Kustomizations of a cluster list: `apps`, and directories beside it for what is too much for one build. Gives their number.
fn listings(writer: &mut Writer, resources: &[String], shape: Shape) -> Result<usize> {
    let groups = resources.chunks(shape.namespaces_at_once());
    let count = groups.len();
    for (at, group) in groups.enumerate() {
        let below = if at == 0 { "./" } else { "../apps/" };
        let listed = group.iter().map(|resource| resource.replacen("./", below, 1));
        writer.file(&format!("{}/kustomization.yaml", group_name(at)), &list("", listed))?;
    }
    Ok(count)
}

fn group_name(at: usize) -> String {
    if at == 0 { "apps".to_owned() } else { format!("apps-{at}") }
}

/// The first is named as it is where there is only one.
fn cluster_name(at: usize) -> String {
    if at == 0 { "main".to_owned() } else { format!("cluster-{at:02}") }
}

struct Writer<'out> {
    out: &'out Path,
    files: usize,
}

impl Writer<'_> {
    fn file(&mut self, path: &str, text: &str) -> Result<()> {
        let path = self.out.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        self.files += 1;
        Ok(())
    }
}

/// One Flux Kustomization and what it applies.
struct Part {
    name: String,
    namespace: String,
    wait: bool,
    depends_on: Vec<(String, String)>,
    /// File name and text.
    objects: Vec<(&'static str, String)>,
}

fn cluster(writer: &mut Writer, name: &str, groups: usize) -> Result<()> {
    let directory = format!("clusters/{name}");
    writer.file(&format!("{directory}/flux-system/gotk-sync.yaml"), &GOTK_SYNC.replace("CLUSTER", name))?;
    let listed = list("", ["gotk-sync.yaml".to_owned()]);
    writer.file(&format!("{directory}/flux-system/kustomization.yaml"), &listed)?;
    let apps: String = (0..groups).map(|at| CLUSTER_APPS.replace("APPS", &group_name(at))).collect();
    writer.file(&format!("{directory}/apps.yaml"), &apps)
}

fn namespace(writer: &mut Writer, parts: &[Part], shape: Shape) -> Result<()> {
    let name = &parts[0].namespace;
    let object = format!("---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n");
    writer.file(&format!("apps/{name}/namespace.yaml"), &object)?;
    let listed = |part: &Part| match shape {
        _ if shape.is_one_file() => None,
        Shape::Releases => Some(format!("./{}/app", part.name)),
        _ => Some(format!("./{}/ks.yaml", part.name)),
    };
    let resources = std::iter::once("./namespace.yaml".to_owned()).chain(parts.iter().filter_map(listed));
    writer.file(&format!("apps/{name}/kustomization.yaml"), &list(&format!("namespace: {name}\n"), resources))?;
    for part in parts {
        let directory = format!("apps/{name}/{}", part.name);
        if !shape.is_one_file() && shape != Shape::Releases {
            writer.file(&format!("{directory}/ks.yaml"), &flux_kustomization(part))?;
        }
        let files = part.objects.iter().map(|(file, _)| format!("./{file}"));
        writer.file(&format!("{directory}/app/kustomization.yaml"), &list("", files))?;
        for (file, text) in &part.objects {
            writer.file(&format!("{directory}/app/{file}"), text)?;
        }
    }
    Ok(())
}

const TIMEOUT: &str = "  timeout: 5m\n";

fn flux_kustomization(part: &Part) -> String {
    let Part { name, namespace, wait, depends_on, .. } = part;
    let mut text = format!(
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\n  \
         namespace: {namespace}\nspec:\n"
    );
    if !depends_on.is_empty() {
        text.push_str("  dependsOn:\n");
    }
    for (name, namespace) in depends_on {
        let _ = writeln!(text, "    - name: {name}\n      namespace: {namespace}");
    }
    let _ = write!(
        text,
        "  interval: 1h\n  retryInterval: 2m\n  path: ./apps/{namespace}/{name}/app\n  prune: true\n  sourceRef: \
         {{kind: GitRepository, name: flux-system, namespace: flux-system}}\n  targetNamespace: {namespace}\n{TIMEOUT}  \
         wait: {wait}\n"
    );
    text
}

fn part(at: usize, of: usize, shape: Shape) -> Part {
    if let Some(part) = infrastructure(at) { part } else { application(at, of, shape) }
}

fn is_configuration(at: usize) -> bool {
    matches!(at, STORES | 3)
}

/// What the applications need: a secret store, an issuer, storage. Each in two steps, controller and configuration.
fn infrastructure(at: usize) -> Option<Part> {
    let (name, namespace, after, objects) = match at {
        0 => ("external-secrets", "external-secrets", None, release("external-secrets", "external-secrets", false)),
        STORES => ("external-secrets-stores", "external-secrets", Some(0), vec![("store.yaml", STORE.to_owned())]),
        2 => ("cert-manager", "cert-manager", None, with_definitions(release("cert-manager", "cert-manager", false))),
        3 => ("cert-manager-issuers", "cert-manager", Some(2), vec![("issuer.yaml", ISSUER.to_owned())]),
        4 => ("rook-ceph", "rook-ceph", None, release("rook-ceph", "rook-ceph", false)),
        STORAGE => {
            ("rook-ceph-cluster", "rook-ceph", Some(4), release("rook-ceph-cluster", "rook-ceph-cluster", false))
        }
        _ => return None,
    };
    let depends_on = after.and_then(infrastructure).map(|part| (part.name, part.namespace)).into_iter().collect();
    Some(Part { name: name.to_owned(), namespace: namespace.to_owned(), wait: true, depends_on, objects })
}

fn application(at: usize, of: usize, shape: Shape) -> Part {
    let (name, namespace) = address(at);
    let mut depends_on = Vec::new();
    let (with_secret, with_storage) =
        (at.is_multiple_of(2) && !shape.is_plain(), at.is_multiple_of(4) && !shape.is_plain());
    let mut on = |provider: usize| depends_on.extend(infrastructure(provider).map(|part| (part.name, part.namespace)));
    if with_secret {
        on(STORES);
    }
    if with_storage && at % 20 != 8 {
        on(STORAGE);
    }
    depends_on.extend(earlier(at, of, shape).into_iter().map(address));
    if shape == Shape::Findings {
        depends_on.push((format!("{name}-gone"), namespace.clone()));
    }
    let mut objects = release(&name, "app-template", with_secret);
    if shape == Shape::Releases {
        for (_, text) in &mut objects {
            *text = text.replace("  values:\n", &format!("{}  values:\n", release_order(at)));
        }
    }
    if with_secret {
        objects.push(("externalsecret.yaml", external_secret(&name)));
    }
    if at.is_multiple_of(10) {
        objects.push(("configmap.yaml", config_map(&name, at)));
    }
    if with_storage {
        objects.push(("pvc.yaml", claim(&name)));
    }
    Part { name, namespace, wait: !at.is_multiple_of(7), depends_on, objects }
}

fn address(at: usize) -> (String, String) {
    (format!("app-{at:05}"), format!("team-{:03}", at / APPS_PER_NAMESPACE))
}

/// The `dependsOn` of a release on the one before it.
fn release_order(at: usize) -> String {
    if at <= STORAGE + 1 {
        return String::new();
    }
    let (name, namespace) = address(at - 1);
    format!("  dependsOn:\n    - name: {name}\n      namespace: {namespace}\n")
}

/// The applications that number `at` depends on: only earlier ones, so there is no cycle.
fn earlier(at: usize, of: usize, shape: Shape) -> Vec<usize> {
    let before = at - STORAGE - 1;
    match shape {
        _ if before == 0 => Vec::new(),
        Shape::Chain => vec![at - 1],
        Shape::FanIn if at + 1 == of => (STORAGE + 1..at).collect(),
        Shape::Dense => picks(at, DENSE_EDGES, before),
        Shape::Mixed | Shape::Clusters => picks(at, scatter(at) % 4, before.min(MIXED_WINDOW)),
        _ => Vec::new(),
    }
}

/// Up to `count` of the `window` applications before number `at`.
fn picks(at: usize, count: usize, window: usize) -> Vec<usize> {
    let mut picks: Vec<usize> = (0..count).map(|pick| at - 1 - scatter(at * 4 + pick) % window).collect();
    picks.sort_unstable();
    picks.dedup();
    picks
}

/// A fixed, well-mixed number for each input (the finaliser of MurmurHash3).
fn scatter(number: usize) -> usize {
    let mut mixed = number as u64 + 1;
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    usize::try_from((mixed ^ (mixed >> 33)) >> 32).unwrap_or_default()
}

fn release(name: &str, chart: &str, with_secret: bool) -> Vec<(&'static str, String)> {
    let source = OCI_REPOSITORY.replace("CHART", chart);
    let release = HELM_RELEASE.replace("ENV_FROM", if with_secret { ENV_FROM } else { "" });
    vec![("helmrelease.yaml", (source + &release).replace("NAME", name))]
}

/// Its chart brings its definitions only if it is told to.
fn with_definitions(objects: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let told = |text: String| text.replace("  values:\n", "  values:\n    crds:\n      enabled: true\n");
    objects.into_iter().map(|(file, text)| (file, told(text))).collect()
}

fn external_secret(name: &str) -> String {
    EXTERNAL_SECRET.replace("NAME", name)
}

fn config_map(name: &str, at: usize) -> String {
    let mut text = format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}-settings\ndata:\n");
    for line in 0..10 + at % 10 {
        let _ = writeln!(text, "  SETTING_{line}: \"value {line} of {name}\"");
    }
    text
}

fn claim(name: &str) -> String {
    CLAIM.replace("NAME", name)
}

const GOTK_SYNC: &str = "\
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1h
  ref:
    branch: main
  url: https://git.example.org/cluster.git
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: flux-system
  namespace: flux-system
spec:
  interval: 1h
  path: ./clusters/CLUSTER
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
";

const CLUSTER_APPS: &str = "\
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: cluster-APPS
  namespace: flux-system
spec:
  interval: 1h
  path: ./APPS
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
";

const ISSUER: &str = "\
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata:
  name: letsencrypt
spec:
  acme:
    server: https://acme.example.org/directory
    privateKeySecretRef:
      name: letsencrypt
";

const OCI_REPOSITORY: &str = "\
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata:
  name: NAME
spec:
  interval: 15m
  layerSelector:
    mediaType: application/vnd.cncf.helm.chart.content.v1.tar+gzip
    operation: copy
  ref:
    tag: 1.0.0
  url: oci://charts.example.org/CHART
";

const HELM_RELEASE: &str = "\
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: NAME
spec:
  interval: 1h
  chartRef:
    kind: OCIRepository
    name: NAME
  install:
    remediation:
      retries: 3
  upgrade:
    cleanupOnFail: true
    remediation:
      retries: 3
  values:
    controllers:
      NAME:
        containers:
          app:
            image:
              repository: registry.example.org/NAME
              tag: 1.2.3
            env:
              TZ: Etc/UTC
              LOG_LEVEL: info
ENV_FROM            probes:
              liveness: &probes
                enabled: true
                custom: true
                spec:
                  httpGet:
                    path: /healthz
                    port: 8080
                  periodSeconds: 10
              readiness: *probes
            resources:
              requests:
                cpu: 10m
                memory: 64Mi
              limits:
                memory: 256Mi
    service:
      app:
        controller: NAME
        ports:
          http:
            port: 8080
";

const ENV_FROM: &str = "            envFrom:\n              - secretRef:\n                  name: NAME-secret\n";

const EXTERNAL_SECRET: &str = "\
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: NAME
spec:
  secretStoreRef:
    kind: ClusterSecretStore
    name: vault
  target:
    name: NAME-secret
    template:
      data:
        PASSWORD: \"{{ .PASSWORD }}\"
  dataFrom:
    - extract:
        key: NAME
";

const CLAIM: &str = "\
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: NAME
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests:
      storage: 5Gi
  storageClassName: ceph-block
";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn generate(kustomizations: usize, shape: Shape) -> BTreeMap<PathBuf, String> {
        let out = tempfile::tempdir().unwrap();
        let files = write(out.path(), kustomizations, shape).unwrap();
        let mut read = BTreeMap::new();
        for entry in ignore::WalkBuilder::new(out.path()).build().filter_map(Result::ok) {
            if entry.path().is_file() {
                let path = entry.path().strip_prefix(out.path()).unwrap().to_owned();
                read.insert(path, fs::read_to_string(entry.path()).unwrap());
            }
        }
        assert_eq!(read.len(), files);
        read
    }

    #[test]
    fn the_same_options_write_the_same_bytes() {
        assert_eq!(generate(70, Shape::Mixed), generate(70, Shape::Mixed));
    }

    #[test]
    fn every_file_is_yaml_and_every_kustomization_is_there() {
        for shape in Shape::value_variants().iter().copied() {
            let files = generate(if shape == Shape::Clusters { 7 * CLUSTERS } else { 70 }, shape);
            for (path, text) in &files {
                for document in yaml::parse(source::FileId(0), text, yaml::Limits::default()) {
                    assert!(document.problems.is_empty(), "{}: {:?}", path.display(), document.problems);
                }
            }
            let flux = "kind: Kustomization\nmetadata:\n  name: app-";
            let all: usize = files.values().map(|text| text.matches(flux).count()).sum();
            let expected = match shape {
                Shape::Releases => 0,
                Shape::Clusters => 7 - STORAGE - 1,
                _ => 70 - STORAGE - 1,
            };
            assert_eq!(all, expected, "{shape:?}");
        }
    }

    #[test]
    fn applications_depend_on_earlier_ones_only() {
        for at in STORAGE + 1..2_000 {
            for shape in Shape::value_variants().iter().copied() {
                assert!(earlier(at, 2_000, shape).iter().all(|on| (STORAGE + 1..at).contains(on)), "{at} {shape:?}");
            }
        }
    }
}
