//! YAML inside of YAML: the text of an inline patch, parsed, with spans that point into the file it stands in.
//!
//! In a literal block every line of the text is one line of the file with its indentation cut off, so each value's place
//! can be worked out. For other styles, and without the file's text, every value points at the whole block.

use source::Span;
use yaml::{Document, Entry, Limits, Node, Value};

use crate::Files;

/// Parses the text of `block`.
pub(crate) fn parse(files: &dyn Files, block: &Node) -> Vec<Document> {
    let text = block.text().unwrap_or_default();
    let mut documents = yaml::parse(block.span.file, text, Limits::default());
    let places = Places::new(files, block, text);
    for document in &mut documents {
        if let Some(root) = &mut document.root {
            *root = places.moved(root);
        }
        for problem in &mut document.problems {
            problem.span = places.span(problem.span);
        }
    }
    documents
}

/// From places in the text to places in the file.
struct Places {
    block: Span,
    /// For each line of the text: where it begins in the text, and in the file. Empty if that is not known.
    lines: Vec<(u32, u32)>,
}

impl Places {
    fn new(files: &dyn Files, block: &Node, text: &str) -> Self {
        let lines = files
            .source(block.span.file)
            .and_then(|source| literal_lines(source, block.span, text))
            .unwrap_or_default();
        Self { block: block.span, lines }
    }

    fn span(&self, span: Span) -> Span {
        match (self.position(span.start), self.position(span.end)) {
            (Some(start), Some(end)) => Span::new(self.block.file, start, end.max(start)),
            _ => self.block,
        }
    }

    fn position(&self, at: u32) -> Option<u32> {
        let line = self.lines.partition_point(|(start, _)| *start <= at).checked_sub(1)?;
        let (text_start, file_start) = self.lines[line];
        Some(file_start + (at - text_start))
    }

    fn moved(&self, node: &Node) -> Node {
        let value = match &node.value {
            Value::Scalar(scalar) => Value::Scalar(scalar.clone()),
            Value::Seq(items) => Value::Seq(items.iter().map(|item| self.moved(item)).collect()),
            Value::Map(map) => {
                let entries = map.iter().map(|entry| Entry {
                    key: entry.key.clone(),
                    key_span: self.span(entry.key_span),
                    value: self.moved(&entry.value),
                });
                Value::Map(entries.collect())
            }
        };
        Node::new(value, self.span(node.span))
    }
}

/// Pairs the lines of a literal block's text with those of the file, or gives up when they do not fit.
fn literal_lines(source: &str, block: Span, text: &str) -> Option<Vec<(u32, u32)>> {
    let mut lines = Vec::new();
    let mut text_start = 0;
    let mut file_start = block.start as usize;
    // The span may begin at the block's indicator; its own line holds no text then.
    let head = source.get(file_start..)?.lines().next()?;
    if head.trim_start().starts_with('|') {
        file_start += head.len() + 1;
    }
    for line in text.split('\n') {
        let mut found = source.get(file_start..)?.lines().next();
        // Blank lines may stand before the text's first line.
        while lines.is_empty() && !line.is_empty() && found.is_some_and(|found| found.trim().is_empty()) {
            file_start += found?.len() + 1;
            found = source.get(file_start..)?.lines().next();
        }
        let Some(found) = found else {
            if line.is_empty() {
                break;
            }
            return None;
        };
        let content = found.trim_end_matches('\r');
        let indent = content.len().checked_sub(line.len());
        match indent {
            Some(indent) if content.ends_with(line) && content[..indent].trim().is_empty() => {
                lines.push((source::to_u32(text_start), source::to_u32(file_start + indent)));
            }
            // The text ends before the block's last line break does.
            _ if line.is_empty() => break,
            _ => return None,
        }
        text_start += line.len() + 1;
        file_start += found.len() + 1;
    }
    Some(lines)
}
