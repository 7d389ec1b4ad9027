//! YAML with another tool's template syntax in it. Actions are overwritten with as many bytes of something harmless, so
//! that what is left can be parsed and every place stays where it is in the file.
//!
//! Knows where actions begin and end (`{{ }}`, `{% %}`, `{# #}`, makejinja's `#{ }#`, `#% %#`), not what they do: both
//! branches of an `if` stay.

use yaml::{FileId, Limits, Node};

/// Begins what stands for an inline action. No text that holds it is known.
const UNKNOWN: char = '\u{e000}';
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

/// The same text in the same number of bytes, without actions. A line of nothing but actions becomes blank.
pub(crate) fn neutralise(text: &str) -> String {
    let mut output = String::with_capacity(text.len());
    let mut at = 0;
    while let Some((start, end)) = next_action(text, at) {
        output.push_str(&text[at..start]);
        let is_blank = is_control(&text[start..end]) || is_alone_on_line(text, start, end);
        overwrite(&mut output, &text[start..end], is_blank);
        at = end;
    }
    output.push_str(&text[at..]);
    output
}

/// The next action that also ends.
fn next_action(text: &str, from: usize) -> Option<(usize, usize)> {
    let rest = &text[from..];
    let complete = |(open, close): &(&str, &str)| {
        let start = rest.find(open)?;
        let end = start + open.len() + rest[start + open.len()..].find(close)?;
        // One that opens again before it closes was none.
        let start = rest[start..end].rfind(open).map_or(start, |later| start + later);
        Some((from + start, from + end + close.len()))
    };
    PAIRS.iter().filter_map(complete).min()
}

/// Whether an action decides what follows instead of standing for text.
fn is_control(action: &str) -> bool {
    if !action.starts_with("{{") && !action.starts_with("#{") {
        return true;
    }
    let inner = action[2..].trim_start_matches('-').trim_start();
    let word = inner.split(|letter: char| !letter.is_ascii_alphanumeric()).next().unwrap_or_default();
    matches!(word, "if" | "else" | "end" | "range" | "with" | "define" | "block")
        || inner.starts_with("/*")
        || (inner.starts_with('$') && inner.contains(":="))
}

/// Whether the line has nothing besides actions, before and after this one.
fn is_alone_on_line(text: &str, start: usize, end: usize) -> bool {
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[end..].find('\n').map_or(text.len(), |at| end + at);
    let is_blank = |part: &str| {
        let mut at = 0;
        while let Some((start, end)) = next_action(part, at) {
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
