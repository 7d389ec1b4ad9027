//! Programs that are started, and what of the environment is none of their business: Git hands it on to hooks, whose output is
//! repeated.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};

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

/// Takes secrets out of what a program gets, but for the one that it is started for.
pub(crate) fn without_secrets(command: &mut Command, needed: Option<&str>) {
    let values = VALUES.lock().unwrap_or_else(PoisonError::into_inner);
    let names = SECRETS.into_iter().chain(values.iter().map(String::as_str));
    for name in names.filter(|name| Some(*name) != needed) {
        command.env_remove(name);
    }
}
