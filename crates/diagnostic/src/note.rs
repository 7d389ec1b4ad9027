//! What else is worth saying of a finding, as data.

use ecow::EcoString;
use model::{Capability, ObjectRef};

/// One more thing worth saying.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Values that differ beside the versions, by their paths.
    DifferingValues {
        paths: Vec<String>,
    },
    /// Everything that depends on it.
    Dependents {
        all: Vec<ObjectRef>,
    },
    /// In time only because something else fails.
    HoldsByFailure,
    /// The other needs something of this one, too.
    IsMutual,
    /// Containment is no edge of a circle that can be removed.
    CantRemoveApplying,
    /// A release that it waits for comes from a chart that was not read.
    UnreadChartMayMake {
        release: ObjectRef,
    },
    /// A component applies files of another repository.
    OtherRepositoryMayMake {
        component: ObjectRef,
    },
    /// A ResourceSet takes inputs from elsewhere.
    OtherInputsMayMake {
        component: ObjectRef,
    },
    /// What makes its Namespace is not here either.
    NamespaceMadeElsewhere {
        namespace: EcoString,
    },
    /// Terraform makes its Namespace, and more than can be read.
    TerraformMakesNamespace {
        namespace: EcoString,
    },
    /// A comment beside it names what makes it.
    CommentNames {
        maker: Maker,
    },
    /// A manifest here would make it, and neither Flux nor the bootstrap applies that.
    NotApplied {
        file: EcoString,
    },
    /// No script runs this directory of Terraform, where scripts run others.
    NoScriptRuns {
        directory: EcoString,
    },
    UnseenMayDefine,
    UnseenMayHold,
    /// Something outside may make it.
    UnlessMadeOutside {
        needed: Capability,
    },
    /// A program that was not read may have it there before.
    UnlessBroughtBy {
        program: EcoString,
    },
    /// A script or a text that creates something of this name may have it there before.
    UnlessMadeBy {
        file: EcoString,
    },
    /// A Kustomization with a kubeconfig applies this directory to another cluster, which may be this one.
    UnlessHandedOver {
        directory: EcoString,
    },
    /// A script that applies CRDs of its own choice may have it there before.
    UnlessAppliedBy {
        script: EcoString,
    },
    /// Which Flux runs, and what it does with variables that nothing sets.
    IsStrict,
    FailsSince {
        flux: EcoString,
    },
    StillEmpty {
        flux: EcoString,
    },
    MayBeNew {
        flux: EcoString,
    },
    UnknownFlux,
}

/// What works outside of what Flux applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Maker {
    Terraform,
    OpenTofu,
    Pulumi,
    Ansible,
    /// A person.
    ByHand,
}
