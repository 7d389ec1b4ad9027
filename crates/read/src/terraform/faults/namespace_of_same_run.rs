//! An object in a namespace that another block of its run makes, with nothing that orders the two.

use model::{GIVEN_NAMESPACES, LayerDefect, StepFault};

use super::{fault, name};
use crate::terraform::chain::{Block, BlockId, BlockKind, Chain};

/// Types that are made at once, and refused where their namespace is not there.
const TYPES: [&str; 12] = [
    "kubernetes_config_map",
    "kubernetes_config_map_v1",
    "kubernetes_secret",
    "kubernetes_secret_v1",
    "kubernetes_service_account",
    "kubernetes_service_account_v1",
    "kubernetes_deployment",
    "kubernetes_deployment_v1",
    "kubernetes_service",
    "kubernetes_service_v1",
    "kubernetes_persistent_volume_claim",
    "kubernetes_persistent_volume_claim_v1",
];

pub(super) fn find(chain: &Chain, found: &mut Vec<StepFault>) {
    let is_made = |block: &Block| block.kind == BlockKind::Resource && block.count.is_some_and(|count| count > 0);
    for (id, block) in chain.iter().filter(|(_, block)| is_made(block) && TYPES.contains(&block.type_name.as_str())) {
        let namespace = block.text(&["metadata", "namespace"]).filter(|name| !GIVEN_NAMESPACES.contains(name));
        let Some(namespace) = namespace else { continue };
        let mut makers: Vec<(BlockId, &Block)> = chain
            .iter()
            .filter(|(_, maker)| is_made(maker) && maker.configuration == block.configuration || is_release(maker))
            .filter(|(_, maker)| is_made(maker) && makes(maker, namespace))
            .collect();
        // The namespace itself tells more than a release that would make it.
        makers.sort_by_key(|(_, maker)| is_release(maker));
        let is_ordered = makers.iter().any(|(maker, _)| chain.is_before(*maker, id));
        let Some((_, maker)) = makers.first().filter(|_| !is_ordered) else { continue };
        let at = block.argument(&["metadata", "namespace"]).map_or(block.at, |argument| argument.at);
        let defect = LayerDefect::NamespaceOfSameRun { namespace: namespace.into(), by: name(maker) };
        found.push(fault(chain, block, at, defect, vec![maker.at]));
    }
}

fn is_release(block: &Block) -> bool {
    block.type_name == "helm_release"
}

fn makes(block: &Block, namespace: &str) -> bool {
    match block.type_name.as_str() {
        "kubernetes_namespace" | "kubernetes_namespace_v1" => block.text(&["metadata", "name"]) == Some(namespace),
        "helm_release" => {
            block.truth(&["create_namespace"]) == Some(true) && block.text(&["namespace"]) == Some(namespace)
        }
        _ => false,
    }
}
