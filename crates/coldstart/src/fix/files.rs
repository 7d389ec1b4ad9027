//! Edits onto the disk: all or none, and never over what is not committed yet.

use std::collections::BTreeMap;
use std::path::Path;

use diagnostic::{Changed, Repairs};
use edit::{Change, Changes, Readers};
use exec::{Environment, System};
use git::Git;

use crate::failure::Failure;

/// Writes what all repairs together come to.
pub(super) fn write_all(root: &Path, repairs: &Repairs) -> Result<(), Failure> {
    let mut files: BTreeMap<&str, (Option<&str>, &str)> = BTreeMap::new();
    for Changed { path, before, after } in repairs.made.iter().flat_map(|repair| &repair.files) {
        files.entry(path).and_modify(|known| known.1 = after).or_insert((before.as_deref(), after));
    }
    write(root, files.into_iter().map(|(path, (before, after))| (path, before, after)))
}

/// Writes files below the root, all or none.
pub(super) fn write<'t>(
    root: &Path,
    files: impl Iterator<Item = (&'t str, Option<&'t str>, &'t str)>,
) -> Result<(), Failure> {
    let mut changes = Changes::below(root, Readers::Usual);
    for (path, before, after) in files {
        let before = before.map(|text| text.as_bytes().to_vec());
        changes.add(Change { path: root.join(path), before, after: after.as_bytes().to_vec() });
    }
    changes.write(&|_| None).map_err(Failure::NotFixed)
}

/// What differs from the last commit is work of its own: an edit in the middle of it could not be taken back alone.
pub(super) fn refuse_dirty(root: &Path, repairs: &Repairs) -> Result<(), Failure> {
    let git = Git::asking(&System, root, Environment::everything());
    let Ok(status) = git.print(["status", "--porcelain=v1", "-z", "--untracked-files=no", "--no-renames"]) else {
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
