//! What is lost, when it shows, and why: the words of `coldstart impact`.

use graph::{Affected, Cause, Fate, Loss, Missing, Onset};
use model::{Cluster, ComponentId};

use crate::say::purpose::purpose;

/// "if it is down": what happens to it.
pub fn loss(loss: Loss) -> &'static str {
    match loss {
        Loss::Down => "if it is down",
        Loss::Restarted => "if it is restarted",
        Loss::Upgraded => "if it is upgraded",
        Loss::Pruned => "if it leaves Git",
        Loss::Deleted => "if it is deleted",
    }
}

/// When the loss shows.
pub fn onset(onset: Onset) -> &'static str {
    match onset {
        Onset::AtOnce => "at once",
        Onset::PodStart => "at the next start of a pod",
        Onset::Reconcile => "at the next reconcile or refresh",
        Onset::ColdStart => "at the next cold start",
    }
}

/// Why a component is affected while the cluster runs.
pub fn cause(cluster: &Cluster, affected: &Affected) -> String {
    match affected.cause {
        Cause::Part => "is deleted with it".to_owned(),
        Cause::Network => "has no pod network".to_owned(),
        Cause::Names => "looks up no names".to_owned(),
        Cause::Flux => "is not reconciled".to_owned(),
        Cause::Need(need) => needs(cluster, need),
    }
}

/// Why a component does not come up at the next cold start.
pub fn missing(cluster: &Cluster, missing: Missing) -> String {
    let object = |id: ComponentId| cluster.component(id).object.to_string();
    match missing {
        Missing::Itself => "does not come up".to_owned(),
        Missing::Tie { to } => format!("depends on {}", object(to)),
        Missing::Parent { by } => format!("is applied by {}", object(by)),
        Missing::Gate { on } => format!("is ready after {}", object(on)),
        Missing::Need { need, .. } => needs(cluster, need),
        Missing::Network { .. } => "has no pod network".to_owned(),
        Missing::Bootstrap { by } => format!("Flux starts after {}", object(by)),
    }
}

/// What becomes of a component at a cold start.
pub fn fate(fate: Fate) -> &'static str {
    match fate {
        Fate::NeverDone => "never ready",
        Fate::Broken => "ready, and does not work",
    }
}

fn needs(cluster: &Cluster, need: usize) -> String {
    let need = &cluster.needs[need];
    format!("needs {} {}", need.capability, purpose(&need.why))
}

/// What is left of a component that leaves Git.
pub fn pruned(is_pruned: Option<bool>) -> &'static str {
    match is_pruned {
        Some(true) => "Flux deletes it (`prune: true`)",
        Some(false) => "it stays in the cluster: nothing prunes it",
        None => "it stays in the cluster: Flux does not apply it",
    }
}

/// What losing a machine means for etcd, in words: how many control planes there are, and how many may be gone.
pub fn quorum(control_planes: usize) -> String {
    match (control_planes, control_planes.saturating_sub(1) / 2) {
        (1, _) => "it is the only control plane: without it the Kubernetes API does not answer".to_owned(),
        (all, 0) => format!("etcd needs {all} of {all} control planes: without it the Kubernetes API does not answer"),
        (all, spare) => {
            let more =
                if spare == 1 { "no other may be gone".to_owned() } else { format!("{} more may be gone", spare - 1) };
            format!("etcd keeps its quorum with {} of {all} control planes: while this one is gone, {more}", all - 1)
        }
    }
}
