//! A step that commits what GitOps is to read, where nothing pushes the commit.

use kustomize::Files as _;
use memchr::memmem;
use model::{LayerDefect, StepFault};

use super::{Judge, fault, made_by, name, runs_words, starts};
use crate::terraform::chain::Chain;

pub(super) fn find(judge: &Judge<'_>, chain: &Chain, found: &mut Vec<StepFault>) {
    let scripts = || chain.blocks.iter().flat_map(|block| made_by(block).map(move |one| (block, one)));
    let pushes = |path: &String| judge.repository.bytes(path).is_some_and(|text| memmem::find(text, b"push").is_some());
    let mut texts = scripts().map(|(_, one)| one);
    let pushes =
        judge.scripts_push || texts.any(|one| one.script.text.contains("git push") || one.starts.iter().any(pushes));
    let Some((_, start)) = starts(chain).next().filter(|_| !pushes) else { return };
    for (block, one) in scripts().filter(|(block, _)| block.count.is_some_and(|count| count > 0)) {
        if !runs_words(&one.script.text, "git", &["commit"]) {
            continue;
        }
        let place = one.script.text.find("git commit").and_then(|at| one.script.span(at..at + "git commit".len()));
        let defect = LayerDefect::NotPushed { start: name(start) };
        found.push(fault(chain, block, place.unwrap_or(one.at), defect, vec![start.at]));
    }
}
