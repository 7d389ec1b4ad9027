//! A provider that reads a file of another run which that run does not write.

use kustomize::{Files as _, PathKind};
use model::{LayerDefect, StepFault};
use repository::path;

use super::{Judge, fault};
use crate::terraform::GAP;
use crate::terraform::chain::{BlockKind, Chain, FileUse};

pub(super) fn find(judge: &Judge<'_>, chain: &Chain, found: &mut Vec<StepFault>) {
    for read in chain.read.iter().filter(|read| chain.block(read.block).kind == BlockKind::Provider) {
        let directory = path::parent(&read.path);
        let is_of_other = directory != chain.root && judge.layers.chains.iter().any(|other| other.root == directory);
        if !is_of_other || read.path.contains(GAP) || judge.repository.kind(&read.path) != PathKind::Missing {
            continue;
        }
        // A person or a script may put it there.
        if judge.scripts.mention(last(&read.path)) || written(judge).any(|written| written.path == read.path) {
            continue;
        }
        let is_like =
            |written: &&FileUse| path::parent(&written.path) == directory && stem(&written.path) == stem(&read.path);
        if let Some(written) = written(judge).find(is_like) {
            let defect =
                LayerDefect::MissingFile { file: read.path.as_str().into(), instead: written.path.as_str().into() };
            found.push(fault(chain, chain.block(read.block), read.at, defect, vec![written.at]));
        }
    }
}

/// The files that any run writes.
fn written<'j>(judge: &Judge<'j>) -> impl Iterator<Item = &'j FileUse> + use<'j> {
    judge.layers.chains.iter().flat_map(|chain| &chain.written)
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The name of a file up to its first dot.
fn stem(path: &str) -> &str {
    let name = last(path);
    name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name)
}
