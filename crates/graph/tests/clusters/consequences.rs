//! What losing the race costs: one story per row of the table, by who needs it and when.

use model::{Arrival, Capability, CapabilityKind, Consequence, Phase, Retry, WaitsFor};

use crate::sketch::{
    MINUTE, Part, RETRY_SECONDS, Story, TIMEOUT_SECONDS, bootstrap, cluster_wide, crd, kustomization, need, object,
    release, secret, sketch, story,
};

/// Controllers that back off double their pause up to this.
const BACKOFF_SECONDS_MAX: u64 = 15 * MINUTE;
/// Taking a failed install away and installing again.
const REINSTALL_SECONDS: u64 = MINUTE;
/// Applying takes this long by the estimates.
const APPLY_SECONDS: u64 = 2;

fn storage_class() -> Capability {
    cluster_wide(CapabilityKind::StorageClass, "fast")
}

/// A driver whose class is there this long after it was applied, and a user that nothing orders after it.
fn driver_and(user: Part, seconds: u64) -> Consequence {
    let driver = kustomization("csi").starts_in(seconds).offers(storage_class(), Arrival::Healthy);
    story([driver, user]).consequence("user")
}

#[test]
fn a_guarantee_costs_nothing() {
    let story = story([
        kustomization("crds").offers(crd("Widget"), Arrival::Applied),
        kustomization("app").after("crds").needs(crd("Widget"), Phase::Apply),
    ]);
    assert_eq!(story.consequence("app"), Consequence::Nothing);
}

#[test]
fn the_luck_of_the_bootstrap_costs_nothing_today() {
    let story = story([
        bootstrap("seed").offers(secret("variables"), Arrival::Applied),
        kustomization("app").needs(secret("variables"), Phase::Build),
    ]);
    assert_eq!(story.consequence("app"), Consequence::Nothing);
}

#[test]
fn a_circle_never_converges() {
    let story = story([
        kustomization("eso").needs(crd("Widget"), Phase::Apply),
        release("operator").inside("eso").offers(crd("Widget"), Arrival::Installed),
    ]);
    assert_eq!(story.consequence("eso"), Consequence::Deadlock);
}

#[test]
fn a_kustomization_that_can_not_be_built_or_applied_waits_for_its_next_try() {
    for (capability, phase) in [
        (secret("variables"), Phase::Build),
        (crd("Widget"), Phase::Apply),
        (cluster_wide(CapabilityKind::Webhook, "kyverno"), Phase::Apply),
        (cluster_wide(CapabilityKind::Namespace, "apps"), Phase::Apply),
    ] {
        let consequence = |app: Part| {
            story([
                kustomization("other").offers(capability.clone(), Arrival::Healthy),
                app.needs(capability.clone(), phase),
            ])
            .consequence("app")
        };
        assert_eq!(consequence(kustomization("app")), Consequence::Slow { seconds: RETRY_SECONDS }, "{capability}");
        let hourly = kustomization("app").retries_every(60 * MINUTE);
        assert_eq!(consequence(hourly), Consequence::Slow { seconds: 60 * MINUTE }, "{capability}");
    }
}

#[test]
fn a_flux_that_watches_what_a_build_names_is_woken_by_it() {
    let parts = || {
        [
            kustomization("secrets").offers(secret("variables"), Arrival::Reported),
            kustomization("app").needs(secret("variables"), Phase::Build),
        ]
    };
    assert_eq!(story(parts()).consequence("app"), Consequence::Slow { seconds: RETRY_SECONDS });
    let mut cluster = sketch(parts());
    cluster.facts.watches_settings = true;
    assert_eq!(Story::of(cluster).consequence("app"), Consequence::Noise);
}

#[test]
fn what_is_optional_is_left_out_in_silence() {
    let left_out = |part: Part, want| {
        story([
            kustomization("other").offers(secret("x"), Arrival::Reported).offers(crd("Widget"), Arrival::Applied),
            part.wants(want),
        ])
        .consequence("app")
    };
    let build = || need(secret("x"), Phase::Build).optional();
    assert_eq!(left_out(kustomization("app"), build()), Consequence::Silent, "built without the variables");
    let apply = need(crd("Widget"), Phase::Apply).optional();
    assert_eq!(left_out(release("app"), apply), Consequence::Silent, "rendered without what asks for the kind");
    let run = need(secret("x"), Phase::Run).optional();
    assert_eq!(left_out(kustomization("app"), run), Consequence::Noise, "looked for again");
}

