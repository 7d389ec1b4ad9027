//! Renewal switched off, as an edit of the bytes of the file that says otherwise.
//!
//! Every edit is checked twice: the place must say what was read there, and the new text, read again, must differ from
//! the old one in just that value.

use std::ops::Range;

use edit::{Edit, checked};
use source::{FileId, Span};
use yaml::{Document, Limits, Node, Scalar, Value};

use super::{FLAG, Form, Renewal, Said, VALUE};
use crate::manifest::set;

const OFF: &str = "\"0\"";

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SwitchError {
    #[error("it can't be read as YAML")]
    NotYaml,
    #[error("it does not say there what was read")]
    Gone,
    #[error("it is written in a way that can't be edited in place")]
    Style,
}

impl From<edit::EditError<SwitchError>> for SwitchError {
    fn from(error: edit::EditError<SwitchError>) -> Self {
        match error {
            edit::EditError::Unread(error) => error,
            edit::EditError::Overlap { .. } | edit::EditError::NoPlace { .. } | edit::EditError::Other => Self::Style,
        }
    }
}

/// The text of a file with renewal off. `release` is a place of the release, for where nothing is said at all.
pub fn switch_off(text: &str, renewal: &Renewal, release: Span) -> Result<String, SwitchError> {
    match renewal {
        Renewal::Off(_) => Ok(text.to_owned()),
        Renewal::Unsaid => add_value(text, release),
        Renewal::UnsaidInArguments(span) => add_argument(text, *span),
        Renewal::Unquoted(span) => replace(text, *span, &Scalar::plain("0"), OFF),
        Renewal::Every(said) => change(text, said),
    }
}

fn change(text: &str, said: &Said) -> Result<String, SwitchError> {
    if said.form != Form::OneWord {
        return replace(text, said.span, &Scalar::plain(said.every.as_str()), OFF);
    }
    let old = format!("{FLAG}={}", said.every);
    let written = text.get(range(said.span)).ok_or(SwitchError::Gone)?;
    if written.matches(&old).count() != 1 {
        return Err(SwitchError::Gone);
    }
    let new = written.replace(&old, &format!("{FLAG}=0"));
    replace(text, said.span, &Scalar::string(old), &new)
}

/// One scalar in place of another.
fn replace(text: &str, span: Span, old: &Scalar, new: &str) -> Result<String, SwitchError> {
    let written = text.get(range(span)).and_then(|written| yaml::parse_value(FileId(0), written));
    let is_there = written.as_ref().and_then(Node::as_scalar).is_some_and(|there| there.text == old.text);
    if !is_there {
        return Err(SwitchError::Gone);
    }
    let wanted = yaml::parse_value(FileId(0), new).ok_or(SwitchError::Style)?;
    let is_it = |was: &Node, is: &Node| was.as_scalar().is_some_and(|was| was.text == old.text) && *is == wanted;
    Ok(checked(text, vec![Edit::replace(range(span), new)], parse, |before, after| is_one(before, after, is_it))?)
}

/// Whether two files differ in one value, and as wanted.
fn is_one(before: &[Document], after: &[Document], is_wanted: impl Fn(&Node, &Node) -> bool) -> bool {
    matches!(differences(before, after).as_deref(), Some([(was, is)]) if is_wanted(was, is))
}

fn add_value(text: &str, release: Span) -> Result<String, SwitchError> {
    let holds = |document: &Document| {
        let root = document.root.as_ref().filter(|root| root.text_at(&["kind"]) == Some("HelmRelease"));
        root.is_some_and(|root| root.span.start <= release.start && release.end <= root.span.end)
    };
    let document = parse(text)?.iter().position(holds).ok_or(SwitchError::Gone)?;
    set(text, document, &["spec", "values", VALUE], OFF).map_err(|_| SwitchError::Style)
}

/// One argument more, as the last one.
fn add_argument(text: &str, span: Span) -> Result<String, SwitchError> {
    let new = format!("\"{FLAG}=0\"");
    let written = text.get(range(span)).ok_or(SwitchError::Gone)?;
    let edit = if let Some(inside) = written.strip_suffix(']').filter(|inside| inside.starts_with('[')) {
        let inside = inside.trim_end().trim_end_matches(',');
        let at = span.start as usize + inside.len();
        Edit::insert(at, format!(", {new}"))
    } else {
        let end = span.start as usize + written.trim_end().len();
        let last = text[..end].rfind('\n').map_or(0, |line| line + 1);
        let line = &text[last..end];
        let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
        if !line.trim_start_matches(' ').starts_with("- ") {
            return Err(SwitchError::Style);
        }
        let at = text[end..].find('\n').map_or(text.len(), |offset| end + offset);
        Edit::insert(at, format!("\n{indent}- {new}"))
    };
    let argument = Node::string(format!("{FLAG}=0"), Span::GENERATED);
    let is_one_more = |was: &Node, is: &Node| {
        let (Some(was), Some(is)) = (was.as_seq(), is.as_seq()) else { return false };
        is.split_last().is_some_and(|(last, before)| *last == argument && before == was)
    };
    Ok(checked(text, vec![edit], parse, |before, after| is_one(before, after, is_one_more))?)
}

fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

fn parse(text: &str) -> Result<Vec<Document>, SwitchError> {
    let documents = yaml::parse(FileId(0), text, Limits::default());
    let is_fine = documents.iter().all(|document| document.problems.is_empty());
    if is_fine { Ok(documents) } else { Err(SwitchError::NotYaml) }
}

/// The values in which two files differ, of each what it was and what it is; nothing where their documents do.
fn differences(before: &[Document], after: &[Document]) -> Option<Vec<(Node, Node)>> {
    if before.len() != after.len() {
        return None;
    }
    let mut found = Vec::new();
    for (before, after) in before.iter().zip(after) {
        match (&before.root, &after.root) {
            (Some(before), Some(after)) => compare(before, after, &mut found),
            (None, None) => {}
            _ => return None,
        }
    }
    Some(found)
}

fn compare(before: &Node, after: &Node, found: &mut Vec<(Node, Node)>) {
    let same_keys = |one: &Node, other: &Node| {
        one.entries().iter().map(|entry| &entry.key).eq(other.entries().iter().map(|entry| &entry.key))
    };
    match (&before.value, &after.value) {
        (Value::Map(one), Value::Map(other)) if same_keys(before, after) => {
            one.iter().zip(other).for_each(|(one, other)| compare(&one.value, &other.value, found));
        }
        (Value::Seq(one), Value::Seq(other)) if one.len() == other.len() => {
            one.iter().zip(other).for_each(|(one, other)| compare(one, other, found));
        }
        _ if before == after => {}
        _ => match within(before, after) {
            // A patch that is written as text.
            Some(inside) => found.extend(inside),
            None => found.push((before.clone(), after.clone())),
        },
    }
}

/// The differences of two texts that are themselves YAML: mappings or sequences, not words.
fn within(before: &Node, after: &Node) -> Option<Vec<(Node, Node)>> {
    let (before, after) = (before.as_str()?, after.as_str()?);
    let structure = |text: &str| {
        let is_structure = |one: &Document| one.root.as_ref().is_some_and(|root| root.as_scalar().is_none());
        parse(text).ok().filter(|documents| documents.iter().any(is_structure))
    };
    differences(&structure(before)?, &structure(after)?)
}

#[cfg(test)]
mod tests {
    use source::FileId;
    use yaml::{Node, parse_value};

    use super::{SwitchError, switch_off};
    use crate::renewal::Renewal;

    /// The text with renewal off, read as a release.
    fn off(text: &str) -> Result<String, SwitchError> {
        let root = parse_value(FileId(0), text).unwrap();
        switch_off(text, &Renewal::of_values(root.at(&["spec", "values"])), root.span)
    }

    #[test]
    fn a_second_time_is_refused() {
        let text = "kind: HelmRelease\nspec:\n  values:\n    keyrenewperiod: 720h\n    a: 1\n";
        let root = parse_value(FileId(0), text).unwrap();
        let renewal = Renewal::of_values(root.at(&["spec", "values"]));
        let once = switch_off(text, &renewal, root.span).unwrap();
        assert_eq!(once, text.replace("720h", "\"0\""));
        assert_eq!(switch_off(&once, &renewal, root.span), Err(SwitchError::Gone));
    }

    #[test]
    fn an_anchor_that_others_use_is_left_alone() {
        let text = "kind: HelmRelease\nspec:\n  values:\n    keyrenewperiod: &every 720h\n    other: *every\n";
        assert!(off(text).is_err());
    }

    #[test]
    fn arguments_are_added_in_their_own_style() {
        let root = |arguments: &str| format!("kind: HelmRelease\nspec:\n  values:\n    args: {arguments}\n    z: 1\n");
        assert_eq!(off(&root("[\n      a,\n    ]")).unwrap(), root("[\n      a, \"--key-renew-period=0\",\n    ]"));
        assert_eq!(
            off(&root("\n    - a\n    - b")).unwrap(),
            root("\n    - a\n    - b\n    - \"--key-renew-period=0\"")
        );
        assert!(off(&root("\n    - a\n    - >-\n      b")).is_err());
        assert!(off(&root("some text")).is_err());
        let is_off = |text: &str| {
            let values = parse_value(FileId(0), text).unwrap();
            Renewal::of_values(values.at(&["spec", "values"])).is_off()
        };
        assert!(is_off(&off(&root("['a b']")).unwrap()));
    }

    #[test]
    fn a_release_in_a_list_is_not_mistaken_for_its_list() {
        let text = "kind: List\nitems:\n  - kind: HelmRelease\n    spec: {interval: 1h}\n";
        let root = parse_value(FileId(0), text).unwrap();
        let item: &Node = &root.items_at("items")[0];
        assert_eq!(switch_off(text, &Renewal::Unsaid, item.span), Err(SwitchError::Gone));
    }
}
