//! When the loss of a provider shows, by what is lost and how: the table of `docs/concepts/impact.md`, and how it spreads.

use coldstart_graph::{Cause, Fate, Impacts, Loss, Onset, onset};
use model::{Arrival, CapabilityKind as Kind, Phase, Purpose};

use crate::sketch::{Story, bootstrap, cluster_wide, crd, kustomization, need, object, release, secret, story};

const ONCE: Option<Onset> = Some(Onset::AtOnce);
const POD: Option<Onset> = Some(Onset::PodStart);
const NEXT: Option<Onset> = Some(Onset::Reconcile);
const COLD: Option<Onset> = Some(Onset::ColdStart);
const NEVER: Option<Onset> = None;

/// Down, restarted, upgraded, and pruned or deleted.
type Row = (Kind, Arrival, Phase, [Option<Onset>; 4]);

const TABLE: [Row; 21] = [
    (Kind::PodNetwork, Arrival::Healthy, Phase::Ready, [ONCE, POD, POD, ONCE]),
    (Kind::ClusterDns, Arrival::Healthy, Phase::Run, [ONCE, ONCE, ONCE, ONCE]),
    (Kind::Service, Arrival::Healthy, Phase::Ready, [ONCE, ONCE, ONCE, ONCE]),
    (Kind::Gateway, Arrival::Unreported, Phase::Ready, [ONCE, ONCE, ONCE, ONCE]),
    (Kind::Service, Arrival::Healthy, Phase::Build, [NEXT, NEXT, NEXT, NEXT]),
    (Kind::StorageClass, Arrival::Applied, Phase::Ready, [POD, POD, POD, POD]),
    (Kind::CsiDriver, Arrival::Healthy, Phase::Run, [POD, POD, POD, POD]),
    (Kind::Device, Arrival::Applied, Phase::Ready, [POD, POD, POD, POD]),
    (Kind::Webhook, Arrival::Healthy, Phase::Apply, [NEXT, NEXT, NEXT, NEVER]),
    (Kind::SecretStore, Arrival::Reported, Phase::Ready, [NEXT, NEXT, NEXT, NEXT]),
    (Kind::Issuer, Arrival::Reported, Phase::Ready, [NEXT, NEXT, NEXT, NEXT]),
    (Kind::Controller, Arrival::Healthy, Phase::Run, [NEXT, NEXT, NEXT, NEXT]),
    (Kind::SealingKey, Arrival::Applied, Phase::Ready, [NEXT, NEXT, NEXT, NEXT]),
    (Kind::Secret, Arrival::Applied, Phase::Ready, [COLD, NEVER, NEVER, POD]),
    (Kind::ConfigMap, Arrival::Applied, Phase::Build, [COLD, NEVER, NEVER, NEXT]),
    (Kind::PersistentVolumeClaim, Arrival::Applied, Phase::Ready, [COLD, NEVER, NEVER, POD]),
    (Kind::Source, Arrival::Applied, Phase::Build, [COLD, NEVER, NEVER, NEXT]),
    (Kind::Crd, Arrival::Applied, Phase::Apply, [COLD, NEVER, NEXT, ONCE]),
    (Kind::Crd, Arrival::Installed, Phase::Apply, [COLD, NEVER, NEXT, COLD]),
    (Kind::Namespace, Arrival::Applied, Phase::Apply, [COLD, NEVER, NEVER, ONCE]),
    (Kind::NodeLabel, Arrival::Healthy, Phase::Ready, [COLD, NEVER, NEVER, COLD]),
];

#[test]
fn a_loss_shows_when_the_table_says() {
    for (kind, arrival, phase, wanted) in TABLE {
        let shows = |loss| onset(loss, kind, arrival, phase, &Purpose::Apply);
        let got = [Loss::Down, Loss::Restarted, Loss::Upgraded, Loss::Deleted].map(shows);
        assert_eq!(got, wanted, "{kind:?} {arrival:?} {phase:?}");
        assert_eq!(shows(Loss::Pruned), shows(Loss::Deleted), "{kind:?} {arrival:?} {phase:?}");
    }
}

#[test]
fn a_backup_is_missed_when_it_is_due() {
    let shows = onset(Loss::Down, Kind::Service, Arrival::Healthy, Phase::Ready, &Purpose::Backups);
    assert_eq!(shows, NEXT);
}

/// Who is affected, when, and what for.
fn affected<'s>(story: &'s Story, of: &str, loss: Loss) -> Vec<(&'s str, Onset)> {
    let impacts = Impacts::new(&story.cluster, &story.analysis);
    let impact = impacts.of(impacts.subject(story.id(of)));
    impact.running[&loss].iter().map(|it| (story.name(it.id), it.onset)).collect()
}

#[test]
fn everything_with_pods_loses_the_network_and_only_new_pods_wait_for_a_restart() {
    let story = story([
        release("cilium").starts_in(60).offers(cluster_wide(Kind::PodNetwork, ""), Arrival::Healthy),
        release("app").starts_in(60),
        kustomization("settings"),
    ]);
    assert_eq!(affected(&story, "cilium", Loss::Down), [("app", Onset::AtOnce)]);
    assert_eq!(affected(&story, "cilium", Loss::Restarted), [("app", Onset::PodStart)]);
    let impacts = Impacts::new(&story.cluster, &story.analysis);
    let impact = impacts.of(impacts.subject(story.id("cilium")));
    assert_eq!(impact.running[&Loss::Down][0].cause, Cause::Network);
}

