//! The examples in the simulated world: the sound one always comes up, and what is changed in it changes what happens.

#![expect(clippy::unwrap_used, reason = "a fixture that can not be read fails")]

use std::fs;
use std::path::{Path, PathBuf};

use coldstart_simulate::{
    Blueprint, BootEvent, BootOutcome, Conditions, Fault, Faults, Machines, Probe, Reason, What, World, compile, study,
};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn blueprint(path: &Path) -> Blueprint {
    blueprint_under(path, &Conditions::default())
}

fn from_power_on(path: &Path) -> Blueprint {
    let machines = Some(Machines::default());
    blueprint_under(path, &Conditions { runs_bootstrap: true, machines, ..Conditions::default() })
}

fn blueprint_under(path: &Path, conditions: &Conditions) -> Blueprint {
    let repository = read::Repository::open(path).unwrap();
    let (clusters, catalogue) = read::rendered::render(&repository).unwrap();
    assert_eq!(clusters.len(), 1);
    compile(&clusters, &catalogue, conditions)
}

/// A copy of the sound example, changed.
fn changed(edits: &[(&str, &str, &str)], files: &[(&str, &str)]) -> Blueprint {
    let tree = tempfile::tempdir().unwrap();
    copy(&example("homelab"), tree.path());
    for (file, replace, by) in edits {
        let path = tree.path().join("kubernetes/apps").join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(replace), "{file} has no {replace:?}");
        fs::write(path, text.replacen(replace, by, 1)).unwrap();
    }
    for (file, text) in files {
        fs::write(tree.path().join("kubernetes/apps").join(file), text).unwrap();
    }
    blueprint(tree.path())
}

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            fs::create_dir_all(&target).unwrap();
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// A reason as people read it.
fn say(reason: Reason, of: &Blueprint) -> String {
    reason.named(of).as_ref().map(draw::say::obstacle).unwrap_or_default()
}

fn of<'o>(
    outcome: &'o BootOutcome,
    blueprint: &Blueprint,
    kind: &str,
    path: &str,
) -> &'o coldstart_simulate::FluxOutcome {
    let (namespace, name) = path.split_once('/').unwrap();
    let id = blueprint.find(kind, namespace, name).unwrap();
    outcome.flux.iter().find(|it| it.id == id).unwrap()
}

#[test]
fn the_sound_example_comes_up_in_ten_thousand_boots() {
    const BOOTS: u64 = 10_000;
    const THREADS: u64 = 2;
    let blueprint = blueprint(&example("homelab"));
    assert!(blueprint.assumed.is_empty(), "{:?}", blueprint.assumed);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let blueprint = &blueprint;
            scope.spawn(move || {
                let mut world = World::new(blueprint);
                for seed in (thread..BOOTS).step_by(usize::try_from(THREADS).unwrap()) {
                    let outcome = world.boot(seed, &[]);
                    let causes: Vec<String> = outcome.causes.iter().map(|cause| say(cause.reason, blueprint)).collect();
                    assert!(outcome.converged(), "seed {seed}: {causes:?}");
                    assert!(outcome.left_out.is_empty() && outcome.stale.is_empty(), "seed {seed} lost something");
                }
            });
        }
    });
}

#[test]
fn the_same_seed_gives_the_same_events() {
    let blueprint = blueprint(&example("homelab"));
    let mut world = World::new(&blueprint);
    let (_, once) = world.boot_traced(7, &[Fault::ApiRestart]);
    let _ = world.boot(8, &[]);
    let (_, again) = world.boot_traced(7, &[Fault::ApiRestart]);
    assert_eq!(once, again);
    let (_, fresh) = World::new(&blueprint).boot_traced(7, &[Fault::ApiRestart]);
    assert_eq!(once, fresh);
    let (_, other) = world.boot_traced(8, &[Fault::ApiRestart]);
    assert_ne!(once, other);
}

#[test]
fn without_one_dependency_its_objects_are_refused_and_tried_again() {
    let sound = blueprint(&example("homelab"));
    let less =
        changed(&[("metallb-system/metallb/ks.yaml", "  dependsOn:\n    - name: metallb\n", "  dependsOn: []\n")], &[]);
    let config = |blueprint: &Blueprint, seed: u64| {
        let outcome = World::new(blueprint).boot(seed, &[]);
        assert!(outcome.converged());
        *of(&outcome, blueprint, "Kustomization", "metallb-system/metallb-config")
    };
    for seed in 0..50 {
        assert_eq!(config(&sound, seed).failures, 0, "seed {seed}");
        let refused = config(&less, seed);
        assert!(refused.failures > 0, "seed {seed}");
    }
}

