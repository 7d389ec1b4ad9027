//! What a component needs a capability for.

use ecow::EcoString;

use crate::capability::Capability;

/// What a need is for: the end of "needs X".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// An object is of a kind that is no part of Kubernetes.
    Apply,
    /// An object lies in a namespace.
    ApplyInto,
    /// A webhook is asked about an object.
    Admit,
    /// An object that a chart renders is of a kind that is no part of Kubernetes.
    RenderedByChart,
    /// A template of a chart asks the cluster for an API, and leaves something out without it.
    AskedByTemplates,
    /// The source of a Kustomization.
    AppliedFiles,
    /// The source of a release.
    Chart,
    /// `valuesFrom` of a release.
    Values,
    /// `postBuild.substituteFrom` of a Kustomization.
    Variables,
    /// The key of a Kustomization's `decryption`.
    Decrypt,
    /// The cluster that something is applied to.
    Kubeconfig,
    /// Pods do not start without it.
    StartPods,
    /// Pods are not put on a node without it.
    SchedulePods,
    /// Pods look up names.
    LookUpNames,
    /// Volumes are made of it.
    Volumes,
    /// Volumes that name no class are made of the default one.
    DefaultVolumes,
    /// A StorageClass makes volumes by a driver.
    MakeVolumes,
    /// Snapshots of volumes.
    Snapshots,
    /// Backups are written there.
    Backups,
    /// A route or an Ingress.
    Reach,
    /// The certificate of an Ingress.
    Certificate,
    /// A Certificate is issued by it.
    Issue,
    /// An ExternalSecret is filled from it.
    Fill,
    /// A Gateway is programmed by its class.
    Program,
    /// A SealedSecret is unsealed with it.
    Unseal,
    /// A Service that a program is told to talk to.
    TalkTo,
    /// What answers at a host that a program is told to talk to, through an Ingress or a route.
    AnswersAt(EcoString),
    /// The only database of the kind that a key speaks of, where the host itself is encrypted.
    HiddenHost(EcoString),
    /// The instance that a custom resource is a part of: the Cluster of a Database.
    PartOf,
    /// What an admission policy takes its parameters from.
    Parameters,
    /// The address of a Service of type LoadBalancer.
    Address,
    /// The CRDs of a chart that stand in another one.
    ChartOfCrds,
    /// The kinds that an operator works on.
    OwnKinds,
    /// It makes what another need asks for.
    Make(Capability),
    /// It may be what brings what another need asks for.
    MayBring(Capability),
    /// What the catalogue says: a clause that continues "because".
    Catalogued(EcoString),
}
