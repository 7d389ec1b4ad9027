//! `commonMetadata`: labels and annotations that a Kustomization gives to everything it applies.

use yaml::{Cost, Map, Node};

/// What it costs to add labels and annotations to an object.
pub(super) fn cost_of_metadata(node: &Node, metadata: &Node) -> Cost {
    let of = |field: &str| {
        let there = node.at(&["metadata", field]).map_or(0, |map| map.entries().len());
        let added = metadata.get(field).map_or(0, |map| map.entries().len());
        if added == 0 { Cost::NONE } else { Cost::made(there + added, 0) }
    };
    of("labels").and(of("annotations"))
}

/// Adds them; what is there gives way.
pub(super) fn add_common_metadata(node: &mut Node, metadata: &Node) {
    for field in ["labels", "annotations"] {
        let Some(extra) = metadata.get(field).and_then(Node::as_map) else { continue };
        let Some(map) = node.as_map_mut() else { return };
        let target: &mut Map = map.map_mut("metadata", metadata.span).map_mut(field, metadata.span);
        target.insert_all(extra.iter().cloned());
    }
}
