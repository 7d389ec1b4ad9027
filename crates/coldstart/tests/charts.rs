//! `--render-charts`: the real helm, on small charts of our own.

mod story;

use std::path::{Path, PathBuf};
use std::process::Command;

use story::{Ran, Tree, binary, command, run, skipped, sound, works};

/// `COLDSTART_HELM`, the helm of the lab, or the one on the path.
fn helm() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let lab = set("COLDSTART_LAB_CACHE").or_else(|| set("HOME").map(|home| home.join(".cache/coldstart/lab")));
    let built = lab.and_then(|lab| std::fs::read_dir(lab).ok()).into_iter().flatten().flatten();
    let built = built.filter(|entry| entry.file_name().to_string_lossy().starts_with("helm-v"));
    let candidates = set("COLDSTART_HELM").into_iter().chain(built.map(|entry| entry.path().join("helm")));
    let found =
        candidates.chain([PathBuf::from("helm")]).find(|program| works(&program.to_string_lossy(), &["version"]));
    if found.is_none() {
        skipped("there is no helm here: cargo xtask lab build, or set COLDSTART_HELM");
    }
    found
}

fn render(helm: &Path, tree: &Tree, words: &[&str]) -> Ran {
    run(command(&["check", "--render-charts", "--helm"]).arg(helm).args(words).arg(tree.path()))
}

/// A cluster with an operator whose chart lies in the repository, and something that needs what the chart brings.
fn with_charts() -> Tree {
    sound().with(&[
        ("charts/oxen/Chart.yaml", "apiVersion: v2\nname: oxen\nversion: 1.2.3\n"),
        ("charts/oxen/values.yaml", "replicas: 1\nexistingSecret: oxen-token\nmonitor: true\n"),
        ("charts/oxen/templates/crd.yaml", CRD),
        ("charts/oxen/templates/webhook.yaml", WEBHOOK),
        ("charts/oxen/templates/deployment.yaml", DEPLOYMENT),
        ("charts/oxen/templates/monitor.yaml", MONITOR),
        ("apps/kustomization.yaml", "resources:\n  - release.yaml\n"),
        ("apps/release.yaml", RELEASE),
        ("clusters/home/farm.yaml", FARM),
        ("farm/kustomization.yaml", "resources:\n  - ox.yaml\n"),
        ("farm/ox.yaml", "apiVersion: farm.example.com/v1\nkind: Ox\nmetadata:\n  name: bob\n  namespace: default\n"),
    ])
}

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: oxen.farm.example.com
spec:
  group: farm.example.com
  names: {kind: Ox, plural: oxen}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true}]
";

const WEBHOOK: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: {{ .Release.Name }}
webhooks:
  - name: oxen.farm.example.com
    clientConfig: {service: {name: oxen, namespace: {{ .Release.Namespace }}}}
    rules: [{apiGroups: [farm.example.com], apiVersions: [v1], resources: [oxen], operations: [CREATE]}]
";

