//! A YAML file that is edited in place: bytes outside of the edits stay as they are, comments and all.
//!
//! Every edit is read again: the file must still be YAML, and nothing but what was meant may have another value.
//! Knows YAML and its lines. Does not know what any field is for.

mod blocks;
mod changed;
mod entry;
pub(crate) mod item;
pub(crate) mod lines;
mod remove;
#[cfg(test)]
mod tests;
pub(crate) mod value;

use std::borrow::Cow;
use std::ops::Range;

use diagnostic::Unedited;
use source::{FileId, Span, to_u32};
use yaml::{Document, Limits, Node, Value};

pub(crate) use blocks::{at, find, steps};
pub(crate) use item::Items;

/// One change of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) replacement: String,
}

impl Edit {
    fn insert(at: usize, text: String) -> Self {
        Self { range: at..at, replacement: text }
    }

    pub(crate) fn replace(at: Span, text: String) -> Self {
        Self { range: at.start as usize..at.end as usize, replacement: text }
    }
}

/// A step from a value to one in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Item(usize),
}

/// The text of a file as it is after the edits so far.
#[derive(Clone, Debug)]
pub(crate) struct Text {
    file: FileId,
    content: String,
    documents: Vec<Document>,
    /// What was edited so far, each seen from the text before it.
    made: Vec<Edit>,
}

impl Text {
    pub(crate) fn new(file: FileId, text: String) -> Self {
        let documents = parsed(file, &text);
        Self { file, content: text, documents, made: Vec::new() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.content
    }

    /// Where something is now that was there before all edits; nothing where an edit touched it.
    pub(crate) fn here(&self, before: Span) -> Option<Span> {
        let (mut start, mut end) = (before.start as usize, before.end as usize);
        for Edit { range, replacement } in &self.made {
            if range.end <= start {
                start = start - range.len() + replacement.len();
                end = end - range.len() + replacement.len();
            } else if range.start < end {
                return None;
            }
        }
        Some(Span::new(self.file, to_u32(start), to_u32(end)))
    }

    /// The tree that holds a place: a document, or the YAML in a literal block of one.
    pub(crate) fn tree(&self, at: Span) -> Option<Cow<'_, Node>> {
        let roots = || self.documents.iter().filter_map(|document| document.root.as_ref());
        let holds = |root: &Node| !find(root, at).is_empty();
        if let Some(root) = roots().find(|root| holds(root)) {
            return Some(Cow::Borrowed(root));
        }
        let block = roots().find_map(|root| blocks::around(root, at, &self.content))?;
        let inner = blocks::parse(self.file, &self.content, block);
        inner.into_iter().filter_map(|document| document.root).find(|root| holds(root)).map(Cow::Owned)
    }

