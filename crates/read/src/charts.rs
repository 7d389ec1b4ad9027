//! What a renderer of Helm charts is asked, and what it answers. Nothing here runs anything: who reads a repository may
//! bring something that does.

use source::clean;
use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

/// Renders charts that are on this machine, without asking anybody else for anything.
pub trait Renderer: Sync + fmt::Debug {
    /// The archive of a chart that was downloaded before.
    fn archive(&self, name: &str, version: &str) -> Option<PathBuf>;

    /// Whether the templates of an archive ask the cluster which APIs it has. True where that can't be told.
    fn asks_for_apis(&self, archive: &std::path::Path) -> bool;

    /// All objects of a release as YAML documents, or why there are none.
    fn render(&self, job: &Job<'_>) -> Result<String, NotRendered>;
}

/// A chart, and what it is to be rendered with.
#[derive(Clone, Debug)]
pub struct Job<'a> {
    pub chart: &'a ChartFiles<'a>,
    pub release: &'a str,
    pub namespace: &'a str,
    /// JSON, which is YAML too.
    pub values: &'a str,
    pub skips_crds: bool,
    pub kube_version: &'a str,
    /// `group/version` and `group/version/Kind` that the cluster has beside those of Kubernetes.
    pub api_versions: &'a [String],
}

/// Where a chart is.
#[derive(Clone, Debug)]
pub enum ChartFiles<'a> {
    /// Files of the repository by their path in the chart; archives from elsewhere that the chart depends on.
    Files {
        files: Vec<(String, Cow<'a, [u8]>)>,
        archives: Vec<(String, PathBuf)>,
    },
    Archive(PathBuf),
}

/// Why a chart was not rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRendered {
    /// What the renderer said last.
    #[error("could not be rendered: {it}", it = clean(.0))]
    Failed(String),
    /// The renderer failed, and said nothing.
    #[error("could not be rendered: it did not say why")]
    Silent,
    #[error("could not be rendered: what it renders is not valid YAML: {it}", it = clean(.0))]
    NoYaml(String),
    #[error("could not be rendered: its files can't be copied: {it}", it = clean(.0))]
    NotCopied(String),
    #[error("could not be rendered: helm can't be started: {it}", it = clean(.0))]
    NotStarted(String),
    /// The renderer began, and could not be followed to its end.
    #[error("could not be rendered: {it}", it = clean(.0))]
    NotRun(String),
    #[error("takes longer than {0} s to render")]
    TooSlow(u64),
    #[error("renders to more than {} MiB", .0 / (1024 * 1024))]
    TooLarge(u64),
}

#[cfg(test)]
mod tests {
    use super::NotRendered;

    #[test]
    fn a_renderer_that_says_nothing_is_told_as_such() {
        assert_eq!(NotRendered::Silent.to_string(), "could not be rendered: it did not say why");
    }
}
