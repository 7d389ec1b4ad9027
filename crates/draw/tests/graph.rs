//! The order of a small cluster, as text and as JSON.

use std::collections::BTreeSet;

use coldstart_draw as draw;
use model::{
    Arrival, Behaviour, Boot, BootStep, Brings, Capability, CapabilityKind, Cluster, Component, ComponentId, Doing,
    ExpectedNode, Extent, Fact, Gate, Need, ObjectRef, Offer, OrderedBy, Patience, Phase, Proven, Retry, Role, Stage,
    StepId, StepOrder, Tie, TieTarget, WaitsFor,
};
use source::{FileId, Source, Sources, Span};

struct Nowhere;

impl Sources for Nowhere {
    fn path(&self, _: FileId) -> Option<&str> {
        None
    }

    fn source(&self, _: FileId) -> Option<&Source> {
        None
    }
}

fn component(role: Role, name: &str, parent: Option<u32>, gate: Gate) -> Component {
    Component {
        object: ObjectRef::new(role.noun(), "flux-system", name),
        role,
        behaviour: if role == Role::HelmRelease {
            Behaviour::RECONCILED_RELEASE
        } else {
            Behaviour::RECONCILED_IN_STAGES
        },
        stage: Stage::GitOps,
        at: Span::GENERATED,
        parent: parent.map(ComponentId),
        gate,
        gate_at: Span::GENERATED,
        suspended: None,
        patience: Patience {
            timeout_seconds: 300,
            attempts: 1,
            pause_seconds: 0,
            retry: Retry::Every(600),
            retry_at: Span::GENERATED,
            retry_field: Some(model::RetryField::Interval),
        },
        startup_seconds: 40,
        known_as: None,
        path: None,
        ties_at: Span::GENERATED,
        objects: 1,
        ignored_checks: Vec::new(),
        expressions: BTreeSet::new(),
        resource: None,
        target_namespace: None,
    }
}

fn tie(from: u32, to: u32) -> Tie {
    let to = TieTarget::Component(ComponentId(to));
    Tie { from: ComponentId(from), to, at: Span::GENERATED, waits_for: WaitsFor::Done }
}

fn cluster() -> Cluster {
    let object = ObjectRef::new("CustomResourceDefinition", "", "certificates.cert-manager.io");
    let capability = Capability::crd("cert-manager.io", "Certificate");
    Cluster {
        name: "clusters/home".to_owned(),
        components: vec![
            component(Role::Kustomization, "cluster", None, Gate::Applied),
            component(Role::Kustomization, "cilium", Some(0), Gate::Healthy),
            component(Role::Kustomization, "cert-manager", Some(0), Gate::LooksHealthy(Span::GENERATED)),
            component(Role::HelmRelease, "cert-manager", Some(2), Gate::Healthy),
            component(Role::Kustomization, "issuers", Some(0), Gate::Listed(Vec::new())),
        ],
        ties: vec![
            tie(2, 1),
            tie(4, 2),
            Tie { to: TieTarget::Unknown(ObjectRef::new("Kustomization", "flux-system", "gone")), ..tie(4, 0) },
        ],
        offers: vec![Offer {
            by: ComponentId(3),
            capability: capability.clone(),
            arrival: Arrival::Installed,
            object: object.clone(),
            at: Span::GENERATED,
            is_guess: false,
        }],
        needs: vec![
            Need {
                of: ComponentId(4),
                capability,
                phase: Phase::Apply,
                soft: false,
                object: object.clone(),
                at: Span::GENERATED,
                why: model::Purpose::Apply,
                optional: false,
            },
            Need {
                of: ComponentId(4),
                capability: Capability::cluster(CapabilityKind::ClusterDns, ""),
                phase: Phase::Ready,
                soft: true,
                object,
                at: Span::GENERATED,
                why: model::Purpose::LookUpNames,
                optional: false,
            },
        ],
        ..Cluster::default()
    }
}

#[test]
fn tiers_are_easy_to_read() {
    let cluster = cluster();
    let analysis = graph::analyse(&cluster);
    insta::assert_snapshot!(draw::graph_text::tiers(&cluster, &analysis, false));
}

#[test]
fn a_circle_is_named() {
    let mut cluster = cluster();
    cluster.ties.push(tie(1, 4));
    let analysis = graph::analyse(&cluster);
    let text = draw::graph_text::tiers(&cluster, &analysis, false);
    assert!(text.contains("\ndeadlock Kustomization flux-system/"), "{text}");
    let json = draw::graph_json::clusters(&[(&cluster, &analysis)], &Nowhere).unwrap();
    assert!(!json.contains("\"deadlocks\": []"), "{json}");
}

#[test]
fn json_of_a_graph_keeps_its_promise() {
    let cluster = cluster();
    let analysis = graph::analyse(&cluster);
    insta::assert_snapshot!(draw::graph_json::clusters(&[(&cluster, &analysis)], &Nowhere).unwrap());
}