#[test]
fn without_the_order_after_its_operator_a_database_is_refused() {
    let less = changed(&[("database/postgres/ks.yaml", "    - name: cloudnative-pg\n", "")], &[]);
    // proxmox-csi and the stores come later than the operator here: taking those away too leaves nothing to wait for.
    let none = changed(
        &[(
            "database/postgres/ks.yaml",
            "  dependsOn:\n    - name: cloudnative-pg\n    - name: proxmox-csi\n      namespace: csi-proxmox\n    - name: external-secrets-stores\n      namespace: external-secrets\n",
            "",
        )],
        &[],
    );
    let fails = |blueprint: &Blueprint| {
        let outcome = World::new(blueprint).boot(1, &[]);
        assert!(outcome.converged());
        of(&outcome, blueprint, "Kustomization", "database/postgres").failures
    };
    assert_eq!(fails(&less), 0);
    assert!(fails(&none) > 0);
}

#[test]
fn a_custom_resource_beside_its_operator_never_comes_up() {
    let cluster = fs::read_to_string(example("homelab/kubernetes/apps/database/postgres/app/cluster.yaml")).unwrap();
    let beside = changed(
        &[("database/cloudnative-pg/app/kustomization.yaml", "resources:\n", "resources:\n  - ./cluster.yaml\n")],
        &[("database/cloudnative-pg/app/cluster.yaml", &cluster)],
    );
    for seed in 0..20 {
        let outcome = World::new(&beside).boot(seed, &[]);
        assert!(!outcome.converged());
        let operator = of(&outcome, &beside, "Kustomization", "database/cloudnative-pg");
        assert!(matches!(operator.reason, Reason::NoMatch(_)), "{:?}", operator.reason);
        assert!(!of(&outcome, &beside, "HelmRelease", "database/cloudnative-pg").is_ready);
        assert!(!of(&outcome, &beside, "Kustomization", "default/linkding").is_ready);
        // What does not stand on it is up.
        assert!(of(&outcome, &beside, "Kustomization", "rook-ceph/rook-ceph-cluster").is_ready);
    }
}

#[test]
fn without_wait_a_gate_is_none() {
    let open = changed(
        &[("metallb-system/metallb/ks.yaml", "  timeout: 5m\n  wait: true", "  timeout: 5m\n  wait: false")],
        &[],
    );
    let sound = blueprint(&example("homelab"));
    for seed in 0..20 {
        let outcome = World::new(&open).boot(seed, &[]);
        assert!(outcome.converged());
        let config = of(&outcome, &open, "Kustomization", "metallb-system/metallb-config");
        assert!(config.failures > 0, "seed {seed}");
        let outcome = World::new(&sound).boot(seed, &[]);
        assert_eq!(of(&outcome, &sound, "Kustomization", "metallb-system/metallb-config").failures, 0);
    }
}

#[test]
fn a_failed_first_install_is_the_last_one_unless_somebody_asked_for_more() {
    let strategy = "                    strategy:\n                      name: RetryOnFailure\n                      retryInterval: 1m\n";
    let without = changed(&[("../flux/cluster/ks.yaml", strategy, ""), ("../flux/cluster/ks.yaml", strategy, "")], &[]);
    let sound = blueprint(&example("homelab"));
    let faults = [Fault::ApiRestart];
    let stuck = |blueprint: &Blueprint| {
        let mut world = World::new(blueprint);
        (0..100).filter(|seed| !world.boot(*seed, &faults).converged()).count()
    };
    assert_eq!(stuck(&sound), 0);
    assert!(stuck(&without) > 20, "{} of 100", stuck(&without));
}

#[test]
fn a_controller_that_retries_by_default_needs_nobody_to_ask_for_more() {
    let strategy = "                    strategy:\n                      name: RetryOnFailure\n                      retryInterval: 1m\n";
    // The values of Flux' own chart, as a generator puts them into a ConfigMap.
    let with_gate = changed(
        &[
            ("../flux/cluster/ks.yaml", strategy, ""),
            ("../flux/cluster/ks.yaml", strategy, ""),
            (
                "flux-system/flux-instance/app/kustomization.yaml",
                "resources:\n",
                "configMapGenerator:\n  - name: flux-instance-values\n    files: [values.yaml]\nresources:\n",
            ),
        ],
        &[(
            "flux-system/flux-instance/app/values.yaml",
            "instance:\n  kustomize:\n    patches:\n      - patch: |\n          - op: add\n            path: /spec/template/spec/containers/0/args/-\n            value: --feature-gates=DefaultToRetryOnFailure=true\n        target: {kind: Deployment, name: helm-controller}\n",
        )],
    );
    let mut world = World::new(&with_gate);
    for seed in 0..100 {
        assert!(world.boot(seed, &[Fault::ApiRestart]).converged(), "seed {seed}");
    }
}

