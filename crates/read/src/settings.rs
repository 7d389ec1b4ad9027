//! `coldstart.yaml`: what files can't tell. For now, a user's own additions to the catalogue.

use kustomize::Files;
use yaml::Node;

use crate::repository::Repository;

/// The name of the file, at the root of the repository.
pub(crate) const FILE: &str = "coldstart.yaml";

#[derive(Debug, thiserror::Error)]
#[error("{FILE}:{line}: {message}")]
pub struct SettingsError {
    line: u32,
    message: String,
}

/// The catalogue entries that a user adds under `catalogue.additions`.
pub(crate) fn read(repository: &Repository) -> Result<Vec<catalogue::Component>, SettingsError> {
    let Some((id, documents)) = repository.documents(FILE) else { return Ok(Vec::new()) };
    let line = |span| repository.source(id).map_or(1, |source| source.position(span).line);
    let mut additions = Vec::new();
    for document in documents {
        if let Some(problem) = document.problems.first() {
            return Err(SettingsError { line: line(problem.span), message: problem.message.clone() });
        }
        let listed = document.root.as_ref().and_then(|root| root.at(&["catalogue", "additions"]));
        for node in listed.and_then(Node::as_seq).unwrap_or_default() {
            let component = catalogue::Component::from_node(node);
            additions
                .push(component.map_err(|error| SettingsError { line: line(node.span), message: error.to_string() })?);
        }
    }
    Ok(additions)
}
