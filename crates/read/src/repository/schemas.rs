//! Where the schemas of CRDs stand in a file: more than half of the YAML of a large repository, and nothing that says
//! what needs what. Found by lines and how far they are indented, so that they need not be parsed.

use std::ops::Range;

use kustomize::{Files, PathKind};
use yaml::{Document, FileId, Limits, Node};

use super::Repository;

const KEY: &str = "openAPIV3Schema:";

/// Whether a file may hold the schema of a CRD.
pub(super) fn are_in(text: &str) -> bool {
    text.contains(KEY) && text.lines().any(|line| line.trim_end() == "kind: CustomResourceDefinition")
}

/// The lines below every `openAPIV3Schema:` of a CRD.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    if !are_in(text) {
        return Vec::new();
    }
    let mut schemas = Vec::new();
    let mut above = "";
    let mut lines = Lines { text, at: 0 };
    while let Some((_, line)) = lines.next() {
        if line.trim() == KEY && above.trim_start_matches(['-', ' ']) == "schema:" {
            let body = lines.indented_more_than(indentation(line));
            // Flux would substitute variables in it, and what it then says can break the build.
            if !text[body.clone()].contains("${") {
                schemas.push(body);
            }
        }
        if !line.trim().is_empty() {
            above = line.trim_end();
        }
    }
    schemas
}

struct Lines<'text> {
    text: &'text str,
    at: usize,
}

impl<'text> Lines<'text> {
    /// The next line with the place where it starts.
    fn next(&mut self) -> Option<(usize, &'text str)> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        let start = self.at;
        self.at += length;
        Some((start, &rest[..length]))
    }

    /// The lines from here on that belong to what stands at `indentation`.
    fn indented_more_than(&mut self, indentation_of_key: usize) -> Range<usize> {
        let start = self.at;
        let mut end = start;
        while let Some((begin, line)) = self.next() {
            if line.trim().is_empty() {
                continue;
            }
            if indentation(line) <= indentation_of_key {
                self.at = begin;
                break;
            }
            end = self.at;
        }
        start..end
    }
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// A repository whose files are read with their schemas.
pub(super) struct WithSchemas<'a>(pub(super) &'a Repository);

impl Files for WithSchemas<'_> {
    fn kind(&self, path: &str) -> PathKind {
        self.0.kind(path)
    }

    fn list(&self, directory: &str) -> Vec<String> {
        self.0.list(directory)
    }

    fn documents(&self, path: &str) -> Option<(FileId, &[Document])> {
        let (id, documents) = self.0.documents(path)?;
        let file = &self.0.files[id.0 as usize];
        if !are_in(file.text()) {
            return Some((id, documents));
        }
        Some((id, file.whole.get_or_init(|| yaml::parse(id, file.text(), Limits::default()))))
    }

    fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.0.bytes(path)
    }

    fn source(&self, file: FileId) -> Option<&str> {
        Files::source(self.0, file)
    }

    fn inline(&self, block: &Node, parse: &dyn Fn() -> Vec<Document>) -> Vec<Document> {
        self.0.inline(block, parse)
    }
}
