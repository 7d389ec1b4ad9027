//! The plan of the example, and of what has none.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use std::path::Path;

use tempfile::TempDir;

use coldstart_run::{Action, Layer, Note, Plan, PlanError, Proof, Selection, SelectionError, plan};

fn planned(example: &str, settings: &str) -> Result<Plan, PlanError> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let mut reading = read::read(&root).unwrap();
    if !settings.is_empty() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("coldstart.yaml"), settings).unwrap();
        reading.settings = read::read(directory.path()).unwrap().settings;
    }
    let cluster = &reading.clusters[0];
    plan(&reading.repository, cluster, &graph::analyse(cluster), &reading.settings.up)
}

const MACHINES: &str = "up:\n  control-planes: [cp1, cp2, cp3]\n  workers: [w1, w2]\n  endpoint: 10.0.1.1:6443\n  vip: 10.0.3.1:6443\n  keys: [terraform/00-persistent-auth]\n  configuration:\n    - directory: terraform/03-configuration\n      needs: [authentik/authentik, dns-system/powerdns]\n  outside: [https://auth.example.org]\n";

fn all_needs(plan: &Plan, key: &str) -> Vec<String> {
    let mut next = vec![plan.find(key).unwrap_or_else(|| panic!("no step {key}"))];
    let mut found = Vec::new();
    while let Some(id) = next.pop() {
        for need in &plan.step(id).needs {
            let key = plan.step(need.step).key.clone();
            if !found.contains(&key) {
                found.push(key);
                next.push(need.step);
            }
        }
    }
    found
}

#[test]
fn nobody_comes_before_what_it_needs_and_everybody_needs_the_bottom() {
    let plan = planned("homelab", MACHINES).unwrap();
    for id in plan.ids() {
        assert!(plan.step(id).needs.iter().all(|need| need.step < id), "{}", plan.step(id).key);
    }
    for step in plan.steps.iter().filter(|step| step.layer >= Layer::Seeds) {
        assert!(all_needs(&plan, &step.key).contains(&"talos/etcd".to_owned()), "{} needs no etcd", step.key);
    }
    for step in plan.steps.iter().filter(|step| step.layer == Layer::GitOps) {
        let needs = all_needs(&plan, &step.key);
        assert!(needs.contains(&"flux/flux-system/flux-instance".to_owned()), "{} needs no Flux", step.key);
        assert!(needs.contains(&"network/kube-system/cilium".to_owned()), "{} needs no network", step.key);
    }
}

#[test]
fn a_step_needs_its_own_and_not_a_whole_layer() {
    let plan = planned("homelab", MACHINES).unwrap();
    // etcd starts on the first control plane, whatever the other machines do.
    let (keys, makes) = ("keys/terraform/00-persistent-auth", "machines/terraform/01-infrastructure");
    let mut needs = all_needs(&plan, "talos/etcd");
    needs.sort();
    assert_eq!(needs, [keys, "machines/cp1", makes, "talos/cp1", "talos/secrets"]);
    assert!(!all_needs(&plan, "network/kube-system/cilium").iter().any(|need| need.starts_with("talos/w")));
    let configuration = all_needs(&plan, "configuration/terraform/03-configuration");
    assert!(configuration.contains(&"gitops/authentik/authentik".to_owned()));
    assert!(!configuration.contains(&"gitops/matrix/matrix".to_owned()));
}

#[test]
fn terraform_that_makes_the_machines_comes_before_them_and_after_its_keys() {
    let makes = "machines/terraform/01-infrastructure".to_owned();
    let plan = planned("homelab", MACHINES).unwrap();
    assert!(all_needs(&plan, "machines/cp1").contains(&makes));
    assert_eq!(all_needs(&plan, &makes), ["keys/terraform/00-persistent-auth"]);
    // Machines that no settings name are made all the same.
    let plan = planned("homelab", "world: simulated\n").unwrap();
    assert!(all_needs(&plan, "api/bootstrap").contains(&makes));
}