    /// All documents.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Node> {
        self.documents.iter().filter_map(|document| document.root.as_ref())
    }

    /// Makes edits, if the file is still YAML and nothing changes but below `meant`, which is seen from the root of what
    /// holds `at`.
    pub(crate) fn apply(&mut self, at: Span, edits: Vec<Edit>, meant: &[Step]) -> Result<(), Unedited> {
        if edits.is_empty() {
            return Ok(());
        }
        let after = self.edited(edits)?;
        if after.documents.len() != self.documents.len() {
            return Err(Unedited::NotYaml);
        }
        self.compare(&after, at, meant)?;
        *self = after;
        Ok(())
    }

    /// Makes edits, if the file is still YAML. What they come to is compared by who makes them.
    pub(crate) fn apply_any(&mut self, edits: Vec<Edit>) -> Result<(), Unedited> {
        *self = self.edited(edits)?;
        Ok(())
    }

    /// Puts a document behind the one that holds a place.
    pub(crate) fn new_document(&mut self, behind: Span, document: &str) -> Result<(), Unedited> {
        let index = self.roots().position(|root| !find(root, behind).is_empty()).ok_or(Unedited::Unexpected)?;
        let last = self.roots().nth(index).and_then(|root| root.entries().last()).ok_or(Unedited::Unexpected)?;
        let lines: Vec<String> = std::iter::once("---").chain(document.lines()).map(str::to_owned).collect();
        let after = self.edited(vec![self.insert_lines(self.end_of(last), &lines)])?;
        let others = after.roots().enumerate().filter(|(at, _)| *at != index + 1).map(|(_, root)| root);
        if !others.eq(self.roots()) || after.roots().count() != self.roots().count() + 1 {
            return Err(Unedited::Unexpected);
        }
        *self = after;
        Ok(())
    }

    /// The text with edits, if it is still YAML.
    fn edited(&self, edits: Vec<Edit>) -> Result<Self, Unedited> {
        let mut after = self.clone();
        for edit in sorted_backwards(edits)? {
            after.content.replace_range(edit.range.clone(), &edit.replacement);
            after.made.push(edit);
        }
        after.documents = parsed(self.file, &after.content);
        let problems = |text: &Self| text.documents.iter().map(|document| document.problems.len()).sum::<usize>();
        if problems(&after) > problems(self) { Err(Unedited::NotYaml) } else { Ok(after) }
    }

    /// Whether only what was meant is different.
    fn compare(&self, after: &Self, at: Span, meant: &[Step]) -> Result<(), Unedited> {
        let mut changed = self.roots().zip(after.roots()).filter(|(before, after)| before != after);
        let Some((old, new)) = changed.next() else { return Err(Unedited::Unexpected) };
        if changed.next().is_some() {
            return Err(Unedited::Unexpected);
        }
        let is_block = blocks::around(old, at, &self.content).filter(|_| find(old, at).is_empty());
        let Some(block) = is_block else {
            return if changed::is_only_below(old, new, meant) { Ok(()) } else { Err(Unedited::Unexpected) };
        };
        let path = find(old, block);
        if !changed::is_only_below(old, new, &blocks::steps(&path)) {
            return Err(Unedited::Unexpected);
        }
        let inner_after = after.here(block).or_else(|| blocks::at(new, &blocks::steps(&path)).map(|node| node.span));
        let Some(inner_after) = inner_after else { return Err(Unedited::Unexpected) };
        let old = blocks::parse(self.file, &self.content, block);
        let new = blocks::parse(self.file, &after.content, inner_after);
        let mut changed = old.iter().zip(&new).filter(|(old, new)| old.root != new.root);
        match (changed.next(), changed.next()) {
            (Some((Document { root: Some(old), .. }, Document { root: Some(new), .. })), None)
                if changed::is_only_below(old, new, meant) =>
            {
                Ok(())
            }
            _ => Err(Unedited::Unexpected),
        }
    }

    /// Puts another scalar in the place of one.
    pub(crate) fn set_scalar(&mut self, at: Span, written: &str) -> Result<(), Unedited> {
        let tree = self.tree(at).ok_or(Unedited::InText)?.into_owned();
        let path = find(&tree, at);
        let node = path.last().map(|at| at.node).filter(|node| matches!(node.value, Value::Scalar(_)));
        let span = node.ok_or(Unedited::Unexpected)?.span;
        let range = span.start as usize..span.end as usize;
        if self.content.get(range.clone()).is_none_or(|old| old.is_empty() || old.contains('\n')) {
            return Err(Unedited::Unexpected);
        }
        let steps = blocks::steps(&path);
        self.apply(span, vec![Edit { range, replacement: written.to_owned() }], &steps)
    }

    /// Whether a value has an anchor that an alias of the file uses, or is itself an alias.
    pub(crate) fn is_anchored(&self, key: Span, value: &Node) -> bool {
        if value.span.start < key.end {
            return true;
        }
        let between = self.content.get(key.end as usize..value.span.start as usize).unwrap_or_default();
        // A value that stands further away than its own lines is that of an anchor.
        if between.contains('*') || between.lines().count() > BETWEEN_LINES_MAX {
            return true;
        }
        let name = between.split_once('&').map(|(_, name)| name.split_whitespace().next().unwrap_or_default());
        name.is_some_and(|name| self.content.contains(&format!("*{name}")))
    }
}

#[cfg(test)]
thread_local! {
    /// How often a whole text was read.
    static READS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn parsed(file: FileId, text: &str) -> Vec<Document> {
    #[cfg(test)]
    READS.set(READS.get() + 1);
    yaml::parse(file, text, Limits::default())
}

/// Lines between a key and its value: comments, an anchor.
const BETWEEN_LINES_MAX: usize = 12;

/// The last first, so that each finds its place; two that touch are refused.
fn sorted_backwards(mut edits: Vec<Edit>) -> Result<Vec<Edit>, Unedited> {
    edits.sort_by_key(|edit| std::cmp::Reverse((edit.range.start, edit.range.end)));
    let overlap = edits.windows(2).any(|two| two[1].range.end > two[0].range.start || two[0].range == two[1].range);
    if overlap { Err(Unedited::Unexpected) } else { Ok(edits) }
}
