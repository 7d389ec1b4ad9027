//! Runs of Terraform that no script applies, and whose cluster another run makes, which one does: what is left of an older layout.

use std::collections::BTreeSet;

use source::Span;

use super::chain::Chain;
use super::layers::{Layers, makers};
use super::purpose::is_machine;

/// The directories of runs that make, out of the same module, what a run makes that a script applies.
pub(crate) fn doubles(layers: &Layers) -> BTreeSet<&str> {
    let is_applied = |chain: &Chain| {
        layers.runs.iter().any(|run| run.action == "apply" && !run.is_missing && run.directory == chain.root)
    };
    let (applied, others): (Vec<&Chain>, Vec<&Chain>) = layers.chains.iter().partition(|chain| is_applied(chain));
    let made: BTreeSet<Span> = applied.into_iter().flat_map(made).collect();
    others
        .into_iter()
        .filter(|chain| self::made(chain).iter().any(|at| made.contains(at)))
        .map(|chain| chain.root.as_str())
        .collect()
}

/// Where the machines and the cluster of a run are written.
fn made(chain: &Chain) -> Vec<Span> {
    let machines = chain.blocks.iter().filter(|block| block.may_exist() && is_machine(&block.type_name));
    makers(chain).map(|(_, block)| block.at).chain(machines.map(|block| block.at)).collect()
}
