//! A location as other programs want it: a path from where they look, lines and columns of both ends.

use diagnostic::{Finding, Site};
use source::{Sources, Span};

/// A range in a file. Lines and columns count from 1, columns in characters; the end is the first column after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub path: String,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

impl Place {
    /// Nothing for what no file holds. `prefix` stands before every path: where the repository is, seen from the reader.
    pub(crate) fn of(site: &Site, sources: &impl Sources, prefix: &str) -> Option<Self> {
        let span = site.span();
        let (path, start) = sources.locate(span)?;
        let (_, end) = sources.locate(Span::new(span.file, span.end.max(span.start), span.end.max(span.start)))?;
        let path = format!("{prefix}{path}");
        Some(Self { path, line: start.line, column: start.column, end_line: end.line, end_column: end.column })
    }

    /// Every place of a finding that a file holds, with its number: that of the primary one is 0.
    pub(crate) fn all(finding: &Finding, sources: &impl Sources, prefix: &str) -> Vec<(usize, Self)> {
        let places = finding.places().enumerate();
        places.filter_map(|(index, (_, site))| Some((index, Self::of(site, sources, prefix)?))).collect()
    }

    /// The first place of a finding that a file holds.
    pub(crate) fn first(finding: &Finding, sources: &impl Sources, prefix: &str) -> Option<Self> {
        finding.places().find_map(|(_, site)| Self::of(site, sources, prefix))
    }
}