#[test]
fn the_virtual_address_comes_after_the_first_one() {
    let plan = planned("homelab", MACHINES).unwrap();
    let needs = all_needs(&plan, "api/vip");
    assert!(needs.contains(&"api/bootstrap".to_owned()) && needs.contains(&"talos/cp3".to_owned()), "{needs:?}");
    // And nothing that is done before waits for it.
    let early = ["api/bootstrap", "network/kube-system/cilium", "seeds/sealing key", "flux/start"];
    assert!(early.iter().all(|key| !all_needs(&plan, key).contains(&"api/vip".to_owned())));
}

#[test]
fn what_must_be_done_once_and_what_is_dangerous_is_said() {
    let plan = planned("homelab", MACHINES).unwrap();
    let once: Vec<&str> = plan.steps.iter().filter(|step| step.once).map(|step| step.key.as_str()).collect();
    assert_eq!(once, ["talos/secrets", "talos/etcd"]);
    assert!(plan.steps.iter().filter(|step| step.once).all(|step| step.danger.is_some()));
    assert!(plan.steps.iter().all(|step| !step.limits.timeout.is_zero() && step.limits.attempts > 0));
    assert!(plan.steps.iter().filter(|step| step.layer == Layer::GitOps).all(|step| step.action == Action::Watch));
}

#[test]
fn what_settings_do_not_say_is_read_from_files_and_what_terraform_does_is_watched() {
    let plan = planned("homelab", "check: {}").unwrap();
    let step = |key: &str| plan.step(plan.find(key).unwrap_or_else(|| panic!("no step {key}")));
    assert_eq!(plan.notes, [Note::MachinesFromFiles { from: "terraform/01-infrastructure".to_owned() }]);
    let first: Vec<&str> = plan.steps[..2].iter().map(|step| step.key.as_str()).collect();
    assert_eq!(first, ["keys/terraform/00-persistent-auth", "machines/terraform/01-infrastructure"]);
    // One run makes the machines, configures them and bootstraps etcd: nobody does that a second time.
    assert!(step("machines/terraform/01-infrastructure").by_hand.does_boot);
    for key in ["machines/controller-1", "talos/worker-2", "talos/etcd", "seeds/sealing key"] {
        assert_eq!(step(key).action, Action::Watch, "{key}");
        assert!(step(key).danger.is_none() && !step(key).once, "{key}");
        assert!(all_needs(&plan, key).contains(&"machines/terraform/01-infrastructure".to_owned()), "{key}");
    }
    assert!(plan.find("talos/secrets").is_none(), "Terraform makes them");
    assert_eq!(step("talos/controller-1").by_hand.address.as_deref(), Some("10.0.1.1"));
    assert_eq!(step("api/bootstrap").by_hand.address.as_deref(), Some("10.0.1.1:6443"));
    assert_eq!(step("api/vip").by_hand.address.as_deref(), Some("10.0.3.1:6443"));
    assert_eq!(step("api/bootstrap").by_hand.kubeconfig_of, None, "Terraform fetches it");
    // The run that starts the script whose releases are steps is no step beside them; the one after Flux is.
    assert!(plan.steps.iter().all(|step| !step.key.ends_with("terraform/02-services")));
    assert!(plan.find("configuration/terraform/03-configuration").is_some());
    assert_eq!(step("flux/start").action, Action::StartFlux);
}

#[test]
fn machines_that_files_describe_are_brought_up_by_hand_where_no_terraform_does_it() {
    let tree = tempfile::tempdir().unwrap();
    let at = |path: &str| tree.path().join(path);
    std::fs::create_dir_all(at("talos")).unwrap();
    std::fs::create_dir_all(at("clusters/home/flux-system")).unwrap();
    let nodes = "endpoint: https://10.0.0.100:6443\nnodes:\n  - {hostname: one, ipAddress: 10.0.0.1, controlPlane: true}\n  - {hostname: two, ipAddress: 10.0.0.2, controlPlane: false}\n";
    std::fs::write(at("talos/talconfig.yaml"), nodes).unwrap();
    std::fs::write(at("clusters/home/flux-system/gotk-sync.yaml"), SYNC).unwrap();
    let plan = plan_of(tree.path());
    let step = |key: &str| plan.step(plan.find(key).unwrap_or_else(|| panic!("no step {key}"))).clone();
    assert_eq!(step("talos/one").action, Action::Configure { machine: "one".to_owned() });
    assert_eq!(step("talos/two").by_hand.address.as_deref(), Some("10.0.0.2"));
    assert!(step("talos/etcd").once && plan.find("talos/secrets").is_some());
    assert_eq!(step("api/bootstrap").by_hand.kubeconfig_of.as_deref(), Some("10.0.0.1"));
    // What the settings say goes first.
    std::fs::write(at("coldstart.yaml"), "up:\n  control-planes: [other]\n").unwrap();
    let plan = plan_of(tree.path());
    assert!(plan.find("talos/other").is_some() && plan.find("talos/one").is_none());
}

