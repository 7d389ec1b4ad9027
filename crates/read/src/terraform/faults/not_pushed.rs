//! A step that commits what GitOps is to read, where nothing pushes the commit.

use kustomize::Files as _;
use memchr::memmem;
use model::{LayerDefect, StepFault};

use super::{Judge, fault, made_by, name, runs_words, start_of};
use crate::terraform::chain::{Block, Chain, Provisioner};

pub(super) fn find(judge: &Judge<'_>, at: usize, found: &mut Vec<StepFault>) {
    let chain = &judge.layers.chains[at];
    let Some((start_chain, start)) = start_of(judge, at).filter(|_| !is_pushed(judge)) else { return };
    let start_chain_is_own = start_chain == at;
    let starter = &judge.layers.chains[start_chain];
    // Between two runs a person may push; not where one script makes both.
    if !start_chain_is_own && ![&chain.root, &starter.root].iter().all(|root| judge.layers.is_applied(root)) {
        return;
    }
    let start = starter.block(start);
    for (block, one) in scripts(chain).filter(|(block, _)| block.count.is_some_and(|count| count > 0)) {
        if !runs_words(&one.script.text, "git", &["commit"]) {
            continue;
        }
        let place = one.script.text.find("git commit").and_then(|at| one.script.span(at..at + "git commit".len()));
        let defect = LayerDefect::NotPushed { start: name(start) };
        found.push(fault(chain, block, place.unwrap_or(one.at), defect, vec![start.at]));
    }
}

fn scripts(chain: &Chain) -> impl Iterator<Item = (&Block, &Provisioner)> {
    chain.blocks.iter().flat_map(|block| made_by(block).map(move |one| (block, one)))
}

/// Whether a script, or a step of any run, pushes to Git.
fn is_pushed(judge: &Judge<'_>) -> bool {
    let pushes = |path: &String| judge.repository.bytes(path).is_some_and(|text| memmem::find(text, b"push").is_some());
    let mut texts = judge.layers.chains.iter().flat_map(scripts).map(|(_, one)| one);
    judge.scripts.mention("git push")
        || texts.any(|one| one.script.text.contains("git push") || one.starts.iter().any(pushes))
}
