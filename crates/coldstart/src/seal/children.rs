//! Programs that are started, and what of the environment is none of their business: Git hands it on to hooks, whose output is
//! repeated.

use std::collections::BTreeSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use exec::Environment;

use super::ask::PASSPHRASE_VARIABLE;

/// The identity by which SOPS files are opened.
pub(crate) const SOPS_KEY_VARIABLE: &str = "SOPS_AGE_KEY";
/// Variables that are secrets by what they are.
const SECRETS: [&str; 4] = [PASSPHRASE_VARIABLE, "VAULT_TOKEN", "BAO_TOKEN", SOPS_KEY_VARIABLE];

/// Variables that hold values which are sealed in this run.
static VALUES: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(Mutex::default);

/// From now on no program gets the variable of `KEY=VARIABLE`.
pub(crate) fn keep_from(said: &[String]) {
    let names = said.iter().filter_map(|one| one.split_once('=')).map(|(_, variable)| variable.to_owned());
    VALUES.lock().unwrap_or_else(PoisonError::into_inner).extend(names);
}

/// What a program may see: no secret but the one that it is started for.
pub(crate) fn environment(needed: Option<&str>) -> Environment {
    let values = VALUES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = SECRETS.into_iter().chain(values.iter().map(String::as_str));
    Environment::all_but(names.filter(|name| Some(*name) != needed))
}