/// One run that makes everything, down to Flux.
#[test]
fn flux_that_terraform_starts_is_watched() {
    let fixture = fixtures::Shelf::Shapes.directory().join("boot-on-what-works");
    let tree = fixtures::Fixture::open(&fixture).unwrap().repository().unwrap();
    let plan = plan_of(tree.path());
    let step = |key: &str| plan.step(plan.find(key).unwrap_or_else(|| panic!("no step {key}")));
    assert_eq!(step("flux/start").action, Action::Watch);
    assert!(all_needs(&plan, "flux/start").contains(&"machines/terraform/infrastructure".to_owned()));
    assert_eq!(plan.steps.iter().filter(|step| matches!(step.action, Action::Terraform { .. })).count(), 1);
}

#[test]
fn hashes_tell_steps_apart_and_stay_the_same() {
    let (one, two) = (planned("homelab", MACHINES).unwrap(), planned("homelab", MACHINES).unwrap());
    let hashes = |plan: &Plan| plan.steps.iter().map(|step| step.hash.clone()).collect::<Vec<_>>();
    assert_eq!(hashes(&one), hashes(&two));
    let different: std::collections::BTreeSet<String> = hashes(&one).into_iter().collect();
    assert_eq!(different.len(), one.steps.len());
}

#[test]
fn a_repository_that_can_never_come_up_has_no_plan_but_a_circle() {
    let Err(PlanError::Circle(circle)) = planned("homelab-broken", "") else { panic!("a plan") };
    assert!(circle.len() >= 2, "{circle:?}");
}

/// Two clusters with a bootstrap each: what one seeds decides nothing of the other's steps.
#[test]
fn the_seeds_of_one_cluster_are_no_part_of_anothers_steps() {
    let hash = |west: &str| {
        let tree = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = tree.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for (cluster, seeded) in [("east", "a"), ("west", west)] {
            write(
                &format!("k8s/{cluster}/flux/ks.yaml"),
                &format!(
                    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: flux-system, namespace: flux-system}}\nspec: {{path: ./k8s/{cluster}/flux, sourceRef: {{kind: GitRepository, name: flux-system}}}}\n"
                ),
            );
            let seed = format!("apiVersion: v1\nkind: Namespace\nmetadata: {{name: {seeded}}}\n");
            write(&format!("k8s/{cluster}/bootstrap/namespace.yaml"), &seed);
        }
        let reading = read::read(tree.path()).unwrap();
        let cluster = reading.clusters.iter().find(|cluster| cluster.name == "k8s/east/flux").unwrap();
        let plan = plan(&reading.repository, cluster, &graph::analyse(cluster), &reading.settings.up).unwrap();
        plan.step(plan.find("seeds/bootstrap resources").unwrap()).hash.clone()
    };
    assert_eq!(hash("b"), hash("c"));
}

/// Somebody moved to a directory of helmfiles and left the old one where it was.
#[test]
fn a_release_of_two_helmfiles_is_one_step() {
    let release = |name: &str, needs: &str| {
        format!("  - name: {name}\n    namespace: {name}\n    chart: oci://example.org/{name}\n    needs: [{needs}]\n")
    };
    let old = format!("releases:\n{}{}", release("cilium", ""), release("flux-operator", "cilium/cilium"));
    let new = format!("{old}{}", release("spegel", "cilium/cilium"));
    let tree = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = tree.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("bootstrap/helmfile.yaml", &old);
    write("bootstrap/helmfile.d/01-apps.yaml", &new);
    write(
        "kubernetes/flux/ks.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\nspec: {path: ./kubernetes/apps, sourceRef: {kind: GitRepository, name: flux-system}}\n",
    );
    write("kubernetes/apps/a.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n");
    let reading = read::read(tree.path()).unwrap();
    let cluster = &reading.clusters[0];
    let plan = plan(&reading.repository, cluster, &graph::analyse(cluster), &reading.settings.up).unwrap();
    let named = |name: &str| plan.steps.iter().filter(|step| step.key.ends_with(name)).count();
    assert_eq!([named("/cilium"), named("/flux-operator"), named("/spegel")], [1, 1, 1]);
}

