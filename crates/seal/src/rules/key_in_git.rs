//! ## What it finds
//!
//! Private keys of a `dir:` store that Git tracks.
//!
//! ## Why it matters at a cold start
//!
//! Anyone who has the Git history has the key, and can open everything that is sealed with it.
//!
//! ## Fix
//!
//! `git rm --cached` the file, ignore it, and `coldstart seal rotate`.

use diagnostic::Rule;

pub(super) static RULE: Rule =
    Rule::new("private-key-in-git", "a private sealing key in the clear in Git", include_str!("key_in_git.rs"));