/// Terraform that makes the machines, a helmfile with many releases, and a wait that stops nothing.
fn boot() -> Boot {
    let step = |kind: &str, run: &str, name: &str, does: Doing, after: &[u32], proves: &[(Fact, Extent)]| BootStep {
        object: ObjectRef::new(kind, run, name),
        at: Span::GENERATED,
        does,
        after: after
            .iter()
            .map(|on| StepOrder { on: StepId(*on), at: Span::GENERATED, by: OrderedBy::Sequence })
            .collect(),
        proves: proves.iter().map(|(fact, of)| Proven { fact: *fact, of: *of, at: Span::GENERATED }).collect(),
        awaits: Vec::new(),
        reaches: None,
    };
    let brings = |name: &str, brings: Brings| Doing::Installs { release: name.into(), brings };
    let network = brings("cilium", Brings::PodNetwork { unavailable_max: Some(2) });
    let mut steps = vec![
        step("Terraform", "infra", "vm.node", Doing::MakesMachines, &[], &[]),
        step("Terraform", "infra", "talos_machine_configuration_apply.node", Doing::ConfiguresMachines, &[0], &[]),
        // What follows from another one is not repeated.
        step("Terraform", "infra", "talos_machine_bootstrap.lab", Doing::BootstrapsEtcd, &[0, 1], &[]),
        step("Script", "helmfile.yaml", "cilium", network, &[2], &[(Fact::NetworkRuns, Extent::Some)]),
        step("Script", "apps.sh", "wait", Doing::Waits, &[3], &[(Fact::NodesReady, Extent::Unchecked)]),
    ];
    for (at, name) in (4_u32..).zip(["a", "b", "c", "d", "e"]) {
        steps.push(step("Script", "helmfile.yaml", name, brings(name, Brings::Other), &[at], &[]));
    }
    steps.push(step("Script", "helmfile.yaml", "flux-instance", Doing::StartsGitOps, &[9], &[]));
    let node = |name: &str, is_control_plane| ExpectedNode { name: name.into(), is_control_plane };
    Boot { nodes: vec![node("cp1", true), node("w1", false)], steps, ..Boot::default() }
}

#[test]
fn the_boot_before_gitops_comes_first_with_its_order_and_what_it_shows() {
    let mut cluster = cluster();
    let plain = draw::graph_text::tiers(&cluster, &graph::analyse(&cluster), false);
    cluster.facts.boot = boot();
    let text = draw::graph_text::tiers(&cluster, &graph::analyse(&cluster), false);
    let (head, rest) = plain.split_once('\n').unwrap();
    let between = text.strip_prefix(head).and_then(|text| text.strip_suffix(rest)).expect("the rest is as it was");
    let lines = between.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let told: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    assert_eq!(
        told,
        [
            "before GitOps · 11 steps · 2 machines, 1 control plane · ← comes after",
            "machines 1 creates machines infra/vm.node",
            "talos 2 configures machines infra/talos_machine_configuration_apply.node ← 1",
            "3 bootstraps etcd infra/talos_machine_bootstrap.lab ← 2",
            "network 4 installs the pod network (cilium) helmfile.yaml ← 3",
            "shows the pod network on some nodes",
            "5 waits apps.sh ← 4",
            "shows nothing about Ready nodes: its failure stops nothing",
            "bootstrap 6 installs a, b, c and 2 more helmfile.yaml ← 5",
            "flux 7 starts GitOps helmfile.yaml ← 6",
            "container runtime containerd of Talos, on each machine after 2",
            "control plane kube-apiserver, kube-controller-manager, kube-scheduler, which Talos starts after 3",
        ]
    );
}

#[test]
fn a_boot_of_hundreds_of_steps_is_tens_of_lines() {
    let mut cluster = cluster();
    let mut boot = boot();
    for at in 0..400 {
        let like = boot.steps[if at % 3 == 0 { 4 } else { 6 }].clone();
        let object = ObjectRef::new("Script", format!("script-{at}.sh"), "wait");
        boot.steps.push(BootStep { object, after: Vec::new(), ..like });
    }
    cluster.facts.boot = boot;
    let text = draw::graph_text::tiers(&cluster, &graph::analyse(&cluster), false);
    assert!(text.contains("more steps: see --format json"), "{text}");
    assert!(text.lines().take_while(|line| !line.starts_with("tier 0")).count() < 140);
}

#[test]
fn json_of_a_boot_has_every_step_with_what_says_its_order() {
    let mut cluster = cluster();
    let json = |cluster: &Cluster| -> serde_json::Value {
        let text = draw::graph_json::clusters(&[(cluster, &graph::analyse(cluster))], &Nowhere).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    assert!(json(&cluster)["clusters"][0].get("boot").is_none());
    cluster.facts.boot = boot();
    let told = json(&cluster);
    let boot = &told["clusters"][0]["boot"];
    assert_eq!(boot["nodes"][1], serde_json::json!({"name": "w1", "control_plane": false}));
    assert_eq!(boot["steps"].as_array().map(Vec::len), Some(11));
    let network = &boot["steps"][3];
    assert_eq!((&network["does"], &network["release"]), (&"installs-pod-network".into(), &"cilium".into()));
    assert_eq!(network["after"][0], serde_json::json!({"step": 2, "why": "sequence", "at": null}));
    assert_eq!(network["proves"][0], serde_json::json!({"fact": "network-runs", "extent": "some", "at": null}));
}
