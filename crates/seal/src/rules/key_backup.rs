//! ## What it finds
//!
//! A second store in `coldstart.yaml` that can be read and lacks keys.
//!
//! ## Why it matters at a cold start
//!
//! If the disk with the only copy of a key fails, everything that was sealed with that key is lost.
//!
//! ## Fix
//!
//! `coldstart seal backup`.

use diagnostic::Rule;

pub(super) static RULE: Rule =
    Rule::new("incomplete-key-backup", "a second store that lacks keys of the first", include_str!("key_backup.rs"));
