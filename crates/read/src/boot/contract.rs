//! Steps out of a run of Terraform, with only those blocks left that do something for the boot: what lies between two of them orders
//! them all the same.

use std::collections::BTreeMap;

use model::{Boot, BootStep, OrderedBy, StepId, StepOrder};

use super::STEPS_MAX;
use crate::terraform::chain::{BlockId, Chain, Edge, Why};

/// Adds the steps of one run.
pub(super) fn append(boot: &mut Boot, chain: &Chain, steps: Vec<(BlockId, BootStep)>) {
    let room = STEPS_MAX.saturating_sub(boot.steps.len());
    let first = source::to_u32(boot.steps.len());
    let ids: BTreeMap<BlockId, StepId> =
        steps.iter().take(room).zip(first..).map(|((block, _), id)| (*block, StepId(id))).collect();
    for (block, step) in steps.into_iter().take(room) {
        boot.steps.push(BootStep { after: orders(chain, &ids, block), ..step });
    }
}

/// The next steps before a block, through whatever lies between.
fn orders(chain: &Chain, ids: &BTreeMap<BlockId, StepId>, block: BlockId) -> Vec<StepOrder> {
    let mut found: BTreeMap<StepId, StepOrder> = BTreeMap::new();
    let mut seen = vec![false; chain.blocks.len()];
    // A way begins with its first edge: that is what a person would look at.
    let mut open: Vec<(BlockId, &Edge)> = chain.waits_for(block).iter().map(|edge| (edge.to, edge)).collect();
    open.reverse();
    while let Some((at, first)) = open.pop() {
        if std::mem::replace(&mut seen[at.index()], true) {
            continue;
        }
        match ids.get(&at) {
            Some(id) => {
                found.entry(*id).or_insert(StepOrder { on: *id, at: first.at, by: ordered_by(first.why) });
            }
            None => open.extend(chain.waits_for(at).iter().rev().map(|edge| (edge.to, first))),
        }
    }
    found.into_values().collect()
}

fn ordered_by(why: Why) -> OrderedBy {
    match why {
        Why::DependsOn | Why::ModuleDependsOn => OrderedBy::Declaration,
        Why::Reference | Why::ModuleExpansion => OrderedBy::Reference,
        Why::Configuration => OrderedBy::HandOver,
    }
}
