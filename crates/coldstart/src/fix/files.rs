//! Edits onto the disk: all or none, and never over what is not committed yet.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use diagnostic::{Changed, Repairs};
use edit::{Change, Changes, Journal, Readers};
use exec::{Environment, Input, System};
use git::Git;

use crate::failure::Failure;
use crate::{home, place};

/// The name of the journal.
const JOURNAL: &str = "fix-journal";

/// Writes what all repairs together come to.
pub(super) fn write_all(root: &Path, repairs: &Repairs) -> Result<(), Failure> {
    let mut files: BTreeMap<&str, Changed> = BTreeMap::new();
    for changed in repairs.made.iter().flat_map(|repair| &repair.files) {
        let known = files.entry(&changed.path).or_insert_with(|| changed.clone());
        known.after.clone_from(&changed.after);
    }
    let origins: BTreeMap<String, String> =
        files.values().filter_map(|file| Some((file.path.clone(), file.from.clone()?))).collect();
    for file in files.values_mut() {
        file.from = file.from.take().map(|from| origin(&origins, from));
    }
    // What one repair makes and the next one removes was never there.
    files.retain(|_, file| file.before != file.after);
    write(root, files.values())
}

/// Where a file was before all moves.
fn origin(origins: &BTreeMap<String, String>, mut from: String) -> String {
    for _ in 0..origins.len() {
        match origins.get(&from) {
            Some(before) => from.clone_from(before),
            None => break,
        }
    }
    from
}

/// Writes files below the root, all or none.
pub(super) fn write<'t>(root: &Path, files: impl IntoIterator<Item = &'t Changed>) -> Result<(), Failure> {
    let changes = Changes::below(root, Readers::Usual);
    let mut changes = match journal(root) {
        Some(journal) => changes.journalled(journal),
        None => changes,
    };
    let bytes = |text: &Option<String>| text.as_ref().map(|text| text.as_bytes().to_vec());
    for Changed { path, before, after, from } in files {
        let from = from.as_ref().map(|from| root.join(from));
        changes.add(Change { path: root.join(path), before: bytes(before), after: bytes(after), from });
    }
    changes.write(&|_| None).map_err(Failure::NotFixed)
}

/// Where it is written down what files held, as long as they are being changed. Never in the repository: what a stranger put there would
/// be followed. Nothing where the user has no home.
pub(super) fn journal(path: &Path) -> Option<Journal> {
    let (root, state) = state(path)?;
    Some(Journal::new(&state.join(JOURNAL), &root))
}

/// The repository that a path is in, and where we keep what we have to remember of it.
pub(super) fn state(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let here = place::canonical(path);
    let root = repository::git_root(&here).unwrap_or(here);
    let base = home::ours("XDG_STATE_HOME", ".local/state")?;
    let state = place::of(&base, &root, "");
    Some((root, state))
}

/// What differs from the last commit, or is not in it, is work of its own: an edit in the middle of it could not be taken back alone.
pub(super) fn refuse_dirty(root: &Path, repairs: &Repairs) -> Result<(), Failure> {
    let git = Git::asking(&System, root, Environment::everything());
    if git.is_in_repository().is_err() {
        // Without Git there is nothing to compare with.
        return Ok(());
    }
    let dirty = git.uncommitted().map_err(|source| Failure::Git { source })?;
    let files = repairs.made.iter().flat_map(|repair| &repair.files);
    let files: BTreeSet<&str> = files.map(|it| it.path.as_str()).filter(|path| dirty.contains(*path)).collect();
    if files.is_empty() {
        return Ok(());
    }
    Err(Failure::DirtyFiles { files: files.into_iter().map(str::to_owned).collect() })
}

/// A new file that Git ignores would be missing in what Flux gets, while the entry that lists it would not.
pub(super) fn refuse_ignored(root: &Path, repairs: &Repairs) -> Result<(), Failure> {
    let files = repairs.made.iter().flat_map(|repair| &repair.files);
    let new: BTreeSet<&str> = files.filter(|file| file.before.is_none()).map(|file| file.path.as_str()).collect();
    if new.is_empty() {
        return Ok(());
    }
    let git = Git::asking(&System, root, Environment::everything());
    let input = new.iter().copied().collect::<Vec<_>>().join("\0");
    // Without Git nothing is ignored; where none is, it says so by its exit code.
    let Ok(asked) = git.run_with(["check-ignore", "-z", "--stdin"], Input::Bytes(input.as_bytes())) else {
        return Ok(());
    };
    let files: Vec<String> = asked.text().split('\0').filter(|path| new.contains(path)).map(str::to_owned).collect();
    if asked.is_success() && !files.is_empty() { Err(Failure::IgnoredFiles { files }) } else { Ok(()) }
}
