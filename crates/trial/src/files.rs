//! A cluster as files: machines in `coldstart.yaml`, a bootstrap with a helmfile, Flux' Kustomizations and what they build.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::cluster::Part;
use crate::dice::Dice;

/// Control planes and workers.
const MACHINES: [(u32, u32); 6] = [(1, 0), (1, 1), (1, 3), (3, 0), (3, 1), (3, 2)];

pub(crate) fn write(dice: &mut Dice, parts: &[Part], has_key: bool) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut file = |path: &str, text: String| files.insert(path.to_owned(), text);
    file("coldstart.yaml", machines(dice));
    bootstrap(dice, parts, has_key, &mut file);
    let wait = dice.is_in(20);
    file("kubernetes/flux/cluster/kustomization.yaml", list("", ["./ks.yaml".to_owned()]));
    file("kubernetes/flux/cluster/ks.yaml", root(wait));
    let namespaces: BTreeSet<&str> = parts.iter().map(|part| part.namespace.as_str()).collect();
    for namespace in &namespaces {
        let own = || parts.iter().filter(|part| part.namespace == **namespace);
        let resources = own().map(|part| format!("./{}/ks.yaml", part.name));
        // Kubernetes has this one by itself.
        let made = (*namespace != "kube-system").then(|| "./namespace.yaml".to_owned());
        if made.is_some() {
            let text = format!("---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: {namespace}\n");
            file(&format!("kubernetes/apps/{namespace}/namespace.yaml"), text);
        }
        let text = list(&format!("namespace: {namespace}\n"), made.into_iter().chain(resources));
        file(&format!("kubernetes/apps/{namespace}/kustomization.yaml"), text);
        for part in own() {
            let directory = format!("kubernetes/apps/{namespace}/{}", part.name);
            file(&format!("{directory}/ks.yaml"), kustomization(part));
            let names = part.objects.iter().map(|(name, _)| format!("./{name}"));
            file(&format!("{directory}/app/kustomization.yaml"), list("", names));
            for (name, text) in &part.objects {
                file(&format!("{directory}/app/{name}"), text.clone());
            }
        }
    }
    let all = namespaces.iter().map(|namespace| format!("./{namespace}"));
    file("kubernetes/apps/kustomization.yaml", list("", all));
    files
}

fn machines(dice: &mut Dice) -> String {
    let (control_planes, workers) = *dice.one_of(&MACHINES);
    let names = |prefix: &str, count: u32| {
        let all: Vec<String> = (1..=count).map(|at| format!("{prefix}{at}")).collect();
        all.join(", ")
    };
    let mut text = format!("world: simulated\nup:\n  control-planes: [{}]\n", names("cp", control_planes));
    if workers > 0 {
        let _ = writeln!(text, "  workers: [{}]", names("w", workers));
    }
    if control_planes > 1 && dice.is_in(50) {
        text.push_str("  endpoint: 192.0.2.1:6443\n  vip: 192.0.2.100:6443\n");
    }
    if dice.is_in(20) {
        text.push_str("  outside: [https://app.example.org]\n");
    }
    text
}

