//! `.terraform.lock.hcl`: the versions of providers that a run takes.

use std::collections::BTreeMap;

use hcl_edit::structure::Body;
use kustomize::Files as _;

use crate::repository::Repository;

/// By source without its registry: `hashicorp/helm`.
pub(super) fn versions(repository: &Repository, directory: &str) -> BTreeMap<String, String> {
    let path = if directory.is_empty() {
        ".terraform.lock.hcl".to_owned()
    } else {
        format!("{directory}/.terraform.lock.hcl")
    };
    let text = repository.bytes(&path).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let Some(body) = text.and_then(|text| text.parse::<Body>().ok()) else { return BTreeMap::new() };
    let version = |block: &hcl_edit::structure::Block| {
        let source = block.labels.first()?.as_str();
        let version = block.body.get_attribute("version")?.value.as_str()?.to_owned();
        Some((without_registry(source).to_owned(), version))
    };
    body.get_blocks("provider").filter_map(version).collect()
}

/// `registry.terraform.io/hashicorp/helm` is `hashicorp/helm`.
pub(super) fn without_registry(source: &str) -> &str {
    match source.split_once('/') {
        Some((host, rest)) if host.contains('.') && rest.contains('/') => rest,
        _ => source,
    }
}
