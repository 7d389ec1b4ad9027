use serde_json::json;

use super::*;

fn reference(kind: &str, name: &str) -> Reference {
    let kind = (!kind.is_empty()).then(|| kind.to_owned());
    Reference { kind, namespace: Some("any".to_owned()), name: Some(name.to_owned()) }
}

fn order(object: &str, added: &[&str]) -> Case {
    let added: Vec<_> = added.iter().map(|name| json!({"kind": "Kustomization", "name": name})).collect();
    let case = json!({
        "id": "1", "repo": "o/n", "parent": "p", "kind": "dep-added", "tool": "flux", "tier": 1, "weight": 0.5,
        "evidence_class": "crd", "object": {"kind": "Kustomization", "name": object}, "added": added,
    });
    serde_json::from_value(case).unwrap()
}

fn gate(object: &str) -> Case {
    Case { kind: "gate-added".to_owned(), ..order(object, &[]) }
}

fn finding(rule: &str, object: Option<Reference>, missing: Option<Reference>) -> Finding {
    let lack = if UNGATED_RULES.contains(&rule) { "ungated" } else { "missing" };
    Finding {
        object,
        missing,
        lack: lack.to_owned(),
        severity: "info".to_owned(),
        rule: rule.to_owned(),
        ..Finding::default()
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a side of a finding is optional")]
fn ks(name: &str) -> Option<Reference> {
    Some(reference("Kustomization", name))
}

#[test]
fn an_order_is_hit_by_name_and_kind() {
    let case = order("sonarr", &["rook", "stores"]);
    let judged = |finding| judge(&case, &[finding]);
    assert_eq!(judged(finding("missing-dependency", ks("sonarr"), ks("stores"))), Outcome::Hit);
    assert_eq!(judged(finding("ungated-dependency", ks("sonarr"), ks("rook"))), Outcome::Hit);
    let kindless = finding("missing-dependency", Some(reference("", "sonarr")), Some(reference("", "rook")));
    assert_eq!(judged(kindless), Outcome::Hit);
    assert_eq!(judged(finding("slow-retry", ks("sonarr"), None)), Outcome::OnObject);
    let release = Some(reference("HelmRelease", "sonarr"));
    assert_eq!(judged(finding("missing-dependency", release, ks("rook"))), Outcome::Nothing);
    assert_eq!(judge(&case, &[]), Outcome::Nothing);
}

#[test]
fn a_release_is_lifted_by_the_kustomizations_that_apply_it() {
    let case = Case {
        object: reference("HelmRelease", "sonarr"),
        added: vec![reference("HelmRelease", "postgres")],
        object_kustomization: ks("apps"),
        added_kustomization: ks("databases"),
        ..order("", &[])
    };
    let lifted = finding("missing-dependency", ks("apps"), ks("databases"));
    let other = finding("slow-retry", Some(reference("HelmRelease", "sonarr")), None);
    assert_eq!(judge(&case, &[other.clone(), lifted.clone()]), Outcome::Lifted);
    assert_eq!(judge(&case, &[lifted.clone(), other]), Outcome::Lifted);
    let hit = finding(
        "missing-dependency",
        Some(reference("HelmRelease", "sonarr")),
        Some(reference("HelmRelease", "postgres")),
    );
    assert_eq!(judge(&case, &[lifted, hit]), Outcome::Hit);
}

#[test]
fn what_a_finding_covers_and_its_other_levels_count_too() {
    let printed = json!({
        "rule": "missing-dependency", "severity": "info",
        "component": {"kind": "Kustomization", "namespace": "media", "name": "sonarr"},
        "provider": {"kind": "Kustomization", "namespace": "secrets", "name": "stores"},
        "covers": [{"kind": "Kustomization", "namespace": "secrets", "name": "operator"}],
        "levels": [{
            "component": {"kind": "HelmRelease", "namespace": "media", "name": "sonarr"},
            "provider": {"kind": "HelmRelease", "namespace": "secrets", "name": "vault"},
        }],
    });
    let finding = Finding::of_check(&printed);
    assert_eq!(finding.pairs().len(), 3);
    let judged = |case: &Case| judge(case, std::slice::from_ref(&finding));
    assert_eq!(judged(&order("sonarr", &["stores"])), Outcome::Hit);
    assert_eq!(judged(&order("sonarr", &["operator"])), Outcome::Hit);
    assert_eq!(judged(&order("sonarr", &["vault"])), Outcome::OnObject);
    let releases = Case {
        object: reference("HelmRelease", "sonarr"),
        added: vec![reference("HelmRelease", "vault")],
        ..order("", &[])
    };
    assert_eq!(judged(&releases), Outcome::Hit);
}

#[test]
fn a_gate_is_hit_through_a_dependent_or_on_the_object_itself() {
    let case = gate("stores");
    let judged = |finding| judge(&case, &[finding]);
    assert_eq!(judged(finding("ungated-dependency", ks("sonarr"), ks("stores"))), Outcome::Hit);
    assert_eq!(judged(finding("falsely-ready-gate", ks("stores"), None)), Outcome::Hit);
    assert_eq!(judged(finding("ungated-dependency", None, Some(reference("Gate", "stores")))), Outcome::Hit);
    assert_eq!(judged(finding("unknown", ks("stores"), Some(reference("Gate", "x")))), Outcome::Hit);
    assert_eq!(judged(finding("missing-dependency", ks("sonarr"), ks("stores"))), Outcome::Nothing);
    assert_eq!(judged(finding("slow-retry", ks("stores"), None)), Outcome::Nothing);
}

#[test]
fn weights_count_decisions_and_lifted_is_apart() {
    let mut scores = Scores::default();
    scores.add(&Case { weight: 1.0, ..order("a", &["b"]) }, Outcome::Hit);
    scores.add(&Case { weight: 0.5, ..order("a", &["b"]) }, Outcome::Lifted);
    scores.add(&Case { weight: 0.5, tier: 2, ..order("a", &["b"]) }, Outcome::OnObject);
    scores.add(&Case { weight: 2.0, tier: 2, ..gate("a") }, Outcome::NotRun);
    let all = scores.get("all", "").unwrap();
    assert_eq!(
        (percent(all.recall()), percent(all.weighted()), percent(all.with_lifted())),
        ("25.0%".to_owned(), "25.0%".to_owned(), "50.0%".to_owned())
    );
    assert_eq!(percent(scores.get("tier", "1").unwrap().weighted()), "66.7%");
    let table = scores.table().render();
    assert!(table.contains("kind gate-added"), "{table}");
}

#[test]
fn a_finding_of_check_becomes_one_for_the_scorer() {
    let printed = json!({
        "rule": "falsely-ready-gate", "severity": "warning", "message": "…",
        "component": {"kind": "Kustomization", "namespace": "media", "name": "sonarr"},
        "provider": null, "capability": "…", "verdict": "falsely-ready", "locations": [],
    });
    let read = Finding::of_check(&printed);
    assert_eq!(read.object.as_ref().unwrap().to_string(), "Kustomization media/sonarr");
    assert_eq!((read.missing.clone(), read.lack.as_str(), read.severity.as_str()), (None, "ungated", "warning"));
    let written = serde_json::to_value(&read).unwrap();
    assert_eq!(written["type"], "ungated");
    assert_eq!(written["missing"], Value::Null);
    assert_eq!(Finding::of_check(&json!({"rule": "missing-dependency", "component": {"name": "x"}})).lack, "missing");
}
