//! The document: a chapter for every section.

use std::fmt::Write as _;

use model::Cluster;
use report::{Document, Section};
use source::Sources;

use super::sections as of;
use crate::clean::clean;

/// The documents of all clusters, one after the other.
pub fn markdown(documents: &[Document<'_>], sources: &dyn Sources) -> String {
    let all: Vec<String> = documents.iter().map(|document| one(document, sources)).collect();
    all.join("\n")
}

fn one(document: &Document<'_>, sources: &dyn Sources) -> String {
    let cluster = document.cluster;
    let mut out = format!(
        "# Cold start of {}\n\nWritten by `coldstart report` from the files of the repository. Times are estimates.\n",
        clean(&cluster.name)
    );
    for section in &document.sections {
        let (title, text) = chapter(section, cluster, sources);
        let _ = write!(out, "\n## {title}\n\n{text}");
    }
    out
}

/// The title and the text of a section.
pub(super) fn chapter(section: &Section<'_>, cluster: &Cluster, sources: &dyn Sources) -> (&'static str, String) {
    match section {
        Section::Summary(it) => ("Summary", of::summary(it, sources)),
        Section::Stages(it) => ("Stages", of::stages(it, sources)),
        Section::NotRun(it) => ("In directories that nothing runs", of::not_run(it, sources)),
        Section::Changes(it) => ("Changes, by priority", of::changes(it, sources)),
        Section::Tiers(it) => ("Tiers by declared dependencies", of::tiers(it)),
        Section::Tree(it) => ("Dependency tree", of::mermaid(it)),
        Section::Layers(it) => ("Layers", of::layers(it)),
        Section::Apis(it) => ("APIs and providers by layer", of::apis(it)),
        Section::Rules { hard, soft } => ("Dependency rules", of::rules(hard, soft)),
        Section::Critical(it) => ("Critical services that must not be disrupted", of::critical(cluster, it)),
        Section::Cycles { found, across, broken } => ("Circular dependencies", of::cycles(found, across, broken)),
        Section::KeyFiles(it) => ("Key files", of::key_files(it)),
        Section::Versions(it) => ("Component versions", of::versions(it)),
        Section::Timeline(it) => ("Expected timeline", of::timeline(it)),
        Section::After(it) => ("The order after the changes", of::mermaid(it)),
        Section::Reliability(it) => ("How reliable it is", of::reliability(it)),
        Section::Verification(it) => ("Verification", of::verification(it)),
    }
}
