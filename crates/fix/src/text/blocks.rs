//! Places in trees, and trees in the literal blocks of others: patches that a kustomization holds as text.

use source::{FileId, Span, to_u32};
use yaml::{Document, Limits, Node, Value};

use super::Step;

/// A value on the way to a place.
#[derive(Clone, Debug)]
pub(crate) struct On<'n> {
    /// From the value before it.
    pub(crate) step: Option<Step>,
    pub(crate) node: &'n Node,
    /// The key that it stands below, if it has one.
    pub(crate) key: Option<Span>,
}

/// The values from the root to the one that has this place, or whose key has; none if none has.
pub(crate) fn find(root: &Node, at: Span) -> Vec<On<'_>> {
    let mut path = vec![On { step: None, node: root, key: None }];
    if walk(&mut path, at) { path } else { Vec::new() }
}

fn walk(path: &mut Vec<On<'_>>, at: Span) -> bool {
    let Some(last) = path.last().cloned() else { return false };
    if last.node.span == at || last.key == Some(at) {
        return true;
    }
    let children: Vec<On<'_>> = match &last.node.value {
        Value::Scalar(_) => return false,
        Value::Seq(items) => {
            let item = |(index, node)| On { step: Some(Step::Item(index)), node, key: None };
            items.iter().enumerate().map(item).collect()
        }
        Value::Map(map) => {
            let child = |entry: &'_ yaml::Entry| (Step::Key(entry.key.to_string()), entry.key_span);
            map.iter()
                .map(|entry| {
                    let (step, key) = child(entry);
                    On { step: Some(step), node: &entry.value, key: Some(key) }
                })
                .collect()
        }
    };
    for child in children {
        let covers = |span: Span| span.start <= at.start && at.end <= span.end;
        // A value of an anchor stands elsewhere: it is looked into only by way of the anchor.
        if child.key == Some(at) || covers(child.node.span) {
            path.push(child);
            if walk(path, at) {
                return true;
            }
            path.pop();
        }
    }
    false
}

/// The steps of a path.
pub(crate) fn steps(path: &[On<'_>]) -> Vec<Step> {
    path.iter().filter_map(|on| on.step.clone()).collect()
}

/// The value at the end of steps.
pub(crate) fn at<'n>(root: &'n Node, steps: &[Step]) -> Option<&'n Node> {
    steps.iter().try_fold(root, |node, step| match step {
        Step::Key(key) => node.get(key),
        Step::Item(index) => node.as_seq()?.get(*index),
    })
}

/// The literal block of a tree that a place is in.
pub(super) fn around(root: &Node, at: Span, text: &str) -> Option<Span> {
    match &root.value {
        Value::Scalar(_) => {
            let is_in = root.span.start < at.start && at.end <= root.span.end;
            let is_literal = || text.as_bytes().get(root.span.start as usize) == Some(&b'|');
            (is_in && is_literal()).then_some(root.span)
        }
        Value::Seq(items) => items.iter().find_map(|item| around(item, at, text)),
        Value::Map(map) => map.iter().find_map(|entry| around(&entry.value, at, text)),
    }
}

/// The documents in a literal block. All text around it is blanked, so that places are those of the whole file.
pub(super) fn parse(file: FileId, text: &str, block: Span) -> Vec<Document> {
    let start = super::lines::next(text, block.start as usize).min(block.end as usize);
    let blank = |c: char| if c == '\n' { "\n".to_owned() } else { " ".repeat(c.len_utf8()) };
    let mut masked: String = text[..start].chars().map(blank).collect();
    masked.push_str(text.get(start..block.end as usize).unwrap_or_default());
    debug_assert_eq!(masked.len(), block.end as usize);
    let _ = to_u32(masked.len());
    yaml::parse(file, &masked, Limits::default())
}
