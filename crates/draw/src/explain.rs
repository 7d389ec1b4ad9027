//! A rule's manual page, written in Markdown, for a terminal.
//!
//! Knows what the manuals use: headings, paragraphs, lists, fenced code, `code` and **bold**. The rest passes as text.

use diagnostic::Rule;

use crate::clean::clean;
use crate::paint::Paint;
use crate::words::width;

/// Lines of text are easier to read when they are not longer than this.
const COLUMNS_MAX: usize = 100;
const COLUMNS_MIN: usize = 40;

/// The page, with a line end.
pub fn manual(markdown: &str, color: bool, columns: Option<usize>) -> String {
    let columns = columns.unwrap_or(COLUMNS_MAX).clamp(COLUMNS_MIN, COLUMNS_MAX);
    let mut page = Page { paint: Paint { color }, columns, out: String::new(), paragraph: String::new(), hang: 0 };
    let mut fenced = false;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            page.flush();
            fenced = !fenced;
        } else if fenced {
            page.code(line);
        } else {
            page.line(line);
        }
    }
    page.flush();
    let text = page.out.trim_matches('\n');
    format!("{text}\n")
}

/// All rules, a line each.
pub fn list(rules: &[&Rule], color: bool) -> String {
    let paint = Paint { color };
    let widest = rules.iter().map(|rule| width(rule.id)).max().unwrap_or(0);
    let line =
        |rule: &&Rule| format!("{}{}  {}\n", paint.name(rule.id), " ".repeat(widest - width(rule.id)), rule.summary);
    rules.iter().map(line).collect()
}

struct Page {
    paint: Paint,
    columns: usize,
    out: String,
    /// The words of the paragraph or list item that is being read.
    paragraph: String,
    /// By how much its lines after the first are indented.
    hang: usize,
}

impl Page {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            self.flush();
            if !self.out.ends_with("\n\n") {
                self.out.push('\n');
            }
        } else if let Some(title) = heading(trimmed) {
            self.flush();
            self.out.push_str(&self.paint.bold(&clean(title)));
            self.out.push('\n');
        } else if let Some(item) = trimmed.strip_prefix("- ").or_else(|| trimmed.strip_prefix("* ")) {
            self.flush();
            let indent = line.len() - line.trim_start().len();
            self.hang = indent + 2;
            self.paragraph = format!("{}• {item}", " ".repeat(indent));
        } else if self.paragraph.is_empty() {
            self.hang = 0;
            trimmed.clone_into(&mut self.paragraph);
        } else {
            self.paragraph.push(' ');
            self.paragraph.push_str(trimmed);
        }
    }

    fn code(&mut self, line: &str) {
        // Tabs and the like are kept out, leading spaces are not.
        let line = format!("    {}", clean(line));
        self.out.push_str(self.paint.dim(line.trim_end()).as_str());
        self.out.push('\n');
    }

    /// Writes the paragraph that was read, wrapped, with its marks turned into styles.
    fn flush(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        if paragraph.is_empty() {
            return;
        }
        let indent = paragraph.len() - paragraph.trim_start().len();
        let mut used = indent;
        self.out.push_str(&" ".repeat(indent));
        let mut first = true;
        for word in styled_words(&clean(paragraph.trim_start()), self.paint) {
            if !first && used + 1 + word.columns > self.columns {
                self.out.push('\n');
                self.out.push_str(&" ".repeat(self.hang));
                used = self.hang;
            } else if !first {
                self.out.push(' ');
                used += 1;
            }
            self.out.push_str(&word.text);
            used += word.columns;
            first = false;
        }
        self.out.push('\n');
        self.hang = 0;
    }
}

fn heading(line: &str) -> Option<&str> {
    let title = line.trim_start_matches('#');
    (title.len() < line.len()).then(|| title.strip_prefix(' ')).flatten()
}

/// A word with its styles, and how many columns it takes.
struct Word {
    text: String,
    columns: usize,
}

/// What a marker in the text begins or ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Code,
    Bold,
}

/// The first marker of a text, and where it stands. Inside of code only the end of it counts.
fn next_marker(text: &str, in_code: bool) -> Option<(usize, Marker)> {
    let code = text.find('`').map(|at| (at, Marker::Code));
    let bold = text.find("**").filter(|_| !in_code).map(|at| (at, Marker::Bold));
    [code, bold].into_iter().flatten().min_by_key(|(at, _)| *at)
}

/// Splits at spaces, and turns `code` and **bold**, which may hold several words, into styles.
fn styled_words(text: &str, paint: Paint) -> Vec<Word> {
    let (mut in_code, mut in_bold) = (false, false);
    let mut words = Vec::new();
    for mut rest in text.split(' ') {
        let mut word = Word { text: String::new(), columns: 0 };
        loop {
            let marker = next_marker(rest, in_code);
            let piece = marker.map_or(rest, |(at, _)| &rest[..at]);
            word.columns += width(piece);
            word.text.push_str(&match (in_code, in_bold) {
                (true, _) => paint.name(piece),
                (false, true) => paint.bold(piece),
                (false, false) => piece.to_owned(),
            });
            let Some((at, marker)) = marker else { break };
            match marker {
                Marker::Code => {
                    in_code = !in_code;
                    // Without colours the ticks are what shows that it is code.
                    if !paint.color {
                        word.text.push('`');
                        word.columns += 1;
                    }
                    rest = &rest[at + 1..];
                }
                Marker::Bold => {
                    in_bold = !in_bold;
                    rest = &rest[at + 2..];
                }
            }
        }
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::manual;

    const PAGE: &str = "## What it finds\n\nA need that **nothing orders**, where `dependsOn: [name]` would.\n\n- one\n  more\n- two\n\n```yaml\nkind: X\n  a: **b**\n```\n";

    #[test]
    fn a_page_is_readable_without_colours() {
        let page = "What it finds\n\nA need that nothing orders, where `dependsOn: [name]` would.\n\n• one more\n• two\n\n    kind: X\n      a: **b**\n";
        assert_eq!(manual(PAGE, false, None), page);
    }

    #[test]
    fn lines_are_wrapped_and_styles_do_not_count() {
        let page = manual(PAGE, true, Some(40));
        assert!(page.contains("\u{1b}[1mWhat it finds\u{1b}[0m\n"), "{page:?}");
        let plain = manual(PAGE, false, Some(40));
        assert!(plain.lines().all(|line| line.chars().count() <= 42), "{plain}");
    }
}
