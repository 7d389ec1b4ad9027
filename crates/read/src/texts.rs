//! Texts in which commands stand, to be run or to be typed: scripts, recipes, pipelines, Terraform, documents, and what lies in a
//! bootstrap directory. What they say of a name, and what they create.
//!
//! Does not follow what commands do: that is known of scripts alone.

use std::collections::BTreeMap;

use model::{Capability, CapabilityKind};
use yaml::EcoString;

use crate::naming::{holds_commands, is_in_bootstrap_directory};
use crate::repository::Repository;

/// The commands that create something, as kubectl has them.
const CREATIONS: [(&str, CapabilityKind); 5] = [
    ("create ns ", CapabilityKind::Namespace),
    ("create namespace ", CapabilityKind::Namespace),
    ("create secret ", CapabilityKind::Secret),
    ("create configmap ", CapabilityKind::ConfigMap),
    ("create cm ", CapabilityKind::ConfigMap),
];

/// Every such text with its path, in the order of paths.
pub(crate) fn all(repository: &Repository) -> impl Iterator<Item = (&str, &str)> {
    let paths = repository.paths().filter(|path| holds_commands(path) || is_in_bootstrap_directory(path));
    paths.filter_map(|path| Some((path, repository.source(repository.id(path)?)?.text())))
}

/// Whether one of them says a name.
pub fn say(repository: &Repository, name: &str) -> bool {
    all(repository).any(|(_, text)| text.contains(name))
}

/// What lines such as `kubectl create namespace web` name, each with the first file that does: every word of such a line counts, because
/// options may stand before the name.
#[derive(Debug, Default)]
pub struct Creations {
    files: BTreeMap<(CapabilityKind, EcoString), EcoString>,
}

impl Creations {
    pub fn of(repository: &Repository) -> Self {
        let mut files = BTreeMap::new();
        for (path, text) in all(repository).filter(|(_, text)| text.contains("create ")) {
            for (kind, word) in text.lines().flat_map(created) {
                files.entry((kind, word.into())).or_insert_with(|| path.into());
            }
        }
        Self { files }
    }

    /// The first file with a line that creates it.
    pub fn file(&self, wanted: &Capability) -> Option<EcoString> {
        self.files.get(&(wanted.kind, wanted.name.clone())).cloned()
    }
}

/// What a line may create.
fn created(line: &str) -> impl Iterator<Item = (CapabilityKind, &str)> {
    let kinds = CREATIONS.iter().filter(|(command, _)| line.contains(command)).map(|(_, kind)| *kind);
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.');
    kinds.flat_map(move |kind| {
        let words = line.split(move |it: char| !is_of_name(it)).filter(|word| !word.is_empty());
        words.map(move |word| (kind, word))
    })
}

#[cfg(test)]
mod tests {
    use super::created;
    use model::CapabilityKind;

    #[test]
    fn a_line_creates_what_any_of_its_words_names() {
        let made: Vec<_> =
            created("kubectl -n flux-system create secret generic sops-age --from-file=age.agekey").collect();
        assert!(made.contains(&(CapabilityKind::Secret, "sops-age")), "{made:?}");
        assert_eq!(created("kubectl create deployment web").count(), 0);
    }
}
