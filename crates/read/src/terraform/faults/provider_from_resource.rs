//! A provider whose configuration depends on a resource of its own run.

use catalogue::{Moment, Service};
use model::{LayerDefect, StepFault};

use super::{Judge, fault, is_asked_at_plan, name};
use crate::terraform::chain::{Block, BlockId, BlockKind, Chain, Edge, Why};

/// Providers whose resources are nothing that answers.
const HELPERS: [&str; 3] = ["random", "time", "tls"];

const FILES: [&str; 2] = ["local_file", "local_sensitive_file"];

pub(super) fn find(judge: &Judge<'_>, chain: &Chain, found: &mut Vec<StepFault>) {
    for (id, provider) in chain.iter().filter(|(_, block)| block.kind == BlockKind::Provider) {
        let is_made = |edge: &&Edge| {
            let block = chain.block(edge.to);
            edge.why == Why::Reference && block.kind == BlockKind::Resource && block.may_exist()
        };
        let mut edges = chain.waits_for(id).iter().filter(is_made);
        let Some(first) = edges.clone().find(|edge| edge.is_computed).or_else(|| edges.next()) else { continue };
        let users: Vec<(BlockId, &Block)> = chain
            .iter()
            .filter(|(_, block)| block.configuration == Some(id) && block.count.is_none_or(|count| count > 0))
            .collect();
        if users.is_empty() {
            continue;
        }
        let reader = users.iter().find(|(user, block)| reads_at_plan(judge, chain, *user, block, first.is_computed));
        let resource = chain.block(first.to);
        // A key to log in with, of something that is there already.
        if reader.is_none() && HELPERS.contains(&resource.provider.as_str()) {
            continue;
        }
        let defect = LayerDefect::ProviderFromResource {
            resource: name(resource),
            reader: reader.map(|(_, block)| name(block)),
            // Its path is known before it is made.
            is_file: !first.is_computed && FILES.contains(&resource.type_name.as_str()),
        };
        let shown = [Some(resource.at), reader.map(|(_, block)| block.at)].into_iter().flatten().collect();
        found.push(fault(chain, provider, first.at, defect, shown));
    }
}

/// Whether a block uses its provider when the first plan is made.
fn reads_at_plan(judge: &Judge<'_>, chain: &Chain, id: BlockId, block: &Block, is_computed: bool) -> bool {
    // Of one that may not be made, it is not known that it is asked.
    if block.count == Some(0) || block.count.is_none() {
        return false;
    }
    let asks = judge
        .needs(chain, block)
        .iter()
        .any(|need| need.when == Moment::Plan && need.what != Service::Url && is_asked_at_plan(chain, id, need));
    asks || is_computed && wants_values(judge, chain, block)
}

/// Whether the configuration of its provider must be known by then.
fn wants_values(judge: &Judge<'_>, chain: &Chain, block: &Block) -> bool {
    let required = chain.requirement(block);
    // Without a version it is not known that it is one that wants them.
    let Some(constraints) = required.filter(|one| !one.versions.is_empty() || one.locked.is_some()) else {
        return false;
    };
    let mut all = constraints.versions.clone();
    all.extend(constraints.locked.clone());
    let Some(known) = judge.known(chain, block) else { return false };
    let wants = known.provider.wants_values(&all);
    wants.is_some_and(|wants| !wants.unless.as_ref().is_some_and(|switch| super::is_set(chain, block, switch)))
}
