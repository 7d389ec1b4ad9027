//! Edits onto the disk: all or none, and never over what is not committed yet.

use std::collections::BTreeMap;
use std::path::Path;

use diagnostic::{Changed, Repairs};
use edit::{Change, Changes, Journal, Readers};
use exec::{Environment, System};
use git::Git;

use crate::failure::Failure;
use crate::{home, place};

/// The name of the journal.
const JOURNAL: &str = "fix-journal";

/// Writes what all repairs together come to.
pub(super) fn write_all(root: &Path, repairs: &Repairs) -> Result<(), Failure> {
    let mut files: BTreeMap<&str, (Option<&str>, Option<&str>)> = BTreeMap::new();
    for Changed { path, before, after } in repairs.made.iter().flat_map(|repair| &repair.files) {
        let (before, after) = (before.as_deref(), after.as_deref());
        files.entry(path).and_modify(|known| known.1 = after).or_insert((before, after));
    }
    // What one repair makes and the next one removes was never there.
    files.retain(|_, (before, after)| before != after);
    write(root, files.into_iter().map(|(path, (before, after))| (path, before, after)))
}

/// Writes files below the root, all or none.
pub(super) fn write<'t>(
    root: &Path,
    files: impl Iterator<Item = (&'t str, Option<&'t str>, Option<&'t str>)>,
) -> Result<(), Failure> {
    let changes = Changes::below(root, Readers::Usual);
    let mut changes = match journal(root) {
        Some(journal) => changes.journalled(journal),
        None => changes,
    };
    let bytes = |text: Option<&str>| text.map(|text| text.as_bytes().to_vec());
    for (path, before, after) in files {
        changes.add(Change { path: root.join(path), before: bytes(before), after: bytes(after) });
    }
    changes.write(&|_| None).map_err(Failure::NotFixed)
}

/// Where it is written down what files held, as long as they are being changed. Never in the repository: what a stranger put there would
/// be followed. Nothing where the user has no home.
pub(super) fn journal(path: &Path) -> Option<Journal> {
    let here = place::canonical(path);
    let root = repository::git_root(&here).unwrap_or(here);
    let base = home::ours("XDG_STATE_HOME", ".local/state")?;
    Some(Journal::new(&place::of(&base, &root, "").join(JOURNAL), &root))
}

/// What differs from the last commit, or is not in it, is work of its own: an edit in the middle of it could not be taken back alone.
pub(super) fn refuse_dirty(root: &Path, repairs: &Repairs) -> Result<(), Failure> {
    let git = Git::asking(&System, root, Environment::everything());
    let Ok(status) = git.print(["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames"]) else {
        // Without Git there is nothing to compare with.
        return Ok(());
    };
    let Ok(top) = git.print(["rev-parse", "--show-prefix"]) else { return Ok(()) };
    let prefix = top.trim_end_matches('\n');
    let dirty: Vec<&str> = status.split('\0').filter_map(|line| line.get(3..)?.strip_prefix(prefix)).collect();
    let mut files: Vec<String> =
        repairs.made.iter().flat_map(|repair| &repair.files).map(|it| it.path.clone()).collect();
    files.retain(|path| dirty.contains(&path.as_str()));
    files.sort();
    files.dedup();
    if files.is_empty() { Ok(()) } else { Err(Failure::DirtyFiles { files }) }
}
