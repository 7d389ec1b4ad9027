//! A store without keys where there must have been some: a disk that died, a fresh clone, another person. A new key would open
//! nothing of what is there, so nobody is told to make one.

use std::path::Path;

use ::seal::store::Store;
use read::Repository;

use super::failure::{KeysFailure, SealFailure, Trace};
use super::{Home, certificate, store, tree};

/// What shows that keys were there before; nothing where this may well be the beginning.
fn trace(home: &Home<'_>, written: Option<&Path>, second: Option<&dyn Store>) -> Option<Trace> {
    if let Some(second) = second
        && second.read().is_ok_and(|kept| !kept.ring.is_empty())
    {
        return Some(Trace::SecondStore { store: second.describe() });
    }
    if let Some(path) = written.filter(|path| certificate::is_one(path)) {
        return Some(Trace::Certificate { path: path.to_path_buf() });
    }
    let repository = Repository::open(home.root()).ok()?;
    let found = tree::find(&repository, &[]).found;
    let (first, others) = found.split_first()?;
    Some(Trace::Sealed { first: first.path.clone(), more: others.len() })
}

/// The store holds no key, and one is needed.
pub(crate) fn no_keys(home: &Home<'_>, store: &dyn Store) -> SealFailure {
    let (written, second) = (home.certificate_path(), store::second_at_hand(home));
    let (store, has_backup) = (store.describe(), home.settings.backup.is_some());
    let failure = match trace(home, written.as_deref(), second.as_deref()) {
        Some(trace) => KeysFailure::Lost { store, trace, has_backup },
        None => KeysFailure::NoneYet { store },
    };
    failure.into()
}

/// Refuses a new key where an earlier one is missed.
pub(crate) fn refuse_new(
    home: &Home<'_>,
    store: &dyn Store,
    written: Option<&Path>,
    second: Option<&dyn Store>,
) -> Result<(), SealFailure> {
    let Some(trace) = trace(home, written, second) else { return Ok(()) };
    let (store, has_backup) = (store.describe(), home.settings.backup.is_some());
    Err(KeysFailure::WouldBeginAgain { store, trace, has_backup }.into())
}
