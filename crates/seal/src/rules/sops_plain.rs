//! ## What it finds
//!
//! Files that are named as SOPS files and are not encrypted, values in the clear in encrypted files, and values that a
//! rule of `.sops.yaml` requires to be encrypted.
//!
//! ## Why it matters at a cold start
//!
//! Everyone who can read the repository can read the value.
//!
//! ## Fix
//!
//! `sops encrypt --in-place FILE`, and replace the values that were public.

use diagnostic::Rule;

pub(super) static RULE: Rule =
    Rule::new("sops-in-the-clear", "a value that SOPS should have encrypted", include_str!("sops_plain.rs"));
