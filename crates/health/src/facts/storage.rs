//! Claims, volumes, classes and drivers.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::nullable;
use super::{Fact, Kind, Meta, ObjectKey};

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub meta: Meta,
    /// None: the default class is meant. Empty: no class at all.
    pub class: Option<EcoString>,
    pub volume: EcoString,
    /// `Pending`, `Bound` or `Lost`.
    pub phase: EcoString,
    /// The node that the scheduler chose for its first consumer.
    pub selected_node: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireClaim {
    metadata: WireMeta,
    spec: WireClaimSpec,
    status: WirePhase,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireClaimSpec {
    storage_class_name: Option<EcoString>,
    #[serde(deserialize_with = "nullable")]
    volume_name: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WirePhase {
    #[serde(deserialize_with = "nullable")]
    phase: EcoString,
}

impl Fact for Claim {
    type Wire = WireClaim;

    fn from_wire(wire: WireClaim, _: &Kind) -> Self {
        let selected_node = wire.metadata.annotation("volume.kubernetes.io/selected-node");
        Self {
            meta: wire.metadata.into(),
            class: wire.spec.storage_class_name,
            volume: wire.spec.volume_name,
            phase: wire.status.phase,
            selected_node,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// A PersistentVolume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    pub meta: Meta,
    pub class: EcoString,
    pub phase: EcoString,
    /// The CSI driver; empty for volumes of other kinds.
    pub driver: EcoString,
    pub claim: Option<ObjectKey>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireVolume {
    metadata: WireMeta,
    spec: WireVolumeSpec,
    status: WirePhase,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireVolumeSpec {
    #[serde(deserialize_with = "nullable")]
    storage_class_name: EcoString,
    csi: Option<WireDriver>,
    claim_ref: Option<WireClaimRef>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireDriver {
    driver: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireClaimRef {
    namespace: EcoString,
    name: EcoString,
}

impl Fact for Volume {
    type Wire = WireVolume;

    fn from_wire(wire: WireVolume, _: &Kind) -> Self {
        let spec = wire.spec;
        let claim = |of: WireClaimRef| ObjectKey::new("", "PersistentVolumeClaim", &of.namespace, &of.name);
        Self {
            meta: wire.metadata.into(),
            class: spec.storage_class_name,
            phase: wire.status.phase,
            driver: spec.csi.unwrap_or_default().driver,
            claim: spec.claim_ref.map(claim),
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageClass {
    pub meta: Meta,
    pub provisioner: EcoString,
    pub default: bool,
    /// A claim waits for its first pod, and that is healthy.
    pub waits_for_consumer: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WireClass {
    metadata: WireMeta,
    provisioner: EcoString,
    #[serde(deserialize_with = "nullable")]
    volume_binding_mode: EcoString,
}

impl Fact for StorageClass {
    type Wire = WireClass;

    fn from_wire(wire: WireClass, _: &Kind) -> Self {
        let meta: Meta = wire.metadata.into();
        let default =
            ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
                .iter()
                .any(|key| meta.annotations.is(key, "true"));
        let waits_for_consumer = wire.volume_binding_mode == "WaitForFirstConsumer";
        Self { meta, provisioner: wire.provisioner, default, waits_for_consumer }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

/// Which CSI drivers a node has registered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsiNode {
    pub meta: Meta,
    pub drivers: Vec<NodeDriver>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeDriver {
    pub name: EcoString,
    #[serde(deserialize_with = "nullable")]
    pub topology_keys: Vec<EcoString>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireCsiNode {
    metadata: WireMeta,
    spec: WireDrivers,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireDrivers {
    #[serde(deserialize_with = "nullable")]
    drivers: Vec<NodeDriver>,
}

impl Fact for CsiNode {
    type Wire = WireCsiNode;

    fn from_wire(wire: WireCsiNode, _: &Kind) -> Self {
        Self { meta: wire.metadata.into(), drivers: wire.spec.drivers }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CsiDriver {
    pub meta: Meta,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireBare {
    metadata: WireMeta,
}

impl Fact for CsiDriver {
    type Wire = WireBare;

    fn from_wire(wire: WireBare, _: &Kind) -> Self {
        Self { meta: wire.metadata.into() }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VolumeAttachment {
    pub meta: Meta,
    pub attacher: EcoString,
    pub node: EcoString,
    pub volume: EcoString,
    pub attached: bool,
    pub attach_error: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireAttachment {
    metadata: WireMeta,
    spec: WireAttachmentSpec,
    status: WireAttachmentStatus,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireAttachmentSpec {
    attacher: EcoString,
    node_name: EcoString,
    source: WireAttachmentSource,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireAttachmentSource {
    #[serde(deserialize_with = "nullable")]
    persistent_volume_name: EcoString,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireAttachmentStatus {
    attached: Option<bool>,
    attach_error: Option<WireError>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireError {
    #[serde(deserialize_with = "nullable")]
    message: EcoString,
}

impl Fact for VolumeAttachment {
    type Wire = WireAttachment;

    fn from_wire(wire: WireAttachment, _: &Kind) -> Self {
        Self {
            meta: wire.metadata.into(),
            attacher: wire.spec.attacher,
            node: wire.spec.node_name,
            volume: wire.spec.source.persistent_volume_name,
            attached: wire.status.attached == Some(true),
            attach_error: wire.status.attach_error.unwrap_or_default().message,
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
