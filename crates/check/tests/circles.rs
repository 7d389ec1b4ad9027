//! How a circle is told: every hop in its order, what each is, and which can be removed.

mod story;

use coldstart_check::{Finding, LocationRole};

/// The one circle of a story: what is said beside its lines, the fix and the notes.
fn circle(kind: &str, name: &str) -> Finding {
    let reading = read::read(&story::directory(kind).join(name).join("repo")).expect("a story that can be read");
    let findings = coldstart_check::run(&reading, None).findings;
    let mut circles = findings.into_iter().filter(|finding| finding.rule == "dependency-cycle");
    let first = circles.next().expect("a circle");
    assert!(circles.next().is_none(), "{name} has more than one");
    first
}

fn hops(finding: &Finding) -> Vec<&str> {
    let roles: Vec<LocationRole> = finding.locations.iter().map(|location| location.role).collect();
    assert_eq!(roles.iter().filter(|role| **role == LocationRole::Primary).count(), 1, "{roles:?}");
    finding.locations.iter().map(|location| location.label.as_str()).collect()
}

#[test]
fn what_applies_another_is_a_hop_that_can_not_be_removed() {
    let finding = circle("shapes", "kustomization-waits-for-what-it-applies");
    assert_eq!(
        hops(&finding),
        [
            "flux-system/apps waits for flux-system/network",
            "Kustomization flux-system/network is applied by flux-system/apps"
        ]
    );
    let fix = "remove the dependency in clusters/test/apps.yaml:8, the only one of these edges that can be removed";
    assert_eq!(finding.fix.as_deref(), Some(fix));
}

#[test]
fn gates_are_hops_too() {
    let finding = circle("cases", "17-circle-through-releases");
    assert_eq!(
        hops(&finding),
        [
            "flux-system/back waits for flux-system/front",
            "flux-system/front waits for all that it applies, and so for HelmRelease app/front",
            "app/front waits for app/back",
            "HelmRelease app/back is applied by flux-system/back",
        ]
    );
    let fix = "remove one of these edges: clusters/test/back.yaml:8 or front/app.yaml:30";
    assert_eq!(finding.fix.as_deref(), Some(fix));
    assert_eq!(finding.notes, ["who applies whom is no edge that can be removed"]);
}

#[test]
fn needs_stand_between_the_ties_where_they_belong() {
    let finding = circle("cases", "18-circle-through-a-source");
    assert_eq!(
        hops(&finding),
        [
            "flux-system/sources waits for flux-system/apps",
            "flux-system/apps waits for all that it applies, and so for HelmRelease app/podinfo",
            "app/podinfo needs source flux-system/HelmRepository:podinfo for its chart",
            "only Kustomization flux-system/sources brings source flux-system/HelmRepository:podinfo",
        ]
    );
    let fix = "remove the dependency in clusters/test/sources.yaml:8, the only one of these edges that can be removed";
    assert_eq!(finding.fix.as_deref(), Some(fix));
}

#[test]
fn where_all_can_be_removed_any_may_be() {
    let finding = circle("cases", "16-circle");
    assert_eq!(hops(&finding), ["flux-system/a waits for flux-system/b", "flux-system/b waits for flux-system/a"]);
    assert_eq!((finding.fix.as_deref(), finding.notes.len()), (Some("remove one of these edges"), 0));
}

#[test]
fn two_hops_about_one_line_are_one_sentence() {
    let finding = circle("cases", "52b-namespace-that-a-release-would-make-for-itself");
    assert_eq!(
        hops(&finding),
        [
            "flux-system/app needs Namespace app to be applied into",
            "only HelmRelease app/podinfo brings Namespace app, and is applied by flux-system/app",
        ]
    );
}
