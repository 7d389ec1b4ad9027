//! Items of a list less.

use std::ops::Range;

use diagnostic::Unedited;
use source::Span;
use yaml::Node;

use super::{Edit, Items, Step, Text, lines};

impl Text {
    /// The edit that takes an item out of a list; with its key, where it is the only one. Comments above it stay.
    pub(crate) fn without_item(&self, items: Items<'_>, index: usize) -> Result<Edit, Unedited> {
        let Items { key, list } = items;
        if key.is_some_and(|key| self.is_anchored(key, list)) {
            return Err(Unedited::Anchor);
        }
        let all = list.as_seq().unwrap_or_default();
        let item = all.get(index).ok_or(Unedited::Unexpected)?;
        if self.is_in_brackets(list) {
            return self.out_of_brackets(items, index..index + 1);
        }
        self.dash(item)?;
        let start = match (all.len(), key) {
            (1, Some(key)) => key.start,
            (1, None) => return Err(Unedited::Unexpected),
            _ => item.span.start,
        };
        let end = self.end_of_value(Span::new(item.span.file, item.span.start, item.span.start), item);
        Ok(Edit { range: lines::start(self.text(), start as usize)..end, replacement: String::new() })
    }

    fn is_in_brackets(&self, list: &Node) -> bool {
        self.text().as_bytes().get(list.span.start as usize) == Some(&b'[')
    }

    /// The edits that take several items, but not all, out of a list.
    fn without_items(&self, items: Items<'_>, gone: &[bool]) -> Result<Vec<Edit>, Unedited> {
        if self.is_in_brackets(items.list) {
            return runs(gone).into_iter().map(|run| self.out_of_brackets(items, run)).collect();
        }
        (0..gone.len()).filter(|at| gone[*at]).map(|at| self.without_item(items, at)).collect()
    }

    /// Takes all items out of a list in the spec of a document but those that are meant; the list as well, where none is left.
    pub(crate) fn retain_items(
        &mut self,
        document: usize,
        list: &str,
        is_meant: impl Fn(&Node) -> bool,
    ) -> Result<(), Unedited> {
        let root = self.roots().nth(document).ok_or(Unedited::Unexpected)?.clone();
        let Some(entry) = root.get("spec").and_then(Node::as_map).and_then(|spec| spec.entry(list)) else {
            return Ok(());
        };
        let items = Items { key: Some(entry.key_span), list: &entry.value };
        let all = entry.value.as_seq().ok_or(Unedited::Unexpected)?;
        let gone: Vec<bool> = all.iter().map(|item| !is_meant(item)).collect();
        let edits = match gone.iter().filter(|gone| **gone).count() {
            0 => return Ok(()),
            all if all == gone.len() => vec![self.without_list(items)?],
            _ if self.is_anchored(entry.key_span, &entry.value) => return Err(Unedited::Anchor),
            _ => self.without_items(items, &gone)?,
        };
        let meant = ["spec", list].map(|key| Step::Key(key.to_owned()));
        self.apply(root.span, edits, &meant)
    }

    /// The edit that takes a list away, with its key.
    pub(crate) fn without_list(&self, Items { key, list }: Items<'_>) -> Result<Edit, Unedited> {
        let key = key.ok_or(Unedited::Unexpected)?;
        if self.is_anchored(key, list) {
            return Err(Unedited::Anchor);
        }
        let start = lines::start(self.text(), key.start as usize);
        if !self.text()[start..key.start as usize].trim().is_empty() {
            return Err(Unedited::Unexpected);
        }
        Ok(Edit { range: start..self.end_of_value(key, list), replacement: String::new() })
    }

    fn out_of_brackets(&self, Items { key, list }: Items<'_>, run: Range<usize>) -> Result<Edit, Unedited> {
        let all: &[Node] = list.as_seq().unwrap_or_default();
        let range = match (run.start.checked_sub(1).map(|before| &all[before]), all.get(run.end)) {
            (Some(before), _) => before.span.end as usize..all[run.end - 1].span.end as usize,
            (None, Some(next)) => all[run.start].span.start as usize..next.span.start as usize,
            (None, None) => {
                let key = key.ok_or(Unedited::Unexpected)?;
                let (start, end) = (key.start as usize, list.span.end as usize);
                let is_alone = self.text()[lines::start(self.text(), start)..start].trim().is_empty();
                if !is_alone {
                    return Err(Unedited::Unexpected);
                }
                lines::start(self.text(), start)..lines::next(self.text(), end)
            }
        };
        Ok(Edit { range, replacement: String::new() })
    }
}

/// Where `true` stands one after the other.
fn runs(gone: &[bool]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..gone.len()).filter(|at| gone[*at]) {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}
