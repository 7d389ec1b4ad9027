//! Why a list is not whole.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

/// Why something was not seen, or not all of it. What was not seen is never a cause.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Why {
    /// It was not asked for.
    #[default]
    NotAsked,
    /// The API server forbids it (403): the right that is missing. No namespace: in the whole cluster.
    Forbidden { verb: EcoString, group: EcoString, resource: EcoString, namespace: Option<EcoString> },
    /// The API server does not serve the kind: its CRD does not exist.
    NotServed,
    /// The API server would serve it, but the server behind an APIService does not answer.
    Stale { api_service: EcoString },
    /// Nobody listens at the address.
    Refused,
    /// The connection stands, and no answer came for this long.
    Hanging { seconds: u64 },
    /// Packets are silently dropped, or there is no route: no connection within this time.
    Dropped { seconds: u64 },
    /// The connection broke off in the middle.
    Broken,
    /// The name of the address does not resolve.
    NoSuchHost,
    /// A list was cut off by 410: its resource version expired.
    Expired,
    /// The API server does not know who asks (401).
    Unauthorized,
    /// The certificate that we show expired.
    CertificateExpired { at: Option<Time> },
    /// The certificate that the other side shows is not trusted, or not meant for this name.
    Untrusted,
    /// Too many requests (429).
    Throttled,
    /// Any other answer.
    Answered { status: u16, message: EcoString },
    /// An object that could not be read.
    Unreadable { message: EcoString },
}

use super::Time;

impl Why {
    /// Whether it says that there is nothing to be seen, instead of that it could not be seen.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::NotServed)
    }
}
