//! The boot before GitOps: what its steps do not show, what that costs, what to do.

use diagnostic::{BootAdvice, BootCost, BootFault};
use ecow::EcoString;
use model::{Brings, Doing, Extent, Fact, Seeded};

use super::quoted;
use crate::words::agree;

/// Nodes that a command names before it stands for the rest.
const NODES_NAMED_MAX: usize = 6;

/// One line, names in backticks.
pub(super) fn fault(fault: &BootFault) -> String {
    match fault {
        BootFault::StartsBeforeNodes {
            start,
            shown: None | Some(Extent::Unchecked),
            joined: Some(joined),
            expected,
        } if *joined >= Extent::Existing => {
            let which = match (joined, expected) {
                (Extent::Expected, 1..) => format!("all {expected} nodes"),
                (Extent::Expected, _) => "all nodes".to_owned(),
                _ => "the nodes that join by then".to_owned(),
            };
            format!(
                "GitOps starts with {}, and what waits for nodes before it waits until {which} are registered, not until {}",
                quoted(start),
                all_are_ready(*expected)
            )
        }
        BootFault::StartsBeforeNodes { start, shown: None, expected, .. } => {
            format!("GitOps starts with {}, and no step before it waits for {}", quoted(start), all_nodes(*expected))
        }
        BootFault::StartsBeforeNodes { start, shown: Some(Extent::Unchecked), expected, .. } => format!(
            "GitOps starts with {} even if {} fails: what waits for that stops nothing",
            quoted(start),
            wait_of(*expected)
        ),
        BootFault::StartsBeforeNodes { start, shown: Some(shown), expected, .. } => format!(
            "GitOps starts with {}, and what waits for nodes before it waits for {}, not for {}",
            quoted(start),
            waited_for(*shown),
            all_nodes(*expected)
        ),
        BootFault::NetworkOnSomeNodes { release, unavailable_max, expected } if *expected > 0 => format!(
            "{} is done when {} of {expected} nodes have the pod network: its DaemonSet may lack {unavailable_max}",
            quoted(release),
            expected.saturating_sub(usize::try_from(*unavailable_max).unwrap_or(usize::MAX))
        ),
        BootFault::NetworkOnSomeNodes { release, unavailable_max, .. } => {
            let nodes = agree(usize::try_from(*unavailable_max).unwrap_or(usize::MAX), "node has", "nodes have");
            format!(
                "{} is done while {unavailable_max} {nodes} no pod network: its DaemonSet may lack them",
                quoted(release)
            )
        }
        BootFault::KubeletsUnseen { start, shown, workers } => format!(
            "no step before {} checks the kubelet of the {}{}",
            quoted(start),
            agree(*workers, "worker", "workers"),
            if *shown == Some(Extent::ControlPlanes) {
                ": what checks kubelets looks at control planes only"
            } else {
                ""
            }
        ),
        BootFault::StorageUnseen { start, driver } => format!(
            "nothing checks that the storage driver {} runs: no step after {}, and no gate in Flux",
            quoted(driver),
            quoted(start)
        ),
        BootFault::AwaitsLater { step, awaited, bringer: Some(bringer) } => {
            format!("{} waits for {}, which only {} brings, after it", quoted(step), fact(*awaited), quoted(bringer))
        }
        BootFault::AwaitsLater { step, awaited, bringer: None } => {
            format!("{} waits for {}, and no step before it brings that", quoted(step), fact(*awaited))
        }
        BootFault::ReachesTooEarly { step, address } => {
            format!("{} connects to {address}, which exists only once etcd runs", quoted(step))
        }
        BootFault::RenewsKeys { release, every, unread } => {
            let often = every.as_ref().map_or_else(|| "every 30 days".to_owned(), |every| format!("every `{every}`"));
            let unread = unread.as_ref().map(|path| format!("; the chart does not read `{path}`")).unwrap_or_default();
            format!(
                "{} makes a new sealing key {often}, and the boot restores only the one it has{unread}",
                quoted(release)
            )
        }
        BootFault::KeyAfterStart { step, start, is_after: true } => {
            format!("the sealing key is stored by {}, after GitOps starts with {}", quoted(step), quoted(start))
        }
        BootFault::KeyAfterStart { step, start, is_after: false } => {
            format!(
                "nothing orders {}, which stores the sealing key, before {} starts GitOps",
                quoted(step),
                quoted(start)
            )
        }
    }
}

