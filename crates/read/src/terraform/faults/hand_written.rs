//! A file in a Secret that is written out by hand around values that may hold anything.

use model::{LayerDefect, StepFault};

use super::fault;
use crate::terraform::chain::{Argument, BlockKind, Chain, Form};

const TYPES: [&str; 2] = ["kubernetes_secret", "kubernetes_secret_v1"];

pub(super) fn find(chain: &Chain, found: &mut Vec<StepFault>) {
    for block in chain.blocks.iter().filter(|block| block.kind == BlockKind::Resource && block.may_exist()) {
        if !TYPES.contains(&block.type_name.as_str()) {
            continue;
        }
        for argument in block.arguments.iter().filter(|argument| argument.has_values && argument.form == Form::Heredoc)
        {
            let Some((key, is_json)) = file(argument) else { continue };
            let defect = LayerDefect::HandWritten { key: key.into(), is_json };
            found.push(fault(chain, block, argument.at, defect, Vec::new()));
        }
    }
}

/// The key of a file that is YAML or JSON.
fn file(argument: &Argument) -> Option<(&str, bool)> {
    let [first, key] = argument.path.as_slice() else { return None };
    let ending = key.rsplit_once('.').map(|(_, ending)| ending).filter(|_| first == "data")?;
    match ending {
        "yaml" | "yml" => Some((key, false)),
        "json" => Some((key, true)),
        _ => None,
    }
}
