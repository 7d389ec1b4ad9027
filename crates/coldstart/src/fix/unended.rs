//! Commits that a run was about to make one after the other, when it was killed.
//!
//! Each of them is proved together with those before it, so they may stay; but the user, who was promised all or none, is told.

use std::path::{Path, PathBuf};

use edit::Readers;
use exec::{Environment, System};
use git::Git;
use repository::file::{self, Links};

use crate::fix::files;

/// The name of the note of where the branch was.
const NOTE: &str = "fix-commits";
/// What is read of a note: the name of a commit.
const NOTE_BYTES_MAX: u64 = 1024;

/// A run that did not come to its end.
pub(super) struct Unended {
    note: PathBuf,
    /// Where the branch was before it.
    pub(super) start: String,
    /// How many commits came after that.
    pub(super) commits: usize,
}

impl Unended {
    /// Writes down where the branch is, for the run after one that is killed; nothing where the user has no home.
    pub(super) fn begin(root: &Path, start: &str) -> Option<Note> {
        let note = files::state(root)?.1.join(NOTE);
        edit::make_private_directory(note.parent()?).ok()?;
        edit::replace_for_good(&note, start.as_bytes(), Readers::Owner).ok()?;
        Some(Note { note })
    }

    /// What the last run left, if it was killed between two commits. A branch that was moved since is the user's own.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let (root, state) = files::state(path)?;
        let note = state.join(NOTE);
        let start = file::read_text(&note, Links::Refused, NOTE_BYTES_MAX).ok()?;
        let is_name = !start.is_empty() && start.chars().all(|it| it.is_ascii_hexdigit());
        let git = Git::asking(&System, &root, Environment::everything());
        let range = format!("{start}..HEAD");
        let commits =
            is_name.then(|| git.print(["rev-list", "--count", &range]).ok()?.trim().parse().ok()).flatten()?;
        let is_behind = git.print(["merge-base", "--is-ancestor", &start, "HEAD"]).is_ok();
        is_behind.then_some(Self { note, start, commits })
    }

    /// The user was told.
    pub(super) fn forget(self) {
        Note { note: self.note }.end();
    }
}

/// The note of a run that goes on.
pub(super) struct Note {
    note: PathBuf,
}

impl Note {
    /// All commits are made, or none is.
    pub(super) fn end(self) {
        let _stays = edit::replace_for_good(&self.note, b"", Readers::Owner);
    }
}