/// What a step does, after its name.
pub(crate) fn doing(does: &Doing) -> String {
    match does {
        Doing::MakesMachines => "creates machines".to_owned(),
        Doing::ConfiguresMachines => "configures machines".to_owned(),
        Doing::BootstrapsEtcd => "bootstraps etcd".to_owned(),
        Doing::FetchesCredentials => "fetches the kubeconfig".to_owned(),
        Doing::Installs { release, brings: Brings::PodNetwork { .. } } => {
            format!("installs the pod network ({release})")
        }
        Doing::Installs { release, brings: Brings::Other } => format!("installs {release}"),
        Doing::StoresSealingKey => "stores the sealing key".to_owned(),
        Doing::StartsGitOps => "starts GitOps".to_owned(),
        Doing::ChecksFirst => "checks whether the boot can begin".to_owned(),
        Doing::AsksOutside => {
            "asks a program on the machine that runs it, so what that reads has to be there before the first run"
                .to_owned()
        }
        Doing::PreparesMachines => "generates the configuration of the machines".to_owned(),
        Doing::RunsLayer { directory } => format!("applies {directory}"),
        Doing::AppliesObjects(Seeded::Namespaces) => "creates namespaces".to_owned(),
        Doing::AppliesObjects(Seeded::Secrets) => "creates Secrets".to_owned(),
        Doing::AppliesObjects(Seeded::Crds) => "applies CRDs".to_owned(),
        Doing::AppliesObjects(Seeded::Objects) => "applies objects".to_owned(),
        Doing::Waits => "waits".to_owned(),
        Doing::Other => "runs".to_owned(),
    }
}

/// The same for a line of a table.
pub(crate) fn briefly(does: &Doing) -> String {
    match does {
        Doing::AsksOutside => "asks a program outside of the cluster".to_owned(),
        _ => doing(does),
    }
}

/// What is known when a step is done that shows nothing by itself.
pub(crate) fn done(does: &Doing) -> &'static str {
    match does {
        Doing::ConfiguresMachines => "that the machines have taken the configuration",
        Doing::BootstrapsEtcd => "that a control plane has taken the order; etcd may not run yet",
        Doing::FetchesCredentials => "that there is a kubeconfig; the API server may not answer yet",
        Doing::Installs { .. } => "that its objects are submitted; its pods may not run yet",
        Doing::StoresSealingKey | Doing::AppliesObjects(_) => "that the API server has accepted them",
        Doing::RunsLayer { .. } => "that all of it was applied",
        Doing::ChecksFirst => "what it checks",
        Doing::AsksOutside => "that the program has answered",
        Doing::MakesMachines | Doing::PreparesMachines | Doing::StartsGitOps | Doing::Waits | Doing::Other => {
            "nothing but that it was done"
        }
    }
}

/// What has been shown, and of how many.
pub(crate) fn shown(fact: Fact, of: Extent) -> String {
    let what = match fact {
        Fact::NodesJoined => "that nodes have joined",
        other => self::fact(other),
    };
    let is_of_nodes = matches!(fact, Fact::NodesJoined | Fact::NodesReady | Fact::KubeletsRun | Fact::NetworkRuns);
    match of {
        Extent::Existing if !is_of_nodes => what.to_owned(),
        Extent::Unchecked => format!("nothing about {}: its failure stops nothing", self::fact(fact)),
        _ if matches!(fact, Fact::WorkloadsRun | Fact::ObjectExists | Fact::MachineStarted) => what.to_owned(),
        Extent::Some => format!("{what} on some nodes"),
        Extent::ControlPlanes => format!("{what} on control planes"),
        Extent::Existing => format!("{what} on nodes that exist by then"),
        Extent::Expected => what.to_owned(),
    }
}

/// A clause without a capital letter and a full stop.
pub(super) fn cost(cost: &BootCost) -> String {
    match cost {
        BootCost::PodsFindNoNode { fragile: None, is_there, .. } => format!(
            "pods that need {} stay Pending until it {}, and the boot reports success",
            node_without(*is_there),
            if *is_there { "is" } else { "joins" }
        ),
        BootCost::PodsFindNoNode { fragile: Some(one), count, is_there } => format!(
            "pods that need {} stay Pending; {} whose install is not retried ({}) fails permanently if that \
             takes longer than its timeout",
            node_without(*is_there),
            agree(*count, "one HelmRelease", "a HelmRelease"),
            match count {
                0 | 1 => one.path(),
                many => format!("{} and {} more", one.path(), many - 1),
            }
        ),
        BootCost::NoNetworkThere => "pods on a node without an agent stay in ContainerCreating".into(),
        BootCost::FoundByHand => "the boot reports success, and the failure shows only when a pod needs it".into(),
        BootCost::NeverEnds => "the step waits until its time is up, and the boot stops there".into(),
        BootCost::NewerKeyLost => {
            "what is sealed with a newer key, which `kubeseal` takes from the controller, is not opened after the next cold start"
                .into()
        }
        BootCost::OwnKey => {
            "the controller generates a key of its own and opens nothing that was sealed with the restored one until it is \
             restarted"
                .into()
        }
    }
}

