//! What can be wrong with the boot before GitOps, as data: GitOps starts on what was made, not on what works.

use ecow::EcoString;
use model::{Extent, Fact, ObjectRef};

/// What the steps before GitOps do not show, or do in the wrong order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootFault {
    /// GitOps starts before all machines are Ready. `shown` is how many were waited for, `joined` how many were waited for to be
    /// registered.
    StartsBeforeNodes { start: ObjectRef, shown: Option<Extent>, joined: Option<Extent>, expected: usize },
    /// The release of the pod network is done while some nodes have no agent.
    NetworkOnSomeNodes { release: ObjectRef, unavailable_max: u32, expected: usize },
    /// No step looks at the kubelets of the workers.
    KubeletsUnseen { start: ObjectRef, shown: Option<Extent>, workers: usize },
    /// Neither the boot nor a gate of Flux looks at the storage driver.
    StorageUnseen { start: ObjectRef, driver: ObjectRef },
    /// It waits for something that only a later step brings.
    AwaitsLater { step: ObjectRef, awaited: Fact, bringer: Option<ObjectRef> },
    /// It speaks to an address that exists only once etcd runs.
    ReachesTooEarly { step: ObjectRef, address: EcoString },
    /// The controller makes a new sealing key every so often, and the boot restores one. `unread`: a value that should say how often and
    /// that the chart does not read.
    RenewsKeys { release: ObjectRef, every: Option<EcoString>, unread: Option<EcoString> },
    /// The sealing key is stored after GitOps has started, or nothing orders the two.
    KeyAfterStart { step: ObjectRef, start: ObjectRef, is_after: bool },
}

/// What that costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootCost {
    /// What finds no node waits; one of so many releases that are not tried again fails for good.
    /// `is_there`: the nodes were counted, and what may be is that one is not Ready.
    PodsFindNoNode { fragile: Option<ObjectRef>, count: usize, is_there: bool },
    /// Pods on a node without an agent do not start.
    NoNetworkThere,
    /// It is found when a person looks.
    FoundByHand,
    /// The run ends there after its time is up.
    NeverEnds,
    /// The controller makes a key of its own.
    OwnKey,
    /// A key that was made later is not among what is restored.
    NewerKeyLost,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootAdvice {
    /// A step of its own, before this one, that fails unless all of these are Ready.
    WaitForNodes { before: ObjectRef, nodes: Vec<EcoString> },
    /// The same for the DaemonSet of the pod network.
    WaitForDaemonSet { before: ObjectRef, namespace: EcoString, name: EcoString },
    /// A gate in Flux.
    GateStorage { driver: ObjectRef },
    /// After what it waits for.
    MoveAfter { step: ObjectRef, other: Option<ObjectRef>, awaited: Fact },
    /// At the address of a machine.
    UseOwnAddress { address: EcoString },
    /// Tell the chart to make no new keys, by the value that it reads.
    SwitchOffRenewal { release: ObjectRef },
    /// Before GitOps starts.
    OrderBefore { step: ObjectRef, start: ObjectRef },
}
