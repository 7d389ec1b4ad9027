//! Where each part of a text that was put together comes from.

use std::ops::Range;

use source::{FileId, Span, to_u32};

/// A stretch of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Origin {
    /// Where it begins in the text.
    start: usize,
    at: Span,
    /// Byte for byte what the file holds there.
    is_exact: bool,
}

/// The stretches of a text, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origins(Vec<Origin>);

impl Origins {
    pub(super) fn push(&mut self, start: usize, at: Span, is_exact: bool) {
        self.0.push(Origin { start, at, is_exact });
    }

    /// Where a range of the text is written.
    pub(super) fn span(&self, range: Range<usize>) -> Option<Span> {
        let first = self.point(range.start)?;
        let last = self.point(range.end.saturating_sub(1).max(range.start))?;
        Some(if first.file == last.file { first.to(last) } else { first })
    }

    fn point(&self, at: usize) -> Option<Span> {
        let index = self.0.partition_point(|origin| origin.start <= at).checked_sub(1)?;
        let origin = self.0[index];
        if !origin.is_exact {
            return Some(origin.at);
        }
        let start = (origin.at.start + to_u32(at - origin.start)).min(origin.at.end.saturating_sub(1));
        Some(Span::new(origin.at.file, start, start + 1))
    }

    /// Holds a literal of a template against what is written for it: indentation that is gone, escapes.
    pub(super) fn align(&mut self, start: usize, text: &str, raw: &str, at: Span, is_quoted: bool) {
        let (mut i, mut j) = (0, 0);
        let mut is_open = false;
        while let Some(next) = text[i..].chars().next() {
            let rest = raw.get(j..).unwrap_or_default();
            if is_quoted && rest.starts_with('\\') {
                let length = escape(rest);
                self.push(start + i, within(at, j, j + length), false);
                (i, j, is_open) = (i + next.len_utf8(), j + length, false);
            } else if rest.starts_with("$${") || rest.starts_with("%%{") {
                (j, is_open) = (j + 1, false);
                self.open(&mut is_open, start + i, at, j);
                // Both characters of the brace, which would look like an interpolation.
                (i, j) = (i + 1, j + 1);
            } else if rest.starts_with(next) {
                self.open(&mut is_open, start + i, at, j);
                (i, j) = (i + next.len_utf8(), j + next.len_utf8());
            } else if rest.starts_with([' ', '\t', '\r']) {
                (j, is_open) = (j + 1, false);
            } else {
                // Not understood: the rest is somewhere in here.
                self.push(start + i, at, false);
                return;
            }
        }
    }

    fn open(&mut self, is_open: &mut bool, start: usize, at: Span, offset: usize) {
        if !std::mem::replace(is_open, true) {
            let place = Span::new(at.file, at.start + to_u32(offset), at.end);
            self.push(start, place, true);
        }
    }
}

fn within(at: Span, from: usize, to: usize) -> Span {
    Span::new(at.file, (at.start + to_u32(from)).min(at.end), (at.start + to_u32(to)).min(at.end))
}

/// How long an escape of a quoted text is.
fn escape(rest: &str) -> usize {
    let length = match rest.as_bytes().get(1) {
        Some(b'u') => 6,
        Some(b'U') => 10,
        _ => 2,
    };
    let length = length.min(rest.len());
    (length..=rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len())
}

/// All of a file.
pub(super) fn whole(file: FileId, text: &str) -> Span {
    Span::new(file, 0, to_u32(text.len()))
}

#[cfg(test)]
mod tests {
    use source::{FileId, Span, to_u32};

    use super::Origins;

    fn found(text: &str, raw: &str, is_quoted: bool, part: &str) -> String {
        let mut origins = Origins::default();
        origins.align(0, text, raw, Span::new(FileId(0), 0, to_u32(raw.len())), is_quoted);
        let start = text.find(part).unwrap();
        let span = origins.span(start..start + part.len()).unwrap();
        raw[span.start as usize..span.end as usize].to_owned()
    }

    #[test]
    fn a_part_of_a_text_is_found_where_it_is_written() {
        assert_eq!(found("a\n  b c\n", "    a\n      b c\n", false, "b c"), "b c");
        assert_eq!(found("one\ntwo", "one\\ntwo", true, "two"), "two");
        assert_eq!(found("x ${HOME} y", "x $${HOME} y", false, "y"), "y");
        assert_eq!(found("x ${HOME} y", "x $${HOME} y", false, "${HOME}"), "${HOME}");
        assert_eq!(found("say \"hi\" now", "say \\\"hi\\\" now", true, "now"), "now");
    }
}
