//! Texts in which commands stand, to be run or to be typed: scripts, recipes, pipelines, Terraform, documents, and what lies in a
//! bootstrap directory. What they say of a name, and what they create.
//!
//! Does not follow what commands do: that is known of scripts alone.

use std::collections::{BTreeMap, BTreeSet};

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
            for (kind, word) in text.lines().flat_map(created).chain(assigned(text)) {
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

/// The kinds that a line creates something of.
fn kinds_created(line: &str) -> impl Iterator<Item = CapabilityKind> {
    CREATIONS.iter().filter(|(command, _)| line.contains(command)).map(|(_, kind)| *kind)
}

/// What the lines of a text with a variable may create: whatever the text sets a variable to, because it may come through functions.
fn assigned(text: &str) -> impl Iterator<Item = (CapabilityKind, &str)> {
    let kinds: BTreeSet<CapabilityKind> =
        text.lines().filter(|line| line.contains('$')).flat_map(kinds_created).collect();
    kinds.into_iter().flat_map(|kind| text.lines().filter_map(value_set).map(move |value| (kind, value)))
}

/// The value in `name=value`, `local name="value"` or `NAME := value`.
fn value_set(line: &str) -> Option<&str> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([' ', ':', '?']).rsplit([' ', '\t']).next()?;
    let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let value = value.trim().trim_matches(['"', '\'']);
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.');
    let is_one = !name.is_empty() && name.chars().all(is_name) && !value.is_empty() && value.chars().all(is_plain);
    is_one.then_some(value)
}

/// What a line may create.
fn created(line: &str) -> impl Iterator<Item = (CapabilityKind, &str)> {
    let kinds = kinds_created(line);
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.');
    kinds.flat_map(move |kind| {
        let words = line.split(move |it: char| !is_of_name(it)).filter(|word| !word.is_empty());
        words.map(move |word| (kind, word))
    })
}

#[cfg(test)]
mod tests {
    use super::{assigned, created};
    use model::CapabilityKind;

    #[test]
    fn a_line_creates_what_any_of_its_words_names() {
        let made: Vec<_> =
            created("kubectl -n flux-system create secret generic sops-age --from-file=age.agekey").collect();
        assert!(made.contains(&(CapabilityKind::Secret, "sops-age")), "{made:?}");
        assert_eq!(created("kubectl create deployment web").count(), 0);
    }

    #[test]
    fn a_line_with_a_variable_creates_what_the_script_sets_one_to() {
        let script =
            "make() {\n  local namespace=\"$1\"\n  kubectl create ns \"$namespace\"\n}\nkeys_namespace=\"infra\"\n";
        let made: Vec<_> = assigned(script).collect();
        assert_eq!(made, [(CapabilityKind::Namespace, "infra")]);
    }
}
