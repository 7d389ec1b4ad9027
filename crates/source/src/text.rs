//! The text of a file, and where its lines begin.

use std::sync::OnceLock;

use crate::index::to_u32;
use crate::span::Span;

/// A line and column as people count them: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// The text of one file, and where its lines begin.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
    /// Where each line but the first begins; worked out when the first position is asked for.
    lines: OnceLock<Vec<u32>>,
}

impl Source {
    /// Of the text of a whole file.
    pub fn new(text: String) -> Self {
        Self { text, lines: OnceLock::new() }
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The position of the first byte of `span`. A span of another file gives a position of no meaning, never a panic.
    pub fn position(&self, span: Span) -> Position {
        let mut start = (span.start as usize).min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let lines = self.lines.get_or_init(|| line_starts(&self.text));
        let line = lines.partition_point(|begin| *begin as usize <= start);
        let line_start = line.checked_sub(1).map_or(0, |before| lines[before] as usize);
        let column = self.text[line_start..start].chars().count();
        Position { line: to_u32(line) + 1, column: to_u32(column) + 1 }
    }

    /// The text of `span`, if it is a range of this file.
    pub fn slice(&self, span: Span) -> Option<&str> {
        self.text.get(span.start as usize..span.end as usize)
    }
}

/// Where each line but the first begins.
fn line_starts(text: &str) -> Vec<u32> {
    text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| to_u32(at) + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::{Position, Source};
    use crate::span::{FileId, Span};

    fn at(text: &str, start: u32) -> (u32, u32) {
        let Position { line, column } = Source::new(text.to_owned()).position(Span::new(FileId(0), start, start));
        (line, column)
    }

    #[test]
    fn lines_and_columns_count_from_one() {
        let text = "one\ntwö x\n\nend";
        assert_eq!(at(text, 0), (1, 1));
        assert_eq!(at(text, 3), (1, 4), "the line end belongs to its line");
        assert_eq!(at(text, 4), (2, 1));
        assert_eq!(at(text, 9), (2, 5), "columns count characters, not bytes");
        assert_eq!(at(text, 7), (2, 3), "the middle of a character is that character");
        assert_eq!(at(text, 11), (3, 1));
        assert_eq!(at(text, 12), (4, 1));
    }

    #[test]
    fn a_place_behind_the_end_is_the_end() {
        assert_eq!(at("a\nb", 99), (2, 2));
        assert_eq!(at("", 99), (1, 1));
    }

    #[test]
    fn a_slice_is_of_this_file_or_nothing() {
        let source = Source::new("key: välue".to_owned());
        assert_eq!(source.slice(Span::new(FileId(0), 5, 11)), Some("välue"));
        assert_eq!(source.slice(Span::new(FileId(0), 7, 11)), None, "it begins within a character");
        assert_eq!(source.slice(Span::new(FileId(0), 5, 99)), None);
    }
}
