//! How a circle is told: every hop in its order, what each is, and which can be removed.

mod story;

use draw::say::Said;
use fixtures::Shelf;

/// The one circle of a story: what is said beside its lines, the fix and the notes.
fn circle(shelf: Shelf, name: &str) -> Said {
    let reading = story::read(&story::story(shelf, name));
    let findings = coldstart_check::run(&reading, None).findings;
    let mut circles = findings.into_iter().filter(|finding| finding.rule.id == "dependency-cycle");
    let first = circles.next().expect("a circle");
    assert!(circles.next().is_none(), "{name} has more than one");
    draw::say::finding(&first, &reading.repository)
}

fn hops(said: &Said) -> Vec<&str> {
    said.labels.iter().map(String::as_str).collect()
}

#[test]
fn what_applies_another_is_a_hop_that_can_not_be_removed() {
    let finding = circle(Shelf::Shapes, "kustomization-waits-for-what-it-applies");
    assert_eq!(
        hops(&finding),
        [
            "flux-system/apps waits for flux-system/network",
            "Kustomization flux-system/network is applied by flux-system/apps"
        ]
    );
    let fix = "remove the dependency in clusters/test/apps.yaml:8, the only one of these that can be removed";
    assert_eq!(finding.fix.as_deref(), Some(fix));
}

#[test]
fn gates_are_hops_too() {
    let finding = circle(Shelf::Cases, "17-circle-through-releases");
    assert_eq!(
        hops(&finding),
        [
            "flux-system/back waits for flux-system/front",
            "flux-system/front waits for everything it applies, including HelmRelease app/front",
            "app/front waits for app/back",
            "HelmRelease app/back is applied by flux-system/back",
        ]
    );
    let fix = "remove one of these dependencies: clusters/test/back.yaml:8 or front/app.yaml:30";
    assert_eq!(finding.fix.as_deref(), Some(fix));
    assert_eq!(finding.notes, ["which one applies the other can't be changed by removing a dependency"]);
}

#[test]
fn needs_stand_between_the_ties_where_they_belong() {
    let finding = circle(Shelf::Cases, "18-circle-through-a-source");
    assert_eq!(
        hops(&finding),
        [
            "flux-system/sources waits for flux-system/apps",
            "flux-system/apps waits for everything it applies, including HelmRelease app/podinfo",
            "app/podinfo needs source flux-system/HelmRepository:podinfo for its chart",
            "only Kustomization flux-system/sources provides source flux-system/HelmRepository:podinfo",
        ]
    );
    let fix = "remove the dependency in clusters/test/sources.yaml:8, the only one of these that can be removed";
    assert_eq!(finding.fix.as_deref(), Some(fix));
}

#[test]
fn where_all_can_be_removed_any_may_be() {
    let finding = circle(Shelf::Cases, "16-circle");
    assert_eq!(hops(&finding), ["flux-system/a waits for flux-system/b", "flux-system/b waits for flux-system/a"]);
    assert_eq!((finding.fix.as_deref(), finding.notes.len()), (Some("remove one of these dependencies"), 0));
}

#[test]
fn two_hops_about_one_line_are_one_sentence() {
    let finding = circle(Shelf::Cases, "52b-namespace-that-a-release-would-make-for-itself");
    assert_eq!(
        hops(&finding),
        [
            "flux-system/app needs Namespace app to be applied into",
            "only HelmRelease app/podinfo provides Namespace app, and is applied by flux-system/app",
        ]
    );
}