#[test]
fn what_a_health_check_names_and_no_file_makes_is_taken_to_be_there_but_for_what_people_make() {
    let wait = "  timeout: 5m\n  wait: true\n---";
    let checking = |api: &str, kind: &str| {
        let check = format!("{{apiVersion: {api}, kind: {kind}, name: made-elsewhere, namespace: cert-manager}}");
        let checks = format!("  timeout: 5m\n  healthChecks:\n    - {check}\n---");
        changed(&[("cert-manager/cert-manager/ks.yaml", wait, &checks)], &[])
    };
    let made = checking("example.org/v1", "Widget");
    assert!(made.assumed.contains(&"Widget cert-manager/made-elsewhere".to_owned()), "{:?}", made.assumed);
    let missing = checking("helm.toolkit.fluxcd.io/v2", "HelmRelease");
    assert!(!missing.assumed.iter().any(|what| what.contains("made-elsewhere")), "{:?}", missing.assumed);
}

#[test]
fn a_webhook_that_does_not_answer_is_named_with_those_that_should() {
    let blueprint = blueprint(&example("homelab-broken"));
    let mut world = World::new(&blueprint);
    let mut said: Vec<String> = Vec::new();
    for seed in 0..50 {
        world.start_traced(seed, &[]);
        while world.is_over().is_none() && world.step() {
            let refused = |id: &coldstart_simulate::Id| matches!(world.reason(*id), Reason::WebhookDown(..));
            said.extend(
                blueprint
                    .flux_objects()
                    .filter(refused)
                    .map(|id| draw::say::trace(&world.named_trace(world.reason(id)))),
            );
        }
    }
    let webhook = "webhook of external-secrets/external-secrets";
    let told = format!("failed calling {webhook}: no endpoints available ← the {webhook} waits for Deployment ");
    assert!(said.iter().any(|one| one.contains(&told)), "{said:?}");
}

#[test]
fn a_host_in_what_a_secret_is_filled_with_is_no_need_of_the_secret() {
    let template = "      type: kubernetes.io/basic-auth\n";
    let with_host =
        format!("{template}      data: {{uri: 'postgresql://postgres-rw.database.svc.cluster.local/app'}}\n");
    let blueprint = changed(&[("database/postgres/app/externalsecret.yaml", template, &with_host)], &[]);
    let secret = blueprint.find("ExternalSecret", "database", "postgres-superuser").unwrap();
    let rests_on: Vec<String> =
        blueprint.prerequisites(secret).into_iter().map(|id| blueprint.thing(id).object().to_string()).collect();
    assert!(rests_on.contains(&"ClusterSecretStore vault-backend".to_owned()), "{rests_on:?}");
    assert!(!rests_on.iter().any(|on| on.starts_with("Cluster ")), "{rests_on:?}");
}

#[test]
fn a_certificate_asks_none_of_the_hosts_that_it_is_made_out_to() {
    let file = "network/envoy-gateway/config/certificate.yaml";
    let names = "  dnsNames:\n";
    let more = format!("{names}    - postgres-rw.database.svc.cluster.local\n");
    let blueprint = changed(&[(file, names, &more)], &[]);
    let all = blueprint.flux_objects().flat_map(|id| blueprint.prerequisites(id));
    let certificate = all.into_iter().find(|id| blueprint.thing(*id).kind == "Certificate").unwrap();
    let rests_on: Vec<String> =
        blueprint.prerequisites(certificate).into_iter().map(|id| blueprint.thing(id).object().to_string()).collect();
    assert!(rests_on.iter().any(|on| on.starts_with("ClusterIssuer ")), "{rests_on:?}");
    assert!(!rests_on.iter().any(|on| on.starts_with("Cluster ") || on.starts_with("Service ")), "{rests_on:?}");
}

