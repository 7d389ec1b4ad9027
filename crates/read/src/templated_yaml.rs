//! YAML with another tool's template syntax in it. Actions are overwritten with as many bytes of something harmless, so
//! that what is left can be parsed and every place stays where it is in the file.
//!
//! Knows where actions begin and end (`{{ }}`, `{% %}`, `{# #}`, makejinja's `#{ }#`, `#% %#`), not what they do: both
//! branches of an `if` stay.

use memchr::memmem;
use source::FileId;
use yaml::{Limits, Node};

/// Begins what stands for an inline action. No text that holds it is known.
const UNKNOWN: char = '\u{e000}';
/// Of a line that is looked at as a whole.
const LINE_BYTES_MAX: usize = 4096;
const PAIRS: [(&str, &str); 5] = [("{{", "}}"), ("{%", "%}"), ("{#", "#}"), ("#{", "}#"), ("#%", "%#")];

/// The documents of a text, its template actions neutralised.
pub(crate) fn parse(file: FileId, text: &str) -> Vec<Node> {
    let documents = yaml::parse(file, &neutralise(text), Limits::default());
    documents.into_iter().filter_map(|document| document.root).collect()
}

/// Whether a template action decides a part of this text.
pub(crate) fn is_unknown(text: &str) -> bool {
    text.contains(UNKNOWN)
}

/// Whether a text has a template action at all.
pub(crate) fn is_template(text: &str) -> bool {
    Actions::new(text).next().is_some()
}

/// The blocks that actions open in a text: an `if`, a loop.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    /// Where an action that opens or closes one ends, and where the innermost block begins that is open from there on.
    turns: Vec<(usize, Option<usize>)>,
}

impl Blocks {
    pub(crate) fn of(text: &str) -> Self {
        let mut open = Vec::new();
        let mut turns = Vec::new();
        for (start, end) in Actions::new(text) {
            match control_word(&text[start..end]) {
                "if" | "range" | "with" | "define" | "block" | "for" => open.push(start),
                word if word.starts_with("end") => drop(open.pop()),
                _ => continue,
            }
            turns.push((end, open.last().copied()));
        }
        Self { turns }
    }

    /// Whether a block opens after the first place and is still open at the second.
    pub(crate) fn is_open_between(&self, from: usize, to: usize) -> bool {
        let before = self.turns.partition_point(|(end, _)| *end <= to);
        let innermost = before.checked_sub(1).and_then(|last| self.turns[last].1);
        innermost.is_some_and(|start| start >= from)
    }
}

/// Whether an action stands for whole lines, of which nothing is known.
pub(crate) fn has_hidden_lines(text: &str) -> bool {
    hidden_lines(text).next().is_some()
}

/// Where actions begin that stand for whole lines.
pub(crate) fn hidden_lines(text: &str) -> impl Iterator<Item = usize> {
    let hidden = Actions::new(text)
        .filter(|(start, end)| !is_control(&text[*start..*end]) && is_alone_on_line(text, *start, *end));
    hidden.map(|(start, _)| start)
}

/// The same text in the same number of bytes, without actions. A line of nothing but actions becomes blank.
pub(crate) fn neutralise(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in Actions::new(text) {
        output.push_str(&text[at..start]);
        let is_blank = is_control(&text[start..end]) || is_alone_on_line(text, start, end);
        overwrite(&mut output, &text[start..end], is_blank);
        at = end;
    }
    output.push_str(&text[at..]);
    output
}

/// The actions of a text, one after the other. For each pair the next action is remembered until it is passed, so that
/// the text is looked through once, not once for each action.
struct Actions<'text> {
    text: &'text str,
    at: usize,
    next: [Next; PAIRS.len()],
}

#[derive(Clone, Copy)]
enum Next {
    Unknown,
    None,
    At(usize, usize),
}

impl<'text> Actions<'text> {
    fn new(text: &'text str) -> Self {
        Self { text, at: 0, next: [Next::Unknown; PAIRS.len()] }
    }

    /// The next action of one pair that also ends.
    fn complete(&self, (open, close): (&str, &str)) -> Next {
        let rest = &self.text[self.at..];
        let find = |text: &str, what: &str| memmem::find(text.as_bytes(), what.as_bytes());
        let found = || {
            let start = find(rest, open)?;
            let end = start + open.len() + find(&rest[start + open.len()..], close)?;
            // One that opens again before it closes was none.
            let start = rest[start..end].rfind(open).map_or(start, |later| start + later);
            Some((self.at + start, self.at + end + close.len()))
        };
        found().map_or(Next::None, |(start, end)| Next::At(start, end))
    }
}

impl Iterator for Actions<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        for (pair, delimiters) in PAIRS.into_iter().enumerate() {
            let is_passed = match self.next[pair] {
                Next::Unknown => true,
                Next::None => false,
                Next::At(start, _) => start < self.at,
            };
            if is_passed {
                self.next[pair] = self.complete(delimiters);
            }
        }
        let known = self.next.iter().filter_map(|next| match next {
            Next::At(start, end) => Some((*start, *end)),
            Next::Unknown | Next::None => None,
        });
        let action = known.min()?;
        self.at = action.1;
        Some(action)
    }
}

/// Whether an action decides what follows instead of standing for text.
fn is_control(action: &str) -> bool {
    if !action.starts_with("{{") && !action.starts_with("#{") {
        return true;
    }
    let inner = inner_of(action);
    matches!(control_word(action), "if" | "else" | "end" | "range" | "with" | "define" | "block")
        || inner.starts_with("/*")
        || (inner.starts_with('$') && inner.contains(":="))
}

fn inner_of(action: &str) -> &str {
    action[2..].trim_start_matches('-').trim_start()
}

/// The word that an action begins with.
fn control_word(action: &str) -> &str {
    inner_of(action).split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default()
}

/// Whether the line has nothing besides actions, before and after this one.
fn is_alone_on_line(text: &str, start: usize, end: usize) -> bool {
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    // Nobody writes lines of actions that long, and looking through one for each of its actions takes long.
    if line_end - line_start > LINE_BYTES_MAX {
        return false;
    }
    let is_blank = |part: &str| {
        let mut at = 0;
        for (start, end) in Actions::new(part) {
            if !part[at..start].trim().is_empty() {
                return false;
            }
            at = end;
        }
        part[at..].trim().is_empty()
    };
    is_blank(&text[line_start..start]) && is_blank(&text[end..line_end])
}

fn overwrite(output: &mut String, action: &str, is_blank: bool) {
    let mut is_first_line = true;
    for line in action.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        if is_first_line && !is_blank && content.len() >= UNKNOWN.len_utf8() {
            output.push(UNKNOWN);
            output.extend(std::iter::repeat_n('_', content.len() - UNKNOWN.len_utf8()));
        } else {
            output.extend(std::iter::repeat_n(' ', content.len()));
        }
        output.push_str(&line[content.len()..]);
        is_first_line = false;
    }
}