#[test]
fn a_part_of_a_plan_leaves_the_rest_out() {
    let plan = planned("homelab", MACHINES).unwrap();
    let left = |selection: Selection| selection.left(&plan).unwrap();
    let until = left(Selection { until: Some("flux".to_owned()), ..Selection::default() });
    assert!(plan.ids().filter(|id| plan.step(*id).layer == Layer::GitOps).all(|id| until.contains_key(&id)));
    assert!(plan.ids().filter(|id| plan.step(*id).layer == Layer::Flux).all(|id| !until.contains_key(&id)));
    let from = left(Selection { from: Some("network/kube-system/cilium".to_owned()), ..Selection::default() });
    assert!(from.contains_key(&plan.find("talos/etcd").unwrap()));
    assert!(from.contains_key(&plan.find("talos/w1").unwrap()), "nobody needs it, and it is of an earlier layer");
    let short = plan.clone().without(&until);
    assert!(short.steps.iter().all(|step| step.layer <= Layer::Flux));
    assert!(short.ids().all(|id| short.step(id).needs.iter().all(|need| need.step < id)));
    let unknown = Selection { only: vec!["cilium".to_owned()], ..Selection::default() }.left(&plan);
    let near = Some("network/kube-system/cilium".to_owned());
    assert_eq!(unknown, Err(SelectionError::Unknown { name: "cilium".to_owned(), near }));
    let nothing = Selection { from: Some("gitops".to_owned()), until: Some("keys".to_owned()), ..Selection::default() };
    assert_eq!(nothing.left(&plan), Err(SelectionError::Nothing { steps: plan.steps.len() }));
}

/// The way in is proved for the cluster as it was described, not for one machine of it.
#[test]
fn the_proof_from_outside_needs_every_machine() {
    let plan = planned("homelab", MACHINES).unwrap();
    let needs = all_needs(&plan, "outside/https://auth.example.org");
    for step in ["talos/cp3", "talos/w2", "api/vip"] {
        assert!(needs.contains(&step.to_owned()), "{step}");
    }
}

#[test]
fn names_in_the_settings_that_stand_for_nothing_are_told() {
    let typo = planned("homelab", &MACHINES.replace("dns-system/powerdns", "dns-system/powerdn")).unwrap_err();
    let said = "coldstart.yaml: `terraform/03-configuration` needs `dns-system/powerdn`, but Flux applies nothing of that \
                name; did you mean `dns-system/powerdns`?";
    assert_eq!(typo.to_string(), said);
    let missing = planned("homelab", &MACHINES.replace("00-persistent-auth", "00-none")).unwrap_err();
    assert_eq!(missing, PlanError::NoDirectory("terraform/00-none".to_owned()));
}

const SYNC: &str = "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1m, url: https://example.invalid/home.git}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 10m, path: ./clusters/home, prune: true, sourceRef: {kind: GitRepository, name: flux-system}}
";

