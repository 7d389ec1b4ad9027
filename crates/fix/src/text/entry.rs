//! One more key of a mapping, in line with those that are there.

use diagnostic::Unedited;
use source::Span;
use yaml::{Entry, Node};

use super::value::{Indents, Value};
use super::{Edit, Text, lines};

/// The entries that stand in the lines of a mapping itself, and not in one that it merges.
pub(super) fn own_entries(map: &Node) -> Vec<&Entry> {
    let is_own = |entry: &&Entry| map.span.start <= entry.key_span.start && entry.key_span.end <= map.span.end;
    map.entries().iter().filter(is_own).collect()
}

impl Text {
    /// The edit that gives a mapping one more key, behind so many of its own.
    pub(crate) fn new_entry(
        &self,
        map: &Node,
        position: usize,
        key: &str,
        value: &Value,
        indents: Indents,
    ) -> Result<Edit, Unedited> {
        let text = self.text();
        let entries = own_entries(map);
        if text.as_bytes().get(map.span.start as usize) == Some(&b'{') {
            return self.flow_entry(map, &entries, key, value);
        }
        let first = entries.first().ok_or(Unedited::Unexpected)?;
        let column = lines::column(text, first.key_span.start as usize);
        let before = &text[lines::start(text, first.key_span.start as usize)..first.key_span.start as usize];
        if before.contains(['\t', '{', '[', '?']) {
            return Err(Unedited::Unexpected);
        }
        // The dash of an item stands before its first key.
        let position = if before.contains('-') { position.max(1) } else { position }.min(entries.len());
        let rendered: Vec<String> =
            value.field(key, indents).into_iter().map(|line| format!("{:column$}{line}", "")).collect();
        let at = match (position.checked_sub(1), entries.get(position)) {
            (None, _) => lines::after_content_before(text, first.key_span.start as usize),
            (Some(_), Some(next)) => lines::after_content_before(text, next.key_span.start as usize),
            (Some(last), None) => self.end_of(entries[last]),
        };
        Ok(self.insert_lines(at, &rendered))
    }

    /// Lines at the beginning of a line, or behind the last one.
    pub(super) fn insert_lines(&self, at: usize, lines: &[String]) -> Edit {
        let ending = lines::ending(self.text());
        let has_line = at == 0 || self.text()[..at].ends_with('\n');
        let joined = lines.join(ending);
        Edit::insert(at, if has_line { format!("{joined}{ending}") } else { format!("{ending}{joined}") })
    }

    fn flow_entry(&self, map: &Node, entries: &[&Entry], key: &str, value: &Value) -> Result<Edit, Unedited> {
        let text = self.text();
        let inside = text.get(map.span.start as usize..map.span.end as usize).ok_or(Unedited::Unexpected)?;
        let is_closed = inside.ends_with('}');
        let padded = inside.starts_with("{ ");
        let written = format!("{key}: {}", value.flow(padded));
        match entries.last() {
            _ if !is_closed => Err(Unedited::Unexpected),
            Some(last) if last.value.span.end > last.key_span.end => {
                Ok(Edit::insert(last.value.span.end as usize, format!(", {written}")))
            }
            None => Ok(Edit::insert(map.span.start as usize + 1, written)),
            Some(_) => Err(Unedited::Unexpected),
        }
    }

    /// Where the line after the last one of an entry begins.
    pub(crate) fn end_of(&self, entry: &Entry) -> usize {
        self.end_of_value(entry.key_span, &entry.value)
    }

    pub(super) fn end_of_value(&self, key: Span, value: &Node) -> usize {
        let text = self.text();
        let end = last_byte(value, key.end).max(key.end) as usize;
        // A block ends with its last line, and may end behind the end of that.
        let inside = if end > key.end as usize && text[..end].ends_with('\n') { end - 1 } else { end };
        // Empty lines behind a block are between it and what follows.
        let mut at = lines::next(text, inside);
        while at > inside && at > 0 && lines::around(text, at - 1).trim().is_empty() && text[..at].ends_with('\n') {
            at = lines::start(text, at - 1);
        }
        at
    }
}

/// The last byte of what a value consists of, as long as it stands behind its key: an alias stands elsewhere.
fn last_byte(value: &Node, behind: u32) -> u32 {
    if value.span.start < behind {
        return behind;
    }
    let inner = match &value.value {
        yaml::Value::Scalar(_) => value.span.end,
        yaml::Value::Seq(items) => items.last().map_or(value.span.end, |item| last_byte(item, value.span.start)),
        yaml::Value::Map(map) => {
            let last = map.iter().rfind(|entry| entry.key_span.start >= value.span.start);
            last.map_or(value.span.end, |entry| last_byte(&entry.value, entry.key_span.end).max(entry.key_span.end))
        }
    };
    // An alias as the last value of something ends where the whole does.
    inner.max(value.span.end)
}