#[test]
fn what_stops_takes_down_what_needs_it_and_no_sooner() {
    let class = || cluster_wide(Kind::StorageClass, "fast");
    let service = || cluster_wide(Kind::Service, "database");
    let story = story([
        release("csi").offers(class(), Arrival::Healthy),
        release("database").needs(class(), Phase::Ready).offers(service(), Arrival::Healthy),
        release("app").needs(service(), Phase::Ready),
        release("job").wants(need(service(), Phase::Ready).soft()),
    ]);
    // The database runs on until its pod starts again, and so does the app.
    let wanted = [("database", Onset::PodStart), ("app", Onset::PodStart)];
    assert_eq!(affected(&story, "csi", Loss::Down), wanted);
}

#[test]
fn a_second_provider_keeps_everything_up() {
    let story = story([
        release("one").offers(secret("token"), Arrival::Applied),
        release("other").offers(secret("token"), Arrival::Applied),
        release("app").needs(secret("token"), Phase::Ready),
    ]);
    assert_eq!(affected(&story, "one", Loss::Deleted), []);
    let impacts = Impacts::new(&story.cluster, &story.analysis);
    assert!(!impacts.of(impacts.subject(story.id("one"))).cold_start.components.contains_key(&story.id("app")));
}

#[test]
fn custom_resources_go_with_their_crd_unless_helm_leaves_it() {
    let with = |arrival| {
        story([
            release("operator").offers(crd("Cluster"), arrival),
            kustomization("database").needs(crd("Cluster"), Phase::Apply).after("operator"),
        ])
    };
    assert_eq!(affected(&with(Arrival::Applied), "operator", Loss::Deleted), [("database", Onset::AtOnce)]);
    assert_eq!(affected(&with(Arrival::Installed), "operator", Loss::Deleted), []);
}

#[test]
fn what_leaves_git_stays_where_nothing_prunes_it() {
    let parts = || {
        [
            kustomization("apps"),
            release("vault").inside("apps").offers(cluster_wide(Kind::Service, "vault"), Arrival::Healthy),
            release("app").needs(cluster_wide(Kind::Service, "vault"), Phase::Ready),
        ]
    };
    let kept = story(parts());
    assert_eq!(affected(&kept, "vault", Loss::Pruned), []);
    let mut cluster = kept.cluster;
    cluster.facts.prunes.insert(model::ComponentId(0), source::Span::GENERATED);
    let pruned = Story::of(cluster);
    assert_eq!(affected(&pruned, "vault", Loss::Pruned), [("app", Onset::AtOnce)]);
}

#[test]
fn without_a_release_of_the_bootstrap_nothing_comes_up() {
    let story = story([bootstrap("cilium"), kustomization("apps"), release("app").inside("apps")]);
    let impacts = Impacts::new(&story.cluster, &story.analysis);
    let lost = impacts.of(impacts.subject(story.id("cilium"))).cold_start.components;
    let never: Vec<&str> =
        lost.iter().filter(|(_, (fate, _))| *fate == Fate::NeverDone).map(|(id, _)| story.name(*id)).collect();
    assert_eq!(never, ["cilium", "apps", "app"]);
}

#[test]
fn a_webhook_that_was_never_registered_is_not_asked() {
    let webhook = || cluster_wide(Kind::Webhook, "*");
    let story = story([
        release("policies").needs(secret("certificate"), Phase::Ready).offers(webhook(), Arrival::Healthy),
        kustomization("certificates").offers(secret("certificate"), Arrival::Applied),
        kustomization("app").needs(webhook(), Phase::Apply).after("certificates"),
        kustomization("other").needs(webhook(), Phase::Apply),
    ]);
    let impacts = Impacts::new(&story.cluster, &story.analysis);
    let lost = |name| impacts.of(impacts.subject(story.id(name))).cold_start.components;
    assert!(!lost("policies").contains_key(&story.id("other")));
    // Registered, and without its certificate it does not answer.
    assert!(lost("certificates").contains_key(&story.id("other")));
}

#[test]
fn an_object_of_a_gate_is_the_object_that_is_looked_at() {
    let story = story([
        kustomization("operators").needs(secret("token"), Phase::Ready).offers_by(
            object("Deployment", "operator"),
            cluster_wide(Kind::Service, "operator"),
            Arrival::Healthy,
        ),
        kustomization("tokens").offers(secret("token"), Arrival::Applied),
        kustomization("app").checks(&[object("Deployment", "operator")]),
    ]);
    let impacts = Impacts::new(&story.cluster, &story.analysis);
    let lost = impacts.of(impacts.subject(story.id("tokens"))).cold_start.components;
    assert!(!lost.contains_key(&story.id("app")), "the Deployment does not need the token");
    assert!(impacts.of(impacts.subject(story.id("operators"))).cold_start.components.contains_key(&story.id("app")));
}
