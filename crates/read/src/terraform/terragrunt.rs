//! Modules that Terragrunt runs: told as not read.
//!
//! Knows where a Terragrunt file says its module, in `terraform { source = "…" }`. Does not evaluate its functions: the path behind the
//! last of them is looked for in the repository.

use std::collections::BTreeSet;

use kustomize::{Files as _, PathKind};
use model::{BlindSpot, Unseen, WhyUnseen};
use repository::path;
use source::{Span, to_u32};

use crate::repository::Repository;

/// One for each module, beside those that are read as runs of their own.
pub(super) fn unseen(repository: &Repository, is_read: impl Fn(&str) -> bool) -> Vec<BlindSpot> {
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    let is_meant = |path: &&str| path.rsplit('.').next() == Some("hcl") && !path.ends_with(".terraform.lock.hcl");
    for file in repository.paths().filter(is_meant) {
        let Some(id) = repository.id(file) else { continue };
        let Some(text) = repository.source(id).map(source::Source::text) else { continue };
        for (written, at) in sources(text) {
            let module = module(repository, file, written).unwrap_or_else(|| written.to_owned());
            if is_read(&module) || !seen.insert(module.clone()) {
                continue;
            }
            let at = Span::new(id, to_u32(at), to_u32(at + written.len()));
            let (what, why) = (Unseen::Named(module), WhyUnseen::RunByTerragrunt);
            found.push(BlindSpot { what, why, at, component: None });
        }
    }
    found
}

/// The texts of `source` in blocks `terraform { … }`, each with its place.
fn sources(text: &str) -> Vec<(&str, usize)> {
    let (mut found, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let is_outer = depth == 0 && trimmed.starts_with("terraform") && trimmed.ends_with('{');
        if is_outer {
            depth = 1;
        } else if depth > 0 {
            if depth == 1
                && let Some((key, value)) = trimmed.split_once('=')
                && key.trim() == "source"
            {
                let value = value.trim();
                let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                found.extend(inner.map(|inner| (inner, at + line.find(inner).unwrap_or_default())));
            }
            depth = (depth + line.matches('{').count()).saturating_sub(line.matches('}').count());
        }
        at += line.len();
    }
    found
}

/// The directory of the repository that a source means.
fn module(repository: &Repository, file: &str, written: &str) -> Option<String> {
    let plain = written.rfind('}').map_or(written, |end| &written[end + 1..]).replace("//", "/");
    let plain = plain.trim_start_matches('/');
    let is_there = |place: &String| repository.kind(place) == PathKind::Directory;
    path::ancestors(path::parent(file))
        .filter_map(|base| path::join(base, plain))
        .find(|place| !place.is_empty() && is_there(place))
}

#[cfg(test)]
mod tests {
    use super::sources;

    #[test]
    fn the_source_of_a_terragrunt_file_is_found() {
        let text = "locals { a = 1 }\nterraform {\n  source = \"../modules/talos\"\n  before_hook \"x\" {\n    source = \"no\"\n  }\n}\ninputs = { source = \"no\" }\n";
        assert_eq!(sources(text), [("../modules/talos", 41)]);
        assert_eq!(sources("path \"secret/*\" {\n  source = \"no\"\n}\n"), []);
    }
}
