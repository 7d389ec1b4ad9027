//! A data source that reads, when the run is planned, a Secret in a namespace that only Git brings, while the run starts what applies
//! Git.

use model::{LayerDefect, StepFault};
use source::Span;

use super::{Judge, fault, name, starts};
use crate::object::Object;
use crate::terraform::chain::{Block, BlockKind};

const TYPES: [&str; 4] =
    ["kubernetes_secret", "kubernetes_secret_v1", "kubernetes_config_map", "kubernetes_config_map_v1"];

pub(super) fn find(judge: &Judge<'_>, at: usize, found: &mut Vec<StepFault>) {
    let chain = &judge.layers.chains[at];
    let Some((_, start)) = starts(chain).next() else { return };
    for (id, block) in chain.iter().filter(|(_, block)| TYPES.contains(&block.type_name.as_str())) {
        if block.kind != BlockKind::Data || block.count.is_none_or(|count| count == 0) || !chain.is_read_at_plan(id) {
            continue;
        }
        let (Some(own), Some(namespace)) = (block.text(&["metadata", "name"]), block.text(&["metadata", "namespace"]))
        else {
            continue;
        };
        let is_made = judge.layers.chains.iter().flat_map(|chain| &chain.blocks).any(|block| makes(block, namespace));
        if let Some(brought) = namespace_in_git(judge, namespace).filter(|_| !is_made) {
            let kind = if block.type_name.starts_with("kubernetes_secret") { "Secret" } else { "ConfigMap" };
            let object = model::ObjectRef::new(kind, namespace, own);
            let defect = LayerDefect::ObjectFromGitOps { object, start: name(start) };
            found.push(fault(chain, block, block.at, defect, vec![start.at, brought]));
        }
    }
}

/// Whether a run makes a namespace itself.
fn makes(block: &Block, namespace: &str) -> bool {
    let is = |path: &[&str]| block.text(path) == Some(namespace);
    block.kind == BlockKind::Resource
        && match block.type_name.as_str() {
            "kubernetes_namespace" | "kubernetes_namespace_v1" => is(&["metadata", "name"]),
            "helm_release" => is(&["namespace"]),
            _ => false,
        }
}

/// The Namespace that Git holds.
fn namespace_in_git(judge: &Judge<'_>, namespace: &str) -> Option<Span> {
    let objects = judge.repository.yaml_files().flat_map(|(_, _, documents)| documents);
    let mut objects = objects.filter_map(|document| document.root.as_ref()).map(Object::new);
    objects.find(|object| object.is("", "Namespace") && object.name() == namespace).map(Object::name_span)
}