const DEPLOYMENT: &str = "\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: oxen}}
  template:
    metadata: {labels: {app: oxen}}
    spec:
      containers:
        - name: oxen
          image: oxen
          envFrom: [{secretRef: {name: {{ required \"name a Secret\" .Values.existingSecret }}}}]
";

const MONITOR: &str = "\
{{- if and .Values.monitor (.Capabilities.APIVersions.Has \"monitors.example.com/v1/Monitor\") }}
apiVersion: monitors.example.com/v1
kind: Monitor
metadata:
  name: oxen
{{- end }}
";

const RELEASE: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: oxen
  namespace: flux-system
spec:
  interval: 1h
  chart:
    spec:
      chart: ./charts/oxen
      sourceRef:
        kind: GitRepository
        name: flux-system
  values:
    existingSecret: oxen-secret
";

const FARM: &str = "\
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: farm
  namespace: flux-system
spec:
  interval: 1h
  path: ./farm
  prune: true
  sourceRef:
    kind: GitRepository
    name: flux-system
";

#[test]
fn what_a_chart_renders_is_offered_and_needed() {
    let Some(helm) = helm() else { return };
    let tree = with_charts();
    let unseen = run(command(&["check"]).arg(tree.path())).exits(0);
    assert!(!unseen.stdout.contains("missing-dependency"), "{}", unseen.stdout);
    let seen = render(&helm, &tree, &["--min-severity", "info"]).exits(0);
    let seen = seen.says("· 1 chart rendered ·").says("warning[missing-dependency]").says("CRD Ox.farm.example.com");
    // The chart took the name from the values: that is the line to look at.
    seen.says("needs Secret flux-system/oxen-secret for its pods to start").says("apps/release.yaml:15:21");
}

#[test]
fn a_webhook_that_fails_closed_is_told_where_the_crd_is_there_before() {
    let Some(helm) = helm() else { return };
    let tree = with_charts().with(&[("charts/oxen/templates/crd.yaml", ""), ("clusters/home/crd.yaml", CRD)]);
    let seen = render(&helm, &tree, &["--min-severity", "info"]).exits(0);
    seen.says("webhook-race").says("may be rejected while the webhook of `flux-system/apps` does not answer");
}

#[test]
fn an_object_that_a_template_makes_only_where_the_api_is_there_is_lost_without_it() {
    let Some(helm) = helm() else { return };
    let monitors =
        CRD.replace("farm.example.com", "monitors.example.com").replace("Ox,", "Monitor,").replace("oxen", "monitors");
    let tree = with_charts()
        .with(&[("clusters/home/monitors.yaml", &FARM.replace("farm", "monitors")), ("monitors/crd.yaml", &monitors)]);
    let seen = render(&helm, &tree, &[]).exits(0);
    seen.says("warning[capability-gated]").says("looks for CRD Monitor.monitors.example.com when it is rendered");
}

#[test]
fn a_chart_in_helms_own_cache_is_rendered_and_nothing_is_fetched() {
    let Some(helm) = helm() else { return };
    let (tree, charts, home) = (with_charts(), with_charts(), Tree::empty());
    std::fs::remove_dir_all(tree.path().join("charts")).unwrap();
    let release = RELEASE.replace("chart: ./charts/oxen", "chart: oxen\n      version: 1.2.3");
    tree.write("apps/release.yaml", release.replace("kind: GitRepository", "kind: HelmRepository").as_bytes());
    let check = |cache: &Path| {
        let mut command = command(&["check", "--render-charts", "--min-severity", "info", "--helm"]);
        run(command.arg(&helm).arg(tree.path()).env("HELM_REPOSITORY_CACHE", cache))
    };
    check(home.path()).exits(0).says("1 comes from a chart that is neither here nor in the catalogue");
    let packed = Command::new(&helm)
        .args(["package", "--destination"])
        .arg(home.path())
        .arg(charts.path().join("charts/oxen"))
        .output()
        .unwrap();
    assert!(packed.status.success(), "{packed:?}");
    check(home.path()).exits(0).says("· 1 chart rendered ·").says("warning[missing-dependency]");
    // So it is with an archive that lies in the repository.
    std::fs::create_dir(tree.path().join("vendor")).unwrap();
    std::fs::rename(home.path().join("oxen-1.2.3.tgz"), tree.path().join("vendor/oxen-1.2.3.tgz")).unwrap();
    check(home.path()).exits(0).says("· 1 chart rendered ·").says("warning[missing-dependency]");
}

#[test]
fn what_helm_refuses_is_a_blind_spot_with_its_reason() {
    let Some(helm) = helm() else { return };
    let tree = with_charts();
    tree.write("apps/release.yaml", RELEASE.replace("oxen-secret", "''").as_bytes());
    let seen = render(&helm, &tree, &["--blind-spots"]).exits(0);
    seen.says("has a chart that could not be rendered: execution error at (oxen/templates/deployment.yaml:14:42): name a Secret")
        .says("HelmRelease flux-system/oxen (chart oxen)  apps/release.yaml:10:14");
}

#[test]
fn values_that_are_not_known_are_said() {
    let Some(helm) = helm() else { return };
    let tree = with_charts();
    let release = format!("{RELEASE}  valuesFrom:\n    - kind: Secret\n      name: more-values\n");
    tree.write("apps/release.yaml", release.as_bytes());
    let seen = render(&helm, &tree, &["--blind-spots"]).exits(0);
    seen.says("not seen: are not in the repository: the chart was rendered without them")
        .says("values of HelmRelease flux-system/oxen from Secret more-values  apps/release.yaml:18:13");
}

#[test]
fn two_runs_print_the_same_bytes() {
    let Some(helm) = helm() else { return };
    let tree = with_charts();
    let first = render(&helm, &tree, &["--format", "json", "--min-severity", "pedantic"]);
    assert_eq!(first.stdout, render(&helm, &tree, &["--format", "json", "--min-severity", "pedantic"]).stdout);
    assert_eq!(first.json()["summary"]["rendered_charts"], 1);
}

#[test]
fn a_helm_that_is_not_there_is_told_with_what_to_do() {
    let tree = sound();
    let ran = render(Path::new("/nonexistent/helm"), &tree, &[]).exits(2);
    ran.says("the program `/nonexistent/helm` can't be started").says("next: coldstart check --render-charts --helm");
    run(command(&["check", "--helm", "helm"]).arg(tree.path())).exits(2).says("--render-charts");
}

/// Values may be secrets: nobody on the machine can read them in the list of processes, nor in a file that is left.
#[cfg(unix)]
#[test]
fn values_go_to_helm_through_its_input_and_its_environment_is_empty() {
    use std::os::unix::fs::PermissionsExt as _;
    let (tree, bench) = (with_charts(), Tree::empty());
    let fake = bench.path().join("helm");
    let script = "#!/bin/sh\n[ \"$1\" = env ] && exit 0\nlog=$(dirname \"$0\")\necho \"$@\" >> $log/arguments\nenv >> $log/environment\ncat >> $log/input\n";
    std::fs::write(&fake, script).unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut check = Command::new(binary());
    check.args(["check", "--render-charts", "--helm"]).arg(&fake).arg(tree.path()).env("HELM_KUBETOKEN", "hush");
    run(&mut check).exits(0);
    let log = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap();
    assert!(log("input").contains("oxen-secret"), "{}", log("input"));
    assert!(!log("arguments").contains("oxen-secret"), "{}", log("arguments"));
    assert!(log("arguments").contains("--include-crds"), "{}", log("arguments"));
    assert!(!log("environment").contains("hush"), "{}", log("environment"));
    assert!(log("environment").contains("HTTPS_PROXY=http://127.0.0.1:9"), "{}", log("environment"));
}

#[test]
fn a_chart_is_rendered_with_the_charts_and_values_that_lie_beside_it() {
    let Some(helm) = helm() else { return };
    let chart = "apiVersion: v2\nname: oxen\nversion: 1.2.3\ndependencies:\n  - name: yoke\n    version: 0.1.0\n    repository: file://../yoke\n";
    let class =
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: {{ .Values.class }}\nvalue: 10\n";
    let release =
        RELEASE.replace("      sourceRef:", "      valuesFiles:\n        - charts/heavy.yaml\n      sourceRef:");
    let tree = with_charts().with(&[
        ("charts/oxen/Chart.yaml", chart),
        ("charts/yoke/Chart.yaml", "apiVersion: v2\nname: yoke\nversion: 0.1.0\n"),
        ("charts/yoke/values.yaml", "class: light\n"),
        ("charts/yoke/templates/class.yaml", class),
        ("charts/heavy.yaml", "replicas: 3\nyoke:\n  class: heavy\n"),
        ("apps/release.yaml", &release),
    ]);
    let graph = run(command(&["graph", "--format", "json", "--render-charts", "--helm"]).arg(&helm).arg(tree.path()));
    graph.exits(0).says("\"capability\": \"PriorityClass heavy\"");
}
