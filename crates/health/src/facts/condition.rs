//! Conditions, which nearly every kind reports.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::Time;
use super::wire::{lenient, nullable};

/// What a condition says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Truth {
    True,
    False,
    #[default]
    #[serde(other)]
    Unknown,
}

/// One condition of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: EcoString,
    #[serde(default)]
    pub status: Truth,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "EcoString::is_empty")]
    pub reason: EcoString,
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "EcoString::is_empty")]
    pub message: EcoString,
    #[serde(
        default,
        deserialize_with = "lenient",
        rename = "lastTransitionTime",
        skip_serializing_if = "Option::is_none"
    )]
    pub since: Option<Time>,
    /// The last sign of who reports it.
    #[serde(
        default,
        deserialize_with = "lenient",
        rename = "lastHeartbeatTime",
        skip_serializing_if = "Option::is_none"
    )]
    pub heartbeat: Option<Time>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
}

/// The condition of this type.
pub fn condition<'a>(conditions: &'a [Condition], kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}
