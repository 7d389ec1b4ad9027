//! A resource that is told not to wait until what it makes works, with something that was put after it on purpose.

use model::{LayerDefect, StepFault};

use super::{Judge, fault, name};
use crate::terraform::chain::{Block, BlockId, BlockKind, Chain};

pub(super) fn find(judge: &Judge<'_>, chain: &Chain, found: &mut Vec<StepFault>) {
    for (id, block) in chain.iter() {
        if block.kind != BlockKind::Resource || block.count.is_none_or(|count| count == 0) {
            continue;
        }
        let Some(wait) = judge.known(chain, block).and_then(|known| known.waits()).filter(|wait| wait.default) else {
            continue;
        };
        let path: Vec<&str> = wait.argument.split('.').collect();
        let is_implied = wait
            .implied_by
            .iter()
            .any(|argument| block.truth(&[argument]) != Some(false) && block.argument(&[argument]).is_some());
        let Some(argument) = block.argument(&path).filter(|argument| argument.known() == Some("false") && !is_implied)
        else {
            continue;
        };
        let after: Vec<(BlockId, &Block)> = chain
            .iter()
            .filter(|(other, _)| chain.waits_for(*other).iter().any(|edge| edge.to == id && edge.why.is_explicit()))
            .collect();
        // What comes next may look at it.
        if after.iter().any(|(_, block)| may_prove(block)) || after.iter().any(|(next, _)| is_gated(chain, *next)) {
            continue;
        }
        let dependent = after.iter().map(|(_, block)| *block).find(|block| block.kind == BlockKind::Resource);
        let defect = LayerDefect::WaitOff { argument: wait.argument.as_str().into(), dependent: dependent.map(name) };
        found.push(fault(chain, block, argument.at, defect, dependent.iter().map(|block| block.at).collect()));
    }
}

/// Whether a block may show that what is before it works.
fn may_prove(block: &Block) -> bool {
    block.kind == BlockKind::Data || !block.provisioners.is_empty() || block.type_name == "time_sleep"
}

/// Whether something that comes after it looks.
fn is_gated(chain: &Chain, id: BlockId) -> bool {
    chain.iter().any(|(other, block)| may_prove(block) && chain.is_before(id, other))
}
