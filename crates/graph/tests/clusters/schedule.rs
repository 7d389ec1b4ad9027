//! Tiers, estimates and the critical path.

use coldstart_graph::Strength;
use model::{Arrival, Capability, CapabilityKind, Phase};

use crate::sketch::{Story, bootstrap, cluster_wide, kustomization, release, secret, story};

fn tiers(story: &Story) -> Vec<Vec<&str>> {
    let tier = |ids: &Vec<model::ComponentId>| ids.iter().map(|id| story.name(*id)).collect();
    story.analysis.schedule.tiers.iter().map(tier).collect()
}

#[test]
fn a_tie_is_a_tier() {
    let story = story([
        kustomization("network"),
        kustomization("storage").after("network"),
        kustomization("app").after("storage").after("network"),
        kustomization("other"),
    ]);
    assert_eq!(tiers(&story), [vec!["network", "other"], vec!["storage"], vec!["app"]]);
}

#[test]
fn the_critical_path_is_the_slowest_chain() {
    let story = story([
        kustomization("quick").waits().starts_in(10),
        kustomization("slow").waits().starts_in(100),
        kustomization("app").waits().after("quick").after("slow"),
    ]);
    let path: Vec<&str> = story.analysis.schedule.critical_path.iter().map(|id| story.name(*id)).collect();
    assert_eq!(path, ["slow", "app"]);
}

#[test]
fn only_what_waits_is_done_later_than_it_is_applied() {
    let story = story([kustomization("waits").waits().starts_in(100), kustomization("does-not").starts_in(100)]);
    let took = |name: &str| {
        let schedule = &story.analysis.schedule;
        schedule.done(story.id(name)).unwrap() - schedule.start(story.id(name)).unwrap() - 2
    };
    assert_eq!((took("waits"), took("does-not")), (100, 0));
}

#[test]
fn a_kustomization_that_waits_is_done_with_the_last_of_its_releases() {
    let story = story([
        kustomization("parent").waits(),
        release("quick").inside("parent").starts_in(10),
        release("slow").inside("parent").starts_in(100),
    ]);
    let done = |name: &str| story.analysis.schedule.done(story.id(name));
    assert_eq!(done("parent"), done("slow"));
    assert!(done("quick") < done("slow"));
}

#[test]
fn what_waits_for_a_circle_is_on_no_critical_path() {
    let story = story([
        kustomization("a").after("b"),
        kustomization("b").after("a"),
        kustomization("behind").waits().starts_in(1000).after("a"),
        kustomization("alone").waits().starts_in(10),
    ]);
    let path: Vec<&str> = story.analysis.schedule.critical_path.iter().map(|id| story.name(*id)).collect();
    assert_eq!(path, ["alone"]);
}

#[test]
fn flux_starts_when_the_bootstrap_is_done() {
    let story = story([
        bootstrap("network").starts_in(60).offers(cluster_wide(CapabilityKind::PodNetwork, ""), Arrival::Healthy),
        bootstrap("other").starts_in(30),
        kustomization("root"),
        kustomization("app").inside("root").waits().starts_in(10),
    ]);
    let schedule = &story.analysis.schedule;
    let done = |name: &str| schedule.done(story.id(name)).unwrap();
    assert!(schedule.start(story.id("other")).unwrap() >= done("network"), "pods need the network");
    assert!(schedule.start(story.id("root")).unwrap() > done("other"));
    assert_eq!(schedule.critical_path.last(), Some(&story.id("app")));
    assert_eq!(schedule.critical_path.first(), Some(&story.id("network")));
    assert!(schedule.tier(story.id("root")) > schedule.tier(story.id("other")));
}

#[test]
fn what_is_behind_a_circle_has_no_time() {
    let story = story([
        kustomization("a").after("b"),
        kustomization("b").after("a"),
        kustomization("behind").after("a"),
        release("user").needs(secret("made"), Phase::Ready),
        kustomization("maker").after("b").offers(secret("made"), Arrival::Applied),
        kustomization("alone"),
    ]);
    let done = |name: &str| story.analysis.schedule.done(story.id(name));
    assert_eq!(["a", "b", "behind", "maker", "user"].map(done), [None; 5]);
    assert!(done("alone").is_some());
}

#[test]
fn a_program_starts_when_what_it_needs_is_there() {
    let story = story([
        release("store").starts_in(100).offers(secret("made"), Arrival::Healthy),
        release("user").starts_in(10).needs(secret("made"), Phase::Ready),
    ]);
    let done = |name: &str| story.analysis.schedule.done(story.id(name)).unwrap();
    assert_eq!(done("user"), done("store") + 10);
}

/// A host name that a program talks to, against a class that the other can't do its work without.
#[test]
fn a_soft_wait_never_runs_against_a_stronger_one() {
    let service = || Capability::new(CapabilityKind::Service, "flux-system", "metrics");
    let class = || cluster_wide(CapabilityKind::StorageClass, "block");
    for (phase, kept) in [(Phase::Ready, vec![Strength::Hard]), (Phase::Run, vec![])] {
        let mut story = story([
            release("storage").starts_in(300).offers(class(), Arrival::Unreported).needs(service(), Phase::Ready),
            release("metrics").starts_in(60).offers(service(), Arrival::Healthy).needs(class(), phase),
        ]);
        for need in story.cluster.needs.iter_mut().filter(|need| need.capability == service()) {
            need.why = model::Purpose::TalkTo;
        }
        let schedule = coldstart_graph::analyse(&story.cluster).schedule;
        let found: Vec<Strength> = schedule.waits.iter().map(|wait| wait.strength).collect();
        assert_eq!(found, kept, "{phase:?}");
    }
}