const CRDS: &str = "\
helmDefaults: {args: [\"--include-crds\", \"--no-hooks\"]}
releases:
  - {name: cloudnative-pg, namespace: database, chart: oci://charts.example.org/cloudnative-pg}
";

const APPS: &str = "\
helmDefaults: {wait: true}
releases:
  - {name: cilium, namespace: kube-system, chart: oci://charts.example.org/cilium, wait: false}
  - name: external-secrets
    namespace: external-secrets
    chart: oci://charts.example.org/external-secrets
    needs: [kube-system/cilium]
  - name: connect
    namespace: external-secrets
    chart: oci://charts.example.org/connect
    needs: [external-secrets/external-secrets]
    hooks:
      - {events: [postsync], command: kubectl, args: [apply, --filename=../store.yaml]}
  - {name: flux-operator, namespace: flux-system, chart: oci://charts.example.org/flux-operator, needs: [kube-system/cilium]}
";

const SCRIPT: &str = "\
#!/bin/sh
helmfile --file helmfile.d/00-crds.yaml template | yq 'select(.kind == \"CustomResourceDefinition\")' | kubectl apply --filename -
kubectl apply --server-side --filename resources.yaml
helmfile --file helmfile.d/01-apps.yaml sync
";

const RESOURCES: &str = "\
{apiVersion: v1, kind: Secret, metadata: {name: token, namespace: external-secrets}}
---
{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: main, namespace: database}}
---
{apiVersion: external-secrets.io/v1, kind: ClusterExternalSecret, metadata: {name: all}}
";

fn bootstrapped() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("bootstrap/bootstrap.sh", SCRIPT),
        ("bootstrap/helmfile.d/00-crds.yaml", CRDS),
        ("bootstrap/helmfile.d/01-apps.yaml", APPS),
        ("bootstrap/resources.yaml", RESOURCES),
        (
            "bootstrap/store.yaml",
            "{apiVersion: external-secrets.io/v1, kind: ClusterSecretStore, metadata: {name: s}}\n",
        ),
    ] {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    directory
}

fn plan_of(directory: &Path) -> Plan {
    let reading = read::read(directory).unwrap();
    let cluster = &reading.clusters[0];
    plan(&reading.repository, cluster, &graph::analyse(cluster), &reading.settings.up).unwrap()
}

#[test]
fn values_in_files_and_seeded_files_are_part_of_what_a_step_does() {
    let directory = bootstrapped();
    let path = |path: &str| directory.path().join("bootstrap").join(path);
    let hash = |key: &str| {
        let plan = plan_of(directory.path());
        plan.step(plan.find(key).unwrap()).hash.clone()
    };
    std::fs::write(path("values.yaml.gotmpl"), "replicas: {{ 1 }}\n").unwrap();
    let apps = APPS.replace("wait: false}", "wait: false, values: [../values.yaml.gotmpl]}");
    std::fs::write(path("helmfile.d/01-apps.yaml"), apps).unwrap();
    let keys = ["network/kube-system/cilium", "bootstrap/external-secrets/connect", "seeds/bootstrap resources"];
    let before = keys.map(hash);
    std::fs::write(path("values.yaml.gotmpl"), "replicas: {{ 2 }}\n").unwrap();
    let values = keys.map(hash);
    assert!(values[0] != before[0] && values[1..] == before[1..], "{before:?} {values:?}");
    std::fs::write(path("resources.yaml"), RESOURCES.replace("name: token", "name: other")).unwrap();
    let seeds = keys.map(hash);
    assert!(seeds[2] != values[2] && seeds[..2] == values[..2], "{values:?} {seeds:?}");
}

#[test]
fn what_is_seeded_waits_for_whoever_brings_its_kind() {
    let directory = bootstrapped();
    let plan = plan_of(directory.path());
    let needs = |key: &str| all_needs(&plan, key);
    // A kind of the pass of CRDs: after that, and before anything is installed.
    assert!(needs("seeds/bootstrap resources").contains(&"seeds/database/cloudnative-pg CRDs".to_owned()));
    assert!(!needs("seeds/bootstrap resources").iter().any(|need| need.starts_with("bootstrap/")));
    // A kind of a release: after it. A hook: after the release that it is of.
    let own = needs("bootstrap/external-secrets/external-secrets resources");
    assert!(own.contains(&"bootstrap/external-secrets/external-secrets".to_owned()), "{own:?}");
    let hooked = needs("bootstrap/external-secrets/connect resources");
    assert!(hooked.contains(&"bootstrap/external-secrets/connect".to_owned()), "{hooked:?}");
    // A release that the helmfile does not wait for is proved all the same, and Flux comes last.
    let network = plan.step(plan.find("network/kube-system/cilium").unwrap());
    assert_eq!(network.proof, Proof::ReleaseHealthy { release: "kube-system/cilium".to_owned() });
    let flux = needs("flux/flux-system/flux-operator");
    assert!(flux.contains(&"bootstrap/external-secrets/connect resources".to_owned()), "{flux:?}");
}

/// `graph` and `plan` have one timeline: counted from the API server, both end at the same moment.
#[test]
fn a_plan_takes_as_long_as_the_graph_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homelab");
    let reading = read::read(&root).unwrap();
    let cluster = &reading.clusters[0];
    let analysis = graph::analyse(cluster);
    let plan = plan(&reading.repository, cluster, &analysis, &settings::UpSettings::default()).unwrap();
    let done = plan.expected(|_| false);
    let api = done[plan.find("api/bootstrap").unwrap().index()];
    // Services are configured by Terraform afterwards.
    let by_flux = plan.ids().filter(|id| plan.step(*id).layer == Layer::GitOps);
    let last = by_flux.map(|id| done[id.index()]).max().unwrap();
    assert_eq!((last.saturating_sub(api)).as_secs(), analysis.schedule.all_done(cluster));
}

