//! One story per verdict, and per way to get there.

use model::{Arrival, CapabilityKind, Consequence, Gate, Phase, Verdict, WaitsFor};
use source::Span;

use crate::sketch::{
    Part, Story, bootstrap, cluster_wide, crd, kustomization, need, object, release, resource_set, secret, story,
};

/// An operator's release, which brings a kind with its chart.
fn operator() -> Part {
    release("operator").inside("eso").offers(crd("ExternalSecret"), Arrival::Installed)
}

/// A Kustomization that applies an object of that kind.
fn app() -> Part {
    kustomization("app").needs(crd("ExternalSecret"), Phase::Apply)
}

fn store() -> model::Capability {
    cluster_wide(CapabilityKind::SecretStore, "vault")
}

#[test]
fn without_a_tie_it_is_unordered() {
    let story = story([kustomization("eso").waits(), operator(), app()]);
    assert_eq!(story.verdict("app"), Verdict::Unordered);
    assert_eq!(story.offered_by("app"), Some("operator"));
}

#[test]
fn a_tie_to_what_does_not_wait_is_applied_only() {
    let story = story([kustomization("eso"), operator(), app().after("eso")]);
    assert_eq!(story.verdict("app"), Verdict::AppliedOnly);
    assert_eq!(story.weak_gate("app"), Some("eso"));
}

#[test]
fn a_tie_to_what_waits_is_a_guarantee() {
    let story = story([kustomization("eso").waits(), operator(), app().after("eso")]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed);
    assert_eq!(story.weak_gate("app"), None);
}

#[test]
fn a_hop_in_between_need_only_order() {
    let story =
        story([kustomization("eso").waits(), operator(), kustomization("stores").after("eso"), app().after("stores")]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed);
}

#[test]
fn the_last_hop_must_prove_it() {
    let story = story([
        kustomization("stores").offers_by(object("ClusterSecretStore", "vault"), store(), Arrival::Reported),
        kustomization("app").after("stores").needs(store(), Phase::Ready),
    ]);
    assert_eq!(story.verdict("app"), Verdict::AppliedOnly);
    assert_eq!(story.consequence("app"), Consequence::Noise, "an ExternalSecret asks again");
}

#[test]
fn expressions_without_a_gate_are_falsely_ready() {
    let eso = kustomization("eso").gate(Gate::LooksHealthy(Span::GENERATED));
    let story = story([eso, operator(), app().after("eso")]);
    assert_eq!(story.verdict("app"), Verdict::FalselyReady);
    assert_eq!(story.weak_gate("app"), Some("eso"));
}

#[test]
fn a_health_check_on_the_release_is_a_guarantee() {
    let eso = kustomization("eso").checks(&[object("HelmRelease", "operator")]);
    let story = story([eso, operator(), app().after("eso")]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed);
}

#[test]
fn a_health_check_on_a_workload_stands_for_the_release_it_is_named_after() {
    let eso = kustomization("eso").checks(&[object("Deployment", "operator-webhook")]);
    let webhook = cluster_wide(CapabilityKind::Webhook, "operator");
    let story = story([
        eso,
        release("operator").inside("eso").offers(webhook.clone(), Arrival::Healthy),
        kustomization("app").after("eso").needs(webhook, Phase::Apply),
    ]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed);
}

#[test]
fn a_health_check_that_wait_switches_off_is_falsely_ready() {
    let cluster_issuer = cluster_wide(CapabilityKind::Issuer, "letsencrypt");
    let story = story([
        kustomization("issuers").offers_by(
            object("ClusterIssuer", "letsencrypt"),
            cluster_issuer.clone(),
            Arrival::Reported,
        ),
        kustomization("eso").waits().ignores_its_check_of(object("ClusterIssuer", "letsencrypt")),
        kustomization("app").after("eso").needs(cluster_issuer, Phase::Ready),
    ]);
    assert_eq!(story.verdict("app"), Verdict::FalselyReady);
    assert_eq!(story.weak_gate("app"), Some("eso"));
}

#[test]
fn a_resource_beside_the_release_of_its_kind_is_deadlocked() {
    let story = story([kustomization("eso").needs(crd("ExternalSecret"), Phase::Apply), operator()]);
    assert_eq!(story.verdict("eso"), Verdict::Deadlocked);
    assert_eq!(story.consequence("eso"), Consequence::Deadlock);
}

#[test]
fn a_resource_beside_the_manifest_of_its_kind_is_guaranteed() {
    let eso = kustomization("eso").offers(crd("ExternalSecret"), Arrival::Applied);
    let story = story([eso.needs(crd("ExternalSecret"), Phase::Apply)]);
    assert_eq!(story.verdict("eso"), Verdict::Guaranteed);
}

