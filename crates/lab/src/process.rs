//! What can run in a lab.

use std::fmt;

/// A process of the lab. The order is the one in which they are started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Process {
    Etcd,
    ApiServer,
    ControllerManager,
    Scheduler,
    Kwok,
    SourceController,
    KustomizeController,
    HelmController,
    SealedSecrets,
}

impl Process {
    pub const ALL: [Self; 9] = [
        Self::Etcd,
        Self::ApiServer,
        Self::ControllerManager,
        Self::Scheduler,
        Self::Kwok,
        Self::SourceController,
        Self::KustomizeController,
        Self::HelmController,
        Self::SealedSecrets,
    ];

    /// The name of its binary and of its log.
    pub fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kwok => "kwok",
            Self::SourceController => "source-controller",
            Self::KustomizeController => "kustomize-controller",
            Self::HelmController => "helm-controller",
            Self::SealedSecrets => "sealed-secrets-controller",
        }
    }

    /// What its log says once it works. Without a line here, being alive is all there is to see.
    pub(crate) fn ready_line(self) -> Option<&'static str> {
        match self {
            Self::SourceController | Self::KustomizeController | Self::HelmController => Some("Starting workers"),
            Self::SealedSecrets => Some("HTTP server serving"),
            _ => None,
        }
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
