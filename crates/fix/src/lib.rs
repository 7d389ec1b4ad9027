//! From findings to edits of files that close them.
//!
//! Every finding that says what to edit becomes changes of components; of the dependencies among them the fewest are chosen
//! that order all; they are written into the YAML as the repository writes such lines. Then the repository is checked again
//! with the edits: one that leaves its finding, or brings another one that is as bad, is dropped and says why.
//!
//! This crate knows findings, components and YAML with its places. It does no IO: what is to be checked again is handed out,
//! and the result is files before and after.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod along;
mod change;
mod choose;
mod files;
mod house;
mod intent;
mod job;
mod listing;
mod prove;
mod round;
mod split;
mod text;
mod unlist;
mod write;

pub use prove::{Checked, repairs};

use diagnostic::Finding;
use read::Reading;

/// What is wanted.
#[expect(missing_debug_implementations, reason = "a closure is nothing to look at")]
pub struct Wish<'a> {
    /// Which findings are to be closed.
    pub closes: &'a dyn Fn(&Finding, &Reading) -> bool,
    /// Also by edits after which a running cluster behaves differently.
    pub with_unsafe: bool,
    /// Which others may be closed along with these, where an edit would do harm without.
    pub may_add: &'a dyn Fn(&Finding, &Reading) -> bool,
}
