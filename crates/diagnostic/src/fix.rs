//! What would mend a finding: a title, and the bytes to change where a program may do it.

use std::collections::BTreeMap;
use std::ops::Range;

use model::ObjectRef;
use source::FileId;

use crate::{Advice, Entry, Subject};

/// What to do about a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What to do, for people.
    pub advice: Advice,
    pub applicability: Applicability,
    /// What to change. None where it takes a person to tell.
    pub edits: Edits,
    /// Items that it adds to lists, each with its place.
    pub entries: Vec<Entry>,
    /// What must be true when it is done.
    pub goal: Goal,
}

impl Fix {
    /// A fix that a person has to make.
    pub fn by_hand(advice: impl Into<Advice>, goal: Goal) -> Self {
        let (edits, entries) = (Edits::default(), Vec::new());
        Self { advice: advice.into(), applicability: Applicability::Unsafe, edits, entries, goal }
    }

    /// The same, with items that it adds to lists.
    #[must_use]
    pub fn with_entries(self, entries: impl IntoIterator<Item = Entry>) -> Self {
        Self { entries: entries.into_iter().collect(), ..self }
    }
}

/// Whether the edits may be made unseen. Unsafe until it is argued safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applicability {
    /// Nothing changes but what the finding is about.
    Safe,
    /// A person has to look at it.
    Unsafe,
}

/// What a fix must make true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The finding is not made any more.
    Gone,
    /// A component has what it needs when it needs it.
    Guaranteed { component: ObjectRef, subject: Subject },
    /// A component waits for another.
    Ordered { component: ObjectRef, after: ObjectRef },
    /// A component does not wait for another.
    NotOrdered { component: ObjectRef, after: ObjectRef },
    /// An object exists.
    Exists { object: ObjectRef },
    /// A component is done only when its objects are healthy.
    Waits { component: ObjectRef },
    /// A component can be built.
    Builds { component: ObjectRef },
}

/// One change of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Bytes of the file; empty where something is put in.
    pub range: Range<u32>,
    pub replacement: String,
}

/// Changes of files: in each file sorted, and none touches what another does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    files: BTreeMap<FileId, Vec<Edit>>,
}

/// Why edits can't be made together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditsError {
    #[error("the edit of bytes {start} to {end} ends before it begins")]
    Backward { start: u32, end: u32 },
    #[error("the edit of bytes {start} to {end} overlaps the one before it, which ends at {before}")]
    Overlap { start: u32, end: u32, before: u32 },
}

impl Edits {
    /// Sorts the edits by file and place. Two that overlap, or that put something into the same place, are refused: their order
    /// would decide what comes of them.
    pub fn new(edits: impl IntoIterator<Item = (FileId, Edit)>) -> Result<Self, EditsError> {
        let mut files: BTreeMap<FileId, Vec<Edit>> = BTreeMap::new();
        for (file, edit) in edits {
            files.entry(file).or_default().push(edit);
        }
        for edits in files.values_mut() {
            edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
            edits.iter().try_for_each(is_forward)?;
            edits.windows(2).try_for_each(|two| are_apart(&two[0], &two[1]))?;
        }
        Ok(Self { files })
    }

    /// The edits of every file, in their order.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &[Edit])> {
        self.files.iter().map(|(file, edits)| (*file, edits.as_slice()))
    }

    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

fn is_forward(edit: &Edit) -> Result<(), EditsError> {
    let Range { start, end } = edit.range;
    if start <= end { Ok(()) } else { Err(EditsError::Backward { start, end }) }
}

fn are_apart(first: &Edit, second: &Edit) -> Result<(), EditsError> {
    let Range { start, end } = second.range;
    let before = first.range.end;
    let is_same_place = first.range == second.range;
    if start < before || is_same_place { Err(EditsError::Overlap { start, end, before }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::{Edit, Edits, EditsError};
    use source::FileId;

    fn edit(start: u32, end: u32) -> Edit {
        Edit { range: start..end, replacement: "x".to_owned() }
    }

    #[test]
    fn edits_are_sorted_by_file_and_place() {
        let all = [(FileId(1), edit(0, 2)), (FileId(0), edit(9, 12)), (FileId(0), edit(3, 3)), (FileId(0), edit(3, 9))];
        let edits = Edits::new(all).expect("edits that are apart");
        let sorted: Vec<(FileId, Vec<(u32, u32)>)> = edits
            .files()
            .map(|(file, edits)| (file, edits.iter().map(|edit| (edit.range.start, edit.range.end)).collect()))
            .collect();
        assert_eq!(sorted, [(FileId(0), vec![(3, 3), (3, 9), (9, 12)]), (FileId(1), vec![(0, 2)])]);
        assert!(Edits::default().is_empty() && !edits.is_empty());
    }

    #[test]
    fn edits_that_touch_the_same_bytes_are_refused() {
        let overlap = Edits::new([(FileId(0), edit(0, 5)), (FileId(0), edit(4, 6))]);
        assert_eq!(overlap, Err(EditsError::Overlap { start: 4, end: 6, before: 5 }));
        let twice = Edits::new([(FileId(0), edit(4, 4)), (FileId(0), edit(4, 4))]);
        assert_eq!(twice, Err(EditsError::Overlap { start: 4, end: 4, before: 4 }));
        assert!(Edits::new([(FileId(0), edit(0, 5)), (FileId(1), edit(4, 6))]).is_ok(), "each file by itself");
    }

    #[test]
    fn an_edit_runs_forward() {
        let backward =
            Edits::new([(FileId(0), Edit { range: std::ops::Range { start: 5, end: 2 }, replacement: String::new() })]);
        assert_eq!(backward, Err(EditsError::Backward { start: 5, end: 2 }));
    }
}
