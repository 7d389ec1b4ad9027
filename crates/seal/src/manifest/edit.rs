//! Changes to the items of SealedSecrets in a file, as edits of its bytes: comments, order and style of everything
//! else stay.
//!
//! Every edit is checked: the new text is read again, and must say the same as the old one but for the change.

use std::ops::Range;

use diagnostic::Next;
use diagnostic::next;
use edit::{Edit, checked};
use source::{FileId, Span};
use yaml::{Document, Limits, Map, Node};

use super::place::ObjectPlace;
use super::render::quoted;
use super::sealed::SealedSecret;

/// An item that is to have this value from now on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Where its SealedSecret stands.
    pub place: ObjectPlace,
    /// As in [`super::Item::key`].
    pub key: Option<String>,
    /// Sealed: base64.
    pub value: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("it can't be read as YAML")]
    NotYaml,
    #[error("the SealedSecret is not there any more")]
    Gone,
    #[error("its `spec` is written in a way that can't be edited in place (anchors, tags or merged keys?)")]
    Style,
}

impl EditError {
    /// What to type next.
    pub fn next(self) -> Next {
        match self {
            Self::NotYaml => Next::Again(next::Again::OnceRepaired),
            Self::Gone => Next::Again(next::Again::ReadsAgain),
            Self::Style => Next::Edit(next::Edit::PlainSpec),
        }
    }
}

impl From<edit::EditError<EditError>> for EditError {
    fn from(error: edit::EditError<EditError>) -> Self {
        match error {
            edit::EditError::Unread(error) => error,
            // An alias and its anchor have one place: that can't be edited twice.
            edit::EditError::Overlap { .. } | edit::EditError::NoPlace { .. } | edit::EditError::Other => Self::Style,
        }
    }
}

/// The text with the changes made.
pub fn edit(text: &str, changes: &[Change]) -> Result<String, EditError> {
    let before = parse(text)?;
    let mut edits: Vec<Edit> = Vec::new();
    for change in changes {
        let object = change.place.node(&before).ok_or(EditError::Gone)?;
        let sealed = SealedSecret::of(object).ok_or(EditError::Gone)?;
        match sealed.items.iter().find(|item| item.key == change.key) {
            Some(item) => edits.push(replace(text, item.span, &change.value)),
            None => edits.push(insert(text, object, change)?),
        }
    }
    Ok(checked(text, edits, parse, |before, after| is_only(before, after, changes))?)
}

pub(super) fn parse(text: &str) -> Result<Vec<Document>, EditError> {
    let documents = yaml::parse(FileId(0), text, Limits::default());
    let is_fine = documents.iter().all(|document| document.problems.is_empty());
    if is_fine { Ok(documents) } else { Err(EditError::NotYaml) }
}

pub(super) fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// Base64 is plain text to YAML; in quotes it stays in quotes, and a block becomes a line.
fn replace(text: &str, span: Span, value: &str) -> Edit {
    let old = text.get(range(span)).unwrap_or_default();
    let new = match old.chars().next() {
        Some(quote @ ('"' | '\'')) => format!("{quote}{value}{quote}"),
        Some('|' | '>') if old.ends_with('\n') => format!("{value}\n"),
        _ => value.to_owned(),
    };
    Edit::replace(range(span), new)
}

fn insert(text: &str, object: &Node, change: &Change) -> Result<Edit, EditError> {
    let key = change.key.as_deref().ok_or(EditError::Gone)?;
    let spec = object.get("spec").ok_or(EditError::Style)?;
    let Some(entry) = spec.as_map().and_then(|map| map.entry("encryptedData")) else {
        return insert_first(text, spec, key, &change.value);
    };
    let data = &entry.value;
    let written = text.get(range(data.span)).unwrap_or_default();
    if written.starts_with('{') {
        let is_empty = data.entries().is_empty();
        let at = data.span.start as usize + 1;
        let comma = if is_empty { "" } else { ", " };
        return Ok(Edit::insert(at, format!("\"{key}\": \"{}\"{comma}", change.value)));
    }
    if let Some(last) = data.entries().last() {
        let indent = indentation(text, data.entries()[0].key_span.start as usize).ok_or(EditError::Style)?;
        let line = format!("{indent}{}: {}\n", quoted(key), change.value);
        return Ok(after_line(text, last.value.span.end as usize, line));
    }
    // `encryptedData:` with nothing behind it.
    let indent = indentation(text, entry.key_span.start as usize).ok_or(EditError::Style)?;
    let line = format!("{indent}  {}: {}\n", quoted(key), change.value);
    Ok(after_line(text, entry.key_span.end as usize, line))
}