#[test]
fn from_power_on_every_layer_comes_after_the_one_below() {
    let blueprint = from_power_on(&example("homelab"));
    let mut world = World::new(&blueprint);
    for seed in 0..500 {
        assert!(world.boot(seed, &[]).converged(), "seed {seed}");
    }
    let (_, events) = world.boot_traced(1, &[]);
    let when = |wanted: &dyn Fn(&What) -> bool| events.iter().find(|event| wanted(&event.what)).map(|event| event.at);
    let ready = |kind: &str, path: &str| {
        let (namespace, name) = path.split_once('/').unwrap();
        let id = blueprint.find(kind, namespace, name);
        events.iter().find(|event| event.thing == id && event.what == What::Ready).map(|event| event.at)
    };
    let machine = when(&|what| matches!(what, What::MachineUp(_)));
    let api = when(&|what| *what == What::ApiUp);
    let cilium = ready("DaemonSet", "kube-system/cilium");
    let coredns = ready("Deployment", "kube-system/coredns");
    let flux = when(&|what| *what == What::FluxStarted);
    let apps = ready("Kustomization", "flux-system/cluster-apps");
    let order = [machine, api, cilium, coredns, flux, apps];
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{order:?}");
}

#[test]
fn etcd_can_spare_a_member_once_it_has_three() {
    let blueprint = from_power_on(&example("homelab"));
    let mut world = World::new(&blueprint);
    let (mut early, mut late) = (0, 0);
    for seed in 0..500 {
        let (outcome, events) = world.boot_traced(seed, &[Fault::EtcdMemberLost]);
        let lost = events.iter().find(|event| event.what == What::ApiDown).map(|event| event.at);
        let joined = |event: &&BootEvent| matches!(event.what, What::MemberJoined(_));
        let third = events.iter().filter(joined).nth(2).map(|event| event.at);
        if outcome.converged() {
            late += u32::from(lost > third);
        } else {
            // What Flux had not begun with never begins.
            assert_eq!(world.look(Probe::Etcd).reason, Reason::NoQuorum, "seed {seed}");
            assert!(lost < third.or(Some(u64::MAX)), "seed {seed}");
            early += 1;
        }
    }
    assert!(early > 5 && late > 300, "{early} boots lost a member that could not be spared, {late} one that could");
}

#[test]
fn without_the_key_nothing_that_is_sealed_comes_up() {
    let blueprint = blueprint(&example("homelab"));
    let outcome = World::new(&blueprint).boot(1, &[Fault::KeyLost]);
    assert!(!outcome.converged());
    let sealed = blueprint.find("SealedSecret", "csi-proxmox", "proxmox-csi-plugin").unwrap();
    assert!(outcome.waiting.contains(&sealed));
    let csi = of(&outcome, &blueprint, "HelmRelease", "csi-proxmox/proxmox-csi-plugin");
    assert!(matches!(csi.reason, Reason::InstallTimeout(_)), "{:?}", csi.reason);
}

#[test]
fn a_store_that_is_opened_with_what_it_holds_waits_for_itself() {
    let store = "apiVersion: external-secrets.io/v1\nkind: SecretStore\nmetadata: {name: own, namespace: external-secrets}\nspec: {provider: {vault: {server: https://vault.example, auth: {tokenSecretRef: {name: token, key: token}}}}}\n";
    let secret = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: token, namespace: external-secrets}\nspec: {secretStoreRef: {kind: SecretStore, name: own}, target: {name: token}, dataFrom: [{extract: {key: token}}]}\n";
    let stores = "external-secrets/external-secrets/stores";
    let blueprint = changed(
        &[(&format!("{stores}/kustomization.yaml"), "resources:\n", "resources:\n  - ./own.yaml\n")],
        &[(&format!("{stores}/own.yaml"), &format!("{store}---\n{secret}"))],
    );
    let mut world = World::new(&blueprint);
    assert!(!world.boot(1, &[]).converged());
    let store = blueprint.find("SecretStore", "external-secrets", "own").unwrap();
    assert_eq!(
        draw::say::trace(&world.named_trace(world.look(Probe::Ready(store)).reason)),
        "SecretStore external-secrets/own waits for Secret external-secrets/token ← ExternalSecret \
         external-secrets/token waits for SecretStore external-secrets/own, which in turn waits for it"
    );
}

