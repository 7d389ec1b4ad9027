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
        let is_alone = is_alone_on_line(text, start, end);
        overwrite(&mut output, &text[start..end], is_alone);
        at = end;
    }
    output.push_str(&text[at..]);
    output
}

fn next_action(text: &str, from: usize) -> Option<(usize, usize)> {
    let rest = &text[from..];
    let (start, close) = PAIRS.iter().filter_map(|(open, close)| Some((rest.find(open)?, *close))).min()?;
    let end = rest[start + 2..].find(close).map_or(rest.len(), |length| start + 2 + length + close.len());
    Some((from + start, from + end))
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

fn overwrite(output: &mut String, action: &str, is_alone: bool) {
    let mut is_first_line = true;
    for line in action.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        if is_first_line && !is_alone && content.len() >= UNKNOWN.len_utf8() {
            output.push(UNKNOWN);
            output.extend(std::iter::repeat_n('_', content.len() - UNKNOWN.len_utf8()));
        } else {
            output.extend(std::iter::repeat_n(' ', content.len()));
        }
        output.push_str(&line[content.len()..]);
        is_first_line = false;
    }
}
