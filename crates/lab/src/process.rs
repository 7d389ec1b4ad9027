//! What can run in a lab.

use std::fmt;

use crate::build::Tool;

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

    pub fn tool(self) -> Tool {
        match self {
            Self::Etcd => Tool::Etcd,
            Self::ApiServer => Tool::KubeApiserver,
            Self::ControllerManager => Tool::KubeControllerManager,
            Self::Scheduler => Tool::KubeScheduler,
            Self::Kwok => Tool::Kwok,
            Self::SourceController => Tool::SourceController,
            Self::KustomizeController => Tool::KustomizeController,
            Self::HelmController => Tool::HelmController,
            Self::SealedSecrets => Tool::SealedSecretsController,
        }
    }

    /// The name of its program and of its log.
    pub fn name(self) -> &'static str {
        self.tool().name()
    }

    /// What its log says once it works. Without a line here, being alive is all there is to see.
    pub(crate) fn ready_line(self) -> Option<&'static str> {
        match self {
            Self::SourceController | Self::KustomizeController | Self::HelmController => Some("Starting workers"),
            _ => None,
        }
    }
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