#[test]
fn what_the_bootstrap_installed_before_is_bootstrap_only() {
    let story = story([
        kustomization("eso").needs(crd("ExternalSecret"), Phase::Apply),
        operator(),
        bootstrap("crds").offers(crd("ExternalSecret"), Arrival::Applied),
    ]);
    assert_eq!(story.verdict("eso"), Verdict::BootstrapOnly);
    assert_eq!(story.offered_by("eso"), Some("crds"));
    assert!(story.deadlocks().is_empty(), "the bootstrap breaks the circle");
}

#[test]
fn what_flux_brings_is_not_there_for_the_bootstrap() {
    let story = story([
        kustomization("eso").offers(crd("ExternalSecret"), Arrival::Applied),
        bootstrap("seed").needs(crd("ExternalSecret"), Phase::Apply),
    ]);
    assert_eq!(story.verdict("seed"), Verdict::Unoffered);
}

#[test]
fn siblings_below_one_parent_are_ordered_by_their_own_ties() {
    let story = story([
        kustomization("cluster"),
        kustomization("eso").inside("cluster").waits(),
        operator(),
        app().inside("cluster").after("eso"),
    ]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed);
}

#[test]
fn a_tie_to_nothing_orders_nothing() {
    let story = story([kustomization("eso").waits(), operator(), app().after("eos")]);
    assert_eq!(story.verdict("app"), Verdict::Unordered);
}

#[test]
fn what_is_suspended_offers_nothing() {
    let story = story([kustomization("eso").waits().suspended(), operator(), app().after("eso")]);
    assert_eq!(story.verdict("app"), Verdict::Unoffered, "nor does what it would apply");
}

#[test]
fn what_nothing_brings_is_unoffered() {
    let key = cluster_wide(CapabilityKind::SealingKey, "");
    let story = story([kustomization("app").needs(key, Phase::Ready)]);
    assert_eq!(story.verdict("app"), Verdict::Unoffered);
    assert_eq!(story.consequence("app"), Consequence::Nothing);
}

#[test]
fn what_every_cluster_has_is_guaranteed() {
    let namespace = |name| cluster_wide(CapabilityKind::Namespace, name);
    for given in [
        namespace("kube-system"),
        namespace("flux-system"),
        cluster_wide(CapabilityKind::PriorityClass, "system-node-critical"),
    ] {
        let story = story([kustomization("app").needs(given.clone(), Phase::Apply)]);
        assert_eq!(story.verdict("app"), Verdict::Guaranteed, "{given}");
    }
    let story = story([kustomization("app").needs(namespace("apps"), Phase::Apply)]);
    assert_eq!(story.verdict("app"), Verdict::Unoffered);
}

#[test]
fn a_tie_to_mere_existence_is_exists_only() {
    let story = story([
        kustomization("cluster"),
        kustomization("eso").inside("cluster").waits().offers(crd("ExternalSecret"), Arrival::Installed),
        resource_set("app").after_a("eso", WaitsFor::Exists).needs(crd("ExternalSecret"), Phase::Apply),
    ]);
    assert_eq!(story.verdict("app"), Verdict::ExistsOnly);
    assert_eq!(story.weak_gate("app"), Some("eso"));
}

#[test]
fn a_tie_by_an_expression_orders_as_any_other() {
    let story = story([kustomization("eso").waits(), operator(), app().after_a("eso", WaitsFor::Opaque)]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed);
}

#[test]
fn a_gate_on_what_never_reports_is_falsely_ready() {
    let sealed = object("SealedSecret", "variables");
    let story = story([
        kustomization("secrets").waits().offers_by(sealed, secret("variables"), Arrival::Unreported),
        kustomization("app").after("secrets").needs(secret("variables"), Phase::Build),
    ]);
    assert_eq!(story.verdict("app"), Verdict::FalselyReady);
    assert!(!story.judged("app").early, "it is not a matter of moments");
}

#[test]
fn a_gate_on_what_reports_later_may_open_a_moment_too_early() {
    let stores = || {
        let vault = object("ClusterSecretStore", "vault");
        kustomization("stores").waits().offers_by(vault, store(), Arrival::Reported)
    };
    let needs = || kustomization("app").after("stores").needs(store(), Phase::Ready);
    let judged = |story: &Story| (story.verdict("app"), story.judged("app").early);
    assert_eq!(judged(&story([stores(), needs()])), (Verdict::FalselyReady, true));
    let told = stores().judges_by_expression("ClusterSecretStore");
    assert_eq!(judged(&story([told, needs()])), (Verdict::Guaranteed, false));
}

#[test]
fn a_window_of_moments_is_better_than_the_luck_of_the_bootstrap() {
    let vault = object("ClusterSecretStore", "vault");
    let story = story([
        kustomization("stores").waits().offers_by(vault, store(), Arrival::Reported),
        bootstrap("seed").offers(store(), Arrival::Applied),
        kustomization("app").after("stores").needs(store(), Phase::Ready),
    ]);
    assert_eq!((story.verdict("app"), story.judged("app").early), (Verdict::FalselyReady, true));
    assert_eq!(story.offered_by("app"), Some("stores"));
}

