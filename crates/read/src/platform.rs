//! The versions of Talos and Kubernetes that files name: lists of machines, machine configurations, Terraform. Draws no conclusion.

use std::collections::BTreeSet;

use ecow::EcoString;
use source::Span;
use yaml::Node;

use crate::machines::is_aside;
use crate::repository::Repository;
use crate::terraform::chain::{Argument, Block, Chain};
use crate::{talos, templated_yaml, terraform};

/// What a version is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Platform {
    Kubernetes,
    Talos,
}

/// A version as it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlatformVersion {
    pub of: Platform,
    pub version: EcoString,
    pub at: Span,
}

/// Fields of talhelper, of topf, and of the files that talhelper takes variables from.
const FIELDS: [(&str, Platform); 2] = [("kubernetesVersion", Platform::Kubernetes), ("talosVersion", Platform::Talos)];
/// Images that machine configurations name.
const IMAGES: [(&[&str], Platform); 3] = [
    (&["machine", "install", "image"], Platform::Talos),
    (&["machine", "kubelet", "image"], Platform::Kubernetes),
    (&["cluster", "apiServer", "image"], Platform::Kubernetes),
];
/// Arguments of Talos' provider.
const ARGUMENTS: [(&str, Platform); 2] =
    [("kubernetes_version", Platform::Kubernetes), ("talos_version", Platform::Talos)];
/// Where images of Talos are downloaded from.
const FACTORY: &str = "factory.talos.dev/image/";

/// Every version once, where it is written first.
pub fn versions(repository: &Repository) -> Vec<PlatformVersion> {
    let mut found = of_files(repository);
    found.extend(terraform::chains(repository).iter().filter(|chain| !is_aside(&chain.root)).flat_map(of_run));
    let mut known = BTreeSet::new();
    found.retain(|one| known.insert((one.of, one.version.clone())));
    found.sort_by(|one, other| (one.of, &one.version).cmp(&(other.of, &other.version)));
    found
}

fn of_files(repository: &Repository) -> Vec<PlatformVersion> {
    let mut found = Vec::new();
    for path in repository.paths().filter(|path| !is_aside(path)) {
        let is_configuration = talos::may_be_configuration(path);
        if !is_configuration && !is_list(path) {
            continue;
        }
        let Some(id) = repository.id(path) else { continue };
        let Some(source) = repository.source(id) else { continue };
        if !source.text().contains("Version:") && !source.text().contains("image:") {
            continue;
        }
        for root in templated_yaml::parse(id, source.text()) {
            let fields = FIELDS.iter().filter_map(|(field, of)| Some((root.get(field)?, *of)));
            let images = IMAGES.iter().filter_map(|(field, of)| Some((root.at(field)?, *of)));
            found.extend(fields.filter_map(|(node, of)| written(node, node.text()?, of)));
            found.extend(images.filter_map(|(node, of)| written(node, node.text()?.rsplit_once(':')?.1, of)));
        }
    }
    found
}

/// Lists of machines keep no fixed place, and say their versions under names of their own.
fn is_list(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name.split('.').next(), Some("talconfig" | "talenv" | "topf"))
        && name.split('.').any(|part| matches!(part, "yaml" | "yml"))
}

fn written(node: &Node, text: &str, of: Platform) -> Option<PlatformVersion> {
    is_version(text).then(|| PlatformVersion { of, version: text.into(), at: node.span })
}

/// `v1.11.5`, `1.34`: nothing that a template or a variable decides.
fn is_version(text: &str) -> bool {
    let plain = text.strip_prefix('v').unwrap_or(text);
    plain.contains('.')
        && plain.starts_with(|first: char| first.is_ascii_digit())
        && plain.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '+'))
}

fn of_run(chain: &Chain) -> Vec<PlatformVersion> {
    let blocks = chain.blocks.iter().filter(|block| block.may_exist());
    blocks.flat_map(|block| block.arguments.iter().filter_map(|argument| of_argument(block, argument))).collect()
}

fn of_argument(block: &Block, argument: &Argument) -> Option<PlatformVersion> {
    let name = argument.path.last()?;
    let known = ARGUMENTS.iter().find(|(wanted, _)| wanted == name);
    if let Some((_, of)) = known.filter(|_| block.type_name.starts_with("talos_")) {
        let version = argument.known().filter(|text| is_version(text))?;
        return Some(PlatformVersion { of: *of, version: version.into(), at: argument.at });
    }
    // An image says its version beside what it is made of.
    let (_, image) = argument.text.as_deref()?.split_once(FACTORY)?;
    let version = image.split('/').find(|part| part.starts_with('v') && is_version(part))?;
    Some(PlatformVersion { of: Platform::Talos, version: version.into(), at: argument.at })
}

#[cfg(test)]
mod tests {
    use super::{is_list, is_version};

    #[test]
    fn a_version_is_written_out() {
        assert!(is_version("v1.11.5") && is_version("1.34") && is_version("v1.12.0-beta.1"));
        assert!(!is_version("${talosVersion}") && !is_version("latest") && !is_version("v1"));
    }

    #[test]
    fn lists_of_machines_are_known_by_their_names() {
        assert!(is_list("talos/talconfig.yaml") && is_list("talenv.sops.yaml") && is_list("topf.yaml.j2"));
        assert!(!is_list("cluster.yaml") && !is_list("talconfig"));
    }
}
