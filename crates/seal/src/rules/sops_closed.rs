//! ## What it finds
//!
//! SOPS files that the available age identity does not open, and those that could not be tried.
//!
//! ## Why it matters at a cold start
//!
//! Flux decrypts them with the same identity, or not at all.
//!
//! ## Fix
//!
//! Encrypt them to a recipient of that identity with `sops updatekeys FILE`, or give the identity in `SOPS_AGE_KEY_FILE`.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "sops-does-not-open",
    "a SOPS file that the available age identity does not open",
    include_str!("sops_closed.rs"),
);
