//! Why something could not be seen. What happened is told by variant and number; nothing here is a sentence.

use std::time::Duration;

/// A right that a request needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Right {
    pub verb: &'static str,
    /// Empty for the core group.
    pub group: String,
    /// The plural of a kind, or a path that is no resource.
    pub resource: String,
    /// In one namespace only.
    pub namespace: Option<String>,
}

/// What is wrong with the certificate that an endpoint shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerCertificate {
    /// The kubeconfig's authority did not sign it: another cluster, or one that was made anew.
    UnknownAuthority,
    Expired,
    NotYetValid,
    /// It is for other names.
    OtherName,
    Other {
        said: String,
    },
}

/// Why a request was not answered, or not with what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The machine is there, and nothing listens at the port.
    Refused,
    /// The connection is made, and no answer comes.
    Silent {
        after: Duration,
    },
    /// No packet comes back: a machine that is off, a firewall, a wrong address.
    Dropped {
        after: Duration,
    },
    /// A network on the way says that it can't be reached.
    NoRoute,
    NoSuchHost {
        host: String,
    },
    /// The connection ended in the middle of the answer.
    Cut {
        bytes: u64,
    },
    /// The answer began, and then nothing more of it came.
    Stalled {
        bytes: u64,
        after: Duration,
    },
    ServerCertificate(ServerCertificate),
    /// The API server does not take the certificate of the kubeconfig.
    ClientCertificate {
        said: String,
    },
    /// Not TLS at all, or a kind that is not understood.
    Tls {
        said: String,
    },
    /// 401: the API server does not know who asks.
    Unauthorized,
    /// 403: who asks is known, and has not this right.
    Forbidden(Right),
    /// 404.
    NotFound,
    /// 410: what was continued is too old.
    Expired,
    /// 429.
    TooMany {
        retry_after: Option<Duration>,
    },
    /// Any other status than success.
    Answered {
        code: u16,
        reason: String,
        retry_after: Option<Duration>,
    },
    /// An answer that is not of a Kubernetes API server.
    NotKubernetes {
        code: u16,
    },
    /// More than is ever read at once.
    TooLarge {
        bytes: u64,
    },
    /// JSON that is not what it should be.
    Unreadable {
        said: String,
    },
    /// What the kubeconfig says to get credentials with did not give any.
    Credentials {
        said: String,
    },
    Other {
        said: String,
    },
}

impl Fault {
    /// It is about who asks and how the kubeconfig leads there, and says nothing of how the cluster is.
    pub fn is_access(&self) -> bool {
        matches!(
            self,
            Self::ServerCertificate(_)
                | Self::ClientCertificate { .. }
                | Self::Unauthorized
                | Self::Credentials { .. }
                | Self::NoSuchHost { .. }
        )
    }

    /// Nothing was reached.
    pub fn is_unreachable(&self) -> bool {
        matches!(self, Self::Refused | Self::Silent { .. } | Self::Dropped { .. } | Self::NoRoute)
    }

    /// Asking again will not help before a person does something.
    pub(crate) fn is_final(&self) -> bool {
        let is_ours = matches!(self, Self::Forbidden(_) | Self::NotFound | Self::NotKubernetes { .. });
        is_ours || (self.is_access() && !matches!(self, Self::NoSuchHost { .. }))
    }

    /// How long the API server asks to be left alone.
    pub(crate) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::TooMany { retry_after } | Self::Answered { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