/// A clause without a capital letter and a full stop.
pub(super) fn advice(advice: &BootAdvice) -> String {
    match advice {
        BootAdvice::WaitForNodes { before, nodes } => format!(
            "add a step before {} that fails unless every node is Ready: `kubectl wait --for=condition=Ready {} --timeout=600s`, \
             as the last command or under `set -eu`",
            quoted(before),
            nodes_of(nodes)
        ),
        BootAdvice::WaitForDaemonSet { before, namespace, name } => format!(
            "add a step before {} that waits for the agent on every node: `kubectl -n {namespace} rollout status \
             daemonset/{name} --timeout=300s`",
            quoted(before)
        ),
        BootAdvice::GateStorage { driver } => {
            format!(
                "set `wait: true` on the Kustomization that applies {}, or list it in `healthChecks`",
                quoted(driver)
            )
        }
        BootAdvice::MoveAfter { step, other: Some(other), awaited } => {
            format!("let {} come after {}, which brings {}", quoted(step), quoted(other), fact(*awaited))
        }
        BootAdvice::MoveAfter { step, other: None, awaited } => {
            format!("let {} come after what brings {}", quoted(step), fact(*awaited))
        }
        BootAdvice::UseOwnAddress { address } => {
            format!("use the address of a control plane until etcd runs, not {address}")
        }
        BootAdvice::SwitchOffRenewal { release } => format!(
            "set `keyrenewperiod: \"0\"` at the top of the values of {}, or keep each new key where the boot restores it from",
            quoted(release)
        ),
        BootAdvice::OrderBefore { step, start } => {
            format!("add {} to the `depends_on` of {}, or call it earlier", quoted(step), quoted(start))
        }
    }
}

fn node_without(is_there: bool) -> &'static str {
    if is_there { "a node that is not Ready" } else { "the missing node" }
}

fn all_are_ready(expected: usize) -> String {
    if expected == 0 { "all of them are Ready".to_owned() } else { format!("all {expected} are Ready") }
}

fn all_nodes(expected: usize) -> String {
    if expected == 0 { "all nodes to be Ready".to_owned() } else { format!("all {expected} nodes to be Ready") }
}

fn wait_of(expected: usize) -> String {
    if expected == 0 { "the wait for nodes".to_owned() } else { format!("the wait for its {expected} nodes") }
}

fn waited_for(shown: Extent) -> &'static str {
    match shown {
        Extent::Unchecked => "them without stopping when that fails",
        Extent::Some => "some of them",
        Extent::ControlPlanes => "the control planes",
        Extent::Existing => "those that have joined by then",
        Extent::Expected => "all of them",
    }
}

fn fact(fact: Fact) -> &'static str {
    match fact {
        Fact::MachineStarted => "a started machine with an address",
        Fact::ApiAnswers => "the Kubernetes API",
        Fact::EtcdRuns => "etcd",
        Fact::NodesJoined => "the nodes to join",
        Fact::NodesReady => "Ready nodes",
        Fact::KubeletsRun => "kubelets",
        Fact::NetworkRuns => "the pod network",
        Fact::StorageRuns => "the storage driver",
        Fact::WorkloadsRun => "that its workloads run",
        Fact::ObjectExists => "that it exists",
        Fact::GitOpsRuns => "Flux",
    }
}

fn nodes_of(nodes: &[EcoString]) -> String {
    let named = || nodes.iter().map(|node| format!("node/{node}")).collect::<Vec<_>>().join(" ");
    if nodes.is_empty() || nodes.len() > NODES_NAMED_MAX { "node/<name> ...".to_owned() } else { named() }
}

#[cfg(test)]
mod tests {
    use diagnostic::BootFault;
    use model::{Extent, ObjectRef};

    use super::fault;

    #[test]
    fn it_says_what_was_waited_for_and_what_for_not() {
        let start = ObjectRef::new("Terraform", "infra", "null_resource.flux");
        let told =
            |shown| fault(&BootFault::StartsBeforeNodes { start: start.clone(), shown, joined: None, expected: 5 });
        assert_eq!(
            told(None),
            "GitOps starts with `infra/null_resource.flux`, and no step before it waits for all 5 nodes to be Ready"
        );
        assert_eq!(
            told(Some(Extent::Existing)),
            "GitOps starts with `infra/null_resource.flux`, and what waits for nodes before it waits for those that have \
             joined by then, not for all 5 nodes to be Ready"
        );
    }
}
