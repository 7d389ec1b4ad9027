use crate::span::Span;

/// A line and column as people count them: both from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

/// The text of one file, and where its lines begin.
#[derive(Clone, Debug)]
pub struct Source {
    text: String,
}

impl Source {
    pub fn new(text: String) -> Self {
        Self { text }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The position of the first byte of `span`. A span of another file gives a position of no meaning, never a panic.
    pub fn position(&self, span: Span) -> Position {
        let mut start = (span.start as usize).min(self.text.len());
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &self.text[..start];
        let line = before.bytes().filter(|byte| *byte == b'\n').count();
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[line_start..].chars().count();
        Position { line: to_u32(line) + 1, column: to_u32(column) + 1 }
    }

    /// The text of `span`, if it is a range of this file.
    pub fn slice(&self, span: Span) -> Option<&str> {
        self.text.get(span.start as usize..span.end as usize)
    }
}

fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