#[test]
fn a_deadlock_of_check_has_no_plan() {
    let tree = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = tree.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let kustomization = |name: &str, path: &str, more: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\nspec: {{path: {path}, {more}sourceRef: {{kind: GitRepository, name: flux-system}}}}\n---\n"
        )
    };
    // What it starts from applies a resource whose kind only a part of it would bring.
    write("flux/root.yaml", &kustomization("root", "./apps", ""));
    write("apps/kinds.yaml", &kustomization("kinds", "./kinds", ""));
    write("apps/thing.yaml", "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: one, namespace: default}\n");
    write(
        "kinds/crd.yaml",
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.example.org}\nspec: {group: example.org, scope: Namespaced, names: {kind: Thing, plural: things}, versions: []}\n",
    );
    let reading = read::read(tree.path()).unwrap();
    let cluster = &reading.clusters[0];
    let refused = plan(&reading.repository, cluster, &graph::analyse(cluster), &reading.settings.up);
    let Err(PlanError::Circle(circle)) = refused else { panic!("a plan: {refused:?}") };
    assert!(circle.contains(&"Kustomization flux-system/root".to_owned()), "{circle:?}");
}

#[test]
fn secrets_that_the_repository_keeps_are_restored() {
    let tree = bootstrapped();
    std::fs::write(tree.path().join("coldstart.yaml"), "up: {control-planes: [10.0.0.1]}\n").unwrap();
    let secrets = |plan: &Plan| plan.step(plan.find("talos/secrets").unwrap()).clone();
    let made = secrets(&plan_of(tree.path()));
    assert_eq!((made.action, made.danger.is_some()), (Action::MakeSecrets, true));
    let kept =
        "cluster: {id: ENC}\nsecrets: {bootstraptoken: ENC}\ntrustdinfo: {token: ENC}\ncerts: {etcd: {crt: ENC}}\n";
    std::fs::create_dir_all(tree.path().join("talos")).unwrap();
    std::fs::write(tree.path().join("talos/talsecret.sops.yaml"), kept).unwrap();
    let restored = secrets(&plan_of(tree.path()));
    let action = Action::RestoreSecrets { file: "talos/talsecret.sops.yaml".to_owned() };
    assert_eq!((restored.action, restored.danger), (action, None));
}

#[test]
fn a_release_that_changes_is_the_only_step_that_does() {
    let helmfile = |version: &str| {
        format!(
            "helmDefaults: {{wait: true}}\nreleases:\n  - name: cilium\n    namespace: kube-system\n    chart: oci://example.org/cilium\n    version: 1.0.0\n\n  - name: spegel\n    namespace: kube-system\n    chart: oci://example.org/spegel\n    version: {version}\n    needs:\n      - kube-system/cilium\n"
        )
    };
    let hashes = |helmfile: &str| {
        let tree = bootstrapped();
        std::fs::write(tree.path().join("bootstrap/helmfile.d/01-apps.yaml"), helmfile).unwrap();
        let plan = plan_of(tree.path());
        let of = |name: &str| {
            let step = plan.steps.iter().find(|step| step.key.ends_with(name));
            step.unwrap_or_else(|| panic!("no {name}")).hash.clone()
        };
        (of("/cilium"), of("/spegel"))
    };
    let ((cilium, spegel), (cilium_after, spegel_after)) = (hashes(&helmfile("1.0.0")), hashes(&helmfile("1.1.0")));
    assert_eq!(cilium, cilium_after);
    assert_ne!(spegel, spegel_after);
    let defaults = hashes(&helmfile("1.0.0").replace("wait: true", "wait: false"));
    assert_ne!(cilium, defaults.0, "what all releases have in common is part of each");
}
