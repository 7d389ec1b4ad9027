//! From an object as Kubernetes writes it to a light type.

use std::fmt;

use ecow::EcoString;
use serde::de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor};
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
pub(crate) fn keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<EcoString>>, D::Error> {
    Ok(Option::<Keys>::deserialize(deserializer)?.map(|keys| keys.0))
}

struct Keys(Vec<EcoString>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Keys;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
        let mut keys = Vec::new();
        while let Some(key) = map.next_key()? {
            map.next_value::<IgnoredAny>()?;
            keys.push(key);
        }
        keys.sort();
        Ok(Keys(keys))
    }
}
