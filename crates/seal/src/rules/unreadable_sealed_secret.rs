//! ## What it finds
//!
//! Files that may hold a SealedSecret and can't be read, and places that were not searched.
//!
//! ## Why it matters at a cold start
//!
//! coldstart can't tell whether it opens at the next cold start.
//!
//! ## Fix
//!
//! Make it YAML in UTF-8 that kustomize accepts. A template of another tool is only a note.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "unreadable-sealed-secret",
    "a file that may hold a SealedSecret and was not read",
    include_str!("unreadable_sealed_secret.rs"),
);
