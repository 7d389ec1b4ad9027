//! Secrets: their names and the names of their keys, and never a value.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::{keys, nullable};
use super::{Fact, Kind, Meta};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    pub meta: Meta,
    pub kind: EcoString,
    /// The names of its keys, where more than its metadata was asked for.
    pub keys: Option<Vec<EcoString>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireSecret {
    metadata: WireMeta,
    #[serde(rename = "type", deserialize_with = "nullable")]
    kind: EcoString,
    #[serde(deserialize_with = "keys")]
    data: Option<Vec<EcoString>>,
}

impl Fact for Secret {
    type Wire = WireSecret;

    fn from_wire(wire: WireSecret, _: &Kind) -> Self {
        Self { meta: wire.metadata.into(), kind: wire.kind, keys: wire.data }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
