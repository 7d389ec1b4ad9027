//! Private keys and tokens that the state holds in clear.

use catalogue::Kept;
use model::{KeptKey, LayerDefect, StepFault};

use super::{Judge, fault};
use crate::terraform::chain::{Argument, Block, BlockKind, Chain, Why};

/// What tells of a program that it prints a secret.
const TELLING: [&str; 5] = ["token", "password", "secret", "private_key", "credential"];
/// Kinds of keys that are secret, by how the name of what prints one ends.
const SECRET_KEYS: [&str; 7] =
    ["signing_key", "auth_key", "preauth_key", "authkey", "api_key", "access_key", "encryption_key"];
const SECRETS: [&str; 2] = ["kubernetes_secret", "kubernetes_secret_v1"];
/// The label of keys that the controller of sealed-secrets looks for.
const SEALING_KEY: &str = "sealedsecrets.bitnami.com/sealed-secrets-key";

pub(super) fn find(judge: &Judge<'_>, chain: &Chain, found: &mut Vec<StepFault>) {
    if chain.is_state_encrypted {
        return;
    }
    for block in chain.blocks.iter().filter(|block| block.count.is_some_and(|count| count > 0)) {
        let kept = match block.kind {
            BlockKind::Resource => {
                let keeps = judge.known(chain, block).map(|known| known.keeps()).unwrap_or_default();
                let needs_nothing = judge.needs(chain, block).is_empty();
                let own = keeps.iter().find_map(|kept| match kept {
                    Kept::PrivateKey => Some(KeptKey::PrivateKey),
                    Kept::Token => Some(KeptKey::Token),
                    // What only hands them on is told where they are made.
                    Kept::ClusterSecrets if needs_nothing => Some(KeptKey::ClusterSecrets),
                    _ => None,
                });
                own.or_else(|| copies_key(chain, block).then_some(KeptKey::Copied))
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
    let name = block.name.to_ascii_lowercase().replace('-', "_");
    block.type_name == "external"
        && !name.contains("public")
        && (TELLING.iter().any(|word| name.contains(word)) || SECRET_KEYS.iter().any(|key| name.ends_with(key)))
}

/// Whether it is a Secret of a private key, which no resource of the run makes: of one that does, that is told.
fn copies_key(chain: &Chain, block: &Block) -> bool {
    let names_key = block.argument(&["metadata", "labels", SEALING_KEY]).is_some();
    let is_key = |argument: &Argument| match argument.path.as_slice() {
        [data, key] => data == "data" && (key == "tls.key" || key.starts_with("ssh-privatekey")),
        _ => false,
    };
    let keeps = block.arguments.iter().any(is_key) || names_key && block.arguments.iter().any(is_data);
    let id = chain.iter().find(|(_, other)| std::ptr::eq(*other, block)).map(|(id, _)| id);
    let made =
        |id| chain.waits_for(id).iter().any(|edge| edge.why == Why::Reference && makes_key(chain.block(edge.to)));
    SECRETS.contains(&block.type_name.as_str()) && keeps && !id.is_some_and(made)
}

fn is_data(argument: &Argument) -> bool {
    argument.path.first().is_some_and(|first| first == "data")
}

fn makes_key(block: &Block) -> bool {
    matches!(block.type_name.as_str(), "tls_private_key" | "external")
}