#[test]
fn of_several_offers_the_best_counts() {
    let story = story([
        kustomization("other").offers(crd("ExternalSecret"), Arrival::Applied),
        kustomization("eso").waits(),
        operator(),
        app().after("eso"),
    ]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed);
    assert_eq!(story.offered_by("app"), Some("operator"));
}

#[test]
fn static_objects_need_no_gate() {
    let settings = model::Capability::new(CapabilityKind::ConfigMap, "flux-system", "settings");
    let story = story([
        kustomization("settings").offers(settings.clone(), Arrival::Applied),
        kustomization("app").after("settings").needs(settings, Phase::Build),
    ]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed, "applied is all there is");
}

#[test]
fn a_build_can_not_need_what_comes_out_of_it() {
    let story = story([kustomization("app")
        .offers(secret("variables"), Arrival::Applied)
        .needs(secret("variables"), Phase::Build)]);
    assert_eq!(story.verdict("app"), Verdict::BootstrapOnly, "only an earlier installation breaks that circle");
}

#[test]
fn what_a_component_applies_it_may_need_later() {
    let story = story([kustomization("eso").needs(crd("ExternalSecret"), Phase::Ready), operator()]);
    assert_eq!(story.verdict("eso"), Verdict::Guaranteed, "its own retry");
}

#[test]
fn a_release_and_its_values_in_one_kustomization_are_retried_together() {
    let sealed = object("SealedSecret", "values");
    let story = story([
        kustomization("app").offers_by(sealed, secret("values"), Arrival::Unreported),
        release("web").inside("app").needs(secret("values"), Phase::Build),
    ]);
    assert_eq!((story.verdict("web"), story.consequence("web")), (Verdict::Guaranteed, Consequence::Noise));
}

#[test]
fn helm_does_not_wait_for_the_custom_resources_of_a_chart() {
    let postgres = object("Cluster", "postgres");
    let service = model::Capability::new(CapabilityKind::Service, "db", "postgres-rw");
    let story = story([
        kustomization("db").waits(),
        release("postgres").inside("db").made_of(postgres.clone()).offers_by(
            postgres,
            service.clone(),
            Arrival::Reported,
        ),
        kustomization("app").after("db").needs(service, Phase::Run),
    ]);
    assert_eq!(story.verdict("app"), Verdict::FalselyReady);
    assert_eq!(story.weak_gate("app"), Some("db"), "who applies the release could wait for its resource");
}

#[test]
fn a_gate_that_names_the_workload_behind_a_service_proves_the_service() {
    let service = model::Capability::new(CapabilityKind::Service, "flux-system", "postgres");
    let story = story([
        kustomization("db").checks(&[object("StatefulSet", "postgres")]).offers_by(
            object("Cluster", "pg"),
            service.clone(),
            Arrival::Unreported,
        ),
        kustomization("app").after("db").needs(service, Phase::Run),
    ]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed);
}

#[test]
fn a_gate_that_names_the_definition_proves_the_kind() {
    let definition = model::ObjectRef::new("CustomResourceDefinition", "", "externalsecrets.example.org");
    let story = story([kustomization("eso").checks(&[definition]), operator(), app().after("eso")]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed);
}

#[test]
fn whoever_used_a_kind_before_has_shown_that_it_is_there() {
    let story = story([
        kustomization("eso").waits(),
        operator(),
        kustomization("stores").after("eso").needs(crd("ExternalSecret"), Phase::Apply),
        app().after("stores"),
    ]);
    assert_eq!(story.verdict("app"), Verdict::Guaranteed);
}

#[test]
fn what_holds_only_because_another_fails_does_not_hold() {
    let story = story([
        kustomization("eso").waits(),
        operator(),
        kustomization("stores").needs(crd("ExternalSecret"), Phase::Apply),
        app().after("stores"),
    ]);
    assert_eq!(story.verdict("stores"), Verdict::Unordered);
    assert_eq!(story.verdict("app"), Verdict::Unordered);
    assert!(story.judged("app").holds_by_failure);
    assert!(!story.judged("stores").holds_by_failure);
}

#[test]
fn a_release_of_the_bootstrap_that_does_not_wait_proves_little() {
    let dns = cluster_wide(CapabilityKind::ClusterDns, "");
    let story = story([
        bootstrap("coredns").does_not_wait().offers(dns.clone(), Arrival::Healthy),
        bootstrap("cert-manager").after("coredns").needs(dns, Phase::Ready),
    ]);
    assert_eq!(story.verdict("cert-manager"), Verdict::AppliedOnly);
    assert_eq!(story.consequence("cert-manager"), Consequence::Terminal { certain: false });
}

#[test]
fn a_soft_need_gets_its_verdict_all_the_same() {
    let monitor = crd("ServiceMonitor");
    let story = story([
        kustomization("monitoring").offers(monitor.clone(), Arrival::Applied),
        release("web").wants(need(monitor, Phase::Apply).soft()),
    ]);
    assert_eq!(story.verdict("web"), Verdict::Unordered);
}
