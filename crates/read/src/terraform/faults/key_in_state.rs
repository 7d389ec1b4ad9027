//! Private keys and tokens that the state holds in clear.

use catalogue::Kept;
use model::{KeptKey, LayerDefect, StepFault};

use super::{Judge, fault};
use crate::terraform::chain::{Block, BlockKind, Chain};

/// What tells of a program that it prints a secret.
const TELLING: [&str; 5] = ["token", "password", "secret", "private_key", "credential"];

pub(super) fn find(judge: &Judge<'_>, chain: &Chain, found: &mut Vec<StepFault>) {
    if chain.is_state_encrypted {
        return;
    }
    for block in chain.blocks.iter().filter(|block| block.count.is_some_and(|count| count > 0)) {
        let kept = match block.kind {
            BlockKind::Resource => {
                let keeps = judge.known(chain, block).map(|known| known.keeps()).unwrap_or_default();
                keeps.iter().find_map(|kept| match kept {
                    Kept::PrivateKey => Some(KeptKey::PrivateKey),
                    Kept::Token => Some(KeptKey::Token),
                    _ => None,
                })
            }
            BlockKind::Data => prints_secret(block).then_some(KeptKey::Printed),
            _ => None,
        };
        if let Some(kept) = kept {
            found.push(fault(chain, block, block.at, LayerDefect::KeyInState { kept }, Vec::new()));
        }
    }
}

fn prints_secret(block: &Block) -> bool {
    block.type_name == "external" && TELLING.iter().any(|word| block.name.to_ascii_lowercase().contains(word))
}