fn bootstrap(dice: &mut Dice, parts: &[Part], has_key: bool, file: &mut impl FnMut(&str, String) -> Option<String>) {
    let mut releases = vec![("cilium", "kube-system", "cilium", ""), ("coredns", "kube-system", "coredns", "")];
    let has_cert_manager = parts.iter().any(|part| part.name == "cert-manager");
    if has_cert_manager && dice.is_in(50) {
        releases.push(("cert-manager", "cert-manager", "cert-manager", "      - crds:\n          enabled: true\n"));
    }
    releases.push(("flux-operator", "flux-system", "flux-operator", ""));
    releases.push(("flux-instance", "flux-system", "flux-instance", "      - ./values/flux-instance.yaml\n"));
    let mut text = "---\nhelmDefaults:\n  timeout: 600\n  wait: true\n  waitForJobs: true\n\nreleases:\n".to_owned();
    for (at, (name, namespace, chart, values)) in releases.iter().enumerate() {
        let _ = write!(
            text,
            "  - name: {name}\n    namespace: {namespace}\n    chart: oci://charts.example.org/{chart}\n    version: 1.0.0\n"
        );
        if !values.is_empty() {
            let _ = write!(text, "    values:\n{values}");
        }
        if let Some((before, home, ..)) = at.checked_sub(1).map(|before| releases[before]) {
            let _ = writeln!(text, "    needs: [{home}/{before}]");
        }
    }
    file("bootstrap/helmfile.d/01-apps.yaml", text);
    file("bootstrap/helmfile.d/values/flux-instance.yaml", FLUX_INSTANCE.to_owned());
    let mut resources = vec!["./namespaces.yaml".to_owned()];
    file("bootstrap/resources/namespaces.yaml", NAMESPACES.to_owned());
    if has_key && parts.iter().any(|part| part.name == "sealed-secrets") {
        resources.push("./sealed-secrets-key.yaml".to_owned());
        file("bootstrap/resources/sealed-secrets-key.yaml", SEALING_KEY.to_owned());
    }
    file("bootstrap/resources/kustomization.yaml", list("", resources));
    file("bootstrap/apps.sh", SCRIPT.to_owned());
}

fn root(wait: bool) -> String {
    format!(
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: cluster-apps\n  \
         namespace: flux-system\nspec:\n  interval: 1h\n  path: ./kubernetes/apps\n  prune: true\n  retryInterval: \
         1m\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n  timeout: {}\n  wait: {wait}\n",
        if wait { "30m" } else { "5m" }
    )
}

fn kustomization(part: &Part) -> String {
    let Part { name, namespace, source, .. } = part;
    let mut text = format!(
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: {name}\nspec:\n"
    );
    if !part.depends_on.is_empty() {
        text.push_str("  dependsOn:\n");
    }
    for (name, namespace) in &part.depends_on {
        let _ = writeln!(text, "    - name: {name}\n      namespace: {namespace}");
    }
    if let Some(seconds) = part.retry_seconds {
        let _ = writeln!(text, "  retryInterval: {seconds}s");
    }
    if part.is_suspended {
        text.push_str("  suspend: true\n");
    }
    let _ = write!(
        text,
        "  interval: {}m\n  path: ./kubernetes/apps/{namespace}/{name}/app\n  prune: true\n  sourceRef:\n    kind: \
         GitRepository\n    name: {source}\n    namespace: flux-system\n  targetNamespace: {namespace}\n  timeout: \
         {}m\n  wait: {}\n",
        part.interval_minutes, part.timeout_minutes, part.wait
    );
    text
}

/// A kustomization.yaml with `extra` lines and these resources.
pub fn list(extra: &str, resources: impl IntoIterator<Item = String>) -> String {
    let mut text =
        format!("---\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n{extra}resources:\n");
    for resource in resources {
        let _ = writeln!(text, "  - {resource}");
    }
    text
}

const FLUX_INSTANCE: &str = "\
---
instance:
  distribution:
    version: 2.7.x
  sync:
    kind: GitRepository
    url: https://git.example.org/cluster.git
    ref: refs/heads/main
    path: kubernetes/flux/cluster
";

const NAMESPACES: &str = "\
---
apiVersion: v1
kind: Namespace
metadata:
  name: cert-manager
---
apiVersion: v1
kind: Namespace
metadata:
  name: flux-system
";

const SEALING_KEY: &str = "\
---
apiVersion: v1
kind: Secret
metadata:
  name: sealed-secrets-key
  namespace: kube-system
  labels:
    sealedsecrets.bitnami.com/sealed-secrets-key: active
type: kubernetes.io/tls
stringData:
  tls.crt: PLACEHOLDER
  tls.key: PLACEHOLDER
";

const SCRIPT: &str = "\
#!/usr/bin/env bash
set -euo pipefail
cd \"$(dirname \"$0\")\"
kubectl apply --server-side --kustomize resources
helmfile --file helmfile.d/01-apps.yaml sync --hide-notes
";
