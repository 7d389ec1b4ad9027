//! The cluster, or the controller in it, did not do it.

use std::fmt;

use ::seal::key::KeyError;
use diagnostic::Next;
use diagnostic::next::{Again, Kubectl};

use crate::seal::cluster::Kind;
use source::clean;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ClusterFailure {
    #[error(transparent)]
    Runtime(std::io::Error),
    /// What the library says of the kubeconfig, with its causes.
    #[error("{said}", said = clean(.said))]
    Kubeconfig { said: String },
    #[error(transparent)]
    Client(kube::Error),
    #[error("it is not an object")]
    NotAnObject,
    #[error("can't {step}: {why}")]
    Request { step: Step, why: RequestFault },
    #[error("Secret {namespace}/{name}: {source}", namespace = clean(.namespace), name = clean(.name))]
    BadKey { namespace: String, name: String, source: KeyError },
    #[error("there are no sealing keys in {namespace}", namespace = clean(.namespace))]
    NoKeys { namespace: String },
    #[error(
        "Secret {namespace}/{name} is labelled as a sealing key, but is not one: {source}\n  a controller that starts with it exits at once", namespace = clean(.namespace), name = clean(.name))]
    NoKeyInSecret { namespace: String, name: String, source: KeyError },
    #[error("the controller did not come back in {seconds} s")]
    NotRestarted { namespace: String, name: String, seconds: u64 },
    #[error("the canary was unsealed with a different value")]
    CanaryDiffers,
    #[error("the canary was not unsealed within {seconds} s{}", .reason.as_ref().map(|said| format!(": {said}")).unwrap_or_default())]
    CanaryStaysSealed { namespace: String, seconds: u64, reason: Option<String> },
}

/// What was asked of the API server.
#[derive(Debug)]
pub(crate) enum Step {
    Get { kind: Kind, name: String },
    List { kind: Kind, namespace: String },
    Create { kind: Kind, name: String },
    Delete { kind: Kind, name: String },
    RestartController,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Get { kind, name } => write!(f, "get {kind:?} {name}"),
            Self::List { kind, namespace } => write!(f, "list {kind:?}s in {namespace}"),
            Self::Create { kind, name } => write!(f, "create {kind:?} {name}"),
            Self::Delete { kind, name } => write!(f, "delete {kind:?} {name}"),
            Self::RestartController => f.write_str("restart the controller"),
        }
    }
}

/// Why the API server did not do it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestFault {
    #[error("the API server refuses it ({reason})", reason = clean(.reason))]
    Refused { reason: String },
    /// The server's own words.
    #[error("{message}", message = clean(.message))]
    Said { message: String },
    #[error("{cluster} does not answer: {said}", cluster = clean(.cluster), said = clean(.said))]
    Silent { cluster: String, said: String },
}

impl ClusterFailure {
    pub(super) fn next(&self) -> Next {
        Next::Kubectl(match self {
            Self::Kubeconfig { .. } => Kubectl::Kubeconfig,
            Self::Request { why: RequestFault::Silent { .. }, .. } => Kubectl::ClusterInfoOrContext,
            Self::Runtime(_) | Self::Client(_) | Self::NotAnObject | Self::Request { .. } => {
                Kubectl::ClusterInfoAndRights
            }
            Self::BadKey { source, .. } => {
                return source.certain_next().unwrap_or(Next::Kubectl(Kubectl::ClusterInfoAndRights));
            }
            Self::NoKeys { .. } => return Next::Again(Again::WithControllerNamespace),
            Self::NoKeyInSecret { namespace, name, .. } => {
                Kubectl::DeleteSecret { namespace: namespace.clone(), name: name.clone() }
            }
            Self::NotRestarted { namespace, name, .. } => {
                Kubectl::RolloutStatus { namespace: namespace.clone(), name: name.clone() }
            }
            Self::CanaryDiffers => Kubectl::SealedSecrets,
            Self::CanaryStaysSealed { namespace, .. } => Kubectl::ControllerLogs { namespace: namespace.clone() },
        })
    }
}
