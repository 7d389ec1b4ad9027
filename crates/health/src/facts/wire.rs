//! From an object as Kubernetes writes it to a light type.

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};

use super::{Kind, Meta};

/// A light type that is read from an object of Kubernetes, of which it keeps what health is read from.
///
/// `Wire` is the object's shape. It can be read from any deserializer, so a client may read it from inside of its own types.
pub trait Fact: Sized {
    type Wire: DeserializeOwned;

    /// Items of a list don't say their kind: the asker knows it.
    fn from_wire(wire: Self::Wire, kind: &Kind) -> Self;

    fn meta(&self) -> &Meta;

    /// One object of JSON.
    fn parse(bytes: &[u8], kind: &Kind) -> Result<Self, serde_json::Error> {
        Ok(Self::from_wire(serde_json::from_slice(bytes)?, kind))
    }
}

/// Where `null` means the same as absence.
pub(crate) fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Read<T> {
    Good(T),
    Other(IgnoredAny),
}

/// Where a value that is not what was expected means the same as absence: fields of custom resources, and times.
pub(crate) fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(match Read::deserialize(deserializer)? {
        Read::Good(value) => value,
        Read::Other(_) => T::default(),
    })
}

/// The names of a map's keys, and none of its values.
pub(crate) fn keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<ecow::EcoString>>, D::Error> {
    let map: Option<std::collections::BTreeMap<ecow::EcoString, IgnoredAny>> = Option::deserialize(deserializer)?;
    Ok(map.map(|map| map.into_keys().collect()))
}
