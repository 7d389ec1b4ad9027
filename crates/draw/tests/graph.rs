//! The order of a small cluster, as text and as JSON.

use std::collections::BTreeSet;

use coldstart_draw as draw;
use model::{
    Arrival, Behaviour, Capability, CapabilityKind, Cluster, Component, ComponentId, Gate, Need, ObjectRef, Offer,
    Patience, Phase, Retry, Role, Stage, Tie, TieTarget, WaitsFor,
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