#[test]
fn a_kustomization_that_waits_has_its_timeout_to_spare() {
    let user = || {
        let claim = object("PersistentVolumeClaim", "data");
        kustomization("user").waits().wants(need(storage_class(), Phase::Ready).by(claim))
    };
    // Both are applied at once: it waits as long as the driver takes to start.
    let spare_seconds = TIMEOUT_SECONDS - 2 * MINUTE;
    assert_eq!(driver_and(user(), 2 * MINUTE), Consequence::Safe { spare_seconds });
    let seconds = TIMEOUT_SECONDS + RETRY_SECONDS;
    assert_eq!(driver_and(user(), 8 * MINUTE), Consequence::Slow { seconds });
    let quick = user().times_out_after(MINUTE);
    assert_eq!(driver_and(quick, 2 * MINUTE), Consequence::Slow { seconds: MINUTE + RETRY_SECONDS });
}

#[test]
fn a_gate_does_not_see_what_counts_as_healthy_from_the_start() {
    let certificate = object("Certificate", "web");
    let user = kustomization("user").waits().wants(need(storage_class(), Phase::Ready).by(certificate));
    assert_eq!(driver_and(user, 8 * MINUTE), Consequence::Noise);
}

#[test]
fn a_kustomization_that_does_not_wait_only_makes_noise() {
    assert_eq!(driver_and(kustomization("user").needs(storage_class(), Phase::Ready), 60 * MINUTE), Consequence::Noise);
    assert_eq!(driver_and(kustomization("user").needs(storage_class(), Phase::Run), 60 * MINUTE), Consequence::Noise);
}

#[test]
fn a_chart_whose_values_are_not_there_is_tried_again_soon() {
    let values = story([
        kustomization("secrets").starts_in(MINUTE).offers(secret("values"), Arrival::Reported),
        release("app").needs(secret("values"), Phase::Build),
    ]);
    assert_eq!(values.consequence("app"), Consequence::Noise);
    let store = story([
        kustomization("other").starts_in(60 * MINUTE).offers(crd("Widget"), Arrival::Healthy),
        release("app").needs(crd("Widget"), Phase::Build),
    ]);
    assert_eq!(store.consequence("app"), Consequence::Slow { seconds: BACKOFF_SECONDS_MAX });
}

#[test]
fn a_chart_whose_kind_is_missing_backs_off_as_long_as_it_has_waited() {
    let installed_after = |seconds| {
        story([
            kustomization("monitoring").starts_in(seconds).offers(crd("Widget"), Arrival::Healthy),
            release("app").needs(crd("Widget"), Phase::Apply),
        ])
        .consequence("app")
    };
    assert_eq!(installed_after(1), Consequence::Slow { seconds: REINSTALL_SECONDS });
    assert_eq!(installed_after(5 * MINUTE), Consequence::Slow { seconds: 5 * MINUTE + APPLY_SECONDS });
    assert_eq!(installed_after(60 * MINUTE), Consequence::Slow { seconds: BACKOFF_SECONDS_MAX });
}

#[test]
fn a_chart_that_a_webhook_refuses_has_failed() {
    let webhook = || cluster_wide(CapabilityKind::Webhook, "kyverno");
    let refused = |app: Part| {
        story([
            kustomization("kyverno").starts_in(MINUTE).offers(webhook(), Arrival::Healthy),
            app.needs(webhook(), Phase::Apply),
        ])
        .consequence("app")
    };
    assert_eq!(refused(release("app")), Consequence::Terminal { certain: false }, "only in a short window");
    assert_eq!(refused(release("app").retries_every(RETRY_SECONDS)), Consequence::Slow { seconds: RETRY_SECONDS });
    let outlasts = release("app").tries(4, MINUTE);
    assert_eq!(refused(outlasts), Consequence::Slow { seconds: MINUTE }, "its last try is made when it answers");
}

#[test]
fn a_release_has_its_timeout_to_spare_and_then_fails_for_good() {
    let user = || release("user").needs(storage_class(), Phase::Ready);
    assert_eq!(driver_and(user(), 2 * MINUTE), Consequence::Safe { spare_seconds: TIMEOUT_SECONDS - 2 * MINUTE });
    // Its own pods start only then, and within the same time.
    let slow = user().starts_in(MINUTE);
    assert_eq!(driver_and(slow, 2 * MINUTE), Consequence::Safe { spare_seconds: TIMEOUT_SECONDS - 3 * MINUTE });
    assert_eq!(driver_and(user(), 6 * MINUTE), Consequence::Terminal { certain: false });
    assert_eq!(driver_and(user(), 8 * MINUTE), Consequence::Terminal { certain: true });
}

