//! A store without keys where there must have been some: a disk that died, a fresh clone, another person. A new key would open
//! nothing of what is there, so nobody is told to make one.

use std::path::Path;

use ::seal::store::Store;
use read::Repository;

use super::failure::SealFailure;
use super::{Home, certificate, store, tree};

/// What shows that keys were there before; nothing where this may well be the beginning.
fn trace(home: &Home<'_>, written: Option<&Path>, second: Option<&dyn Store>) -> Option<String> {
    if let Some(second) = second
        && second.read().is_ok_and(|kept| !kept.ring.is_empty())
    {
        return Some(format!("{} holds keys", second.describe()));
    }
    if let Some(path) = written.filter(|path| certificate::is_one(path)) {
        return Some(format!("{} is the certificate of one", path.display()));
    }
    let repository = Repository::open(home.root()).ok()?;
    let found = tree::find(&repository, &[]).found;
    let first = found.first()?;
    let others = match found.len() {
        1 => " was".to_owned(),
        all => format!(" and {} more were", all - 1),
    };
    Some(format!("{}{others} sealed with one", first.path))
}

/// Where keys that were there before can come from.
fn next(home: &Home<'_>) -> &'static str {
    if home.settings.backup.is_some() {
        "coldstart seal restore"
    } else {
        "coldstart seal restore STORE from a backup, the same with the --store that has them, or coldstart seal init --adopt-cluster from a cluster that does"
    }
}

/// The store holds no key, and one is needed.
pub(crate) fn no_keys(home: &Home<'_>, store: &dyn Store) -> SealFailure {
    let (written, second) = (home.certificate_path(), store::second_at_hand(home));
    let Some(trace) = trace(home, written.as_deref(), second.as_deref()) else {
        return SealFailure::NoKeys { store: store.describe() };
    };
    let next = next(home);
    SealFailure::told(format!("the store holds no key: {}\n  there was one: {trace}\n  next: {next}", store.describe()))
}

/// Refuses a new key where an earlier one is missed.
pub(crate) fn refuse_new(
    home: &Home<'_>,
    store: &dyn Store,
    written: Option<&Path>,
    second: Option<&dyn Store>,
) -> Result<(), SealFailure> {
    let Some(trace) = trace(home, written, second) else { return Ok(()) };
    Err(SealFailure::told(format!(
        "{} holds no key, and there was one: {trace}\n  a new key would open nothing of what was sealed before; nothing was done\n  next: {}; if a new key is meant all the same, coldstart seal init --new-key",
        store.describe(),
        next(home)
    )))
}
