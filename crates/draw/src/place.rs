//! A location as other programs want it: a path from where they look, lines and columns of both ends.

use check::{Finding, Location};
use yaml::Span;

use crate::sources::Sources;

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
    pub(crate) fn of(location: &Location, sources: &impl Sources, prefix: &str) -> Option<Self> {
        let span = location.span;
        let (path, start) = sources.locate(span)?;
        let (_, end) = sources.locate(Span::new(span.file, span.end.max(span.start), span.end.max(span.start)))?;
        let path = format!("{prefix}{path}");
        Some(Self { path, line: start.line, column: start.column, end_line: end.line, end_column: end.column })
    }

    /// The first place of a finding that a file holds, and the locations after it.
    pub(crate) fn first<'a>(
        finding: &'a Finding,
        sources: &impl Sources,
        prefix: &str,
    ) -> Option<(Self, &'a [Location])> {
        let places = finding.locations.iter().enumerate();
        let mut found = places.filter_map(|(index, location)| Some((index, Self::of(location, sources, prefix)?)));
        found.next().map(|(index, place)| (place, &finding.locations[index + 1..]))
    }
}
