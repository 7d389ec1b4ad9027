//! Where the schemas of CRDs stand in a file: more than half of the YAML of a large repository, and nothing that says
//! what needs what. Found by lines and how far they are indented, so that they need not be parsed.

use std::ops::Range;

use kustomize::{Files, PathKind};
use memchr::{memchr, memmem};
use source::FileId;
use yaml::{Document, Limits, Node};

use super::Repository;

/// On a line of its own; in the first line of a file, without the break before it.
const CRD: &str = "\nkind: CustomResourceDefinition";
const KEY: &str = "openAPIV3Schema:";

/// Whether a file may hold the schema of a CRD.
pub(super) fn are_in(text: &str) -> bool {
    let holds = |what: &str| memmem::find(text.as_bytes(), what.as_bytes()).is_some();
    holds(KEY) && (text.starts_with(CRD.trim_start()) || holds(CRD))
}

/// The lines below every `openAPIV3Schema:` of a CRD.
pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    if !are_in(text) {
        return Vec::new();
    }
    let mut schemas: Vec<Range<usize>> = Vec::new();
    for at in memmem::find_iter(text.as_bytes(), KEY) {
        let behind = schemas.last().map_or(0, |schema| schema.end);
        let Some(indentation) = is_key_below_schema(text, at).filter(|_| at >= behind) else { continue };
        let body = body(text, at + KEY.len(), indentation);
        // Flux would substitute variables in it, and what it then says can break the build.
        if !text[body.clone()].contains("${") {
            schemas.push(body);
        }
    }
    schemas
}

/// How far the key at `at` is indented, if it stands alone on its line and right below a `schema:`.
fn is_key_below_schema(text: &str, at: usize) -> Option<usize> {
    let above = text[..at].trim_end_matches(' ');
    let indentation = at - above.len();
    let above = above.strip_suffix('\n')?.trim_end();
    let is_alone = text[at + KEY.len()..].trim_start_matches([' ', '\r']).starts_with('\n');
    let is_below = above.ends_with("  schema:") || above.ends_with("- schema:");
    (is_alone && is_below).then_some(indentation)
}

/// The lines after `from` that are empty or indented more than the key.
fn body(text: &str, from: usize, indentation: usize) -> Range<usize> {
    let start = text[from..].find('\n').map_or(text.len(), |end| from + end + 1);
    let (mut at, mut end) = (start, start);
    // A hundred thousand lines in a large repository: worth a search for their ends that takes many bytes at a time.
    while at < text.len() {
        let line = &text[at..];
        let line = &line[..memchr(b'\n', line.as_bytes()).map_or(line.len(), |last| last + 1)];
        at += line.len();
        let is_deeper = line.len() > indentation && line.as_bytes()[..=indentation].iter().all(|byte| *byte == b' ');
        if is_deeper {
            end = at;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    start..end
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
        let text = self.0.tree.text_so_far(id);
        if !are_in(text) {
            return Some((id, documents));
        }
        Some((id, self.0.parsed[id.index()].whole.get_or_init(|| yaml::parse(id, text, Limits::default()))))
    }

    fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.0.bytes(path)
    }

    fn obstacle(&self, path: &str) -> Option<String> {
        Files::obstacle(self.0, path)
    }

    fn source(&self, file: FileId) -> Option<&str> {
        Files::source(self.0, file)
    }

    fn is_left_out(&self, path: &str, kind: PathKind) -> bool {
        self.0.is_left_out(path, kind)
    }

    fn inline(&self, block: &Node, parse: &dyn Fn() -> Vec<Document>) -> Vec<Document> {
        self.0.inline(block, parse)
    }
}
