//! What a key-value engine of version 2 answers. Knows no network: status and body are all there is.

use std::fmt;

use diagnostic::Next;
use diagnostic::next::Program;
use serde_json::Value;

use super::{Kept, Revision};
use crate::ring::{Ring, RingError};
use source::clean;

/// Of what a server says, as much as fits a line: something between it and us may send back what it was sent.
const SAID_CHARACTERS_MAX: usize = 160;
/// The one field of the entry.
pub(super) const FIELD: &str = "ring";

/// An answer of a server: a status, and a body that may be anything.
pub struct VaultAnswer {
    status: u16,
    body: Value,
}

impl fmt::Debug for VaultAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VaultAnswer({})", self.status)
    }
}

/// Why an answer gives no keys. The server's words are about the request, not about what it keeps.
#[derive(Debug, thiserror::Error)]
pub enum VaultRefusal {
    #[error("its version {version} was deleted")]
    Deleted { version: u64 },
    #[error("it has no field `{FIELD}`: it was not written by coldstart")]
    NotOurs,
    #[error("it is not a key-value engine of version 2")]
    NotVersion2,
    #[error("the token has no permission ({it})", it = clean(.0))]
    Forbidden(String),
    #[error("the server is sealed or in maintenance ({it})", it = clean(.0))]
    Sealed(String),
    #[error("there is no such engine ({it})", it = clean(.0))]
    NoEngine(String),
    #[error("the server answers {status} ({said})", said = clean(.said))]
    Other { status: u16, said: String },
    #[error(transparent)]
    Damaged(RingError),
}

impl VaultRefusal {
    /// What to type next, where the server's answer says so.
    pub fn next(&self) -> Option<Next> {
        let program = match self {
            Self::Deleted { .. } => return None,
            Self::Damaged(source) => return Some(source.next()),
            Self::NotOurs => Program::VaultOtherPath,
            Self::NotVersion2 => Program::VaultEnginesDetailed,
            Self::Forbidden(_) => Program::VaultToken,
            Self::Sealed(_) => Program::VaultStatus,
            Self::NoEngine(_) => Program::VaultEngines,
            Self::Other { .. } => Program::VaultStatusOrAddress,
        };
        Some(Next::Program(program))
    }
}

impl VaultAnswer {
    pub fn new(status: u16, body: &[u8]) -> Self {
        Self { status, body: serde_json::from_slice(body).unwrap_or(Value::Null) }
    }

    fn errors(&self) -> Vec<&str> {
        self.body["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// What the server says of a failure.
    pub fn refusal(&self) -> VaultRefusal {
        let first = self.errors().first().and_then(|said| said.lines().next()).unwrap_or("no reason given");
        let said: String = first.chars().take(SAID_CHARACTERS_MAX).collect();
        match self.status {
            403 => VaultRefusal::Forbidden(said),
            503 => VaultRefusal::Sealed(said),
            404 => VaultRefusal::NoEngine(said),
            status => VaultRefusal::Other { status, said },
        }
    }

    /// The keys of an answer to a question for them.
    pub fn kept(&self) -> Result<Kept, VaultRefusal> {
        let version = self.body.pointer("/data/metadata/version").and_then(Value::as_u64);
        match (self.status, version) {
            // A path that was never written has nothing to say; an engine that is not there has.
            (404, None) if self.errors().is_empty() => {
                Ok(Kept { ring: Ring::default(), revision: Revision::Version(0) })
            }
            (404, Some(version)) => Err(VaultRefusal::Deleted { version }),
            (200, Some(version)) => {
                let text = self.body.pointer(&format!("/data/data/{FIELD}")).and_then(Value::as_str);
                let ring = Ring::from_json(text.ok_or(VaultRefusal::NotOurs)?.as_bytes());
                Ok(Kept { ring: ring.map_err(VaultRefusal::Damaged)?, revision: Revision::Version(version) })
            }
            (200, None) => Err(VaultRefusal::NotVersion2),
            _ => Err(self.refusal()),
        }
    }

    /// Whether a write was done.
    pub fn is_written(&self) -> bool {
        matches!(self.status, 200 | 204)
    }

    /// Whether a write was refused because somebody else wrote meanwhile.
    pub fn is_outrun(&self) -> bool {
        self.status == 400 && self.errors().iter().any(|said| said.contains("check-and-set"))
    }
}
