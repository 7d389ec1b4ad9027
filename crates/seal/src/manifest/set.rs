//! One value of a document, set as an edit of its bytes.

use std::fmt::Write as _;

use edit::{Edit, checked};
use source::Span;
use yaml::{Document, Map, Node};

use super::edit::{EditError, after_line, indentation, parse, range};

/// The text with `value` (as YAML) at the end of `path` in one of its documents. Mappings that are missing are made.
pub fn set(text: &str, document: usize, path: &[&str], value: &str) -> Result<String, EditError> {
    let before = parse(text)?;
    let root = before.get(document).and_then(|document| document.root.as_ref()).ok_or(EditError::Gone)?;
    let edit = place(text, root, path, value)?;
    let wanted = yaml::parse_value(source::FileId(0), value).ok_or(EditError::NotYaml)?;
    Ok(checked(text, vec![edit], parse, |before, after| is_only(before, after, document, path, &wanted))?)
}

fn place(text: &str, root: &Node, path: &[&str], value: &str) -> Result<Edit, EditError> {
    let mut node = root;
    for (depth, key) in path.iter().enumerate() {
        let rest = &path[depth..];
        let Some(entry) = node.as_map().and_then(|map| map.entry(key)) else {
            return add(text, node, rest, value);
        };
        if depth + 1 == path.len() {
            let found = range(entry.value.span);
            if entry.value.is_null() && found.is_empty() {
                let at = entry.key_span.end as usize
                    + text[entry.key_span.end as usize..].find(':').ok_or(EditError::Style)?
                    + 1;
                return Ok(Edit::insert(at, format!(" {value}")));
            }
            return Ok(Edit::replace(found, value));
        }
        if entry.value.is_null() {
            let indent = indentation(text, entry.key_span.start as usize).ok_or(EditError::Style)?;
            let lines = lines(&format!("{indent}  "), &rest[1..], value);
            return Ok(after_line(text, entry.key_span.end as usize, lines));
        }
        node = &entry.value;
    }
    Err(EditError::Style)
}

/// New keys at the top of a mapping.
fn add(text: &str, map: &Node, path: &[&str], value: &str) -> Result<Edit, EditError> {
    if text.get(range(map.span)).is_some_and(|written| written.starts_with('{')) {
        let at = map.span.start as usize + 1;
        let open: Vec<String> = path[..path.len() - 1].iter().map(|key| format!("{key}: {{")).collect();
        let open = open.concat();
        let comma = if map.entries().is_empty() { "" } else { ", " };
        let last = path.last().ok_or(EditError::Style)?;
        return Ok(Edit::insert(at, format!("{open}{last}: {value}{}{comma}", "}".repeat(path.len() - 1))));
    }
    let first = map.entries().first().ok_or(EditError::Style)?;
    let at = first.key_span.start as usize;
    let indent = indentation(text, at).ok_or(EditError::Style)?;
    let lines = lines(indent, path, value);
    Ok(Edit::insert(at, format!("{}{indent}", lines.trim_start_matches(' '))))
}

/// `a:`, below it `b:`, below it `c: value`.
fn lines(indent: &str, path: &[&str], value: &str) -> String {
    let mut out = String::new();
    for (depth, key) in path.iter().enumerate() {
        let end = if depth + 1 == path.len() { format!(" {value}") } else { String::new() };
        let _ = writeln!(out, "{indent}{}{key}:{end}", "  ".repeat(depth));
    }
    out
}

fn is_only(before: &[Document], after: &[Document], document: usize, path: &[&str], value: &Node) -> bool {
    let mut wanted: Vec<Option<Node>> = before.iter().map(|document| document.root.clone()).collect();
    let Some((last, above)) = path.split_last() else { return false };
    let root = wanted.get_mut(document).and_then(Option::as_mut).and_then(Node::as_map_mut);
    let Some(mut map): Option<&mut Map> = root else { return false };
    for key in above {
        map = map.map_mut(key, Span::GENERATED);
    }
    map.insert(*last, Span::GENERATED, value.clone());
    wanted.iter().eq(after.iter().map(|document| &document.root))
}

#[cfg(test)]
mod tests {
    use super::set;

    #[track_caller]
    fn becomes(before: &str, after: &str) {
        assert_eq!(set(before, 0, &["spec", "values", "keyrenewperiod"], "\"0\"").unwrap(), after);
    }

    #[test]
    fn a_value_is_replaced_where_it_stands() {
        becomes(
            "spec:\n  values:\n    keyrenewperiod: 0 # off\n",
            "spec:\n  values:\n    keyrenewperiod: \"0\" # off\n",
        );
        becomes("spec:\n  values:\n    keyrenewperiod:\n", "spec:\n  values:\n    keyrenewperiod: \"0\"\n");
    }

    #[test]
    fn missing_keys_come_first() {
        becomes("spec:\n  values:\n    a: 1\n", "spec:\n  values:\n    keyrenewperiod: \"0\"\n    a: 1\n");
        becomes("spec:\n  a: 1\n", "spec:\n  values:\n    keyrenewperiod: \"0\"\n  a: 1\n");
        becomes("spec:\n  values:\n  a: 1\n", "spec:\n  values:\n    keyrenewperiod: \"0\"\n  a: 1\n");
        becomes("spec: {values: {a: 1}}\n", "spec: {values: {keyrenewperiod: \"0\", a: 1}}\n");
        becomes("spec: {}\n", "spec: {values: {keyrenewperiod: \"0\"}}\n");
    }
}
