//! What is needed of Git for a review of a change.

use std::collections::BTreeSet;
use std::path::Path;

use draw::review::Change;
use exec::System;
use git::{Git, GitError};
use repository::file::{self, Links};

use crate::failure::Failure;

/// Markers of more suggestions than a pull request has.
const POSTED_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The change since a revision, as the last commit has it.
pub(super) fn change(root: &Path, revision: &str, posted: Option<&Path>) -> Result<Change, Failure> {
    let failure = |source: GitError| Failure::Since { revision: revision.to_owned(), source };
    let git = Git::reading(&System, root);
    git.is_in_repository().map_err(failure)?;
    let lines = git.lines_since(revision).map_err(failure)?;
    let commit = git.print(["rev-parse", "--verify", "HEAD"]).map_err(failure)?;
    let prefix = git.print(["rev-parse", "--show-prefix"]).map_err(failure)?;
    let posted = posted.map(markers).transpose()?.unwrap_or_default();
    Ok(Change { commit: commit.trim().to_owned(), prefix: prefix.trim_end_matches('\n').to_owned(), lines, posted })
}

/// The markers in a file, one in each line.
fn markers(path: &Path) -> Result<BTreeSet<String>, Failure> {
    let text = file::read_text(path, Links::Followed, POSTED_BYTES_MAX)
        .map_err(|source| Failure::ReadFile { path: path.to_path_buf(), source })?;
    Ok(text.lines().map(|line| line.trim().to_owned()).collect())
}
