//! Objects as Kubernetes writes them, and what kstatus says of each. The cases are the facts of its own test table.

use coldstart_health::Time;
use coldstart_health::facts::{Claim, Crd, Custom, Fact, Kind, Pod, Service, Workload};
use coldstart_health::kstatus::{self, Computed, Reason};
use serde_json::Value;

fn computed(object: &Value, now: Time) -> Computed {
    let kind = Kind::of(object["apiVersion"].as_str().expect("a case"), object["kind"].as_str().expect("a case"));
    let bytes = serde_json::to_vec(object).expect("a case");
    match kind.kind.as_str() {
        "Pod" => kstatus::pod(&Pod::parse(&bytes, &kind).expect("a case"), now),
        "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet" | "Job" => {
            kstatus::workload(&Workload::parse(&bytes, &kind).expect("a case"))
        }
        "PersistentVolumeClaim" => kstatus::claim(&Claim::parse(&bytes, &kind).expect("a case")),
        "Service" => kstatus::service(&Service::parse(&bytes, &kind).expect("a case")),
        "CustomResourceDefinition" => kstatus::crd(&Crd::parse(&bytes, &kind).expect("a case")),
        _ => kstatus::custom(&Custom::parse(&bytes, &kind).expect("a case")),
    }
}

/// The name of a reason, as kstatus spells it.
fn name(reason: &Reason) -> String {
    match reason {
        Reason::AsAsked => String::new(),
        Reason::Own(own) => own.to_string(),
        Reason::NoIpAssigned => "NoIPAssigned".to_owned(),
        other => format!("{other:?}").split(['(', ' ', '{']).next().expect("a case").to_owned(),
    }
}

#[test]
fn every_case_of_its_own_table() {
    let now = Time::parse("2026-11-19T00:00:05Z").expect("a case");
    let cases: Vec<Value> =
        include_str!("kstatus.jsonl").lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    assert_eq!(cases.len(), 53);
    for case in cases {
        let computed = computed(&case["object"], now);
        let said = (format!("{:?}", computed.status), name(&computed.reason));
        let expected =
            (case["expect"].as_str().expect("a case").to_owned(), case["reason"].as_str().expect("a case").to_owned());
        assert_eq!(said, expected, "{}", case["case"]);
    }
}

#[test]
fn the_numbers_are_told() {
    let object = serde_json::json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "it", "generation": 2},
        "status": {"observedGeneration": 2, "desiredNumberScheduled": 5, "currentNumberScheduled": 5,
            "updatedNumberScheduled": 5, "numberAvailable": 3, "numberReady": 3},
    });
    assert_eq!(computed(&object, Time::from_seconds(0)).reason, Reason::LessAvailable(3, 5));
}

#[test]
fn conditions_count_in_their_order_and_deletion_before_all() {
    let mut object = serde_json::json!({
        "apiVersion": "x.io/v1", "kind": "X", "metadata": {"name": "it"},
        "status": {"conditions": [
            {"type": "Ready", "status": "True"},
            {"type": "Stalled", "status": "True", "reason": "Bad"},
            {"type": "Reconciling", "status": "True", "reason": "Busy"},
        ]},
    });
    assert_eq!(computed(&object, Time::from_seconds(0)).status, kstatus::Status::Failed);
    object["metadata"]["deletionTimestamp"] = "2026-11-19T00:00:00Z".into();
    assert_eq!(computed(&object, Time::from_seconds(0)).status, kstatus::Status::Terminating);
    let odd = serde_json::json!({
        "apiVersion": "x.io/v1", "kind": "X", "metadata": {"name": "it", "generation": 3},
        "status": {"observedGeneration": "7c9f", "conditions": "none"},
    });
    assert_eq!(computed(&odd, Time::from_seconds(0)).status, kstatus::Status::Current);
}