/// `encryptedData` as the first key of `spec`.
fn insert_first(text: &str, spec: &Node, key: &str, value: &str) -> Result<Edit, EditError> {
    let first = spec.entries().first().ok_or(EditError::Style)?;
    let at = first.key_span.start as usize;
    let indent = indentation(text, at).ok_or(EditError::Style)?;
    Ok(Edit::insert(at, format!("encryptedData:\n{indent}  {}: {value}\n{indent}", quoted(key))))
}

/// The spaces before a key, if there is nothing else before it on its line.
pub(super) fn indentation(text: &str, at: usize) -> Option<&str> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |line| line + 1);
    let before = &text[start..at];
    before.chars().all(|c| c == ' ').then_some(before)
}

/// After the line that holds the byte before `end`.
pub(super) fn after_line(text: &str, end: usize, line: String) -> Edit {
    if text[..end].ends_with('\n') {
        return Edit::insert(end, line);
    }
    match text[end..].find('\n') {
        Some(offset) => Edit::insert(end + offset + 1, line),
        None => Edit::insert(text.len(), format!("\n{line}")),
    }
}

/// The new documents are the old ones with the changes in them, and nothing else.
fn is_only(before: &[Document], after: &[Document], changes: &[Change]) -> bool {
    let mut wanted: Vec<Option<Node>> = before.iter().map(|document| document.root.clone()).collect();
    for change in changes {
        let object = change.place.node_mut(&mut wanted);
        let spec = object.and_then(|object| object.get_mut("spec")).and_then(Node::as_map_mut);
        let Some(spec): Option<&mut Map> = spec else { return false };
        let value = Node::string(change.value.as_str(), Span::GENERATED);
        match &change.key {
            Some(key) => spec.map_mut("encryptedData", Span::GENERATED).insert(key.as_str(), Span::GENERATED, value),
            None => spec.insert("data", Span::GENERATED, value),
        }
    }
    wanted.iter().eq(after.iter().map(|document| &document.root))
}

#[cfg(test)]
mod tests {
    use super::{Change, EditError, ObjectPlace, edit};

    fn change(key: &str, value: &str) -> Change {
        Change { place: ObjectPlace::default(), key: Some(key.to_owned()), value: value.to_owned() }
    }

    const HEAD: &str = "# ours\napiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: a}\n";

    #[track_caller]
    fn becomes(spec: &str, changes: &[Change], wanted: &str) {
        assert_eq!(edit(&format!("{HEAD}{spec}"), changes).unwrap(), format!("{HEAD}{wanted}"));
    }

    #[test]
    fn an_item_changes_and_nothing_else_does() {
        becomes(
            "spec:\n  encryptedData:\n    a: AAA=  # the first\n    b: 'BBB='\n  template: {type: Opaque}\n",
            &[change("b", "CCC="), change("a", "DDD=")],
            "spec:\n  encryptedData:\n    a: DDD=  # the first\n    b: 'CCC='\n  template: {type: Opaque}\n",
        );
    }

    #[test]
    fn a_new_item_comes_last() {
        becomes(
            "spec:\n  encryptedData:\n    a: AAA=  # the first\n  template: {}\n",
            &[change("b", "BBB=")],
            "spec:\n  encryptedData:\n    a: AAA=  # the first\n    b: BBB=\n  template: {}\n",
        );
        becomes(
            "spec:\n  encryptedData:\n    a: AAA=",
            &[change("b", "B")],
            "spec:\n  encryptedData:\n    a: AAA=\n    b: B\n",
        );
        becomes("spec:\n  encryptedData: {}\n", &[change("b", "B")], "spec:\n  encryptedData: {\"b\": \"B\"}\n");
        becomes(
            "spec:\n  encryptedData: {a: A}\n",
            &[change("b", "B")],
            "spec:\n  encryptedData: {\"b\": \"B\", a: A}\n",
        );
        becomes("spec:\n  encryptedData:\n", &[change("b", "B")], "spec:\n  encryptedData:\n    b: B\n");
        becomes("spec:\n  template: {}\n", &[change("b", "B")], "spec:\n  encryptedData:\n    b: B\n  template: {}\n");
    }

