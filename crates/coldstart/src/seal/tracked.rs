//! Private keys in the clear where Git would take them along. Knows plain directories only: other stores are encrypted,
//! or elsewhere.

use std::path::{Path, PathBuf};

use ::seal::store::Store;
use diagnostic::{Next, SealFault, next};

use super::failure::SealFailure;
use super::report::{Report, Spot};
use super::{Home, commit, store};
use crate::output;

/// The directory of a store that keeps its keys in the clear.
fn plain_directory(store: &dyn Store) -> Option<PathBuf> {
    store.identity().strip_prefix("dir:").map(PathBuf::from)
}

/// Says on standard error that the next `git add` would take the keys of a store along.
pub(crate) fn warn(store: &dyn Store) {
    let Some(directory) = plain_directory(store).filter(|directory| is_exposed(directory)) else { return };
    let what = "is inside a Git work tree and not ignored: private keys in the clear would be committed";
    output::remark(&format!("warning: {} {what}", directory.display()));
    output::remark_next(&Next::Edit(next::Edit::IgnoreOrOtherDirectory));
}

fn is_exposed(directory: &Path) -> bool {
    let Some(there) = directory.ancestors().find(|one| one.is_dir()) else { return false };
    let is_inside = commit::look(there, &["rev-parse", "--is-inside-work-tree"]);
    let key = directory.join("any.key");
    let Some(key) = key.to_str() else { return false };
    is_inside.is_ok_and(|said| said.trim() == "true")
        && commit::look(there, &["check-ignore", "--quiet", "--", key]).is_err()
}

fn is_key(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending == "key")
}

/// Keys of the stores that Git has already.
pub(crate) fn check(home: &Home<'_>, report: &mut Report) -> Result<(), SealFailure> {
    let stores = [Some(home.store()?), store::second(home, None, None).unwrap_or_default()];
    for directory in stores.iter().flatten().filter_map(|store| plain_directory(store.as_ref())) {
        let tracked = commit::look(&directory, &["ls-files", "-z"]).unwrap_or_default();
        for name in tracked.split('\0').filter(|name| is_key(name)) {
            let spot = Spot::File(directory.join(name).display().to_string());
            report.error(spot, SealFault::KeyInGit, Some(Next::Git(next::Git::RemoveKey)));
        }
    }
    Ok(())
}
