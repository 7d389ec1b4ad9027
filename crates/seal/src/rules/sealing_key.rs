//! ## What it finds
//!
//! A newest key whose certificate has expired or expires within 60 days, and items that are sealed with older keys.
//!
//! ## Why it matters at a cold start
//!
//! A key opens what it sealed for as long as it exists, but its certificate expires. Keep older keys for as long as
//! something is sealed with them.
//!
//! ## Fix
//!
//! `coldstart seal rotate` makes a new key; `coldstart seal reseal` seals everything with the newest.

use diagnostic::Rule;

pub(super) static RULE: Rule = Rule::new(
    "sealing-key-expires",
    "a sealing key that nothing can be sealed with any more, or soon, or that is not in use",
    include_str!("sealing_key.rs"),
);
