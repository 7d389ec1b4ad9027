//! Where a person's files are kept, as desktops agree on it.

#![expect(clippy::disallowed_methods, reason = "the door of the program: where its user has a home")]

use std::env;
use std::path::PathBuf;

pub(crate) fn directory() -> Option<PathBuf> {
    env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// Our directory below the one that the variable names, or below that part of the home.
pub(crate) fn ours(variable: &str, below_home: &str) -> Option<PathBuf> {
    let said = env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    Some(said.or_else(|| directory().map(|home| home.join(below_home)))?.join("coldstart"))
}