    #[test]
    fn a_file_of_other_line_ends_keeps_them() {
        let changes = [change("b", "CCC="), change("c", "D")];
        let before =
            format!("{HEAD}spec:\n  encryptedData:\n    a: A\n    b: >-\n      BBB\n      BB=\n    x: |\n      X\n");
        let after = edit(&before, &changes).unwrap();
        assert_eq!(edit(&before.replace('\n', "\r\n"), &changes).unwrap(), after.replace('\n', "\r\n"));
        let empty = format!("{HEAD}spec:\r\n  template: {{}}\r\n").replace("\r\n", "\n").replace('\n', "\r\n");
        let after = edit(&empty, &[change("b", "B")]).unwrap();
        assert!(after.ends_with("spec:\r\n  encryptedData:\r\n    b: B\r\n  template: {}\r\n"), "{after:?}");
    }

    #[test]
    fn folded_and_literal_items_become_lines() {
        becomes(
            "spec:\n  encryptedData:\n    a: >-\n      AAA\n      BBB=\n    b: |\n      BBB=\n",
            &[change("a", "CCC="), change("b", "DDD=")],
            "spec:\n  encryptedData:\n    a: CCC=\n    b: DDD=\n",
        );
    }

    #[test]
    fn json_stays_json() {
        let json = r#"{"apiVersion":"bitnami.com/v1alpha1","kind":"SealedSecret","metadata":{"name":"a"},"spec":{"encryptedData":{"a":"AAA="}}}"#;
        let text = edit(json, &[change("a", "B"), change("c", "C")]).unwrap();
        serde_json::from_str::<serde_json::Value>(&text).unwrap();
        assert!(text.contains(r#"{"c": "C", "a":"B"}"#), "{text}");
    }

    #[test]
    fn what_can_not_be_edited_is_left_alone() {
        let shared = format!("{HEAD}spec:\n  encryptedData:\n    a: &x AAA=\n    b: *x\n");
        assert_eq!(edit(&shared, &[change("a", "C"), change("b", "D")]), Err(EditError::Style));
        assert_eq!(edit("a: [", &[change("a", "C")]), Err(EditError::NotYaml));
        assert_eq!(edit("kind: Secret\n", &[change("a", "C")]), Err(EditError::Gone));
    }

    #[test]
    fn only_the_document_that_is_meant_changes() {
        let one = format!("{HEAD}spec:\n  encryptedData:\n    a: A\n");
        let two = format!("{one}---\n{one}");
        let wanted = Change { place: ObjectPlace { document: 1, items: Vec::new() }, ..change("a", "B") };
        assert_eq!(edit(&two, &[wanted]).unwrap(), format!("{one}---\n{}", one.replace("a: A\n", "a: B\n")));
    }
    #[test]
    fn only_the_item_of_a_list_that_is_meant_changes() {
        let item = |name: &str, value: &str| {
            format!(
                "  - apiVersion: bitnami.com/v1alpha1\n    kind: SealedSecret\n    metadata: {{name: {name}}}\n    spec:\n      encryptedData:\n        a: {value}\n"
            )
        };
        let list = |second: &str| {
            format!("apiVersion: v1\nkind: List\nitems:\n{}{second}  - kind: ConfigMap\n", item("one", "A"))
        };
        let place = ObjectPlace { document: 0, items: vec![1] };
        let replaced = Change { place: place.clone(), ..change("a", "B") };
        assert_eq!(edit(&list(&item("two", "A")), &[replaced]).unwrap(), list(&item("two", "B")));
        let added = Change { place, ..change("b", "B") };
        let wanted = format!("{}        b: B\n", item("two", "A"));
        assert_eq!(edit(&list(&item("two", "A")), &[added]).unwrap(), list(&wanted));
        let nowhere = Change { place: ObjectPlace { document: 0, items: vec![2] }, ..change("a", "B") };
        assert_eq!(edit(&list(&item("two", "A")), &[nowhere]), Err(EditError::Gone));
    }
}