#[test]
fn whatever_is_not_ready_comes_down_to_a_fact() {
    let blueprint = from_power_on(&example("homelab"));
    let mut world = World::new(&blueprint);
    for seed in 0..10 {
        world.start_traced(seed, &[]);
        let mut seen = 0;
        while world.is_over().is_none() {
            for id in blueprint.flux_objects().filter(|id| world.exists(*id) && !world.is_ready(*id)) {
                let said = draw::say::trace(&world.named_trace(world.look(Probe::Ready(id)).reason));
                let is_open = said.contains(" ← ") && said.ends_with("is not ready yet");
                assert!(!is_open, "seed {seed} at {}: {said}", world.now());
                // What only this world knows has no name that a person could look for.
                let is_internal = ["Gift ", "Maker ", "Nodes "].iter().any(|kind| said.contains(kind));
                assert!(!is_internal, "seed {seed} at {}: {said}", world.now());
                seen += 1;
            }
            world.advance(world.now() + 7_000);
        }
        assert!(seen > 100, "{seen}");
    }
}

#[test]
fn every_fault_ends_in_ready_or_in_a_cause() {
    for blueprint in [blueprint(&example("homelab")), from_power_on(&example("homelab"))] {
        let mut world = World::new(&blueprint);
        for fault in Fault::ALL {
            for seed in 0..30 {
                let outcome = world.boot(seed, &[fault]);
                let has_cause =
                    !outcome.causes.is_empty() || !outcome.waiting.is_empty() || outcome.bootstrap_failed.is_some();
                assert!(outcome.converged() || has_cause, "{} with seed {seed}", fault.name());
            }
        }
    }
}

#[test]
fn faults_that_pass_cost_time_and_nothing_else() {
    let blueprint = blueprint(&example("homelab"));
    let sound = study(&blueprint, 0, 200, &Faults::default());
    for fault in [Fault::GitDown, Fault::WebhookDown, Fault::ClockSkew, Fault::ApiRestart, Fault::ImagePullBackoff] {
        let hit = study(&blueprint, 0, 200, &Faults { these: vec![fault], ..Faults::default() });
        assert_eq!(hit.converged, 200, "{}", fault.name());
        assert!(hit.times.iter().sum::<u64>() > sound.times.iter().sum::<u64>(), "{}", fault.name());
    }
}

#[test]
fn a_cause_names_the_fact_behind_what_its_controller_says() {
    let blueprint = from_power_on(&example("homelab"));
    let study = study(&blueprint, 0, 20, &Faults { these: vec![Fault::KeyLost], ..Faults::default() });
    let facts: Vec<String> =
        study.causes.iter().filter_map(|cause| cause.chain.last()).map(|fact| say(*fact, &blueprint)).collect();
    assert!(facts.iter().any(|fact| fact.ends_with("no key could decrypt secret")), "{facts:?}");
}

#[test]
fn the_broken_example_dies_of_what_was_planted() {
    let blueprint = blueprint(&example("homelab-broken"));
    let study = study(&blueprint, 0, 300, &Faults::default());
    assert_eq!(study.converged, 0);
    let always: Vec<String> = study
        .causes
        .iter()
        .filter(|cause| cause.boots == study.boots)
        .map(|cause| blueprint.thing(cause.id).object().to_string())
        .collect();
    for planted in [
        "Kustomization authentik/authentik",
        "Kustomization observability/alloy",
        "Kustomization volsync-system/storage",
        "Kustomization database/cloudnative-pg",
        "Kustomization default/homepage",
        "Kustomization observability/loki",
        "Kustomization network/dns-records",
        "Kustomization network/k8s-gateway",
        "HelmRelease default/echo",
        "HelmRelease default/miniflux",
    ] {
        assert!(always.iter().any(|one| one == planted), "{planted} is not in {always:?}");
    }
    // Whether two tries of two minutes are enough for a volume from Ceph is a matter of luck.
    let volume = study
        .causes
        .iter()
        .find(|cause| blueprint.thing(cause.id).object().to_string() == "HelmRelease observability/victoria-metrics");
    assert!(volume.is_some_and(|cause| cause.boots < study.boots));
    let hour = 3_600_000;
    for (slow, millis) in [("default/linkding", hour), ("network/certificates", hour), ("default/paperless", hour / 2)]
    {
        let name = format!("Kustomization {slow}");
        let it = study.retried.iter().find(|it| blueprint.thing(it.id).object().to_string() == name).unwrap();
        assert!((it.median.abs_diff(millis)) < 5_000, "{slow}: {}", it.median);
        assert_eq!(it.boots, study.boots, "{slow}");
    }
    let lost: Vec<String> = study.lost.iter().map(|lost| blueprint.thing(lost.of).object().to_string()).collect();
    assert_eq!(lost, ["HelmRelease status-pages/status-page"]);
}
