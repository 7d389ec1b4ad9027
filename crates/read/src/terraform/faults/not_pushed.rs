//! A step that commits what GitOps is to read, where nothing pushes the commit.

use kustomize::{Files as _, PathKind};
use memchr::memmem;
use model::{LayerDefect, StepFault};
use repository::path;

use super::{Judge, fault, made_by, name, runs_words, start_of};
use crate::terraform::GAP;
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
    let mut commits = scripts(chain).filter(|(block, one)| {
        let is_made = block.count.is_some_and(|count| count > 0);
        is_made && runs_words(&one.script.text, "git", &["commit"]) && !adds_nothing(judge, one)
    });
    // One push pushes all of a run.
    if let Some((block, one)) = commits.next() {
        let place = one.script.text.find("git commit").and_then(|at| one.script.span(at..at + "git commit".len()));
        let defect = LayerDefect::NotPushed { start: name(start) };
        found.push(fault(chain, block, place.unwrap_or(one.at), defect, vec![start.at]));
    }
}

fn scripts(chain: &Chain) -> impl Iterator<Item = (&Block, &Provisioner)> {
    chain.blocks.iter().flat_map(|block| made_by(block).map(move |one| (block, one)))
}

/// Whether what it adds lies below a directory that does not exist where it is run.
fn adds_nothing(judge: &Judge<'_>, one: &Provisioner) -> bool {
    let Some(mut here) = one.directory.clone() else { return false };
    let (mut adds, mut misses) = (false, true);
    for line in one.script.text.lines().map(str::trim) {
        if let Some(to) = line.strip_prefix("cd ") {
            let Some(place) = path::join(&here, to.trim_matches('"')) else { return false };
            here = place;
        } else if let Some(added) = line.strip_prefix("git add ") {
            let first = added.split(['/', ' ']).next().unwrap_or_default();
            let is_plain = !first.is_empty() && !first.starts_with(['-', '.', '$', '"']) && !first.contains(['*', GAP]);
            let is_missing =
                || path::join(&here, first).is_some_and(|place| judge.repository.kind(&place) == PathKind::Missing);
            (adds, misses) = (true, misses && is_plain && added.contains('/') && is_missing());
        }
    }
    adds && misses && !here.contains(GAP)
}

/// Whether a script, or a step of any run, pushes to Git.
fn is_pushed(judge: &Judge<'_>) -> bool {
    let pushes = |path: &String| judge.repository.bytes(path).is_some_and(|text| memmem::find(text, b"push").is_some());
    let mut texts = judge.layers.chains.iter().flat_map(scripts).map(|(_, one)| one);
    judge.scripts.mention("git push")
        || texts.any(|one| one.script.text.contains("git push") || one.starts.iter().any(pushes))
}
