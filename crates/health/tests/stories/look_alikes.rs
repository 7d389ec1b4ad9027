//! What looks like a fault and is none.

use crate::cluster::{Cluster, DAY, HOUR, ago, cond, eco, healthy, meta, now, wait};
use coldstart_health::facts::*;
use coldstart_health::status::{Outcome, State as LayerState};

type Story = (&'static str, Outcome, fn(&mut Cluster));

const STORIES: [Story; 17] = [
    ("a dependency that has just become ready", Outcome::Progressing, |it| {
        it.waits("apps", "config");
    }),
    ("leases that were seen an hour ago", Outcome::Healthy, |it| {
        for lease in &mut it.facts.leases.objects {
            lease.renewed = ago(HOUR);
        }
        it.facts.leases.seen = ago(HOUR);
    }),
    ("a clock that is an hour ahead", Outcome::Healthy, |it| {
        it.facts.leases.objects.iter_mut().for_each(|lease| lease.renewed = ago(HOUR));
    }),
    ("a rollout", Outcome::Progressing, |it| {
        let (namespace, name) = it.app();
        it.pods(&namespace, &name).take(1).for_each(|pod| wait(pod, "ContainerCreating", "", 20));
        it.count(&namespace, &name);
    }),
    ("a rollout that a chain waits for", Outcome::Progressing, |it| {
        let (namespace, name) = it.app();
        it.pods(&namespace, &name).take(1).for_each(|pod| wait(pod, "ContainerCreating", "", 20));
        it.count(&namespace, &name);
        it.kustomization("config").conditions = vec![
            cond("Reconciling", Truth::True, "Progressing", "Running health checks", 20),
            cond("Ready", Truth::Unknown, "Progressing", "Reconciliation in progress", 20),
        ];
        it.waits("apps", "config");
    }),
    ("a renewal", Outcome::Healthy, |it| {
        it.facts.certificates.objects[0].conditions.push(cond("Issuing", Truth::True, "Renewing", "", 30));
    }),
    ("a first certificate", Outcome::Progressing, |it| {
        it.facts.certificates.objects[0].conditions = vec![
            cond("Ready", Truth::False, "DoesNotExist", "Issuing certificate as Secret does not exist", 60),
            cond("Issuing", Truth::True, "DoesNotExist", "", 60),
        ];
        it.facts.certificates.objects[0].not_after = None;
    }),
    ("a DaemonSet for hardware that no node has", Outcome::Healthy, |it| {
        it.daemon("gpu", "gpu-plugin", ("app", "gpu-plugin"), &["registry.example.org/gpu:1"]);
        it.facts.pods.objects.retain(|pod| pod.meta.namespace != "gpu");
        it.facts.daemon_sets.objects[2].have.desired_number_scheduled = Some(0);
        it.count("gpu", "gpu-plugin");
    }),
    ("events of yesterday", Outcome::Healthy, |it| {
        let pod = it.facts.pods.objects[0].meta.clone();
        it.facts.events.objects.push(Event {
            about: pod.key("", "Pod"),
            reason: eco("FailedMount"),
            message: eco("driver name block.csi.example.org not found in the list of registered CSI drivers"),
            last: ago(DAY),
            ..Event::default()
        });
    }),
    ("a finished Job, and one that failed before a later run", Outcome::Healthy, |it| {
        let (namespace, _) = it.app();
        for (name, kind, age) in [("backup-1", "Failed", DAY), ("backup-2", "Complete", HOUR)] {
            let mut job = Workload {
                workload: Workloads::Job,
                meta: meta(&namespace, name),
                conditions: vec![cond(kind, Truth::True, "", "", age)],
                ..Workload::default()
            };
            job.meta.created = ago(age);
            job.meta.owner = Some(Owner { group: eco("batch"), kind: eco("CronJob"), name: eco("backup") });
            it.facts.jobs.objects.push(job);
        }
    }),
    ("nodes that have been ready for a year", Outcome::Healthy, |it| {
        for node in &mut it.facts.nodes.objects {
            node.conditions[0].since = ago(365 * DAY);
        }
    }),
    ("a claim that waits for its first pod", Outcome::Healthy, |it| {
        it.facts.claims.objects.push(Claim {
            meta: meta("x", "unused"),
            class: Some(eco("block")),
            phase: eco("Pending"),
            ..Claim::default()
        });
    }),
    ("pods left over from a shutdown", Outcome::Healthy, |it| {
        let mut pod = it.facts.pods.objects[20].clone();
        pod.meta.name = eco("left-over");
        pod.phase = Phase::Failed;
        pod.reason = eco("Terminated");
        pod.message = eco("Pod was terminated in response to imminent node shutdown.");
        pod.conditions = vec![cond("Ready", Truth::False, "PodFailed", "", DAY)];
        pod.meta.owner = None;
        it.facts.pods.objects.push(pod);
    }),
    ("a webhook that may fail", Outcome::Healthy, |it| {
        let hook = &mut it.facts.validating_webhooks.objects[0].hooks[0];
        hook.failure = Failure::Ignore;
        hook.service = Some(ServiceRef { namespace: eco("x"), name: eco("gone") });
    }),
    ("a warning of Ceph while it recovers", Outcome::Healthy, |it| {
        let ceph = Custom {
            kind: Kind::new("ceph.rook.io", "v1", "CephCluster"),
            meta: meta("rook-ceph", "rook-ceph"),
            health: eco("HEALTH_WARN"),
            details: vec![eco("MON_CLOCK_SKEW"), eco("RECENT_CRASH")],
            ..Custom::default()
        };
        it.facts.others.insert(eco("CephCluster.ceph.rook.io"), Listed::whole(now(), vec![ceph]));
    }),
    ("a new revision that is being applied", Outcome::Progressing, |it| {
        it.facts.git_repositories.objects[0].revision = Revision(eco("main@sha1:fedcba"));
        it.facts.git_repositories.objects[0].fetched = ago(20);
    }),
    ("a pod with many restarts that runs", Outcome::Healthy, |it| {
        it.facts.pods.objects.iter_mut().for_each(|pod| pod.containers[0].restarts = 40);
    }),
];

#[test]
fn nothing_is_named_a_root() {
    for seed in [2, 99] {
        for (name, outcome, story) in STORIES {
            let mut it = healthy(seed);
            story(&mut it);
            let status = it.status();
            assert!(status.roots.is_empty(), "{name}: {:#?}", status.roots);
            assert_eq!(status.outcome, outcome, "{name}: {:#?}", status.layers);
        }
    }
}

#[test]
fn a_healthy_cluster_is_proved_layer_by_layer() {
    let status = healthy(1).status();
    assert_eq!(status.outcome, Outcome::Healthy, "{status:#?}");
    let proved: Vec<_> = status.layers.iter().filter(|it| it.state == LayerState::Healthy).map(|it| it.name).collect();
    assert_eq!(proved.len(), 10 + 1, "{proved:?}");
    assert!(status.links.is_empty());
}

#[test]
fn an_empty_cluster_is_no_fault() {
    let mut it = healthy(1);
    let mut facts = Facts::new(it.facts.api.clone());
    std::mem::swap(&mut it.facts, &mut facts);
    let status = it.status();
    assert!(status.roots.is_empty());
    assert_eq!(status.outcome, Outcome::Unknown);
}
