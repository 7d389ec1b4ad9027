//! Items of one SealedSecret for different keys, as two clusters in one repository bring them about: a controller opens all of them
//! or none, and the Secret stays as it was.

use std::path::Path;

use ::seal::manifest::{SealedSecret, SecretManifest, sealed_secrets};
use ::seal::{Envelope, Ring, Scope};
use diagnostic::{Next, next};
use source::FileId;
use yaml::Limits;

use super::{Home, store};
use crate::output;

/// A look at many takes longer than sealing them; `verify` looks at all.
const ITEMS_MAX: usize = 100;

/// Says on standard error which items, beside those that were just sealed, no key of the store opens. It may be meant: whoever lost a key
/// seals one after the other anew.
pub(crate) fn warn(home: &Home<'_>, path: &Path, secrets: &[SecretManifest]) {
    let Ok(text) = std::fs::read_to_string(path) else { return };
    let documents = yaml::parse(FileId(0), &text, Limits::default());
    let found = sealed_secrets(&documents);
    let merged = found.iter().filter_map(|(_, there)| Some((there, secrets.iter().find(|one| is_for(there, one))?)));
    let others: Vec<(&SealedSecret, Vec<(&str, &str)>)> = merged
        .map(|(there, new)| {
            let items = there.items.iter().filter_map(|item| Some((item.key.as_deref()?, item.text.as_str())));
            (there, items.filter(|(key, _)| !new.data.contains_key(*key)).collect::<Vec<_>>())
        })
        .filter(|(_, items)| !items.is_empty())
        .collect();
    if others.is_empty() {
        return;
    }
    let Some(ring) = store::at_hand(home).filter(|ring| !ring.is_empty()) else { return };
    let mut left = ITEMS_MAX;
    for (there, items) in others {
        let closed = items.into_iter().take(left).filter(|(_, text)| !opens(&ring, there, text));
        let closed: Vec<String> = closed.map(|(key, _)| format!("`{key}`")).collect();
        left = left.saturating_sub(there.items.len());
        if !closed.is_empty() {
            output::remark(&format!(
                "warning: {}: no key of the store opens {} of {}, and a controller opens all items of a SealedSecret or none",
                path.display(),
                closed.join(", "),
                there.name
            ));
            output::remark_next(&Next::Seal(next::Seal::VerifyWhy));
        }
    }
}

fn is_for(there: &SealedSecret, secret: &SecretManifest) -> bool {
    let is_one = there.namespace == secret.namespace || there.namespace.is_none() || secret.namespace.is_none();
    (there.name == secret.name || secret.name.is_empty()) && is_one
}

/// What is bound to a namespace that the file does not say is left to `verify`, and so is what is damaged.
fn opens(ring: &Ring, there: &SealedSecret, text: &str) -> bool {
    let namespace = match (&there.namespace, there.scope) {
        (Some(namespace), _) => namespace.as_str(),
        (None, Scope::ClusterWide) => "",
        (None, _) => return true,
    };
    let Ok(sealed) = Envelope::from_base64(text) else { return true };
    ring.open(&sealed, &there.label(namespace)).is_ok()
}