#[test]
fn a_release_that_retries_on_failure_is_only_slow() {
    let user = release("user").retries_every(RETRY_SECONDS).needs(storage_class(), Phase::Ready);
    assert_eq!(driver_and(user, 8 * MINUTE), Consequence::Slow { seconds: RETRY_SECONDS });
}

#[test]
fn a_release_with_tries_left_takes_the_failed_one_away() {
    let user = release("user").tries(3, 0).needs(storage_class(), Phase::Ready);
    assert_eq!(driver_and(user, 8 * MINUTE), Consequence::Slow { seconds: REINSTALL_SECONDS });
}

#[test]
fn a_release_that_does_not_wait_only_makes_noise() {
    let user = release("user").does_not_wait().needs(storage_class(), Phase::Ready);
    assert_eq!(driver_and(user, 60 * MINUTE), Consequence::Noise);
    assert_eq!(driver_and(release("user").needs(storage_class(), Phase::Run), 60 * MINUTE), Consequence::Noise);
}

#[test]
fn a_weak_gate_mostly_gives_time() {
    let label = || cluster_wide(CapabilityKind::NodeLabel, "zone");
    let story = story([
        kustomization("cloud"),
        release("ccm").inside("cloud").starts_in(20 * MINUTE).offers(label(), Arrival::Healthy),
        kustomization("storage").after("cloud"),
        release("csi").inside("storage").needs(label(), Phase::Ready),
    ]);
    assert_eq!(story.consequence("csi"), Consequence::Terminal { certain: false }, "however long it takes");
}

#[test]
fn a_store_that_was_asked_too_early_is_asked_again_about_as_late() {
    let store = || cluster_wide(CapabilityKind::SecretStore, "vault");
    let asked_for = |seconds| {
        let stores = kustomization("stores").starts_in(seconds);
        story([
            stores.offers_by(object("ClusterSecretStore", "vault"), store(), Arrival::Reported),
            kustomization("app").needs(store(), Phase::Ready),
        ])
        .consequence("app")
    };
    assert_eq!(asked_for(1), Consequence::Slow { seconds: MINUTE });
    assert_eq!(asked_for(5 * MINUTE), Consequence::Slow { seconds: 5 * MINUTE });
    assert_eq!(asked_for(60 * MINUTE), Consequence::Slow { seconds: BACKOFF_SECONDS_MAX });
}

#[test]
fn a_bootstrap_that_fails_stops() {
    let mut cluster = sketch([
        bootstrap("dns").offers(crd("Widget"), Arrival::Applied),
        bootstrap("app").needs(crd("Widget"), Phase::Apply),
    ]);
    assert_eq!(cluster.components[1].patience.retry, Retry::Never);
    assert_eq!(Story::of(cluster.clone()).consequence("app"), Consequence::Terminal { certain: false });
    cluster.components[1].patience.retry = Retry::Every(MINUTE);
    assert_eq!(Story::of(cluster).consequence("app"), Consequence::Slow { seconds: MINUTE });
}

#[test]
fn mere_existence_costs_as_much_as_no_order() {
    let story = story([
        kustomization("cluster"),
        kustomization("other").inside("cluster").offers(crd("Widget"), Arrival::Healthy),
        kustomization("app").after_a("other", WaitsFor::Exists).needs(crd("Widget"), Phase::Apply),
    ]);
    assert_eq!(story.consequence("app"), Consequence::Slow { seconds: RETRY_SECONDS });
}

#[test]
fn only_what_heals_or_costs_nothing_has_a_price_in_seconds() {
    assert_eq!(Consequence::Slow { seconds: 7 }.cost_seconds(), Some(7));
    for free in [Consequence::Noise, Consequence::Nothing, Consequence::Safe { spare_seconds: 7 }] {
        assert_eq!(free.cost_seconds(), Some(0));
    }
    for lasting in [Consequence::Deadlock, Consequence::Terminal { certain: true }, Consequence::Silent] {
        assert_eq!(lasting.cost_seconds(), None);
    }
}
