//! What faults in a real control plane showed that facts written by hand had not.

use crate::cluster::{Cluster, HOUR, ago, cond, crash, eco, healthy, wait};
use coldstart_health::facts::*;
use coldstart_health::status::Outcome;

/// Roots, and what the first one blocks, by their names.
type Expect = (Vec<String>, Vec<String>);

type Story = (&'static str, Outcome, fn(&mut Cluster) -> Expect);

fn nothing() -> Expect {
    (Vec::new(), Vec::new())
}

fn root(name: &str, blocks: &[&str]) -> Expect {
    (vec![name.to_owned()], blocks.iter().map(|&name| name.to_owned()).collect())
}

/// Its specification was changed, and its condition is from before.
fn changed(it: &mut Cluster, role: &str) -> String {
    it.kustomization(role).meta.generation = Some(2);
    it.name(role)
}

fn deployment<'a>(it: &'a mut Cluster, name: &str) -> &'a mut Workload {
    it.facts.deployments.objects.iter_mut().find(|it| it.meta.name == name).expect("a Deployment")
}

/// More replicas are wanted than its controller has seen.
fn scale(it: &mut Cluster) -> String {
    let (_, name) = it.app();
    let it = deployment(it, &name);
    it.replicas = Some(5);
    it.meta.generation = Some(2);
    name
}

/// The agent of one node is between two pods.
fn agent_is_replaced(it: &mut Cluster) -> String {
    let name = it.node_name(3);
    let is_it = |pod: &Pod| pod.node == name && pod.meta.labels.is("k8s-app", "cilium");
    it.facts.pods.objects.retain(|pod| !is_it(pod));
    it.count("kube-system", "cilium");
    name
}

const STORIES: [Story; 13] = [
    ("a Kustomization that was changed just now", Outcome::Progressing, |it| {
        changed(it, "base");
        nothing()
    }),
    ("a Kustomization that was changed, and its controller is down", Outcome::Degraded, |it| {
        it.crash("flux-system", "kustomize-controller", "out of memory", HOUR);
        let name = changed(it, "base");
        root("kustomize-controller", &[&name])
    }),
    ("a SealedSecret that was changed just now", Outcome::Progressing, |it| {
        it.facts.sealed_secrets.objects[0].meta.generation = Some(2);
        nothing()
    }),
    ("a SealedSecret that was changed, and its controller is down", Outcome::Degraded, |it| {
        it.crash("sealed", "sealed-secrets-controller", "out of memory", HOUR);
        it.facts.sealed_secrets.objects[0].meta.generation = Some(2);
        root("sealed-secrets-controller", &[&it.name("sealed one")])
    }),
    ("a Deployment that was scaled just now", Outcome::Progressing, |it| {
        scale(it);
        nothing()
    }),
    ("a Deployment that was scaled, and its controller is gone", Outcome::Degraded, |it| {
        it.lease("kube-system", "kube-controller-manager").renewed = ago(HOUR);
        let name = scale(it);
        root("kube-controller-manager", &[&name])
    }),
    ("an agent that is between two pods", Outcome::Progressing, |it| {
        agent_is_replaced(it);
        nothing()
    }),
    ("an agent whose pod is leaving", Outcome::Progressing, |it| {
        let name = it.node_name(3);
        for pod in it.pods("kube-system", "cilium").filter(|pod| pod.node == name) {
            pod.meta.deleted = ago(10);
            pod.conditions = vec![cond("Ready", Truth::False, "", "", 5)];
        }
        it.count("kube-system", "cilium");
        nothing()
    }),
    ("an agent that is between two pods, of which the node refuses one", Outcome::Degraded, |it| {
        let name = it.node_name(3);
        for pod in it.pods("kube-system", "cilium").filter(|pod| pod.node == name) {
            pod.phase = Phase::Failed;
            pod.reason = eco("Evicted");
            pod.conditions = vec![cond("Ready", Truth::False, "PodFailed", "", HOUR)];
        }
        it.count("kube-system", "cilium");
        root("cilium", &[])
    }),
    ("an agent that is between two pods, and the controller of both is gone", Outcome::Degraded, |it| {
        it.lease("kube-system", "kube-controller-manager").renewed = ago(HOUR);
        agent_is_replaced(it);
        root("kube-controller-manager", &["cilium"])
    }),
    ("health checks that wait for what fails", Outcome::Degraded, |it| {
        let (namespace, name) = it.app();
        it.wait(&namespace, &name, "ImagePullBackOff", "manifest unknown", HOUR);
        let app = ObjectKey::new("apps", "Deployment", &namespace, &name);
        let config = it.kustomization("config");
        config.inventory = vec![app];
        let text = "Running health checks for revision main@sha1:0123456789abcdef with a timeout of 5m0s";
        config.conditions = vec![
            cond("Reconciling", Truth::True, "Progressing", text, 20),
            cond("Ready", Truth::Unknown, "Progressing", text, 20),
        ];
        it.waits("apps", "config");
        root(&name, &[&it.name("apps"), &it.name("config")])
    }),
    ("health checks that wait for a rollout", Outcome::Progressing, |it| {
        let (namespace, name) = it.app();
        it.pods(&namespace, &name).take(1).for_each(|pod| wait(pod, "ContainerCreating", "", 20));
        it.count(&namespace, &name);
        let app = ObjectKey::new("apps", "Deployment", &namespace, &name);
        let config = it.kustomization("config");
        config.inventory = vec![app];
        let text = "Running health checks for revision main@sha1:0123456789abcdef with a timeout of 5m0s";
        config.conditions = vec![cond("Ready", Truth::Unknown, "Progressing", text, 20)];
        nothing()
    }),
    ("one replica of a controller of two fails", Outcome::Degraded, |it| {
        it.deploy("flux-system", "kustomize-controller-shard", ("app.kubernetes.io/part-of", "flux"), 2);
        it.pods("flux-system", "kustomize-controller-shard").take(1).for_each(|pod| crash(pod, "oom", HOUR));
        it.count("flux-system", "kustomize-controller-shard");
        changed(it, "base");
        root("kustomize-controller-shard", &[])
    }),
];

#[test]
fn every_story_has_its_roots_and_what_they_block() {
    for (name, outcome, story) in STORIES {
        for seed in [4, 77] {
            let mut it = healthy(seed);
            let (roots, mut blocks) = story(&mut it);
            let status = it.status();
            let told: Vec<String> = status.roots.iter().map(|root| root.object.name.to_string()).collect();
            assert_eq!(told, roots, "{name}: {:#?}", status.roots);
            let mut blocked: Vec<String> = status
                .roots
                .first()
                .map(|root| root.blocks.iter().map(|it| it.object.name.to_string()).collect())
                .unwrap_or_default();
            blocked.sort();
            blocks.sort();
            assert_eq!(blocked, blocks, "{name}");
            assert_eq!(status.outcome, outcome, "{name}: {:#?}", status.layers);
        }
    }
}
