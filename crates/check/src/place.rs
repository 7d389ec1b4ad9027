//! Where a new item of a list goes, told from the lines around those that are there.
//!
//! Knows what a list looks like in YAML, and looks only at the lines around a place: a file may hold anything else.

use diagnostic::{Place, Shape};
use source::{Span, to_u32};

/// Lines between the first of an item and the one that names it, at most.
const ITEM_LINES_MAX: usize = 12;

/// Where the item after this one goes. Nothing where the lines can't be told.
pub(crate) fn after(text: &str, last: Span) -> Option<Place> {
    let lines = Lines { text };
    let line = lines.around(last.start as usize);
    let before = text.get(line.start..last.start as usize)?;
    if before.contains('[') {
        return Some(Place::Inside { last });
    }
    let (column, shape) = dash(&lines, line.start, before)?;
    let end = lines.end_of_item(line.end, column);
    Some(Place::After { last: Span::new(last.file, last.start, to_u32(end)), column: to_u32(column), shape })
}

/// Where a new key goes: below a key that has others below it, or beside the first key of an item.
pub(crate) fn key(text: &str, above: Span, is_beside: bool) -> Option<Place> {
    let lines = Lines { text };
    let line = lines.around(above.start as usize);
    let before = text.get(line.start..above.start as usize)?;
    if before.contains(['{', '[']) {
        return None;
    }
    // Of the first key in the line, behind the dash of an item.
    let own = before.len() - before.trim_start_matches([' ', '-']).len();
    let column = if is_beside { own } else { lines.below(line.end, own)? };
    Some(Place::Key { above: Span::new(above.file, above.start, to_u32(line.end)), column: to_u32(column) })
}

/// The column of the dash of the item that a name stands in, and how the item is written.
fn dash(lines: &Lines<'_>, start: usize, before: &str) -> Option<(usize, Shape)> {
    let own = indent(before);
    if let Some(rest) = before[own..].strip_prefix('-') {
        return Some((own, if rest.contains('{') { Shape::Flow } else { Shape::Block }));
    }
    // `- namespace: a`, and the name below it.
    let mut at = start;
    for _ in 0..ITEM_LINES_MAX {
        let line = lines.around(at.checked_sub(1)?);
        let text = &lines.text[line.start..line.end];
        let column = indent(text);
        if let Some(rest) = text[column..].strip_prefix('-').filter(|_| column < own) {
            return (column + 1 + indent(rest) == own).then_some((column, Shape::Block));
        }
        at = line.start;
    }
    None
}

fn indent(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

struct Lines<'a> {
    text: &'a str,
}

impl Lines<'_> {
    /// The line that a byte is in, without its end.
    fn around(&self, at: usize) -> std::ops::Range<usize> {
        let bytes = self.text.as_bytes();
        let start = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1);
        let end = memchr::memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end);
        start..end
    }

    /// The lines after the end of one, with what they hold.
    fn after(&self, end: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
        let next = |end: usize| (end + 1 < self.text.len()).then(|| self.around(end + 1));
        std::iter::successors(next(end), move |line| next(line.end))
    }

    /// The end of the last line that belongs to an item with its dash in this column.
    fn end_of_item(&self, end: usize, column: usize) -> usize {
        let is_empty = |line: &str| line.trim_start().is_empty() || line.trim_start().starts_with('#');
        let mut last = end;
        for line in self.after(end) {
            let text = &self.text[line.start..line.end];
            if is_empty(text) {
                continue;
            }
            if indent(text) <= column {
                break;
            }
            last = line.end;
        }
        last
    }

    /// The column of the first key below a line, where that is further to the right.
    fn below(&self, end: usize, column: usize) -> Option<usize> {
        let mut lines = self.after(end).map(|line| &self.text[line.start..line.end]);
        let first = lines.find(|line| !line.trim_start().is_empty() && !line.trim_start().starts_with('#'))?;
        Some(indent(first)).filter(|own| *own > column)
    }
}

#[cfg(test)]
mod tests {
    use super::{after, key};
    use diagnostic::{Place, Shape};
    use source::{FileId, Span, to_u32};

    fn found(text: &str, what: &str) -> Span {
        let start = text.find(what).expect("what to look for");
        Span::new(FileId(0), to_u32(start), to_u32(start + what.len()))
    }

    /// The last line of the place, the column and the shape.
    fn told(text: &str, place: Option<Place>) -> (usize, u32, Option<Shape>) {
        let line = |at: Span| text[..at.end as usize].lines().count();
        match place.expect("a place") {
            Place::After { last, column, shape } => (line(last), column, Some(shape)),
            Place::Key { above, column } => (line(above), column, None),
            Place::Inside { last } => (line(last), 0, Some(Shape::Flow)),
        }
    }

    #[test]
    fn an_item_goes_after_all_lines_of_the_last() {
        let text = "spec:\n  dependsOn:\n    - name: a\n    - name: last # why\n      namespace: b\n\n  wait: true\n";
        assert_eq!(told(text, after(text, found(text, "last"))), (5, 4, Some(Shape::Block)));
    }

    #[test]
    fn a_name_below_its_namespace_is_of_the_same_item() {
        let text = "spec:\n  dependsOn:\n  - namespace: b\n    name: last\n  wait: true\n";
        assert_eq!(told(text, after(text, found(text, "last"))), (4, 2, Some(Shape::Block)));
    }

    #[test]
    fn braces_stay_braces() {
        let text = "spec:\n  dependsOn:\n    - {name: last, namespace: b}\n";
        assert_eq!(told(text, after(text, found(text, "last"))), (3, 4, Some(Shape::Flow)));
    }

    #[test]
    fn brackets_are_gone_into() {
        let text = "spec:\n  dependsOn: [{name: last}]\n";
        assert!(matches!(after(text, found(text, "last")), Some(Place::Inside { .. })));
    }

    #[test]
    fn a_value_of_a_json_patch_is_no_item() {
        let text = "- op: add\n  path: /spec/dependsOn/-\n  value:\n    name: last\n";
        assert_eq!(after(text, found(text, "last")), None);
    }

    #[test]
    fn a_new_key_stands_in_line_with_those_below() {
        let text = "spec:\n    # often\n    interval: 1h\n";
        assert_eq!(told(text, key(text, found(text, "spec"), false)), (1, 4, None));
        let text = "releases:\n  - name: web\n    chart: a/web\n";
        assert_eq!(told(text, key(text, found(text, "web"), true)), (2, 4, None));
    }
}
