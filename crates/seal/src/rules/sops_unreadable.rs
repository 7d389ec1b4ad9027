//! ## What it finds
//!
//! SOPS files and `.sops.yaml` files that can't be read, and patterns in them that are not understood.
//!
//! ## Why it matters at a cold start
//!
//! coldstart can't tell whether it opens at the next cold start, or what must be encrypted.
//!
//! ## Fix
//!
//! Make it a file that `sops` reads.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "sops-unreadable",
    "a SOPS file, or the rules for them, that can't be read",
    include_str!("sops_unreadable.rs"),
);
