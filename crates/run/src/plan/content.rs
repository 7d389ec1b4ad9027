//! The hash of a step: of everything that decides what it does. Same hash, same step.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use kustomize::Files as _;
use model::{BootstrapStep, Cluster, Component, Role};
use read::Repository;
use sha2::{Digest as _, Sha256};
use source::FileId;

use super::{Action, Proof};

const HEX_BYTES: usize = 8;

type Digest = [u8; 32];

/// The files of a repository, each of which is hashed once however many steps it decides.
pub(super) struct Contents<'a> {
    repository: &'a Repository,
    /// Sorted.
    paths: Vec<&'a str>,
    digests: RefCell<BTreeMap<String, Digest>>,
}

impl<'a> Contents<'a> {
    pub(super) fn new(repository: &'a Repository) -> Self {
        let mut paths: Vec<&str> = repository.paths().collect();
        paths.sort_unstable();
        Self { repository, paths, digests: RefCell::default() }
    }

    /// Of what the step says of itself, and of what is behind it.
    #[expect(clippy::unused_self, reason = "what is behind a step comes from here")]
    pub(super) fn hash(&self, action: &Action, proof: &Proof, behind: &[Digest]) -> String {
        let mut hasher = Sha256::new();
        for part in [serde_json::to_vec(action), serde_json::to_vec(proof)] {
            add(&mut hasher, &part.unwrap_or_default());
        }
        for digest in behind {
            add(&mut hasher, digest);
        }
        let mut hex = String::with_capacity(2 * HEX_BYTES);
        for byte in hasher.finalize().iter().take(HEX_BYTES) {
            let _ = write!(hex, "{byte:02x}");
        }
        hex
    }

    /// What a component is made of: the file that declares it, all below the directory that it builds; of a release of a helmfile its own
    /// part of that and its values; and for what a bootstrap seeds all that it applies.
    pub(super) fn parts(&self, cluster: &Cluster, component: &Component) -> Vec<Digest> {
        let mut paths: Vec<&str> = Vec::new();
        if let Some(directory) = component.path.as_deref().filter(|path| !path.is_empty()) {
            paths.extend(self.below(directory));
        }
        let bootstrap = &cluster.facts.bootstrap;
        let own = match component.role {
            // A release that stands in two helmfiles is one.
            Role::Bootstrap(BootstrapStep::Release | BootstrapStep::TerraformRelease | BootstrapStep::Crds) => {
                let same = bootstrap
                    .values
                    .iter()
                    .filter(|(id, _)| graph::early_key(cluster.component(**id)) == graph::early_key(component));
                paths.extend(same.flat_map(|(_, files)| files).map(String::as_str));
                self.release(cluster, component)
            }
            Role::Bootstrap(_) => {
                paths.extend(bootstrap.files.iter().map(String::as_str));
                paths.extend(bootstrap.directories.iter().flat_map(|directory| self.below(directory)));
                self.file(component.at.file)
            }
            Role::Kustomization | Role::HelmRelease | Role::ResourceSet => self.file(component.at.file),
        };
        own.into_iter().chain(paths.into_iter().filter_map(|path| self.digest(path))).collect()
    }

    /// A directory that a tool is run in, without what the tool itself leaves there.
    pub(super) fn directory(&self, directory: &str) -> Vec<Digest> {
        let is_ours = |path: &&str| !path.contains("/.terraform");
        self.below(directory).filter(is_ours).filter_map(|path| self.digest(path)).collect()
    }

    fn below(&self, directory: &str) -> impl Iterator<Item = &'a str> {
        let prefix = format!("{}/", directory.trim_end_matches('/'));
        let first = self.paths.partition_point(|path| *path < prefix.as_str());
        self.paths[first..]
            .iter()
            .copied()
            .take_while(move |path| path.starts_with(&prefix))
            .collect::<Vec<_>>()
            .into_iter()
    }

    fn file(&self, file: FileId) -> Vec<Digest> {
        self.repository.path(file).and_then(|path| self.digest(path)).into_iter().collect()
    }

    fn digest(&self, path: &str) -> Option<Digest> {
        if let Some(known) = self.digests.borrow().get(path) {
            return Some(*known);
        }
        let digest: Digest = Sha256::digest(self.repository.bytes(path)?).into();
        self.digests.borrow_mut().insert(path.to_owned(), digest);
        Some(digest)
    }

    /// The lines of a release, and those of its file that belong to no release: defaults, templates, environments. Another release that
    /// changes is another step.
    fn release(&self, cluster: &Cluster, component: &Component) -> Vec<Digest> {
        let bytes = self.repository.path(component.at.file).and_then(|path| self.repository.bytes(path));
        let Some(text) = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
            return self.file(component.at.file);
        };
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let is_release = |it: &&Component| it.at.file == component.at.file && matches!(it.role, Role::Bootstrap(_));
        let mut owned = vec![false; lines.len()];
        for other in cluster.components.iter().filter(is_release) {
            for line in item(&lines, other.at.start as usize) {
                owned[line] = true;
            }
        }
        let own: String = item(&lines, component.at.start as usize).map(|line| lines[line]).collect();
        let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
        let shared: String =
            lines.iter().zip(&owned).filter(|(_, owned)| !**owned).map(|(line, _)| *line).filter(says).collect();
        [own, shared].map(|text| Sha256::digest(text.as_bytes()).into()).into()
    }
}

/// The lines of the list item that a byte is in; none where it is in no list.
fn item(lines: &[&str], at: usize) -> std::ops::Range<usize> {
    let mut start = 0;
    let line = lines.iter().position(|line| {
        start += line.len();
        at < start
    });
    let Some(line) = line else { return 0..0 };
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let begins = |line: &str| line.trim_start_matches(' ').starts_with("- ");
    let is_above =
        |above: &usize| begins(lines[*above]) && (*above == line || indent(lines[*above]) < indent(lines[line]));
    let Some(first) = (0..=line).rev().find(is_above) else { return 0..0 };
    let ends = |later: &usize| !lines[*later].trim().is_empty() && indent(lines[*later]) <= indent(lines[first]);
    first..(first + 1..lines.len()).find(ends).unwrap_or(lines.len())
}

/// Lengths first, so that no two lists of parts look alike.
fn add(hasher: &mut Sha256, part: &[u8]) {
    hasher.update((part.len() as u64).to_le_bytes());
    hasher.update(part);
}
