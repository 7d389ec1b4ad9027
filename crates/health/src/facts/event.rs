//! Events: hints with an age, never proofs.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::{lenient, nullable};
use super::{Fact, Kind, Meta, ObjectKey, Time};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    pub meta: Meta,
    pub about: ObjectKey,
    /// `Warning`, `Normal`.
    pub kind: EcoString,
    pub reason: EcoString,
    pub message: EcoString,
    pub count: u32,
    /// When it happened last.
    pub last: Option<Time>,
}

/// Of `v1` and of `events.k8s.io/v1`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WireEvent {
    metadata: WireMeta,
    #[serde(deserialize_with = "nullable")]
    involved_object: WireAbout,
    #[serde(deserialize_with = "nullable")]
    regarding: WireAbout,
    #[serde(rename = "type", deserialize_with = "nullable")]
    kind: EcoString,
    #[serde(deserialize_with = "nullable")]
    reason: EcoString,
    #[serde(deserialize_with = "nullable")]
    message: EcoString,
    #[serde(deserialize_with = "nullable")]
    note: EcoString,
    count: Option<u32>,
    deprecated_count: Option<u32>,
    #[serde(deserialize_with = "nullable")]
    series: WireSeries,
    #[serde(deserialize_with = "lenient")]
    last_timestamp: Option<Time>,
    #[serde(deserialize_with = "lenient")]
    event_time: Option<Time>,
    #[serde(deserialize_with = "lenient")]
    deprecated_last_timestamp: Option<Time>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireAbout {
    api_version: EcoString,
    kind: EcoString,
    namespace: EcoString,
    name: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSeries {
    count: Option<u32>,
    #[serde(deserialize_with = "lenient")]
    last_observed_time: Option<Time>,
}

impl Fact for Event {
    type Wire = WireEvent;

    fn from_wire(wire: WireEvent, _: &Kind) -> Self {
        let about = if wire.regarding.kind.is_empty() { wire.involved_object } else { wire.regarding };
        let group = about.api_version.split_once('/').map_or("", |(group, _)| group);
        let meta: Meta = wire.metadata.into();
        let times =
            [wire.series.last_observed_time, wire.last_timestamp, wire.deprecated_last_timestamp, wire.event_time];
        Self {
            about: ObjectKey::new(group, &about.kind, &about.namespace, &about.name),
            kind: wire.kind,
            reason: wire.reason,
            message: if wire.note.is_empty() { wire.message } else { wire.note },
            count: wire.series.count.or(wire.count).or(wire.deprecated_count).unwrap_or(1),
            last: times.into_iter().flatten().max().or(meta.created),
            meta,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
