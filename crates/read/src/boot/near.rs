//! Where in a boot something stands that is no step of it: the steps that it comes after, and those that come after it.

use std::collections::BTreeMap;

use model::{Boot, Near, ObjectRef, StepFault, StepId};

use crate::terraform::chain::{BlockId, Chain};
use crate::terraform::layers::Layers;

/// Of each block of Terraform that something is wrong with and that is no step.
pub(crate) fn near(boot: &Boot, layers: &Layers, faults: &[StepFault]) -> BTreeMap<ObjectRef, Near> {
    let is_step = |object: &ObjectRef| boot.steps.iter().any(|step| step.object == *object);
    let mut found = BTreeMap::new();
    for object in faults.iter().map(|fault| &fault.step) {
        if object.kind != "Terraform" || found.contains_key(object) || is_step(object) {
            continue;
        }
        let chain = layers.chains.iter().find(|chain| chain.root == object.namespace);
        if let Some((chain, block)) = chain.and_then(|chain| Some((chain, chain.find(&object.name)?))) {
            found.insert(object.clone(), of_block(boot, chain, block));
        }
    }
    found
}

fn of_block(boot: &Boot, chain: &Chain, block: BlockId) -> Near {
    let steps: Vec<(StepId, BlockId)> = boot
        .ids()
        .filter(|id| {
            let object = &boot.step(*id).object;
            object.kind == "Terraform" && object.namespace == chain.root
        })
        .filter_map(|id| Some((id, chain.find(&boot.step(id).object.name)?)))
        .collect();
    let before = chain.all_before(block);
    let after = steps.iter().filter(|(_, step)| before[step.index()]).map(|(id, _)| *id).collect();
    let followed = steps.iter().filter(|(_, step)| chain.is_before(block, *step)).map(|(id, _)| *id).collect();
    Near { after, before: followed }
}
